"""The parts every chapter uses: limits, the kit handed to a check, the registry and the runner."""

from __future__ import annotations

import fnmatch
import math
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGRAL = SIGNED + UNSIGNED
REAL_FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATING = REAL_FLOATING + COMPLEX
REAL = INTEGRAL + REAL_FLOATING
NUMERIC = REAL + COMPLEX
ALL = BOOL + NUMERIC

#: Sizes around the borders of bytes, words, vectors, tiles and reduction blocks.
SIZES = (0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 129, 511, 512, 513, 1023, 1025, 4097)


class Failure(AssertionError):
    """The namespace under test does something the standard does not allow."""


class Skip(Exception):
    """The check does not apply to this namespace (a dtype or an extension is absent)."""


@dataclass(frozen=True)
class Limits:
    """How much rounding is allowed, always in units in the last place (ULP).

    The standard fixes correct rounding for ``+ - * / sqrt reciprocal`` only; for everything
    else it says "approximation", so these are choices and can be tightened.

    Parameters
    ----------
    real : float
        Largest error of a real-valued elementwise function.
    complex : float
        Largest norm-wise error of a complex-valued elementwise function.
    pairwise : bool
        Whether sums must be as accurate as pairwise summation, ``log2(n)`` instead of ``sqrt(n)``.
    linalg : float
        Factor of ``n * eps`` in backward errors.
    fft : float
        Factor of ``log2(n) * eps`` in norm-wise errors of transforms.
    """

    real: float = 4.0
    complex: float = 16.0
    pairwise: bool = False
    linalg: float = 16.0
    fft: float = 4.0

    def sum(self, n: int) -> float:
        """Return the allowed error of a sum of `n` terms, in ULP of the sum of magnitudes."""
        return 2.0 + (math.log2(n + 1) if self.pairwise else math.sqrt(n))


@dataclass(frozen=True)
class Check:
    """One entry of the kit; `body` raises `Failure` or any other exception if it fails."""

    chapter: str
    function: str
    name: str
    group: str
    body: Callable[[Kit], None] = field(repr=False)

    @property
    def id(self) -> str:
        """Chapter, function and aspect, as ``--select`` patterns see them."""
        return f"{self.chapter}/{self.function}/{self.name}"


@dataclass(frozen=True)
class Result:
    """What one check found: outcome is ``passed``, ``failed`` or ``skipped``."""

    check: Check
    outcome: str
    message: str
    seconds: float


