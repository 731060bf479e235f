// Arrow's C data interface in both directions.
//
// Rules: Arrow takes memory for immutable once it is handed over. What is exported is a deferred
// copy, which a later write to the array leaves behind; what is imported is read-only.
#include "python/arrow.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "core/view.h"
#include "graph/placement.h"
#include "python/bind.h"
#include "python/foreign.h"

namespace asc::python {
namespace {

struct Format {
    DType dtype;
    char text[2];
};
// Arrow has no complex numbers, and no bfloat16.
constexpr Format kFormats[] = {
    {DType::Bool, "b"},   {DType::Int8, "c"},    {DType::UInt8, "C"},   {DType::Int16, "s"},
    {DType::UInt16, "S"}, {DType::Int32, "i"},   {DType::UInt32, "I"},  {DType::Int64, "l"},
    {DType::UInt64, "L"}, {DType::Float16, "e"}, {DType::Float32, "f"}, {DType::Float64, "g"},
};
constexpr const char* kAccepted = "bool, integers, float16, float32 and float64";

const char* format_of(DType dtype) {
    for (const Format& f : kFormats)
        if (f.dtype == dtype) return f.text;
    raise(ErrorKind::Type, "to_arrow: Arrow has no type for dtype %s; accepted: %s", name(dtype),
          kAccepted);
}

std::optional<DType> dtype_of(const char* format) {
    for (const Format& f : kFormats)
        if (std::string_view(f.text) == format) return f.dtype;
    return std::nullopt;
}

// ---- export

// A capsule that releases what nobody has taken out of it.
template <class T>
PyObject* make_capsule(std::unique_ptr<T> content) {
    PyObject* capsule = PyCapsule_New(content.get(), T::kCapsule, [](PyObject* c) {
        auto* left = static_cast<T*>(PyCapsule_GetPointer(c, T::kCapsule));
        if (left->release) left->release(left);
        delete left;
    });
    if (!capsule) {
        content->release(content.get());
        throw PythonError{};
    }
    content.release();
    return capsule;
}

// What lives until the consumer releases it, in any thread, with or without the interpreter's lock.
struct Exported {
    Array array;
    const void* buffers[2];
};

// A contiguous vector on the CPU whose bytes nobody will write: x's own where that is possible.
PyObject* arrow_snapshot(PyObject* const* args) {
    const Array& original = to_array(args[0], "to_arrow", "x");
    PyObject* const copy_mode = to_copy_mode(args[1], "to_arrow");
    format_of(original.dtype);
    if (original.ndim() != 1) {
        raise(ErrorKind::Value, "to_arrow: Arrow's arrays have 1 dimension, got shape %s; reshape",
              to_string(original.shape).c_str());
    }
    const Array x = copy_mode == Py_False ? original : moved(original, kCpu, "to_arrow");
    const char* obstacle = x.device() != kCpu     ? "the array is on another device"
                           : !is_contiguous(x)    ? "the elements do not lie side by side"
                           : copy_mode == Py_True ? ""
                                                  : nullptr;
    if (!obstacle) {
        if (Ref<Storage> snapshot = x.storage->fork()) {
            Array result = x;
            result.storage = std::move(snapshot);
            return wrap(std::move(result));
        }
        obstacle = "others can write the memory";
    }
    if (copy_mode == Py_False)
        raise(ErrorKind::Buffer, "to_arrow: copy=False is not possible: %s", obstacle);
    Array result = x;
    {
        Unlocked unlocked(x.size());
        result = copy(x);
    }
    return wrap(std::move(result));
}

PyObject* arrow_schema(PyObject* const* args) {
    auto schema = std::make_unique<arrow::Schema>();
    schema->format = format_of(array_of(args[0]).dtype);
    schema->name = "";
    schema->release = [](arrow::Schema* s) { s->release = nullptr; };
    return make_capsule(std::move(schema));
}

PyObject* arrow_array(PyObject* const* args) {
    const Array& x = array_of(args[0]);
    auto exported = std::make_unique<Exported>(Exported{x, {}});
    const int64_t bit = is_bool(x.dtype) ? x.offset % 8 : 0;
    exported->buffers[1] = is_bool(x.dtype) ? x.bits() + x.offset / 8 : x.data();
    auto column = std::make_unique<arrow::ColumnArray>();
    column->length = x.size();
    column->offset = bit;
    column->n_buffers = 2;
    column->buffers = exported->buffers;
    column->release = [](arrow::ColumnArray* a) {
        delete static_cast<Exported*>(a->private_data);
        a->release = nullptr;
    };
    column->private_data = exported.release();
    return make_capsule(std::move(column));
}

// ---- import

struct ConsumedColumn : Owner {
    arrow::ColumnArray column{};
    ~ConsumedColumn() override {
        if (column.release) column.release(&column);
    }
};

template <class T>
T& capsule_content(PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, T::kCapsule)) {
        raise(ErrorKind::Type, "from_arrow: __arrow_c_array__ returned no capsule named %s",
              T::kCapsule);
    }
    auto* content = static_cast<T*>(PyCapsule_GetPointer(capsule, T::kCapsule));
    if (!content->release)
        raise(ErrorKind::Buffer, "from_arrow: the %s was released already", T::kCapsule);
    return *content;
}

[[noreturn]] void invalid(const char* what) {
    raise(ErrorKind::Buffer, "from_arrow: the arrow_array is not valid: %s", what);
}

