// Draws of random numbers; ascend_array_api/random.py keeps the state.
#include "backend/cpu/random.h"

#include "graph/placement.h"
#include "python/bind.h"

namespace asc::python {
namespace {

uint64_t to_word(PyObject* o, const char* function, const char* parameter) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(o);
    if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred()) {
        PyErr_Clear();
        raise(ErrorKind::Value, "%s: %s is no number of 64 bits", function, parameter);
    }
    return value;
}

// function, distribution, dtype, low, span
cpu::Draw to_draw(PyObject* const* args) {
    static constexpr const char* kNames[] = {"uniform", "normal",   "integers", "gamma",
                                             "beta",    "binomial", "poisson"};
    cpu::Draw draw{};
    const char* function = to_name(args[0]);
    draw.dtype = to_dtype(args[2], function);
    draw.low = static_cast<int64_t>(to_word(args[3], function, "low"));
    draw.span = to_word(args[4], function, "span");
    for (size_t i = 0; i < std::size(kNames); ++i) {
        if (PyUnicode_Check(args[1]) && PyUnicode_CompareWithASCIIString(args[1], kNames[i]) == 0) {
            draw.distribution = static_cast<cpu::Distribution>(i);
            using enum cpu::Distribution;
            const bool fits = draw.distribution == Integers ? is_integer(draw.dtype)
                              : draw.distribution < Integers
                                  ? draw.dtype == DType::Float32 || draw.dtype == DType::Float64
                                  : draw.dtype == DType::Float64;
            if (fits) return draw;
        }
    }
    raise(ErrorKind::Value, "%s: no such distribution of dtype %s", function, name(draw.dtype));
}

PyObject* random_blocks(PyObject* const* args) {
    const cpu::Draw draw = to_draw(args);
    const char* function = to_name(args[0]);
    const Dims shape = to_dims(args[5], function, "size");
    return PyLong_FromLongLong(
        cpu::random_blocks(draw, checked_size(shape, draw.dtype, kCpu, function)));
}

// function, distribution, dtype, low, span, key, block, jump, shape, a, b; where a and b are
PyObject* random_draw(PyObject* const* args) {
    const char* function = to_name(args[0]);
    const cpu::Draw draw = to_draw(args);
    const cpu::RandomState random_state{to_word(args[5], function, "key"),
                                        to_word(args[6], function, "block"),
                                        static_cast<uint32_t>(to_word(args[7], function, "jump"))};
    const Dims shape = to_dims(args[8], function, "size");
    const Array parameters[2] = {to_view(args[9], function, "a"), to_view(args[10], function, "b")};
    require_one_device(function, parameters[0], parameters[1]);
    const DeviceId device = parameters[0].device();
    const int64_t size = checked_size(shape, draw.dtype, device, function);
    for (const Array& p : parameters) {
        if (p.dtype != DType::Float64 || (p.size() != 1 && p.size() != size))
            raise(ErrorKind::Value, "%s: parameters are float64 arrays of the result's shape",
                  function);
    }
    constexpr int64_t kWork = 8;  // of one element, in additions
    return wrap(library_result("random", parameters, device, shape, draw.dtype, size * kWork,
                               [draw, random_state, shape](const Array* in) {
                                   const Unlocked unlocked(product(shape));
                                   return cpu::random(draw, random_state, shape, contiguous(in[0]),
                                                      contiguous(in[1]));
                               }));
}

PyObject* philox_block(PyObject* const* args) {
    uint32_t words[4];
    cpu::philox_block(words, to_word(args[0], "philox_block", "key"),
                      to_word(args[1], "philox_block", "low"),
                      to_word(args[2], "philox_block", "high"));
    return Py_BuildValue("(IIII)", words[0], words[1], words[2], words[3]);
}

}  // namespace

PyMethodDef random_methods[] = {
    method<random_draw, 11>("random_draw"),
    method<random_blocks, 6>("random_blocks"),
    method<philox_block, 3>("philox_block"),
    kEnd,
};

}  // namespace asc::python
