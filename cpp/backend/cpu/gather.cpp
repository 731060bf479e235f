#include "backend/cpu/gather.h"

#include <cstring>

#include "backend/cpu/isa.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// One element of a given width, moved in either direction.
template <size_t kBytes>
struct Element {
    unsigned char bytes[kBytes];
};

// Calls f(offset) for every multi-index of shape, offset = sum of index * stride.
template <class F>
void for_each_offset(const Dims& shape, const Dims& strides, F&& f) {
    int64_t index[kMaxRank] = {};
    int64_t offset = 0, count = product(shape);
    for (int64_t i = 0; i < count; ++i) {
        f(offset);
        for (int axis = shape.size() - 1; axis >= 0; --axis) {
            offset += strides[axis];
            if (++index[axis] < shape[axis]) break;
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
}

bool unit_run(const Selection& s) {
    int64_t expected = 1;
    for (int i = s.after.size() - 1; i >= 0; --i) {
        if (s.after[i] != 1 && s.after_strides[i] != expected) return false;
        expected *= s.after[i];
    }
    return true;
}

// Moves the blocks [first, last) of one `before` index; kToPacked tells the direction.
template <class E, bool kToPacked>
void move_elements(E* packed, E* strided, const Selection& s, int64_t first, int64_t last) {
    int64_t block = product(s.after);
    if (block == 1) {
        for (int64_t b = first; b < last; ++b, ++packed) {
            E* element = strided + s.offsets[static_cast<size_t>(b)];
            kToPacked ? void(*packed = *element) : void(*element = *packed);
        }
        return;
    }
    bool run = unit_run(s);
    for (int64_t b = first; b < last; ++b) {
        E* origin = strided + s.offsets[static_cast<size_t>(b)];
        if (run) {
            auto bytes = static_cast<size_t>(block) * sizeof(E);
            kToPacked ? std::memcpy(packed, origin, bytes) : std::memcpy(origin, packed, bytes);
            packed += block;
            continue;
        }
        for_each_offset(s.after, s.after_strides, [&](int64_t offset) {
            kToPacked ? void(*packed = origin[offset]) : void(origin[offset] = *packed);
            ++packed;
        });
    }
}

template <bool kToPacked>
void move_bits(uint8_t* packed, int64_t at, uint8_t* strided, int64_t base, const Selection& s,
               int64_t first, int64_t last) {
    bool run = unit_run(s);
    int64_t block = product(s.after);
    auto copy_bits = kernels().copy_bits;
    for (int64_t b = first; b < last; ++b) {
        int64_t origin = base + s.offsets[static_cast<size_t>(b)];
        if (run && block > 1) {
            kToPacked ? copy_bits(packed, at, strided, origin, block)
                      : copy_bits(strided, origin, packed, at, block);
            at += block;
            continue;
        }
        for_each_offset(s.after, s.after_strides, [&](int64_t offset) {
            int64_t from = kToPacked ? origin + offset : at, to = kToPacked ? at : origin + offset;
            const uint8_t* source = kToPacked ? strided : packed;
            uint8_t* target = kToPacked ? packed : strided;
            unsigned bit = source[from >> 3] >> (from & 7) & 1u;
            auto mask = static_cast<uint8_t>(1u << (to & 7));
            target[to >> 3] = static_cast<uint8_t>((target[to >> 3] & ~mask) | (bit ? mask : 0));
            ++at;
        });
    }
}

template <bool kToPacked>
void move_range(const Array& packed, const Array& x, const Selection& s, int64_t outer,
                int64_t first, int64_t last) {
    int64_t count = static_cast<int64_t>(s.offsets.size()), block = product(s.after);
    int64_t base = s.base + offset_of(outer, s.before, s.before_strides);
    int64_t at = (outer * count + first) * block;
    if (is_bool(x.dtype)) {
        move_bits<kToPacked>(reinterpret_cast<uint8_t*>(packed.bits()), packed.offset + at,
                             reinterpret_cast<uint8_t*>(x.bits()), base, s, first, last);
        return;
    }
    auto move = [&]<size_t kBytes>() {
        using E = Element<kBytes>;
        move_elements<E, kToPacked>(reinterpret_cast<E*>(packed.data()) + at,
                                    reinterpret_cast<E*>(x.storage->data()) + base, s, first, last);
    };
    switch (itemsize(x.dtype)) {
        case 1:
            return move.template operator()<1>();
        case 2:
            return move.template operator()<2>();
        case 4:
            return move.template operator()<4>();
        case 8:
            return move.template operator()<8>();
        default:
            return move.template operator()<16>();
    }
}

}  // namespace

void gather(const Array& packed, const Array& x, const Selection& s) {
    int64_t outer = product(s.before), count = static_cast<int64_t>(s.offsets.size()),
            block = product(s.after);
    if (s.size() == 0) return;
    // Packed bits of neighbouring tasks share words, so bool stays on one thread.
    if (s.size() < workers::kThreadWork || is_bool(x.dtype)) {
        for (int64_t i = 0; i < outer; ++i) move_range<true>(packed, x, s, i, 0, count);
        return;
    }
    int64_t chunk = std::max<int64_t>(1, workers::kThreadWork / 4 / std::max<int64_t>(block, 1));
    int64_t chunks = (count + chunk - 1) / chunk;
    workers::for_each(outer * chunks, [&](int64_t task) {
        int64_t first = task % chunks * chunk;
        move_range<true>(packed, x, s, task / chunks, first, std::min(count, first + chunk));
    });
}

void scatter(const Array& x, const Array& packed, const Selection& s) {
    int64_t outer = product(s.before), count = static_cast<int64_t>(s.offsets.size());
    if (s.size() == 0) return;
    for (int64_t i = 0; i < outer; ++i) move_range<false>(packed, x, s, i, 0, count);
}

}  // namespace asc::cpu
