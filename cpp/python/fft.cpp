// Fourier transforms.
#include "backend/cpu/fft.h"

#include <cmath>

#include "python/bind.h"

namespace asc::python {
namespace {

using cpu::FftResult;
using cpu::FftSpec;

// Additions and multiplications, roughly.
int64_t work_of(const FftSpec& spec, int64_t elements) {
    double levels = 1;
    for (const int64_t n : spec.lengths) levels += std::log2(static_cast<double>(n));
    return static_cast<int64_t>(static_cast<double>(elements) * levels);
}

// (function, x, axes, lengths, inverse, scale); what depends on the standard is checked already.
PyObject* transform(PyObject* const* args, FftResult result) {
    const char* function = PyUnicode_AsUTF8(args[0]);
    if (!function) throw PythonError{};
    const Array& x = to_view(args[1], function, "x");
    const Dims axes = to_dims(args[2], function, "axes");
    const Dims lengths = to_dims(args[3], function, "lengths");
    const bool inverse = to_bool(args[4], function, "inverse");
    const double scale = to_double(args[5], function, "scale");
    const FftSpec spec{result, axes, lengths, inverse, scale};
    const DType complex = complex_of(x.dtype);
    const DType dtype = result == FftResult::Real ? real_part(complex) : complex;
    const Dims shape = cpu::fft_shape(x.shape, spec);
    const int64_t size = checked_size(shape, dtype, x.device(), function);
    const DType wanted = result == FftResult::Real  ? complex
                         : is_narrow_float(x.dtype) ? DType::Float32
                                                    : x.dtype;
    const Array input = x.dtype == wanted ? x : convert(x, wanted);
    const int64_t work = work_of(spec, size);
    // Not `function`: the name outlives the call.
    const auto known = find_function(function);
    const char* recorded = known ? info(*known).name() : "fft";
    return wrap(library_result(recorded, {&input, 1}, x.device(), shape, dtype, work,
                               [spec, work](const Array* in) {
                                   const Unlocked unlocked(work);
                                   return cpu::fft(*in, spec);
                               }));
}

PyObject* fft_full(PyObject* const* args) { return transform(args, FftResult::Full); }
PyObject* fft_half(PyObject* const* args) { return transform(args, FftResult::Half); }
PyObject* fft_real(PyObject* const* args) { return transform(args, FftResult::Real); }

}  // namespace

PyMethodDef fft_methods[] = {
    method<fft_full, 6>("fft_full"),
    method<fft_half, 6>("fft_half"),
    method<fft_real, 6>("fft_real"),
    kEnd,
};

}  // namespace asc::python
