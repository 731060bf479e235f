"""`verify`: the error of a function against one of higher precision, and the table of all."""

from __future__ import annotations

import argparse
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from .._array import as_numpy
from .._checks import as_index

_Values = npt.NDArray[Any]
# Elements that are computed at a time.
_BLOCK = 1 << 20


class _Format(NamedTuple):
    """What is special about a dtype: its bits, and a type that holds its results exactly."""

    bits: type[np.unsignedinteger[Any]]
    digits: int  # of the significand, without the first one
    least: int  # exponents of the smallest normal number and of the largest one
    largest: int
    wide: type[np.floating[Any]]


_FORMATS = {
    "float16": _Format(np.uint16, 10, -14, 15, np.float64),
    "bfloat16": _Format(np.uint16, 7, -126, 127, np.float64),
    "float32": _Format(np.uint32, 23, -126, 127, np.float64),
    "float64": _Format(np.uint64, 52, -1022, 1023, np.longdouble),
}


class AccuracyReport(NamedTuple):
    """What `verify` found.

    Attributes
    ----------
    function : str
        The name of the function.
    dtype : str
        The dtype of operands and results.
    inputs : int
        How many inputs were tried.
    max_ulp : float
        The largest error, in units in the last place of the exact result.
    mean_ulp : float
        The mean error, in the same units.
    worst_input : tuple of float
        The operands of the largest error.
    result : float
        What the function gave there.
    expected : float
        What the reference gives there.
    """

    function: str
    dtype: str
    inputs: int
    max_ulp: float
    mean_ulp: float
    worst_input: tuple[float, ...]
    result: float
    expected: float

    def __str__(self) -> str:
        operands = ", ".join(repr(x) for x in self.worst_input)
        return (
            f"{self.function} {self.dtype}: {self.max_ulp:.3f} ulp at most, {self.mean_ulp:.3f} in "
            f"the mean of {self.inputs} inputs; worst at {operands}, which gives {self.result!r}, "
            f"expected {self.expected!r}"
        )


def _ulp_errors(result: _Values, exact: _Values, form: _Format, smallest: float) -> _Values:
    """Return the distances of results from exact values, in units in the last place of these."""
    wide = form.wide
    with np.errstate(all="ignore"):
        # Infinity stands where the next number above the largest one would.
        top = np.ldexp(wide(1), form.largest + 1)
        value = np.clip(result.astype(wide), -top, top)
        target = np.clip(exact, -top, top)
        exponent = np.clip(np.frexp(target)[1] - 1, form.least, form.largest)
        unit = np.maximum(np.ldexp(wide(1), exponent - form.digits), wide(smallest))
        error = np.abs(value - target) / unit
        both = np.isnan(value) & np.isnan(target)
        one = np.isnan(value) ^ np.isnan(target)
        other_zero = (value == 0) & (target == 0) & (np.signbit(value) != np.signbit(target))
    return np.where(both, 0.0, np.where(one | other_zero, np.inf, error)).astype(np.float64)


# ---- inputs


def _from_bits(bits: _Values, dtype: np.dtype[Any], form: _Format) -> _Values:
    return bits.astype(form.bits).view(dtype)


def _every_value(dtype: np.dtype[Any], form: _Format) -> Iterator[tuple[_Values, ...]]:
    count = 1 << (8 * dtype.itemsize)
    for first in range(0, count, _BLOCK):
        bits = np.arange(first, min(first + _BLOCK, count), dtype=np.uint64)
        yield (_from_bits(bits, dtype, form),)


def _sample(rng: np.random.Generator, n: int, dtype: np.dtype[Any], form: _Format) -> _Values:
    """Return numbers of every kind that is hard for some function."""
    width = 8 * dtype.itemsize
    kinds = [
        _from_bits(rng.integers(0, 1 << width, n, dtype=np.uint64), dtype, form),
        rng.uniform(-20, 20, n).astype(dtype),
        rng.uniform(-1, 1, n).astype(dtype),
        # Every scale, near 1, near multiples of pi / 2.
        (rng.choice((-1.0, 1.0), n) * np.exp2(rng.uniform(form.least, 12, n))).astype(dtype),
        (
            rng.choice((-1.0, 1.0), n) * (1 + rng.uniform(-1, 1, n) * 0.5 ** rng.integers(0, 50, n))
        ).astype(dtype),
        (rng.integers(-1 << 20, 1 << 20, n) * (np.pi / 2)).astype(dtype),
        rng.choice([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 10.0], n).astype(
            dtype
        ),
    ]
    chosen = rng.choice(len(kinds), n, p=[0.15, 0.3, 0.2, 0.15, 0.1, 0.08, 0.02])
    return np.choose(chosen, kinds).astype(dtype)


def _samples(
    count: int, arity: int, seed: int, dtype: np.dtype[Any], form: _Format
) -> Iterator[tuple[_Values, ...]]:
    rng = np.random.default_rng(seed)
    for first in range(0, count, _BLOCK):
        n = min(_BLOCK, count - first)
        with np.errstate(all="ignore"):
            yield tuple(_sample(rng, n, dtype, form) for _ in range(arity))


