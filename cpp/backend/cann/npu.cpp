#include "backend/cann/npu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backend/device_span.h"
#include "core/view.h"
#include "runtime/profiler.h"

namespace asc::cann {
namespace {

// Bits are taken apart in words of this type, and put together in bytes.
constexpr DType kWord = DType::Int16;
constexpr int64_t kWordBits = 16, kByteBits = 8;

// What a program reads is page-locked up to here; beyond it, no copies are kept on the host.
constexpr int64_t kMostMirrored = int64_t{1} << 30;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

bool any_negative(const Dims& strides) {
    return std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s < 0; });
}

// Axes that lie behind each other in all of these strides become one; those of one element go.
struct Merged {
    Dims shape;
    Dims strides[2];
};
Merged merge(const Dims& shape, const Dims& a, const Dims& b) {
    Merged m;
    for (int i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;
        const int last = m.shape.size() - 1;
        if (last >= 0 && m.strides[0][last] == a[i] * shape[i] &&
            m.strides[1][last] == b[i] * shape[i]) {
            m.shape[last] *= shape[i];
            m.strides[0][last] = a[i];
            m.strides[1][last] = b[i];
        } else {
            m.shape.push_back(shape[i]);
            m.strides[0].push_back(a[i]);
            m.strides[1].push_back(b[i]);
        }
    }
    return m;
}

}  // namespace

Npu::Bits Npu::bits_around(const Array& x) {
    int64_t first = x.offset, last = x.offset;
    for (int i = 0; i < x.ndim(); ++i)
        (x.strides[i] < 0 ? first : last) += (x.shape[i] - 1) * x.strides[i];
    const int64_t word = first / kWordBits;
    return {word * kWordBits, last / kWordBits + 1 - word};
}

Piece& piece_of(const Array& x) {
    const Ref<Block> block = x.storage->present_block();
    if (!block || !block->record()) {
        raise(ErrorKind::Runtime, "%s: an array has no memory on its device", running_function);
    }
    return *static_cast<Piece*>(block->record());
}

bool is_plain(const Array& x, DType dtype) {
    return x.dtype == dtype && !is_bool(dtype) && x.ndim() <= kMostDims && !any_negative(x.strides);
}

// Nobody has written to it.
static bool is_blank(const Piece& piece) { return !piece.on_device && !piece.mirror.data; }

bool covers(const Array& x, const Piece& piece) {
    const int64_t n = x.size() * bits(x.dtype);
    // The last byte may hold bits of other views.
    return (n + 7) / 8 == piece.nbytes && (n % 8 == 0 || is_blank(piece)) && is_contiguous(x);
}

View Npu::view_of(const Array& x, const Piece& piece) {
    // The padding of chunks makes the last word whole.
    return {
        piece.chunk->data, round_up(piece.nbytes, std::max<int64_t>(unit(x.dtype), kWordBits / 8)),
        x.dtype,           x.shape,
        x.strides,         x.offset};
}

// ---- memory

Scratch Npu::scratch(int64_t nbytes) {
    Chunk* chunk = pool.take(nbytes);
    if (!chunk) {
        raise(ErrorKind::Memory, "%s: cannot allocate %lld bytes for the operation on the NPU",
              running_function, static_cast<long long>(nbytes));
    }
    return {chunk, [this](Chunk* done) { pool.give(done); }};
}

Scratch Npu::unpacked(int64_t nbytes) {
    const Scratch memory = scratch(nbytes);
    counts_.bytes_unpacked += nbytes;
    counts_.peak_bytes_unpacked = std::max(counts_.peak_bytes_unpacked, counts_.bytes_unpacked);
    return {memory.get(), [this, memory, nbytes](Chunk*) { counts_.bytes_unpacked -= nbytes; }};
}

View Npu::temporary(DType dtype, const Dims& shape) {
    const int64_t n = product(shape);
    const int64_t nbytes = is_bool(dtype) ? round_up(n, kByteBits) : n * unit(dtype);
    const Scratch memory = is_bool(dtype) ? unpacked(nbytes) : scratch(nbytes);
    if (is_bool(dtype) && nbytes > n) {
        const auto rest = static_cast<size_t>(nbytes - n);
        check("aclrtMemsetAsync",
              acl().aclrtMemsetAsync(memory->data + n, rest, 0, rest, stream.handle()));
    }
    return {memory->data, nbytes, dtype, shape, row_major_strides(shape), 0, memory};
}

