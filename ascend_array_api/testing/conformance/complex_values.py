"""Special values of complex functions, as tabulated by the standard.

A row is ``a b -> re im``; ``f`` stands for several finite non-zero numbers, ``p`` for positive
ones, ``z`` for both zeros, ``n`` for any number but NaN and infinity. A sign before a value is
required, ``~`` says that it is unspecified. ``cos``/``sin`` times infinity or zero are written
``inf*cis`` and ``0*cis``. Every row holds for conjugates as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from .core import COMPLEX, Failure, Kit, add
from .layouts import NDArray

CHAPTER = "elementwise"
PI = math.pi

TABLE = {
    "acos": "z 0 pi/2 -0|z nan pi/2 nan|n inf pi/2 -inf|f nan nan nan|-inf p pi -inf|inf p 0 -inf"
    "|-inf inf 3pi/4 -inf|inf inf pi/4 -inf|inf nan nan ~inf|-inf nan nan ~inf|nan n nan nan"
    "|nan inf nan -inf|nan nan nan nan",
    "acosh": "z 0 0 pi/2|n inf inf pi/2|f nan nan nan|0 nan nan ~pi/2|-inf p inf pi|inf p inf 0"
    "|-inf inf inf 3pi/4|inf inf inf pi/4|inf nan inf nan|-inf nan inf nan|nan n nan nan"
    "|nan inf inf nan|nan nan nan nan",
    "asinh": "0 0 0 0|p inf inf pi/2|n nan nan nan|inf p inf 0|inf inf inf pi/4|nan 0 nan 0"
    "|nan f nan nan|nan inf ~inf nan|nan nan nan nan",
    "atanh": "0 0 0 0|0 nan 0 nan|1 0 inf 0|p inf 0 pi/2|f nan nan nan|inf p 0 pi/2"
    "|inf inf 0 pi/2|inf nan 0 nan|nan n nan nan|nan inf ~0 pi/2|nan nan nan nan",
    "cosh": "0 0 1 0|0 inf nan ~0|0 nan nan ~0|f inf nan nan|f nan nan nan|inf 0 inf 0"
    "|inf f inf*cis inf*cis|inf inf ~inf nan|inf nan inf nan|nan z nan ~0|nan f nan nan"
    "|nan nan nan nan",
    "exp": "z 0 1 0|n inf nan nan|n nan nan nan|inf 0 inf 0|-inf n 0*cis 0*cis"
    "|inf f inf*cis inf*cis"
    "|-inf inf ~0 ~0|inf inf ~inf nan|-inf nan ~0 ~0|inf nan ~inf nan|nan 0 nan 0|nan f nan nan"
    "|nan nan nan nan",
    "expm1": "z 0 ~0 0|n inf nan nan|n nan nan nan|inf 0 inf 0|-inf n -1 0*cis"
    "|inf f inf*cis inf*cis"
    "|-inf inf -1 ~0|inf inf ~inf nan|-inf nan -1 ~0|inf nan ~inf nan|nan 0 nan 0|nan f nan nan"
    "|nan nan nan nan",
    "log": "-0 0 -inf pi|0 0 -inf 0|n inf inf pi/2|n nan nan nan|-inf p inf pi|inf p inf 0"
    "|-inf inf inf 3pi/4|inf inf inf pi/4|inf nan inf nan|-inf nan inf nan|nan n nan nan"
    "|nan inf inf nan|nan nan nan nan",
    "log1p": "-1 0 -inf 0|n inf inf pi/2|n nan nan nan|-inf p inf pi|inf p inf 0|-inf inf inf 3pi/4"
    "|inf inf inf pi/4|inf nan inf nan|-inf nan inf nan|nan n nan nan|nan inf inf nan"
    "|nan nan nan nan",
    "sinh": "0 0 0 0|0 inf ~0 nan|0 nan ~0 nan|p inf nan nan|p nan nan nan|inf 0 inf 0"
    "|inf p inf*cis inf*cis|inf inf ~inf nan|inf nan ~inf nan|nan 0 nan 0|nan f nan nan"
    "|nan nan nan nan",
    "sqrt": "z 0 0 0|n inf inf inf|nan inf inf inf|inf inf inf inf|-inf inf inf inf|n nan nan nan"
    "|-inf p 0 inf|inf p inf 0|-inf nan nan ~inf|inf nan inf nan|nan n nan nan|nan nan nan nan",
    "tanh": "0 0 0 0|f inf nan nan|f nan nan nan|inf p 1 0|inf inf 1 ~0|inf nan 1 ~0|nan 0 nan 0"
    "|nan f nan nan|nan nan nan nan",
}

#: Functions that the standard defines by another one: f(z) = -1j * g(1j * z), or cosh(1j * z).
ROTATED = {"asin": "asinh", "atan": "atanh", "sin": "sinh", "tan": "tanh", "cos": "cosh"}

KINDS = {
    "f": (1.5, -2.5, 0.75, 3.0),
    "p": (0.5, 2.0, 7.25),
    "z": (0.0, -0.0),
    "n": (0.0, 1.0, 2.5, 0.25),
}
NAMED = {
    "inf": math.inf,
    "nan": math.nan,
    "pi": PI,
    "pi/2": PI / 2,
    "3pi/4": 3 * PI / 4,
    "pi/4": PI / 4,
}


def _value(word: str) -> float:
    sign = -1.0 if word.startswith("-") else 1.0
    body = word.lstrip("-~")
    return math.copysign(1.0, sign) * (NAMED[body] if body in NAMED else float(body))


def _values(word: str) -> tuple[float, ...]:
    return KINDS.get(word) or (_value(word),)


def _want(word: str, b: float, part: Callable[[float], float]) -> float:
    """Return what is expected; a zero sine or cosine does not occur in the table's values."""
    if word.endswith("*cis"):
        scale = math.inf if word.startswith("inf") else 0.0
        size = part(b)
        return math.copysign(scale, size) if size or scale == 0.0 else size
    return _value(word)


