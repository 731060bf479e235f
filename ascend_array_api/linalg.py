"""Linear algebra extension of the standard.

Matrices are the last two dimensions of an array; functions work on each matrix of a stack. The
eigenvalues and singular values come from LAPACK. A matrix that has no factors (a singular one, or
one that is not positive definite) raises ``numpy.linalg.LinAlgError``, a ValueError.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from . import _core
from ._checks import (
    as_axes,
    as_contracted_axis,
    as_floating,
    as_index,
    composed,
    require_array,
    require_numeric,
    require_rank,
)
from ._core import Array
from ._data_types import finfo
from ._device import has_dtype
from ._dtypes import float64, int64, real_part
from ._linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from ._types import Axes, DType

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class Eig(NamedTuple):
    """Result of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


class Eigh(NamedTuple):
    """Result of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class QR(NamedTuple):
    """Result of `qr`."""

    Q: Array
    R: Array


class SLogDet(NamedTuple):
    """Result of `slogdet`."""

    sign: Array
    logabsdet: Array


class SVD(NamedTuple):
    """Result of `svd`."""

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky factor of a positive definite matrix.

    Parameters
    ----------
    x : Array
        Hermitian (real: symmetric) positive definite matrices of the shape ``(..., m, m)``, of a
        floating-point dtype. Only the triangle asked for is read.
    upper : bool, optional
        Whether to return the upper factor ``U`` with ``x = U^H U`` instead of the lower one ``L``
        with ``x = L L^H``.

    Returns
    -------
    Array
        The triangular factors, of the shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square, or one of them is not positive definite.
    """
    return _core.cholesky(x, upper)


