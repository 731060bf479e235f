// Memory across the border: asarray, the buffer protocol and DLPack in both directions.
//
// Rules: foreign memory is copied at the call unless copy=False (or DLPack) asks to share it;
// shared memory makes a Storage of kind Shared. Exported memory counts on its Storage until the
// consumer lets go.
#include "python/interop.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "backend/backend.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/placement.h"
#include "python/dlpack.h"
#include "python/foreign.h"
#include "python/state.h"

namespace asc::python {
namespace {

// A row-major or strided view of bytes that belong to `block`.
Array foreign_array(Ref<Block> block, StorageKind kind, bool read_only, DType dtype, Dims shape,
                    Dims strides) {
    return {Storage::wrap(std::move(block), kind, read_only), 0, dtype, std::move(shape),
            std::move(strides)};
}

// One 0/1 byte an element, as NumPy and 8-bit DLPack have bools, to packed bits.
Array pack_bytes(const Array& bytes) { return cast(bytes, DType::Bool); }

// ---- import by the buffer protocol

// The buffer of an object, and that of the memory map below it: NumPy lets go of the latter, but
// a map that is closed takes its memory along.
struct HeldBuffers : Owner {
    Py_buffer view{}, map{};
    ~HeldBuffers() override {
        PyBuffer_Release(&map);
        PyBuffer_Release(&view);
    }
};

// What the memory of NumPy arrays and memoryviews belongs to.
Object memory_owner(PyObject* o) {
    PyObject* base = state().ndarray_base;
    Object owner = Object::borrow(o);
    for (;;) {
        Object next;
        if (is_ndarray(owner.get())) {
            next = Object::steal(Py_TYPE(base)->tp_descr_get(base, owner.get(), nullptr));
        } else if (PyMemoryView_Check(owner.get()) && PyMemoryView_GET_BASE(owner.get())) {
            next = Object::borrow(PyMemoryView_GET_BASE(owner.get()));
        }
        if (!next || next.get() == Py_None) return owner;
        owner = std::move(next);
    }
}

bool is_memory_map(PyObject* o) {
    if (is_ndarray(o)) return false;
    // Where nobody has imported the module, there are no maps.
    Object name = Object::steal(PyUnicode_FromString("mmap"));
    PyObject* module = PyImport_GetModule(name.get());
    if (!module) return false;
    Object held = Object::steal(module);
    Object type = Object::steal(PyObject_GetAttrString(module, "mmap"));
    return PyType_Check(type.get()) &&
           PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(type.get()));
}

std::optional<DType> integer_of(Py_ssize_t size, bool is_signed) {
    switch (size) {
        case 1:
            return is_signed ? DType::Int8 : DType::UInt8;
        case 2:
            return is_signed ? DType::Int16 : DType::UInt16;
        case 4:
            return is_signed ? DType::Int32 : DType::UInt32;
        case 8:
            return is_signed ? DType::Int64 : DType::UInt64;
        default:
            return std::nullopt;
    }
}

// The dtype of a struct-module format in native byte order.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
    if (!format) return DType::UInt8;
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    if (format[0] == 'Z') {
        if (format[1] && format[2]) return std::nullopt;
        return format[1] == 'f'   ? std::optional(DType::Complex64)
               : format[1] == 'd' ? std::optional(DType::Complex128)
                                  : std::nullopt;
    }
    if (format[0] == '\0' || format[1] != '\0') return std::nullopt;
    if (std::strchr("bhilqn", format[0])) return integer_of(size, true);
    if (std::strchr("BHILQN", format[0])) return integer_of(size, false);
    switch (format[0]) {
        case '?':
            return size == 1 ? std::optional(DType::Bool) : std::nullopt;
        case 'e':
            return DType::Float16;
        case 'f':
            return DType::Float32;
        case 'd':
            return DType::Float64;
        default:
            return std::nullopt;
    }
}

struct Imported {
    Array array;  // for bool: one byte an element, as UInt8
    DType dtype;
    bool immutable;  // nobody can change the bytes while they are borrowed
};

// A view of the object's memory; nothing where its layout or format is none of ours.
std::optional<Imported> import_buffer(PyObject* o, bool writable) {
    auto held = std::make_unique<HeldBuffers>();
    Py_buffer* buffer = &held->view;
    if (PyObject_GetBuffer(o, buffer, writable ? PyBUF_FULL : PyBUF_FULL_RO) < 0) {
        forgive(PyExc_Exception);
        return std::nullopt;
    }
    auto dtype = dtype_of_format(buffer->format, buffer->itemsize);
    bool fits = dtype && buffer->ndim <= kMaxRank && !buffer->suboffsets;
    DType stored = dtype == DType::Bool ? DType::UInt8 : dtype.value_or(DType::UInt8);
    fits = fits && itemsize(stored) == buffer->itemsize;
    Dims shape(fits ? buffer->ndim : 0);
    for (int i = 0; i < shape.size(); ++i)
        shape[i] = buffer->shape ? buffer->shape[i] : buffer->len / buffer->itemsize;
    Dims strides = row_major_strides(shape);
    for (int i = 0; fits && buffer->strides && i < buffer->ndim; ++i) {
        fits = shape[i] <= 1 || buffer->strides[i] % buffer->itemsize == 0;
        strides[i] = shape[i] <= 1 ? 0 : buffer->strides[i] / buffer->itemsize;
    }
    // Components of complex numbers are what the CPU loads.
    int64_t alignment = is_complex(stored) ? itemsize(stored) / 2 : itemsize(stored);
    if (!fits ||
        reinterpret_cast<uintptr_t>(buffer->buf) % static_cast<uintptr_t>(alignment) != 0) {
        return std::nullopt;
    }
    auto* data = static_cast<std::byte*>(buffer->buf);
    bool read_only = buffer->readonly != 0;
    int64_t length = buffer->len;
    Object owner = memory_owner(o);
    bool immutable = PyBytes_Check(owner.get());
    if (is_memory_map(owner.get())) {
        if (PyObject_GetBuffer(owner.get(), &held->map, PyBUF_SIMPLE) < 0) throw PythonError{};
        immutable = held->map.readonly != 0;
    }
    Ref<Block> block = foreign_block(data, length, std::move(held));
    return Imported{foreign_array(std::move(block), StorageKind::Shared, read_only, stored,
                                  std::move(shape), std::move(strides)),
                    *dtype, immutable};
}

