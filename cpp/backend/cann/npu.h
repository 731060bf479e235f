// What the operations of a device share: its stream and memory, calls of CANN, and the elements of
// arrays.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "backend/cann/executors.h"
#include "backend/cann/memory.h"
#include "backend/cann/stream.h"
#include "backend/cann/view.h"

namespace asc::cann {

class Npu {
  public:
    // `id`: of the same device, for the profiler.
    Npu(int32_t ordinal, DeviceId id) : stream(ordinal), id_(id) {}

    Stream stream;
    Pool pool{stream};
    Staging staging{stream};
    Executors executors{stream};

    // All that follows is for the holder of a Turn, and only queues work. What gives a bool or
    // something optional says by false or nothing that CANN cannot do it.

    // op(arguments...): Views, Numbers, Dims and plain values.
    template <class... Parameters, class... Arguments>
    bool call(const Operation<void(Parameters...)>& op, const Arguments&... arguments);

    Scratch scratch(int64_t nbytes);
    // Of bools that are bytes, counted.
    Scratch unpacked(int64_t nbytes);
    // New elements without gaps. Behind the last bool there are false ones up to a whole byte.
    View temporary(DType dtype, const Dims& shape);
    // One element as a register holds it, without dimensions.
    View constant(DType dtype, const void* value);
    // Short tables that stay on the device.
    enum class Table { BitMasks, BitWeights };
    const View& table(Table which);

    // The elements of an array, to read them.
    std::optional<View> read(const Array& x);
    // Lets compute(view) write all elements in this dtype, converts them to that of `out` and puts
    // them there.
    template <class F>
    bool write(const Array& out, DType dtype, F&& compute);
    // to = from, broadcast and converted.
    bool assign(const View& to, const View& from);
    // New elements; x itself where there is nothing to do.
    std::optional<View> cast(const View& x, DType dtype);
    std::optional<View> contiguous(const View& x);
    // The words that hold the packed bits of an array, and where they are written, no others.
    std::optional<View> words(const Array& bits, DType word, bool written);

    // Bytes of elements without gaps, when they are there: waits.
    void fetch(const View& x, void* to);

    // dst = src, broadcast and converted.
    bool transfer(const Array& dst, const Array& src);

    // ---- the bytes of arrays
    // These are the last written ones; the device asks for them when it needs them.
    void wait_for_use(Piece& piece, const Staging::Buffer& bytes);
    // Brings the last written ones to the device.
    void bring(Piece& piece);
    // The device has written to it.
    void written(Piece& piece);
    // Brings what the device has to the host; waits for it.
    void mirror(Piece& piece);
    // Gives the mirror back, which the device does not need, where there are too many.
    void trim(Piece& piece);
    // Queue a copy from page-locked memory, or to it.
    void copy_in(std::byte* to, const std::byte* from, int64_t nbytes);
    void copy_out(std::byte* to, const std::byte* from, int64_t nbytes);

    // What was counted.
    struct Counts {
        int64_t uploads = 0, bytes_uploaded = 0, downloads = 0, bytes_downloaded = 0;
        int64_t bytes_unpacked = 0, peak_bytes_unpacked = 0;
    };
    const Counts& counts() const { return counts_; }

  private:
    // x as it lies in memory, bits as if they were bytes; strides may be negative.
    static View view_of(const Array& x, const Piece& piece);
    // Turns the axes with negative strides around, in place; returns them.
    static Dims straighten(View& x);
    std::optional<View> flipped(const View& x, const Dims& axes);
    // Whole words that hold the bits of an array.
    struct Bits {
        int64_t first, words;  // the first bit, which starts a word
    };
    static Bits bits_around(const Array& x);
    View bools(const Array& x);
    View unpack(const Array& x, const Bits& around);
    bool copy(const View& to, const View& from);
    bool store(const Array& out, const View& from);
    bool store_bits(const Array& out, const View& to, const View& from);
    bool pack(const View& from, const View& bytes);
    View upload(DType dtype, const void* values, int64_t n);

    std::optional<View> tables_[2];
    Counts counts_;
    DeviceId id_;
};

Piece& piece_of(const Array& x);
// The array is written as it lies in memory: no conversion, no reordering.
bool is_plain(const Array& x, DType dtype);
// Every byte is an element's.
bool covers(const Array& x, const Piece& piece);

template <class Argument>
void list_tensor(Prepared& prepared, const Argument& x) {
    if constexpr (std::is_same_v<Argument, TensorArgument>) prepared.tensors.push_back(x);
}

template <class... Parameters, class... Arguments>
bool Npu::call(const Operation<void(Parameters...)>& op, const Arguments&... arguments) {
    if (!op) return false;
    Signature signature(op.name);
    (signature.add(arguments, std::is_same_v<Parameters, aclTensor*>), ...);
    if (executors.refuses(signature)) return false;
    Prepared* ready = executors.find(signature);
    Prepared prepared;  // if it runs only once
    if (!ready) {
        const auto made =
            std::make_shared<std::tuple<decltype(argument(arguments))...>>(argument(arguments)...);
        prepared.arguments = made;
        const int code = std::apply(
            [&](const auto&... given) {
                (list_tensor(prepared, given), ...);
                return op.prepare(static_cast<Parameters>(given)..., &prepared.workspace,
                                  &prepared.executor);
            },
            *made);
        if (code == ACLNN_ERR_PARAM_INVALID) {
            acl().aclGetRecentErrMsg();  // or it would belong to the next error
            executors.refuse(signature);
            return false;
        }
        check(op.name, code);
        ready = executors.keep(signature, prepared);
    }
    const auto size = static_cast<int64_t>(ready->workspace);
    const Scratch workspace = size > 0 ? scratch(size) : nullptr;
    const int code = op.run(workspace ? workspace->data : nullptr, ready->workspace,
                            ready->executor, stream.handle());
    if (code != 0) {
        const Error error = error_of(op.name, code);
        executors.forget(signature);
        throw error;
    }
    return true;
}

template <class F>
bool Npu::write(const Array& out, DType dtype, F&& compute) {
    if (is_plain(out, dtype)) {
        Piece& piece = piece_of(out);
        if (!covers(out, piece)) bring(piece);
        if (!compute(view_of(out, piece))) return false;
        written(piece);
        return true;
    }
    const View made = temporary(dtype, out.ndim() <= kMostDims ? out.shape : Dims{out.size()});
    return compute(made) && store(out, made);
}

}  // namespace asc::cann