def _inputs(
    samples: Any, arity: int, seed: int, dtype: np.dtype[Any], form: _Format
) -> Iterator[tuple[_Values, ...]]:
    if isinstance(samples, str):
        if samples != "exhaustive":
            raise ValueError(
                f"verify: samples must be 'exhaustive', a count or arrays, got {samples!r}"
            )
        if arity != 1 or dtype.itemsize > 4:
            raise ValueError(
                "verify: 'exhaustive' is for functions of one operand of at most 32 bits, got "
                f"{arity} operands of {dtype.name}; accepted: a number of samples"
            )
        return _every_value(dtype, form)
    if hasattr(samples, "__index__") and not isinstance(samples, bool) and np.ndim(samples) == 0:
        count = operator.index(samples)
        if count < 1:
            raise ValueError(f"verify: samples must be at least 1, got {count}")
        return _samples(count, arity, seed, dtype, form)
    arrays = samples if isinstance(samples, tuple) else (samples,)
    if len(arrays) != arity:
        raise ValueError(f"verify: {arity} arrays of samples are needed, got {len(arrays)}")
    operands = np.broadcast_arrays(*(np.asarray(x).astype(dtype) for x in arrays))
    return iter([tuple(np.ravel(x) for x in operands)])


# ---- functions


def _arity(function: Callable[..., Any]) -> int:
    parameters = inspect.signature(function).parameters.values()
    return sum(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        for p in parameters
    )


def _reference(function: Callable[..., Any], form: _Format, dtype: str) -> Callable[..., Any]:
    """Return NumPy's function of the same name, in a wider dtype."""
    if np.finfo(form.wide).nmant < form.digits + 8:
        raise TypeError(f"verify: NumPy has no dtype wider than {dtype} here; pass a reference")
    name = getattr(function, "__name__", "")
    found: Callable[..., Any] | None = getattr(np, name, None)
    if found is None or not callable(found):
        raise TypeError(f"verify: NumPy has no function {name!r} to compare with; pass a reference")
    return found


def _widened(operands: tuple[_Values, ...], form: _Format) -> list[_Values]:
    """Return the operands in the wider dtype; to C's functions signalling NaN are errors."""
    wide = [x.astype(form.wide) for x in operands]
    for x in wide:
        x[np.isnan(x)] = np.nan
    return wide


def verify(
    function: Callable[..., Any],
    dtype: Any,
    samples: SupportsIndex | Literal["exhaustive"] | Any = 100_000,
    *,
    reference: Callable[..., Any] | None = None,
    smallest: float = 0.0,
    seed: int = 0,
) -> AccuracyReport:
    """Measure the error of a function against one of higher precision.

    Parameters
    ----------
    function : callable
        A function of arrays of this library, elementwise, whose results have the dtype of its
        operands.
    dtype : dtype
        float16, bfloat16, float32 or float64.
    samples : int, "exhaustive" or array_like, optional
        How many inputs to draw (arbitrary bit patterns, all scales, neighbourhoods of 1 and of
        multiples of pi / 2, special values); every value of the dtype, for functions of one
        operand of at most 32 bits (2**32 inputs of float32 take minutes); or the inputs
        themselves, one array or a tuple of one for each operand.
    reference : callable, optional
        The function in NumPy, which gets its operands and gives its results in float64, for
        float64 in `numpy.longdouble`. By default NumPy's function of the same name.
    smallest : float, optional
        Results whose unit in the last place is less are measured in this one.
    seed : int, optional
        Chooses the drawn inputs.

    Returns
    -------
    AccuracyReport
        The worst input, the largest error and the mean one. An error of 0.5 is the least that
        rounding allows; a NaN, infinity or sign of zero that should not be counts as infinite.

    Raises
    ------
    TypeError
        If `function` or `reference` cannot be called, the dtype is another one, the results have
        one, `smallest` is no number or `seed` no integer, or there is no reference: none of this
        name, or no dtype wider than float64 on this platform.
    ValueError
        If `samples` is none of these, `smallest` is negative, infinite or NaN, or `seed` negative.

    Notes
    -----
    The reference is itself off by about 1e-9 units where it is in float64, and 1e-3 where it is in
    the 80 bits of x86. NumPy's arithmetic gives subnormal results in every dtype.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api.testing import verify
    >>> report = verify(xp.sqrt, xp.float32, 10_000)
    >>> report.max_ulp <= 0.5
    True
    """
    from .. import _core

    dtype = np.dtype(dtype)
    form = _FORMATS.get(dtype.name)
    if form is None:
        raise TypeError(
            f"verify: dtype {dtype.name} is not supported; accepted: {', '.join(_FORMATS)}"
        )
    if not callable(function):
        raise TypeError(f"verify: a function is needed, got {type(function).__name__}")
    if reference is not None and not callable(reference):
        raise TypeError(f"verify: reference must be a function, got {type(reference).__name__}")
    if isinstance(smallest, bool) or not isinstance(smallest, Real):
        raise TypeError(f"verify: smallest must be a number, got {type(smallest).__name__}")
    if not 0 <= smallest < np.inf:
        raise ValueError(f"verify: smallest must be a number from 0 on, got {smallest!r}")
    if as_index("verify", "seed", seed) < 0:
        raise ValueError(f"verify: seed must not be negative, got {seed}")
    arity = _arity(function)
    exact = _reference(function, form, dtype.name) if reference is None else reference
    count, total = 0, 0.0
    worst: tuple[float, tuple[float, ...], float, float] = (-1.0, (), 0.0, 0.0)
    for operands in _inputs(samples, arity, seed, dtype, form):
        result = as_numpy(function(*(_core.asarray(x, None, None, True) for x in operands)))
        if result.dtype != dtype or result.shape != operands[0].shape:
            raise TypeError(
                f"verify: {getattr(function, '__name__', 'the function')} must return "
                f"{dtype.name} for each element, got {result.dtype} of shape {result.shape}"
            )
        with np.errstate(all="ignore"):
            expected = np.asarray(exact(*_widened(operands, form)), dtype=form.wide)
        errors = _ulp_errors(result, expected, form, smallest)
        count += errors.size
        total += float(np.sum(errors))
        at = int(np.argmax(errors)) if errors.size else 0
        if errors.size and errors[at] > worst[0]:
            inputs = tuple(float(x[at]) for x in operands)
            worst = (float(errors[at]), inputs, float(result[at]), float(expected[at]))
    if count == 0:
        raise ValueError("verify: there are no samples")
    name = getattr(function, "__name__", "function")
    return AccuracyReport(name, dtype.name, count, worst[0], total / count, *worst[1:])


