"""Accuracy of the complex elementwise functions, measured against mpmath.

Every function is called through the public namespace on structured and random operands of all
magnitudes: near 1, near branch points and cuts (with both zeros), on the unit circle, near
multiples of pi / 2, subnormal and huge. The error of an element is its distance from the exact
result in units in the last place of the modulus of the exact result; the promise is at most 4.
A part whose exact value overflows has to be an infinity of the right sign. Of sums and products
a NaN is accepted there, because the standard asks for the textbook formula.

Run it from anywhere the package is importable::

    python tests/accuracy/check_complex.py --samples 2000
    python tests/accuracy/check_complex.py --samples 20000 --dtype complex128 log pow

It prints the worst error of each function and dtype with its operands, and exits with status 1
where the promise is broken. mpmath is needed.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
from mpmath import mp, mpc, mpf

PROMISE = 4.0
PRECISION = 320
# Stands for a zero whose sign decides the side of a branch cut.
SIGNED_ZERO = mpf(2) ** -6000
# Enough bits to add numbers of any two magnitudes exactly, SIGNED_ZERO and its square included.
EXACT = 13000


@dataclass(frozen=True)
class Format:
    """A complex dtype: its parts' NumPy type, bits, exponents of the least and greatest number."""

    name: str
    part: type[np.floating[Any]]
    bits: int
    least: int
    top: int


FORMATS = {
    "complex64": Format("complex64", np.float32, 24, -149, 128),
    "complex128": Format("complex128", np.float64, 53, -1074, 1024),
}


# ---- exact results ---------------------------------------------------------------------------


def _cis_scaled(x: Any, y: Any, theta: Any) -> Any:
    return mpc(x * mp.cos(theta), y * mp.sin(theta))


def _exp(z: Any) -> Any:
    r = mp.exp(z.real)
    return _cis_scaled(r, r, z.imag)


def _expm1(z: Any) -> Any:
    with mp.workprec(1500):
        re = mp.expm1(z.real) * mp.cos(z.imag) - 2 * mp.sin(z.imag / 2) ** 2
    return mpc(re, mp.exp(z.real) * mp.sin(z.imag))


def _sinh(z: Any) -> Any:
    return _cis_scaled(mp.sinh(z.real), mp.cosh(z.real), z.imag)


def _cosh(z: Any) -> Any:
    return _cis_scaled(mp.cosh(z.real), mp.sinh(z.real), z.imag)


def _tanh(z: Any) -> Any:
    a, b = z.real, z.imag
    if abs(a) > 3000:  # the imaginary part is below every format
        return mpc(mp.sign(a) * (1 - mpf(2) ** -300), mp.sign(mp.sin(2 * b)) * mpf(2) ** -2000)
    sh, ch, s, c = mp.sinh(a), mp.cosh(a), mp.sin(b), mp.cos(b)
    d = sh * sh + c * c
    return mpc(sh * ch / d, s * c / d)


def _log_of(x: Any, y: Any) -> Any:
    with mp.workprec(EXACT):
        square = x * x + y * y
        below = square - 1
    if abs(+below) < 0.75:
        return mpc(mp.log1p(+below) / 2, mp.atan2(y, x))
    return mpc(mp.log(+square) / 2, mp.atan2(y, x))


def _log(z: Any) -> Any:
    return _log_of(z.real, z.imag)


def _log1p(z: Any) -> Any:
    with mp.workprec(EXACT):
        x = 1 + z.real
    return _log_of(x, z.imag)


def _root(x: Any, y: Any) -> tuple[Any, Any]:
    """Parts of sqrt(x + j y), y > 0."""
    t = mp.sqrt((abs(x) + mp.sqrt(x * x + y * y)) / 2)
    u = y / (2 * t)
    return (t, u) if x > 0 else (u, t)


def _sqrt(z: Any) -> Any:
    with mp.workprec(EXACT):
        re, im = _root(z.real, abs(z.imag))
    return mpc(+re, mp.sign(z.imag) * im)


