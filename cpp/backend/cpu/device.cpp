#include "backend/cpu/device.h"

#include "backend/backend.h"
#include "runtime/pool.h"

namespace asc::cpu {
namespace {

// The device `cpu`: what the process shares is its memory.
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

}  // namespace

void register_devices() { add_device(std::make_unique<Cpu>()); }

}  // namespace asc::cpu
