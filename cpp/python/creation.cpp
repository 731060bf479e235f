// Creation functions but asarray and from_dlpack (interop.cpp).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/backend.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
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

void zero(const Array& x) {
    Unlocked unlocked(x.size());
    std::memset(x.storage->data(), 0, static_cast<size_t>((x.size() * bits(x.dtype) + 7) / 8));
}

// Shape, dtype and place of an array to make: given, or by default those of a pattern.
struct Form {
    Dims shape;
    DType dtype;
    DeviceId device;
};
Form to_form(PyObject* const* args, const char* function) {
    Dims shape = to_dims(args[0], function, "shape");
    const auto dtype = to_optional_dtype(args[1], function);
    const DeviceId device = to_device_id(args[2], default_device(), function);
    return {std::move(shape), dtype.value_or(default_float(device)), device};
}
Form form_of(PyObject* const* args, const char* function) {
    const Array& x = to_view(args[0], function, "x");
    const auto dtype = to_optional_dtype(args[1], function);
    return {x.shape, dtype.value_or(x.dtype), to_device_id(args[2], x.device(), function)};
}

Array uninitialised(Form form, const char* function) {
    return Array::empty(std::move(form.shape), form.dtype, form.device, function);
}
PyObject* empty(PyObject* const* args) {
    return wrap(uninitialised(to_form(args, "empty"), "empty"));
}
PyObject* empty_like(PyObject* const* args) {
    return wrap(uninitialised(form_of(args, "empty_like"), "empty_like"));
}

Array filled_array(Form form, const Scalar& value, const char* function) {
    const int64_t size = checked_size(form.shape, form.dtype, form.device, function);
    const Array element = from_scalar(value, form.dtype, form.device, function);
    Unlocked unlocked(size);
    return asc::filled(function, element, std::move(form.shape));
}

// Memory for an array of the device that the host fills; `moved` brings it there.
Array host_array(Dims shape, DType dtype, DeviceId device, const char* function) {
    require_dtype(dtype, device, function);
    return Array::empty(std::move(shape), dtype, on_host(device) ? device : kCpu, function);
}

constexpr Scalar kZero{Kind::Bool, false, false, 0};
constexpr Scalar kOne{Kind::Bool, false, false, 1};

PyObject* filled(Form form, const Scalar& value, const char* function) {
    return wrap(filled_array(std::move(form), value, function));
}
PyObject* zeros(PyObject* const* args) { return filled(to_form(args, "zeros"), kZero, "zeros"); }
PyObject* zeros_like(PyObject* const* args) {
    return filled(form_of(args, "zeros_like"), kZero, "zeros_like");
}
PyObject* ones(PyObject* const* args) { return filled(to_form(args, "ones"), kOne, "ones"); }
PyObject* ones_like(PyObject* const* args) {
    return filled(form_of(args, "ones_like"), kOne, "ones_like");
}

// An array of one value, an array of no dimensions or a number, whose dtype is the default.
PyObject* filled_by(Dims shape, PyObject* fill_value, std::optional<DType> dtype, DeviceId device,
                    const char* function) {
    Scalar room;
    Argument value = to_argument(fill_value, room, function, "fill_value");
    if (value.array && value.array->ndim() != 0) {
        raise(ErrorKind::Value, "%s: fill_value must be a scalar, got an array of shape %s",
              function, to_string(value.array->shape).c_str());
    }
    DType target = dtype.value_or(value.array ? value.array->dtype : default_dtype(room, device));
    if (!value.array) {
        check_value(room, target, function);
        return filled({std::move(shape), target, device}, room, function);
    }
    if (target != value.array->dtype && strict())
        promote_or_raise(function, target, value.array->dtype, true);
    if (value.array->device() != device) refuse_devices(function, value.array->device(), device);
    Array out = uninitialised({std::move(shape), target, device}, function);
    {
        Unlocked unlocked(out.size());
        assign(out, *value.array, function);
    }
    return wrap(std::move(out));
}
PyObject* full(PyObject* const* args) {
    Dims shape = to_dims(args[0], "full", "shape");
    auto dtype = to_optional_dtype(args[2], "full");
    const DeviceId otherwise = is_array(args[1]) ? array_of(args[1]).device() : default_device();
    const DeviceId device = to_device_id(args[3], otherwise, "full");
    return filled_by(std::move(shape), args[1], dtype, device, "full");
}
PyObject* full_like(PyObject* const* args) {
    PyObject* pattern[3] = {args[0], args[2], args[3]};
    Form form = form_of(pattern, "full_like");
    return filled_by(std::move(form.shape), args[1], form.dtype, form.device, "full_like");
}