PyObject* call_method(PyObject* o, const char* method, PyObject* argument) {
    Object name = Object::steal(PyUnicode_FromString(method));
    return PyObject_CallMethodObjArgs(o, name.get(), argument, nullptr);
}

[[noreturn]] void refuse(PyObject* o, const char* function) {
    if (is_ndarray(o)) {
        Object dtype = Object::steal(PyObject_GetAttrString(o, "dtype"));
        Object text = Object::steal(PyObject_Str(dtype.get()));
        const char* utf8 = PyUnicode_AsUTF8(text.get());
        if (!utf8) throw PythonError{};
        raise(ErrorKind::Type,
              "%s: a NumPy array of dtype %s; accepted: bool, integer, float and complex dtypes "
              "up to 64 bits a component",
              function, utf8);
    }
    raise(ErrorKind::Type,
          "%s: cannot make an array of %s; accepted: numbers, nested sequences of them, arrays, "
          "objects with the buffer protocol, __dlpack__ or __array__",
          function, Py_TYPE(o)->tp_name);
}

// A NumPy array of ml_dtypes.bfloat16, whose buffer protocol does not tell its type.
Object bfloat16_words(PyObject* o) {
    return Object::steal(PyObject_CallMethod(o, "view", "s", "uint16"));
}

std::optional<DType> ndarray_dtype(PyObject* o) {
    Object dtype = Object::steal(PyObject_GetAttrString(o, "dtype"));
    return find_dtype(dtype.get());
}

// A view of a NumPy array's or buffer's memory; a temporary of NumPy's where its layout needs it
// (then `physical` is set).
Imported import_memory(PyObject* o, bool writable, bool& physical, const char* function) {
    physical = false;
    if (is_ndarray(o) && ndarray_dtype(o) == DType::BFloat16) {
        Object words = bfloat16_words(o);
        if (auto imported = import_buffer(words.get(), writable)) {
            imported->array.dtype = imported->dtype = DType::BFloat16;
            return std::move(*imported);
        }
    }
    if (auto imported = import_buffer(o, writable)) return std::move(*imported);
    if (is_ndarray(o)) {
        // Byte-swapped, misaligned, or with strides between elements.
        Object dtype = Object::steal(PyObject_GetAttrString(o, "dtype"));
        Object native = Object::steal(PyObject_CallMethod(dtype.get(), "newbyteorder", "s", "="));
        if (find_dtype(native.get())) {
            Object copied = Object::steal(PyObject_CallMethod(o, "astype", "O", native.get()));
            Object plain = Object::steal(PyObject_CallMethod(copied.get(), "copy", "s", "C"));
            if (auto imported = import_buffer(plain.get(), false)) {
                physical = true;
                return std::move(*imported);
            }
        }
    }
    refuse(o, function);
}

// ---- nested sequences

struct Leaves {
    Dims shape;
    std::vector<PyObject*> values;  // borrowed; arrays of rank 0 or numbers
    std::vector<Object> owned;      // tuples of all of them: lists may change meanwhile
};

bool is_sequence(PyObject* o) {
    if (PyList_Check(o) || PyTuple_Check(o)) return true;
    if (is_array(o)) return array_of(o).ndim() > 0;
    if (PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o) || PyDict_Check(o))
        return false;
    if (is_ndarray(o)) {
        Object ndim = Object::steal(PyObject_GetAttrString(o, "ndim"));
        return PyLong_AsLong(ndim.get()) > 0;
    }
    return PySequence_Check(o) && !find_scalar(o);
}

void collect(PyObject* o, int depth, Leaves& leaves, const char* function) {
    if (!is_sequence(o)) {
        if (depth != leaves.shape.size()) {
            raise(
                ErrorKind::Value,
                "%s: the nested sequence is ragged: an element at depth %d where others are deeper",
                function, depth);
        }
        leaves.values.push_back(o);
        return;
    }
    if (depth >= kMaxRank) {
        raise(ErrorKind::Value, "%s: the sequence is nested deeper than %d levels", function,
              kMaxRank);
    }
    Object items = as_tuple(o);
    Py_ssize_t n = PyTuple_GET_SIZE(items.get());
    if (leaves.values.empty() && depth == leaves.shape.size()) {
        leaves.shape.push_back(n);
    } else if (depth >= leaves.shape.size() || leaves.shape[depth] != n) {
        raise(ErrorKind::Value,
              "%s: the nested sequence is ragged: %zd elements at depth %d where others have %lld",
              function, n, depth,
              depth < leaves.shape.size() ? static_cast<long long>(leaves.shape[depth]) : 0LL);
    }
    for (Py_ssize_t i = 0; i < n; ++i)
        collect(PyTuple_GET_ITEM(items.get(), i), depth + 1, leaves, function);
    leaves.owned.push_back(std::move(items));
}

Scalar leaf_scalar(PyObject* o, const char* function) {
    if (is_array(o)) return *find_scalar(Object::steal(item(array_of(o))).get());
    if (auto s = find_scalar(o)) return *s;
    if (is_ndarray(o)) {
        Object plain = Object::steal(PyObject_CallMethod(o, "item", nullptr));
        if (auto s = find_scalar(plain.get())) return *s;
    }
    raise(ErrorKind::Type,
          "%s: an element of type %s is no number; accepted: bool, int, float, complex", function,
          Py_TYPE(o)->tp_name);
}

