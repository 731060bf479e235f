"""Linear algebra: products exactly or by their rounding bound, factorisations by backward error."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .core import COMPLEX, FLOATING, INTEGRAL, NUMERIC, Failure, Kit, add, check
from .elementwise import promoted
from .layouts import NDArray, laid
from .statistical import accumulated, wide
from .values import samples

CHAPTER = "linalg"

#: Stacks and orders of the matrices given to factorisations.
STACKS: tuple[tuple[tuple[int, ...], int], ...] = (
    ((), 1),
    ((), 2),
    ((), 3),
    ((), 5),
    ((2,), 4),
    ((2, 3), 3),
    ((0,), 3),
    ((), 0),
    ((), 33),
)
PRODUCTS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3, 4), (4, 5)),
    ((1, 1), (1, 1)),
    ((65, 33), (33, 17)),
    ((5,), (5,)),
    ((5,), (5, 3)),
    ((4, 5), (5,)),
    ((2, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (4,)),
    ((0, 4), (4, 3)),
    ((3, 0), (0, 4)),
    ((2, 0, 3), (3, 2)),
    ((7, 129), (129, 9)),
    ((130, 3), (3, 131)),
)


def matrix(dtype: str, shape: tuple[int, ...], k: Kit) -> NDArray:
    """Return well-scaled random matrices."""
    return samples(dtype, math.prod(shape), k.rng, "mild").reshape(shape)


def _small(dtype: str, shape: tuple[int, ...], k: Kit) -> NDArray:
    if dtype in INTEGRAL:
        low = 0 if dtype.startswith("u") else -3
        return (
            k.rng.integers(low, 4, shape).astype(dtype)
            if dtype not in ("int8", "uint8")
            else k.rng.integers(0, 2, shape).astype(dtype)
        )
    return matrix(dtype, shape, k)


def _product(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of matmul or of the operator ``@``."""

    def body(k: Kit) -> None:
        f = k.op(name) if name.startswith("__") else k.fn(name)
        for s1, s2 in PRODUCTS:
            a, b = _small(dtype, s1, k), _small(dtype, s2, k)
            if dtype in ("int8", "uint8") and s1[-1] > 100:
                continue
            for (layout, p), (other, q) in zip(
                laid(a), [*laid(b)][2:] + [*laid(b)][:2], strict=True
            ):
                what = f"{name}({dtype}{list(s1)} {layout}, {list(s2)} {other})"
                got = f(k.to(p, layout), k.to(q, other))
                _close(k, got, *_with_scale(np.matmul, p, q), s1[-1], dtype, what)

    return body


def _with_scale(f: Callable[..., Any], a: NDArray, b: NDArray) -> tuple[NDArray, NDArray]:
    """Return a sum of products in higher precision, and the sum of their magnitudes."""
    p, q = a.astype(wide(a.dtype.name)), b.astype(wide(b.dtype.name))
    return np.asarray(f(p, q)), np.asarray(f(np.abs(p), np.abs(q)))


def _close(k: Kit, got: Any, want: NDArray, scale: Any, n: int, dtype: str, what: str) -> None:
    if dtype in INTEGRAL:
        k.same(got, want.astype(dtype), what)
    else:
        k.bounded(got, want, scale, (n + 2) * (2 if dtype in COMPLEX else 1), dtype, what)


def _in_place_product(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        for shape, other in (((3, 3), (3, 3)), ((4, 5), (5, 5)), ((2, 3, 4), (4, 4))):
            a, b = _small(dtype, shape, k), _small(dtype, other, k)
            got = k.op("__imatmul__")(k.to(a, "offset"), k.to(b))
            want, scale = _with_scale(np.matmul, a, b)
            _close(k, got, want, scale, shape[-1], dtype, f"{dtype}{list(shape)} @= {list(other)}")

    return body


#: Shapes that matmul should refuse.
MISFITS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3, 4), (3, 4)),
    ((3, 4), ()),
    ((), (3,)),
    ((5,), (4,)),
    ((5,), (4, 5)),
    ((3, 4), (3,)),
)