@composed
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross product of vectors of three elements.

    Parameters
    ----------
    x1 : Array
        First vectors, of a numeric dtype.
    x2 : Array
        Second vectors, of a numeric dtype.
    axis : int, optional
        The axis of the vectors, counted from the end (negative), of the length 3 in both arrays.
        The other axes broadcast. Default: the last one.

    Returns
    -------
    Array
        The cross products, of the promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not an array of a numeric dtype, or the two do not promote to one.
    ValueError
        If `axis` is out of bounds or not of length 3, or the shapes do not fit.
    """
    require_numeric("cross", x1, x2)
    axis = as_contracted_axis("cross", axis, x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"cross: axis {axis} of both arrays has the length 3, got shapes {x1.shape} and "
            f"{x2.shape}"
        )
    after = (slice(None),) * (-1 - axis)

    def component(i: int) -> Array:
        j, k = (i + 1) % 3, (i + 2) % 3
        first = _core.multiply(x1[(..., j, *after)], x2[(..., k, *after)])
        return _core.subtract(first, _core.multiply(x1[(..., k, *after)], x2[(..., j, *after)]))

    return _core.stack([component(i) for i in range(3)], axis)


def det(x: Array, /) -> Array:
    """Determinant of a square matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype.

    Returns
    -------
    Array
        The determinants, of the shape ``(...)`` and the dtype of `x`. That of an empty matrix is 1.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square.

    See Also
    --------
    slogdet : Where the determinant is too large or too small to be represented.
    """
    return _core.det(x)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """View of a diagonal of a matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of any dtype.
    offset : int, optional
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.

    Returns
    -------
    Array
        A view of the shape ``(..., k)``, where ``k`` is the length of the diagonal, 0 outside of
        the matrix.

    Raises
    ------
    TypeError
        If `x` is not an array, or `offset` is not an integer.
    ValueError
        If `x` has fewer than two dimensions.
    """
    require_array("diagonal", x)
    require_rank("diagonal", x, 2)
    return _core.diagonal(x, as_index("diagonal", "offset", offset))


def eig(x: Array, /) -> Eig:
    """Eigenvalues and right eigenvectors of a square matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype.

    Returns
    -------
    Eig
        A named tuple of ``eigenvalues``, of the shape ``(..., m)``, in no particular order, and
        ``eigenvectors``, of the shape ``(..., m, m)``, whose columns have the length 1. Both are of
        the complex dtype of the precision of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square, hold ``nan`` or ``inf``, or the iteration does not converge.

    See Also
    --------
    eigh : For Hermitian matrices, faster and more accurate.
    """
    return Eig(*_core.eig(x))


def eigh(x: Array, /) -> Eigh:
    """Eigenvalues and eigenvectors of a Hermitian (real: symmetric) matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype. Only the lower triangle is
        read.

    Returns
    -------
    Eigh
        A named tuple of ``eigenvalues``, real, ascending, of the shape ``(..., m)``, and
        ``eigenvectors``, of the shape and dtype of `x`, whose columns are orthonormal.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square, or the iteration does not converge.
    """
    return Eigh(*_core.eigh(x))


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of a square matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype.

    Returns
    -------
    Array
        The eigenvalues, of the shape ``(..., m)`` and the complex dtype of the precision of `x`, in
        no particular order.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square, hold ``nan`` or ``inf``, or the iteration does not converge.
    """
    return _core.eigvals(x)


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of a Hermitian (real: symmetric) matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype. Only the lower triangle is
        read.

    Returns
    -------
    Array
        The eigenvalues, real, ascending, of the shape ``(..., m)``.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square, or the iteration does not converge.
    """
    return _core.eigvalsh(x)


def inv(x: Array, /) -> Array:
    """Inverse of a square matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype.

    Returns
    -------
    Array
        The inverses, of the shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square, or one of them is singular.

    See Also
    --------
    solve : Faster and more accurate for systems of equations.
    """
    return _core.inv(x)


def _largest(x: Array, axis: Axes, keepdims: bool) -> Array:
    """Return the maximum of magnitudes, 0 where there are none."""
    axes = as_axes("max", axis, x.ndim)
    if any(x.shape[i] == 0 for i in axes):
        return _core.sum(x, axes, None, keepdims)
    return _core.max(x, axes, keepdims)


@cache
def _safe_squares(dtype: DType) -> tuple[float, float]:
    """Return the range in which a sum of squares has lost nothing to underflow or overflow."""
    info = finfo(dtype)
    return info.smallest_normal / info.eps, info.max


def _squares_are_safe(total: Array) -> bool:
    least, most = _safe_squares(total.dtype)
    if total.ndim == 0:
        return least < float(total) <= most
    return total.size == 0 or (
        float(_core.min(total, None, False)) > least
        and float(_core.max(total, None, False)) <= most
    )


def _root_of_squares(x: Array, axis: Axes, keepdims: bool) -> Array:
    """Return ``sqrt(sum(abs(x)**2))``, safe from overflow and underflow in between.

    Narrow dtypes are squared in float64, which holds their squares. In float64, or where the device
    lacks that, the magnitudes are divided by the largest one, but only where the plain sum left the
    safe range.
    """
    magnitudes = _core.abs(x) if x.dtype.kind == "c" else x
    dtype = magnitudes.dtype
    if dtype != float64 and has_dtype(x.device, "float64"):
        wide = _core.square(_core.astype(magnitudes, float64, False, None))
        return _core.astype(_core.sqrt(_core.sum(wide, axis, None, keepdims)), dtype, False, None)
    total = _core.sum(_core.square(magnitudes), axis, None, keepdims)
    if _squares_are_safe(total):
        return _core.sqrt(total)
    magnitudes = _core.abs(magnitudes)
    scale = _largest(magnitudes, axis, True)
    # Zeros, infinities and NaN stay themselves when divided by 1.
    usable = _core.logical_and(_core.greater(scale, 0.0), _core.less(scale, math.inf))
    scale = _core.where(usable, scale, 1.0)
    scaled = _core.sum(_core.square(_core.divide(magnitudes, scale)), axis, None, True)
    safe = _core.multiply(scale, _core.sqrt(scaled))
    return safe if keepdims else _core.reshape(safe, total.shape, None)


@composed
def matrix_norm(
    x: Array,
    /,
    *,
    keepdims: bool = False,
    ord: int | float | Literal["fro", "nuc"] | None = "fro",
) -> Array:
    """Norm of a matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a floating-point dtype.
    keepdims : bool, optional
        Whether the last two axes stay in the shape with the length 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}, optional
        Which norm: "fro" (the same as None) the root of the sum of squares, "nuc" the sum of the
        singular values, 2 and -2 the largest and the smallest of them, 1 and -1 the largest and the
        smallest sum of magnitudes in a column, ``inf`` and ``-inf`` in a row.

    Returns
    -------
    Array
        The norms, of the real dtype of the precision of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `x` has fewer than two dimensions, `ord` is unknown, or the smallest of nothing is asked.
    """
    x = as_floating("matrix_norm", x)
    require_rank("matrix_norm", x, 2)
    if ord is None or ord == "fro":
        return _root_of_squares(x, (-2, -1), keepdims)
    if ord in ("nuc", 2, -2):
        values = _core.expand_dims(_core.svdvals(x), -1)
    elif ord in (1, -1):
        values = _core.sum(_core.abs(x), -2, None, True)
    elif ord in (math.inf, -math.inf):
        values = _core.sum(_core.abs(x), -1, None, True)
    else:
        raise ValueError(
            f"matrix_norm: ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}"
        )
    if ord == "nuc":
        return _core.sum(values, (-2, -1), None, keepdims)
    if ord in (1, 2, math.inf):
        return _largest(values, (-2, -1), keepdims)
    return _smallest("matrix_norm", values, (-2, -1), keepdims)


def _smallest(function: str, x: Array, axis: Axes, keepdims: bool) -> Array:
    """Return the minimum of magnitudes, or raise ValueError where there are none."""
    axes = as_axes(function, axis, x.ndim)
    if any(x.shape[i] == 0 for i in axes):
        raise ValueError(
            f"{function}: ord asks for the smallest of no values along the axes {axis}"
        )
    return _core.min(x, axes, keepdims)


def _require_square(function: str, x: Array) -> None:
    require_rank(function, x, 2)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{function}: expected square matrices, got shape {x.shape}")


@composed
def matrix_power(x: Array, n: int, /) -> Array:
    """Integer power of a square matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a numeric dtype; floating-point for negative `n`.
    n : int
        The exponent. 0 gives the identity, negative exponents powers of the inverse.

    Returns
    -------
    Array
        The powers, of the shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of such a dtype, or `n` is not an integer.
    ValueError
        If the matrices are not square, or `n` is negative and one of them is singular.

    Notes
    -----
    Squaring takes about ``log2(n)`` to ``2 * log2(n)`` products.
    """
    require_numeric("matrix_power", x)
    _require_square("matrix_power", x)
    n = as_index("matrix_power", "n", n)
    if n < 0:
        x, n = _core.inv(as_floating("matrix_power", x)), -n
    if n == 0:
        one = _core.eye(x.shape[-1], None, 0, x.dtype, x.device)
        return _core.asarray(_core.broadcast_to(one, x.shape), None, None, True)
    if n == 1:
        return _core.asarray(x, None, None, True)
    while not n & 1:
        x, n = _core.matmul(x, x), n >> 1
    result = x
    while n := n >> 1:
        x = _core.matmul(x, x)
        if n & 1:
            result = _core.matmul(result, x)
    return result


def _cutoff(function: str, x: Array, values: Array, rtol: float | Array | None) -> Array:
    """Return the size below which singular values count as zero, with a last axis of length 1."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps
    if isinstance(rtol, Array):
        as_floating(function, rtol)
        rtol = _core.expand_dims(rtol, -1)
    return _core.multiply(_largest(values, -1, True), rtol)