def _arc(z: Any) -> tuple[Any, Any, Any]:
    """|im|, re of asin and re of acos."""
    a, b = z.real, abs(z.imag)
    with mp.workprec(EXACT):
        r1, i1 = _root(1 - a, b)
        r2, i2 = _root(1 + a, b)
        x = r1 * i2 + i1 * r2
        y = r1 * r2 + i1 * i2
        grown = x + x * x / (1 + mp.sqrt(1 + x * x))
    return mp.log1p(+grown), mp.atan2(a, +y), 2 * mp.atan2(+r1, +r2)


def _asin(z: Any) -> Any:
    im, re, _ = _arc(z)
    return mpc(re, mp.sign(z.imag) * im)


def _acos(z: Any) -> Any:
    im, _, re = _arc(z)
    return mpc(re, -mp.sign(z.imag) * im)


def _acosh(z: Any) -> Any:
    im, _, re = _arc(z)
    return mpc(im, mp.sign(z.imag) * re)


def _atanh(z: Any) -> Any:
    x, b = abs(z.real), z.imag
    with mp.workprec(EXACT):
        t = 4 * x / ((1 - x) ** 2 + b * b)
        q = (1 - x) * (1 + x) - b * b
    return mpc(mp.sign(z.real) * mp.log1p(+t) / 4, mp.atan2(2 * b, +q) / 2)


def _over_j(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """-j f(j z)."""

    def rotated(z: Any) -> Any:
        w = f(mpc(-z.imag, z.real))
        return mpc(w.imag, -w.real)

    return rotated


def _divide(p: Any, q: Any) -> Any:
    with mp.workprec(EXACT):
        d = q.real**2 + q.imag**2
        re = (p.real * q.real + p.imag * q.imag) / d
        im = (p.imag * q.real - p.real * q.imag) / d
    return mpc(+re, +im)


def _multiply(p: Any, q: Any) -> Any:
    with mp.workprec(EXACT):
        re = p.real * q.real - p.imag * q.imag
        im = p.real * q.imag + p.imag * q.real
    return mpc(+re, +im)


def _pow(p: Any, q: Any) -> Any:
    with mp.workprec(1500):
        return _exp(_multiply(q, _log(p)))


def _abs(z: Any) -> Any:
    return mpc(mp.hypot(z.real, z.imag), 0)


def _sign(z: Any) -> Any:
    return mpc(z.real, z.imag) / mp.hypot(z.real, z.imag)


UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": _abs,
    "acos": _acos,
    "acosh": _acosh,
    "asin": _asin,
    "asinh": _over_j(_asin),
    "atan": _over_j(_atanh),
    "atanh": _atanh,
    "cos": lambda z: _cosh(mpc(-z.imag, z.real)),
    "cosh": _cosh,
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "log2": lambda z: _log(z) / mp.log(2),
    "log10": lambda z: _log(z) / mp.log(10),
    "reciprocal": lambda z: _divide(mpc(1, 0), z),
    "sign": _sign,
    "sin": _over_j(_sinh),
    "sinh": _sinh,
    "sqrt": _sqrt,
    "square": lambda z: _multiply(z, z),
    "tan": _over_j(_tanh),
    "tanh": _tanh,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda p, q: p + q,
    "divide": _divide,
    "multiply": _multiply,
    "pow": _pow,
    "subtract": lambda p, q: p - q,
}
TEXTBOOK = {"add", "multiply", "square", "subtract"}


# ---- operands --------------------------------------------------------------------------------


