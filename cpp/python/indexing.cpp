// Indexing: x[key], x[key] = value, take, take_along_axis.
//
// A key is parsed into items, one for each position; ints, slices, None and the ellipsis give a
// view. Where arrays take part, that view is then indexed by offsets: the arrays broadcast with
// each other, and ints beside them count as arrays, as in NumPy.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/gather.h"
#include "backend/cpu/sorting.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/lowering.h"
#include "graph/placement.h"
#include "python/bind.h"
#include "python/fallback.h"
#include "python/interop.h"
#include "runtime/workers.h"

namespace asc::python {
namespace {

constexpr const char* kGet = "getitem";
constexpr const char* kSet = "setitem";

enum class ItemKind : uint8_t { Int, Slice, NewAxis, Array };

struct Item {
    ItemKind kind;
    int64_t start = 0, step = 1, length = 0;  // Slice; Int: start
    Array array;                              // Array: bool, or int64 and row-major
    bool after_ellipsis = false;              // which may stand for no axis at all
};

// Axes that an item of the key consumes.
int consumed(const Item& item) {
    if (item.kind == ItemKind::NewAxis) return 0;
    return item.kind == ItemKind::Array && is_bool(item.array.dtype) ? item.array.ndim() : 1;
}

[[noreturn]] void index_beyond_int64(const char* function) {
    raise(ErrorKind::Index, "%s: an index beyond 64 bits is out of bounds", function);
}

Array index_array(const Array& x, const char* function) {
    if (is_bool(x.dtype)) return x;
    if (!is_integer(x.dtype)) {
        raise(ErrorKind::Index, "%s: arrays as index must be of integer or bool dtype, got %s",
              function, name(x.dtype));
    }
    Unlocked unlocked(x.size());
    Array indices = x.dtype == DType::Int64 ? contiguous(x) : cast(x, DType::Int64);
    if (x.dtype == DType::UInt64 && any_negative(indices)) index_beyond_int64(function);
    return indices;
}

// The raw key, before the extents that it meets are known.
struct Key {
    PyObject* const* items;
    Py_ssize_t count;
    PyObject* single;

    explicit Key(PyObject* key) : single(key) {
        bool tuple = PyTuple_Check(key);
        items = tuple ? &PyTuple_GET_ITEM(key, 0) : &single;
        count = tuple ? PyTuple_GET_SIZE(key) : 1;
    }
};

bool is_index_array(PyObject* o) {
    return !PyLong_Check(o) && o != Py_None && o != Py_Ellipsis && !PySlice_Check(o);
}

// An object that is an int by its __index__ alone.
bool is_index_like(PyObject* o) { return PyIndex_Check(o) && !is_array(o) && !is_ndarray(o); }

// An index of x as an array.
Array to_index_array(PyObject* o, const Array& x, const char* function) {
    if (is_array(o)) {
        require_one_device(function, x, array_of(o));
        return index_array(readable(array_of(o), function), function);
    }
    if (auto s = find_scalar(o); s && s->kind != Kind::Real && s->kind != Kind::Complex) {
        if (s->too_big || s->above_int64) index_beyond_int64(function);
        return index_array(
            from_scalar(*s, s->kind == Kind::Bool ? DType::Bool : DType::Int64, kCpu, function),
            function);
    }
    if (is_index_like(o)) {
        Object number = Object::steal(PyNumber_Index(o));
        return to_index_array(number.get(), x, function);
    }
    bool convertible = is_ndarray(o) || PyList_Check(o);
    if (!convertible || strict()) {
        raise(ErrorKind::Index,
              "%s: %s is no index; accepted: ints, slices, None, Ellipsis, integer and bool arrays "
              "of this library%s",
              function, Py_TYPE(o)->tp_name, convertible ? kRelax : "");
    }
    Array indices = as_array(o, kCpu, function);
    if (indices.size() == 0 && PyList_Check(o)) indices = cast(indices, DType::Int64);
    return index_array(indices, function);
}

Item slice_item(PyObject* o, int64_t extent) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw PythonError{};
    Item item{ItemKind::Slice, 0, 1, 0, {}};
    item.length = PySlice_AdjustIndices(extent, &start, &stop, step);
    item.start = start;
    item.step = step;
    return item;
}

int64_t checked_index(int64_t i, int64_t extent, int axis, const char* function) {
    if (i < -extent || i >= extent) {
        raise(ErrorKind::Index, "%s: index %lld is out of bounds for axis %d with extent %lld",
              function, static_cast<long long>(i), axis, static_cast<long long>(extent));
    }
    return i < 0 ? i + extent : i;
}

int64_t checked_index(PyObject* o, int64_t extent, int axis, const char* function) {
    int overflow = 0;
    int64_t i = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) index_beyond_int64(function);
    return checked_index(i, extent, axis, function);
}

