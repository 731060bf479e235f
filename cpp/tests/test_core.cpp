// Unit tests of the pure parts of the core: dims, views, promotion, copy on write, the pool.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "check.h"
#include "core/array.h"
#include "core/promotion.h"
#include "core/view.h"
#include "runtime/heap.h"
#include "runtime/pool.h"

namespace {

using namespace asc;

template <class F>
bool raises(ErrorKind kind, F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.kind() == kind;
    }
    return false;
}

void test_dims_keep_their_entries_beyond_the_inline_ones() {
    Dims dims;
    for (int i = 0; i < 9; ++i) dims.push_back(i);
    CHECK(to_string(dims) == "(0, 1, 2, 3, 4, 5, 6, 7, 8)");
    dims.insert(4, 40);
    dims.erase(0);
    CHECK(to_string(dims) == "(1, 2, 3, 40, 4, 5, 6, 7, 8)");
    const Dims copy = dims;
    CHECK(copy == dims && copy.size() == 9 && copy.back() == 8);
    while (dims.size() > 3) dims.erase(3);
    CHECK((dims == Dims{1, 2, 3}));
    Dims moved = std::move(dims);
    CHECK(to_string(moved) == "(1, 2, 3)");
    CHECK(to_string(Dims{}) == "()" && to_string(Dims{5}) == "(5,)");
}

void test_products_that_do_not_fit_are_reported() {
    CHECK(checked_product({}) == 1);
    CHECK(checked_product({1 << 30, 1 << 30}) == int64_t{1} << 60);
    CHECK(checked_product({1 << 30, 1 << 30, 8}) == -1);
    CHECK((row_major_strides({2, 3, 4}) == Dims{12, 4, 1}));
}

void test_axes() {
    CHECK(normalize_axis(-1, 3, "f") == 2);
    CHECK(raises(ErrorKind::Axis, [] { normalize_axis(3, 3, "f"); }));
    CHECK(raises(ErrorKind::Axis, [] { normalize_axis(-4, 3, "f"); }));
    CHECK((normalize_axes({-1, 0}, 3, "f") == Dims{2, 0}));
    CHECK(raises(ErrorKind::Value, [] { normalize_axes({0, -3}, 3, "f"); }));
}

void test_broadcasting() {
    CHECK((broadcast_shapes({3, 1}, {4}, "f") == Dims{3, 4}));
    CHECK((broadcast_shapes({1}, {0}, "f") == Dims{0}));
    CHECK((broadcast_shapes({}, {2, 3}, "f") == Dims{2, 3}));
    CHECK(raises(ErrorKind::Value, [] { broadcast_shapes({3}, {4}, "f"); }));
    const Array x = Array::empty({3, 1}, DType::Int32, kCpu);
    const Array wide = broadcast_to(x, {2, 3, 4}, "f");
    CHECK(wide.strides[0] == 0 && wide.strides[1] == 1 && wide.strides[2] == 0);
    CHECK(wide.storage.get() == x.storage.get());
    CHECK(overlaps_itself(wide) && !overlaps_itself(x));
    CHECK(raises(ErrorKind::Value, [&] { prepare_write(wide, "f"); }));
}

void test_views_share_and_never_copy() {
    const Array x = Array::empty({4, 6}, DType::Float64, kCpu);
    const Array part = slice(x, 1, 5, -2, 3);
    CHECK((part.shape == Dims{4, 3}) && (part.strides == Dims{6, -2}) && part.offset == 5);
    const Array column = select(part, 1, 1);
    CHECK((column.shape == Dims{4}) && column.offset == 3);
    CHECK((transpose(x).shape == Dims{6, 4}) && !is_contiguous(transpose(x)));
    CHECK(same_view(transpose(transpose(x)), x));
    CHECK((diagonal(x, 1).shape == Dims{4}) && (diagonal(x, 1).strides == Dims{7}));
    CHECK(reshape_view(x, {2, 2, 6}).has_value());
    CHECK(!reshape_view(transpose(x), {24}).has_value());
    CHECK((resolve_shape({-1, 8}, 24, "f") == Dims{3, 8}));
    CHECK(raises(ErrorKind::Value, [] { resolve_shape({-1, 7}, 24, "f"); }));
    CHECK(may_overlap(x, part) && !may_overlap(x, Array::empty({4, 6}, DType::Float64, kCpu)));
}

