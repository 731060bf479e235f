// Fourier transforms of arrays, of any length, along one or several axes.
#pragma once
#include "core/array.h"

namespace asc::cpu {

enum class FftResult : uint8_t {
    Full,  // complex; the input may be real
    Half,  // complex, the first n / 2 + 1 elements along the last of the axes; the input is real
    Real,  // real, from complex input: the first half of Hermitian values along the last axis
};

struct FftSpec {
    FftResult result;
    Dims axes, lengths;  // one or more; axes are cut or padded with zeros to their lengths
    bool inverse;        // the sign in the exponent is plus
    double scale;        // factor of the result
};

// The shape of the result.
Dims fft_shape(const Dims& shape, const FftSpec& spec);
// The transform of float32, float64, complex64 or complex128, row-major.
Array fft(const Array& x, const FftSpec& spec);

}  // namespace asc::cpu