// The dtype that a leaf brings along: arrays and NumPy scalars do.
std::optional<DType> leaf_dtype(PyObject* o) {
    if (is_array(o)) return array_of(o).dtype;
    if (!PyObject_TypeCheck(o, state().generic_type) && !is_ndarray(o)) return std::nullopt;
    Object dtype = Object::steal(PyObject_GetAttrString(o, "dtype"));
    return find_dtype(dtype.get());
}

DType inferred_dtype(const Leaves& leaves, const std::vector<Scalar>& scalars, DeviceId device,
                     const char* function) {
    if (scalars.empty()) return default_float(device);
    std::optional<DType> typed;
    Scalar highest{Kind::Bool};
    bool untyped = false, negative = false, above = false, too_big = false;
    for (size_t i = 0; i < scalars.size(); ++i) {
        const Scalar& s = scalars[i];
        if (auto d = leaf_dtype(leaves.values[i])) {
            typed = typed ? promote_or_raise(function, *typed, *d, false) : *d;
            continue;
        }
        untyped = true;
        too_big |= s.too_big;
        negative |= s.kind == Kind::Signed && s.negative();
        above |= s.above_int64;
        auto order = [](Kind k) {
            return k == Kind::Bool ? 0 : k == Kind::Real ? 2 : k == Kind::Complex ? 3 : 1;
        };
        if (order(s.kind) > order(highest.kind)) highest = s;
    }
    if (typed) {
        if (!untyped) return *typed;
        return promote_scalar(*typed, highest.kind, false).value_or(*typed);
    }
    if (highest.kind == Kind::Signed && too_big)
        raise(ErrorKind::Overflow, "%s: a Python int does not fit 64 bits", function);
    if (highest.kind == Kind::Signed && above) {
        if (negative)
            raise(ErrorKind::Overflow, "%s: the ints fit neither int64 nor uint64", function);
        return DType::UInt64;
    }
    highest.above_int64 = false;
    return default_dtype(highest, device);
}

// The device of the arrays among the leaves, which is one.
std::optional<DeviceId> leaves_device(const Leaves& leaves, const char* function) {
    const Array* first = nullptr;
    for (PyObject* leaf : leaves.values) {
        if (!is_array(leaf)) continue;
        if (first) require_one_device(function, *first, array_of(leaf));
        first = &array_of(leaf);
    }
    return first ? std::optional(first->device()) : std::nullopt;
}

Array from_sequence(PyObject* o, std::optional<DType> wanted, std::optional<DeviceId> asked,
                    const char* function) {
    Leaves leaves;
    collect(o, 0, leaves, function);
    const std::optional<DeviceId> theirs = leaves_device(leaves, function);
    const DeviceId device = asked.value_or(theirs.value_or(default_device()));
    std::vector<Scalar> scalars;
    scalars.reserve(leaves.values.size());
    for (PyObject* leaf : leaves.values) scalars.push_back(leaf_scalar(leaf, function));
    DType dtype = wanted ? *wanted : inferred_dtype(leaves, scalars, device, function);
    Array out = Array::empty(leaves.shape, dtype, kCpu, function);
    std::byte element[16];
    auto* bits = reinterpret_cast<uint8_t*>(out.storage->data());
    int64_t size = itemsize(dtype);
    if (is_bool(dtype)) std::memset(bits, 0, (scalars.size() + 7) / 8);
    for (size_t i = 0; i < scalars.size(); ++i) {
        if (wanted) check_value(scalars[i], dtype, function);
        store(element, dtype, scalars[i], function);
        if (is_bool(dtype)) {
            bits[i / 8] |=
                static_cast<uint8_t>((static_cast<unsigned>(element[0]) & 1u) << (i % 8));
        } else {
            std::memcpy(bits + static_cast<int64_t>(i) * size, element, static_cast<size_t>(size));
        }
    }
    return moved(out, device, function);
}

// ---- asarray

[[noreturn]] void needs_copy(const char* why) {
    raise(ErrorKind::Value, "asarray: copy=False is not possible: %s", why);
}

void check_cast(DType from, DType to, const char* function) {
    if (is_complex(from) && !is_complex(to) && !is_bool(to)) {
        raise(ErrorKind::Type, "%s: converting %s to %s would drop the imaginary part; use real",
              function, name(from), name(to));
    }
}

Array physical_cast(const Array& x, DType from, std::optional<DType> wanted, const char* function) {
    DType to = wanted.value_or(from);
    check_cast(from, to, function);
    checked_size(x.shape, to, kCpu, function);
    Unlocked unlocked(x.size());
    // Bools came as bytes: packed first, since a byte may hold any true value.
    if (from == DType::Bool) return is_bool(to) ? pack_bytes(x) : cast(pack_bytes(x), to);
    return to == from ? copy(x) : cast(x, to);
}

Array from_memory(PyObject* o, std::optional<DType> wanted, PyObject* copy_mode) {
    constexpr const char* function = "asarray";
    bool physical = false;
    Imported imported = import_memory(o, false, physical, function);
    bool converts = imported.dtype == DType::Bool || (wanted && *wanted != imported.dtype);
    if (copy_mode == Py_False) {
        if (physical) needs_copy("byte order, alignment or strides of the memory");
        if (converts)
            needs_copy(imported.dtype == DType::Bool ? "bools are packed to one bit"
                                                     : "the dtype changes");
        return std::move(imported.array);
    }
    if (copy_mode == Py_None && !converts && !physical && imported.immutable) {
        Array& x = imported.array;
        return {Storage::wrap(x.storage->block(), StorageKind::Constant, true), x.offset, x.dtype,
                x.shape, x.strides};
    }
    return physical_cast(imported.array, imported.dtype, wanted, function);
}

}  // namespace

