// Row blocks: consecutive groups that depend on each other row by row run together on blocks of
// rows, so that values between them stay in cache and are never stored as a whole.
#pragma once
#include <functional>
#include <vector>

#include "graph/group.h"

namespace asc {

class RowBlocks {
  public:
    // Takes the work of the next group, unless its rows need more than the same rows of the work
    // before. It must outlive this object.
    bool add(const Work& work);
    // Blocks of rows are faster than one group after the other.
    bool pays() const;
    // Runs everything that was taken; `kept` tells whether a storage is looked at afterwards.
    void run(const std::function<bool(Storage&)>& kept);

  private:
    // A storage that is written here: its rows lie one after the other.
    struct Written {
        Ref<Storage> storage;
        DType dtype;
        int64_t row;  // elements
    };
    struct Slot;

    int64_t row_bytes(const Array& x) const;
    bool begins(const Work& work);
    bool fits(const Work& work) const;
    bool writes_rows(const Array& out) const;
    bool reads_rows(const Array& x, int rank) const;
    const Written* written(const Array& x) const;

    std::vector<const Work*> works_;
    std::vector<Written> written_;
    Dims rows_;  // the leading extents of every group's shape
    std::vector<Ref<Storage>> operands_;
    int64_t row_bytes_ = 0;  // of all operands
    bool twice_ = false;     // something is read twice
};

}  // namespace asc