// Items that meet every axis of x: the ellipsis is spelled out, missing axes are full slices.
std::vector<Item> parse(const Array& x, const Key& key, const char* function) {
    std::vector<std::pair<PyObject*, Array>> arrays;
    int used = 0, ellipses = 0;
    for (Py_ssize_t i = 0; i < key.count; ++i) {
        PyObject* o = key.items[i];
        if (o == Py_Ellipsis) {
            ++ellipses;
        } else if (PyBool_Check(o) || is_index_array(o)) {
            // NumPy's ints are plain indices.
            arrays.emplace_back(o, to_index_array(o, x, function));
            const Array& array = arrays.back().second;
            used += is_bool(array.dtype) ? array.ndim() : 1;
        } else if (o != Py_None) {
            ++used;
        }
    }
    if (ellipses > 1) raise(ErrorKind::Index, "%s: an index can hold only one ellipsis", function);
    if (used > x.ndim()) {
        raise(ErrorKind::Index, "%s: %d indices for an array of %d dimension%s", function, used,
              x.ndim(), x.ndim() == 1 ? "" : "s");
    }
    std::vector<Item> items;
    int axis = 0;
    auto fill = [&](int count) {
        for (; count > 0; --count, ++axis)
            items.push_back({ItemKind::Slice, 0, 1, x.shape[axis], {}});
    };
    size_t next_array = 0, behind_ellipsis = 0;
    for (Py_ssize_t i = 0; i < key.count; ++i) {
        PyObject* o = key.items[i];
        if (o == Py_Ellipsis) {
            behind_ellipsis = items.size() + static_cast<size_t>(x.ndim() - used);
            fill(x.ndim() - used);
        } else if (o == Py_None) {
            items.push_back({ItemKind::NewAxis, 0, 1, 1, {}});
        } else if (PySlice_Check(o)) {
            items.push_back(slice_item(o, x.shape[axis]));
            ++axis;
        } else if (next_array < arrays.size() && arrays[next_array].first == o) {
            Item item{ItemKind::Array, 0, 1, 0, std::move(arrays[next_array++].second)};
            bool scalar = item.array.ndim() == 0 && !is_bool(item.array.dtype) && !is_array(o);
            if (scalar) {
                std::memcpy(&item.start, item.array.data(), 8);
                item = {ItemKind::Int,
                        checked_index(item.start, x.shape[axis], axis, function),
                        1,
                        0,
                        {}};
            }
            axis += consumed(item);
            items.push_back(std::move(item));
        } else {
            items.push_back(
                {ItemKind::Int, checked_index(o, x.shape[axis], axis, function), 1, 0, {}});
            ++axis;
        }
    }
    fill(x.ndim() - axis);
    if (behind_ellipsis > 0 && behind_ellipsis < items.size())
        items[behind_ellipsis].after_ellipsis = true;
    return items;
}

// The view of a key without arrays.
Array basic_view(const Array& x, const std::vector<Item>& items) {
    Array view = x;
    int axis = 0;
    for (const Item& item : items) {
        if (item.kind == ItemKind::Int) {
            view = select(view, axis, item.start);
        } else if (item.kind == ItemKind::NewAxis) {
            view = expand_dims(view, axis++);
        } else {
            view = slice(view, axis, item.start, item.step, item.length);
            ++axis;
        }
    }
    return view;
}

