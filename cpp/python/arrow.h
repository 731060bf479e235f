// The ABI of Arrow's C data interface, declared from its specification.
#pragma once
#include <cstdint>

namespace asc::arrow {

// A struct whose `release` is null has been released, or moved elsewhere.
struct Schema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    Schema** children;
    Schema* dictionary;
    void (*release)(Schema*);
    void* private_data;

    static constexpr const char* kCapsule = "arrow_schema";
};
struct ColumnArray {
    int64_t length, null_count, offset;  // elements; null_count is -1 where nobody has counted
    int64_t n_buffers, n_children;
    const void** buffers;  // of a primitive type: which elements are there (bits), and the values
    ColumnArray** children;
    ColumnArray* dictionary;
    void (*release)(ColumnArray*);
    void* private_data;

    static constexpr const char* kCapsule = "arrow_array";
};
static_assert(sizeof(Schema) == 72 && sizeof(ColumnArray) == 80);

}  // namespace asc::arrow
