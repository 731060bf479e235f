"""Fourier transforms against the sum that defines them, by norm-wise error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .core import COMPLEX, REAL_FLOATING, Failure, Kit, add
from .layouts import NDArray, laid
from .values import samples

CHAPTER = "fft"

SIZES = (
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    12,
    15,
    16,
    17,
    31,
    32,
    63,
    64,
    65,
    97,
    100,
    127,
    128,
    251,
    256,
    257,
)
NORMS = ("backward", "ortho", "forward")


def _dft(x: NDArray, axis: int, sign: int) -> Any:
    """Return the plain sum of x[j] * exp(sign * 2 pi i j k / n); exact in the angle."""
    n = x.shape[axis]
    turn = 2 * np.pi * np.arange(n, dtype=np.longdouble) / n
    # 2 * np.pi is a double; correct it to long double.
    turn = turn + np.arange(n, dtype=np.longdouble) / n * np.longdouble("2.4492935982947063545e-16")
    root = np.cos(turn) + 1j * (sign * np.sin(turn))
    jk = np.outer(np.arange(n), np.arange(n)) % n
    return np.moveaxis(np.moveaxis(x, axis, -1) @ root[jk], -1, axis)


def _fit(x: NDArray, axis: int, n: int) -> Any:
    """Trim or pad with zeros at the end of an axis."""
    x = np.moveaxis(x, axis, -1)[..., :n]
    pad = [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])]
    return np.moveaxis(np.pad(x, pad), -1, axis)


def _scale(n: int, norm: str, inverse: bool) -> Any:
    one = np.longdouble(1)
    if norm == "ortho":
        return one / np.sqrt(np.longdouble(n))
    return one / n if (norm == "backward") == inverse else one


def _hermitian(x: NDArray, axis: int, n: int) -> NDArray:
    """Return the full spectrum of length `n` of which `x` holds the first half."""
    x = np.moveaxis(_fit(x, axis, n // 2 + 1), axis, -1)
    out = np.zeros((*x.shape[:-1], n), dtype=np.clongdouble)
    out[..., : n // 2 + 1] = x
    out[..., 0] = x[..., 0].real
    if n % 2 == 0 and n > 1:
        out[..., n // 2] = x[..., n // 2].real
    for j in range(n // 2 + 1, n):
        out[..., j] = np.conj(out[..., n - j])
    return np.moveaxis(out, -1, axis)


def _close(k: Kit, got: Any, want: NDArray, dtype: str, n: int, what: str) -> None:
    k.shaped(got, want.shape, dtype, what)
    g = k.back(got).astype(np.clongdouble)
    size, error = np.sqrt(np.sum(np.abs(want) ** 2)), np.sqrt(np.sum(np.abs(g - want) ** 2))
    eps = float(np.finfo(dtype).eps)
    if not error <= k.limits.fft * (1 + math.log2(n)) * eps * size:
        raise Failure(f"{what}: norm-wise error {float(error / (size * eps)):.4g} eps at n = {n}")


def _one(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of a one-dimensional transform."""
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    whole = {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)
    out = part if name in ("irfft", "hfft") else whole

    def reference(x: NDArray, n: int, axis: int, norm: str) -> Any:
        w = x.astype(np.clongdouble)
        if name == "fft":
            return _dft(_fit(w, axis, n), axis, -1) * _scale(n, norm, False)
        if name == "ifft":
            return _dft(_fit(w, axis, n), axis, 1) * _scale(n, norm, True)
        if name == "rfft":
            return _fit(_dft(_fit(w, axis, n), axis, -1), axis, n // 2 + 1) * _scale(n, norm, False)
        if name == "irfft":
            return _dft(_hermitian(w, axis, n), axis, 1).real * _scale(n, norm, True)
        if name == "hfft":
            return _dft(_hermitian(w, axis, n), axis, -1).real * _scale(n, norm, False)
        return _fit(_dft(_fit(w, axis, n), axis, 1), axis, n // 2 + 1) * _scale(n, norm, True)

    def body(k: Kit) -> None:
        f = k.fn("fft." + name)
        half = name in ("irfft", "hfft")
        for i, n in enumerate(SIZES):
            m = n // 2 + 1 if half else n
            x, norm = samples(dtype, m, k.rng, "mild"), NORMS[i % 3]
            for layout in ("contiguous", "reversed", "strided"):
                got = f(k.to(x, layout), n=n, norm=norm)
                _close(
                    k,
                    got,
                    reference(x, n, 0, norm),
                    out,
                    n,
                    f"fft.{name}({dtype}[{m}] {layout}, n={n}, norm={norm})",
                )
        for shape, axis in (((5, 8), 0), ((5, 8), 1), ((3, 4, 6), 1), ((2, 3, 2, 10), -1)):
            x = samples(dtype, math.prod(shape), k.rng, "mild").reshape(shape)
            default = 2 * (shape[axis] - 1) if half else shape[axis]
            for length in (None, 3, 8, 13):
                for layout, v in laid(x):
                    got = f(k.to(v, layout), n=length, axis=axis)
                    want = reference(v, length or default, axis, "backward")
                    _close(
                        k,
                        got,
                        want,
                        out,
                        length or default,
                        f"fft.{name}({dtype}{list(shape)} {layout}, n={length}, axis={axis})",
                    )
        k.raises(lambda: f(k.to(np.ones(4, dtype)), axis=1), f"fft.{name}(1-d, axis=1)")

    return body


def _many(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of an n-dimensional transform as a product of one-dimensional ones."""
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    whole = {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)

    def reference(x: NDArray, s: list[int], axes: list[int], norm: str) -> Any:
        w = x.astype(np.clongdouble)
        inverse = name.startswith("i")
        sign = 1 if inverse else -1
        last = axes[-1]
        for n, axis in zip(s[:-1], axes[:-1], strict=True):
            w = _dft(_fit(w, axis, n), axis, sign) * _scale(n, norm, inverse)
        n = s[-1]
        if name == "irfftn":
            return np.asarray(_dft(_hermitian(w, last, n), last, 1).real * _scale(n, norm, True))
        w = _dft(_fit(w, last, n), last, sign) * _scale(n, norm, inverse)
        return _fit(w, last, n // 2 + 1) if name == "rfftn" else w

    def body(k: Kit) -> None:
        f = k.fn("fft." + name)
        out = part if name == "irfftn" else whole
        cases: tuple[tuple[tuple[int, ...], Any, Any], ...] = (
            ((6,), None, None),
            ((4, 6), None, None),
            ((3, 4, 5), None, None),
            ((3, 4, 5), (0, 2), None),
            ((3, 4, 5), (1, 0), None),
            ((4, 6), (0, 1), (3, 8)),
            ((3, 4, 5), (-1, 0), (6, 2)),
            ((2, 3, 4), (1,), (5,)),
        )
        for i, (shape, axes, s) in enumerate(cases):
            x = samples(dtype, math.prod(shape), k.rng, "mild").reshape(shape)
            ax = [a % len(shape) for a in axes] if axes is not None else list(range(len(shape)))
            sizes = list(s) if s is not None else [shape[a] for a in ax]
            if name == "irfftn" and s is None:
                sizes[-1] = 2 * (sizes[-1] - 1)
            if name == "irfftn":  # only spectra of real data are specified
                x = _spectrum(k, shape, ax, sizes, dtype)
            for layout, v in laid(x):
                if name == "irfftn" and layout == "broadcast":
                    continue  # a repetition is no spectrum of real data
                got = f(k.to(v, layout), s=s, axes=axes, norm=NORMS[i % 3])
                what = f"fft.{name}({dtype}{list(shape)} {layout}, {s=}, {axes=}, {NORMS[i % 3]})"
                _close(k, got, reference(v, sizes, ax, NORMS[i % 3]), out, math.prod(sizes), what)

    return body


def _spectrum(
    k: Kit, shape: tuple[int, ...], axes: list[int], sizes: list[int], dtype: str
) -> NDArray:
    """Return half-spectra of real data of the given sizes, trimmed or padded to `shape`."""
    real = list(shape)
    for a, n in zip(axes, sizes, strict=True):
        real[a] = n
    w = k.rng.standard_normal(real).astype(np.clongdouble)
    for a in axes:
        w = _dft(w, a, -1)
    for a, n in zip(axes, shape_of(shape, axes), strict=True):
        w = _fit(w, a, n)
    return w.astype(dtype)


def shape_of(shape: tuple[int, ...], axes: list[int]) -> list[int]:
    """Return the sizes of `shape` along `axes`."""
    return [shape[a] for a in axes]


def _frequencies(name: str) -> Callable[[Kit], None]:
    """Return the check of fftfreq or rfftfreq."""

    def body(k: Kit) -> None:
        f = k.fn("fft." + name)
        for n, d, dtype in itertools.product(
            (1, 2, 3, 8, 9, 65), (1.0, 0.25, 3.0), (None, *REAL_FLOATING)
        ):
            at = np.arange(n if name == "fftfreq" else n // 2 + 1)
            whole = np.where(at < (n + 1) // 2, at, at - n) if name == "fftfreq" else at
            want = whole.astype(np.longdouble) / (np.longdouble(d) * n)
            got = f(n, d=d) if dtype is None else f(n, d=d, dtype=k.dtype(dtype))
            out = dtype or k.default("real floating")
            k.near(got, want, out, 2.0, f"fft.{name}({n}, d={d}, {dtype})", signs=False)

    return body


def _shift(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of fftshift or ifftshift."""
    ref: Callable[..., Any] = getattr(np.fft, name)

    def body(k: Kit) -> None:
        f = k.fn("fft." + name)
        for shape, axes in (
            ((7,), None),
            ((8,), 0),
            ((3, 4), None),
            ((3, 4), (1,)),
            ((3, 4), -2),
            ((2, 3, 5), (0, 2)),
        ):
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            for layout, v in laid(x):
                what = f"fft.{name}({dtype}{list(shape)} {layout}, axes={axes})"
                k.same(f(k.to(v, layout), axes=axes), ref(v, axes=axes), what)

    return body


for _dtype in COMPLEX:
    for _name in ("fft", "ifft", "irfft", "hfft"):
        add(CHAPTER, _name, _dtype, _one(_name, _dtype))
    for _name in ("fftn", "ifftn", "irfftn"):
        add(CHAPTER, _name, _dtype, _many(_name, _dtype))
for _dtype in REAL_FLOATING:
    for _name in ("rfft", "ihfft"):
        add(CHAPTER, _name, _dtype, _one(_name, _dtype))
    add(CHAPTER, "rfftn", _dtype, _many("rfftn", _dtype))
for _dtype in (*REAL_FLOATING, *COMPLEX):
    for _name in ("fftshift", "ifftshift"):
        add(CHAPTER, _name, _dtype, _shift(_name, _dtype))
for _name in ("fftfreq", "rfftfreq"):
    add(CHAPTER, _name, "values", _frequencies(_name))