Array unlocked_copy(const Array& x) {
    if (std::optional<Array> shared = shared_copy(x)) return *std::move(shared);
    Unlocked unlocked(x.size());
    return copy(x);
}
Array unlocked_convert(const Array& x, DType to) {
    Unlocked unlocked(x.size());
    return convert(x, to);
}
Array unlocked_move(const Array& x, DeviceId device, const char* function) {
    Unlocked unlocked(x.size());
    return moved(x, device, function);
}
static Array moved_as(const Array& x, DType to, DeviceId device, const char* function) {
    check_cast(x.dtype, to, function);
    require_dtype(to, device, function);
    return unlocked_move(to == x.dtype ? x : unlocked_convert(x, to), device, function);
}

namespace {

PyObject* asarray_of_array(PyObject* o, std::optional<DType> wanted, DeviceId device,
                           PyObject* copy_mode) {
    const Array& x = array_of(o);
    if (x.device() != device) {
        if (copy_mode == Py_False) needs_copy("the device changes");
        return wrap(moved_as(x, wanted.value_or(x.dtype), device, "asarray"));
    }
    if (wanted && *wanted != x.dtype) {
        if (copy_mode == Py_False) needs_copy("the dtype changes");
        check_cast(x.dtype, *wanted, "asarray");
        return wrap(unlocked_convert(x, *wanted));
    }
    return copy_mode == Py_True ? wrap(unlocked_copy(x)) : Py_NewRef(o);
}

bool has_attribute(PyObject* o, const char* name) {
    PyObject* found = PyObject_GetAttrString(o, name);
    if (!found) forgive(PyExc_AttributeError);
    Py_XDECREF(found);
    return found != nullptr;
}

Array import_dlpack(PyObject* o, PyObject* copy_mode);

// Everything but arrays of ours, on the device that is asked for, or where it is already, or on the
// default one.
Array convert_object(PyObject* o, std::optional<DType> wanted, std::optional<DeviceId> asked,
                     PyObject* copy_mode, const char* function) {
    bool memory = is_ndarray(o);
    const DeviceId device = asked.value_or(default_device());
    auto placed = [&](const Array& x, DeviceId place) {
        if (x.device() == place) return x;
        if (copy_mode == Py_False) needs_copy("the device changes");
        return unlocked_move(x, place, function);
    };
    if (!memory) {
        if (auto s = find_scalar(o)) {
            if (copy_mode == Py_False) needs_copy("a Python scalar has no memory to share");
            DType natural =
                PyObject_TypeCheck(o, state().generic_type) && !wanted
                    ? to_dtype(Object::steal(PyObject_GetAttrString(o, "dtype")).get(), function)
                    : default_dtype(*s, device);
            if (s->too_big && s->kind == Kind::Signed && !wanted) {
                raise(ErrorKind::Overflow, "%s: the Python int does not fit 64 bits", function);
            }
            if (wanted) check_value(*s, *wanted, function);
            return from_scalar(*s, wanted.value_or(natural), device, function);
        }
    }
    if (!memory && (PyList_Check(o) || PyTuple_Check(o))) {
        if (copy_mode == Py_False) needs_copy("a nested sequence has no memory to share");
        return from_sequence(o, wanted, asked, function);
    }
    if (memory || PyObject_CheckBuffer(o)) return placed(from_memory(o, wanted, copy_mode), device);
    if (has_attribute(o, "__dlpack__")) {
        Array x = import_dlpack(o, copy_mode == Py_False ? Py_False : Py_None);
        bool converts = wanted && *wanted != x.dtype;
        if (copy_mode == Py_False) {
            if (converts) needs_copy("the dtype changes");
        } else if (converts || x.storage->shared()) {
            x = physical_cast(x, x.dtype, wanted, function);
        }
        return placed(x, asked.value_or(x.device()));
    }
    if (has_attribute(o, "__array__")) {
        Object converted = Object::steal(PyObject_CallMethod(o, "__array__", nullptr));
        if (is_ndarray(converted.get()))
            return placed(from_memory(converted.get(), wanted, copy_mode), device);
    }
    if (!PyType_Check(o) && !PyUnicode_Check(o) && is_sequence(o)) {
        if (copy_mode == Py_False) needs_copy("a sequence has no memory to share");
        return from_sequence(o, wanted, asked, function);
    }
    refuse(o, function);
}

PyObject* asarray(PyObject* const* args) {
    auto wanted = to_optional_dtype(args[1], "asarray");
    std::optional<DeviceId> asked;
    if (args[2] != Py_None) asked = to_device_id(args[2], kCpu, "asarray");
    PyObject* const copy_mode = to_copy_mode(args[3], "asarray");
    if (is_array(args[0])) {
        const DeviceId device = asked.value_or(array_of(args[0]).device());
        if (wanted) require_dtype(*wanted, device, "asarray");
        return asarray_of_array(args[0], wanted, device, copy_mode);
    }
    if (wanted) require_dtype(*wanted, asked.value_or(default_device()), "asarray");
    return wrap(convert_object(args[0], wanted, asked, copy_mode, "asarray"));
}

PyObject* to_device(PyObject* const* args) {
    const Array& x = to_view(args[0], "to_device", "self");
    const DeviceId target = to_device_id(args[1], x.device(), "to_device");
    if (target == x.device()) return Py_NewRef(args[0]);
    return wrap(moved_as(x, x.dtype, target, "to_device"));
}

PyObject* astype(PyObject* const* args) {
    const Array& x = to_view(args[0], "astype", "x");
    DType to = to_dtype(args[1], "astype");
    bool copies = to_bool(args[2], "astype", "copy");
    const DeviceId device = to_device_id(args[3], x.device(), "astype");
    require_dtype(to, device, "astype");
    if (device != x.device()) return wrap(moved_as(x, to, device, "astype"));
    if (to == x.dtype) return copies ? wrap(unlocked_copy(x)) : Py_NewRef(args[0]);
    check_cast(x.dtype, to, "astype");
    return wrap(unlocked_convert(x, to));
}

// ---- export by the buffer protocol

const char* format_of(DType dtype) {
    switch (dtype) {
        case DType::Int8:
            return "b";
        case DType::Int16:
            return "h";
        case DType::Int32:
            return "i";
        case DType::Int64:
            return sizeof(long) == 8 ? "l" : "q";
        case DType::UInt8:
            return "B";
        case DType::UInt16:
            return "H";
        case DType::UInt32:
            return "I";
        case DType::UInt64:
            return sizeof(long) == 8 ? "L" : "Q";
        case DType::Float16:
            return "e";
        case DType::Float32:
            return "f";
        case DType::Float64:
            return "d";
        case DType::Complex64:
            return "Zf";
        case DType::Complex128:
            return "Zd";
        default:
            return nullptr;
    }
}

// What lives as long as an exported buffer or DLPack tensor.
struct Export {
    Array array;
    std::vector<int64_t> shape, strides;

