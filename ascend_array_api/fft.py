"""Fourier transform extension of the standard.

Precision is kept: float32 and complex64 are transformed in single precision, float64 and
complex128 in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from . import _core
from ._checks import as_axes, as_axis, as_floating, as_index, composed
from ._core import Array
from ._device import default_device, resolve_device
from ._dtypes import as_dtype, default_float, kind_of
from ._types import DeviceLike, DType, Norm

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

_NORMS = ("backward", "ortho", "forward")
# Transforms whose input is real, and transforms whose real output has 2 * (m - 1) elements for m.
_REAL_INPUT = frozenset({"rfft", "rfftn", "ihfft"})
_REAL_OUTPUT = frozenset({"irfft", "irfftn", "hfft"})
_INVERSE = frozenset({"ifft", "ifftn", "irfft", "irfftn", "ihfft"})


def _input(function: str, x: Array, norm: str) -> Array:
    x = as_floating(function, x)
    if not isinstance(norm, str) or norm not in _NORMS:
        raise ValueError(f"{function}: norm is 'backward', 'ortho' or 'forward', got {norm!r}")
    if function in _REAL_INPUT and x.dtype.kind == "c":
        raise TypeError(
            f"{function}: expected a real floating-point dtype, got {x.dtype}; take real first"
        )
    return x


def _length(function: str, x: Array, axis: int, n: int | None, last: bool) -> int:
    """Return the length of the transform along an axis; -1 and None stand for the whole axis."""
    extent = x.shape[axis]
    length = -1 if n is None else as_index(function, "a length", n)
    if length >= 2**63:
        raise OverflowError(f"{function}: a length does not fit 64 bits")
    if length == -1:
        length = 2 * (extent - 1) if last and function in _REAL_OUTPUT else extent
    if length < 1:
        raise ValueError(
            f"{function}: the transform has at least 1 element, got {length} along axis {axis} of "
            f"shape {x.shape}"
        )
    return length


def _run(function: str, x: Array, axes: Sequence[int], lengths: Sequence[int], norm: Norm) -> Array:
    size = math.prod(lengths, start=1.0)  # of many huge ones infinite, which is not an error yet
    inverse = function in _INVERSE
    scale = 1.0
    if norm == "ortho":
        scale = 1 / math.sqrt(size)
    elif (norm == "backward") == inverse:
        scale = 1 / size
    if function in _REAL_INPUT:
        run = _core.fft_half
    elif function in _REAL_OUTPUT:
        run = _core.fft_real
    else:
        run = _core.fft_full
    return run(function, x, axes, lengths, inverse, scale)


def _transform(function: str, x: Array, n: int | None, axis: int, norm: Norm) -> Array:
    x = _input(function, x, norm)
    axis = as_axis(function, axis, x.ndim)
    length = None if n is None else as_index(function, "n", n)
    if length is not None and length < 1:
        raise ValueError(f"{function}: n is at least 1, got {length}")
    return _run(function, x, (axis,), (_length(function, x, axis, length, True),), norm)


def _transform_axes(
    function: str,
    x: Array,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: Norm,
) -> Array:
    x = _input(function, x, norm)
    if s is not None and axes is None:
        raise ValueError(f"{function}: axes must be given along with s")
    chosen = as_axes(function, axes, x.ndim)
    if not chosen:
        raise ValueError(
            f"{function}: expected at least one axis, got shape {x.shape} and axes {axes}"
        )
    if s is not None and not isinstance(s, Sequence):
        raise TypeError(f"{function}: s must be a sequence of ints, got {type(s).__name__}")
    wanted: Sequence[int | None] = [None] * len(chosen) if s is None else s
    if len(wanted) != len(chosen):
        raise ValueError(f"{function}: {len(wanted)} lengths in s for {len(chosen)} axes")
    lengths = [
        _length(function, x, axis, n, i == len(chosen) - 1)
        for i, (axis, n) in enumerate(zip(chosen, wanted, strict=True))
    ]
    return _run(function, x, chosen, lengths, norm)


def fft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform along one axis.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype; real ones have the imaginary part 0.
    n : int, optional
        Length of the transform: `axis` is cut or padded with zeros to it. By default its own
        length.
    axis : int, optional
        The axis. Default: the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" none, "ortho" 1/sqrt(n), "forward" 1/n.

    Returns
    -------
    Array
        The transform, of the complex dtype of the precision of `x`, with the length `n`
        along `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `n` is less than 1, `axis` is out of bounds, or `norm` is unknown.

    Notes
    -----
    The element ``k`` is the sum of ``x[j] * exp(-2j * pi * j * k / n)`` over ``j``; `ifft` undoes
    it.
    """
    return _transform("fft", x, n, axis, norm)