def _parts(form: Format, n: int, rng: np.random.Generator) -> Any:
    """Real numbers of every kind."""
    mantissa = rng.uniform(1, 2, n)
    low, high = form.least, form.top - 1
    special = [0, 0.5, 1, 2, 1.5, 3, 10, math.pi / 2, math.pi, math.sqrt(0.5)]
    powers = [2.0**e for e in (low, low // 2, high // 2, high)]
    edges = [*powers, float(np.finfo(form.part).max)]
    kinds = [
        np.ldexp(mantissa, rng.integers(-20, 6, n)),
        np.ldexp(mantissa, rng.integers(low, high + 1, n)),
        np.ldexp(mantissa, rng.integers(-40, 30, n)),
        rng.choice(special, n),
        rng.choice(edges, n),
        1 + rng.choice([-1, 1], n) * np.ldexp(mantissa, rng.integers(-60, -1, n)),
        rng.integers(1, 2000, n) * (math.pi / 2),
        rng.uniform(0, 10, n),
        rng.uniform(0, 750, n),
        rng.uniform(0, 2, n),
        rng.integers(0, 20, n).astype(float),
    ]
    kind = rng.integers(0, len(kinds), n)
    return (np.choose(kind, kinds) * rng.choice([-1.0, 1.0], n)).astype(form.part)


def operands(form: Format, n: int, rng: np.random.Generator) -> Any:
    """Complex numbers: pairs of parts, the unit circle and its shift, surroundings of +-1, cuts."""
    a, b = _parts(form, n, rng), _parts(form, n, rng)
    sixth = max(n // 6, 1)
    theta = rng.uniform(-math.pi, math.pi, n)
    near = np.ldexp(rng.uniform(0.5, 1, n), rng.integers(-2 * form.bits, 0, n))
    radius = 1 + rng.choice([-1, 0, 1], n) * near
    where = np.arange(n) // sixth
    circle, shifted, around, real, imag = (where == k for k in range(5))
    a[circle], b[circle] = (radius * np.cos(theta))[circle], (radius * np.sin(theta))[circle]
    a[shifted], b[shifted] = (np.cos(theta) - 1)[shifted], np.sin(theta)[shifted]
    a[around] = (rng.choice([-1, 1], n) * (1 + rng.choice([-1, 0, 1], n) * near))[around]
    b[around] = (rng.choice([-1, 1], n) * near * np.exp2(rng.integers(-30, 30, n)))[around]
    zeros = rng.choice([0.0, -0.0], n)
    a[real], b[real] = rng.uniform(-5, 5, n)[real], zeros[real]
    a[imag], b[imag] = zeros[imag], rng.uniform(-5, 5, n)[imag]
    z = np.empty(n, form.name)
    z.real, z.imag = a, b
    return rng.permutation(z)


def exponents(form: Format, base: Any, rng: np.random.Generator) -> Any:
    """Exponents of powers: half of any kind, the rest such that the result is in range."""
    n = len(base)
    w = operands(form, n, rng)
    with np.errstate(all="ignore"):
        size = np.abs(np.log(base.astype(np.complex128)).real)
        scaled = rng.uniform(-1, 1, n) * form.top * 0.6 / np.maximum(size, 1e-6)
    where = np.arange(n) % 4
    w.real[where == 0] = scaled[where == 0].astype(form.part)
    w.imag[where == 0] = rng.choice([0, 0, 1, 10], n)[where == 0]
    w[where == 1] = rng.integers(-40, 41, n)[where == 1]
    return w


def to_mp(z: Any) -> Any:
    """The operand for mpmath, a zero as a tiny number of its sign."""
    re, im = float(z.real), float(z.imag)
    return mpc(
        mpf(re) if re else math.copysign(1, re) * SIGNED_ZERO,
        mpf(im) if im else math.copysign(1, im) * SIGNED_ZERO,
    )


def _pole_or_unreasonable(name: str, args: list[Any], form: Format) -> bool:
    """Whether the result is a pole, or needs more than the exponents of mpmath or of the format."""
    z = args[0]
    if name in ("log", "log2", "log10", "sign", "reciprocal", "pow") and z == 0:
        return True
    if name == "divide":
        return bool(args[1] == 0)
    if (name == "log1p" and z == -1) or (name == "atanh" and z in (1, -1)):
        return True
    if name == "atan" and z in (1j, -1j):
        return True
    if name in ("exp", "expm1", "sinh", "cosh"):
        return bool(abs(float(z.real)) > 1e4)
    if name in ("sin", "cos"):
        return bool(abs(float(z.imag)) > 1e4)
    if name == "pow":  # an angle of more than 2**45 has fewer digits than the promise needs
        power = _multiply(to_mp(args[1]), _log(to_mp(z)))
        return bool(abs(power.real) > 1e4 or abs(power.imag) > 2**45)
    return False


# ---- errors ----------------------------------------------------------------------------------


def _ulp(x: Any, form: Format) -> Any:
    if x == 0:
        return mpf(2) ** form.least
    exponent = min(int(mp.frexp(x)[1]), form.top)
    return mpf(2) ** max(exponent - form.bits, form.least)


def error(got: complex, exact: Any, form: Format, textbook: bool) -> float:
    """Distance in units in the last place of |exact|; inf for a wrong infinity or NaN."""
    top = mpf(2) ** form.top
    norm = mp.hypot(exact.real, exact.imag)
    total = mpf(0)
    for part, want in ((got.real, exact.real), (got.imag, exact.imag)):
        if norm >= top and abs(want) < norm * mpf(2) ** -1000:
            continue  # a zero part of an overflowing power, rounded by the reference
        overflows = abs(want) >= top * (1 - mpf(2) ** (-form.bits - 1))
        if textbook and norm >= top * (1 - mpf(2) ** (3 - form.bits)) and not math.isfinite(part):
            continue
        if overflows or math.isinf(part):
            nearly = abs(want) > top * (1 - mpf(2) ** (3 - form.bits))
            if not (nearly and math.isinf(part) and (part > 0) == (want > 0)):
                return math.inf
            continue
        if math.isnan(part):
            return math.inf
        total += (mpf(part) - want) ** 2
    return float(mp.sqrt(total) / _ulp(norm, form))


def check(xp: Any, name: str, form: Format, samples: int, seed: int) -> tuple[float, str]:
    """The worst error of one function for one dtype, and the operands that give it."""
    rng = np.random.default_rng([seed, form.bits, *name.encode()])
    xs = [operands(form, samples, rng)]
    if name in BINARY:
        xs.append(exponents(form, xs[0], rng) if name == "pow" else operands(form, samples, rng))
    result = np.asarray(getattr(xp, name)(*(xp.asarray(x) for x in xs)))
    exact: Callable[..., Any] = BINARY[name] if name in BINARY else UNARY[name]
    worst, where = 0.0, ""
    for i, args in enumerate(zip(*xs, strict=True)):
        if _pole_or_unreasonable(name, list(args), form):
            continue
        want = exact(*(to_mp(z) for z in args))
        size = error(complex(result[i]), want, form, name in TEXTBOOK)
        if size > worst:
            shown = ", ".join(str(complex(z)) for z in args)
            worst, where = size, f"{name}({shown}) = {result[i]!s}, exactly {mpmath.nstr(want, 20)}"
    return worst, where


def main(argv: list[str] | None = None) -> int:
    """Check the functions named on the command line, or all, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("functions", nargs="*", help="default: all")
    parser.add_argument("--samples", type=int, default=1000, help="operands for each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=sorted(FORMATS), help="default: both")
    parser.add_argument("--namespace", default="ascend_array_api", help="module to import")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.functions) - set(UNARY) - set(BINARY))
    if unknown:
        known = ", ".join([*UNARY, *BINARY])
        parser.error(f"unknown functions {', '.join(unknown)}; known: {known}")
    if options.samples < 1:
        parser.error(f"--samples must be positive, got {options.samples}")
    xp = importlib.import_module(options.namespace)
    mp.prec = PRECISION
    broken = 0
    for name in options.functions or [*UNARY, *BINARY]:
        for form in FORMATS.values():
            if options.dtype not in (None, form.name):
                continue
            worst, where = check(xp, name, form, options.samples, options.seed)
            bad = not worst <= PROMISE
            broken += bad
            mark = "  BROKEN" if bad else ""
            print(f"{name:11s} {form.name:10s} {worst:8.3f} ULP{mark}", flush=True)
            if bad:
                print(f"    {where}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