    Export(const Array& x, int64_t stride_unit) : array(x) {
        array.storage->begin_export();
        Dims plain = row_major_strides(x.shape);
        for (int i = 0; i < x.ndim(); ++i) {
            shape.push_back(x.shape[i]);
            // Consumers check strides even of axes that have no second element.
            strides.push_back((x.shape[i] > 1 ? x.strides[i] : plain[i]) * stride_unit);
        }
    }
    ~Export() { array.storage->end_export(); }
    bool read_only() const { return array.storage->read_only() || overlaps_itself(array); }
};

// A NumPy array on the memory of a memoryview.
Object numpy_view(PyObject* exported) {
    Object numpy = Object::steal(PyImport_ImportModule("numpy"));
    Object name = Object::steal(PyUnicode_FromString("asarray"));
    Object view =
        Object::steal(PyObject_CallMethodObjArgs(numpy.get(), name.get(), exported, nullptr));
    // For lack of memory NumPy takes the elements one by one, as integers or floats of its own.
    PyObject* base = state().ndarray_base;
    Object owner = Object::steal(Py_TYPE(base)->tp_descr_get(base, view.get(), nullptr));
    if (owner.get() == Py_None) throw std::bad_alloc();
    return view;
}

// One byte an element, as NumPy has bools.
Array unpacked_bytes(const Array& x) {
    Array bytes = Array::empty(x.shape, DType::UInt8, x.device());
    Unlocked unlocked(x.size());
    transfer(bytes, x);
    return bytes;
}

// A NumPy array on the memory of x; bool and what NumPy cannot view are copied.
PyObject* export_buffer(PyObject* const* args) {
    const Array x = readable(to_array(args[0], "__array__", "self"), "__array__");
    auto view_as = [&](const Array& memory, PyObject* dtype) {
        Object carrier = Object::steal(wrap(Array(memory)));
        Object buffer = Object::steal(PyMemoryView_FromObject(carrier.get()));
        Object plain = numpy_view(buffer.get());
        return dtype ? call_method(plain.get(), "view", dtype) : plain.release();
    };
    if (is_bool(x.dtype)) return view_as(unpacked_bytes(x), dtype_object(DType::Bool));
    if (x.dtype == DType::BFloat16) {
        Array words = x;
        words.dtype = DType::UInt16;
        return view_as(words, dtype_object(DType::BFloat16));
    }
    return view_as(x, nullptr);
}

// ---- DLPack

dlpack::DataType dlpack_type(DType dtype, bool packed) {
    auto width = static_cast<uint8_t>(bits(dtype));
    switch (kind(dtype)) {
        case Kind::Bool:
            return {dlpack::kBool, static_cast<uint8_t>(packed ? 1 : 8), 1};
        case Kind::Signed:
            return {dlpack::kInt, width, 1};
        case Kind::Unsigned:
            return {dlpack::kUInt, width, 1};
        case Kind::Complex:
            return {dlpack::kComplex, width, 1};
        case Kind::Real:
            break;
    }
    return {dtype == DType::BFloat16 ? dlpack::kBfloat : dlpack::kFloat, width, 1};
}

void fill_tensor(dlpack::Tensor& t, Export& e, dlpack::DataType type) {
    const Array& x = e.array;
    std::byte* first = type.bits == 1 ? x.bits() + x.offset / 8 : x.data();
    t = {x.size() ? first : nullptr,
         {device(x.device()).traits().dlpack_type, device(x.device()).traits().dlpack_number},
         x.ndim(),
         type,
         e.shape.data(),
         e.strides.data(),
         0};
}

template <class M>
void delete_managed(M* managed) {
    delete static_cast<Export*>(managed->context);
    delete managed;
}

template <class M>
PyObject* make_capsule(std::unique_ptr<Export> e, dlpack::DataType type, uint64_t flags) {
    constexpr bool kVersioned = std::is_same_v<M, dlpack::ManagedVersioned>;
    constexpr const char* capsule_name = kVersioned ? dlpack::kVersionedName : dlpack::kName;
    auto managed = std::make_unique<M>();
    fill_tensor(managed->tensor, *e, type);
    managed->deleter = delete_managed<M>;
    if constexpr (kVersioned) {
        managed->version = dlpack::kVersion;
        managed->flags = flags;
    }
    PyObject* capsule = PyCapsule_New(managed.get(), capsule_name, [](PyObject* c) {
        // A consumed capsule has another name, and its consumer the duty to delete.
        if (!PyCapsule_IsValid(c, capsule_name)) return;
        auto* m = static_cast<M*>(PyCapsule_GetPointer(c, capsule_name));
        m->deleter(m);
    });
    if (!capsule) throw PythonError{};
    managed->context = e.release();
    managed.release();
    return capsule;
}

bool exports_bits(const Array& x) {
    bool ends =
        (x.offset + x.size()) % 8 == 0 || (x.offset + x.size() + 7) / 8 == x.storage->nbytes();
    return is_contiguous(x) && x.offset % 8 == 0 && ends;
}

// Where a consumer wants x: there, or on the CPU.
DeviceId dlpack_target(const Array& x, PyObject* o) {
    if (o == Py_None) return x.device();
    const Dims wanted = to_dims(o, "__dlpack__", "dl_device");
    const DeviceTraits& own = device(x.device()).traits();
    if (wanted == Dims{own.dlpack_type, own.dlpack_number}) return x.device();
    if (wanted == Dims{dlpack::kCpu, 0}) return kCpu;
    raise(ErrorKind::Buffer,
          "__dlpack__: cannot export to the device %s; available: (%d, %d), the device %s, and "
          "(1, 0), the CPU",
          to_string(wanted).c_str(), own.dlpack_type, own.dlpack_number, own.name.c_str());
}

PyObject* dlpack_capsule(PyObject* const* args) {
    const Array& original = to_array(args[0], "__dlpack__", "self");
    // -1 is DLPack's own word for "do not synchronise".
    int overflow = 0;
    if (args[1] != Py_None &&
        !(PyLong_Check(args[1]) && PyLong_AsLongAndOverflow(args[1], &overflow) == -1 &&
          overflow == 0)) {
        raise(ErrorKind::Value, "__dlpack__: stream must be None for an array on the CPU");
    }
    bool versioned = false;
    if (args[2] != Py_None) {
        Dims version = to_dims(args[2], "__dlpack__", "max_version");
        versioned = version.size() > 0 && version[0] >= 1;
    }
    const DeviceId target = dlpack_target(original, args[3]);
    PyObject* const copy_mode = to_copy_mode(args[4], "__dlpack__");
    bool must_share = copy_mode == Py_False, copies = copy_mode == Py_True;
    if (must_share && target != original.device())
        raise(ErrorKind::Buffer, "__dlpack__: copy=False is not possible: the device changes");
    const Array x = moved(original, target, "__dlpack__");
    bool read_only = x.storage->read_only() || overlaps_itself(x);
    Array memory = x;
    bool packed = false;
    if (is_bool(x.dtype)) {
        if (must_share && !exports_bits(x)) {
            raise(ErrorKind::Buffer,
                  "__dlpack__: copy=False is not possible for this packed bool view: it must be "
                  "contiguous and start and end on a byte");
        }
        packed = must_share;
        copies |= !must_share;
        if (!packed) memory = unpacked_bytes(x);
    } else if (copies || (read_only && !versioned)) {
        if (must_share) {
            raise(ErrorKind::Buffer,
                  "__dlpack__: copy=False is not possible for a read-only array below DLPack 1.0, "
                  "which cannot say so; ask for max_version=(1, 0)");
        }
        copies = true;
        Unlocked unlocked(x.size());
        memory = copy(x);
    }
    uint64_t flags =
        (copies ? dlpack::kIsCopied : 0) | (read_only && !copies ? dlpack::kReadOnly : 0);
    dlpack::DataType type = dlpack_type(x.dtype, packed);
    auto e = std::make_unique<Export>(memory, 1);
    if (versioned) return make_capsule<dlpack::ManagedVersioned>(std::move(e), type, flags);
    return make_capsule<dlpack::Managed>(std::move(e), type, flags);
}

std::optional<DType> dtype_of_dlpack(dlpack::DataType t) {
    if (t.lanes != 1) return std::nullopt;
    switch (t.code) {
        case dlpack::kInt:
            return integer_of(t.bits / 8, true);
        case dlpack::kUInt:
            return integer_of(t.bits / 8, false);
        case dlpack::kBool:
            return t.bits == 1 || t.bits == 8 ? std::optional(DType::Bool) : std::nullopt;
        case dlpack::kBfloat:
            return t.bits == 16 && has_bfloat16() ? std::optional(DType::BFloat16) : std::nullopt;
        case dlpack::kFloat:
            return t.bits == 16   ? std::optional(DType::Float16)
                   : t.bits == 32 ? std::optional(DType::Float32)
                   : t.bits == 64 ? std::optional(DType::Float64)
                                  : std::nullopt;
        case dlpack::kComplex:
            return t.bits == 64    ? std::optional(DType::Complex64)
                   : t.bits == 128 ? std::optional(DType::Complex128)
                                   : std::nullopt;
        default:
            return std::nullopt;
    }
}

// A consumed tensor, whose deleter may need the interpreter (NumPy's does).
template <class M>
struct ConsumedTensor : Owner {
    M* managed = nullptr;
    ~ConsumedTensor() override {
        if (managed && managed->deleter) managed->deleter(managed);
    }
};

// The places of the lowest and the highest element of a tensor, or nothing where its bits have no
// 64-bit numbers.
struct Span {
    int64_t low = 0, high = 0;  // in elements
};
std::optional<Span> span_of(const dlpack::Tensor& t, const Dims& strides) {
    Span s;
    int64_t reach = 0, bits = 0;
    for (int i = 0; i < t.ndim; ++i) {
        if (__builtin_mul_overflow(t.shape[i] - 1, strides[i], &reach)) return std::nullopt;
        int64_t& end = reach < 0 ? s.low : s.high;
        if (__builtin_add_overflow(end, reach, &end)) return std::nullopt;
    }
    const int64_t width = int64_t{t.dtype.bits} * t.dtype.lanes;
    if (__builtin_sub_overflow(s.high, s.low, &reach) ||
        __builtin_add_overflow(reach, int64_t{1}, &reach) ||
        __builtin_mul_overflow(reach, width, &bits)) {
        return std::nullopt;
    }
    return s;
}

std::optional<DeviceId> device_of_dlpack(dlpack::Device d) {
    if (d.type == dlpack::kCpu || d.type == dlpack::kCudaHost) return kCpu;
    for (int i = 0; i < devices::count; ++i) {
        const DeviceTraits& traits = devices::list[i]->traits();
        if (traits.dlpack_type == d.type && traits.dlpack_number == d.id)
            return static_cast<DeviceId>(i);
    }
    return std::nullopt;
}

Array array_of_tensor(const dlpack::Tensor& t, std::unique_ptr<Owner> owner, bool read_only,
                      bool must_share) {
    constexpr uint64_t kAddressSpace = uint64_t{1} << 56;
    if (t.byte_offset >= kAddressSpace)
        raise(ErrorKind::Buffer, "from_dlpack: the byte offset %llu exceeds the address space",
              static_cast<unsigned long long>(t.byte_offset));
    // As a number: an empty tensor may have an offset from a null pointer.
    auto* first = reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(t.data) + t.byte_offset);
    Ref<Block> block = foreign_block(first, INT64_MAX, std::move(owner));
    auto dtype = dtype_of_dlpack(t.dtype);
    if (!dtype) {
        raise(ErrorKind::Buffer,
              "from_dlpack: no dtype for DLPack code %d with %d bits and %d lanes", t.dtype.code,
              t.dtype.bits, t.dtype.lanes);
    }
    const std::optional<DeviceId> place = device_of_dlpack(t.device);
    if (!place) {
        raise(ErrorKind::Buffer,
              "from_dlpack: the tensor is on DLPack device (%d, %d), which is none of: %s",
              t.device.type, t.device.id, device_names().c_str());
    }
    if (t.ndim < 0 || t.ndim > kMaxRank)
        raise(ErrorKind::Buffer, "from_dlpack: %d dimensions; accepted: 0 to %d", t.ndim, kMaxRank);
    if (t.ndim > 0 && !t.shape)
        raise(ErrorKind::Buffer, "from_dlpack: a tensor of %d dimensions has no shape", t.ndim);
    Dims shape(t.shape, t.ndim);
    bool valid = std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n >= 0; }) &&
                 checked_product(shape) >= 0;
    if (!valid || (!t.data && product(shape) > 0)) {
        raise(ErrorKind::Buffer, "from_dlpack: a tensor of shape %s %s memory is not valid",
              to_string(shape).c_str(), t.data ? "with" : "without");
    }
    Dims strides = t.strides ? Dims(t.strides, t.ndim) : row_major_strides(shape);
    bool bytes = *dtype == DType::Bool && t.dtype.bits == 8;
    DType stored = bytes ? DType::UInt8 : *dtype;
    if (product(shape) == 0) return Array::empty(shape, *dtype, *place);
    const std::optional<Span> span = span_of(t, strides);
    if (!span) {
        raise(ErrorKind::Buffer, "from_dlpack: strides %s of shape %s exceed the address space",
              to_string(strides).c_str(), to_string(shape).c_str());
    }
    const Span s = *span;
    int64_t length = ((s.high + 1) * bits(stored) + 7) / 8;
    Ref<Block> sized = Block::borrow(
        first, length, *place, [](void* inner) { static_cast<Block*>(inner)->release(); },
        [&] {
            block->retain();
            return block.get();
        }());
    Array x = foreign_array(std::move(sized), StorageKind::Shared, read_only, stored,
                            std::move(shape), std::move(strides));
    int64_t alignment = is_bool(stored)      ? 1
                        : is_complex(stored) ? itemsize(stored) / 2
                                             : itemsize(stored);
    bool aligned = reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(alignment) == 0;
    if (!bytes && aligned) return x;
    if (must_share) {
        raise(ErrorKind::Buffer,
              bytes ? "from_dlpack: copy=False is not possible: bools are packed to one bit"
                    : "from_dlpack: copy=False is not possible: the memory is not aligned");
    }
    Unlocked unlocked(x.size());
    if (bytes) return pack_bytes(x);
    Array out = Array::empty(x.shape, x.dtype, *place);
    x.dtype = DType::UInt8;  // element by element, as bytes
    for (int64_t& stride : x.strides) stride *= itemsize(stored);
    x.shape.push_back(itemsize(stored));
    x.strides.push_back(1);
    Array target = out;
    target.dtype = DType::UInt8;
    target.shape = x.shape;
    target.strides = row_major_strides(x.shape);
    cpu::transfer(target, x);
    return out;
}