void test_a_complex_array_has_two_real_views() {
    const Array z = Array::empty({3}, DType::Complex64, kCpu);
    const Array im = imag_view(z);
    CHECK(im.dtype == DType::Float32 && (im.strides == Dims{2}) && im.offset == 1);
    CHECK(real_view(z).offset == 0);
}

void test_promotion() {
    CHECK(promote(DType::Int8, DType::UInt8, true) == DType::Int16);
    CHECK(promote(DType::Float32, DType::Complex64, true) == DType::Complex64);
    CHECK(promote(DType::Float64, DType::Complex64, true) == DType::Complex128);
    CHECK(!promote(DType::UInt64, DType::Int8, true).has_value());
    CHECK(!promote(DType::Int32, DType::Float32, true).has_value());
    CHECK(promote(DType::Int32, DType::Float32, false) == DType::Float64);
    CHECK(promote_scalar(DType::Float32, Kind::Signed, true) == DType::Float32);
    CHECK(!promote_scalar(DType::Int32, Kind::Real, true).has_value());
    for (int a = 0; a < kNumDTypes; ++a) {
        for (int b = 0; b < kNumDTypes; ++b) {
            const auto x = static_cast<DType>(a), y = static_cast<DType>(b);
            CHECK(promote(x, y, true) == promote(y, x, true));
            CHECK(promote(x, y, false).has_value());
            CHECK(!promote(x, y, true) || promote(x, y, true) == promote(x, y, false));
        }
    }
}

void test_a_deferred_copy_moves_off_when_one_side_is_written() {
    const Array x = Array::empty({1000}, DType::UInt8, kCpu);
    std::memset(x.data(), 7, 1000);
    const Array y = shared_copy(x).value();
    CHECK(y.data() == x.data() && y.storage.get() != x.storage.get());
    prepare_write(y, "f");
    CHECK(y.data() != x.data());
    std::memset(y.data(), 9, 1000);
    CHECK(x.data()[999] == std::byte{7} && y.data()[0] == std::byte{9});
}

void test_bool_takes_one_bit() {
    const pool::Stats before = pool::stats();
    const Array mask = Array::empty({1 << 20}, DType::Bool, kCpu);
    const int64_t bytes = pool::stats().used - before.used;
    // The pool's size classes and a header may add a quarter.
    CHECK(bytes >= mask.size() / 8 && bytes <= mask.size() / 8 * 5 / 4 + 256);
}

