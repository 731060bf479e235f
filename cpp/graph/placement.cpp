#include "graph/placement.h"

#include "backend/cpu/elementwise.h"
#include "core/view.h"
#include "graph/lowering.h"

namespace asc {
namespace {

int64_t bytes_of(const Array& x) { return (x.size() * bits(x.dtype) + 7) / 8; }

// x without gaps, from the start of a byte on.
Array packed(const Array& x) {
    return is_contiguous(x) && x.offset * bits(x.dtype) % 8 == 0 ? x : copy(x);
}
int64_t first_byte(const Array& x) { return x.offset * bits(x.dtype) / 8; }

Array upload(const Array& x, DeviceId to, const char* function) {
    const Array source = packed(x);
    Array out = Array::empty(x.shape, x.dtype, to, function);
    const Ref<Block> memory = source.storage->block(), there = out.storage->block();
    // Nobody has it to write to.
    const bool unchanging =
        memory->borrowed() && source.storage->read_only() && !source.storage->shared();
    if (!unchanging || !device(to).adopt(*there, memory, first_byte(source)))
        device(to).upload(*there, 0, memory->data() + first_byte(source), bytes_of(x));
    return out;
}

Array download(const Array& x, const char* function) {
    const Array source = packed(x);
    Array out = Array::empty(x.shape, x.dtype, kCpu, function);
    device(x.device())
        .download(out.storage->data(), *source.storage->block(), first_byte(source), bytes_of(x));
    return out;
}

}  // namespace

Array moved(const Array& x, DeviceId to, const char* function) {
    if (x.device() == to) return x;
    require_dtype(x.dtype, to, function);
    x.storage->settle();
    const bool from_host = on_host(x.device()), to_host = on_host(to);
    if (!from_host) return moved(download(x, function), to, function);
    if (!to_host) return upload(x, to, function);
    Array out = Array::empty(x.shape, x.dtype, to, function);
    cpu::transfer(out, x);
    return out;
}

void transfer(const Array& dst, const Array& src) {
    if (on_host(dst.device())) return cpu::transfer(dst, src);
    src.storage->settle();
    dst.storage->settle();
    transfer_on_accelerator(dst, broadcast_to(src, dst.shape, "copy"));
}

Array copy(const Array& x) { return cast(x, x.dtype); }

Array cast(const Array& x, DType to) {
    Array result = Array::empty(x.shape, to, x.device());
    transfer(result, x);
    return result;
}

void refuse_devices(const char* function, DeviceId a, DeviceId b) {
    raise(ErrorKind::Value,
          "%s: the arrays are on the devices %s and %s; accepted: arrays of one device, and Python "
          "scalars; move one with to_device",
          function, device(a).name(), device(b).name());
}

}  // namespace asc