// The start of what a producer wrote, as characters that a message can show.
std::string shown(const char* text) {
    std::string start(text, strnlen(text, 40));
    std::ranges::replace_if(start, [](char c) { return c < ' ' || c > '~'; }, '?');
    return start;
}

DType column_dtype(const arrow::Schema& schema) {
    if (!schema.format) raise(ErrorKind::Buffer, "from_arrow: the arrow_schema has no format");
    const std::optional<DType> dtype = schema.dictionary ? std::nullopt : dtype_of(schema.format);
    if (!dtype) {
        raise(ErrorKind::Type, "from_arrow: Arrow type of format '%s'%s; accepted: %s",
              shown(schema.format).c_str(), schema.dictionary ? " with a dictionary" : "",
              kAccepted);
    }
    return *dtype;
}

// How many of `count` bits from bit `first` on are 0.
int64_t count_zeros(const uint8_t* bits, int64_t first, int64_t count) {
    int64_t ones = 0;
    for (int64_t i = first; i < first + count;) {
        const int64_t shift = i % 8, taken = std::min<int64_t>(8 - shift, first + count - i);
        const unsigned mask = (1u << taken) - 1;
        ones += std::popcount(static_cast<unsigned>(bits[i / 8]) >> shift & mask);
        i += taken;
    }
    return count - ones;
}

// Throws unless the struct describes a vector of the dtype without nulls. Addresses and the sizes
// of what is there cannot be checked.
void check_column(const arrow::ColumnArray& c, DType dtype) {
    int64_t end = 0, bit_count = 0;
    if (c.length < 0 || c.offset < 0 || __builtin_add_overflow(c.length, c.offset, &end) ||
        __builtin_mul_overflow(end, bits(dtype), &bit_count) || bit_count > INT64_MAX - 64) {
        invalid("length or offset is out of range");
    }
    if (c.n_buffers != 2 || !c.buffers || c.n_children != 0 || c.dictionary)
        invalid("its type has 2 buffers and no children");
    if (c.length == 0) return;
    if (!c.buffers[1]) invalid("the values are missing");
    const auto* present = static_cast<const uint8_t*>(c.buffers[0]);
    if (!present && c.null_count > 0) invalid("the bitmap of nulls is missing");
    if (!present || c.null_count == 0) return;
    if (const int64_t nulls = count_zeros(present, c.offset, c.length)) {
        raise(ErrorKind::Value,
              "from_arrow: %lld of %lld elements are null, for which dtype %s has no value; fill "
              "or drop them first",
              static_cast<long long>(nulls), static_cast<long long>(c.length), name(dtype));
    }
}

// A read-only array on the memory of the column, which it takes over.
Array array_of_column(arrow::ColumnArray& column, DType dtype) {
    const int64_t length = column.length, start = column.offset * bits(dtype);
    auto* values = static_cast<std::byte*>(const_cast<void*>(column.buffers[1])) + start / 8;
    auto owner = std::make_unique<ConsumedColumn>();
    owner->column = column;
    column.release = nullptr;
    const int64_t first_bit = start % 8;  // of bool
    const int64_t nbytes = (first_bit + length * bits(dtype) + 7) / 8;
    Ref<Block> block = foreign_block(values, nbytes, std::move(owner));
    Ref<Storage> storage = Storage::wrap(std::move(block), StorageKind::Constant, true);
    return {std::move(storage), first_bit, dtype, Dims{length}, Dims{1}};
}

bool is_aligned(const arrow::ColumnArray& column, DType dtype) {
    const auto size = static_cast<uintptr_t>(std::max<int64_t>(itemsize(dtype), 1));
    return reinterpret_cast<uintptr_t>(column.buffers[1]) % size == 0;
}

PyObject* from_arrow(PyObject* const* args) {
    auto& schema = capsule_content<arrow::Schema>(args[0]);
    auto& column = capsule_content<arrow::ColumnArray>(args[1]);
    PyObject* const copy_mode = to_copy_mode(args[2], "from_arrow");
    const DType dtype = column_dtype(schema);
    check_column(column, dtype);
    if (column.length == 0) return wrap(Array::empty({0}, dtype, kCpu));
    const bool aligned = is_aligned(column, dtype);
    if (!aligned && copy_mode == Py_False) {
        raise(ErrorKind::Buffer,
              "from_arrow: copy=False is not possible: the memory is not aligned for %s",
              name(dtype));
    }
    const DType stored = aligned ? dtype : DType::UInt8;
    Array x = array_of_column(column, dtype);
    if (aligned && copy_mode != Py_True) return wrap(std::move(x));
    Array result = Array::empty({x.size()}, dtype, kCpu);
    {
        Unlocked unlocked(x.size());
        // Misaligned elements are copied as bytes.
        auto as_stored = [&](Array y) {
            if (stored != dtype) y.shape[0] *= itemsize(dtype);
            y.dtype = stored;
            return y;
        };
        assign(as_stored(result), as_stored(x), "from_arrow");
        result.storage->settle();  // foreign memory is copied at the call
    }
    return wrap(std::move(result));
}

}  // namespace

PyMethodDef arrow_methods[] = {
    method<arrow_array, 1>("arrow_array"),
    method<arrow_schema, 1>("arrow_schema"),
    method<arrow_snapshot, 2>("arrow_snapshot"),
    method<from_arrow, 3>("from_arrow"),
    kEnd,
};

}  // namespace asc::python