class Kit:
    """A namespace under test, and the means to feed it and to read it back.

    Parameters
    ----------
    xp : module
        Any array API namespace.
    limits : Limits, optional
        Rounding allowed.
    """

    def __init__(self, xp: Any, limits: Limits | None = None) -> None:
        self.xp = xp
        self.limits = limits if limits is not None else Limits()
        self.rng = np.random.default_rng(0)
        self._names = {n for n in ALL if hasattr(xp, n)}

    # ---- names
    def fn(self, name: str) -> Any:
        """Return a function of the namespace by dotted name; an absent extension is a `Skip`."""
        obj = self.xp
        for part in name.split("."):
            if part in ("linalg", "fft") and not hasattr(obj, part):
                raise Skip(f"no extension {part}")
            if not hasattr(obj, part):
                raise Failure(f"xp.{name} is missing")
            obj = getattr(obj, part)
        return obj

    def dtype(self, name: str) -> Any:
        """Return the dtype object called `name`."""
        if name not in self._names:
            raise Skip(f"no dtype {name}")
        return getattr(self.xp, name)

    def default(self, kind: str) -> str:
        """Return the name of the default dtype: ``real floating``, ``integral``, ``indexing``..."""
        try:
            dt = self.xp.__array_namespace_info__().default_dtypes()[kind]
        except AttributeError:
            return {"real floating": "float64", "complex floating": "complex128"}.get(kind, "int64")
        return next(n for n in ALL if n in self._names and getattr(self.xp, n) == dt)

    # ---- NumPy in and out
    def to(self, a: Any, layout: str = "contiguous") -> Any:
        """Return an array of the namespace equal to `a`, in the memory layout named."""
        a = np.asarray(a)
        return LAYOUTS[layout](self, a)

    def plain(self, a: NDArray) -> Any:
        """Return a contiguous array of the namespace equal to `a`."""
        a = np.array(a, order="C", copy=True)
        dt = self.dtype(a.dtype.name)
        try:
            return self.xp.asarray(a, dtype=dt)
        except (TypeError, ValueError, BufferError, NotImplementedError):
            pass
        if a.size == 0:
            return self.xp.zeros(a.shape, dtype=dt)
        return self.xp.reshape(self.xp.asarray(a.reshape(-1).tolist(), dtype=dt), a.shape)

    def back(self, x: Any) -> NDArray:
        """Return the elements of an array of the namespace as a NumPy array."""
        if type(x) in (bool, int, float, complex):
            raise Failure(f"a Python {type(x).__name__} came back, not an array")
        for read in (np.asarray, np.from_dlpack):
            try:
                a = read(x)
            except (TypeError, ValueError, BufferError, RuntimeError, AttributeError):
                continue
            if a.dtype != object:
                return np.array(a, copy=True)
        n = math.prod(x.shape)
        flat = self.xp.reshape(x, (n,))
        name = next(d for d in ALL if d in self._names and getattr(self.xp, d) == x.dtype)
        kind = np.dtype(name).kind
        read_one = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[kind]
        return np.array([read_one(flat[i]) for i in range(n)], dtype=name).reshape(x.shape)

    # ---- comparing
    def shaped(self, got: Any, shape: Sequence[int], dtype: str | None, what: str) -> None:
        """Check the shape and, unless None, the dtype of `got`."""
        if not hasattr(got, "shape") or not hasattr(got, "dtype"):
            raise Failure(f"{what}: {type(got).__name__} came back, not an array")
        if tuple(got.shape) != tuple(shape):
            raise Failure(f"{what}: shape {tuple(got.shape)}, expected {tuple(shape)}")
        if dtype is not None and got.dtype != self.dtype(dtype):
            raise Failure(f"{what}: dtype {got.dtype}, expected {dtype}")

    def same(self, got: Any, want: Any, what: str, *, signs: bool = True) -> None:
        """Check dtype, shape and every element exactly (NaN equals NaN; zeros by sign)."""
        want = np.asarray(want)
        self.shaped(got, want.shape, want.dtype.name, what)
        bad = differs(self.back(got), want, signs)
        if bad.any():
            raise Failure(describe(what, self.back(got), want, bad))

    def near(
        self, got: Any, want: NDArray, dtype: str, ulps: Any, what: str, *, signs: bool = True
    ) -> None:
        """Check elements against a reference of higher precision, within `ulps`."""
        self.shaped(got, want.shape, dtype, what)
        g = self.back(got)
        err = ulp_error(g, want, dtype, signs)
        bad = np.asarray(err > ulps)
        if bad.any():
            worst = float(np.max(err[bad]))
            raise Failure(describe(what, g, want, bad) + f"; worst error {worst:.4g} ULP")

    def bounded(
        self, got: Any, want: NDArray, scale: Any, ulps: Any, dtype: str, what: str
    ) -> None:
        """Check ``|got - want| <= ulps * eps * scale`` (a backward error), NaN for NaN."""
        self.shaped(got, want.shape, dtype, what)
        g = self.back(got).astype(want.dtype)
        eps = float(np.finfo(dtype).eps)
        with np.errstate(all="ignore"):
            miss = np.abs(g - want) > ulps * eps * scale
        bad = np.asarray(np.where(np.isnan(want) | np.isinf(want), differs(g, want, False), miss))
        bad = bad | (np.isnan(g) != np.isnan(want))
        if bad.any():
            raise Failure(describe(what, g, want, bad))

    def raises(self, call: Callable[..., Any], what: str, *types: type[Exception]) -> None:
        """Check that `call` raises; `types` are those the standard names, if it names any."""
        try:
            got = call()
        except Exception as e:
            if not types or isinstance(e, types):
                return
            names = " or ".join(t.__name__ for t in types)
            raise Failure(f"{what}: raised {type(e).__name__}, expected {names}") from e
        raise Failure(f"{what}: must raise, returned {getattr(got, 'shape', got)!r}")

    def true(self, condition: Any, what: str) -> None:
        """Check that `condition` holds."""
        if not condition:
            raise Failure(what)


# ---------------------------------------------------------------- comparing