// Takes the tensor out of the capsule.
template <class M>
std::unique_ptr<ConsumedTensor<M>> take_tensor(PyObject* capsule, const char* used_name) {
    auto owner = std::make_unique<ConsumedTensor<M>>();
    auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (PyCapsule_SetName(capsule, used_name) < 0) throw PythonError{};
    owner->managed = managed;
    return owner;
}

Array consume(PyObject* capsule, bool must_share) {
    if (PyCapsule_IsValid(capsule, dlpack::kVersionedName)) {
        auto* m = static_cast<dlpack::ManagedVersioned*>(
            PyCapsule_GetPointer(capsule, dlpack::kVersionedName));
        if (m->version.major != dlpack::kVersion.major) {
            raise(ErrorKind::Buffer,
                  "from_dlpack: DLPack version %u.%u is not supported; accepted: 1.x",
                  m->version.major, m->version.minor);
        }
        auto owner = take_tensor<dlpack::ManagedVersioned>(capsule, dlpack::kUsedVersionedName);
        return array_of_tensor(m->tensor, std::move(owner), m->flags & dlpack::kReadOnly,
                               must_share);
    }
    if (PyCapsule_IsValid(capsule, dlpack::kName)) {
        auto owner = take_tensor<dlpack::Managed>(capsule, dlpack::kUsedName);
        const dlpack::Tensor& tensor = owner->managed->tensor;
        // Without a version it cannot say that nobody may write (JAX's memory).
        return array_of_tensor(tensor, std::move(owner), true, must_share);
    }
    raise(ErrorKind::Buffer, "from_dlpack: __dlpack__ returned no unused DLPack capsule");
}

