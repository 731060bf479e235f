"""One call of every function of the namespace, as a name and arguments.

Arguments that are NumPy arrays become arrays of the device under test.
"""

from typing import Any, NamedTuple

import numpy as np

V = np.array([0.5, 0.25, 0.75])
W = np.array([0.125, 2.0, 1.5])
N = np.array([3, 1, 2])
B = np.array([True, False, True])
M = np.array([[4.0, 1.0], [1.0, 3.0]])
C = np.array([1.0 + 2.0j, 3.0, -1.0j])
S = np.array(1.25)  # without dimensions


class Call(NamedTuple):
    """A function with its arguments."""

    name: str
    args: tuple[Any, ...]
    keywords: dict[str, Any]

    def __str__(self) -> str:
        return self.name


def call(name: str, *args: Any, **keywords: Any) -> Call:
    return Call(name, args, keywords)


_UNARY_REAL = (
    "abs acos asin atan asinh atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log1p "
    "log2 log10 negative positive reciprocal round sign signbit sin sinh sqrt square tan tanh trunc"
)
_BINARY_REAL = (
    "add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal "
    "logaddexp maximum minimum multiply nextafter not_equal pow remainder subtract"
)
_FACTORS = (
    "cholesky det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals trace"
)

COMPUTING = [
    *(call(n, V) for n in _UNARY_REAL.split()),
    *(call(n, V, W) for n in _BINARY_REAL.split()),
    *(call(n, V, S) for n in ("add", "less", "maximum")),
    call("acosh", V + 1),
    *(call(n, C) for n in ("conj", "real", "imag")),
    *(call(n, N) for n in ("bitwise_invert",)),
    *(call(f"bitwise_{n}", N, N) for n in ("and", "or", "xor", "left_shift", "right_shift")),
    *(call(f"logical_{n}", B, B) for n in ("and", "or", "xor")),
    call("logical_not", B),
    call("clip", V, W, W + 1),
    call("clip", V, S, None),
    call("clip", V, max=S),
    call("where", B, V, W),
    call("where", B, V, S),
    call("where", B, 1.0, V),
    *(
        call(n, V)
        for n in "all any argmax argmin count_nonzero max mean min prod std sum var".split()
    ),
    *(call(n, M, axis=0) for n in "all argmax max mean prod std sum var".split()),
    *(call(n, V) for n in ("cumulative_prod", "cumulative_sum", "sort", "argsort", "flip")),
    call("diff", V),
    call("diff", V, prepend=W, append=W),
    call("searchsorted", V, W, sorter=N - 1),
    call("searchsorted", np.sort(V), 0.3),
    call("isin", N, N[:2]),
    call("isin", N, 2),
    call("nonzero", V),
    *(call(f"unique_{n}", N) for n in ("all", "counts", "inverse", "values")),
    call("take", V, N - 1),
    call("take_along_axis", V, N - 1),
    call("matmul", M, M),
    call("matrix_transpose", M),
    call("tensordot", M, M),
    call("vecdot", V, W),
    call("broadcast_arrays", V, S),
    call("broadcast_to", V, (2, 3)),
    call("concat", [V, W]),
    call("stack", [V, W]),
    call("expand_dims", V, 0),
    call("squeeze", V[None], 0),
    call("moveaxis", M, 0, 1),
    call("permute_dims", M, (1, 0)),
    call("repeat", V, 2),
    call("repeat", V, N),
    call("reshape", M, (4,)),
    call("reshape", M, (4,), copy=True),
    call("roll", V, 1),
    call("tile", V, (2,)),
    call("unstack", M),
    call("meshgrid", V, W),
    call("tril", M),
    call("triu", M),
    call("astype", V, np.dtype("int32")),
    call("asarray", V),
    call("from_dlpack", V),
    call("from_dlpack", V, copy=True),
    *(call(f"{n}_like", V) for n in ("empty", "ones", "zeros")),
    call("full_like", V, 3.0),
    call("full_like", V, S),
    call("full", (2,), S),
    call("linspace", S, 2.0, 3),
    call("arange", S, 3.0),
    *(call(f"linalg.{n}", M) for n in _FACTORS.split()),
    call("linalg.matrix_rank", M, rtol=S),
    call("linalg.pinv", M, rtol=S),
    call("linalg.cross", V, W),
    call("linalg.diagonal", M),
    call("linalg.matmul", M, M),
    call("linalg.matrix_norm", M),
    call("linalg.matrix_norm", M, ord="nuc"),
    call("linalg.matrix_power", M, 3),
    call("linalg.matrix_power", M, 0),
    call("linalg.matrix_power", M, -1),
    call("linalg.matrix_transpose", M),
    call("linalg.outer", V, W),
    call("linalg.solve", M, M),
    call("linalg.solve", M, M[0]),
    call("linalg.tensordot", M, M),
    call("linalg.vecdot", V, W),
    *(call("linalg.vector_norm", V, ord=n) for n in (0, 1, 2, 3, np.inf)),
    *(call(f"fft.{n}", V) for n in "fft ifft rfft ihfft".split()),
    *(call(f"fft.{n}", C) for n in "fft irfft hfft".split()),
    *(call(f"fft.{n}", M) for n in "fftn ifftn rfftn irfftn fftshift ifftshift".split()),
]

#: Creation functions with nothing to take the device from.
CREATING = [
    call("arange", 4),
    call("arange", 0.0, 1.0, 0.25),
    call("asarray", 1.5),
    call("asarray", [[1, 2], [3, 4]]),
    call("asarray", [1.0, 2.0]),
    call("asarray", [1j]),
    call("asarray", []),
    call("empty", (2,)),
    call("ones", (2,)),
    call("zeros", (2,)),
    call("eye", 3),
    call("full", (2,), 7),
    call("full", (2,), 7.5),
    call("full", (2,), 1j),
    call("linspace", 0.0, 1.0, 5),
    call("linspace", 0.0, 1j, 5),
    call("fft.fftfreq", 5),
    call("fft.rfftfreq", 5),
]

#: Functions of dtypes and shapes.
ELSEWHERE = "broadcast_shapes can_cast finfo iinfo isdtype result_type"