@composed
def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Rank of a matrix: how many singular values are not negligible.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a floating-point dtype.
    rtol : float or Array, optional
        Singular values up to `rtol` times the largest one of their matrix count as zero. An array
        broadcasts with the stack. By default ``max(m, n)`` times the ``eps`` of the dtype.

    Returns
    -------
    Array
        The ranks, int64, of the shape ``(...)``.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `x` has fewer than two dimensions.
    """
    x = as_floating("matrix_rank", x)
    require_rank("matrix_rank", x, 2)
    values = _core.svdvals(x)
    counted = _core.greater(values, _cutoff("matrix_rank", x, values, rtol))
    return _core.astype(_core.count_nonzero(counted, -1, False), int64, False, None)


@composed
def outer(x1: Array, x2: Array, /) -> Array:
    """Outer product of two vectors.

    Parameters
    ----------
    x1 : Array
        A vector of ``n`` elements, of a numeric dtype.
    x2 : Array
        A vector of ``m`` elements, of a numeric dtype.

    Returns
    -------
    Array
        The products of all pairs, of the shape ``(n, m)`` and the promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not an array of a numeric dtype, or the two do not promote to one.
    ValueError
        If an argument is not a vector.
    """
    require_numeric("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: expected two vectors, got shapes {x1.shape} and {x2.shape}")
    return _core.multiply(x1[:, None], x2[None, :])


@composed
def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Pseudo-inverse of a matrix (Moore and Penrose).

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a floating-point dtype.
    rtol : float or Array, optional
        Singular values up to `rtol` times the largest one of their matrix count as zero. An array
        broadcasts with the stack. By default ``max(m, n)`` times the ``eps`` of the dtype.

    Returns
    -------
    Array
        The pseudo-inverses, of the shape ``(..., n, m)`` and the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `x` has fewer than two dimensions.

    Notes
    -----
    From the singular values: ``x = U S V^H`` has the pseudo-inverse ``V S^+ U^H``, where ``S^+``
    inverts the singular values that do not count as zero.
    """
    x = as_floating("pinv", x)
    require_rank("pinv", x, 2)
    u, s, vh = _core.svd(x, False)
    kept = _core.greater(s, _cutoff("pinv", x, s, rtol))
    inverse = _core.where(kept, _core.reciprocal(_core.where(kept, s, 1.0)), 0.0)
    v = matrix_transpose(_core.conj(vh))
    scaled = _core.multiply(v, _core.expand_dims(inverse, -2))
    return _core.matmul(scaled, matrix_transpose(_core.conj(u)))


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QR:
    """QR decomposition of a matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a floating-point dtype.
    mode : {"reduced", "complete"}, optional
        Whether ``Q`` has the ``k = min(m, n)`` columns that are needed, or all ``m``.

    Returns
    -------
    QR
        A named tuple of ``Q``, of the shape ``(..., m, k)`` or ``(..., m, m)``, with orthonormal
        columns, and ``R``, upper triangular, of the shape ``(..., k, n)`` or ``(..., m, n)``, whose
        product is `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `x` has fewer than two dimensions, or `mode` is unknown.
    """
    return QR(*_core.qr(x, mode))


