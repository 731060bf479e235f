"""How far results are from what they should be, in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]


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
        # Where a component is not finite, or leaves the type's range, each is compared by itself.
        finite = [np.isfinite(part) for part in (g.real, g.imag, w.real, w.imag)]
        odd = ~np.logical_and.reduce(finite) | (big > info.max)
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
