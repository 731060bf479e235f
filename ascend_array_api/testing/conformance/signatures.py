"""Names and signatures of functions, methods and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from .core import Failure, Kit, Skip, add, check

CHAPTER = "names"

#: Every function of the standard and its extensions, by signature.
SIGNATURES: dict[str, str] = {
    "start, /, stop=None, step=1, *, dtype=None, device=None": "arange",
    "obj, /, *, dtype=None, device=None, copy=None": "asarray",
    "shape, *, dtype=None, device=None": "empty ones zeros",
    "x, /, *, dtype=None, device=None": "empty_like ones_like zeros_like",
    "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None": "eye",
    "x, /, *, device=None, copy=None": "from_dlpack",
    "shape, fill_value, *, dtype=None, device=None": "full",
    "x, /, fill_value, *, dtype=None, device=None": "full_like",
    "start, stop, /, num, *, dtype=None, device=None, endpoint=True": "linspace",
    "*arrays, indexing='xy'": "meshgrid",
    "x, /, *, k=0": "tril triu",
    "x, dtype, /, *, copy=True, device=None": "astype",
    "from_, to, /": "can_cast",
    "type, /": "finfo iinfo",
    "dtype, kind": "isdtype",
    "*arrays_and_dtypes": "result_type",
    "x, /": (
        "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor "
        "imag isfinite isinf isnan log log1p log2 log10 logical_not negative positive real "
        "reciprocal round sign signbit sin sinh sqrt square tan tanh trunc nonzero "
        "matrix_transpose unique_all unique_counts unique_inverse unique_values linalg.det "
        "linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.matrix_transpose "
        "linalg.slogdet linalg.svdvals"
    ),
    "x1, x2, /": (
        "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor "
        "copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp "
        "logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow "
        "remainder subtract matmul linalg.matmul linalg.outer linalg.solve"
    ),
    "x, /, min=None, max=None": "clip",
    "x, indices, /, *, axis=None": "take",
    "x, indices, /, *, axis=-1": "take_along_axis",
    "x1, x2, /, *, axes=2": "tensordot linalg.tensordot",
    "x1, x2, /, *, axis=-1": "vecdot linalg.vecdot linalg.cross",
    "*arrays": "broadcast_arrays",
    "*shapes": "broadcast_shapes",
    "x, /, shape": "broadcast_to",
    "arrays, /, *, axis=0": "concat stack",
    "x, /, axis": "expand_dims squeeze",
    "x, /, *, axis=None": "flip",
    "x, source, destination, /": "moveaxis",
    "x, /, axes": "permute_dims",
    "x, repeats, /, *, axis=None": "repeat",
    "x, /, shape, *, copy=None": "reshape",
    "x, /, shift, *, axis=None": "roll",
    "x, repetitions, /": "tile",
    "x, /, *, axis=0": "unstack",
    "x, /, *, axis=None, keepdims=False": "argmax argmin count_nonzero max mean min all any",
    "x1, x2, /, *, side='left', sorter=None": "searchsorted",
    "condition, x1, x2, /": "where",
    "x1, x2, /, *, invert=False": "isin",
    "x, /, *, axis=-1, descending=False, stable=True": "argsort sort",
    "x, /, *, axis=None, dtype=None, include_initial=False": "cumulative_prod cumulative_sum",
    "x, /, *, axis=None, dtype=None, keepdims=False": "prod sum",
    "x, /, *, axis=None, correction=0.0, keepdims=False": "std var",
    "x, /, *, axis=-1, n=1, prepend=None, append=None": "diff",
    "x, /, *, upper=False": "linalg.cholesky",
    "x, /, *, offset=0": "linalg.diagonal",
    "x, /, *, keepdims=False, ord='fro'": "linalg.matrix_norm",
    "x, n, /": "linalg.matrix_power",
    "x, /, *, rtol=None": "linalg.matrix_rank linalg.pinv",
    "x, /, *, mode='reduced'": "linalg.qr",
    "x, /, *, full_matrices=True": "linalg.svd",
    "x, /, *, offset=0, dtype=None": "linalg.trace",
    "x, /, *, axis=None, keepdims=False, ord=2": "linalg.vector_norm",
    "x, /, *, n=None, axis=-1, norm='backward'": (
        "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft"
    ),
    "x, /, *, s=None, axes=None, norm='backward'": "fft.fftn fft.ifftn fft.rfftn fft.irfftn",
    "n, /, *, d=1.0, dtype=None, device=None": "fft.fftfreq fft.rfftfreq",
    "x, /, *, axes=None": "fft.fftshift fft.ifftshift",
}

METHODS: dict[str, str] = {
    "": (
        "__abs__ __bool__ __complex__ __dlpack_device__ __float__ __index__ __int__ __invert__ "
        "__neg__ __pos__"
    ),
    "other, /": (
        "__add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lshift__ __lt__ __matmul__ "
        "__mod__ __mul__ __ne__ __or__ __pow__ __rshift__ __sub__ __truediv__ __xor__ __radd__ "
        "__rand__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ "
        "__rrshift__ __rsub__ __rtruediv__ __rxor__"
    ),
    "key, /": "__getitem__",
    "key, value, /": "__setitem__",
    "*, api_version=None": "__array_namespace__",
    "*, stream=None, max_version=None, dl_device=None, copy=None": "__dlpack__",
    "device, /, *, stream=None": "to_device",
}


def _standard(text: str) -> inspect.Signature:
    scope: dict[str, Callable[..., object]] = {}
    exec(f"def f({text}): ...", scope)
    return inspect.signature(scope["f"])


def disagreement(want: inspect.Signature, got: inspect.Signature) -> str:
    """Return why `got` does not take every call that `want` takes, empty if it does."""
    theirs = list(got.parameters.values())
    takes_any = {p.kind for p in theirs}
    positional = [p for p in theirs if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    ours = [
        p for p in want.parameters.values() if p.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    if len(positional) < len(ours) and inspect.Parameter.VAR_POSITIONAL not in takes_any:
        return f"takes {len(positional)} positional arguments, not {len(ours)}"
    by_name = {p.name: p for p in theirs if p.kind is not p.POSITIONAL_ONLY}
    for p in want.parameters.values():
        if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL):
            continue
        if p.name not in by_name:
            if inspect.Parameter.VAR_KEYWORD not in takes_any:
                return f"does not take {p.name}= by keyword"
        elif p.default is not p.empty and by_name[p.name].default is p.empty:
            return f"{p.name}= has no default"
    required = [p for p in positional[len(ours) :] if p.default is p.empty]
    return f"needs {required[0].name} as well" if required else ""


def _signature(name: str, text: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        k.fn(name)
        function = k.xp
        for part in name.split("."):
            function = getattr(function, part)
        try:
            got = inspect.signature(function)
        except (TypeError, ValueError) as e:
            raise Skip("Python cannot tell the signature") from e
        why = disagreement(_standard(text), got)
        k.true(not why, f"{name}{got}: {why}; the standard says {name}({text})")

    return body


def _method(name: str, text: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        x = k.xp.asarray(1)
        if not hasattr(x, name):
            raise Failure(f"arrays have no {name}")
        try:
            got = inspect.signature(getattr(x, name))
        except (TypeError, ValueError):
            return
        why = disagreement(_standard(text), got)
        k.true(not why, f"{name}{got}: {why}; the standard says {name}(self, {text})")

    return body


@check(CHAPTER, "attributes", "present")
def _attributes(k: Kit) -> None:
    x = k.xp.asarray([[1, 2], [3, 4]])
    for name in ("dtype", "device", "mT", "ndim", "shape", "size", "T"):
        k.true(hasattr(x, name), f"arrays have no attribute {name}")


@check(CHAPTER, "dtypes", "present", since="2022.12")
def _dtypes(k: Kit) -> None:
    wanted = ["bool", *k.xp.__array_namespace_info__().dtypes()]
    for name in wanted:
        k.true(k.has(name), f"xp.{name} is missing")
        k.true(k.dtype(name) == k.dtype(name), f"xp.{name} must equal itself")
    k.true(len({repr(k.dtype(n)) for n in wanted}) == len(set(wanted)), "dtypes look alike")


@check(CHAPTER, "T", "errors", "advice")
def _transposes(k: Kit) -> None:
    for shape in ((), (3,), (2, 3, 4)):
        k.raises(lambda shape=shape: k.to(np.ones(shape)).T, f"x.T of shape {shape}")
    for shape in ((), (3,)):
        k.raises(lambda shape=shape: k.to(np.ones(shape)).mT, f"x.mT of shape {shape}")


@check(CHAPTER, "zero-dimensional", "results are arrays", "advice")
def _no_scalars(k: Kit) -> None:
    """NumPy's scalars lack item assignment, among other things."""
    x = k.to(np.arange(3.0))
    for what, got in (
        ("x[0]", k.get(x, 0)),
        ("sum(x)", k.fn("sum")(x)),
        ("add of two 0-d arrays", k.fn("add")(k.to(np.asarray(1.0)), k.to(np.asarray(2.0)))),
    ):
        k.true(type(got) is type(x), f"{what}: a {type(got).__name__}, not a {type(x).__name__}")


for _text, _names in SIGNATURES.items():
    for _name in _names.split():
        _function = _name.rpartition(".")[2]
        add(CHAPTER, _function, f"signature of {_name}", _signature(_name, _text), since="2024.12")
for _text, _names in METHODS.items():
    for _name in _names.split():
        add(CHAPTER, _name, "method", _method(_name, _text))