// Keys of ints and slices, one for each leading axis: no items are built.
bool simple_view(const Array& x, const Key& key, Array& view, const char* function) {
    if (key.count > x.ndim()) return false;
    for (Py_ssize_t i = 0; i < key.count; ++i) {
        if (!PyLong_CheckExact(key.items[i]) && !PySlice_Check(key.items[i])) return false;
    }
    int kept = 0, ndim = x.ndim();
    for (Py_ssize_t i = 0; i < key.count; ++i) ndim -= PyLong_CheckExact(key.items[i]);
    view = {x.storage, x.offset, x.dtype, Dims(ndim), Dims(ndim)};
    for (int axis = 0; axis < x.ndim(); ++axis) {
        PyObject* o = axis < key.count ? key.items[axis] : nullptr;
        if (o && PyLong_CheckExact(o)) {
            view.offset += checked_index(o, x.shape[axis], axis, function) * x.strides[axis];
            continue;
        }
        view.shape[kept] = x.shape[axis];
        view.strides[kept] = x.strides[axis];
        if (o) {
            Item item = slice_item(o, x.shape[axis]);
            if (item.length > 0) view.offset += item.start * x.strides[axis];
            view.shape[kept] = item.length;
            view.strides[kept] = item.length > 1 ? x.strides[axis] * item.step : 0;
        }
        ++kept;
    }
    return true;
}

// ---- indexing by arrays

// Offsets along the axes that one item consumes, with the shape in which they broadcast.
struct Offsets {
    Dims shape;
    cpu::OffsetList values;
};

// f(begin, end) over [0, n) on the workers.
template <class F>
void for_pieces(int64_t n, F f) {
    constexpr int64_t kPiece = workers::kThreadWork / 4;
    workers::for_each((n + kPiece - 1) / kPiece,
                      [&](int64_t i) { f(i * kPiece, std::min(n, (i + 1) * kPiece)); });
}

Offsets mask_offsets(const Array& x, int axis, const Array& mask, const char* function) {
    const int last = mask.ndim() - 1;
    bool even = true;  // neighbours in the mask are equally far apart in x
    for (int i = 0; i <= last; ++i) {
        // The standard lets an extent of the mask be 0 whatever the array's.
        if (mask.shape[i] != x.shape[axis + i] && mask.shape[i] != 0) {
            raise(ErrorKind::Index, "%s: a mask of shape %s does not fit axes %d to %d of shape %s",
                  function, to_string(mask.shape).c_str(), axis, axis + last,
                  to_string(x.shape).c_str());
        }
        even &= i == last || x.strides[axis + i] == x.strides[axis + i + 1] * mask.shape[i + 1];
    }
    const Array positions = cpu::nonzero(reshape(contiguous(mask), {mask.size()}))[0];
    const auto* from = reinterpret_cast<const int64_t*>(positions.data());
    const int64_t step = last < 0 ? 0 : x.strides[axis + last];
    Offsets result{positions.shape, cpu::OffsetList(static_cast<size_t>(positions.size()))};
    int64_t* to = result.values.data();
    for_pieces(positions.size(), [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; even && k < end; ++k) to[k] = from[k] * step;
        for (int64_t k = begin; !even && k < end; ++k) {
            int64_t rest = from[k], offset = 0;
            for (int i = last; i >= 0; --i) {
                offset += rest % mask.shape[i] * x.strides[axis + i];
                rest /= mask.shape[i];
            }
            to[k] = offset;
        }
    });
    return result;
}

// An axis that indices point into.
struct Axis {
    int number;
    int64_t extent, stride;
};

