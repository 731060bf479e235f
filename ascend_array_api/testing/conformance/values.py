"""Values: the whole range of each dtype, extremes, ties, signed zeros, NaN and infinities."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]

_INTEGERS = (-(2**53) - 1, -7, -2, -1, 0, 1, 2, 3, 7, 8, 100, 2**24 + 1, 2**53 + 1)
_REALS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 10.0, 88.0, 709.0, np.pi, np.pi / 2, 1e-10)
_LARGE = (1e10, 2.0**24 - 1, 2.0**23 + 0.5, 4503599627370495.5, 1e-3, np.inf)
_PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e-5, 20.0)
_ODD_PARTS = (0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan)


def specials(dtype: str) -> NDArray:
    """Return the values of a dtype at which implementations go wrong (no subnormal numbers)."""
    dt = np.dtype(dtype)
    if dt.kind == "b":
        return np.array([True, False])
    if dt.kind in "iu":
        info = np.iinfo(dt)
        ends = (info.max, info.max - 1, info.min, info.min + 1, info.max // 2)
        return np.array([*(v for v in _INTEGERS if info.min <= v <= info.max), *ends], dtype=dt)
    if dt.kind == "f":
        f = np.finfo(dt)
        eps = float(f.eps)
        sizes = [*_REALS, *_LARGE, eps, 1 + eps, 1 - eps / 2, float(f.max), float(f.tiny)]
        with np.errstate(over="ignore"):
            return np.asarray(np.array(sizes + [-m for m in sizes] + [np.nan]).astype(dt))
    return np.array([complex(*p) for p in itertools.product(_PARTS, repeat=2)], dtype=dt)


def non_finite(dtype: str) -> NDArray:
    """Return complex numbers of which a part is infinite, NaN or a signed zero."""
    return np.array([complex(*p) for p in itertools.product(_ODD_PARTS, repeat=2)], dtype=dtype)


def subnormals(dtype: str) -> NDArray:
    """Return subnormal numbers of a real floating-point dtype."""
    f = np.finfo(dtype)
    s, t = float(f.smallest_subnormal), float(f.tiny)
    return np.array([s, -s, 3 * s, t / 2, -t / 4, t * (1 - float(f.eps)), 1000 * s], dtype=dtype)


def samples(dtype: str, n: int, rng: np.random.Generator, span: str = "full") -> NDArray:
    """Return `n` values: the special ones and random ones, shuffled.

    `span` is ``full`` (the whole range of the dtype) or ``mild`` (finite, moderate magnitudes).
    """
    out = _RANDOM[np.dtype(dtype).kind](np.dtype(dtype), n, rng, span)
    known = specials(dtype)
    if span == "full" and n >= 2 * known.size:
        out[: known.size] = known
        rng.shuffle(out)
    return np.asarray(out)


def _bools(dt: Any, n: int, rng: np.random.Generator, span: str) -> NDArray:
    return rng.random(n) < 0.5


def _integers(dt: Any, n: int, rng: np.random.Generator, span: str) -> NDArray:
    info = np.iinfo(dt)
    if span == "mild":
        return rng.integers(max(info.min, -20), 21, n).astype(dt)
    wide = rng.integers(info.min, info.max, n, dtype=dt, endpoint=True)
    small = rng.integers(max(info.min, -9), 10, n).astype(dt)
    return np.where(rng.random(n) < 0.3, small, wide)


def _reals(dt: Any, n: int, rng: np.random.Generator, span: str) -> NDArray:
    if span == "mild":
        return (rng.standard_normal(n) * 3).astype(dt)
    f = np.finfo(dt)
    wide = np.exp2(rng.uniform(f.minexp + 1, f.maxexp - 0.01, n)) * rng.choice([-1, 1], n)
    near = rng.standard_normal(n) * rng.choice([1e-3, 1, 30], n)
    out = np.where(rng.random(n) < 0.4, wide, near).astype(dt)
    return np.asarray(np.where(np.abs(out) < f.tiny, f.tiny, out).astype(dt))


def _complexes(dt: Any, n: int, rng: np.random.Generator, span: str) -> NDArray:
    part = np.dtype("float32" if dt.itemsize == 8 else "float64")
    re, im = (_reals(part, n, rng, "mild") for _ in range(2))
    scale = np.exp2(rng.uniform(-12, 4, n)) if span == "full" else 1.0
    return np.asarray(((re + 1j * im) * scale).astype(dt))


_RANDOM: dict[str, Any] = {
    "b": _bools,
    "i": _integers,
    "u": _integers,
    "f": _reals,
    "c": _complexes,
}