// Calls __dlpack__ with the arguments of DLPack 1.x, or those that the producer understands.
Object request_capsule(PyObject* o, PyObject* copy_mode) {
    Object method = Object::steal(PyObject_GetAttrString(o, "__dlpack__"));
    Object arguments = Object::steal(PyTuple_New(0));
    Object keywords =
        Object::steal(Py_BuildValue("{s:(ii),s:O}", "max_version", 1, 1, "copy", copy_mode));
    PyObject* capsule = PyObject_Call(method.get(), arguments.get(), keywords.get());
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method.get());
    }
    return Object::steal(capsule);
}

Array import_dlpack(PyObject* o, PyObject* copy_mode) {
    Object capsule = request_capsule(o, copy_mode == Py_True ? Py_None : copy_mode);
    return consume(capsule.get(), copy_mode == Py_False);
}

PyObject* from_dlpack(PyObject* const* args) {
    PyObject* o = args[0];
    if (args[1] != Py_None) to_device_id(args[1], kCpu, "from_dlpack");
    PyObject* const copy_mode = to_copy_mode(args[2], "from_dlpack");
    if (!is_array(o) && !has_attribute(o, "__dlpack__")) {
        PyErr_Format(PyExc_AttributeError, "from_dlpack: %s has no __dlpack__ method",
                     Py_TYPE(o)->tp_name);
        throw PythonError{};
    }
    Array x = is_array(o) ? array_of(o) : import_dlpack(o, copy_mode);
    const DeviceId device = to_device_id(args[1], x.device(), "from_dlpack");
    if (device != x.device()) {
        if (copy_mode == Py_False)
            raise(ErrorKind::Buffer, "from_dlpack: copy=False is not possible: the device changes");
        return wrap(unlocked_move(x, device, "from_dlpack"));
    }
    if (copy_mode != Py_True) return wrap(std::move(x));
    if (is_array(o)) return wrap(unlocked_copy(x));
    if (x.storage->shared()) {
        Unlocked unlocked(x.size());
        x = copy(x);
    }
    return wrap(std::move(x));
}

}  // namespace