// to[k] = the offset of index from[k] along the axis, behind the origin of its row of `count`, for
// all k < n. An index is read once: another thread may be writing to it.
template <class F>
void list_offsets(int64_t* to, const int64_t* from, int64_t n, int64_t count, const Axis& axis,
                  const char* function, F origin_of) {
    std::atomic<int64_t> first_bad{n};
    for_pieces(n, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end;) {
            const int64_t row = k / count, origin = origin_of(row);
            for (const int64_t stop = std::min(end, (row + 1) * count); k < stop; ++k) {
                const int64_t i = from[k], at = i < 0 ? i + axis.extent : i;
                if (at >= 0 && at < axis.extent) {
                    to[k] = origin + at * axis.stride;
                    continue;
                }
                to[k] = i;
                for (int64_t seen = first_bad; k < seen;)
                    if (first_bad.compare_exchange_weak(seen, k)) break;
                return;
            }
        }
    });
    if (first_bad < n) checked_index(to[first_bad], axis.extent, axis.number, function);
}

Offsets index_offsets(const Array& x, int axis, const Array& indices, const char* function) {
    const int64_t n = indices.size();
    Offsets result{indices.shape, cpu::OffsetList(static_cast<size_t>(n))};
    list_offsets(result.values.data(), reinterpret_cast<const int64_t*>(indices.data()), n, n,
                 {axis, x.shape[axis], x.strides[axis]}, function,
                 [](int64_t) { return int64_t{0}; });
    return result;
}

// a and b added with broadcasting.
Offsets combine(const Offsets& a, const Offsets& b, const char* function) {
    Dims shape;
    try {
        shape = broadcast_shapes(a.shape, b.shape, function);
    } catch (const Error&) {
        raise(ErrorKind::Index,
              "%s: index arrays of shapes %s and %s could not be broadcast together", function,
              to_string(a.shape).c_str(), to_string(b.shape).c_str());
    }
    Offsets result{shape, cpu::OffsetList(static_cast<size_t>(product(shape)))};
    if (a.shape == b.shape) {
        for_pieces(product(shape), [&](int64_t begin, int64_t end) {
            for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
                result.values[i] = a.values[i] + b.values[i];
        });
        return result;
    }
    auto strides_in = [&](const Offsets& o) {
        Array array;
        array.shape = o.shape;
        array.strides = row_major_strides(o.shape);
        return broadcast_strides(array, shape);
    };
    Dims sa = strides_in(a), sb = strides_in(b), row = row_major_strides(shape);
    for (size_t i = 0; i < result.values.size(); ++i) {
        int64_t rest = static_cast<int64_t>(i), ia = 0, ib = 0;
        for (int axis = 0; axis < shape.size(); ++axis) {
            int64_t at = rest / row[axis];
            rest -= at * row[axis];
            ia += at * sa[axis];
            ib += at * sb[axis];
        }
        result.values[i] = a.values[static_cast<size_t>(ia)] + b.values[static_cast<size_t>(ib)];
    }
    return result;
}

// Elements of all index arrays.
int64_t work_of(const std::vector<Item>& items) {
    int64_t work = 0;
    for (const Item& item : items) work += item.kind == ItemKind::Array ? item.array.size() : 0;
    return work;
}

struct ArrayIndex {
    cpu::Selection selection;
    Dims shape;  // of the result
};

ArrayIndex resolve(const Array& x, const std::vector<Item>& items, const char* function) {
    Unlocked unlocked(work_of(items));
    ArrayIndex result;
    cpu::Selection& s = result.selection;
    s.base = x.offset;
    bool indexed = false, gap = false, apart = false;
    for (const Item& item : items) {
        bool array = item.kind == ItemKind::Array || item.kind == ItemKind::Int;
        gap |= indexed && (!array || item.after_ellipsis);
        apart |= array && gap;
        indexed |= array;
    }
    std::optional<Offsets> offsets;
    const auto add = [&](Offsets more) {
        offsets = offsets ? combine(*offsets, more, function) : std::move(more);
    };
    bool seen = false;
    int axis = 0;
    for (const Item& item : items) {
        // Where arrays are apart, their axes come first.
        Dims& shape = seen || apart ? s.after : s.before;
        Dims& strides = seen || apart ? s.after_strides : s.before_strides;
        if (item.kind == ItemKind::NewAxis) {
            shape.push_back(1);
            strides.push_back(0);
        } else if (item.kind == ItemKind::Slice) {
            if (item.length > 0) s.base += item.start * x.strides[axis];
            shape.push_back(item.length);
            strides.push_back(x.strides[axis] * (item.length > 1 ? item.step : 1));
        } else {
            seen = true;
            if (item.kind == ItemKind::Int) {
                s.base += item.start * x.strides[axis];
            } else if (is_bool(item.array.dtype)) {
                add(mask_offsets(x, axis, item.array, function));
            } else {
                add(index_offsets(x, axis, item.array, function));
            }
        }
        axis += consumed(item);
    }
    result.shape = s.before;
    for (int64_t extent : offsets->shape) result.shape.push_back(extent);
    for (int64_t extent : s.after) result.shape.push_back(extent);
    s.offsets = std::move(offsets->values);
    return result;
}