PyObject* eye(PyObject* const* args) {
    int64_t rows = to_int(args[0], "eye", "n_rows");
    int64_t columns = args[1] == Py_None ? rows : to_int(args[1], "eye", "n_cols");
    int64_t k = to_offset(args[2], "eye", "k");
    const DeviceId device = to_device_id(args[4], default_device(), "eye");
    DType dtype = to_optional_dtype(args[3], "eye").value_or(default_float(device));
    Array out = host_array({rows, columns}, dtype, device, "eye");
    zero(out);
    k = std::clamp(k, -rows, columns);
    assign(diagonal(out, k), from_scalar(kOne, dtype, out.device(), "eye"), "eye");
    return wrap(moved(out, device, "eye"));
}

// Fills out with value(i) computed in T, tile by tile, converted to out's dtype.
template <class T, class F>
void generate(const Array& out, DType computed, F&& value) {
    constexpr int64_t kTile = 512;
    int64_t n = out.size();
    Unlocked unlocked(n);
    auto convert = cpu::kernels().convert[index(computed)][index(out.dtype)];
    auto tile = [&](int64_t t) {
        T buffer[kTile];
        int64_t first = t * kTile, count = std::min(kTile, n - first);
        for (int64_t i = 0; i < count; ++i) buffer[i] = value(first + i);
        convert(out.storage->data() + first * itemsize(out.dtype), buffer, count);
    };
    int64_t tiles = (n + kTile - 1) / kTile;
    if (n < (1 << 16)) {
        for (int64_t t = 0; t < tiles; ++t) tile(t);
    } else {
        workers::for_each(tiles, tile);
    }
}

// The device that is asked for, or that of the arrays among some arguments, which is the same.
DeviceId device_among(PyObject* asked, std::span<PyObject* const> values, const char* function) {
    std::optional<DeviceId> theirs;
    for (PyObject* o : values) {
        if (!is_array(o)) continue;
        const DeviceId device = array_of(o).device();
        if (theirs && *theirs != device) refuse_devices(function, *theirs, device);
        theirs = device;
    }
    const DeviceId device = to_device_id(asked, theirs.value_or(default_device()), function);
    if (theirs && *theirs != device) refuse_devices(function, *theirs, device);
    return device;
}

Scalar real_argument(PyObject* o, const char* function, const char* parameter) {
    auto s = is_array(o) && array_of(o).ndim() == 0
                 ? find_scalar(Object::steal(item(array_of(o))).get())
                 : find_scalar(o);
    if (!s || s->kind == Kind::Complex || s->kind == Kind::Bool) {
        raise(ErrorKind::Type, "%s: %s must be an int or a float, got %s", function, parameter,
              Py_TYPE(o)->tp_name);
    }
    return *s;
}

using Wide = __int128;

// An int of arange, whose distances to others fit, too.
constexpr double kWidest = 0x1p125;
Wide as_wide(const Scalar& s, PyObject* o, const char* parameter, DType dtype) {
    if (s.above_int64) return static_cast<Wide>(static_cast<uint64_t>(s.integer));
    if (!s.too_big) return static_cast<Wide>(s.integer);
    if (std::fabs(s.re) > kWidest) {
        raise(ErrorKind::Overflow,
              "arange: %s is about %g, out of range for dtype %s; accepted: a floating-point dtype",
              parameter, s.re, name(dtype));
    }
    const Object bits = Object::steal(PyLong_FromLong(64));
    // The shift of int itself: a subclass may have another one.
    const Object high = Object::steal(PyLong_Type.tp_as_number->nb_rshift(o, bits.get()));
    return static_cast<Wide>(PyLong_AsLong(high.get())) * (Wide{1} << 64) +
           static_cast<Wide>(PyLong_AsUnsignedLongLongMask(o));
}

int64_t checked_length(double n) {
    if (std::isnan(n))
        raise(ErrorKind::Value, "arange: start, stop and step must be finite numbers");
    if (n >= 0x1p62)
        raise(ErrorKind::Memory, "arange: %g elements exceed the memory of this machine", n);
    return n > 0 ? static_cast<int64_t>(n) : 0;
}