def _misfits(name: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        for s1, s2 in MISFITS if name == "matmul" else (((3,), (4,)), ((2, 3), (2, 2))):
            a, b = k.to(np.ones(s1)), k.to(np.ones(s2))
            k.raises(lambda a=a, b=b: k.fn(name)(a, b), f"{name} of shapes {s1} and {s2}")

    return body


def _tensordot(name: str, dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn(name)
        for s1, s2, axes in (
            ((3, 4, 5), (4, 5, 2), 2),
            ((3, 4), (5, 2), 0),
            ((3, 4, 5), (5, 2), 1),
            ((3, 4, 5), (5, 3, 2), ((0, 2), (1, 0))),
            ((4, 3), (4,), ((0,), (0,))),
            ((3, 4), (3, 4), ((-1, 0), (1, -2))),
        ):
            a, b = _small(dtype, s1, k), _small(dtype, s2, k)
            for layout, v in laid(a):
                dot = functools.partial(np.tensordot, axes=axes)
                want, scale = _with_scale(dot, v, b)
                got = f(k.to(v, layout), k.to(b, "reversed"), axes=axes)
                what = f"tensordot({dtype}{list(s1)} {layout}, {list(s2)}, axes={axes})"
                _close(k, got, want, scale, a.size, dtype, what)
        a, b = _small(dtype, (2, 3, 4), k), _small(dtype, (3, 4, 2), k)
        want, scale = _with_scale(np.tensordot, a, b)
        _close(k, f(k.to(a), k.to(b)), want, scale, 12, dtype, f"tensordot({dtype}), default axes")

    return body


def _transpose(name: str, dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        for shape in ((3, 5), (2, 0), (2, 3, 4), (1, 1, 2, 1, 2, 3, 5)):
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            for layout, v in laid(x):
                got = k.fn(name)(k.to(v, layout))
                k.same(got, np.swapaxes(v, -1, -2), f"{name}({dtype}{list(shape)} {layout})")

    return body


def _vecdot(name: str, dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn(name)
        dots: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
            ((7,), (7,), -1),
            ((3, 65), (3, 65), -1),
            ((3, 65), (65,), -1),
            ((4, 1, 5), (3, 5), -1),
            ((5, 3), (5, 3), -2),
            ((3, 0), (3, 0), -1),
        )
        for p1, p2, axis in dots:
            a, b = _small(dtype, p1, k), _small(dtype, p2, k)
            for layout, v in laid(a):
                x = np.conj(v).astype(wide(dtype)) * b.astype(wide(dtype))
                want, scale = (np.asarray(np.sum(t, axis=axis)) for t in (x, np.abs(x)))
                got = f(k.to(v, layout), k.to(b, "offset"), axis=axis)
                what = f"vecdot({dtype}{list(p1)} {layout}, {list(p2)}, axis={axis})"
                _close(k, got, want, scale, x.shape[axis], dtype, what)

    return body


def _outer(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("linalg.outer")
        for n, m in ((9, 65), (1, 1), (0, 3), (64, 7)):
            a, b = _small(dtype, (n,), k), _small(dtype, (m,), k)
            want, scale = _with_scale(np.outer, a, b)
            for layout, v in laid(a):
                if layout != "broadcast":
                    got = f(k.to(v, layout), k.to(b, "reversed"))
                    _close(k, got, want, scale, 1, dtype, f"outer({dtype}[{n}] {layout}, [{m}])")

    return body


def _cross(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("linalg.cross")
        cases: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
            ((3,), (3,), -1),
            ((5, 3), (5, 3), -1),
            ((3, 5), (3, 5), -2),
            ((2, 3, 4), (2, 3, 4), -2),
            ((4, 1, 3), (2, 3), -1),
        )
        for s1, s2, axis in cases:
            a, b = _small(dtype, s1, k), _small(dtype, s2, k)
            p, q = (np.moveaxis(v.astype(wide(dtype)), axis, -1) for v in (a, b))
            left, right = (
                p[..., [1, 2, 0]] * q[..., [2, 0, 1]],
                p[..., [2, 0, 1]] * q[..., [1, 2, 0]],
            )
            want = np.moveaxis(left - right, -1, axis)
            scale = np.moveaxis(np.abs(left) + np.abs(right), -1, axis)
            got = f(k.to(a, "ladder"), k.to(b), axis=axis)
            _close(k, got, want, scale, 3, dtype, f"cross({dtype}{list(s1)}, {list(s2)}, {axis=})")

    return body


@check(CHAPTER, "cross", "errors", "advice")
def _cross_errors(k: Kit) -> None:
    for s1, s2 in (((2,), (2,)), ((2, 1), (2, 3)), ((3,), (2,))):
        a, b = k.to(np.ones(s1)), k.to(np.ones(s2))
        k.raises(lambda a=a, b=b: k.fn("linalg.cross")(a, b), f"cross of shapes {s1} and {s2}")


#: Shapes and offsets of diagonals.
DIAGONALS = tuple(
    itertools.product(((3, 3), (4, 7), (2, 5, 4), (0, 3), (1, 1, 1, 2, 1, 6, 5)), (-2, 0, 1, 9))
)


def _diagonal(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("linalg.diagonal")
        for shape, offset in DIAGONALS:
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            for layout, v in laid(x):
                what = f"diagonal({dtype}{list(shape)} {layout}, offset={offset})"
                got = f(k.to(v, layout), offset=offset)
                k.same(got, np.diagonal(v, offset, -2, -1), what)

    return body


def _trace(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, out = k.fn("linalg.trace"), accumulated(k, dtype)
        for shape, offset in DIAGONALS:
            x = samples(dtype, math.prod(shape), k.rng, "mild").reshape(shape)
            for layout, v in laid(x):
                t = np.diagonal(v.astype(wide(dtype)), offset, -2, -1)
                want, scale = (np.asarray(np.sum(d, axis=-1)) for d in (t, np.abs(t)))
                what = f"trace({dtype}{list(shape)} {layout}, offset={offset})"
                got = f(k.to(v, layout), offset=offset)
                if dtype in INTEGRAL:
                    k.same(got, want.astype(out), what)
                else:
                    k.bounded(got, want, scale, 8, out, what)
        x = np.array([[100, 0], [1, 100]], dtype)
        got = f(k.to(x), dtype=k.dtype("complex128" if dtype in COMPLEX else "float64"))
        k.same(got, np.asarray(200, k.back(got).dtype), f"trace({dtype}, dtype=...)")

    return body


@check(CHAPTER, "matmul", "promotion")
def _promotes(k: Kit) -> None:
    for a, b in itertools.permutations(NUMERIC, 2):
        joint = promoted(a, b)
        if joint is None or joint not in NUMERIC or not k.has(a, b, joint):
            continue
        x, y = np.array([[1, 2], [3, 4]], a), np.array([[5, 6], [7, 8]], b)
        want = (x.astype(joint) @ y.astype(joint)).astype(joint)
        k.same(k.fn("matmul")(k.to(x), k.to(y)), want, f"matmul({a}, {b})")


# ---------------------------------------------------------------- factorisations


def _norm(x: NDArray) -> Any:
    """Return the Frobenius norm of each matrix of a stack."""
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=(-2, -1), keepdims=True))


def _adjoint(x: NDArray) -> NDArray:
    return np.conj(np.swapaxes(x, -1, -2))


def residual(k: Kit, error: NDArray, scale: Any, dtype: str, what: str) -> None:
    """Check the norm of a residual against ``linalg * n * eps * scale``."""
    n = max(1, *error.shape[-2:])
    eps = float(np.finfo(dtype).eps)
    size = _norm(error)
    if not np.all(np.isfinite(size)) or np.any(size > k.limits.linalg * n * eps * scale):
        worst = np.max(size / (n * eps * np.maximum(scale, 1e-300))) if size.size else 0
        raise Failure(f"{what}: residual {float(worst):.4g} n*eps, allowed {k.limits.linalg:g}")


def _read(k: Kit, got: Any, shape: tuple[int, ...], dtype: str, what: str) -> NDArray:
    k.shaped(got, shape, dtype, what)
    return k.back(got).astype(np.clongdouble if dtype in COMPLEX else np.longdouble)


def _real(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _factor(name: str, dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("linalg." + name)
        for stack, n in STACKS:
            for m in (
                dict.fromkeys((n, n + 2)) if name in ("qr", "svd", "svdvals", "pinv") else (n,)
            ):
                for wide_matrix in dict.fromkeys((False, m != n)):
                    shape = (*stack, n, m) if wide_matrix else (*stack, m, n)
                    a = matrix(dtype, shape, k)
                    if name in ("cholesky", "eigh", "eigvalsh"):
                        a = a + _adjoint(a)
                    if name == "cholesky":
                        a = (a @ _adjoint(a) + np.eye(n)).astype(dtype)
                    for layout in ("contiguous", "transposed", "ladder"):
                        what = f"{name}({dtype}{list(shape)}, {layout})"
                        FACTORS[name](
                            k,
                            f,
                            k.to(a, layout),
                            a.astype(np.clongdouble if dtype in COMPLEX else np.longdouble),
                            dtype,
                            what,
                        )

    return body


def _cholesky(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    for upper in (False, True):
        c = _read(k, f(x, upper=upper), a.shape, dtype, what)
        k.true(
            np.array_equal(c, np.triu(c) if upper else np.tril(c)),
            f"{what}: must be triangular, upper={upper}",
        )
        residual(k, (_adjoint(c) @ c if upper else c @ _adjoint(c)) - a, _norm(a), dtype, what)


def _qr(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    m, n = a.shape[-2:]
    for mode in ("reduced", "complete"):
        p = min(m, n) if mode == "reduced" else m
        result = f(x, mode=mode)
        k.true(
            result.Q is result[0] and result.R is result[1], f"{what}: must be a namedtuple (Q, R)"
        )
        q = _read(k, result[0], (*a.shape[:-1], p), dtype, what)
        r = _read(k, result[1], (*a.shape[:-2], p, n), dtype, what)
        k.true(np.array_equal(r, np.triu(r)), f"{what}: R must be upper triangular")
        residual(k, q @ r - a, _norm(a), dtype, f"{what} mode={mode}")
        residual(
            k,
            _adjoint(q) @ q - np.eye(p),
            math.sqrt(max(p, 1)),
            dtype,
            f"{what} mode={mode}, orthogonality",
        )


def _svd(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    m, n = a.shape[-2:]
    p = min(m, n)
    for full in (True, False):
        result = f(x, full_matrices=full)
        k.true(
            result.U is result[0] and result.S is result[1] and result.Vh is result[2],
            f"{what}: namedtuple (U, S, Vh)",
        )
        u = _read(k, result[0], (*a.shape[:-2], m, m if full else p), dtype, what)
        s = _read(k, result[1], (*a.shape[:-2], p), _real(dtype), what)
        v = _read(k, result[2], (*a.shape[:-2], n if full else p, n), dtype, what)
        k.true(
            bool(np.all(s >= 0) and np.all(s[..., :-1] >= s[..., 1:])),
            f"{what}: S must descend, not negative",
        )
        residual(
            k,
            (u[..., :p] * s[..., None, :]) @ v[..., :p, :] - a,
            _norm(a),
            dtype,
            f"{what} full={full}",
        )
        for z in (u, _adjoint(v)):
            residual(
                k,
                _adjoint(z) @ z - np.eye(z.shape[-1]),
                math.sqrt(max(z.shape[-1], 1)),
                dtype,
                f"{what} full={full}, orthogonality",
            )


def _svdvals(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    s = _read(k, f(x), (*a.shape[:-2], min(a.shape[-2:])), _real(dtype), what)
    # The sums of s**2 and s**4 are traces of A^H A and its square.
    gram = _adjoint(a) @ a
    for power, mat in ((2, gram), (4, gram @ gram)):
        err = np.sum(s**power, axis=-1) - np.trace(mat, axis1=-2, axis2=-1).real
        residual(k, err[..., None, None], 2 * power * _norm(a) ** power, dtype, what)


def _eigh(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    n = a.shape[-1]
    result = f(x)
    k.true(
        result.eigenvalues is result[0] and result.eigenvectors is result[1], f"{what}: namedtuple"
    )
    w = _read(k, result[0], (*a.shape[:-2], n), _real(dtype), what)
    v = _read(k, result[1], a.shape, dtype, what)
    residual(k, a @ v - v * w[..., None, :], _norm(a), dtype, what)
    residual(k, _adjoint(v) @ v - np.eye(n), math.sqrt(max(n, 1)), dtype, f"{what}, orthogonality")


def _eigvalsh(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    w = _read(k, f(x), a.shape[:-1], _real(dtype), what)
    for power, mat in ((1, a), (2, a @ a)):
        err = np.sum(w**power, axis=-1) - np.trace(mat, axis1=-2, axis2=-1).real
        residual(k, err[..., None, None], 4 * (_norm(a) + (_norm(a) == 0)) ** power, dtype, what)


def _complex_of(dtype: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)


def _eig(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    result = f(x)
    k.true(
        result.eigenvalues is result[0] and result.eigenvectors is result[1], f"{what}: namedtuple"
    )
    w = _read(k, result[0], a.shape[:-1], _complex_of(dtype), what)
    v = _read(k, result[1], a.shape, _complex_of(dtype), what)
    residual(k, a @ v - v * w[..., None, :], 4 * _norm(a), dtype, what)
    length = np.sqrt(np.sum(np.abs(v) ** 2, axis=-2))
    k.true(bool(np.all(np.abs(length - 1) < 1e-3)), f"{what}: eigenvectors must have unit length")


def _eigvals(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    w = _read(k, f(x), a.shape[:-1], _complex_of(dtype), what)
    for power, mat in ((1, a), (2, a @ a)):
        err = np.sum(w**power, axis=-1) - np.trace(mat, axis1=-2, axis2=-1)
        residual(k, err[..., None, None], 16 * power * _norm(a) ** power, dtype, what)


def _condition(a: NDArray) -> Any:
    if a.size == 0:
        return np.ones((*a.shape[:-2], 1, 1))
    s = np.linalg.svd(a.astype(np.complex128), compute_uv=False)
    return (s[..., 0] / s[..., -1])[..., None, None]


def _inv(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    y = _read(k, f(x), a.shape, dtype, what)
    residual(k, a @ y - np.eye(a.shape[-1]), _norm(a) * _norm(y) + 1, dtype, what)


def _pinv(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    y = _read(k, f(x), (*a.shape[:-2], a.shape[-1], a.shape[-2]), dtype, what)
    residual(k, a @ y @ a - a, _norm(a) * (1 + _norm(a) * _norm(y)), dtype, what)
    residual(k, _adjoint(a @ y) - a @ y, 1 + _norm(a) * _norm(y), dtype, what)


def _det(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    want = _dets(a)
    got = _read(k, f(x), a.shape[:-2], dtype, what)
    scale = np.abs(want)[..., None, None] * _condition(a) * 4
    if a.shape[-1] < 20:
        residual(k, (got - want)[..., None, None], scale, dtype, what)


def _exact_det(m: NDArray) -> Any:
    """Return a determinant by elimination in long double with full pivoting of rows."""
    m = m.copy()
    out = m.dtype.type(1)
    for i in range(m.shape[0]):
        p = i + int(np.argmax(np.abs(m[i:, i])))
        if p != i:
            m[[i, p]] = m[[p, i]]
            out = -out
        out = out * m[i, i]
        m[i + 1 :, i:] = m[i + 1 :, i:] - np.outer(m[i + 1 :, i] / m[i, i], m[i, i:])
    return out


def _dets(a: NDArray) -> NDArray:
    out = np.empty(a.shape[:-2], a.dtype)
    for i in np.ndindex(out.shape):
        out[i] = _exact_det(a[i])
    return out


def _slogdet(k: Kit, f: Any, x: Any, a: NDArray, dtype: str, what: str) -> None:
    result = f(x)
    k.true(
        result.sign is result[0] and result.logabsdet is result[1],
        f"{what}: namedtuple (sign, logabsdet)",
    )
    sign = _read(k, result[0], a.shape[:-2], dtype, what)
    log = _read(k, result[1], a.shape[:-2], _real(dtype), what)
    want = _dets(a)
    scale = 8 * _condition(a) * (1 + np.abs(np.log(np.abs(want)))[..., None, None])
    residual(k, (log - np.log(np.abs(want)))[..., None, None], scale, dtype, what)
    residual(k, (sign - want / np.abs(want))[..., None, None], scale, dtype, what + ", sign")


FACTORS: dict[str, Callable[[Kit, Any, Any, NDArray, str, str], None]] = {
    "cholesky": _cholesky,
    "qr": _qr,
    "svd": _svd,
    "svdvals": _svdvals,
    "eigh": _eigh,
    "eigvalsh": _eigvalsh,
    "eig": _eig,
    "eigvals": _eigvals,
    "inv": _inv,
    "pinv": _pinv,
    "det": _det,
    "slogdet": _slogdet,
}


def _solve(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("linalg.solve")
        w = np.clongdouble if dtype in COMPLEX else np.longdouble
        for s1, s2 in (
            ((3, 3), (3,)),
            ((3, 3), (3, 2)),
            ((5, 4, 4), (5, 4, 2)),
            ((2, 1, 3, 3), (4, 3, 2)),
            ((2, 3, 3), (3,)),
            ((33, 33), (33, 5)),
            ((0, 0), (0, 2)),
            ((0, 3, 3), (3,)),
            ((1, 1), (1,)),
        ):
            a, b = matrix(dtype, s1, k), matrix(dtype, s2, k)
            vector = len(s2) == 1
            shape = np.broadcast_shapes(s1[:-2], () if vector else s2[:-2]) + (
                s1[-1:] if vector else (s1[-1], s2[-1])
            )
            for layout in ("contiguous", "transposed", "ladder"):
                what = f"solve({dtype}{list(s1)} {layout}, {list(s2)})"
                x = _read(k, f(k.to(a, layout), k.to(b, layout)), shape, dtype, what)
                lhs, rhs = a.astype(w), b.astype(w)
                got, rhs = (x[..., None], rhs[:, None]) if vector else (x, rhs)
                residual(k, lhs @ got - rhs, _norm(lhs) * _norm(got) + _norm(rhs), dtype, what)

    return body


def _vector_norm(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, real = k.fn("linalg.vector_norm"), _real(dtype)
        for shape, axis in (
            ((7,), None),
            ((65,), -1),
            ((3, 5), None),
            ((3, 5), 0),
            ((3, 5), (0, 1)),
            ((2, 3, 4), (0, 2)),
            ((2, 3, 4), 1),
            ((), None),
            ((0,), None),
        ):
            x = matrix(dtype, shape, k)
            for o in (2, 1, 0, 3, 0.5, -1, math.inf, -math.inf) if 0 not in shape else (1, 2):
                for layout, v in laid(x):
                    want = _vector_norms(np.abs(v.astype(wide(dtype))), axis, o)
                    got = f(k.to(v, layout), axis=axis, ord=o)
                    what = f"vector_norm({dtype}{list(shape)} {layout}, axis={axis}, ord={o})"
                    k.bounded(got, want, np.abs(want), 16 + x.size, real, what)
            axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
            gone = {a % len(shape) for a in axes} if shape else set()
            kept = [1 if i in gone else n for i, n in enumerate(shape)]
            got = f(k.to(x), axis=axis, keepdims=True)
            k.shaped(got, kept, real, f"vector_norm({list(shape)}, axis={axis}, keepdims)")
            want = _vector_norms(np.abs(x.astype(wide(dtype))), None, 2)
            k.bounded(f(k.to(x)), want, want, 16 + x.size, real, f"vector_norm({list(shape)})")

    return body


def _vector_norms(size: NDArray, axis: Any, o: float) -> NDArray:
    """Return norms of vectors whose elements have the magnitudes `size`."""
    if o == 0:
        return np.asarray(np.sum(size != 0, axis=axis).astype(np.longdouble))
    if math.isinf(o):
        return np.asarray(np.max(size, axis=axis) if o > 0 else np.min(size, axis=axis))
    power = np.longdouble(o)
    return np.asarray(np.sum(size**power, axis=axis) ** (1 / power))


def _matrix_norm(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, real = k.fn("linalg.matrix_norm"), _real(dtype)
        for shape in ((3, 3), (4, 7), (2, 5, 3)):
            x = matrix(dtype, shape, k)
            mag = np.abs(x.astype(wide(dtype)))
            s = np.linalg.svd(x.astype(np.complex128), compute_uv=False).astype(np.longdouble)
            wants: dict[Any, Any] = {
                "fro": np.sqrt(np.sum(mag**2, axis=(-2, -1))),
                "nuc": s.sum(-1),
                1: mag.sum(-2).max(-1),
                -1: mag.sum(-2).min(-1),
                2: s.max(-1),
                -2: s.min(-1),
                math.inf: mag.sum(-1).max(-1),
                -math.inf: mag.sum(-1).min(-1),
            }
            scale = np.asarray(s.max(-1))
            for o, want in wants.items():
                for layout in ("contiguous", "transposed", "ladder"):
                    what = f"matrix_norm({dtype}{list(shape)} {layout}, ord={o})"
                    k.bounded(f(k.to(x, layout), ord=o), np.asarray(want), scale, 64, real, what)
                got = f(k.to(x), ord=o, keepdims=True)
                kept, sizes = (np.asarray(v)[..., None, None] for v in (want, scale))
                k.bounded(got, kept, sizes, 64, real, f"{what}, keepdims")
            k.bounded(f(k.to(x)), wants["fro"], scale, 64, real, f"matrix_norm({dtype})")

    return body


def _powers(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        w = np.clongdouble if dtype in COMPLEX else np.longdouble
        power = k.fn("linalg.matrix_power")
        for shape in ((3, 3), (2, 4, 4), (1, 1)):
            a = matrix(dtype, shape, k)
            m = a.astype(w)
            for n in (0, 1, 2, 3, 7):
                want = np.broadcast_to(np.eye(shape[-1]), shape).astype(w)
                for _ in range(n):
                    want = want @ m
                got = _read(
                    k,
                    power(k.to(a, "transposed"), n),
                    shape,
                    dtype,
                    f"matrix_power({dtype}{list(shape)}, {n})",
                )
                residual(
                    k,
                    got - want,
                    max(n, 1) * _norm(m) ** n,
                    dtype,
                    f"matrix_power({dtype}{list(shape)}, {n})",
                )
            got = _read(
                k, power(k.to(a), -2), shape, dtype, f"matrix_power({dtype}{list(shape)}, -2)"
            )
            residual(
                k,
                got @ m @ m - np.eye(shape[-1]),
                _condition(a) ** 2 * 4,
                dtype,
                f"matrix_power({dtype}{list(shape)}, -2)",
            )

    return body


def _ranks(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("linalg.matrix_rank")
        for rows, cols, r in ((4, 4, 2), (5, 3, 3), (3, 6, 1), (4, 4, 0)):
            a = (matrix(dtype, (rows, r), k) @ matrix(dtype, (r, cols), k)).astype(dtype)
            for layout in ("contiguous", "transposed", "ladder"):
                got = f(k.to(a, layout))
                what = f"matrix_rank of {rows}x{cols} {dtype} {layout} of rank {r}"
                k.true(got.shape == () and int(k.back(got)) == r, f"{what}: {k.back(got)!r}")
        stack = k.to(np.stack([np.diag([1, 1, 1]), np.diag([1, 1e-3, 0])]).astype(dtype))
        k.true(k.back(f(stack)).tolist() == [3, 2], "matrix_rank of a stack")
        k.true(k.back(f(stack, rtol=0.01)).tolist() == [3, 1], "matrix_rank(rtol=0.01)")

    return body


def _pinv_rtol(dtype: str) -> Callable[[Kit], None]:
    """Return the check that small singular values count as zero."""

    def body(k: Kit) -> None:
        a = np.diag([4.0, 2.0, 2.0**-10]).astype(dtype)
        want = np.diag([0.25, 0.5, 0.0])
        got = k.fn("linalg.pinv")(k.to(a), rtol=2.0**-8)
        k.bounded(got, want.astype(wide(dtype)), 1.0, 8, dtype, f"pinv({dtype}, rtol=2**-8)")

    return body


_EXACT: dict[str, Callable[[str], Callable[[Kit], None]]] = {
    "outer": _outer,
    "diagonal": _diagonal,
    "trace": _trace,
}
_FLOATING: dict[str, Callable[[str], Callable[[Kit], None]]] = {
    "solve": _solve,
    "vector_norm": _vector_norm,
    "matrix_norm": _matrix_norm,
    "matrix_power": _powers,
    "matrix_rank": _ranks,
}

for _dtype in NUMERIC:
    add(CHAPTER, "matmul", _dtype, _product("matmul", _dtype))
    add(CHAPTER, "matmul", f"operator-{_dtype}", _product("__matmul__", _dtype))
    add(CHAPTER, "matmul", f"in-place-{_dtype}", _in_place_product(_dtype))
    add(CHAPTER, "tensordot", _dtype, _tensordot("tensordot", _dtype))
    add(CHAPTER, "vecdot", _dtype, _vecdot("vecdot", _dtype))
    for _name, _make in _EXACT.items():
        add(CHAPTER, _name, _dtype, _make(_dtype))
    if not _dtype.startswith("u"):
        add(CHAPTER, "cross", _dtype, _cross(_dtype))
_ALIASES: dict[str, Callable[[str, str], Callable[[Kit], None]]] = {
    "matmul": _product,
    "tensordot": _tensordot,
    "vecdot": _vecdot,
    "matrix_transpose": _transpose,
}
for _name, _alias in _ALIASES.items():
    for _dtype in ("int32", "float64", "complex64"):
        add(CHAPTER, _name, f"linalg.{_name}-{_dtype}", _alias(f"linalg.{_name}", _dtype))
for _dtype in FLOATING:
    for _name in FACTORS:
        add(CHAPTER, _name, _dtype, _factor(_name, _dtype))
    for _name, _make in _FLOATING.items():
        add(CHAPTER, _name, _dtype, _make(_dtype))
    add(CHAPTER, "pinv", f"rtol-{_dtype}", _pinv_rtol(_dtype))
for _name in ("matmul", "vecdot"):
    add(CHAPTER, _name, "errors", _misfits(_name), "advice")
