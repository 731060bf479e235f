#include "graph/lowering.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/machine.h"
#include "backend/cpu/product.h"
#include "backend/cpu/reduce.h"
#include "backend/device_span.h"
#include "core/view.h"
#include "graph/placement.h"
#include "runtime/profiler.h"

namespace asc {
namespace {

struct Fallbacks {
    std::mutex mutex;
    std::vector<Fallback> list;
};
Fallbacks& all_fallbacks() {
    static Fallbacks& instance = *new Fallbacks;
    return instance;
}

// Images on the host of the storages of a device: the same bytes under the same views.
class Images {
  public:
    Array of(const Array& x) {
        Array image = x;
        image.storage = image_of(x.storage);
        return image;
    }
    std::vector<Array> of(std::span<const Array> arrays) {
        std::vector<Array> images;
        for (const Array& x : arrays) images.push_back(of(x));
        return images;
    }
    // Brings what was written to the images back to the device.
    void write_back(std::span<const Array> arrays) {
        for (const Array& x : arrays) {
            const Ref<Block> block = x.storage->present_block();
            device(x.device()).upload(*block, 0, image_of(x.storage)->data(), block->nbytes());
        }
    }

  private:
    Ref<Storage> image_of(const Ref<Storage>& storage) {
        for (const auto& [original, image] : images_)
            if (original == storage) return image;
        const Ref<Block> block = storage->present_block();
        Ref<Storage> image = Storage::allocate(block->nbytes(), kCpu);
        device(storage->device()).download(image->data(), *block, 0, block->nbytes());
        images_.emplace_back(storage, image);
        return image;
    }

    std::vector<std::pair<Ref<Storage>, Ref<Storage>>> images_;
};

// Computes by the host what the device refused.
template <class F>
void on_host_instead(const char* function, DType dtype, std::span<const Array> outputs, F compute) {
    note_fallback(function, dtype, outputs[0].device());
    DeviceSpan::by_host();
    const profiler::WorkSpan span(profiler::Category::Fallback, function,
                                  index(outputs[0].device()));
    Images images;
    compute(images);
    images.write_back(outputs);
}

// The value of a program's instruction, constant or input, as an operand.
class Values {
  public:
    Values(const ProgramCall& call, Device& place, const Dims& shape)
        : call_(call), place_(place), shape_(shape), results_(call.program->code.size()) {}

    // Runs all instructions.
    void compute() {
        const auto& code = call_.program->code;
        const std::vector<size_t> last = last_uses();
        for (size_t i = 0; i < code.size(); ++i) {
            run(i);
            for (size_t k = 0; k < i; ++k)
                if (last[k] == i) results_[k] = {};
        }
    }
    // Writes a value to an output.
    void store(const Value& v, const Array& out) {
        if (v.from != Value::From::Constant)
            return transfer_on_accelerator(out, broadcast_to(array(v), out.shape, "store"));
        const DType dtype = call_.program->constants[v.index];
        Array element = Array::empty({}, dtype, kCpu);
        std::memcpy(element.storage->data(), call_.constants[v.index].bytes,
                    static_cast<size_t>(std::max<int64_t>(itemsize(dtype), 1)));
        element = moved(element, out.device(), "store");
        transfer_on_accelerator(out, broadcast_to(element, out.shape, "store"));
    }

  private:
    const Array& array(const Value& v) const {
        return v.from == Value::From::Input ? call_.inputs[v.index] : results_[v.index];
    }
    std::vector<size_t> last_uses() const {
        const auto& code = call_.program->code;
        std::vector<size_t> last(code.size(), 0);
        for (size_t i = 0; i < code.size(); ++i) {
            for (int k = 0; k < code[i].arity; ++k)
                if (code[i].source[k].from == Value::From::Result)
                    last[code[i].source[k].index] = i;
        }
        for (const Program::Output& out : call_.program->outputs)
            if (out.value.from == Value::From::Result) last[out.value.index] = code.size();
        return last;
    }
    Array temporary(DType dtype) const {
        return Array::empty(shape_, dtype, call_.outputs[0].device());
    }
    // The operand in the dtype of its register; `room` holds a converted array.
    Operand operand(const Value& v, DType dtype, Array& room) const {
        Operand result;
        if (v.from == Value::From::Constant) {
            std::memcpy(result.scalar, call_.constants[v.index].bytes, sizeof(result.scalar));
            return result;
        }
        const Array& x = array(v);
        result.array = &x;
        if (x.dtype == dtype) return result;
        room = Array::empty(x.shape, dtype, x.device());
        transfer_on_accelerator(room, x);
        result.array = &room;
        return result;
    }
    void elementwise(Op op, DType dtype, std::span<const Operand> operands, const Array& out) {
        running_function = info(op).name;
        if (place_.elementwise(op, dtype, operands, out)) return;
        on_host_instead(info(op).name, dtype, {&out, 1}, [&](Images& images) {
            std::vector<Operand> seen(operands.begin(), operands.end());
            std::vector<Array> arrays(operands.size());
            for (size_t k = 0; k < seen.size(); ++k) {
                if (!seen[k].array) continue;
                arrays[k] = images.of(*seen[k].array);
                seen[k].array = &arrays[k];
            }
            cpu::elementwise(op, dtype, seen, images.of(out));
        });
    }
    void run(size_t i) {
        const Instruction& code = call_.program->code[i];
        Array rooms[3];
        if (code.converts) {
            results_[i] = temporary(code.result);
            return store(code.source[0], results_[i]);
        }
        Operand operands[3];
        for (int k = 0; k < code.arity; ++k) {
            const DType reg = cpu::register_dtype(code.op, k, code.dtype);
            operands[k] = operand(code.source[k], reg, rooms[k]);
        }
        results_[i] = temporary(code.result);
        elementwise(code.op, code.dtype, {operands, code.arity}, results_[i]);
    }