void test_memory_is_aligned_reused_and_limited() {
    void* first = pool::allocate(100'000);
    CHECK(reinterpret_cast<uintptr_t>(first) % 64 == 0);
    pool::free(first, 100'000);
    const int64_t reused = pool::stats().reused;
    void* second = pool::allocate(100'000);
    CHECK(!pool::enabled() || pool::stats().reused == reused + 1);
    pool::free(second, 100'000);
    CHECK(raises(ErrorKind::Memory,
                 [] { checked_size({int64_t{1} << 60}, DType::Float64, kCpu, "f"); }));
    CHECK(raises(ErrorKind::Value, [] { checked_size({-1}, DType::Float64, kCpu, "f"); }));
}

void test_a_heap_splits_merges_and_fits_best() {
    constexpr int64_t kBytes = 1 << 20;
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::unique_ptr<std::byte, Free> memory(
        static_cast<std::byte*>(std::aligned_alloc(64, kBytes)));
    Heap heap;
    heap.add(memory.get(), kBytes);
    CHECK(heap.free_bytes() == kBytes && heap.free_chunks() == 1);
    CHECK(!heap.take(kBytes));
    // Random pieces keep what was written to them, and all merge again.
    std::vector<std::span<std::byte>> pieces;
    uint32_t random = 1;
    for (int step = 0; step < 20'000; ++step) {
        random = random * 1664525 + 1013904223;
        const size_t nbytes = (random >> 8) % 20'000;
        if (void* p = step % 3 ? heap.take(static_cast<int64_t>(nbytes)) : nullptr) {
            CHECK(reinterpret_cast<uintptr_t>(p) % 64 == 0);
            pieces.emplace_back(static_cast<std::byte*>(p), nbytes);
            std::memset(p, static_cast<int>(nbytes % 251), nbytes);
        } else if (!pieces.empty()) {
            std::swap(pieces[random % pieces.size()], pieces.back());
            for (std::byte b : pieces.back())
                CHECK(b == static_cast<std::byte>(pieces.back().size() % 251));
            heap.give(pieces.back().data());
            pieces.pop_back();
        }
    }
    for (std::span<std::byte> piece : pieces) heap.give(piece.data());
    CHECK(heap.free_bytes() == kBytes && heap.free_chunks() == 1);
    // Between holes of several sizes, the smallest that fits.
    void* large = heap.take(5000);
    void* wall = heap.take(100);
    void* fit = heap.take(3000);
    void* end = heap.take(100);
    heap.give(large);
    heap.give(fit);
    CHECK(heap.take(2500) == fit);
    for (void* piece : {fit, wall, end}) heap.give(piece);
    CHECK(heap.remove_oldest().size() == kBytes && heap.free_bytes() == 0);
}

// The pages between pieces go, those with a piece in them stay, and all fits together afterwards.
void test_a_heap_gives_free_pages_away() {
    constexpr int64_t kPage = 4096, kPages = 64;
    struct alignas(kPage) Page {
        std::byte bytes[kPage];
    };
    const auto memory = std::make_unique<Page[]>(kPages);
    Heap heap;
    heap.add(memory[0].bytes, kPages * kPage);
    std::vector<void*> pieces;
    for (int i = 0; i < 32; ++i) pieces.push_back(heap.take(2 * kPage - Heap::kHeader));
    CHECK(heap.free_bytes() == 0);
    // In use: 0, 1, 8, 31; the gaps between them end with pages.
    for (int i = 0; i < 32; ++i) {
        if (i > 1 && i != 8 && i != 31) heap.give(pieces[static_cast<size_t>(i)]);
    }
    std::vector<std::span<std::byte>> gone;
    bool takes = false;
    const auto unmap = [&](std::span<std::byte> pages) {
        if (takes) gone.push_back(pages);
        if (takes) std::memset(pages.data(), 0xff, pages.size());
        return takes;
    };
    heap.remove_pages(kPage, kPages * kPage, unmap);
    CHECK(gone.empty() && heap.free_bytes() == 28 * 2 * kPage && heap.free_chunks() == 2);
    void* small = heap.take(100);  // at the start of the smaller gap
    takes = true;
    heap.remove_pages(kPage, 1, unmap);  // the larger one is enough
    CHECK(gone.size() == 1 && gone[0].size() == 22 * 2 * kPage);
    heap.remove_pages(kPage, kPages * kPage, unmap);
    CHECK(gone.size() == 2 && gone[1].size() == 6 * 2 * kPage - kPage);
    CHECK(heap.free_bytes() == kPage - Heap::chunk_bytes(100) && heap.free_chunks() == 1);
    heap.give(small);
    for (size_t i : {0, 1, 8, 31}) heap.give(pieces[i]);
    // Three segments, each whole: before, between and behind what is gone.
    int64_t left = 0;
    for (int i = 0; i < 3; ++i) left += static_cast<int64_t>(heap.remove_oldest().size());
    CHECK(left == 9 * kPage && heap.free_bytes() == 0 && heap.free_chunks() == 0);
}

void test_a_heap_is_not_cut_into_ever_more_segments() {
    constexpr int64_t kPage = 128, kPieces = 3 * Heap::kMostSegments;
    struct alignas(kPage) Page {
        std::byte bytes[kPage];
    };
    const auto memory = std::make_unique<Page[]>(static_cast<size_t>(kPieces));
    Heap heap;
    heap.add(memory[0].bytes, kPieces * kPage);
    std::vector<void*> pieces;
    for (int i = 0; i < kPieces; ++i) pieces.push_back(heap.take(kPage - Heap::kHeader));
    for (size_t i = 1; i + 1 < pieces.size(); i += 2) heap.give(pieces[i]);
    int64_t cuts = 0;
    heap.remove_pages(kPage, kPieces * kPage, [&](std::span<std::byte>) { return ++cuts > 0; });
    CHECK(cuts == Heap::kMostSegments - 1);
}

}  // namespace

int main() {
    register_devices();
    test_dims_keep_their_entries_beyond_the_inline_ones();
    test_products_that_do_not_fit_are_reported();
    test_axes();
    test_broadcasting();
    test_views_share_and_never_copy();
    test_a_complex_array_has_two_real_views();
    test_promotion();
    test_a_deferred_copy_moves_off_when_one_side_is_written();
    test_bool_takes_one_bit();
    test_memory_is_aligned_reused_and_limited();
    test_a_heap_splits_merges_and_fits_best();
    test_a_heap_gives_free_pages_away();
    test_a_heap_is_not_cut_into_ever_more_segments();
    std::printf("%d failed checks\n", failures);
    return failures ? 1 : 0;
}