def differs(got: NDArray, want: NDArray, signs: bool) -> NDArray:
    """Return where two arrays of one shape differ."""
    if np.iscomplexobj(want) or np.iscomplexobj(got):
        re = differs(np.real(got), np.real(want), signs)
        return re | differs(np.imag(got), np.imag(want), signs)
    bad = np.asarray(got != want)
    if want.dtype.kind == "f":
        bad = bad & ~(np.isnan(got) & np.isnan(want))
        if signs:
            bad = bad | ((want == 0) & (got == 0) & (np.signbit(got) != np.signbit(want)))
    return bad


def ulp_error(got: NDArray, want: NDArray, dtype: str, signs: bool) -> NDArray:
    """Return the error of each element in ULP of `dtype`; infinite where kinds of value differ."""
    if np.dtype(dtype).kind == "c":
        part = "float32" if dtype == "complex64" else "float64"
        return _complex_error(got, want, part)
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        w = np.asarray(want, np.longdouble)
        g = np.asarray(got, np.longdouble)
        unit = _unit(w, info)
        err = np.abs(g - w) / unit
        limit = np.longdouble(info.max) + _unit(np.longdouble(info.max), info) / 2
        over = np.abs(w) >= limit
        # One step beyond the largest number counts as that number: a rounding error, not a fault.
        top = np.copysign(np.longdouble(2) ** info.maxexp, w)
        err = np.where(np.isinf(g) & ~np.isinf(w), np.abs(top - w) / unit, err)
        err = np.where(over & np.isinf(g), 0, err)
        same_sign = np.signbit(g) == np.signbit(w)
        err = np.where(np.isinf(w), np.where(g == w, 0, np.inf), err)
        err = np.where(np.isinf(g) & ~same_sign, np.inf, err)
        err = np.where(np.isnan(g) != np.isnan(w), np.inf, err)
        err = np.where(np.isnan(g) & np.isnan(w), 0, err)
        if signs:
            err = np.where((g == 0) & (w == 0) & ~same_sign, np.inf, err)
    return np.asarray(err)


def _unit(w: Any, info: Any) -> Any:
    """Return the size of one ULP of the type of `info` at `w`."""
    _, e = np.frexp(np.abs(w))
    e = np.maximum(np.where(w == 0, info.minexp + 1, e), info.minexp + 1)
    return np.ldexp(np.longdouble(1), e - 1 - info.nmant)


def _complex_error(got: NDArray, want: NDArray, part: str) -> NDArray:
    """Return the norm-wise error: the distance in ULP of the larger component."""
    info = np.finfo(part)
    with np.errstate(all="ignore"):
        g, w = got.astype(np.clongdouble), want.astype(np.clongdouble)
        big = np.maximum(np.abs(w.real), np.abs(w.imag))
        unit = _unit(np.where(np.isfinite(big), big, 1), info)
        err = np.hypot(g.real - w.real, g.imag - w.imag) / unit
        # Where a component leaves the type's range the two are compared one by one.
        odd = ~(np.isfinite(g.real) & np.isfinite(g.imag)) | (big > info.max)
        re = ulp_error(got.real, w.real, part, False)
        im = ulp_error(got.imag, w.imag, part, False)
        err = np.where(odd, np.maximum(re, im), err)
    return np.asarray(err)


def describe(what: str, got: NDArray, want: NDArray, bad: NDArray) -> str:
    """Return a message that names the first wrong element."""
    at = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    count = int(np.count_nonzero(bad))
    g, w = got[at], want[at]
    return f"{what}: {count} of {bad.size} wrong, first at {at}: got {g!r}, expected {w!r}"


# ---------------------------------------------------------------- layouts


def _garbage(a: NDArray, shape: Sequence[int]) -> NDArray:
    """Return an array of values that must never reach a result."""
    kind = a.dtype.kind
    if kind in "fc":
        return np.full(shape, np.nan, a.dtype)
    if kind == "b":
        return np.asarray(np.arange(math.prod(shape)).reshape(shape) % 3 != 0)
    return np.full(shape, np.iinfo(a.dtype).max - 1, a.dtype)


def _contiguous(k: Kit, a: NDArray) -> Any:
    return k.plain(a)


def _reversed(k: Kit, a: NDArray) -> Any:
    if a.ndim == 0:
        return k.plain(np.stack([_garbage(a, ()), a]))[-1]
    key = (slice(None, None, -1),) * a.ndim
    return k.plain(a[key])[key]