def slogdet(x: Array, /) -> SLogDet:
    """Sign and logarithm of the magnitude of a determinant.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, m)``, of a floating-point dtype.

    Returns
    -------
    SLogDet
        A named tuple of ``sign`` (of magnitude 1, or 0 for a singular matrix; of the dtype of `x`)
        and ``logabsdet`` (real, ``-inf`` for a singular matrix), of the shape ``(...)``. The
        determinant is ``sign * exp(logabsdet)``.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If the matrices are not square.
    """
    return SLogDet(*_core.slogdet(x))


def solve(x1: Array, x2: Array, /) -> Array:
    """Solution of a system of linear equations.

    Parameters
    ----------
    x1 : Array
        Coefficients: matrices of the shape ``(..., m, m)``, of a floating-point dtype.
    x2 : Array
        Right-hand sides: one vector of ``m`` elements, or matrices of the shape ``(..., m, k)``
        whose columns are solved for. The leading dimensions broadcast.

    Returns
    -------
    Array
        The ``X`` with ``x1 X = x2``, of the shape ``(..., m)`` or ``(..., m, k)`` and the promoted
        dtype.

    Raises
    ------
    TypeError
        If an argument is not an array of a floating-point dtype, or the two do not promote to one.
    ValueError
        If the shapes do not fit, or a matrix is singular.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [0.0, 4.0]]), xp.asarray([1.0, 1.0]))
    Array([0.5 , 0.25], dtype=float64, device=cpu)
    """
    return _core.solve(x1, x2)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVD:
    """Singular value decomposition of a matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a floating-point dtype.
    full_matrices : bool, optional
        Whether ``U`` and ``Vh`` are square, or hold only the ``k = min(m, n)`` vectors needed.

    Returns
    -------
    SVD
        A named tuple of ``U``, of the shape ``(..., m, m)`` or ``(..., m, k)``, with orthonormal
        columns, ``S``, the singular values, real, descending, of the shape ``(..., k)``, and
        ``Vh``, of the shape ``(..., n, n)`` or ``(..., k, n)``, with orthonormal rows.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `x` has fewer than two dimensions, or the iteration does not converge.
    """
    return SVD(*_core.svd(x, full_matrices))