def rows(name: str) -> Iterator[tuple[complex, complex, tuple[bool, bool], str]]:
    """Yield argument, result, which signs count, and the row itself, conjugates included."""
    for row in TABLE[name].split("|"):
        a_word, b_word, re_word, im_word = row.split()
        for a in _values(a_word):
            for b in _values(b_word):
                want = complex(_want(re_word, b, math.cos), _want(im_word, b, math.sin))
                counts = ("~" not in re_word, "~" not in im_word)
                yield complex(a, b), want, counts, row
                if not math.isnan(b):
                    yield complex(a, -b), want.conjugate(), counts, row


def _same(got: float, want: float, signed: bool, ulps: float, eps: float) -> bool:
    if math.isnan(want):
        return math.isnan(got)
    if not signed:
        got, want = abs(got), abs(want)
    if want == 0 or math.isinf(want):
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return abs(got - want) <= ulps * eps * abs(want)


def special(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of one function's table, in an array long enough for vector code."""

    def body(k: Kit) -> None:
        f = k.fn(name)
        table = list(rows(ROTATED.get(name, name)))
        z = np.array([t[0] for t in table])
        if name == "cos" or name in ROTATED:
            z = _rotate(z, True)
        reps = 3  # rows meet both the vector body and the tail
        x = np.tile(z, reps)[: reps * z.size - 1].astype(dtype)
        for layout in ("contiguous", "reversed", "strided"):
            got = f(k.to(x, layout))
            k.shaped(got, x.shape, dtype, name)
            g = k.back(got).astype(complex)
            if name in ROTATED and name != "cos":
                g = _rotate(g, False)
            _compare(k, name, g, table, x, dtype, layout)

    return body


def _rotate(z: NDArray, back: bool) -> NDArray:
    """Multiply by -1j (`back`) or by 1j without arithmetic on the components."""
    out = np.empty_like(z)
    out.real, out.imag = (z.imag, -z.real) if back else (-z.imag, z.real)
    return out


def _compare(
    k: Kit,
    name: str,
    g: NDArray,
    table: list[tuple[complex, complex, tuple[bool, bool], str]],
    x: NDArray,
    dtype: str,
    layout: str,
) -> None:
    eps = float(np.finfo(dtype).eps)
    for i, v in enumerate(g):
        _, want, counts, row = table[i % len(table)]
        parts = ((v.real, want.real, counts[0]), (v.imag, want.imag, counts[1]))
        if all(_same(float(p), q, s, k.limits.complex, eps) for p, q, s in parts):
            continue
        if name in ("tanh", "tan") and row.startswith("0 "):
            continue  # the standard excuses libraries built on old C versions
        raise Failure(
            f"{name}({dtype}, {layout}) at {x[i]!r}: got {v!r}, expected {want!r} (row {row!r}"
            + (f" of {ROTATED[name]}, rotated)" if name in ROTATED else ")"),
            k.fn(name)(k.to(x[i : i + 1])),
        )


for _name in (*TABLE, *ROTATED):
    for _dtype in COMPLEX:
        add(CHAPTER, _name, f"special-{_dtype}", special(_name, _dtype))


#: Functions that need the magnitude of a number, in which squares overflow or vanish.
LARGE: dict[str, Callable[[NDArray], NDArray]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "log": np.log,
    "sign": lambda z: z / np.abs(z),
}


def large(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check that squares of components neither overflow nor vanish on the way."""
    ref: Callable[[NDArray], NDArray] = LARGE[name]

    def body(k: Kit) -> None:
        f = k.fn(name)
        info = np.finfo(dtype)
        sizes = [
            float(info.max) / 4,
            float(info.max) ** 0.75,
            float(info.tiny) * 4,
            float(info.tiny) ** 0.75,
        ]
        z = np.array(
            [complex(a * s, b * t) for s in sizes for t in sizes for a in (1, -3) for b in (1, -2)]
        )
        z = np.tile(z, 2)[:-1].astype(dtype)
        want = ref(z.astype(np.clongdouble))
        out = dtype if name != "abs" else {"complex64": "float32", "complex128": "float64"}[dtype]
        k.near(
            f(k.to(z)),
            want,
            out,
            k.limits.complex,
            f"{name}({dtype}, large and small)",
            signs=False,
        )

    return body


for _name in LARGE:
    for _dtype in COMPLEX:
        add(CHAPTER, _name, f"large-{_dtype}", large(_name, _dtype))
