#include "backend/cpu/device.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "runtime/pool.h"
#include "runtime/segments.h"

namespace asc::cpu {
namespace {

// The device `cpu`: its memory is that of everything in this process.
class Cpu : public Device {
  public:
    Cpu() : Device({.name = "cpu"}) {}
    DeviceMemory try_allocate(int64_t nbytes) override {
        return {static_cast<std::byte*>(pool::try_allocate(nbytes)), nullptr};
    }
    void free(DeviceMemory memory, int64_t nbytes) noexcept override {
        pool::free(memory.data, nbytes);
    }
    pool::Stats memory_stats() const override { return pool::stats(); }
    void free_cached() override { pool::free_cached(); }
    void set_memory_limit(int64_t nbytes) override { pool::set_limit(nbytes); }
    int64_t memory_limit() const override { return pool::limit(); }
    int64_t total_memory() const override { return pool::machine_memory(); }
};

// A further device: its arrays have a pool of their own.
class FurtherCpu : public Device {
  public:
    explicit FurtherCpu(DeviceTraits traits) : Device(std::move(traits)) { all().push_back(this); }

    DeviceMemory try_allocate(int64_t nbytes) override {
        void* piece = take(nbytes);
        if (piece) count(bytes_of(nbytes));
        return {static_cast<std::byte*>(piece), nullptr};
    }
    void free(DeviceMemory memory, int64_t nbytes) noexcept override {
        used_.fetch_sub(bytes_of(nbytes), std::memory_order_relaxed);
        pool::enabled() ? segments_.give(memory.data, nbytes)
                        : segments_.give_apart(memory.data, bytes_of(nbytes));
    }
    pool::Stats memory_stats() const override {
        const int64_t used = used_.load(), made = segments_.allocations();
        return {used, segments_.held() - used, peak_.load(),
                made, requests_.load() - made, segments_.free_memory().chunks};
    }
    void free_cached() override { segments_.free_cached(); }
    void set_memory_limit(int64_t nbytes) override { segments_.set_limit(nbytes); }
    int64_t memory_limit() const override { return segments_.limit(); }
    int64_t total_memory() const override { return Segments::machine_memory(); }

    // A forked child must not inherit a mutex that some other thread holds.
    static void install_fork_handlers() {
        const auto unlock = [] {
            for (FurtherCpu* device : all()) device->segments_.mutex().unlock();
        };
        pthread_atfork(
            [] {
                for (FurtherCpu* device : all()) device->segments_.mutex().lock();
            },
            unlock, unlock);
    }

  private:
    static std::vector<FurtherCpu*>& all() {
        static auto& devices = *new std::vector<FurtherCpu*>;
        return devices;
    }
    // What a piece counts in `used`.
    static int64_t bytes_of(int64_t nbytes) {
        return pool::enabled() ? Heap::chunk_bytes(nbytes) : Segments::apart_bytes(nbytes);
    }
    void* take(int64_t nbytes) {
        return pool::enabled() ? segments_.take(nbytes) : segments_.take_apart(bytes_of(nbytes));
    }
    void count(int64_t bytes) {
        requests_.fetch_add(1, std::memory_order_relaxed);
        const int64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        int64_t peak = peak_.load(std::memory_order_relaxed);
        while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
        }
    }

    Segments segments_;
    std::atomic<int64_t> used_{0}, peak_{0}, requests_{0};
};

constexpr uint32_t kNoFloat64 = bit(DType::Float64) | bit(DType::Complex128);

// Devices of one kind.
struct DeviceGroup {
    int count;
    uint32_t lacks;
};

std::optional<DeviceGroup> parse_group(std::string_view text) {
    DeviceGroup group{0, 0};
    const auto [end, error] = std::from_chars(text.begin(), text.end(), group.count);
    const std::string_view rest(end, static_cast<size_t>(text.end() - end));
    if (error != std::errc() || group.count < 0 || group.count >= kMostDevices) return std::nullopt;
    if (rest == ":no-float64") {
        group.lacks = kNoFloat64;
    } else if (!rest.empty()) {
        return std::nullopt;
    }
    return group;
}

// Every kind, in order; nothing where the setting says something else.
std::optional<std::vector<DeviceGroup>> parse_setting(std::string_view text) {
    std::vector<DeviceGroup> groups;
    int total = 1;
    for (bool more = true; more;) {
        const size_t comma = text.find(',');
        const auto group = parse_group(text.substr(0, comma));
        if (!group || (total += group->count) > kMostDevices) return std::nullopt;
        groups.push_back(*group);
        more = comma != text.npos;
        if (more) text.remove_prefix(comma + 1);
    }
    return groups;
}

}  // namespace

void register_devices() {
    add_device(std::make_unique<Cpu>());
    const char* setting = std::getenv("ASCEND_ARRAY_API_CPU_DEVICES");
    if (!setting || !*setting) return;
    const auto groups = parse_setting(setting);
    if (!groups) {
        raise(ErrorKind::Value,
              "ASCEND_ARRAY_API_CPU_DEVICES: '%s' is no list of further CPU devices; accepted: "
              "their number, as '2', '2:no-float64' or '1,1:no-float64', at most %d in all",
              setting, kMostDevices - 1);
    }
    int number = 0;
    for (const DeviceGroup& group : *groups) {
        for (int i = 0; i < group.count; ++i) {
            DeviceTraits traits{.name = "cpu:" + std::to_string(++number), .lacks = group.lacks};
            add_device(std::make_unique<FurtherCpu>(std::move(traits)));
        }
    }
}

void install_device_fork_handlers() { FurtherCpu::install_fork_handlers(); }

}  // namespace asc::cpu