def _strided(k: Kit, a: NDArray) -> Any:
    if a.ndim == 0:
        return _offset(k, a)
    steps = [2 + (i % 2) for i in range(a.ndim)]
    big = _garbage(a, [n * s + 1 for n, s in zip(a.shape, steps, strict=True)])
    key = tuple(slice(1, n * s + 1, s) for n, s in zip(a.shape, steps, strict=True))
    big[key] = a
    return k.plain(big)[key]


def _transposed(k: Kit, a: NDArray) -> Any:
    if a.ndim < 2:
        return _strided(k, a)
    axes = tuple(reversed(range(a.ndim)))
    return k.xp.permute_dims(k.plain(a.transpose(axes)), axes)


def _offset(k: Kit, a: NDArray) -> Any:
    if a.ndim == 0:
        return k.plain(np.stack([_garbage(a, ()), a, _garbage(a, ())]))[1]
    big = _garbage(a, [n + 5 for n in a.shape])
    key = tuple(slice(3, 3 + n) for n in a.shape)
    big[key] = a
    return k.plain(big)[key]


def _ladder(k: Kit, a: NDArray) -> Any:
    """Negative strides and gaps on alternate axes."""
    if a.ndim == 0:
        return _offset(k, a)
    big = _garbage(a, [2 * n + 1 for n in a.shape])
    key = tuple(slice(1, 2 * n, 2) if i % 2 else slice(2 * n, 0, -2) for i, n in enumerate(a.shape))
    big[key] = a
    return k.plain(big)[key]


LAYOUTS: dict[str, Callable[[Kit, NDArray], Any]] = {
    "contiguous": _contiguous,
    "reversed": _reversed,
    "strided": _strided,
    "transposed": _transposed,
    "offset": _offset,
    "ladder": _ladder,
}

#: Shapes in which layouts are tried: rank 0 to 8, with zero-size and one-element axes.
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (67,),
    (5, 13),
    (3, 1, 17),
    (2, 3, 4, 5),
    (2, 1, 3, 2, 5),
    (2, 2, 1, 3, 2, 3),
    (2, 1, 2, 1, 2, 3, 2),
    (2, 1, 2, 1, 2, 1, 2, 3),
    (3, 0, 2),
)

# ---------------------------------------------------------------- values


def specials(dtype: str) -> NDArray:
    """Return the values of a dtype at which implementations go wrong (no subnormal numbers)."""
    dt = np.dtype(dtype)
    if dt.kind == "b":
        return np.array([True, False])
    if dt.kind in "iu":
        info = np.iinfo(dt)
        some = [
            0,
            1,
            2,
            3,
            7,
            8,
            100,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
            info.max // 2,
        ]
        some += [
            v for v in (-1, -2, -7, 2**24 + 1, 2**53 + 1, -(2**53) - 1) if info.min <= v <= info.max
        ]
        return np.array(some, dtype=dt)
    if dt.kind == "f":
        f = np.finfo(dt)
        mags = [
            0.0,
            0.5,
            1.0,
            1.5,
            2.0,
            2.5,
            3.0,
            3.5,
            1e-3,
            0.25,
            10.0,
            88.0,
            709.0,
            np.pi,
            np.pi / 2,
        ]
        mags += [float(f.eps), 1 + float(f.eps), 1 - float(f.eps) / 2, float(f.max), float(f.tiny)]
        mags += [1e10, 2.0**24 - 1, 2.0**23 + 0.5, 4503599627370495.5, 1e-10, np.inf]
        both = np.array(mags + [-m for m in mags] + [np.nan])
        with np.errstate(over="ignore"):
            return np.asarray(both.astype(dt))
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e-5, 20.0]
    return np.array([complex(a, b) for a in parts for b in parts], dtype=dt)


def subnormals(dtype: str) -> NDArray:
    """Return subnormal numbers of a real floating-point dtype."""
    f = np.finfo(dtype)
    s = float(f.smallest_subnormal)
    t = float(f.tiny)
    return np.array([s, -s, 3 * s, t / 2, -t / 4, t * (1 - float(f.eps)), 1000 * s], dtype=dtype)