def svdvals(x: Array, /) -> Array:
    """Singular values of a matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a floating-point dtype.

    Returns
    -------
    Array
        The ``min(m, n)`` singular values of each matrix, descending, of the real dtype of the
        precision of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.
    ValueError
        If `x` has fewer than two dimensions, or the iteration does not converge.
    """
    return _core.svdvals(x)


@composed
def trace(x: Array, /, *, offset: int = 0, dtype: DType | None = None) -> Array:
    """Sum of the elements on a diagonal of a matrix.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of a numeric dtype.
    offset : int, optional
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    dtype : dtype, optional
        Dtype of the sum. By default that of `x`, but int64 for smaller signed and uint64 for
        smaller unsigned integers.

    Returns
    -------
    Array
        The sums, of the shape ``(...)``.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    ValueError
        If `x` has fewer than two dimensions.
    """
    require_numeric("trace", x)
    require_rank("trace", x, 2)
    return _core.sum(_core.diagonal(x, as_index("trace", "offset", offset)), -1, dtype, False)


def _power_norm(x: Array, axis: Axes, keepdims: bool, ord: int | float) -> Array:
    """Return ``sum(abs(x)**ord)**(1 / ord)``."""
    magnitudes = _core.abs(x)
    if ord == 1:
        return _core.sum(magnitudes, axis, None, keepdims)
    powers = _core.reciprocal(magnitudes) if ord == -1 else _core.pow(magnitudes, float(ord))
    total = _core.sum(powers, axis, None, keepdims)
    return _core.reciprocal(total) if ord == -1 else _core.pow(total, 1 / ord)


@composed
def vector_norm(
    x: Array,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Array:
    """Norm of a vector.

    Parameters
    ----------
    x : Array
        The values, of a floating-point dtype.
    axis : int or tuple of int, optional
        The axes that make up one vector. By default all of them.
    keepdims : bool, optional
        Whether these axes stay in the shape with the length 1.
    ord : int or float, optional
        The order ``p`` of the norm: ``sum(abs(x)**p)**(1/p)``, for ``inf`` and ``-inf`` the largest
        and the smallest magnitude, for 0 the number of elements that are not zero. Default: 2.

    Returns
    -------
    Array
        The norms, of the real dtype of the precision of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype, or `ord` is not a real number.
    ValueError
        If an axis is out of bounds or given twice, `ord` is ``nan``, or the smallest of nothing is
        asked.

    Notes
    -----
    The norm of order 2 does not overflow or underflow in between.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.linalg.vector_norm(xp.asarray([3.0, 4.0]))
    Array(5., dtype=float64, device=cpu)
    """
    x = as_floating("vector_norm", x)
    axes = as_axes("vector_norm", axis, x.ndim)
    if not isinstance(ord, int | float | np.integer | np.floating):
        raise TypeError(f"vector_norm: ord is an int or a float, got {ord!r}")
    if math.isnan(ord):
        raise ValueError("vector_norm: ord is nan")
    if ord == 2:
        return _root_of_squares(x, axes, keepdims)
    if ord == 0:
        count = _core.count_nonzero(x, axes, keepdims)
        return _core.astype(count, real_part(x.dtype), True, None)
    if ord == math.inf:
        return _largest(_core.abs(x), axes, keepdims)
    if ord == -math.inf:
        return _smallest("vector_norm", _core.abs(x), axes, keepdims)
    return _power_norm(x, axes, keepdims, ord)


def __dir__() -> list[str]:
    return list(__all__)