bool has_arrays(const std::vector<Item>& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const Item& item) { return item.kind == ItemKind::Array; });
}

Array select_by_arrays(const Array& x, const ArrayIndex& index) {
    Array out = Array::empty(index.shape, x.dtype, x.device());
    x.storage->settle();  // before the tasks of several threads read it
    Unlocked unlocked(out.size());
    cpu::gather(out, x, index.selection);
    return out;
}

// ---- assignment

// The value as an array of x's dtype that broadcasts to the selection.
Array value_array(const Array& x, PyObject* value) {
    if (is_array(value)) {
        const Array& v = array_of(value);
        require_one_device(kSet, x, v);
        if (v.dtype == x.dtype) return v;
        if (promote(v.dtype, x.dtype, true) != x.dtype) {
            bool loses = is_complex(v.dtype) && !is_complex(x.dtype);
            if (loses || strict()) {
                raise(ErrorKind::Type,
                      "setitem: values of dtype %s cannot be stored in an array of dtype %s; "
                      "accepted: dtypes that promote to it%s",
                      name(v.dtype), name(x.dtype), loses ? "" : kRelax);
            }
        }
        return v;
    }
    if (auto s = find_scalar(value)) {
        auto promoted = promote_scalar(x.dtype, s->kind, true);
        if (promoted != x.dtype &&
            ((s->kind == Kind::Complex && !is_complex(x.dtype)) || strict())) {
            bool loses = s->kind == Kind::Complex && !is_complex(x.dtype);
            raise(ErrorKind::Type,
                  "setitem: a Python %s cannot be stored in an array of dtype %s; "
                  "accepted: a scalar of the array's kind%s",
                  type_name(*s), name(x.dtype), loses ? "" : kRelax);
        }
        return from_scalar(*s, x.dtype, x.device(), kSet);
    }
    if ((is_ndarray(value) || PyList_Check(value) || PyTuple_Check(value)) && !strict())
        return as_array(value, x.device(), kSet);
    raise(ErrorKind::Type,
          "setitem: the value must be an ascend_array_api array or a Python scalar, got %s; "
          "convert it with asarray",
          Py_TYPE(value)->tp_name);
}

// x[mask] = one value: a conditional move through the whole array.
bool assign_by_mask(const Array& x, const std::vector<Item>& items, const Array& value) {
    if (value.size() != 1 || value.ndim() != 0 || items.empty() ||
        items[0].kind != ItemKind::Array || !is_bool(items[0].array.dtype)) {
        return false;
    }
    for (size_t i = 1; i < items.size(); ++i) {
        const Item& item = items[i];
        int64_t extent = x.shape[items[0].array.ndim() + static_cast<int>(i) - 1];
        if (item.kind != ItemKind::Slice || item.step != 1 || item.length != extent) return false;
    }
    Array mask = items[0].array;
    if (mask.ndim() == 0) return false;
    for (int i = 0; i < mask.ndim(); ++i) {
        if (mask.shape[i] != x.shape[i]) return false;  // resolve() decides
    }
    while (mask.ndim() < x.ndim()) mask = expand_dims(mask, mask.ndim());
    if (may_overlap(mask, x)) mask = copy(mask);
    Array element = cast(value, x.dtype);
    DType compute = cpu::compute_dtype(x.dtype);
    Operand operands[3];
    operands[0].array = &mask;
    operands[1].array = &element;
    operands[2].array = &x;
    Unlocked unlocked(x.size());
    RunningWrite write(x);
    cpu::elementwise(Op::Where, compute, operands, x);
    return true;
}