# ---- the table

# What each function promises, and the unit below which results are measured in it.
PROMISES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2"), (1.0, 0.0)),
    **dict.fromkeys(("cos", "cosh", "sin", "sinh", "tan", "tanh", "hypot", "pow"), (1.0, 0.0)),
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "log2", "log10"), (1.0, 0.0)),
    "logaddexp": (1.0, 2.0**-58),
    "sqrt": (0.5, 0.0),
}


def _log_add_exp(x: _Values, y: _Values) -> _Values:
    """Return NumPy's, but with -inf the other operand, whose zero may be negative."""
    sums = np.where(x == -np.inf, y, np.logaddexp(x, y))
    values: _Values = np.where(y == -np.inf, x, sums)
    return values


_REFERENCES = {"logaddexp": _log_add_exp}
_ROUNDING = 2e-3  # of the reference


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("functions", nargs="*", help="names; all by default")
    parser.add_argument(
        "--dtypes",
        nargs="+",
        default=["float32", "float64"],
        metavar="DTYPE",
        help="float16, bfloat16, float32, float64",
    )
    parser.add_argument("--samples", type=int, default=200_000, help="inputs of each function")
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help="every input, where a function has one operand of at most 32 bits",
    )


def run(args: argparse.Namespace) -> int:
    """Print the table; return 1 where a promise is broken, 2 where a name is unknown."""
    unknown = sorted({*args.functions} - {*PROMISES}) + sorted({*args.dtypes} - {*_FORMATS})
    if unknown:
        print(
            f"accuracy: unknown {', '.join(unknown)}; functions: {', '.join(PROMISES)}; "
            f"dtypes: {', '.join(_FORMATS)}",
            file=sys.stderr,
        )
        return 2
    if args.samples < 1:
        print(f"accuracy: --samples is at least 1, got {args.samples}", file=sys.stderr)
        return 2
    print(f"{'function':<10} {'dtype':<9}{'max ulp':>9}{'mean':>8}{'inputs':>12}  worst at")
    good = True
    for name in args.functions or sorted(PROMISES):
        for dtype in args.dtypes:
            good &= _row(name, dtype, args)
    return 0 if good else 1


def _row(name: str, dtype: str, args: argparse.Namespace) -> bool:
    import ascend_array_api as xp
    from ascend_array_api import dtypes

    function = getattr(xp, name)
    kind = getattr(dtypes, dtype, None) or getattr(xp, dtype)
    every = args.exhaustive and dtype != "float64" and _arity(function) == 1
    promise, smallest = PROMISES[name]
    samples = "exhaustive" if every else args.samples
    reference = _REFERENCES.get(name)
    report = verify(function, kind, samples, reference=reference, smallest=smallest)
    # A narrow dtype computes in float32 and rounds once more.
    least = 0.51 if dtype in ("float16", "bfloat16") else 0.0
    kept = report.max_ulp <= max(promise, least) + _ROUNDING
    worst = ", ".join(f"{x:.9g}" for x in report.worst_input)
    verdict = "" if kept else f"  ABOVE {promise}"
    print(
        f"{name:<10} {dtype:<9}{report.max_ulp:>9.3f}{report.mean_ulp:>8.3f}"
        f"{report.inputs:>12}  {worst}{verdict}",
        flush=True,
    )
    return kept
