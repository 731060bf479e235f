"""The namespace holds the standard's names and our submodules, nothing else."""

import importlib
import pkgutil

import pytest

import ascend_array_api as xp

DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
""".split()
CONSTANTS = "e inf nan newaxis pi".split()
FUNCTIONS = """
abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh
bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
broadcast_arrays broadcast_shapes broadcast_to can_cast ceil clip concat conj copysign cos cosh
count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like equal exp expand_dims
expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot iinfo
imag isdtype isfinite isin isinf isnan less less_equal linspace log log10 log1p log2 logaddexp
logical_and logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid min
minimum moveaxis multiply negative nextafter nonzero not_equal ones ones_like permute_dims positive
pow prod real reciprocal remainder repeat reshape result_type roll round searchsorted sign signbit
sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh tensordot
tile tril triu trunc unique_all unique_counts unique_inverse unique_values unstack var vecdot where
zeros zeros_like
""".split()
SPECIAL = "__array_api_version__ __array_namespace_info__ __version__".split()
LINALG = """
cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot
vector_norm
""".split()
FFT = """
fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn
""".split()
# Everything that may ever lie beside the standard's names.
SUBMODULES = """
autodiff distributed dtypes graph profiler quantization random runtime sparse testing
""".split()


def _submodules():
    return {m.name for m in pkgutil.iter_modules(xp.__path__) if not m.name.startswith("_")}


def test_the_lists_are_complete():
    assert [len(x) for x in (FUNCTIONS, CONSTANTS, DTYPES, LINALG, FFT)] == [135, 5, 13, 25, 14]


def test_namespace():
    ours = _submodules() - {"linalg", "fft"}
    assert ours <= set(SUBMODULES)
    standard = {*DTYPES, *CONSTANTS, *FUNCTIONS, *SPECIAL, "linalg", "fft"}
    assert set(dir(xp)) == standard | ours


@pytest.mark.parametrize(("name", "names"), [("linalg", LINALG), ("fft", FFT)])
def test_extensions(name, names):
    assert set(dir(getattr(xp, name))) == set(names)


def test_submodules_are_reached_by_import_and_by_attribute():
    for name in _submodules():
        module = importlib.import_module(f"ascend_array_api.{name}")
        assert getattr(xp, name) is module