void assign_by_arrays(const Array& x, const std::vector<Item>& items, const Array& value) {
    if (assign_by_mask(x, items, value)) return;
    ArrayIndex index = resolve(x, items, kSet);
    Array broadcast = broadcast_to(value, index.shape, kSet);
    Array packed = Array::empty(index.shape, x.dtype, x.device());
    Unlocked unlocked(packed.size());
    cpu::transfer(packed, broadcast);
    RunningWrite write(x);
    cpu::scatter(x, packed, index.selection);
}

void set(const Array& x, const Key& key, PyObject* value) {
    // The array, not only the part that is written: other elements may share its addresses.
    require_writable(x, kSet);
    Array view;
    if (!simple_view(x, key, view, kSet)) {
        std::vector<Item> items = parse(x, key, kSet);
        if (has_arrays(items)) {
            Array source = value_array(x, value);
            // Parsing may have run Python code, which may have used or copied x.
            prepare_write(x, kSet);
            if (on_host(x.device())) return assign_by_arrays(x, items, source);
            note_fallback(kSet, x.dtype, x.device());
            const Array host = readable(x, kSet);
            assign_by_arrays(host, items, readable(source, kSet));
            return assign(x, unlocked_move(host, x.device(), kSet), kSet);
        }
        view = basic_view(x, items);
    }
    Array source = value_array(x, value);
    Unlocked unlocked(view.size());
    assign(view, source, kSet);
}

// ---- take

Array take_on_device(const Array& x, const Array& indices, int axis) {
    Dims shape = x.shape;
    shape.erase(axis);
    for (int i = 0; i < indices.ndim(); ++i) shape.insert(axis + i, indices.shape[i]);
    Array out = Array::empty(shape, x.dtype, x.device(), "take");
    const Array inputs[2] = {x, reshape(indices, Dims{indices.size()})};
    Dims flat = x.shape;
    flat[axis] = indices.size();
    const Array rows = reshape(out, flat);
    Unlocked unlocked(out.size());
    run_on_device({"take", inputs, {&rows, 1}, {axis}});
    return out;
}

PyObject* take(PyObject* const* args) {
    const Array& x = to_array(args[0], "take", "x");
    const Array& raw = to_array(args[1], "take", "indices");
    require_one_device("take", x, raw);
    require("take", Category::Integer, raw.dtype);
    if (args[2] == Py_None && x.ndim() != 1) {
        raise(ErrorKind::Value,
              "take: axis may be left out only where x has one dimension, got shape %s",
              to_string(x.shape).c_str());
    }
    if (raw.ndim() != 1 && (raw.ndim() == 0 || strict())) {
        raise(ErrorKind::Value, "take: indices must have one dimension, got shape %s",
              to_string(raw.shape).c_str());
    }
    int axis = args[2] == Py_None ? 0 : to_axis(args[2], x.ndim(), "take");
    if (!on_host(x.device())) return wrap(take_on_device(x, raw, axis));
    std::vector<Item> items;
    for (int i = 0; i < x.ndim(); ++i) items.push_back({ItemKind::Slice, 0, 1, x.shape[i], {}});
    items[static_cast<size_t>(axis)] = {ItemKind::Array, 0, 1, 0, index_array(raw, "take")};
    return wrap(select_by_arrays(x, resolve(x, items, "take")));
}

// The last axis back to the place where it was.
Array axis_from_last(const Array& x, int axis) {
    Dims order;
    for (int i = 0; i < x.ndim(); ++i)
        order.push_back(i < axis ? i : i == axis ? x.ndim() - 1 : i - 1);
    return permute(x, order);
}

