#include "runtime/heap.h"

#include <new>

namespace asc {

// A stretch of a segment, in use or free; what it holds starts behind this header.
struct Heap::Chunk {
    int64_t size;                              // with the header
    Chunk *before, *after;                     // the neighbours in the segment, null at its ends
    Chunk *left = nullptr, *right = nullptr;   // free: in the tree
    Chunk *older = nullptr, *newer = nullptr;  // free as a whole segment: in the list
    bool free = true;

    bool whole() const { return !before && !after; }
    void* piece() { return reinterpret_cast<std::byte*>(this) + kHeader; }
    static Chunk* of(void* piece) {
        return reinterpret_cast<Chunk*>(static_cast<std::byte*>(piece) - kHeader);
    }
};

// The tree is a treap: ordered as `precedes` has it, and a heap of priorities that are hashes of
// addresses, which keeps it about as flat as a balanced one. Chunks hold its links, so that giving
// memory back never needs memory.
static uint64_t priority(const void* chunk) {
    return reinterpret_cast<uintptr_t>(chunk) / Heap::kHeader * 0x9E3779B97F4A7C15u;
}

bool Heap::precedes(const Chunk* a, const Chunk* b) {
    return a->size != b->size ? a->size < b->size : a < b;
}

// One tree of two, all of whose chunks in `low` precede those in `high`.
Heap::Chunk* Heap::merge(Chunk* low, Chunk* high) {
    if (!low || !high) return low ? low : high;
    if (priority(low) > priority(high)) {
        low->right = merge(low->right, high);
        return low;
    }
    high->left = merge(low, high->left);
    return high;
}

// Two trees of one: the chunks that precede `at`, and the others.
void Heap::split(Chunk* tree, const Chunk* at, Chunk*& low, Chunk*& high) {
    if (!tree) {
        low = high = nullptr;
    } else if (precedes(tree, at)) {
        split(tree->right, at, tree->right, high);
        low = tree;
    } else {
        split(tree->left, at, low, tree->left);
        high = tree;
    }
}

void Heap::insert(Chunk* chunk) {
    Chunk *low, *high;
    split(tree_, chunk, low, high);
    tree_ = merge(merge(low, chunk), high);
    enlist(chunk);
}

void Heap::erase(Chunk* chunk) {
    Chunk** link = &tree_;
    while (*link != chunk) link = precedes(chunk, *link) ? &(*link)->left : &(*link)->right;
    *link = merge(chunk->left, chunk->right);
    unlist(chunk);
}

void Heap::enlist(Chunk* chunk) {
    chunk->free = true;
    free_bytes_ += chunk->size;
    ++free_chunks_;
    if (!chunk->whole()) return;
    chunk->older = newest_;
    (newest_ ? newest_->newer : oldest_) = chunk;
    newest_ = chunk;
}

void Heap::unlist(Chunk* chunk) {
    chunk->left = chunk->right = nullptr;
    chunk->free = false;
    free_bytes_ -= chunk->size;
    --free_chunks_;
    if (!chunk->whole()) return;
    (chunk->older ? chunk->older->newer : oldest_) = chunk->newer;
    (chunk->newer ? chunk->newer->older : newest_) = chunk->older;
    chunk->older = chunk->newer = nullptr;
}

void Heap::add(std::byte* memory, int64_t size) {
    static_assert(sizeof(Chunk) <= kHeader);
    ++segments_;
    insert(new (memory) Chunk{size / kHeader * kHeader, nullptr, nullptr});
}

void* Heap::take(int64_t nbytes) {
    int64_t size = chunk_bytes(nbytes);
    Chunk* best = nullptr;
    for (Chunk* chunk = tree_; chunk;) {
        bool fits = chunk->size >= size;
        if (fits) best = chunk;
        chunk = fits ? chunk->left : chunk->right;
    }
    if (!best) return nullptr;
    erase(best);
    int64_t rest = best->size - size;
    if (rest > kHeader) {
        auto* place = reinterpret_cast<std::byte*>(best) + size;
        Chunk* other = new (place) Chunk{rest, best, best->after};
        if (best->after) best->after->before = other;
        best->after = other;
        best->size = size;
        insert(other);
    }
    return best->piece();
}

int64_t Heap::give(void* piece) {
    Chunk* chunk = Chunk::of(piece);
    int64_t size = chunk->size;
    auto absorb = [](Chunk* first, Chunk* second) {
        first->size += second->size;
        first->after = second->after;
        if (second->after) second->after->before = first;
    };
    if (Chunk* after = chunk->after; after && after->free) {
        erase(after);
        absorb(chunk, after);
    }
    if (Chunk* before = chunk->before; before && before->free) {
        erase(before);
        absorb(before, chunk);
        chunk = before;
    }
    insert(chunk);
    return size;
}

std::span<std::byte> Heap::remove_oldest() {
    Chunk* chunk = oldest_;
    if (!chunk) return {};
    --segments_;
    erase(chunk);
    return {reinterpret_cast<std::byte*>(chunk), static_cast<size_t>(chunk->size)};
}

void Heap::remove_pages(int64_t page, int64_t wanted,
                        const std::function<bool(std::span<std::byte>)>& unmap) {
    Chunk below{page - 1, nullptr, nullptr};  // no chunk has this size
    Chunk *large, *kept = nullptr;
    split(tree_, &below, tree_, large);
    while (large && wanted > 0) {
        Chunk** last = &large;
        while ((*last)->right) last = &(*last)->right;
        Chunk* chunk = *last;
        *last = chunk->left;
        unlist(chunk);
        if (const int64_t removed = cut(chunk, page, unmap)) {
            wanted -= removed;
        } else {
            enlist(chunk);
            kept = merge(chunk, kept);
        }
    }
    tree_ = merge(tree_, merge(large, kept));
}

// Removes the whole pages of a free chunk that is in no list; returns their bytes.
int64_t Heap::cut(Chunk* chunk, int64_t page,
                  const std::function<bool(std::span<std::byte>)>& unmap) {
    auto* const start = reinterpret_cast<std::byte*>(chunk);
    std::byte* const end = start + chunk->size;
    const auto into_page = [page](std::byte* p) { return reinterpret_cast<intptr_t>(p) % page; };
    std::byte* const first = start + (page - into_page(start)) % page;
    std::byte* const last = end - into_page(end);
    Chunk *const before = chunk->before, *const after = chunk->after;
    const int more = (before != nullptr) + (after != nullptr) - 1;
    if (first >= last || (more > 0 && segments_ >= kMostSegments)) return 0;
    if (!unmap({first, last})) return 0;
    segments_ += more;
    if (before) before->after = first > start ? chunk : nullptr;
    if (first > start) {
        chunk->size = first - start;
        chunk->after = nullptr;
        insert(chunk);
    }
    if (after) after->before = end > last ? new (last) Chunk{end - last, nullptr, after} : nullptr;
    if (end > last) insert(after->before);
    return last - first;
}

int64_t Heap::size_of(void* piece) { return Chunk::of(piece)->size; }

}  // namespace asc