Array arange_integers(Wide first, Wide last, Wide by, DType dtype, DeviceId device) {
    if (by == 0) raise(ErrorKind::Value, "arange: step must not be zero");
    Wide distance = last - first;
    Wide n = distance == 0 || (distance > 0) != (by > 0)
                 ? 0
                 : (distance + (by > 0 ? by - 1 : by + 1)) / by;
    int64_t length = checked_length(static_cast<double>(n));
    checked_size({length}, dtype, device, "arange");
    const Wide end = first + (n - 1) * by;
    bool fits_int64 = true;
    for (Wide value : {first, end}) {
        if (length == 0) break;
        fits_int64 &= value >= INT64_MIN && value <= INT64_MAX;
        if (!is_integer(dtype)) continue;
        Scalar scalar{Kind::Signed};
        scalar.integer = static_cast<int64_t>(value);
        scalar.above_int64 = value > INT64_MAX && value <= UINT64_MAX;
        scalar.too_big = value > UINT64_MAX || value < INT64_MIN;
        std::byte room[16];
        store(room, dtype, scalar, "arange");
    }
    Array out = host_array({length}, dtype, device, "arange");
    if (!fits_int64 && !is_integer(dtype)) {
        generate<double>(out, DType::Float64, [=](int64_t i) {
            return static_cast<double>(first + static_cast<Wide>(i) * by);
        });
        return out;
    }
    auto origin = static_cast<uint64_t>(first), stride = static_cast<uint64_t>(by);
    generate<uint64_t>(out, fits_int64 ? DType::Int64 : DType::UInt64,
                       [=](int64_t i) { return origin + static_cast<uint64_t>(i) * stride; });
    return out;
}

Array arange_floats(double start, double stop, double step, DType dtype, DeviceId device) {
    if (step == 0) raise(ErrorKind::Value, "arange: step must not be zero");
    int64_t length = checked_length(std::ceil((stop - start) / step));
    Array out = host_array({length}, dtype, device, "arange");
    generate<double>(out, DType::Float64,
                     [=](int64_t i) { return start + static_cast<double>(i) * step; });
    return out;
}

bool beyond_int64(const Scalar& s) { return s.above_int64 || (s.too_big && s.integer > 0); }

PyObject* arange(PyObject* const* args) {
    Scalar start = real_argument(args[0], "arange", "start");
    Scalar stop = args[1] == Py_None ? start : real_argument(args[1], "arange", "stop");
    if (args[1] == Py_None) start = Scalar{Kind::Signed};
    Scalar step = real_argument(args[2], "arange", "step");
    auto wanted = to_optional_dtype(args[3], "arange");
    const DeviceId device = device_among(args[4], {args, 3}, "arange");
    bool integers = start.kind != Kind::Real && stop.kind != Kind::Real && step.kind != Kind::Real;
    DType dtype = wanted.value_or(
        integers ? (beyond_int64(start) || beyond_int64(stop) ? DType::UInt64 : kDefaultInt)
                 : default_float(device));
    if (is_bool(dtype) || (is_complex(dtype) && strict()))
        refuse_dtype("arange", Category::Real, dtype, is_complex(dtype));
    const bool exact = std::fabs(start.re) <= kWidest && std::fabs(stop.re) <= kWidest &&
                       std::fabs(step.re) <= kWidest;
    if (integers && (exact || is_integer(dtype))) {
        const Wide first = args[1] == Py_None ? 0 : as_wide(start, args[0], "start", dtype);
        const Wide last = args[1] == Py_None ? as_wide(stop, args[0], "stop", dtype)
                                             : as_wide(stop, args[1], "stop", dtype);
        const Wide by = as_wide(step, args[2], "step", dtype);
        const Array out = arange_integers(first, last, by, dtype, device);
        return wrap(moved(out, device, "arange"));
    }
    if (is_integer(dtype) && strict()) {
        raise(ErrorKind::Type,
              "arange: float arguments do not go with dtype %s; accepted: ints, or a "
              "floating-point dtype%s",
              name(dtype), kRelax);
    }
    const Array out = arange_floats(to_double(start, "arange"), to_double(stop, "arange"),
                                    to_double(step, "arange"), dtype, device);
    return wrap(moved(out, device, "arange"));
}

// start + i * (stop - start) / intervals, both ends exact.
struct Interpolation {
    double start, stop, delta;
    double intervals;
    bool endpoint;

    Interpolation(double a, double b, int64_t n, bool closed)
        : start(a),
          stop(b),
          delta(b - a),
          intervals(static_cast<double>(closed ? n - 1 : n)),
          endpoint(closed) {}
    double operator()(int64_t i) const {
        auto t = static_cast<double>(i);
        if (endpoint && t == intervals && i > 0) return stop;
        if (i == 0) return start;
        double product = t * delta;
        if (std::isfinite(product)) return start + product / intervals;
        return start * (1 - t / intervals) + stop * (t / intervals);  // the distance overflows
    }
};