// The elements of x at places along an axis that differ from line to line.
Array select_along_axis(const Array& x, const Array& raw, int axis, const char* function) {
    Array rows = axis_last(x, axis), wanted = axis_last(raw, axis);
    int64_t extent = rows.shape.back(), count = wanted.shape.back(), stride = rows.strides.back();
    Dims outer = broadcast_shapes(Dims(rows.shape.data(), x.ndim() - 1),
                                  Dims(wanted.shape.data(), x.ndim() - 1), function);
    Dims shape = outer;
    shape.push_back(count);
    if (!on_host(x.device())) {
        const Array out = Array::empty(shape, x.dtype, x.device(), function);
        Dims whole = outer;
        whole.push_back(extent);
        const Array inputs[2] = {broadcast_to(rows, whole, function),
                                 broadcast_to(wanted, shape, function)};
        run_on_device({function, inputs, {&out, 1}, {outer.size()}});
        return axis_from_last(out, axis);
    }
    Array indices = index_array(contiguous(broadcast_to(wanted, shape, function)), function);
    shape[shape.size() - 1] = extent;
    Array source = broadcast_to(rows, shape, function);
    cpu::Selection s;
    s.base = source.offset;
    s.offsets.resize(static_cast<size_t>(indices.size()));
    const Dims steps(source.strides.data(), outer.size());
    list_offsets(s.offsets.data(), reinterpret_cast<const int64_t*>(indices.data()), indices.size(),
                 count, {axis, extent, stride}, function,
                 [&](int64_t row) { return offset_of(row, outer, steps); });
    Dims result_shape = outer;
    result_shape.push_back(count);
    Array out = Array::empty(result_shape, x.dtype, x.device());
    cpu::gather(out, x, s);
    return axis_from_last(out, axis);
}

PyObject* take_along_axis(PyObject* const* args) {
    constexpr const char* function = "take_along_axis";
    const Array& x = to_array(args[0], function, "x");
    const Array& raw = to_array(args[1], function, "indices");
    require_one_device(function, x, raw);
    require(function, Category::Integer, raw.dtype);
    if (raw.ndim() != x.ndim()) {
        raise(ErrorKind::Value,
              "%s: x has shape %s and indices %s; the same number of dimensions is needed",
              function, to_string(x.shape).c_str(), to_string(raw.shape).c_str());
    }
    int axis = to_axis(args[2], x.ndim(), function);
    Array out;
    {
        Unlocked unlocked(std::max(x.size(), raw.size()));
        out = select_along_axis(x, raw, axis, function);
    }
    return wrap(std::move(out));
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* raw_key) {
    return slot_call(kGet, {self, raw_key}, Target::New, [&] {
        const Array& x = array_of(self);
        Key key(raw_key);
        Array view;
        if (simple_view(x, key, view, kGet)) return wrap(std::move(view));
        std::vector<Item> items = parse(x, key, kGet);
        if (!has_arrays(items)) {
            view = basic_view(x, items);
            if (view.ndim() > kMaxRank) checked_size(view.shape, view.dtype, view.device(), kGet);
            return wrap(std::move(view));
        }
        if (!on_host(x.device())) note_fallback(kGet, x.dtype, x.device());
        const Array here = readable(x, kGet);
        const ArrayIndex index = resolve(here, items, kGet);
        checked_size(index.shape, x.dtype, x.device(), kGet);
        const Array selected = select_by_arrays(here, index);
        return wrap(unlocked_move(selected, x.device(), kGet));
    });
}

int set_item(PyObject* self, PyObject* raw_key, PyObject* value) {
    PyObject* done = slot_call(kSet, {self, raw_key, value}, Target::Part, [&] {
        if (!value) raise(ErrorKind::Type, "delitem: elements of an array cannot be deleted");
        set(array_of(self), Key(raw_key), value);
        return Py_NewRef(Py_None);
    });
    if (!done) return -1;
    Py_DECREF(done);
    return 0;
}

PyMethodDef indexing_methods[] = {
    device_method<take, 3, "take">(),
    device_method<take_along_axis, 3, "take_along_axis">(),
    kEnd,
};

}  // namespace asc::python