def ifft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Inverse discrete Fourier transform along one axis.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype; real ones have the imaginary part 0.
    n : int, optional
        Length of the transform: `axis` is cut or padded with zeros to it. By default its own
        length.
    axis : int, optional
        The axis. Default: the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" 1/n, "ortho" 1/sqrt(n), "forward" none.

    Returns
    -------
    Array
        The inverse transform, of the complex dtype of the precision of `x`, with the length `n`
        along `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `n` is less than 1, `axis` is out of bounds, or `norm` is unknown.
    """
    return _transform("ifft", x, n, axis, norm)


def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype; real ones have the imaginary part 0.
    s : sequence of int, optional
        Lengths of the transform: each axis is cut or padded with zeros to its own. -1 keeps an axis
        as it is, which is the default for all.
    axes : sequence of int, optional
        The axes, all different. By default all of them; they must be given along with `s`.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" none, "ortho" 1/sqrt(n), "forward" 1/n.

    Returns
    -------
    Array
        The transform, of the complex dtype of the precision of `x`, with the lengths `s` along
        `axes`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `s` is given without `axes` or does not fit them, a length is less than 1, an axis is out
        of bounds or given twice, or `norm` is unknown.

    Notes
    -----
    ``n`` in the factors is the product of the lengths.
    """
    return _transform_axes("fftn", x, s, axes, norm)


def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype; real ones have the imaginary part 0.
    s : sequence of int, optional
        Lengths of the transform: each axis is cut or padded with zeros to its own. -1 keeps an axis
        as it is, which is the default for all.
    axes : sequence of int, optional
        The axes, all different. By default all of them; they must be given along with `s`.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" 1/n, "ortho" 1/sqrt(n), "forward" none.

    Returns
    -------
    Array
        The inverse transform, of the complex dtype of the precision of `x`, with the lengths `s`
        along `axes`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `s` is given without `axes` or does not fit them, a length is less than 1, an axis is out
        of bounds or given twice, or `norm` is unknown.

    Notes
    -----
    ``n`` in the factors is the product of the lengths.
    """
    return _transform_axes("ifftn", x, s, axes, norm)


def rfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform of real values along one axis.

    Parameters
    ----------
    x : Array
        Values, of a real floating-point dtype.
    n : int, optional
        Length of the transform: `axis` is cut or padded with zeros to it. By default its own
        length.
    axis : int, optional
        The axis. Default: the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" none, "ortho" 1/sqrt(n), "forward" 1/n.

    Returns
    -------
    Array
        The first ``n // 2 + 1`` elements of the transform along `axis`, of the complex dtype of the
        precision of `x`. The others are their conjugates.

    Raises
    ------
    TypeError
        If `x` is not an array of a real floating-point dtype.
    ValueError
        If `n` is less than 1, `axis` is out of bounds, or `norm` is unknown.
    """
    return _transform("rfft", x, n, axis, norm)


def irfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `rfft` along one axis.

    Parameters
    ----------
    x : Array
        Transforms of real values, of a floating-point dtype.
    n : int, optional
        Length of the result along `axis`. The input is cut or padded with zeros to ``n // 2 + 1``.
        By default ``2 * (m - 1)`` for ``m`` elements; an odd length must be given.
    axis : int, optional
        The axis. Default: the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" 1/n, "ortho" 1/sqrt(n), "forward" none.

    Returns
    -------
    Array
        The inverse transform, of the real dtype of the precision of `x`, with the length `n` along
        `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `n` is less than 1, `axis` is out of bounds, or `norm` is unknown.
    """
    return _transform("irfft", x, n, axis, norm)


def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform of real values along several axes.

    Parameters
    ----------
    x : Array
        Values, of a real floating-point dtype.
    s : sequence of int, optional
        Lengths of the transform: each axis is cut or padded with zeros to its own. -1 keeps an axis
        as it is, which is the default for all.
    axes : sequence of int, optional
        The axes, all different. By default all of them; they must be given along with `s`.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" none, "ortho" 1/sqrt(n), "forward" 1/n.

    Returns
    -------
    Array
        The transform, of the complex dtype of the precision of `x`. The last of `axes` has
        ``s[-1] // 2 + 1`` elements, the other axes have the lengths `s`.

    Raises
    ------
    TypeError
        If `x` is not an array of a real floating-point dtype.
    ValueError
        If `s` is given without `axes` or does not fit them, a length is less than 1, an axis is out
        of bounds or given twice, or `norm` is unknown.

    Notes
    -----
    ``n`` in the factors is the product of the lengths.
    """
    return _transform_axes("rfftn", x, s, axes, norm)


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `rfftn` along several axes.

    Parameters
    ----------
    x : Array
        Transforms of real values, of a floating-point dtype.
    s : sequence of int, optional
        Lengths of the result along the axes. The input is cut or padded with zeros to them, along
        the last axis to half of it plus 1. -1 keeps an axis as it is, which is the default for all,
        and for the last one means ``2 * (m - 1)`` for ``m`` elements.
    axes : sequence of int, optional
        The axes, all different. By default all of them; they must be given along with `s`.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" 1/n, "ortho" 1/sqrt(n), "forward" none.

    Returns
    -------
    Array
        The inverse transform, of the real dtype of the precision of `x`, with the lengths `s` along
        `axes`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `s` is given without `axes` or does not fit them, a length is less than 1, an axis is out
        of bounds or given twice, or `norm` is unknown.

    Notes
    -----
    ``n`` in the factors is the product of the lengths.
    """
    return _transform_axes("irfftn", x, s, axes, norm)


def hfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Discrete Fourier transform of Hermitian values along one axis.

    Parameters
    ----------
    x : Array
        First half of the values, of a floating-point dtype. The others are its conjugates.
    n : int, optional
        Length of the result along `axis`. The input is cut or padded with zeros to ``n // 2 + 1``.
        By default ``2 * (m - 1)`` for ``m`` elements; an odd length must be given.
    axis : int, optional
        The axis. Default: the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" none, "ortho" 1/sqrt(n), "forward" 1/n.

    Returns
    -------
    Array
        The transform, of the real dtype of the precision of `x`, with the length `n` along `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `n` is less than 1, `axis` is out of bounds, or `norm` is unknown.
    """
    return _transform("hfft", x, n, axis, norm)


def ihfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `hfft` along one axis.

    Parameters
    ----------
    x : Array
        Values, of a real floating-point dtype.
    n : int, optional
        Length of the transform: `axis` is cut or padded with zeros to it. By default its own
        length.
    axis : int, optional
        The axis. Default: the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Factor of the sum: "backward" 1/n, "ortho" 1/sqrt(n), "forward" none.

    Returns
    -------
    Array
        The first ``n // 2 + 1`` elements of the inverse transform along `axis`, of the complex
        dtype of the precision of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a real floating-point dtype.
    ValueError
        If `n` is less than 1, `axis` is out of bounds, or `norm` is unknown.
    """
    return _transform("ihfft", x, n, axis, norm)


def _frequencies(
    function: str,
    n: int,
    ranges: Callable[[int], tuple[tuple[int, int], ...]],
    d: float,
    dtype: DType | None,
    device: DeviceLike | None,
) -> Array:
    n = as_index(function, "n", n)
    if n < 1:
        raise ValueError(f"{function}: n is at least 1, got {n}")
    if not hasattr(d, "__float__") and not hasattr(d, "__index__"):
        raise TypeError(f"{function}: d must be a float, got {type(d).__name__}")
    spacing = float(d)
    if spacing == 0.0:
        raise ValueError(f"{function}: d is the distance of samples and not 0")
    place = default_device() if device is None else resolve_device(function, device)
    target = default_float(place) if dtype is None else as_dtype(function, dtype)
    if kind_of(target) != "f":
        raise TypeError(f"{function}: expected a real floating-point dtype, got {target}")
    computed = default_float(place)
    parts = [_core.arange(start, stop, 1, computed, place) for start, stop in ranges(n)]
    steps = parts[0] if len(parts) == 1 else _core.concat(parts, 0)
    return _core.astype(_core.divide(steps, n * spacing), target, False, None)


@composed
def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Frequencies of the elements of `fft`.

    Parameters
    ----------
    n : int
        Length of the transform, at least 1.
    d : float, optional
        Distance of neighbouring samples; the frequencies are in cycles per its unit.
    dtype : dtype, optional
        Real floating-point dtype of the result. Default: float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        ``[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (d * n)``.

    Raises
    ------
    TypeError
        If `dtype` is not real floating-point.
    ValueError
        If `n` is less than 1, or `d` is 0.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.fft.fftfreq(4, d=0.5)
    Array([ 0. ,  0.5, -1. , -0.5], dtype=float64, device=cpu)
    """
    return _frequencies(
        "fftfreq", n, lambda n: ((0, (n + 1) // 2), (-(n // 2), 0)), d, dtype, device
    )


@composed
def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Frequencies of the elements of `rfft`.

    Parameters
    ----------
    n : int
        Length of the transform, at least 1.
    d : float, optional
        Distance of neighbouring samples; the frequencies are in cycles per its unit.
    dtype : dtype, optional
        Real floating-point dtype of the result. Default: float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        ``[0, 1, ..., n // 2] / (d * n)``.

    Raises
    ------
    TypeError
        If `dtype` is not real floating-point.
    ValueError
        If `n` is less than 1, or `d` is 0.
    """
    return _frequencies("rfftfreq", n, lambda n: ((0, n // 2 + 1),), d, dtype, device)


def _shift(
    function: str, x: Array, axes: int | Sequence[int] | None, places: Callable[[int], int]
) -> Array:
    x = as_floating(function, x)
    chosen = as_axes(function, axes, x.ndim)
    return _core.roll(x, tuple(places(x.shape[i]) for i in chosen), chosen)


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Move the element of frequency 0 to the middle.

    Parameters
    ----------
    x : Array
        A transform, or frequencies, of a floating-point dtype.
    axes : int or sequence of int, optional
        The axes to shift. By default all of them.

    Returns
    -------
    Array
        The shifted values, of the shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If an axis is out of bounds or given twice.
    """
    return _shift("fftshift", x, axes, lambda n: n // 2)


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Undo `fftshift`.

    Parameters
    ----------
    x : Array
        Shifted values, of a floating-point dtype.
    axes : int or sequence of int, optional
        The axes to shift back. By default all of them.

    Returns
    -------
    Array
        The values in their first order, of the shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If an axis is out of bounds or given twice.

    Notes
    -----
    It differs from `fftshift` by one place along axes of odd length.
    """
    return _shift("ifftshift", x, axes, lambda n: -(n // 2))


def __dir__() -> list[str]:
    return list(__all__)
