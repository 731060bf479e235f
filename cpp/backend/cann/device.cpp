#include "backend/cann/device.h"

#include <cstring>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/cann/chip.h"
#include "backend/cann/elementwise.h"
#include "backend/cann/functions.h"
#include "backend/cann/library.h"
#include "backend/cann/npu.h"
#include "backend/cann/reasons.h"

namespace asc::cann {
namespace {

// Of DLPack: devices that it does not know by name.
constexpr int32_t kExternalDevice = 12;

Piece& piece_of(const Block& block) { return *static_cast<Piece*>(block.record()); }

class StreamEvent : public DeviceEvent {
  public:
    explicit StreamEvent(std::shared_ptr<Mark> mark) : mark_(std::move(mark)) {}
    bool done() override { return mark_->reached(); }
    void wait() override { mark_->wait(); }
    double milliseconds_since(const DeviceEvent& earlier) override {
        return mark_->milliseconds_since(*static_cast<const StreamEvent&>(earlier).mark_);
    }

  private:
    std::shared_ptr<Mark> mark_;
};

class CannDevice : public Device {
  public:
    CannDevice(int32_t number, DeviceId id)
        : Device({.name = "npu:" + std::to_string(number),
                  .dlpack_type = kExternalDevice,
                  .dlpack_number = number,
                  .lacks = chip(installation().soc).has_bfloat16 ? 0 : bit(DType::BFloat16),
                  .on_host = false}),
          npu_(number, id) {}

    // ---- memory