PyObject* linspace(PyObject* const* args) {
    Scalar ends[2];
    for (int i = 0; i < 2; ++i) {
        auto s = find_scalar(args[i]);
        if (is_array(args[i]) && array_of(args[i]).ndim() == 0)
            s = find_scalar(Object::steal(item(array_of(args[i]))).get());
        if (!s || s->kind == Kind::Bool) {
            raise(ErrorKind::Type, "linspace: %s must be an int, a float or a complex, got %s",
                  i ? "stop" : "start", Py_TYPE(args[i])->tp_name);
        }
        ends[i] = *s;
    }
    int64_t n = to_int(args[2], "linspace", "num");
    bool complex_ends = ends[0].kind == Kind::Complex || ends[1].kind == Kind::Complex;
    const DeviceId device = device_among(args[4], {args, 2}, "linspace");
    DType dtype = to_optional_dtype(args[3], "linspace")
                      .value_or(complex_ends ? default_complex(device) : default_float(device));
    bool endpoint = to_bool(args[5], "linspace", "endpoint");
    if (n < 0)
        raise(ErrorKind::Value, "linspace: num must not be negative, got %lld",
              static_cast<long long>(n));
    bool integers = is_integer(dtype);
    if (integers || is_bool(dtype))
        require("linspace", strict() ? Category::Floating : Category::Numeric, dtype);
    if (complex_ends && !is_complex(dtype)) {
        raise(ErrorKind::Type, "linspace: complex ends need a complex dtype, got %s", name(dtype));
    }
    Array out = host_array({n}, dtype, device, "linspace");
    auto re = [](const Scalar& s) {
        return s.kind == Kind::Complex ? s.re : to_double(s, "linspace");
    };
    Interpolation real(re(ends[0]), re(ends[1]), n, endpoint),
        imag(ends[0].im, ends[1].im, n, endpoint);
    if (is_complex(dtype)) {
        generate<Complex<double>>(out, DType::Complex128,
                                  [=](int64_t i) { return Complex<double>{real(i), imag(i)}; });
    } else if (integers) {
        generate<double>(out, DType::Float64, [=](int64_t i) { return std::floor(real(i)); });
    } else {
        generate<double>(out, DType::Float64, real);
    }
    return wrap(moved(out, device, "linspace"));
}

// The elements of each matrix with column - row <= k (lower) or >= k; the others become zero.
Array triangle(const Array& x, int64_t k, bool lower) {
    Array out = Array::empty(x.shape, x.dtype, x.device());
    if (out.size() == 0) return out;
    zero(out);
    int64_t rows = x.shape[x.ndim() - 2], columns = x.shape.back();
    for (int64_t i = 0; i < rows; ++i) {
        int64_t border = std::clamp(i + k + (lower ? 1 : 0), int64_t{0}, columns);
        int64_t first = lower ? 0 : border, count = lower ? border : columns - border;
        if (count == 0) continue;
        Array source = slice(select(x, x.ndim() - 2, i), x.ndim() - 2, first, 1, count);
        Array target = slice(select(out, x.ndim() - 2, i), x.ndim() - 2, first, 1, count);
        cpu::transfer(target, source);
    }
    return out;
}

template <bool kLower>
PyObject* triangle_of(PyObject* const* args) {
    const char* function = kLower ? "tril" : "triu";
    const Array& x = to_array(args[0], function, "x");
    int64_t k = to_offset(args[1], function, "k");
    if (x.ndim() < 2) {
        raise(ErrorKind::Value, "%s: x must have at least 2 dimensions, got shape %s", function,
              to_string(x.shape).c_str());
    }
    k = std::clamp(k, -x.shape[x.ndim() - 2] - 1, x.shape.back() + 1);
    Array out;
    {
        Unlocked unlocked(x.size());
        if (on_host(x.device())) {
            out = triangle(x, k, kLower);
        } else {
            out = Array::empty(x.shape, x.dtype, x.device());
            run_on_device({function, {&x, 1}, {&out, 1}, {k}});
        }
    }
    return wrap(std::move(out));
}

}  // namespace

PyMethodDef creation_methods[] = {
    method<arange, 5>("arange"),
    method<empty, 3>("empty"),
    method<empty_like, 3>("empty_like"),
    method<eye, 5>("eye"),
    method<full, 4>("full"),
    method<full_like, 4>("full_like"),
    method<linspace, 6>("linspace"),
    method<ones, 3>("ones"),
    method<ones_like, 3>("ones_like"),
    method<zeros, 3>("zeros"),
    method<zeros_like, 3>("zeros_like"),
    device_method<triangle_of<true>, 2, "tril">(),
    device_method<triangle_of<false>, 2, "triu">(),
    kEnd,
};

}  // namespace asc::python