def samples(dtype: str, n: int, rng: np.random.Generator, span: str = "full") -> NDArray:
    """Return `n` values: the special ones and random ones, shuffled.

    `span` is ``full`` (the whole range of the dtype) or ``mild`` (finite, moderate magnitudes).
    """
    dt = np.dtype(dtype)
    if dt.kind == "b":
        return rng.random(n) < 0.5
    if dt.kind in "iu":
        info = np.iinfo(dt)
        if span == "mild":
            return rng.integers(max(info.min, -20), 21, n).astype(dt)
        out = rng.integers(info.min, info.max, n, dtype=dt, endpoint=True)
        small = rng.integers(max(info.min, -9), 10, n).astype(dt)
        out = np.where(rng.random(n) < 0.3, small, out)
    elif dt.kind == "f":
        if span == "mild":
            return (rng.standard_normal(n) * 3).astype(dt)
        f = np.finfo(dt)
        wide = np.exp2(rng.uniform(f.minexp + 1, f.maxexp - 0.01, n)) * rng.choice([-1, 1], n)
        out = np.where(
            rng.random(n) < 0.4, wide, rng.standard_normal(n) * rng.choice([1e-3, 1, 30], n)
        )
        out = out.astype(dt)
        out = np.where(np.abs(out) < f.tiny, f.tiny, out).astype(dt)
    else:
        part = "float32" if dt.itemsize == 8 else "float64"
        re, im = (samples(part, n, rng, "mild") for _ in range(2))
        scale = np.exp2(rng.uniform(-12, 4, n)) if span == "full" else 1.0
        out = ((re + 1j * im) * scale).astype(dt)
    known = specials(dtype)
    if span == "full" and n >= 2 * known.size:
        out[: known.size] = known
        rng.shuffle(out)
    return np.asarray(out)


# ---------------------------------------------------------------- registry and runner

_CHECKS: list[Check] = []


def add(
    chapter: str, function: str, name: str, body: Callable[[Kit], None], group: str = "standard"
) -> None:
    """Register a check."""
    _CHECKS.append(Check(chapter, function, name, group, body))


def check(
    chapter: str, function: str, name: str, group: str = "standard"
) -> Callable[[Callable[[Kit], None]], Callable[[Kit], None]]:
    """Register the decorated function as a check."""

    def keep(body: Callable[[Kit], None]) -> Callable[[Kit], None]:
        add(chapter, function, name, body, group)
        return body

    return keep


def checks(select: str | Sequence[str] | None = None, extras: bool = True) -> list[Check]:
    """Return the checks whose id matches a pattern of `select` (a name, or with wildcards)."""
    wanted = [select] if isinstance(select, str) else list(select or ["*"])

    def match(c: Check) -> bool:
        return any(fnmatch.fnmatchcase(c.id, p) or p in c.id.split("/") for p in wanted)

    return [c for c in _CHECKS if match(c) and (extras or c.group == "standard")]


def run_check(xp: Any, c: Check, limits: Limits | None = None) -> Result:
    """Run one check on a namespace; never raises for what the namespace does."""
    kit = Kit(xp, limits)
    kit.rng = np.random.default_rng(zlib.crc32(c.id.encode()))
    start = time.perf_counter()
    outcome, message = "passed", ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            c.body(kit)
        except Skip as e:
            outcome, message = "skipped", str(e)
        except Failure as e:
            outcome, message = "failed", str(e)
        except Exception as e:
            outcome, message = "failed", f"{type(e).__name__}: {e}"
    return Result(c, outcome, message, time.perf_counter() - start)


def iterate(
    xp: Any,
    select: str | Sequence[str] | None = None,
    *,
    extras: bool = True,
    limits: Limits | None = None,
) -> Iterator[Result]:
    """Run checks one by one, yielding each result as it is known."""
    for c in checks(select, extras):
        yield run_check(xp, c, limits)


def run(
    xp: Any,
    select: str | Sequence[str] | None = None,
    *,
    extras: bool = True,
    limits: Limits | None = None,
) -> list[Result]:
    """Run the kit on a namespace.

    Parameters
    ----------
    xp : module
        Any array API namespace.
    select : str or sequence of str, optional
        Patterns (``"fft/*"``, ``"sort"``) that choose checks by id; all by default.
    extras : bool
        Whether to run the checks that go beyond the standard's text, too.
    limits : Limits, optional
        Rounding allowed.

    Returns
    -------
    list of Result
        One for each check, in the order of the chapters.
    """
    return list(iterate(xp, select, extras=extras, limits=limits))