    const ProgramCall& call_;
    Device& place_;
    const Dims& shape_;
    std::vector<Array> results_;
};

void run_program(const ProgramCall& call, Device& place) {
    if (place.run(call)) return;
    Values values(call, place, call.outputs[0].shape);
    values.compute();
    // An output may be an input that another one overwrites.
    for (size_t k = 0; k < call.outputs.size(); ++k)
        values.store(call.program->outputs[k].value, call.outputs[k]);
}

void run_sink(const Work::Sink& sink, Device& place) {
    const Entry& e = *sink.entry;
    running_function = e.function;
    if (e.kind == Entry::Kind::Scan) {
        const int axis = static_cast<int>(e.axes[0]);
        if (place.scan(e.scan, sink.x, axis, sink.out)) return;
        return on_host_instead(e.function, sink.x.dtype, {&sink.out, 1}, [&](Images& images) {
            cpu::scan(e.scan, images.of(sink.x), axis, images.of(sink.out));
        });
    }
    if (place.reduce(e.reduction, sink.x, e.axes, sink.out)) return;
    on_host_instead(e.function, sink.x.dtype, {&sink.out, 1}, [&](Images& images) {
        const cpu::PartReduction reduction{&e.reduction, images.of(sink.out)};
        cpu::reduce(images.of(sink.x), e.axes, {&reduction, 1});
    });
}

void run_product(const Entry& e, Device& place) {
    running_function = e.function;
    if (place.multiply(e.inputs[0], e.inputs[1], e.output, e.precision)) return;
    on_host_instead(e.function, e.output.dtype, {&e.output, 1}, [&](Images& images) {
        cpu::multiply(images.of(e.inputs[0]), images.of(e.inputs[1]), images.of(e.output),
                      e.precision);
    });
}

// What library entries compute, they compute on the host.
void run_library(const Entry& e) {
    note_fallback(e.function, e.output.dtype, e.output.device());
    DeviceSpan::by_host();
    const profiler::WorkSpan span(profiler::Category::Fallback, e.function,
                                  index(e.output.device()));
    std::vector<Array> inputs;
    for (int k = 0; k < e.arity; ++k) inputs.push_back(moved(e.inputs[k], kCpu, e.function));
    const Array result = moved(e.library(inputs.data()), e.output.device(), e.function);
    e.output.storage->materialize(result.storage->present_block());
}

}  // namespace

// Null where there was none; by the list's mutex.
static Fallback* find_fallback(const char* function, DType dtype, DeviceId device) {
    for (Fallback& f : all_fallbacks().list) {
        if (f.function == function && f.dtype == dtype && f.device == device) return &f;
    }
    return nullptr;
}

static std::atomic<FallbackHook> fallback_hook{nullptr};

void set_fallback_hook(FallbackHook hook) { fallback_hook.store(hook, std::memory_order_release); }

void note_fallback(const char* function, DType dtype, DeviceId device) {
    bool first = false;
    {
        std::lock_guard lock(all_fallbacks().mutex);
        first = !find_fallback(function, dtype, device);
    }
    if (FallbackHook hook = fallback_hook.load(std::memory_order_acquire))
        hook(function, dtype, device, first);
    // What the hook refuses does not happen.
    std::lock_guard lock(all_fallbacks().mutex);
    if (Fallback* found = find_fallback(function, dtype, device))
        ++found->times;
    else
        all_fallbacks().list.push_back({function, dtype, device, 1});
}

std::vector<Fallback> fallbacks() {
    std::lock_guard lock(all_fallbacks().mutex);
    return all_fallbacks().list;
}

void transfer_on_accelerator(const Array& dst, const Array& src) {
    if (device(dst.device()).transfer(dst, src)) return;
    on_host_instead("astype", src.dtype, {&dst, 1},
                    [&](Images& images) { cpu::transfer(images.of(dst), images.of(src)); });
}

void run_on_device(const LibraryCall& call) {
    for (const Array& x : call.inputs) x.storage->settle();
    Device& place = device(call.outputs[0].device());
    const DeviceSpan span(profiler::Category::Compute, call.function, call.outputs[0].device());
    if (place.library(call)) return;
    DeviceSpan::by_host();
    throw NotOnDevice{};
}

void run_on_accelerator(const Work& work) {
    if (work.library) return run_library(*work.library);
    Device& place = device(work.device);
    if (work.product_kept) run_product(*work.product, place);
    if (!work.call.outputs.empty()) run_program(work.call.bind(), place);
    for (const Work::Sink& sink : work.sinks) run_sink(sink, place);
}

}  // namespace asc
