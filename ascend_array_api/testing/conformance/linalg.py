"""Linear algebra: products exactly or by their rounding bound, factorisations by backward error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .core import (
    COMPLEX,
    FLOATING,
    INTEGRAL,
    LAYOUTS,
    NUMERIC,
    REAL_FLOATING,
    Failure,
    Kit,
    NDArray,
    add,
    check,
    samples,
)
from .elementwise import promoted
from .statistical import wide

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
    def body(k: Kit) -> None:
        f = k.fn(name)
        w = wide(dtype)
        for s1, s2 in PRODUCTS:
            a, b = _small(dtype, s1, k), _small(dtype, s2, k)
            if dtype in ("int8", "uint8") and s1[-1] > 100:
                continue
            want = np.asarray(np.matmul(a.astype(w), b.astype(w)))
            scale = np.asarray(np.matmul(np.abs(a.astype(w)), np.abs(b.astype(w))))
            for i, layout in enumerate(LAYOUTS):
                other = list(LAYOUTS)[(i + 2) % len(LAYOUTS)]
                raw = k.to(a, layout), k.to(b, other)
                for label, call in ((name, f), ("@", lambda x, y: x @ y)):
                    what = f"{label}({dtype}{list(s1)} {layout}, {list(s2)} {other})"
                    _close(k, call(*raw), want, scale, s1[-1], dtype, what)
        a, b = k.to(_small(dtype, (3, 4), k)), k.to(_small(dtype, (3, 4), k))
        k.raises(lambda: f(a, b), f"{name} of shapes (3, 4) and (3, 4)")
        k.raises(lambda: f(a, k.to(_small(dtype, (), k))), f"{name} of rank 0")

    return body


def _close(k: Kit, got: Any, want: NDArray, scale: Any, n: int, dtype: str, what: str) -> None:
    if dtype in INTEGRAL:
        k.same(got, want.astype(dtype), what)
    else:
        k.bounded(got, want, scale, (n + 2) * (2 if dtype in COMPLEX else 1), dtype, what)


def _contractions(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        w = wide(dtype)
        tensordot, vecdot = k.fn("tensordot"), k.fn("vecdot")
        for s1, s2, axes in (
            ((3, 4, 5), (4, 5, 2), 2),
            ((3, 4), (5, 2), 0),
            ((3, 4, 5), (5, 2), 1),
            ((3, 4, 5), (5, 3, 2), ((0, 2), (1, 0))),
            ((4, 3), (4,), ((0,), (0,))),
            ((3, 4), (3, 4), ((-1, 0), (1, -2))),
        ):
            a, b = _small(dtype, s1, k), _small(dtype, s2, k)
            want = np.asarray(np.tensordot(a.astype(w), b.astype(w), axes))
            scale = np.asarray(np.tensordot(np.abs(a.astype(w)), np.abs(b.astype(w)), axes))
            for layout in LAYOUTS:
                got = tensordot(k.to(a, layout), k.to(b, "reversed"), axes=axes)
                _close(
                    k,
                    got,
                    want,
                    scale,
                    a.size,
                    dtype,
                    f"tensordot({dtype}{list(s1)} {layout}, {list(s2)}, axes={axes})",
                )
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
            x = np.conj(a).astype(w) * b.astype(w)
            want, scale = np.asarray(np.sum(x, axis=axis)), np.asarray(np.sum(np.abs(x), axis=axis))
            if x.shape[axis] == 0:
                want = want.astype(w) * 0
            for layout in LAYOUTS:
                got = vecdot(k.to(a, layout), k.to(b, "offset"), axis=axis)
                _close(
                    k,
                    got,
                    want,
                    scale,
                    x.shape[axis],
                    dtype,
                    f"vecdot({dtype}{list(p1)} {layout}, {list(p2)}, axis={axis})",
                )
        if not hasattr(k.xp, "linalg"):
            return
        a, b = _small(dtype, (9,), k), _small(dtype, (65,), k)
        k.near(
            k.fn("linalg.outer")(k.to(a, "reversed"), k.to(b)),
            *_rounded(np.outer(a.astype(w), b.astype(w)), dtype),
            f"outer({dtype})",
        ) if dtype in FLOATING else k.same(
            k.fn("linalg.outer")(k.to(a), k.to(b)), np.outer(a, b), f"outer({dtype})"
        )
        if not dtype.startswith("u"):
            for shape, axis in (((3,), -1), ((5, 3), -1), ((3, 5), -2), ((2, 3, 4), -2)):
                a, b = _small(dtype, shape, k), _small(dtype, shape, k)
                p, q = (np.moveaxis(v.astype(w), axis, -1) for v in (a, b))
                want = np.moveaxis(np.cross(p, q), -1, axis)
                size = np.abs(p[..., [1, 2, 0]] * q[..., [2, 0, 1]]) + np.abs(
                    p[..., [2, 0, 1]] * q[..., [1, 2, 0]]
                )
                got = k.fn("linalg.cross")(k.to(a, "ladder"), k.to(b), axis=axis)
                _close(
                    k,
                    got,
                    want,
                    np.moveaxis(size, -1, axis),
                    3,
                    dtype,
                    f"cross({dtype}{list(shape)}, axis={axis})",
                )
        for shape in ((3, 3), (4, 7), (2, 5, 4), (0, 3)):
            x = _small(dtype, shape, k)
            for offset in (-2, 0, 1, 9):
                for layout in LAYOUTS:
                    got = k.fn("linalg.diagonal")(k.to(x, layout), offset=offset)
                    k.same(
                        got,
                        np.diagonal(x, offset, -2, -1),
                        f"diagonal({dtype}{list(shape)} {layout}, offset={offset})",
                    )
                    t = np.diagonal(x.astype(w), offset, -2, -1)
                    got = k.fn("linalg.trace")(k.to(x, layout), offset=offset)
                    want = np.asarray(np.sum(t, axis=-1))
                    if dtype in INTEGRAL:
                        k.true(
                            np.array_equal(k.back(got), want.astype(k.back(got).dtype)),
                            f"trace({dtype}{list(shape)} {layout}, offset={offset})",
                        )
                    else:
                        k.bounded(
                            got,
                            want,
                            np.sum(np.abs(t), axis=-1),
                            8,
                            dtype,
                            f"trace({dtype}{list(shape)} {layout}, offset={offset})",
                        )

    return body


def _rounded(want: NDArray, dtype: str) -> tuple[NDArray, str, float]:
    return want, dtype, 0.502 if dtype in REAL_FLOATING else 4.0


@check(CHAPTER, "matmul", "promotion")
def _promotes(k: Kit) -> None:
    for a, b in itertools.permutations(NUMERIC, 2):
        joint = promoted(a, b)
        if joint is None or joint not in NUMERIC:
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


def _norms(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        real, w = _real(dtype), np.clongdouble if dtype in COMPLEX else np.longdouble
        vector = k.fn("linalg.vector_norm")
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
            mag = np.abs(x.astype(w))
            for o in (2, 1, 0, 3, 0.5, -1, math.inf, -math.inf):
                if 0 in shape and o not in (1, 2):
                    continue
                if o == 0:
                    want = np.sum(mag != 0, axis=axis).astype(np.longdouble)
                elif math.isinf(o):
                    want = np.max(mag, axis=axis) if o > 0 else np.min(mag, axis=axis)
                else:
                    want = np.sum(mag ** np.longdouble(o), axis=axis) ** (1 / np.longdouble(o))
                for layout in ("contiguous", "ladder", "transposed"):
                    got = vector(k.to(x, layout), axis=axis, ord=o)
                    k.bounded(
                        got,
                        np.asarray(want),
                        np.abs(want),
                        16 + x.size,
                        real,
                        f"vector_norm({dtype}{list(shape)} {layout}, axis={axis}, ord={o})",
                    )
            got = vector(k.to(x), axis=axis, keepdims=True)
            axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
            gone = {a % len(shape) for a in axes} if shape else set()
            k.shaped(
                got,
                [1 if i in gone else n for i, n in enumerate(shape)],
                real,
                f"vector_norm({list(shape)}, axis={axis}, keepdims)",
            )
        for shape in ((3, 3), (4, 7), (2, 5, 3)):
            x = matrix(dtype, shape, k)
            mag = np.abs(x.astype(w))
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
            for o, want in wants.items():
                for keep in (False, True):
                    got = k.fn("linalg.matrix_norm")(k.to(x, "ladder"), ord=o, keepdims=keep)
                    w2 = np.asarray(want)[..., None, None] if keep else np.asarray(want)
                    size = np.asarray(s.max(-1))[..., None, None] if keep else np.asarray(s.max(-1))
                    k.bounded(
                        got,
                        w2,
                        size,
                        64,
                        real,
                        f"matrix_norm({dtype}{list(shape)}, ord={o}, keepdims={keep})",
                    )

    return body


def _powers(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        w = np.clongdouble if dtype in COMPLEX else np.longdouble
        power, rank = k.fn("linalg.matrix_power"), k.fn("linalg.matrix_rank")
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
        index = k.default("integral")
        for rows, cols, r in ((4, 4, 2), (5, 3, 3), (3, 6, 1), (4, 4, 0)):
            a = (matrix(dtype, (rows, r), k) @ matrix(dtype, (r, cols), k)).astype(dtype)
            got = rank(k.to(a, "ladder"))
            k.true(
                int(k.back(got)) == r and got.shape == (),
                f"matrix_rank of {rows}x{cols} of rank {r}: {k.back(got)!r} of {index}",
            )
        stack = np.stack([np.eye(3), np.diag([1, 1, 0])]).astype(dtype)
        k.true(k.back(rank(k.to(stack))).tolist() == [3, 2], "matrix_rank of a stack")

    return body


for _dtype in NUMERIC:
    add(CHAPTER, "matmul", _dtype, _product("matmul", _dtype))
    add(CHAPTER, "tensordot", _dtype, _contractions(_dtype))
for _name in FACTORS:
    for _dtype in FLOATING:
        add(CHAPTER, _name, _dtype, _factor(_name, _dtype))
for _dtype in FLOATING:
    add(CHAPTER, "solve", _dtype, _solve(_dtype))
    add(CHAPTER, "vector_norm", _dtype, _norms(_dtype))
    add(CHAPTER, "matrix_power", _dtype, _powers(_dtype))