View Npu::constant(DType dtype, const void* value) {
    View made = temporary(dtype, {});
    if (!call(acl().aclnnInplaceFillScalar, made, Number(dtype, value)))
        made = upload(dtype, value, 1).reshaped({});
    return made;
}

View Npu::upload(DType dtype, const void* values, int64_t n) {
    const int64_t nbytes = n * unit(dtype);
    View made = temporary(dtype, {n});
    const Staging::Buffer buffer = staging.take(nbytes);
    std::memcpy(buffer.data, values, static_cast<size_t>(nbytes));
    const Returning back(staging, buffer);
    copy_in(made.base, buffer.data, nbytes);
    return made;
}

const View& Npu::table(Table which) {
    std::optional<View>& made = tables_[static_cast<int>(which)];
    if (made) return *made;
    if (which == Table::BitMasks) {
        uint16_t masks[kWordBits];
        for (int i = 0; i < kWordBits; ++i) masks[i] = static_cast<uint16_t>(1 << i);
        made = upload(kWord, masks, kWordBits);
    } else {
        // 1, 2, ..., 128 as float16.
        uint16_t weights[kByteBits];
        for (int i = 0; i < kByteBits; ++i) weights[i] = static_cast<uint16_t>((15 + i) << 10);
        made = upload(DType::Float16, weights, kByteBits);
    }
    return *made;
}

void Npu::wait_for_use(Piece& piece, const Staging::Buffer& bytes) {
    written(piece);
    piece.on_device = false;
    piece.mirror = bytes;
}

void Npu::bring(Piece& piece) {
    if (piece.on_device) return;
    if (piece.mirror.data) copy_in(piece.chunk->data, piece.mirror.data, piece.nbytes);
    piece.on_device = true;
    trim(piece);
}

void Npu::mirror(Piece& piece) {
    const Staging::Buffer buffer = staging.take(piece.nbytes);
    try {
        copy_out(buffer.data, piece.chunk->data, piece.nbytes);
        const profiler::Span span(profiler::Kind::Wait, profiler::Category::Wait, "wait");
        stream.wait();
    } catch (...) {
        staging.give(buffer);
        throw;
    }
    piece.mirror = buffer;
}

void Npu::copy_in(std::byte* to, const std::byte* from, int64_t nbytes) {
    DeviceSpan span(profiler::Category::Copy, "upload", id_);
    if (span) span->written = nbytes;
    const auto n = static_cast<size_t>(nbytes);
    check("aclrtMemcpyAsync",
          acl().aclrtMemcpyAsync(to, n, from, n, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle()));
    ++counts_.uploads;
    counts_.bytes_uploaded += nbytes;
}

void Npu::copy_out(std::byte* to, const std::byte* from, int64_t nbytes) {
    DeviceSpan span(profiler::Category::Copy, "download", id_);
    if (span) span->read = nbytes;
    const auto n = static_cast<size_t>(nbytes);
    check("aclrtMemcpyAsync",
          acl().aclrtMemcpyAsync(to, n, from, n, ACL_MEMCPY_DEVICE_TO_HOST, stream.handle()));
    ++counts_.downloads;
    counts_.bytes_downloaded += nbytes;
}

void Npu::trim(Piece& piece) {
    if (!piece.on_device || !piece.mirror.data || staging.used() <= kMostMirrored) return;
    staging.give(piece.mirror);
    piece.mirror = {};
}

void Npu::written(Piece& piece) {
    piece.on_device = true;
    if (piece.mirror.data) staging.give(piece.mirror);
    piece.mirror = {};
}

// ---- elements

std::optional<View> Npu::read(const Array& x) {
    Piece& piece = piece_of(x);
    bring(piece);
    View elements = view_of(x, piece);
    if (is_bool(x.dtype) && x.size() > 0) elements = bools(x);
    const Dims reversed = straighten(elements);
    return reversed.empty() ? elements : flipped(elements, reversed);
}

Dims Npu::straighten(View& x) {
    Dims reversed;
    for (int i = 0; i < x.ndim(); ++i) {
        if (x.strides[i] >= 0) continue;
        reversed.push_back(i);
        x.offset += (x.shape[i] - 1) * x.strides[i];
        x.strides[i] = -x.strides[i];
    }
    return reversed;
}