    DeviceMemory try_allocate(int64_t nbytes) override {
        const Turn turn(npu_.stream, "allocate");
        auto piece = std::make_unique<Piece>();
        piece->nbytes = nbytes;
        piece->chunk = npu_.pool.take(nbytes);
        if (!piece->chunk) return {};
        return {piece->chunk->data, piece.release()};
    }
    void free(DeviceMemory memory, int64_t) noexcept override {
        const std::unique_ptr<Piece> piece(static_cast<Piece*>(memory.record));
        try {
            const Turn turn(npu_.stream, "free");
            if (piece->mirror.data) npu_.staging.give(piece->mirror);
            npu_.pool.give(piece->chunk);
        } catch (const Error&) {
            // The device is lost, or belongs to the parent of this process.
        }
    }
    pool::Stats memory_stats() const override {
        const auto lock = npu_.stream.lock();
        return npu_.pool.stats();
    }
    void free_cached() override {
        const Turn turn(npu_.stream, "free_cached");
        npu_.executors.free_cached();
        npu_.pool.free_cached();
        npu_.staging.free_cached();
    }
    void set_memory_limit(int64_t nbytes) override {
        const auto lock = npu_.stream.lock();
        npu_.pool.set_limit(nbytes);
        if (nbytes == 0 || npu_.pool.held() <= nbytes) return;
        const Turn turn(npu_.stream, "set_limit");
        npu_.pool.shrink(nbytes);
    }
    int64_t memory_limit() const override {
        const auto lock = npu_.stream.lock();
        return npu_.pool.limit();
    }
    int64_t total_memory() const override {
        const Turn turn(npu_.stream, "total_memory");
        size_t unused = 0, total = 0;
        check("aclrtGetMemInfo", acl().aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
        return static_cast<int64_t>(total);
    }

    // ---- bytes

    bool adopt(const Block& to, const Ref<Block>& from, int64_t offset) override {
        const Turn turn(npu_.stream, "upload");
        Piece& piece = piece_of(to);
        const Staging::Buffer buffer = npu_.staging.lend(from, offset, piece.nbytes);
        if (buffer.data) npu_.wait_for_use(piece, buffer);
        return buffer.data != nullptr;
    }

    void upload(const Block& to, int64_t offset, const void* from, int64_t nbytes) override {
        if (nbytes == 0) return;
        const Turn turn(npu_.stream, "upload");
        Piece& piece = piece_of(to);
        const bool whole = offset == 0 && nbytes == piece.nbytes;
        if (!whole) npu_.bring(piece);
        const Staging::Buffer buffer = npu_.staging.take(nbytes);
        std::memcpy(buffer.data, from, static_cast<size_t>(nbytes));
        if (whole) return npu_.wait_for_use(piece, buffer);
        npu_.written(piece);
        const Returning back(npu_.staging, buffer);
        npu_.copy_in(piece.chunk->data + offset, buffer.data, nbytes);
    }

    void download(void* to, const Block& from, int64_t offset, int64_t nbytes) override {
        if (nbytes == 0) return;
        const Turn turn(npu_.stream, "download");
        Piece& piece = piece_of(from);
        if (!piece.mirror.data) {
            if (!piece.on_device) return;  // nobody has written to it
            npu_.mirror(piece);
        }
        std::memcpy(to, piece.mirror.data + offset, static_cast<size_t>(nbytes));
        npu_.trim(piece);
    }

    void copy(const Block& to, int64_t to_offset, const Block& from, int64_t from_offset,
              int64_t nbytes) override {
        if (nbytes == 0) return;
        const Turn turn(npu_.stream, "copy");
        Piece &source = piece_of(from), &target = piece_of(to);
        npu_.bring(source);
        npu_.bring(target);
        const auto n = static_cast<size_t>(nbytes);
        check("aclrtMemcpyAsync",
              acl().aclrtMemcpyAsync(target.chunk->data + to_offset, n,
                                     source.chunk->data + from_offset, n,
                                     ACL_MEMCPY_DEVICE_TO_DEVICE, npu_.stream.handle()));
        npu_.written(target);
    }

    void clear(const Block& to, int64_t offset, int64_t nbytes) override {
        if (nbytes == 0) return;
        const Turn turn(npu_.stream, "clear");
        Piece& piece = piece_of(to);
        if (offset != 0 || nbytes != piece.nbytes) npu_.bring(piece);
        const auto n = static_cast<size_t>(nbytes);
        check("aclrtMemsetAsync",
              acl().aclrtMemsetAsync(piece.chunk->data + offset, n, 0, n, npu_.stream.handle()));
        npu_.written(piece);
    }

    // ---- work

    bool run(const ProgramCall& call) override {
        const Turn turn(npu_.stream, "elementwise");
        return cann::run(npu_, call);
    }
    bool elementwise(Op op, DType compute, std::span<const Operand> operands,
                     const Array& out) override {
        const Turn turn(npu_.stream, info(op).name);
        return cann::elementwise(npu_, op, compute, operands, out);
    }
    bool transfer(const Array& dst, const Array& src) override {
        if (dst.size() == 0) return true;
        const Turn turn(npu_.stream, "copy");
        return npu_.transfer(dst, src);
    }
    bool reduce(const ReduceSpec& spec, const Array& x, const Dims& axes,
                const Array& out) override {
        const Turn turn(npu_.stream, "reduce");
        return cann::reduce(npu_, spec, x, axes, out);
    }
    bool scan(const ScanSpec& spec, const Array& x, int axis, const Array& out) override {
        const Turn turn(npu_.stream, spec.product ? "cumulative_prod" : "cumulative_sum");
        return cann::scan(npu_, spec, x, axis, out);
    }
    bool multiply(const Array& a, const Array& b, const Array& out, Precision precision) override {
        const Turn turn(npu_.stream, "matmul");
        return cann::multiply(npu_, a, b, out, precision);
    }

    bool library(const LibraryCall& call) override {
        const Turn turn(npu_.stream, call.function);
        return cann::library(npu_, call);
    }

    bool computes(Op op, DType compute) const override {
        const char* operation = operation_of(op, compute);
        const auto lock = npu_.stream.lock();
        return supports(op, compute) && !(operation && npu_.executors.refuses(operation, compute));
    }
    bool computes(Function f, DType compute) const override {
        return supports(f, compute) || has_library(f, compute);
    }

    std::string reason(Op op) const override { return cann::reason(op); }
    std::string reason(Function f) const override { return cann::reason(f); }

    // ---- the stream

    std::unique_ptr<DeviceEvent> record(uint64_t) override {
        const Turn turn(npu_.stream, "record");
        return std::make_unique<StreamEvent>(npu_.stream.mark());
    }
    void synchronize() override {
        const Turn turn(npu_.stream, "synchronize");
        npu_.stream.wait();
    }

    std::vector<std::pair<const char*, int64_t>> statistics() const override {
        const auto lock = npu_.stream.lock();
        const Npu::Counts& counts = npu_.counts();
        const Executors::Stats executors = npu_.executors.stats();
        return {{"uploads", counts.uploads},
                {"bytes_uploaded", counts.bytes_uploaded},
                {"downloads", counts.downloads},
                {"bytes_downloaded", counts.bytes_downloaded},
                {"executors_made", executors.made},
                {"executors_reused", executors.reused},
                {"executors_held", executors.held},
                {"bytes_unpacked", counts.bytes_unpacked},
                {"peak_bytes_unpacked", counts.peak_bytes_unpacked}};
    }

  private:
    mutable Npu npu_;
};

}  // namespace

void register_devices() {
    const Installation& found = installation();
    if (found.device_count == 0) return;
    install_fork_handlers();
    for (int i = 0; i < found.device_count; ++i)
        add_device(std::make_unique<CannDevice>(i, static_cast<DeviceId>(devices::count)));
}

}  // namespace asc::cann
