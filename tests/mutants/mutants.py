"""Namespaces with one fault each: the correct namespace with something replaced.

`MUTANTS` are single faults by hand, `METHODS` faults of operators, and `every` gives the same fault
in each function. Each names the function by which ``conformance --select`` must find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

import ascend_array_api as xp
from ascend_array_api.testing.conformance.elementwise import BINARY, UNARY
from ascend_array_api.testing.conformance.signatures import SIGNATURES

Array = type(xp.asarray(1))
NP = np.asarray


class Mutant:
    """A namespace with some functions replaced."""

    def __init__(self, base: Any = xp, **changed: Any) -> None:
        self.__dict__.update(changed)
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


def mutant(name: str, function: Callable[..., Any]) -> Mutant:
    """Replace the function of a dotted name."""
    extension, _, short = name.rpartition(".")
    if not extension:
        return Mutant(**{short: function})
    return Mutant(**{extension: Mutant(getattr(xp, extension), **{short: function})})


def original(name: str) -> Callable[..., Any]:
    """Return the correct function of a dotted name."""
    found: Any = xp
    for part in name.split("."):
        found = getattr(found, part)
    return found


def on_numpy(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of NumPy arrays work on ours."""

    def lower(v: Any) -> Any:
        return NP(v) if isinstance(v, Array) else v

    def g(*args: Any, **kw: Any) -> Any:
        out = f(*map(lower, args), **{k: lower(v) for k, v in kw.items()})
        return xp.asarray(np.asarray(out))

    return g


def after(name: str, change: Callable[..., Any], base: Any = xp) -> Callable[..., Any]:
    """Return function `name` whose result is changed: ``change(result, *args, **kw)`` on NumPy."""

    def g(*args: Any, **kw: Any) -> Any:
        return on_numpy(change)(getattr(base, name)(*args, **kw), *args, **kw)

    return g


def memory_order(x: Any) -> Any:
    """Return the elements of an array as they lie in memory: its strides ignored."""
    a = NP(x)
    return a.ravel(order="K").reshape(a.shape) if a.size else a


def contiguous(x: Any) -> bool:
    """Return whether the elements lie side by side."""
    return bool(NP(x).flags.c_contiguous)


def zeros(*results: Any) -> Any:
    """Return zeros like the results."""
    out = [xp.zeros_like(r) for r in results]
    return out[0] if len(out) == 1 else out


def _linalg(**changed: Any) -> Mutant:
    return Mutant(linalg=Mutant(xp.linalg, **changed))


def _fft(**changed: Any) -> Mutant:
    return Mutant(fft=Mutant(xp.fft, **changed))


def _svd_zero(x: Any, **kw: Any) -> Any:
    r = xp.linalg.svd(x, **kw)
    return type(r)(*(xp.zeros_like(v) for v in r))


def _sum_blocks(x: Any, **kw: Any) -> Any:
    if x.ndim == 1 and x.shape[0] > 2048:
        return xp.sum(x[:2048], **kw)
    return xp.sum(x, **kw)