std::optional<View> Npu::flipped(const View& x, const Dims& axes) {
    // This moves bytes: any dtype of the same size will do.
    const DType moved = signed_integer(x.dtype);
    const View made = temporary(x.dtype, x.shape);
    if (x.ndim() > kMostDims || !call(acl().aclnnFlip, x.as(moved), axes, made.as(moved)))
        return std::nullopt;
    return made;
}

std::optional<View> Npu::cast(const View& x, DType dtype) {
    if (x.dtype == dtype) return x;
    const View made = temporary(dtype, x.shape);
    if (!assign(made, x)) return std::nullopt;
    return made;
}

std::optional<View> Npu::contiguous(const View& x) {
    if (x.contiguous()) return x;
    const View made = temporary(x.dtype, x.shape);
    if (!copy(made, x)) return std::nullopt;
    return made;
}

bool Npu::assign(const View& to, const View& from) {
    if (to.dtype == from.dtype) return copy(to, from);
    const View narrow = from.unbroadcast();
    const bool direct = narrow.shape == to.shape && to.contiguous() && to.ndim() <= kMostDims;
    if (!direct) {
        const std::optional<View> flat = contiguous(narrow);
        if (!flat) return false;
        const View made = temporary(to.dtype, {narrow.size()});
        return assign(made, flat->reshaped({narrow.size()})) &&
               copy(to, made.reshaped(narrow.shape));
    }
    if (is_bool(to.dtype)) {
        // Zero has the same bits without a sign.
        const DType dtype = is_integer(from.dtype) ? signed_integer(from.dtype) : from.dtype;
        const int64_t zero[2] = {0, 0};
        return call(acl().aclnnNeScalar, narrow.as(dtype), Number(dtype, zero), to);
    }
    // Of these it takes no strides.
    const bool gapless = is_bool(from.dtype) || is_complex(from.dtype);
    std::optional<View> taken = gapless ? contiguous(narrow) : narrow;
    View target = to;
    if (to.dtype == DType::Int8 && from.dtype == DType::Int32) {
        // Cast wraps these from -2048 to 1919 only; the bytes of uint8 are the same.
        target = to.as(DType::UInt8);
    } else if (to.dtype == DType::UInt8 && from.dtype == DType::Float64) {
        // Cast leaves open what negative ones become.
        taken = temporary(from.dtype, narrow.shape);
        const double zero = 0;
        if (!call(acl().aclnnMaximum, narrow, constant(from.dtype, &zero), *taken)) return false;
    }
    return taken && call(acl().aclnnCast, *taken, acl_type(target.dtype), target);
}

// The same dtype on both sides.
bool Npu::copy(const View& to, const View& from) {
    if (to.size() == 0) return true;
    const Merged m = merge(to.shape, to.strides, from.broadcast_to(to.shape).strides);
    View target = to, source = from;
    target.shape = source.shape = m.shape;
    target.strides = m.strides[0];
    source.strides = m.strides[1];
    if (m.shape.size() <= kMostDims)
        return call(acl().aclnnInplaceCopy, target, source.unbroadcast());
    for (int64_t i = 0; i < target.shape[0]; ++i) {
        if (!copy(target.select(i), source.select(i))) return false;
    }
    return true;
}

void Npu::fetch(const View& x, void* to) {
    const int64_t nbytes = x.size() * unit(x.dtype);
    const Staging::Buffer buffer = staging.take(nbytes);
    const Returning back(staging, buffer);
    copy_out(buffer.data, x.base + x.offset * unit(x.dtype), nbytes);
    stream.wait();
    std::memcpy(to, buffer.data, static_cast<size_t>(nbytes));
}

bool Npu::transfer(const Array& dst, const Array& src) {
    if (is_bool(dst.dtype) && is_bool(src.dtype) && dst.shape == src.shape) {
        const std::optional<View> to = words(dst, DType::UInt8, true),
                                  from = words(src, DType::UInt8, false);
        if (to && from && to->size() == from->size()) {
            bring(piece_of(src));
            if (!covers(dst, piece_of(dst))) bring(piece_of(dst));
            if (!copy(*to, *from)) return false;
            written(piece_of(dst));
            return true;
        }
    }
    const std::optional<View> from = read(src);
    return from && write(dst, dst.dtype, [&](const View& to) {
               // Of too many dimensions `to` has one.
               const bool flat = to.ndim() != dst.ndim();
               return assign(flat ? to.reshaped(dst.shape) : to, from->broadcast_to(dst.shape));
           });
}

