"""The kit must find planted faults: single-fault wrappers of array_api_strict."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

from ascend_array_api.testing import conformance

Array = type(strict.asarray(1))
NP = np.asarray


class Mutant:
    """A namespace with some functions replaced."""

    def __init__(self, base: Any = strict, **changed: Any) -> None:
        self.__dict__.update(changed)
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


def on_numpy(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of NumPy arrays work on strict ones."""

    @functools.wraps(f)
    def g(*args: Any, **kw: Any) -> Any:
        def lower(v: Any) -> Any:
            return NP(v) if isinstance(v, Array) else v

        out = f(*map(lower, args), **{k: lower(v) for k, v in kw.items()})
        return strict.asarray(np.asarray(out))

    return g


def after(name: str, change: Callable[..., Any], base: Any = strict) -> Callable[..., Any]:
    """Return function `name` whose result is changed: ``change(result, *args, **kw)`` on NumPy."""

    def g(*args: Any, **kw: Any) -> Any:
        return on_numpy(change)(getattr(base, name)(*args, **kw), *args, **kw)

    return g


def raw(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let `f` see the NumPy array inside, with its strides."""
    return lambda x, *args, **kw: strict.asarray(np.asarray(f(x._array, *args, **kw)))


def zeros(*results: Any) -> Any:
    out = [strict.zeros_like(r) for r in results]
    return out[0] if len(out) == 1 else out


def _linalg(**changed: Any) -> Mutant:
    return Mutant(linalg=Mutant(strict.linalg, **changed))


def _fft(**changed: Any) -> Mutant:
    return Mutant(fft=Mutant(strict.fft, **changed))


def _svd_zero(x: Any, **kw: Any) -> Any:
    r = strict.linalg.svd(x, **kw)
    return type(r)(*(strict.zeros_like(v) for v in r))


def _sum_blocks(x: Any, **kw: Any) -> Any:
    if x.ndim == 1 and x.shape[0] > 2048:
        return strict.sum(x[:2048], **kw)
    return strict.sum(x, **kw)


def _log1p(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    small = np.abs(x) < (1e-4 if v.dtype in (np.float64, np.complex128) else 1e-3)
    return np.where(small, x - x * x / 2, v).astype(v.dtype)


def _astype_alias(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return x if x.dtype == dtype else strict.astype(x, dtype, copy=copy)


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
    if y.ndim == 2 and y._array.flags.f_contiguous and not y._array.flags.c_contiguous:
        y = strict.asarray(y._array.ravel(order="K").reshape(y.shape))
    return strict.matmul(x, y)


def _names(r: Any, **changed: Any) -> Any:
    return SimpleNamespace(**{**r._asdict(), **changed})


MUTANTS: dict[str, tuple[Any, str]] = {
    "fft is zero": (_fft(fft=lambda x, **kw: zeros(strict.fft.fft(x, **kw))), "fft"),
    "fft without norm": (
        _fft(fft=lambda x, **kw: strict.fft.fft(x, **{k: v for k, v in kw.items() if k != "norm"})),
        "fft",
    ),
    "irfft ignores odd n": (
        _fft(
            irfft=lambda x, n=None, **kw: (
                strict.fft.irfft(x, n=n, **kw)
                if n is None or n % 2 == 0 or n == 1
                else after(
                    "irfft", lambda v, *a, **k: np.roll(v, 1, k.get("axis", -1)), strict.fft
                )(x, n=n, **kw)
            )
        ),
        "irfft",
    ),
    "fft in single precision": (
        _fft(
            fft=after("fft", lambda v, *a, **k: v.astype(np.complex64).astype(v.dtype), strict.fft)
        ),
        "fft",
    ),
    "inv is zero": (_linalg(inv=lambda x: zeros(strict.linalg.inv(x))), "inv"),
    "solve is zero": (_linalg(solve=lambda a, b: zeros(strict.linalg.solve(a, b))), "solve"),
    "det is zero": (_linalg(det=lambda x: zeros(strict.linalg.det(x))), "det"),
    "det without its sign": (
        _linalg(det=after("det", lambda v, x: np.abs(v).astype(v.dtype), strict.linalg)),
        "det",
    ),
    "svd is zero": (_linalg(svd=_svd_zero), "svd"),
    "cholesky ignores upper": (
        _linalg(cholesky=lambda x, upper=False: strict.linalg.cholesky(x)),
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
                strict.sum(x[: x.shape[0] - 1], **kw)
                if x.ndim == 1 and x.shape[0] in (65, 129)
                else strict.sum(x, **kw)
            )
        ),
        "sum",
    ),
    "mean of non-contiguous input reads memory order": (
        Mutant(
            mean=raw(
                lambda a, axis=None, keepdims=False: np.mean(
                    a.ravel(order="K").reshape(a.shape), axis=axis, keepdims=keepdims
                )
            )
        ),
        "mean",
    ),
    "prod keeps int8": (
        Mutant(prod=lambda x, **kw: strict.astype(strict.prod(x, **kw), x.dtype)),
        "prod",
    ),
    "std ignores correction": (
        Mutant(std=lambda x, correction=0.0, **kw: strict.std(x, **kw)),
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
        "extras",
    ),
    "sum of float32 is sequential": (
        Mutant(
            sum=on_numpy(
                lambda x, axis=None, dtype=None, keepdims=False: (
                    np.cumsum(x, dtype=x.dtype)[-1]
                    if x.ndim == 1 and x.size > 1e5 and x.dtype == np.float32
                    else NP(
                        strict.sum(strict.asarray(x), axis=axis, dtype=dtype, keepdims=keepdims)
                    )
                )
            )
        ),
        "extras",
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
        Mutant(
            cumulative_sum=lambda x, include_initial=False, **kw: strict.cumulative_sum(x, **kw)
        ),
        "cumulative_sum",
    ),
    "diff ignores n": (Mutant(diff=lambda x, n=1, **kw: strict.diff(x, n=min(n, 1), **kw)), "diff"),
    "argsort descending unstable": (Mutant(argsort=after("argsort", _unstable)), "argsort"),
    "sort ignores axis 0": (Mutant(sort=lambda x, axis=-1, **kw: strict.sort(x, **kw)), "sort"),
    "sort in place": (
        Mutant(
            sort=lambda x, **kw: (x._array.sort() if x.ndim == 1 else None, strict.sort(x, **kw))[1]
        ),
        "sort",
    ),
    "searchsorted ignores side": (
        Mutant(searchsorted=lambda x, v, side="left", **kw: strict.searchsorted(x, v, **kw)),
        "searchsorted",
    ),
    "unique merges NaNs": (Mutant(unique_values=on_numpy(np.unique)), "unique_values"),
    "unique_inverse is flat": (
        Mutant(
            unique_inverse=lambda x: _names(
                strict.unique_inverse(x),
                inverse_indices=strict.reshape(strict.unique_inverse(x).inverse_indices, (-1,)),
            )
        ),
        "unique_inverse",
    ),
    "isin ignores invert": (Mutant(isin=lambda x, y, invert=False: strict.isin(x, y)), "isin"),
    "nonzero in column order": (
        Mutant(
            nonzero=lambda x: tuple(
                reversed(strict.nonzero(strict.permute_dims(x, tuple(reversed(range(x.ndim))))))
            )
        ),
        "nonzero",
    ),
    "where swapped if scalar": (
        Mutant(
            where=lambda c, a, b: (
                strict.where(c, b, a) if not isinstance(b, Array) else strict.where(c, a, b)
            )
        ),
        "where",
    ),
    "take clips negatives": (
        Mutant(
            take=lambda x, i, **kw: strict.take(
                x, strict.where(i < 0, strict.zeros_like(i), i), **kw
            )
        ),
        "take",
    ),
    "concat keeps the first dtype": (
        Mutant(concat=lambda xs, **kw: strict.astype(strict.concat(xs, **kw), xs[0].dtype)),
        "concat",
    ),
    "repeat reads memory order": (
        Mutant(
            repeat=raw(
                lambda a, n, axis=None: np.repeat(
                    a.ravel(order="K") if axis is None else a, NP(n), axis=axis
                )
            )
        ),
        "repeat",
    ),
    "roll ignores negative shifts": (
        Mutant(
            roll=lambda x, s, **kw: strict.roll(x, s if isinstance(s, tuple) or s > 0 else 0, **kw)
        ),
        "roll",
    ),
    "flip ignores all but one axis": (
        Mutant(
            flip=lambda x, axis=None: strict.flip(
                x, axis=axis if not isinstance(axis, tuple) else axis[0]
            )
        ),
        "flip",
    ),
    "astype copy is an alias": (Mutant(astype=_astype_alias), "astype"),
    "astype rounds": (
        Mutant(
            astype=lambda x, dt, **kw: strict.astype(
                strict.round(x) if strict.isdtype(x.dtype, "real floating") else x, dt, **kw
            )
        ),
        "astype",
    ),
    "asarray copy is an alias": (
        Mutant(
            asarray=lambda x, copy=None, **kw: (
                x
                if copy and isinstance(x, Array) and not kw
                else strict.asarray(x, copy=copy, **kw)
            )
        ),
        "asarray",
    ),
    "linspace ignores endpoint": (
        Mutant(linspace=lambda *a, endpoint=True, **kw: strict.linspace(*a, **kw)),
        "linspace",
    ),
    "arange through float64": (
        Mutant(
            arange=lambda *a, dtype=None, **kw: (
                strict.astype(strict.arange(*map(float, a), **kw), dtype)
                if dtype
                else strict.arange(*a, **kw)
            )
        ),
        "arange",
    ),
    "tril ignores k": (Mutant(tril=lambda x, k=0: strict.tril(x)), "eye"),
    "matmul misreads transposed input": (Mutant(matmul=_matmul_reads_rows), "matmul"),
    "vecdot does not conjugate": (
        Mutant(vecdot=lambda x, y, **kw: strict.vecdot(strict.conj(x), y, **kw)),
        "tensordot",
    ),
    "result_type of ints is int64": (
        Mutant(
            result_type=lambda *a: (
                strict.int64 if strict.result_type(*a) == strict.int32 else strict.result_type(*a)
            )
        ),
        "result_type",
    ),
    "finfo of float32 is that of float64": (
        Mutant(
            finfo=lambda t: strict.finfo(strict.float64) if t == strict.float32 else strict.finfo(t)
        ),
        "finfo",
    ),
}


@contextmanager
def patched(name: str, value: Any) -> Iterator[None]:
    """Change one method of the strict array class."""
    old = getattr(Array, name)
    if value is None:
        delattr(Array, name)
    else:
        setattr(Array, name, value)
    try:
        yield
    finally:
        setattr(Array, name, old)


OLD = {
    n: getattr(Array, n)
    for n in ("__add__", "__getitem__", "__setitem__", "__rsub__", "__lt__", "__imul__")
}

METHODS: dict[str, tuple[str, Any, str]] = {
    "+= rebinds": ("__iadd__", None, "add"),
    "*= writes nothing": ("__imul__", lambda self, other: self, "multiply"),
    "reflected - is not reflected": ("__rsub__", lambda self, other: self - other, "subtract"),
    "< is <=": ("__lt__", lambda self, other: self <= other, "less"),
    "a getitem with a negative step copies": (
        "__getitem__",
        lambda self, key: (
            strict.asarray(OLD["__getitem__"](self, key), copy=True)
            if isinstance(key, tuple) and any(isinstance(s, slice) and s.step == -1 for s in key)
            else OLD["__getitem__"](self, key)
        ),
        "extras",
    ),
    "setitem ignores the last element of long rows": (
        "__setitem__",
        lambda self, key, value: (
            OLD["__setitem__"](self, slice(0, 512), value[:512])
            if key == slice(None) and self.shape == (513,)
            else OLD["__setitem__"](self, key, value)
        ),
        "indexing",
    ),
}


def found(xp: Any, select: str) -> list[str]:
    """Return the ids of failed checks that pass on the correct namespace."""
    out = []
    for check in conformance.checks(select):
        if conformance.run_check(xp, check).outcome == "failed":
            out.append(check)
            if conformance.run_check(strict, check).outcome == "passed":
                return [check.id]
    return []


@pytest.mark.parametrize("name", [n for n in MUTANTS if n != "isin ignores invert"])
def test_mutant_is_caught(name: str) -> None:
    xp, select = MUTANTS[name]
    assert found(xp, select), f"no check failed because: {name}"


@pytest.mark.parametrize("name", METHODS)
def test_mutant_method_is_caught(name: str) -> None:
    method, value, select = METHODS[name]
    for check in conformance.checks(select):
        with patched(method, value):
            failed = conformance.run_check(strict, check).outcome == "failed"
        if failed and conformance.run_check(strict, check).outcome == "passed":
            return
    pytest.fail(f"no check failed because: {name}")


def test_known_fault_of_strict_is_found() -> None:
    """array_api_strict 2.6.1 ignores `invert`; a version without the fault passes."""
    results = conformance.run(strict, "set/isin/int64")
    one = strict.asarray([1])
    ok = not bool(strict.isin(one, one, invert=True)[0])
    assert results[0].outcome == ("passed" if ok else "failed")


#: Checks that array_api_strict fails, each for a reason found by hand in the standard's text.
KNOWN = {
    "elementwise/log1p": "NumPy's complex log1p loses all digits near |1 + z| = 1",
    "elementwise/pow": "NumPy takes sqrt for a power of 0.5: -0 and -inf come out wrong",
    "elementwise/expm1": "NumPy's complex expm1 of infinities",
    "elementwise/tanh": "NumPy gives the sign of sin(2b) to the zero imaginary part",
    "elementwise/tan": "as tanh",
    "set/isin": "invert is ignored; floats are refused",
    "manipulation/reshape": "copy=False raises AttributeError",
    "indexing/__getitem__": "a stop of -n-1 is refused",
    "dtypes/astype": "complex to bool is refused",
    "extras/isin": "floats are refused",
}


@pytest.mark.parametrize(
    "chapter", ["sorting", "manipulation", "creation", "linalg", "fft", "dtypes", "utility"]
)
def test_no_false_findings_on_strict(chapter: str) -> None:
    failed = [r for r in conformance.run(strict, f"{chapter}/*") if r.outcome == "failed"]
    assert [r.check.id for r in failed if r.check.id.rsplit("/", 1)[0] not in KNOWN] == []