def _log1p(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    small = np.abs(x) < (1e-4 if v.dtype in (np.float64, np.complex128) else 1e-3)
    return np.where(small, x - x * x / 2, v).astype(v.dtype)


def _astype_alias(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x if x.dtype == dtype else xp.astype(x, dtype, copy=copy)


def _saturating(v: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if v.dtype.kind not in "iu":
        return v
    info = np.iinfo(v.dtype)
    exact = np.asarray(x).astype(object) + np.asarray(y).astype(object)
    return np.clip(exact, info.min, info.max).astype(v.dtype)


def _unstable(v: np.ndarray, x: np.ndarray, **kw: Any) -> np.ndarray:
    return (
        np.flip(np.argsort(x, axis=kw.get("axis", -1), kind="stable"), kw.get("axis", -1))
        if kw.get("descending")
        else v
    )


def _last_max(x: np.ndarray, axis: Any = None, keepdims: bool = False) -> np.ndarray:
    if axis is None:
        return np.argmax(x, keepdims=keepdims) if x.ndim != 1 else x.size - 1 - np.argmax(x[::-1])
    return x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis=axis, keepdims=keepdims)


def _rank6(v: np.ndarray, *args: Any) -> np.ndarray:
    return v * 0 if v.ndim > 5 else v


def _whole_bytes(x: np.ndarray, axis: Any = None, keepdims: bool = False) -> np.ndarray:
    if x.ndim == 1 and x.dtype == bool and x.size > 8:
        x = x[: x.size // 8 * 8]
    return np.any(x, axis=axis, keepdims=keepdims)


def _one_ulp(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.nextafter(v, np.float32(np.inf)) if v.dtype == np.float32 else v


def _f32(change: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a change to float32 results only."""
    return lambda v, *a, **kw: change(v, *a, **kw) if v.dtype == np.float32 else v


def _matmul_reads_rows(x: Any, y: Any) -> Any:
    if y.ndim == 2 and NP(y).flags.f_contiguous and not contiguous(y):
        y = xp.asarray(memory_order(y))
    return xp.matmul(x, y)


def _names(r: Any, **changed: Any) -> Any:
    return SimpleNamespace(**{**r._asdict(), **changed})


MUTANTS: dict[str, tuple[Any, str]] = {
    "fft is zero": (_fft(fft=lambda x, **kw: zeros(xp.fft.fft(x, **kw))), "fft"),
    "fft without norm": (
        _fft(fft=lambda x, **kw: xp.fft.fft(x, **{k: v for k, v in kw.items() if k != "norm"})),
        "fft",
    ),
    "irfft ignores odd n": (
        _fft(
            irfft=lambda x, n=None, **kw: (
                xp.fft.irfft(x, n=n, **kw)
                if n is None or n % 2 == 0 or n == 1
                else after("irfft", lambda v, *a, **k: np.roll(v, 1, k.get("axis", -1)), xp.fft)(
                    x, n=n, **kw
                )
            )
        ),
        "irfft",
    ),
    "fft in single precision": (
        _fft(fft=after("fft", lambda v, *a, **k: v.astype(np.complex64).astype(v.dtype), xp.fft)),
        "fft",
    ),
    "inv is zero": (_linalg(inv=lambda x: zeros(xp.linalg.inv(x))), "inv"),
    "solve is zero": (_linalg(solve=lambda a, b: zeros(xp.linalg.solve(a, b))), "solve"),
    "det is zero": (_linalg(det=lambda x: zeros(xp.linalg.det(x))), "det"),
    "det without its sign": (
        _linalg(det=after("det", lambda v, x: np.abs(v).astype(v.dtype), xp.linalg)),
        "det",
    ),
    "svd is zero": (_linalg(svd=_svd_zero), "svd"),
    "cholesky ignores upper": (
        _linalg(cholesky=lambda x, upper=False: xp.linalg.cholesky(x)),
        "cholesky",
    ),
    "sin off by 1e-6": (
        Mutant(sin=after("sin", lambda v, x: (v * (1 + 1e-6)).astype(v.dtype))),
        "sin",
    ),
    "sin without large arguments": (
        Mutant(sin=after("sin", lambda v, x: np.where(np.abs(x) > 1e7, 0, v).astype(v.dtype))),
        "sin",
    ),
    "exp off by a few ULP": (
        Mutant(
            exp=after("exp", lambda v, x: (v * (1 + 40 * np.finfo(v.dtype).eps)).astype(v.dtype))
        ),
        "exp",
    ),
    "log1p by two terms": (Mutant(log1p=after("log1p", _log1p)), "log1p"),
    "expm1 as exp - 1": (
        Mutant(expm1=on_numpy(lambda x: (np.exp(x) - 1).astype(x.dtype))),
        "expm1",
    ),
    "hypot overflows": (
        Mutant(
            hypot=after(
                "hypot",
                lambda v, x, y: np.where(
                    np.isinf(x) | np.isinf(y), v, np.sqrt(x * x + y * y)
                ).astype(v.dtype),
            )
        ),
        "hypot",
    ),
    "complex abs overflows": (
        Mutant(
            abs=after(
                "abs",
                lambda v, x: (
                    np.sqrt(x.real**2 + x.imag**2).astype(v.dtype) if x.dtype.kind == "c" else v
                ),
            )
        ),
        "abs",
    ),
    "sqrt of float32 one ULP off": (Mutant(sqrt=after("sqrt", _one_ulp)), "sqrt"),
    "float32 maximum drops NaN": (
        Mutant(maximum=after("maximum", _f32(lambda v, x, y: np.fmax(x, y)))),
        "maximum",
    ),
    "float32 max drops NaN": (
        Mutant(
            max=after(
                "max",
                _f32(
                    lambda v, x, **kw: (
                        np.fmax.reduce(x, axis=kw.get("axis"), keepdims=kw.get("keepdims", False))
                        if x.size
                        else v
                    )
                ),
            )
        ),
        "max",
    ),
    "minimum drops NaN": (
        Mutant(minimum=after("minimum", lambda v, x, y: np.fmin(x, y))),
        "minimum",
    ),
    "clip ignores a NaN bound": (
        Mutant(
            clip=after(
                "clip",
                lambda v, x, lo=None, hi=None, **kw: (
                    np.fmin(np.fmax(x, lo), hi) if lo is not None and hi is not None else v
                ),
            )
        ),
        "clip",
    ),
    "floor loses -0": (Mutant(floor=after("floor", lambda v, x: v + 0)), "floor"),
    "round half away": (
        Mutant(
            round=after(
                "round",
                lambda v, x: (
                    (np.sign(x) * np.floor(np.abs(x) + 0.5)).astype(v.dtype)
                    if v.dtype.kind == "f"
                    else v
                ),
            )
        ),
        "round",
    ),
    "remainder as in C": (
        Mutant(remainder=after("remainder", lambda v, x, y: np.fmod(x, y))),
        "remainder",
    ),
    "floor_divide truncates": (
        Mutant(
            floor_divide=after(
                "floor_divide",
                lambda v, x, y: np.trunc(x / y).astype(v.dtype) if v.dtype.kind == "f" else v,
            )
        ),
        "floor_divide",
    ),
    "copysign ignores -0": (
        Mutant(copysign=after("copysign", lambda v, x, y: np.where(y == 0, np.abs(x), v))),
        "copysign",
    ),
    "nextafter stops at zero": (
        Mutant(
            nextafter=after("nextafter", lambda v, x, y: np.where(x == 0, 0, v).astype(v.dtype))
        ),
        "nextafter",
    ),
    "int64 add through float64": (
        Mutant(
            add=after(
                "add",
                lambda v, x, y: (
                    (np.asarray(x, float) + np.asarray(y, float)).astype(v.dtype)
                    if v.dtype == np.int64
                    else v
                ),
            )
        ),
        "add",
    ),
    "int64 trunc through float64": (
        Mutant(
            trunc=on_numpy(
                lambda x: (
                    np.trunc(x.astype(float)).astype(x.dtype)
                    if x.dtype.kind in "iu"
                    else np.trunc(x)
                )
            )
        ),
        "trunc",
    ),
    "integer add saturates": (Mutant(add=after("add", _saturating)), "add"),
    "integer pow through float32": (
        Mutant(
            pow=after(
                "pow",
                lambda v, x, y: (
                    (np.asarray(x, np.float32) ** np.asarray(y, np.float32)).astype(v.dtype)
                    if v.dtype == np.int64
                    else v
                ),
            )
        ),
        "pow",
    ),
    "equal is wrong in the tail": (
        Mutant(
            equal=after(
                "equal",
                lambda v, x, y: (
                    v ^ (np.arange(v.size).reshape(v.shape) >= 512) if v.size == 513 else v
                ),
            )
        ),
        "equal",
    ),
    "abs is zero above rank 5": (Mutant(abs=after("abs", _rank6)), "abs"),
    "sum wrong beyond 2048": (Mutant(sum=_sum_blocks), "sum"),
    "sum loses the last odd element": (
        Mutant(
            sum=lambda x, **kw: (
                xp.sum(x[: x.shape[0] - 1], **kw)
                if x.ndim == 1 and x.shape[0] in (65, 129)
                else xp.sum(x, **kw)
            )
        ),
        "sum",
    ),
    "mean of non-contiguous input reads memory order": (
        Mutant(mean=lambda x, **kw: xp.mean(xp.asarray(memory_order(x)), **kw)),
        "mean",
    ),
    "prod keeps int8": (
        Mutant(prod=lambda x, **kw: xp.astype(xp.prod(x, **kw), x.dtype)),
        "prod",
    ),
    "std ignores correction": (
        Mutant(std=lambda x, correction=0.0, **kw: xp.std(x, **kw)),
        "std",
    ),
    "var in one pass": (
        Mutant(
            var=on_numpy(
                lambda x, axis=None, correction=0.0, keepdims=False: (
                    np.var(x, axis=axis, ddof=correction, keepdims=keepdims)
                    if correction or axis is not None
                    else (np.mean(x * x) - np.mean(x) ** 2).astype(x.dtype)
                )
            )
        ),
        "statistics",
    ),
    "sum of float32 is sequential": (
        Mutant(
            sum=on_numpy(
                lambda x, axis=None, dtype=None, keepdims=False: (
                    np.cumsum(x, dtype=x.dtype)[-1]
                    if x.ndim == 1 and x.size > 1e5 and x.dtype == np.float32
                    else NP(xp.sum(xp.asarray(x), axis=axis, dtype=dtype, keepdims=keepdims))
                )
            )
        ),
        "statistics",
    ),
    "any ignores the last bits": (Mutant(any=on_numpy(_whole_bytes)), "any"),
    "all is true of NaN only": (
        Mutant(
            all=after(
                "all",
                lambda v, x, **kw: np.all(
                    (x != 0) & (x == x), axis=kw.get("axis"), keepdims=kw.get("keepdims", False)
                ),
            )
        ),
        "all",
    ),
    "count_nonzero of real parts": (
        Mutant(
            count_nonzero=on_numpy(
                lambda x, axis=None, keepdims=False: np.count_nonzero(
                    x.real, axis=axis, keepdims=keepdims
                )
            )
        ),
        "count_nonzero",
    ),
    "argmax finds the last": (Mutant(argmax=on_numpy(_last_max)), "argmax"),
    "cumulative_sum without initial": (
        Mutant(cumulative_sum=lambda x, include_initial=False, **kw: xp.cumulative_sum(x, **kw)),
        "cumulative_sum",
    ),
    "diff ignores n": (Mutant(diff=lambda x, n=1, **kw: xp.diff(x, n=min(n, 1), **kw)), "diff"),
    "argsort descending unstable": (Mutant(argsort=after("argsort", _unstable)), "argsort"),
    "sort ignores axis 0": (Mutant(sort=lambda x, axis=-1, **kw: xp.sort(x, **kw)), "sort"),
    "sort in place": (
        Mutant(
            sort=lambda x, **kw: (
                x.__setitem__(..., xp.sort(x)) if x.ndim == 1 else None,
                xp.sort(x, **kw),
            )[1]
        ),
        "sort",
    ),
    "searchsorted ignores side": (
        Mutant(searchsorted=lambda x, v, side="left", **kw: xp.searchsorted(x, v, **kw)),
        "searchsorted",
    ),
    "unique merges NaNs": (Mutant(unique_values=on_numpy(np.unique)), "unique_values"),
    "unique_inverse is flat": (
        Mutant(
            unique_inverse=lambda x: _names(
                xp.unique_inverse(x),
                inverse_indices=xp.reshape(xp.unique_inverse(x).inverse_indices, (-1,)),
            )
        ),
        "unique_inverse",
    ),
    "isin ignores invert": (Mutant(isin=lambda x, y, invert=False: xp.isin(x, y)), "isin"),
    "nonzero in column order": (
        Mutant(
            nonzero=lambda x: tuple(
                reversed(xp.nonzero(xp.permute_dims(x, tuple(reversed(range(x.ndim))))))
            )
        ),
        "nonzero",
    ),
    "where swapped if scalar": (
        Mutant(
            where=lambda c, a, b: (
                xp.where(c, b, a) if not isinstance(b, Array) else xp.where(c, a, b)
            )
        ),
        "where",
    ),
    "take clips negatives": (
        Mutant(take=lambda x, i, **kw: xp.take(x, xp.where(i < 0, xp.zeros_like(i), i), **kw)),
        "take",
    ),
    "concat keeps the first dtype": (
        Mutant(concat=lambda xs, **kw: xp.astype(xp.concat(xs, **kw), xs[0].dtype)),
        "concat",
    ),
    "repeat reads memory order": (
        Mutant(
            repeat=lambda x, n, axis=None: xp.repeat(
                xp.asarray(memory_order(x)) if axis is None else x, n, axis=axis
            )
        ),
        "repeat",
    ),
    "roll ignores negative shifts": (
        Mutant(roll=lambda x, s, **kw: xp.roll(x, s if isinstance(s, tuple) or s > 0 else 0, **kw)),
        "roll",
    ),
    "flip ignores all but one axis": (
        Mutant(
            flip=lambda x, axis=None: xp.flip(
                x, axis=axis if not isinstance(axis, tuple) else axis[0]
            )
        ),
        "flip",
    ),
    "astype copy is an alias": (Mutant(astype=_astype_alias), "astype"),
    "astype rounds": (
        Mutant(
            astype=lambda x, dt, **kw: xp.astype(
                xp.round(x) if xp.isdtype(x.dtype, "real floating") else x, dt, **kw
            )
        ),
        "astype",
    ),
    "asarray copy is an alias": (
        Mutant(
            asarray=lambda x, copy=None, **kw: (
                x if copy and isinstance(x, Array) and not kw else xp.asarray(x, copy=copy, **kw)
            )
        ),
        "asarray",
    ),
    "linspace ignores endpoint": (
        Mutant(linspace=lambda *a, endpoint=True, **kw: xp.linspace(*a, **kw)),
        "linspace",
    ),
    "arange through float64": (
        Mutant(
            arange=lambda *a, dtype=None, **kw: (
                xp.astype(xp.arange(*map(float, a), **kw), dtype) if dtype else xp.arange(*a, **kw)
            )
        ),
        "arange",
    ),
    "tril ignores k": (Mutant(tril=lambda x, k=0: xp.tril(x)), "tril"),
    "matmul misreads transposed input": (Mutant(matmul=_matmul_reads_rows), "matmul"),
    "vecdot does not conjugate": (
        Mutant(vecdot=lambda x, y, **kw: xp.vecdot(xp.conj(x), y, **kw)),
        "vecdot",
    ),
    "result_type of ints is int64": (
        Mutant(
            result_type=lambda *a: (
                xp.int64 if xp.result_type(*a) == xp.int32 else xp.result_type(*a)
            )
        ),
        "result_type",
    ),
    "finfo of float32 is that of float64": (
        Mutant(finfo=lambda t: xp.finfo(xp.float64) if t == xp.float32 else xp.finfo(t)),
        "finfo",
    ),
}


def _no_copy_in_reshape(x: Any, shape: Any, *, copy: bool | None = None) -> Any:
    return xp.reshape(x, shape, copy=None if copy else copy)


def _first_only(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    whole = axis[0] if isinstance(axis, tuple) else axis
    return xp.max(x, axis=whole, keepdims=keepdims)


def _drops_subspace(name: str) -> Callable[..., Any]:
    """Return a decomposition whose last vector is zero: wrong only as a whole."""

    def g(x: Any, **kw: Any) -> Any:
        r = getattr(xp.linalg, name)(x, **kw)
        first = NP(r[0]).copy()
        if first.ndim and first.shape[-1] > 1:
            first[..., -1] = 0
        return type(r)(xp.asarray(first), *r[1:])

    return g


MUTANTS |= {
    "astype to bool looks at the real part": (
        Mutant(
            astype=lambda x, dt, **kw: xp.astype(
                xp.real(x) if dt == xp.bool and xp.isdtype(x.dtype, "complex floating") else x,
                dt,
                **kw,
            )
        ),
        "astype",
    ),
    "reshape never copies": (Mutant(reshape=_no_copy_in_reshape), "reshape"),
    "max of several axes takes the first": (Mutant(max=_first_only), "max"),
    "qr is not orthogonal": (_linalg(qr=_drops_subspace("qr")), "qr"),
    "svd loses its last vector": (_linalg(svd=_drops_subspace("svd")), "svd"),
    "eigh in descending order of vectors only": (
        _linalg(
            eigh=lambda x: type(xp.linalg.eigh(x))(
                xp.linalg.eigh(x)[0], xp.flip(xp.linalg.eigh(x)[1], axis=-1)
            )
        ),
        "eigh",
    ),
    "pinv ignores rtol": (_linalg(pinv=lambda x, rtol=None: xp.linalg.pinv(x)), "pinv"),
    "matrix_rank ignores rtol": (
        _linalg(matrix_rank=lambda x, rtol=None: xp.linalg.matrix_rank(x)),
        "matrix_rank",
    ),
    "matrix_norm exchanges 1 and inf": (
        _linalg(
            matrix_norm=lambda x, ord="fro", **kw: xp.linalg.matrix_norm(
                x, ord={1: np.inf, np.inf: 1}.get(ord, ord), **kw
            )
        ),
        "matrix_norm",
    ),
    "trace keeps int8": (
        _linalg(trace=lambda x, dtype=None, **kw: xp.linalg.trace(x, dtype=dtype or x.dtype, **kw)),
        "trace",
    ),
    "solve confuses vectors and matrices": (
        _linalg(
            solve=lambda a, b: (
                xp.linalg.solve(a, xp.flip(b)) if b.ndim == 1 else xp.linalg.solve(a, b)
            )
        ),
        "solve",
    ),
    "outer conjugates": (_linalg(outer=lambda x, y: xp.linalg.outer(x, xp.conj(y))), "outer"),
    "fftshift is ifftshift": (_fft(fftshift=xp.fft.ifftshift), "fftshift"),
    "rfftfreq ignores d": (
        _fft(rfftfreq=lambda n, d=1.0, **kw: xp.fft.rfftfreq(n, **kw)),
        "rfftfreq",
    ),
    "rfftn normalises by one axis": (
        _fft(
            rfftn=lambda x, norm="backward", **kw: xp.fft.rfftn(
                x, norm="backward" if norm == "forward" else norm, **kw
            )
        ),
        "rfftn",
    ),
    "stack ignores axis": (Mutant(stack=lambda xs, axis=0: xp.stack(xs)), "stack"),
    "take_along_axis counts from the front": (
        Mutant(
            take_along_axis=lambda x, i, axis=-1: xp.take_along_axis(
                x, xp.where(i < 0, xp.zeros_like(i), i), axis=axis
            )
        ),
        "take_along_axis",
    ),
    "meshgrid ignores indexing": (
        Mutant(meshgrid=lambda *xs, indexing="xy": xp.meshgrid(*xs)),
        "meshgrid",
    ),
    "broadcast_arrays promotes": (
        Mutant(
            broadcast_arrays=lambda *xs: tuple(
                xp.astype(x, xp.float64) for x in xp.broadcast_arrays(*xs)
            )
        ),
        "broadcast_arrays",
    ),
    "isdtype takes no tuples": (
        Mutant(isdtype=lambda t, kind: not isinstance(kind, tuple) and xp.isdtype(t, kind)),
        "isdtype",
    ),
    "can_cast is always true": (Mutant(can_cast=lambda a, b: True), "can_cast"),
    "iinfo of unsigned is that of signed": (
        Mutant(iinfo=lambda t: xp.iinfo(xp.int64 if t == xp.uint64 else t)),
        "iinfo",
    ),
    "squeeze is silent": (
        Mutant(squeeze=lambda x, axis: xp.squeeze(x, axis) if 1 in x.shape else x),
        "squeeze",
    ),
    "complex sqrt on the wrong side of the cut": (
        Mutant(
            sqrt=after(
                "sqrt",
                lambda v, x: (
                    np.where((x.imag == 0) & (x.real < 0), np.conj(v), v)
                    if x.dtype.kind == "c"
                    else v
                ),
            )
        ),
        "sqrt",
    ),
    "sin off by 20 %": (Mutant(sin=after("sin", lambda v, x: (v * 1.2).astype(v.dtype))), "sin"),
    "results of rank 0 are Python numbers": (
        Mutant(sum=lambda x, **kw: xp.sum(x, **kw) if x.ndim > 1 else float(xp.sum(x, **kw))),
        "sum",
    ),
}


# ---------------------------------------------------------------- operators


@contextmanager
def patched(name: str, value: Any) -> Iterator[None]:
    """Change one method of the array class."""
    old = getattr(Array, name)
    setattr(Array, name, value)
    try:
        yield
    finally:
        setattr(Array, name, old)


OLD = {n: getattr(Array, n) for n in ("__getitem__", "__setitem__", "__iadd__", "__float__")}


def _copies_backwards(self: Any, key: Any) -> Any:
    part = OLD["__getitem__"](self, key)
    backwards = isinstance(key, tuple) and any(isinstance(s, slice) and s.step == -1 for s in key)
    return xp.asarray(part, copy=True) if backwards else part


def _misses_the_end(self: Any, key: Any, value: Any) -> None:
    if key == slice(None) and self.shape == (513,):
        OLD["__setitem__"](self, slice(0, 512), value[:512])
    else:
        OLD["__setitem__"](self, key, value)


METHODS: dict[str, tuple[str, Any, str]] = {
    "+= rebinds": ("__iadd__", lambda self, other: self + other, "add"),
    "*= writes nothing": ("__imul__", lambda self, other: self, "multiply"),
    "-= on a view writes nothing": (
        "__isub__",
        lambda self, other: self if not contiguous(self) else xp.asarray(self - other),
        "subtract",
    ),
    "reflected - is not reflected": ("__rsub__", lambda self, other: self - other, "subtract"),
    "< is <=": ("__lt__", lambda self, other: self <= other, "less"),
    "== of NaN": ("__eq__", lambda self, other: xp.logical_not(self < other), "equal"),
    "@ transposes": ("__matmul__", lambda x, y: xp.matmul(x, y) * 2, "matmul"),
    "a slice backwards copies": ("__getitem__", _copies_backwards, "reversed"),
    "x[:] = y misses the end": ("__setitem__", _misses_the_end, "__setitem__"),
    "float() in single precision": (
        "__float__",
        lambda self: float(np.float32(OLD["__float__"](self))),
        "__float__",
    ),
}


# ---------------------------------------------------------------- one fault in every function


def _like(result: Any, change: Callable[[Any], Any]) -> Any:
    """Change every array of a result."""
    if isinstance(result, Array):
        return change(result)
    if isinstance(result, tuple) and any(isinstance(r, Array) for r in result):
        parts = [_like(r, change) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result


def _zero(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kw: _like(f(*args, **kw), xp.zeros_like)


def _off(f: Callable[..., Any]) -> Callable[..., Any]:
    def change(r: Any) -> Any:
        return r * 1.2 if r.dtype not in (xp.bool,) and not xp.isdtype(r.dtype, "integral") else r

    return lambda *args, **kw: _like(f(*args, **kw), change)


def _spoiled(r: Any) -> Any:
    """Return a result whose last element is wrong."""
    a = NP(r).copy()
    if a.size:
        a.reshape(-1)[-1] = not a.reshape(-1)[-1] if a.dtype == bool else a.reshape(-1)[-1] * 2 + 1
    return xp.asarray(a)


def _when(wrong: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Spoil results where an array is of some kind."""

    def fault(f: Callable[..., Any]) -> Callable[..., Any]:
        def g(*args: Any, **kw: Any) -> Any:
            result = f(*args, **kw)
            parts = [p for a in args for p in (a if isinstance(a, list | tuple) else [a])]
            hit = any(isinstance(p, Array) and wrong(p) for p in parts)
            return _like(result, _spoiled) if hit else result

        return g

    return fault


_ELEMENTWISE = (*UNARY, *BINARY, "clip", "where")
_REDUCTIONS = tuple(
    "sum prod mean std var max min argmax argmin count_nonzero all any cumulative_sum "
    "cumulative_prod".split()
)
_ALL = tuple(name for names in SIGNATURES.values() for name in names.split())

#: Functions whose right results are zeros, or of which no element is specified.
_NO_VALUES = ("zeros", "zeros_like", "empty", "empty_like", "broadcast_shapes", "result_type")
_NO_ARRAYS = ("can_cast", "finfo", "iinfo", "isdtype")

#: The fault, and the functions in which it must be seen.
EVERY: dict[str, tuple[Callable[[Callable[..., Any]], Callable[..., Any]], tuple[str, ...]]] = {
    "all zero": (_zero, tuple(n for n in _ALL if n not in _NO_VALUES + _NO_ARRAYS)),
    "off by 20 %": (
        _off,
        tuple(n for n, r in (UNARY | BINARY).items() if "float64" in r.dtypes and r.out != "bool")
        + tuple(n for n in _ALL if n.startswith(("linalg.", "fft.")) and not n.endswith("rank"))
        + ("mean", "std", "var", "sum", "prod", "linspace", "clip"),
    ),
    "wrong if not contiguous": (
        _when(lambda x: not contiguous(x)),
        tuple(
            n
            for n in _ALL
            if n not in _NO_VALUES + _NO_ARRAYS
            and n not in ("full_like", "ones_like", "arange", "asarray", "eye", "full", "linspace")
            and n not in ("ones", "fft.fftfreq", "fft.rfftfreq")
            and not n.startswith("logical")  # only bool, whose packed strides nobody sees
        ),
    ),
    "wrong beyond 2048 elements": (
        _when(lambda x: x.size > 2048),
        (*_ELEMENTWISE, *_REDUCTIONS, "sort", "argsort", "searchsorted"),
    ),
    "wrong above rank 5": (_when(lambda x: x.ndim > 5), (*_ELEMENTWISE, *_REDUCTIONS)),
    "wrong for rank 0": (_when(lambda x: x.ndim == 0), (*_ELEMENTWISE, *_REDUCTIONS[:5])),
    "wrong in sizes of 8 n + 1": (
        _when(lambda x: x.ndim == 1 and x.size % 8 == 1 and x.size > 8),
        (*_ELEMENTWISE, *_REDUCTIONS, "sort", "argsort"),
    ),
}


def every() -> Iterator[tuple[str, str, str]]:
    """Yield fault, function, and the name by which to select its checks."""
    for fault, (_, names) in EVERY.items():
        for name in dict.fromkeys(names):
            yield fault, name, name.rpartition(".")[2]


def spoiled(fault: str, name: str) -> Mutant:
    """Return the namespace with one fault of `EVERY` in one function."""
    return mutant(name, EVERY[fault][0](original(name)))