bool Npu::store(const Array& out, const View& from) {
    Piece& piece = piece_of(out);
    if (!covers(out, piece)) bring(piece);
    View target = view_of(out, piece);
    View source = from.reshaped(out.shape);
    const Dims reversed = straighten(target);
    if (!reversed.empty()) {
        // The same pairs of elements, counted from the other end.
        const std::optional<View> turned = flipped(source, reversed);
        if (!turned) return false;
        source = *turned;
    }
    if (!(is_bool(out.dtype) ? store_bits(out, target, source) : assign(target, source)))
        return false;
    written(piece);
    return true;
}

// ---- packed bits

// The bits of an array as bools, of which it takes the same strides.
View Npu::bools(const Array& x) {
    const Bits around = bits_around(x);
    View result = unpack(x, around);
    result.shape = x.shape;
    result.strides = x.strides;
    result.offset = x.offset - around.first;
    return result;
}

// `to` are the bits of `out`, as if they were bytes, with positive strides.
bool Npu::store_bits(const Array& out, const View& to, const View& from) {
    if (const std::optional<View> bytes = words(out, DType::UInt8, true)) return pack(from, *bytes);
    // Whole words, those bits among others.
    const Bits around = bits_around(out);
    const View all = unpack(out, around);
    View some = to;
    some.base = all.base;
    some.capacity = all.capacity;
    some.scratch = all.scratch;
    some.offset -= around.first;
    View bytes = to;
    bytes.dtype = DType::UInt8;
    bytes.shape = {all.size() / kByteBits};
    bytes.strides = {1};
    bytes.offset = around.first / kByteBits;
    return copy(some, from) && pack(all, bytes);
}

std::optional<View> Npu::words(const Array& x, DType word, bool written) {
    const Piece& piece = piece_of(x);
    const int64_t width = bits(word), n = x.size();
    // The last word may hold bits of other views.
    const bool whole = n % width == 0 || !written || is_blank(piece);
    if (!is_contiguous(x) || x.offset % width != 0 || !whole) return std::nullopt;
    View w = view_of(x, piece);
    w.capacity = round_up(piece.nbytes, width / kByteBits);  // the padding of chunks is there
    w.dtype = word;
    w.shape = {(n + width - 1) / width};
    w.strides = {1};
    w.offset = x.offset / width;
    return w;
}

View Npu::unpack(const Array& x, const Bits& around) {
    const int64_t n = around.words;
    View from = view_of(x, piece_of(x));
    from.dtype = kWord;
    from.shape = {n, 1};
    from.strides = {1, 1};
    from.offset = around.first / kWordBits;
    const View masked = temporary(kWord, {n, kWordBits});
    const View made = temporary(DType::Bool, {n, kWordBits});
    const int16_t zero = 0;
    if (!call(acl().aclnnBitwiseAndTensor, from, table(Table::BitMasks), masked) ||
        !call(acl().aclnnNeScalar, masked, Number(kWord, &zero), made)) {
        raise(ErrorKind::Runtime, "%s: this CANN cannot take bits apart", running_function);
    }
    return made.reshaped({n * kWordBits});
}

// Bools without gaps, with false ones up to a whole byte, as the bits of bytes.
bool Npu::pack(const View& from, const View& bytes) {
    const int64_t n = bytes.size();
    View bools = from;
    if (!from.scratch || from.offset != 0 || !from.contiguous()) {
        bools = temporary(DType::Bool, from.shape);
        if (!copy(bools, from)) return false;
    }
    const uint16_t zero = 0;
    const View weighted = temporary(DType::Float16, {n, kByteBits});
    const View sums = temporary(DType::Float16, {n});
    return call(acl().aclnnSWhere, bools.reshaped({n, kByteBits}), table(Table::BitWeights),
                constant(DType::Float16, &zero), weighted) &&
           call(acl().aclnnReduceSum, weighted, Dims{1}, false, ACL_FLOAT16, sums) &&
           call(acl().aclnnCast, sums, ACL_UINT8, bytes);
}

}  // namespace asc::cann
