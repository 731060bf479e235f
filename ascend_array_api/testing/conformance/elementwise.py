"""Elementwise functions and operators: one row a function, the same sweep for all."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from .compare import describe, differs, ulp_error
from .core import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGRAL,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    SHAPES,
    SIZES,
    Failure,
    Kit,
    Skip,
    add,
)
from .layouts import LAYOUTS, NDArray, laid, repeated
from .values import non_finite, samples, specials, subnormals

EXACT = 0.0
ROUNDED = 0.5 + 2**-9  # correct rounding, and the error of the reference
CHAPTER = "elementwise"

Reference = Callable[..., NDArray]


@dataclass(frozen=True)
class Row:
    """What the standard says of one function.

    ``ulps`` is None for "an implementation-dependent approximation" (the kit's limits apply);
    ``out`` is "same", "bool" or "real" (the real dtype of a complex one); ``signs`` tells whether
    the sign of a zero is specified; ``shifts`` restricts the second operand to bit counts.
    """

    dtypes: tuple[str, ...]
    ref: Reference
    ulps: float | None = EXACT
    out: str = "same"
    signs: bool = True
    span: str = "full"
    op: str = ""
    shifts: bool = False


# ---------------------------------------------------------------- references


def _long(f: Callable[..., Any]) -> Reference:
    """Compute in long double."""

    def ref(*args: NDArray) -> NDArray:
        wide = np.clongdouble if any(np.iscomplexobj(a) for a in args) else np.longdouble
        return np.asarray(f(*(a.astype(wide) for a in args)))

    return ref


def _integers(f: Callable[..., Any], other: Reference) -> Reference:
    """Compute integers as Python integers, everything else by `other`."""

    def ref(*args: NDArray) -> NDArray:
        if args[0].dtype.kind not in "iu":
            return other(*args)
        cells = np.broadcast(*args)
        out = np.empty(cells.shape, dtype=object)
        for i, t in enumerate(cells):
            out.reshape(-1)[i] = f(*(int(v) for v in t))
        return out

    return ref


def _decimal_logaddexp(a: float, b: float) -> Any:
    if not (math.isfinite(a) and math.isfinite(b)):
        return np.logaddexp(np.longdouble(a), np.longdouble(b))
    if abs(a - b) > 1000:
        return np.longdouble(max(a, b))
    with localcontext() as c:
        c.prec = 60
        top = Decimal(max(a, b))
        e = (Decimal(min(a, b)) - top).exp()
        tail = (1 + e).ln() if e > Decimal("1e-15") else e - e * e / 2 + e**3 / 3 - e**4 / 4
        return np.longdouble(str(top + tail))


def _logaddexp(x: NDArray, y: NDArray) -> NDArray:
    x, y = np.broadcast_arrays(x, y)
    flat = [_decimal_logaddexp(float(a), float(b)) for a, b in zip(x.flat, y.flat, strict=True)]
    return np.array(flat, dtype=np.longdouble).reshape(x.shape)


def _floor_divide(x: NDArray, y: NDArray) -> NDArray:
    """Floor of the exact quotient; infinities as tabulated by the standard."""
    a, b = (np.asarray(v) for v in np.broadcast_arrays(x, y))
    out = np.empty(a.shape, dtype=a.dtype)
    for i in np.ndindex(a.shape):
        p, q = a[i], b[i]
        if np.isfinite(p) and np.isfinite(q) and p != 0 and q != 0:
            n, d = float(p).as_integer_ratio(), float(q).as_integer_ratio()
            whole = (n[0] * d[1]) // (n[1] * d[0])
            try:
                out[i] = float(whole) if whole else math.copysign(0.0, p) * math.copysign(1.0, q)
            except OverflowError:
                out[i] = math.inf if whole > 0 else -math.inf
        else:
            out[i] = p / q  # the table of special cases equals that of division
    return out


def _remainder(x: NDArray, y: NDArray) -> NDArray:
    a, b = (np.asarray(v) for v in np.broadcast_arrays(x, y))
    out = np.empty(a.shape, dtype=a.dtype)
    for i in np.ndindex(a.shape):
        p, q = float(a[i]), float(b[i])
        if q == 0 or not math.isfinite(p) or math.isnan(q):
            out[i] = math.nan
        else:
            out[i] = p % q
    return out


def _round_even(v: NDArray) -> NDArray:
    return v if v.dtype.kind in "iu" else _components(np.rint)(v)


def _components(f: Callable[[Any], Any]) -> Reference:
    def ref(v: NDArray) -> NDArray:
        if not np.iscomplexobj(v):
            return np.asarray(f(v))
        out = np.empty(v.shape, v.dtype)
        out.real, out.imag = f(v.real), f(v.imag)
        return out

    return ref


def _sign(v: NDArray) -> NDArray:
    if not np.iscomplexobj(v):
        return np.where(np.isnan(v), v, np.where(v == 0, 0, np.copysign(1, v))).astype(v.dtype)
    w = v.astype(np.clongdouble)
    size = np.hypot(w.real, w.imag)
    with np.errstate(all="ignore"):
        unit = np.where(size == 0, 0, w / np.where(size == 0, 1, size))
    return np.where(np.isnan(w.real) | np.isnan(w.imag), complex(np.nan, np.nan), unit)


def _expm1(v: NDArray) -> NDArray:
    if not np.iscomplexobj(v):
        return np.asarray(np.expm1(v))
    a, b = v.real, v.imag
    half = np.sin(b / 2)
    return np.asarray(np.expm1(a) * np.cos(b) - 2 * half * half + 1j * (np.exp(a) * np.sin(b)))


def _log1p(v: NDArray) -> NDArray:
    if not np.iscomplexobj(v):
        return np.asarray(np.log1p(v))
    a, b = v.real, v.imag
    square = a * (2 + a) + b * b
    near = (np.abs(square) < 0.5) & (np.abs(a + 1) > 0.25)
    size = np.where(near, np.log1p(np.where(near, square, 0)) / 2, np.log(np.hypot(1 + a, b)))
    return np.asarray(size + 1j * np.arctan2(b, 1 + a))


def _log_base(base: Any, real: Callable[[Any], Any]) -> Callable[[NDArray], NDArray]:
    def f(v: NDArray) -> NDArray:
        if not np.iscomplexobj(v):
            return np.asarray(real(v))
        w, scale = np.log(v), np.log(np.longdouble(base))
        out = np.empty_like(w)
        out.real, out.imag = w.real / scale, w.imag / scale
        return out

    return f


def _reciprocal(v: NDArray) -> NDArray:
    if np.iscomplexobj(v):  # the reciprocal of a complex zero is implementation-dependent
        return np.where(v == 0, np.nan, 1 / np.where(v == 0, 1, v).astype(np.clongdouble))
    return np.asarray(1 / v.astype(np.longdouble))


def _square(v: NDArray) -> NDArray:
    return v * v


def _int_shift(left: bool) -> Callable[[int, int], int]:
    return (lambda a, b: a << b) if left else (lambda a, b: a >> b)


_quotient = _long(np.divide)
_int_abs = _integers(abs, _long(np.abs))

UNARY: dict[str, Row] = {
    "abs": Row(NUMERIC, _int_abs, None, out="real"),
    "acos": Row(FLOATING, _long(np.arccos), None),
    "acosh": Row(FLOATING, _long(np.arccosh), None),
    "asin": Row(FLOATING, _long(np.arcsin), None),
    "asinh": Row(FLOATING, _long(np.arcsinh), None),
    "atan": Row(FLOATING, _long(np.arctan), None),
    "atanh": Row(FLOATING, _long(np.arctanh), None),
    "bitwise_invert": Row(BOOL + INTEGRAL, np.invert, op="__invert__"),
    "ceil": Row(REAL, _components(np.ceil)),
    "conj": Row(NUMERIC, np.conj),
    "cos": Row(FLOATING, _long(np.cos), None),
    "cosh": Row(FLOATING, _long(np.cosh), None),
    "exp": Row(FLOATING, _long(np.exp), None),
    "expm1": Row(FLOATING, _long(_expm1), None),
    "floor": Row(REAL, _components(np.floor)),
    "imag": Row(COMPLEX, np.imag, out="real"),
    "isfinite": Row(NUMERIC, np.isfinite, out="bool"),
    "isinf": Row(NUMERIC, np.isinf, out="bool"),
    "isnan": Row(NUMERIC, np.isnan, out="bool"),
    "log": Row(FLOATING, _long(np.log), None),
    "log1p": Row(FLOATING, _long(_log1p), None),
    "log2": Row(FLOATING, _long(_log_base(2, np.log2)), None),
    "log10": Row(FLOATING, _long(_log_base(10, np.log10)), None),
    "logical_not": Row(BOOL, np.logical_not, out="bool"),
    "negative": Row(NUMERIC, _integers(operator.neg, np.negative), op="__neg__"),
    "positive": Row(NUMERIC, np.positive, op="__pos__"),
    "real": Row(NUMERIC, np.real, out="real"),
    "reciprocal": Row(FLOATING, _reciprocal, ROUNDED),
    "round": Row(NUMERIC, _round_even),
    "sign": Row(NUMERIC, _integers(lambda v: (v > 0) - (v < 0), _sign), ROUNDED, signs=False),
    "signbit": Row(REAL_FLOATING, np.signbit, out="bool"),
    "sin": Row(FLOATING, _long(np.sin), None),
    "sinh": Row(FLOATING, _long(np.sinh), None),
    "sqrt": Row(FLOATING, _long(np.sqrt), ROUNDED),
    "square": Row(NUMERIC, _integers(lambda v: v * v, _long(_square)), ROUNDED),
    "tan": Row(FLOATING, _long(np.tan), None),
    "tanh": Row(FLOATING, _long(np.tanh), None),
    "trunc": Row(REAL, _components(np.trunc)),
}

BINARY: dict[str, Row] = {
    "add": Row(NUMERIC, _integers(operator.add, _long(np.add)), ROUNDED, op="__add__"),
    "atan2": Row(REAL_FLOATING, _long(np.arctan2), None),
    "bitwise_and": Row(BOOL + INTEGRAL, np.bitwise_and, op="__and__"),
    "bitwise_left_shift": Row(
        INTEGRAL, _integers(_int_shift(True), np.left_shift), op="__lshift__", shifts=True
    ),
    "bitwise_or": Row(BOOL + INTEGRAL, np.bitwise_or, op="__or__"),
    "bitwise_right_shift": Row(
        INTEGRAL, _integers(_int_shift(False), np.right_shift), op="__rshift__", shifts=True
    ),
    "bitwise_xor": Row(BOOL + INTEGRAL, np.bitwise_xor, op="__xor__"),
    "copysign": Row(REAL_FLOATING, np.copysign),
    "divide": Row(FLOATING, _quotient, ROUNDED, op="__truediv__"),
    "equal": Row(ALL, np.equal, out="bool", op="__eq__"),
    "floor_divide": Row(REAL, _integers(operator.floordiv, _floor_divide), 1.0, op="__floordiv__"),
    "greater": Row(REAL, np.greater, out="bool", op="__gt__"),
    "greater_equal": Row(REAL, np.greater_equal, out="bool", op="__ge__"),
    "hypot": Row(REAL_FLOATING, _long(np.hypot), None),
    "less": Row(REAL, np.less, out="bool", op="__lt__"),
    "less_equal": Row(REAL, np.less_equal, out="bool", op="__le__"),
    "logaddexp": Row(REAL_FLOATING, _logaddexp, None, signs=False),
    "logical_and": Row(BOOL, np.logical_and, out="bool"),
    "logical_or": Row(BOOL, np.logical_or, out="bool"),
    "logical_xor": Row(BOOL, np.logical_xor, out="bool"),
    "maximum": Row(REAL, np.maximum, signs=False),
    "minimum": Row(REAL, np.minimum, signs=False),
    "multiply": Row(NUMERIC, _integers(operator.mul, _long(np.multiply)), ROUNDED, op="__mul__"),
    "nextafter": Row(REAL_FLOATING, np.nextafter),
    "not_equal": Row(ALL, np.not_equal, out="bool", op="__ne__"),
    "pow": Row(NUMERIC, _integers(operator.pow, _long(np.power)), None, op="__pow__"),
    "remainder": Row(REAL, _integers(operator.mod, _remainder), ROUNDED, op="__mod__"),
    "subtract": Row(NUMERIC, _integers(operator.sub, _long(np.subtract)), ROUNDED, op="__sub__"),
}

# ---------------------------------------------------------------- the sweep


def out_dtype(row: Row, dtype: str) -> str:
    """Return the dtype of the result for operands of `dtype`."""
    if row.out == "bool":
        return "bool"
    if row.out == "real":
        return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    return dtype


def limit(k: Kit, row: Row, dtype: str) -> float:
    """Return the allowed error in ULP."""
    if dtype in COMPLEX and row.ulps is not None and row.ulps > 0:
        return k.limits.complex
    if row.ulps is not None:
        return row.ulps
    return k.limits.complex if dtype in COMPLEX else k.limits.real


def _operand(row: Row, name: str, dtype: str, n: int, k: Kit, second: bool) -> NDArray:
    if second and row.shifts:
        return k.rng.integers(0, np.iinfo(dtype).bits, n).astype(dtype)
    if name == "pow":
        if dtype in INTEGRAL:
            top = 3 if second else min(np.iinfo(dtype).max, 40)
            return k.rng.integers(0, top, n, endpoint=True).astype(dtype)
        if dtype in COMPLEX:
            return samples(dtype, n, k.rng, "mild") / (1 if second else 4)
    if name == "square" and dtype in INTEGRAL:
        top = math.isqrt(np.iinfo(dtype).max)
        low = 0 if dtype.startswith("u") else -top
        return k.rng.integers(low, top, n, endpoint=True).astype(dtype)
    if name == "multiply" and dtype in INTEGRAL:
        return _factors(dtype, n, k, second)
    if name in ("add", "subtract") and dtype in INTEGRAL and k.rng is not None:
        return samples(dtype, n, k.rng) // 2
    return samples(dtype, n, k.rng, row.span)


def _factors(dtype: str, n: int, k: Kit, second: bool) -> NDArray:
    """Return integers whose products fit, up to the largest that do."""
    info = np.iinfo(dtype)
    bits = k.rng.integers(0, info.bits // 2, n)
    hi = np.array([2 ** int(b) for b in (info.bits - 2 - bits if second else bits)], dtype=object)
    low = 0 if info.min == 0 else -1
    out = [int(k.rng.integers(low * min(h, 2**62), min(h, 2**62))) for h in hi]
    return np.array(out, dtype=dtype)


def _reference(row: Row, args: list[NDArray], dtype: str) -> tuple[NDArray, NDArray]:
    """Return the reference and where the standard specifies the result."""
    with np.errstate(all="ignore"):
        divides = row.op in ("__floordiv__", "__mod__") and dtype in INTEGRAL
        zero = args[-1] == 0 if divides else np.zeros(args[-1].shape, bool)
        if divides:
            args = [args[0], np.where(zero, 1, args[1]).astype(dtype)]
        want = np.asarray(row.ref(*args))
    sure = np.broadcast_to(~zero, want.shape).copy()
    if want.dtype == object:
        info = np.iinfo(dtype)
        fits = np.array([info.min <= v <= info.max for v in want.flat], bool).reshape(want.shape)
        sure &= fits
        want = np.where(fits, want, 0).astype(dtype)
    if row.ref in (_reciprocal, _quotient) and dtype in COMPLEX:
        sure &= args[-1] != 0
    for a in (*args, want):
        if a.dtype.kind in "fc" and dtype in FLOATING:
            sure &= ~_tiny(a, dtype)
    return want, sure


def _tiny(a: NDArray, dtype: str) -> NDArray:
    """Return where a value is subnormal in `dtype` or rounds into or out of that range."""
    if np.iscomplexobj(a):
        return np.zeros(a.shape, bool)
    tiny = np.finfo(dtype).tiny
    return np.asarray((np.abs(a) < tiny * (1 + 1e-6)) & (a != 0) & (np.abs(a) != tiny))


def _alternative(args: list[NDArray], got: NDArray) -> NDArray:
    """Return where floor_divide gives another result that the standard allows.

    That is, those "to match Python behavior", and the floor of the already rounded quotient.
    """
    a, b = np.broadcast_arrays(*args)
    inf_num = np.isinf(a) & np.isfinite(b) & (b != 0) & np.isnan(got)
    opposite = np.isfinite(a) & (a != 0) & np.isinf(b) & (np.signbit(a) != np.signbit(b))
    with np.errstate(all="ignore"):
        return np.asarray(inf_num | (opposite & (got == -1)) | (got == np.floor(a / b)))


@dataclass(frozen=True)
class Case:
    """Operands of one call, its reference, and where the standard specifies the result."""

    args: list[NDArray]
    want: NDArray
    sure: NDArray

    def take(self, part: Callable[[NDArray], NDArray]) -> Case:
        """Return the same for a part of all operands."""
        return Case([part(a) for a in self.args], part(self.want), part(self.sure))


def case(row: Row, args: list[NDArray], dtype: str) -> Case:
    """Return operands with the reference that `row` gives for them."""
    return Case(args, *_reference(row, args, dtype))


def compare(k: Kit, name: str, row: Row, got: Any, c: Case, dtype: str, what: str) -> None:
    """Check one result against its reference where the result is specified."""
    shape = np.broadcast_shapes(*(a.shape for a in c.args))
    out = out_dtype(row, dtype)
    k.shaped(got, shape, out, what)
    g = k.back(got)
    sure = np.broadcast_to(c.sure, shape)
    if name == "floor_divide" and dtype in FLOATING:
        sure = sure & ~_alternative(c.args, g)
    want = np.where(sure, c.want, 0)
    g = np.where(sure, g, np.zeros((), g.dtype))
    if out in FLOATING:
        ulps = limit(k, row, dtype) * np.maximum(1, _condition(name, c.args, want, dtype))
        err = ulp_error(g, want, out, row.signs)
        bad = ~np.asarray(err <= ulps)
        tail = f"; worst error {float(np.max(err[bad])):.4g} ULP" if bad.any() else ""
        want = want.astype(out)
    else:
        want, tail = want.astype(g.dtype), ""
        bad = differs(g, want, True)
    if bad.any():
        message = describe(what, g, want, bad) + tail
        raise Failure(message, _narrowed(k, got, c.args, g, bad))


def _narrowed(k: Kit, got: Any, args: list[NDArray], g: NDArray, bad: NDArray) -> Any:
    """Return the wrong element alone, computed by itself, if it is wrong then too."""
    call = k.book.call_of(got)
    if call is None:
        return got
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    alone = call(*(k.to(np.broadcast_to(a, g.shape)[at].reshape(1)) for a in args))
    return got if differs(k.back(alone), g[at].reshape(1), True).any() else alone


def _condition(name: str, args: list[NDArray], want: NDArray, dtype: str) -> Any:
    """Return by how much a function magnifies the rounding of its own intermediate results."""
    with np.errstate(all="ignore"):
        if name == "logaddexp":
            top = np.maximum(np.abs(np.maximum(*args)), 1).astype(np.longdouble)
            return np.nan_to_num(2 * top / np.abs(want), nan=1.0, posinf=1e30)
        if name == "pow" and dtype in COMPLEX:
            return 1 + np.nan_to_num(np.abs(args[1] * np.log(args[0])), nan=1.0, posinf=1.0)
    return 1


def _need_reference(row: Row, dtype: str) -> None:
    doubles = dtype in ("float64", "complex128") and row.ulps != EXACT
    if doubles and np.finfo(np.longdouble).nmant < 60:
        raise Skip("long double has no extra precision here")


def _first(a: NDArray, shape: tuple[int, ...]) -> NDArray:
    return a[: math.prod(shape)].reshape(shape)


def sweep(name: str, row: Row, dtype: str, arity: int) -> Callable[[Kit], None]:
    """Return the check that tries all sizes, shapes and layouts of one function and dtype."""

    def body(k: Kit) -> None:
        _need_reference(row, dtype)
        k.dtype(dtype)
        f = k.fn(name)
        n = max(SIZES)
        args = [_operand(row, name, dtype, n, k, i == 1) for i in range(arity)]
        if name == "logaddexp" or (name in ("floor_divide", "remainder") and dtype in FLOATING):
            short = case(row, [a[:700] for a in args], dtype)
            whole = short.take(lambda a: np.resize(a, n))
        else:
            whole = case(row, args, dtype)
        for size in SIZES:
            c = whole.take(operator.itemgetter(slice(n - size, n)))
            got = f(*(k.to(a) for a in c.args))
            compare(k, name, row, got, c, dtype, f"{name}({dtype}[{size}])")
        for shape in k.shapes(SHAPES):
            plain = whole.take(functools.partial(_first, shape=shape))
            for first, second in zip(
                LAYOUTS, [*list(LAYOUTS)[2:], *list(LAYOUTS)[:2]], strict=True
            ):
                c = plain.take(repeated) if "broadcast" in (first, second) else plain
                got = f(*(k.to(a, lay) for a, lay in zip(c.args, (first, second), strict=False)))
                what = f"{name}({dtype}{list(shape)}, {first}{', ' + second if arity > 1 else ''})"
                compare(k, name, row, got, c, dtype, what)

    return body


def pairs(name: str, row: Row, dtype: str) -> Callable[[Kit], None]:
    """Return the check of all pairs of special values, by broadcasting a column with a row."""

    def body(k: Kit) -> None:
        _need_reference(row, dtype)
        k.dtype(dtype)
        f = k.fn(name)
        v = specials(dtype)
        if name == "pow" and dtype in REAL_FLOATING:
            v = v[(np.abs(v) < 1e3) | (np.abs(v) > 1e30)]
        second = v
        if row.shifts or (name == "pow" and dtype in INTEGRAL):
            second = np.arange(np.iinfo(dtype).bits if row.shifts else 3).astype(dtype)
        left, right = v[:, None], second[None, :]
        c = case(row, [left, right], dtype)
        got = f(k.to(left), k.to(right))
        compare(k, name, row, got, c, dtype, f"{name}({dtype}[n,1], [1,n])")
        got = f(k.get(k.to(v), np.s_[:, None]), k.fn("broadcast_to")(k.to(right), c.want.shape))
        compare(k, name, row, got, c, dtype, f"{name}({dtype}[:,None], broadcast_to)")
        for j in range(
            min(second.size, 8)
        ):  # libraries have short cuts for one exponent or divisor
            one = Case([left, second[j : j + 1]], c.want[:, j : j + 1], c.sure[:, j : j + 1])
            got = f(k.to(left), k.to(one.args[1]))
            compare(k, name, row, got, one, dtype, f"{name}({dtype}[n,1], [{second[j]}])")
        k.raises(
            lambda: f(k.to(np.resize(v, 3)), k.to(np.resize(v, 4))),
            f"{name} of shapes (3,) and (4,)",
        )

    return body


def odd_parts(name: str, row: Row, dtype: str, arity: int) -> Callable[[Kit], None]:
    """Return the check of complex numbers with infinite and NaN parts, where exactness rules."""

    def body(k: Kit) -> None:
        v = non_finite(dtype)
        if name == "sign":  # what an infinity gives is left to complex division
            v = v[~np.isinf(v) | np.isnan(v)]
        args = [v] if arity == 1 else [v[:, None], v[None, :]]
        with np.errstate(all="ignore"):
            want = np.asarray(row.ref(*args)).astype(out_dtype(row, dtype))
        got, what = k.fn(name)(*(k.to(a) for a in args)), f"{name}({dtype}, infinities and NaN)"
        if row.signs:
            k.same(got, want, what)
        else:
            k.near(got, want, dtype, k.limits.complex, what, signs=False)

    return body


def infinities(dtype: str) -> Callable[[Kit], None]:
    """Return the check of floor_divide's infinities, for which a note allows Python's results."""

    def body(k: Kit) -> None:
        v = np.array([1.5, -2.0, np.inf, -np.inf], dtype)
        x, y = (a.reshape(-1) for a in np.meshgrid(v, v))
        keep = np.isinf(x) != np.isinf(y)
        with np.errstate(all="ignore"):
            want = x[keep] / y[keep]  # the floor of an infinity or a zero is itself
        got = k.fn("floor_divide")(k.to(x[keep]), k.to(y[keep]))
        k.same(got, want, f"floor_divide({dtype} infinities)")

    return body


def promotes(name: str, row: Row) -> Callable[[Kit], None]:
    """Return the check of operands of different dtypes of one kind."""

    def body(k: Kit) -> None:
        f = k.fn(name)
        for a, b in itertools.permutations(row.dtypes, 2):
            joint = promoted(a, b)
            if joint not in row.dtypes or row.shifts or name == "pow" or not k.has(a, b, joint):
                continue
            x, y = samples(a, 40, k.rng, "mild"), samples(b, 40, k.rng, "mild")
            c = case(row, [x.astype(joint), y.astype(joint)], joint)
            got = f(k.to(x), k.to(y, "reversed"))
            compare(k, name, row, got, c, joint, f"{name}({a}, {b})")

    return body


def promoted(a: str, b: str) -> str | None:
    """Return the dtype two dtypes promote to by the standard's tables, None if unspecified."""
    if "bool" in (a, b):
        return "bool" if a == b else None
    if {a, b} <= set(INTEGRAL):
        joint = np.promote_types(a, b).name
        return joint if joint in INTEGRAL else None
    if {a, b} <= set(FLOATING):
        return str(np.promote_types(a, b).name)
    return None


SCALARS: dict[str, tuple[Any, ...]] = {
    "b": (True, False),
    "i": (3, 0, 1),
    "u": (3, 0, 1),
    "f": (2, 0.5, -1.5),
    "c": (2, 0.5, 1 - 2j),
}


def scalars(name: str, row: Row, dtype: str, of: str = "") -> Callable[[Kit], None]:
    """Return the check of a Python scalar as either operand, by function or by operator `of`."""

    def body(k: Kit) -> None:
        f = k.op(of) if of else k.fn(name)
        x = samples(dtype, 65, k.rng, "mild")
        if name == "pow" or row.shifts:
            x = np.abs(x).astype(dtype) % 5 if dtype in INTEGRAL else np.abs(x).astype(dtype)
        for v in SCALARS[np.dtype(dtype).kind]:
            s = np.asarray(v).astype(dtype)
            for args, raw in (([x, s], [k.to(x), v]), ([s, x], [v, k.to(x)])):
                shown = ", ".join(repr(r) if r is v else dtype for r in raw)
                what = f"{of or name}({shown})"
                compare(k, name, row, f(*raw), case(row, args, dtype), dtype, what)

    return body


def complex_scalars(name: str, row: Row, dtype: str) -> Callable[[Kit], None]:
    """Return the check of a Python complex number and a real array: complex, same precision."""

    def body(k: Kit) -> None:
        out = {"float32": "complex64", "float64": "complex128"}[dtype]
        x, v = samples(dtype, 65, k.rng, "mild"), 1.5 - 2j
        s, wide = np.asarray(v, out), x.astype(out)
        for args, raw in (([wide, s], [k.to(x), v]), ([s, wide], [v, k.to(x)])):
            shown = ", ".join(repr(r) if r is v else dtype for r in raw)
            c = case(row, args, out)
            compare(k, name, row, k.fn(name)(*raw), c, out, f"{name}({shown})")

    return body


INPLACE = {
    "__add__": "__iadd__", "__sub__": "__isub__", "__mul__": "__imul__",
    "__truediv__": "__itruediv__", "__floordiv__": "__ifloordiv__", "__mod__": "__imod__",
    "__pow__": "__ipow__", "__and__": "__iand__", "__or__": "__ior__", "__xor__": "__ixor__",
    "__lshift__": "__ilshift__", "__rshift__": "__irshift__",
}  # fmt: skip


def operators(name: str, row: Row, dtype: str, arity: int, of: str) -> Callable[[Kit], None]:
    """Return the check of an operator, or of its in-place form."""

    def body(k: Kit) -> None:
        k.dtype(dtype)
        f = k.op(of)
        for shape in ((), (1,), (65,), (7, 9), (2, 1, 2, 1, 3), (0, 3)):
            n = math.prod(shape)
            args = [_operand(row, name, dtype, n, k, i == 1).reshape(shape) for i in range(arity)]
            c = case(row, args, dtype)
            for layout in LAYOUTS if of == row.op else ("contiguous", "reversed", "strided"):
                got = f(*(k.to(a, layout) for a in args))
                compare(k, name, row, got, c, dtype, f"{of}({dtype}{list(shape)}, {layout})")

    return body


def mutates(name: str, row: Row, dtype: str) -> Callable[[Kit], None]:
    """Return the check that an in-place operator changes its left operand and is it."""

    def body(k: Kit) -> None:
        args = [_operand(row, name, dtype, 65, k, i == 1) for i in range(2)]
        c = case(row, args, dtype)
        for layout in ("contiguous", "reversed", "strided", "offset"):
            x = k.to(args[0], layout)
            y = k.op(INPLACE[row.op])(x, k.to(args[1]))
            what = f"{INPLACE[row.op]}({dtype}[65], {layout})"
            k.true(y is x, f"{what}: must be its left operand")
            compare(k, name, row, x, c, dtype, what + ", left operand")

    return body


def tiny_values(name: str, row: Row, dtype: str) -> Callable[[Kit], None]:
    """Return the check of subnormal inputs and results (support for them is optional)."""

    def body(k: Kit) -> None:
        _need_reference(row, dtype)
        v = subnormals(dtype)
        args = [v] if name in UNARY else [v, v[::-1].copy()]
        with np.errstate(all="ignore"):
            want = np.asarray(row.ref(*args))
        c = Case(args, want, np.ones(want.shape, bool))
        got = k.fn(name)(*(k.to(a) for a in args))
        compare(k, name, row, got, c, dtype, f"{name}({dtype} subnormals)")

    return body


#: How clip is called: what its bounds are made of, by position and by keyword.
_BOUNDS: dict[str, Callable[[Kit, NDArray, NDArray], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "arrays": lambda k, lo, hi: ((k.to(lo, "strided"), k.to(hi)), {}),
    "min=array": lambda k, lo, hi: ((k.to(lo),), {}),
    "max=array": lambda k, lo, hi: ((None, k.to(hi)), {}),
    "keywords": lambda k, lo, hi: ((), {"min": k.to(lo), "max": k.to(hi)}),
    "nothing": lambda k, lo, hi: ((), {}),
    "1, 5": lambda k, lo, hi: ((1, 5), {}),
    "min=2, max=0-d": lambda k, lo, hi: ((), {"min": 2, "max": k.to(np.asarray(9, lo.dtype))}),
}


def clips(dtype: str) -> Callable[[Kit], None]:
    """Return the check of clip: bounds as arrays, scalars, None, NaN, broadcast."""

    def body(k: Kit) -> None:
        f = k.fn("clip")
        for shape in ((65,), (513,), (4097,), (0, 3), *k.shapes(SHAPES)):
            n = math.prod(shape)
            x, a, b = (samples(dtype, n, k.rng).reshape(shape) for _ in range(3))
            lo, hi = np.minimum(a, b), np.maximum(a, b)
            for layout, v in laid(x):
                for bounds, make in _BOUNDS.items():
                    args, kw = make(k, lo, hi)
                    got = f(k.to(v, layout), *args, **kw)
                    least, most = (*args, None, None)[:2]
                    least, most = kw.get("min", least), kw.get("max", most)
                    want = v if least is None else np.maximum(v, _plain(k, least, dtype))
                    want = want if most is None else np.minimum(want, _plain(k, most, dtype))
                    what = f"clip({dtype}{list(shape)}, {layout}, {bounds})"
                    k.same(got, want, what, signs=False)

    return body


def _plain(k: Kit, bound: Any, dtype: str) -> NDArray:
    return np.asarray(bound, dtype) if isinstance(bound, int) else k.back(bound)


def wraps(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check that integer overflow wraps around (the standard leaves it open)."""

    def body(k: Kit) -> None:
        info = np.iinfo(dtype)
        exact = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}[name]
        x, y = samples(dtype, 513, k.rng), samples(dtype, 513, k.rng)
        span = 2**info.bits
        want = [
            (exact(int(a), int(b)) - info.min) % span + info.min for a, b in zip(x, y, strict=True)
        ]
        k.same(
            k.fn(name)(k.to(x), k.to(y)), np.array(want, dtype), f"{name}({dtype}) beyond the range"
        )

    return body


#: Functions of complex numbers that only move or look at the parts, or work on each alone.
BY_PARTS = (
    "conj", "imag", "isfinite", "isinf", "isnan", "negative", "positive", "real", "round", "sign",
    "add", "subtract", "equal", "not_equal",
)  # fmt: skip


def _register() -> None:
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for name, row in table.items():
            for dtype in row.dtypes:
                _register_dtype(name, row, dtype, arity)
            if arity == 2:
                add(CHAPTER, name, "promotion", promotes(name, row))
    for dtype in REAL:
        add(CHAPTER, "clip", dtype, clips(dtype))
    for dtype in INTEGRAL:
        for name in ("add", "subtract", "multiply"):
            add(CHAPTER, name, f"wraparound-{dtype}", wraps(name, dtype), "extra")


def _register_dtype(name: str, row: Row, dtype: str, arity: int) -> None:
    add(CHAPTER, name, dtype, sweep(name, row, dtype, arity))
    if row.op:
        add(CHAPTER, name, f"operator-{dtype}", operators(name, row, dtype, arity, row.op))
    if dtype in REAL_FLOATING and name not in ("floor_divide", "remainder"):
        add(CHAPTER, name, f"subnormal-{dtype}", tiny_values(name, row, dtype), "extra")
    if dtype in COMPLEX and name in BY_PARTS:
        add(CHAPTER, name, f"parts-{dtype}", odd_parts(name, row, dtype, arity))
    if arity == 1:
        return
    if dtype not in COMPLEX:
        add(CHAPTER, name, f"pairs-{dtype}", pairs(name, row, dtype))
    add(CHAPTER, name, f"scalars-{dtype}", scalars(name, row, dtype), since="2024.12")
    if row.op:
        body = scalars(name, row, dtype, row.op)
        add(CHAPTER, name, f"operator-scalars-{dtype}", body)
    if dtype in REAL_FLOATING and {*COMPLEX} <= {*row.dtypes} and row.out == "same":
        body = complex_scalars(name, row, dtype)
        add(CHAPTER, name, f"complex-scalars-{dtype}", body, since="2024.12")
    if name == "floor_divide" and dtype in REAL_FLOATING:
        add(CHAPTER, name, f"infinities-{dtype}", infinities(dtype), "advice")
    if row.op in INPLACE and out_dtype(row, dtype) == dtype:
        form = INPLACE[row.op]
        add(CHAPTER, name, f"in-place-{dtype}", operators(name, row, dtype, arity, form))
        add(CHAPTER, name, f"mutates-{dtype}", mutates(name, row, dtype), "extra")


_register()
