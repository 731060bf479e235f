// Heap: memory in segments, given out best fit. Chunks are split to size and merge with their free
// neighbours when they come back. There are no locks here: whoever owns a Heap has one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace asc {

class Heap {
  public:
    // In front of every piece; a multiple of the alignment of pieces.
    static constexpr int64_t kHeader = 64;
    // What a piece of nbytes takes of a segment.
    static constexpr int64_t chunk_bytes(int64_t nbytes) {
        return (nbytes + kHeader + kHeader - 1) / kHeader * kHeader;
    }

    // Takes over memory that is aligned to kHeader and long enough for a chunk.
    void add(std::byte* memory, int64_t size);
    // A piece of the smallest free chunk that holds nbytes; null where none does.
    void* take(int64_t nbytes);
    // Gives a piece back; returns what it took.
    int64_t give(void* piece);
    // Removes the segment that has been free as a whole for longest; empty where there is none.
    std::span<std::byte> remove_oldest();
    // Removes whole pages inside free chunks, of the largest first, where `unmap` takes them, until
    // it took as many bytes as are wanted. What lies before and behind them is then a segment each;
    // beyond kMostSegments only where that makes no more of them. The memory must begin and end
    // with a page.
    void remove_pages(int64_t page, int64_t wanted,
                      const std::function<bool(std::span<std::byte>)>& unmap);
    // Of one heap: an eighth of the mappings that Linux allows a process.
    static constexpr int64_t kMostSegments = int64_t{1} << 13;

    static int64_t size_of(void* piece);
    int64_t free_bytes() const { return free_bytes_; }
    int64_t free_chunks() const { return free_chunks_; }

  private:
    struct Chunk;
    static bool precedes(const Chunk* a, const Chunk* b);
    static Chunk* merge(Chunk* low, Chunk* high);
    static void split(Chunk* tree, const Chunk* at, Chunk*& low, Chunk*& high);
    void insert(Chunk* chunk);
    void erase(Chunk* chunk);
    // What insert and erase do beside the tree.
    void enlist(Chunk* chunk);
    void unlist(Chunk* chunk);
    int64_t cut(Chunk* chunk, int64_t page, const std::function<bool(std::span<std::byte>)>& unmap);

    Chunk* tree_ = nullptr;    // free chunks by size, then address
    Chunk* oldest_ = nullptr;  // segments that are free as a whole, in a list
    Chunk* newest_ = nullptr;
    int64_t free_bytes_ = 0, free_chunks_ = 0, segments_ = 0;
};

}  // namespace asc