bool is_ndarray(PyObject* o) { return PyObject_TypeCheck(o, state().ndarray_type); }

void check_value(const Scalar& s, DType dtype, const char* function) {
    // 0 and 1 are bools, too.
    bool fits = promote_scalar(dtype, s.kind, true) == dtype || s.kind == Kind::Bool ||
                (is_bool(dtype) && s.kind == Kind::Signed && (s.integer == 0 || s.integer == 1));
    bool loses = s.kind == Kind::Complex && !is_complex(dtype);
    if (!fits && (loses || strict())) {
        raise(ErrorKind::Type,
              "%s: a Python %s is no value of dtype %s; accepted: scalars of the dtype's kind%s",
              function, type_name(s), name(dtype), loses ? "" : kRelax);
    }
}

Array from_scalar(const Scalar& s, DType dtype, DeviceId device, const char* function) {
    Array x = Array::empty({}, dtype, on_host(device) ? device : kCpu, function);
    std::byte element[16];
    store(element, dtype, s, function);
    std::memcpy(x.storage->data(), element,
                static_cast<size_t>(std::max<int64_t>(itemsize(dtype), 1)));
    return moved(x, device, function);
}

Array as_array(PyObject* o, DeviceId device, const char* function) {
    if (is_array(o)) return array_of(o);
    return convert_object(o, std::nullopt, device, Py_None, function);
}

// The elements lie as a request for a buffer wants them.
static bool has_asked_order(const Array& x, int flags) {
    auto asks = [&](int order) { return (flags & order) == order; };
    Dims reversed(x.ndim());
    for (int i = 0; i < x.ndim(); ++i) reversed[i] = x.ndim() - 1 - i;
    bool rows = is_contiguous(x), columns = is_contiguous(permute(x, reversed));
    if (!asks(PyBUF_STRIDES) || asks(PyBUF_C_CONTIGUOUS)) return rows;
    if (asks(PyBUF_F_CONTIGUOUS)) return columns;
    return !asks(PyBUF_ANY_CONTIGUOUS) || rows || columns;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    PyObject* done = guarded([&] {
        const Array& x = array_of(self);
        if (!on_host(x.device()))
            raise(ErrorKind::Buffer,
                  "buffer: the array is on %s; copy it to the host with to_device(\"cpu\")",
                  device(x.device()).name());
        const char* format = format_of(x.dtype);
        if (!format) {
            raise(ErrorKind::Buffer, "buffer: dtype %s has no buffer format; use numpy.asarray",
                  name(x.dtype));
        }
        auto e = std::make_unique<Export>(x, itemsize(x.dtype));
        bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
        if (!has_asked_order(x, flags))
            raise(ErrorKind::Buffer, "buffer: the array is not contiguous in the order asked for");
        if ((flags & PyBUF_WRITABLE) && e->read_only())
            raise(ErrorKind::Buffer, "buffer: the array is read-only");
        view->buf = e->array.data();
        view->len = x.size() * itemsize(x.dtype);
        view->itemsize = itemsize(x.dtype);
        view->readonly = e->read_only();
        view->ndim = x.ndim();
        view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
        view->shape = reinterpret_cast<Py_ssize_t*>(e->shape.data());
        view->strides = strided ? reinterpret_cast<Py_ssize_t*>(e->strides.data()) : nullptr;
        view->suboffsets = nullptr;
        view->internal = e.release();
        view->obj = Py_NewRef(self);
        return Py_NewRef(Py_None);
    });
    if (!done) return -1;
    Py_DECREF(done);
    return 0;
}

void release_exported_buffer(PyObject*, Py_buffer* view) {
    delete static_cast<Export*>(view->internal);
}

PyMethodDef interop_methods[] = {
    method<asarray, 4>("asarray"),
    method<astype, 4>("astype"),
    method<dlpack_capsule, 5>("dlpack"),
    method<export_buffer, 1>("export_buffer"),
    method<from_dlpack, 3>("from_dlpack"),
    method<to_device, 2>("to_device"),
    kEnd,
};

}  // namespace asc::python
