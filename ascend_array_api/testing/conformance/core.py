"""The parts every chapter uses: limits, the kit handed to a check, the registry and the runner."""

from __future__ import annotations

import fnmatch
import functools
import math
import operator
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

import numpy as np

from .compare import describe, differs, ulp_error
from .layouts import LAYOUTS, NDArray
from .source import Book, TooLong

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGRAL = SIGNED + UNSIGNED
REAL_FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATING = REAL_FLOATING + COMPLEX
REAL = INTEGRAL + REAL_FLOATING
NUMERIC = REAL + COMPLEX
ALL = BOOL + NUMERIC

#: Sizes around the borders of bytes, words, vectors, tiles and reduction blocks.
SIZES = (0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 129, 511, 512, 513, 1023, 1025, 4097)

#: Shapes in which layouts are tried: rank 0 to 8, with zero-size and one-element axes.
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (67,),
    (5, 13),
    (3, 1, 17),
    (2, 3, 4, 5),
    (2, 1, 3, 2, 5),
    (2, 2, 1, 3, 2, 3),
    (2, 1, 2, 1, 2, 3, 2),
    (2, 1, 2, 1, 2, 1, 2, 3),
    (3, 0, 2),
)

#: Versions of the standard, in order, and the functions that each added to 2021.12.
VERSIONS: dict[str, str] = {
    "2021.12": "",
    "2022.12": "take isdtype conj imag real fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft "
    "fftfreq rfftfreq fftshift ifftshift",
    "2023.12": "clip copysign cumulative_sum hypot maximum minimum moveaxis repeat searchsorted "
    "signbit tile unstack __array_namespace_info__",
    "2024.12": "count_nonzero cumulative_prod diff nextafter reciprocal take_along_axis",
    "2025.12": "broadcast_shapes eig eigvals isin",
}
SINCE = {name: version for version, names in VERSIONS.items() for name in names.split()}

#: Functions whose result's shape depends on values; libraries may leave them out.
_DATA_DEPENDENT = ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")

#: What the kit's groups hold: the standard's "must" and stated values, its "should" and values that
#: a note lets libraries replace, and what users of NumPy-like libraries expect on top.
GROUPS = ("standard", "advice", "extra")


class Failure(AssertionError):
    """The namespace under test does something the standard does not allow.

    Parameters
    ----------
    message : str
        What was done, what came, what was expected.
    subject : array, optional
        The wrong result, from which the reproduction is made.
    """

    def __init__(self, message: str, subject: Any = None) -> None:
        super().__init__(message)
        self.subject = subject


class Skip(Exception):
    """The check does not apply to this namespace (a dtype or an extension is absent)."""


@dataclass(frozen=True)
class Limits:
    """How much rounding is allowed, always in units in the last place (ULP).

    The standard fixes correct rounding for ``+ - * / sqrt reciprocal`` only; for everything
    else it says "approximation", so these are choices and can be tightened.

    Parameters
    ----------
    real : float
        Largest error of a real-valued elementwise function.
    complex : float
        Largest norm-wise error of a complex-valued elementwise function.
    pairwise : bool
        Whether sums must be as accurate as pairwise summation, ``log2(n)`` instead of ``sqrt(n)``.
    linalg : float
        Factor of ``n * eps`` in backward errors.
    fft : float
        Factor of ``log2(n) * eps`` in norm-wise errors of transforms.
    """

    real: float = 4.0
    complex: float = 16.0
    pairwise: bool = False
    linalg: float = 16.0
    fft: float = 4.0

    def sum(self, n: int, layout: str = "contiguous") -> float:
        """Return the allowed error of a sum of `n` terms, in ULP of the sum of magnitudes.

        Errors of one term after the other grow with the root of `n`, but with `n` where the terms
        are alike, as in a broadcast array.
        """
        if self.pairwise:
            return 2.0 + math.log2(n + 1)
        return 2.0 + (n if layout == "broadcast" else math.sqrt(n))


@dataclass(frozen=True)
class Check:
    """One entry of the kit; `body` raises `Failure` or any other exception if it fails."""

    chapter: str
    function: str
    name: str
    group: str
    since: str
    body: Callable[[Kit], None] = field(repr=False)

    @property
    def id(self) -> str:
        """Chapter, function and aspect, as ``--select`` patterns see them."""
        return f"{self.chapter}/{self.function}/{self.name}"


@dataclass(frozen=True)
class Result:
    """What one check found.

    The outcome is ``passed``, ``failed``, ``skipped``, or ``remark`` where advice of the standard
    is not followed, which is no fault. `reproduction` is a line of Python, or the command that
    repeats the check where no short line shows the fault.
    """

    check: Check
    outcome: str
    message: str
    seconds: float
    reproduction: str = ""


class Call:
    """A function under test, which notes how each result was made."""

    def __init__(self, kit: Kit, function: Callable[..., Any], form: str) -> None:
        self._kit = kit
        self._function = function
        self._form = form

    def __call__(self, *args: Any, **kw: Any) -> Any:
        """Call the function."""
        book = self._kit.book
        source = book.last = book.call(self._form, args, kw, self)
        result = self._function(*args, **kw)
        if isinstance(result, tuple):
            for i, part in enumerate(result):
                book.note(part, book.item(source, i))
        else:
            book.note(result, source)
        return result


_OPERATORS = {
    "__abs__": "abs({0})",
    "__neg__": "(-{0})",
    "__pos__": "(+{0})",
    "__invert__": "(~{0})",
    **{
        f"__{name}__": f"({{0}} {sign} {{1}})"
        for name, sign in zip(
            "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
            + "eq ne lt le gt ge".split(),
            "+ - * / // % ** @ & | ^ << >> == != < <= > >=".split(),
            strict=True,
        )
    },
}


@functools.cache
def _compiled(view: str) -> CodeType:
    return compile(view, "<layout>", "eval")


class Kit:
    """A namespace under test, and the means to feed it and to read it back.

    Parameters
    ----------
    xp : module
        Any array API namespace.
    limits : Limits, optional
        Rounding allowed.
    """

    def __init__(self, xp: Any, limits: Limits | None = None) -> None:
        self.xp = xp
        self.limits = limits if limits is not None else Limits()
        self.rng = np.random.default_rng(0)
        self._dtypes = {n: getattr(xp, n) for n in ALL if hasattr(xp, n)}
        self.book = Book(self._dtypes)

    # ---- names
    def fn(self, name: str) -> Call:
        """Return a function of the namespace by dotted name; an absent extension is a `Skip`."""
        obj = self.xp
        for part in name.split("."):
            if part in ("linalg", "fft") and not hasattr(obj, part):
                raise Skip(f"no extension {part}")
            if not hasattr(obj, part):
                raise Failure(f"xp.{name} is missing")
            obj = getattr(obj, part)
        return Call(self, obj, f"xp.{name}({{}})")

    def op(self, name: str) -> Call:
        """Return an operator, such as ``__add__``, or its in-place form, such as ``__iadd__``."""
        plain = name.replace("__i", "__") if name not in _OPERATORS else name
        form = _OPERATORS[plain] if name == plain else f"operator.{name}({{0}}, {{1}})"
        function = getattr(operator, name)
        return Call(self, function, form.replace("operator.", "__import__('operator')."))

    def dtype(self, name: str) -> Any:
        """Return the dtype object called `name`."""
        if name not in self._dtypes:
            raise Skip(f"no dtype {name}")
        return self._dtypes[name]

    def has(self, *names: str) -> bool:
        """Return whether the namespace has all of the dtypes."""
        return all(n in self._dtypes for n in names)

    def default(self, kind: str) -> str:
        """Return the name of the default dtype: ``real floating``, ``integral``, ``indexing``..."""
        try:
            dt = self.xp.__array_namespace_info__().default_dtypes()[kind]
        except AttributeError:
            return {"real floating": "float64", "complex floating": "complex128"}.get(kind, "int64")
        return next(n for n, known in self._dtypes.items() if known == dt)

    def capability(self, name: str) -> Any:
        """Return an entry of ``capabilities()``, None where there is no such thing."""
        try:
            return self.xp.__array_namespace_info__().capabilities().get(name)
        except AttributeError:
            return None

    def shapes(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the shapes whose rank the namespace supports."""
        limit = self.capability("max dimensions")
        return [s for s in shapes if limit is None or len(s) <= limit]

    # ---- NumPy in and out
    def to(self, a: Any, layout: str = "contiguous") -> Any:
        """Return an array of the namespace equal to `a`, in the memory layout named."""
        base, view = LAYOUTS[layout](np.asarray(a))
        x = self.plain(base)
        if view != "x":
            x = eval(_compiled(view), {"xp": self.xp, "x": x})
        self.book.note(x, self.book.made(base, view))
        return x

    def plain(self, a: NDArray) -> Any:
        """Return a contiguous array of the namespace equal to `a`."""
        a = np.array(a, order="C", copy=True)
        dt = self.dtype(a.dtype.name)
        try:
            return self.xp.asarray(a, dtype=dt)
        except (TypeError, ValueError, BufferError, NotImplementedError):
            pass
        if a.size == 0:
            return self.xp.zeros(a.shape, dtype=dt)
        return self.xp.reshape(self.xp.asarray(a.reshape(-1).tolist(), dtype=dt), a.shape)

    def get(self, x: Any, key: Any) -> Any:
        """Return ``x[key]``."""
        of = self.book.find(x)
        source = self.book.last = None if of is None else self.book.item(of, key)
        y = x[key]
        if source is not None:
            self.book.note(y, source)
        return y

    def put(self, x: Any, key: Any, value: Any) -> None:
        """Do ``x[key] = value``."""
        of = self.book.find(x)
        source = self.book.last = None if of is None else self.book.written(of, key, value)
        if source is not None:
            self.book.note(x, source)
        x[key] = value

    def back(self, x: Any) -> NDArray:
        """Return the elements of an array of the namespace as a NumPy array."""
        if type(x) in (bool, int, float, complex):
            raise Failure(f"a Python {type(x).__name__} came back, not an array")
        for read in (np.asarray, np.from_dlpack, lambda x: np.from_dlpack(x, device="cpu")):
            try:
                a = read(x)
            except (TypeError, ValueError, BufferError, RuntimeError, AttributeError):
                continue
            if a.dtype != object:
                return np.array(a, copy=True)
        n = math.prod(x.shape)
        flat = self.xp.reshape(x, (n,))
        name = next(d for d, known in self._dtypes.items() if known == x.dtype)
        kind = np.dtype(name).kind
        read_one = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[kind]
        return np.array([read_one(flat[i]) for i in range(n)], dtype=name).reshape(x.shape)

    # ---- comparing
    def shaped(self, got: Any, shape: Sequence[int], dtype: str | None, what: str) -> None:
        """Check the shape and, unless None, the dtype of `got`."""
        if not hasattr(got, "shape") or not hasattr(got, "dtype"):
            raise Failure(f"{what}: {type(got).__name__} came back, not an array", got)
        if tuple(got.shape) != tuple(shape):
            raise Failure(f"{what}: shape {tuple(got.shape)}, expected {tuple(shape)}", got)
        if dtype is not None and got.dtype != self.dtype(dtype):
            raise Failure(f"{what}: dtype {got.dtype}, expected {dtype}", got)

    def same(self, got: Any, want: Any, what: str, *, signs: bool = True) -> None:
        """Check dtype, shape and every element exactly (NaN equals NaN; zeros by sign)."""
        want = np.asarray(want)
        self.shaped(got, want.shape, want.dtype.name, what)
        bad = differs(self.back(got), want, signs)
        if bad.any():
            raise Failure(describe(what, self.back(got), want, bad), got)

    def near(
        self, got: Any, want: NDArray, dtype: str, ulps: Any, what: str, *, signs: bool = True
    ) -> None:
        """Check elements against a reference of higher precision, within `ulps`."""
        self.shaped(got, want.shape, dtype, what)
        g = self.back(got)
        err = ulp_error(g, want, dtype, signs)
        bad = ~np.asarray(err <= ulps)
        if bad.any():
            worst = float(np.max(err[bad]))
            raise Failure(describe(what, g, want, bad) + f"; worst error {worst:.4g} ULP", got)

    def bounded(
        self, got: Any, want: NDArray, scale: Any, ulps: Any, dtype: str, what: str
    ) -> None:
        """Check ``|got - want| <= ulps * eps * scale`` (a backward error), NaN for NaN."""
        self.shaped(got, want.shape, dtype, what)
        g = self.back(got).astype(want.dtype)
        eps = float(np.finfo(dtype).eps)
        with np.errstate(all="ignore"):
            miss = np.abs(g - want) > ulps * eps * scale
        bad = np.asarray(np.where(np.isnan(want) | np.isinf(want), differs(g, want, False), miss))
        bad = bad | (np.isnan(g) != np.isnan(want))
        if bad.any():
            raise Failure(describe(what, g, want, bad), got)

    def raises(self, call: Callable[..., Any], what: str, *types: type[Exception]) -> None:
        """Check that `call` raises; `types` are those the standard names, if it names any."""
        try:
            got = call()
        except Exception as e:
            if not types or isinstance(e, types):
                return
            names = " or ".join(t.__name__ for t in types)
            raise Failure(f"{what}: raised {type(e).__name__}, expected {names}") from e
        raise Failure(f"{what}: must raise, returned {getattr(got, 'shape', got)!r}")

    def true(self, condition: Any, what: str) -> None:
        """Check that `condition` holds."""
        if not condition:
            raise Failure(what)


# ---------------------------------------------------------------- registry and runner

_CHECKS: list[Check] = []


def add(
    chapter: str,
    function: str,
    name: str,
    body: Callable[[Kit], None],
    group: str = "standard",
    since: str = "2021.12",
) -> None:
    """Register a check; `since` is needed for what came later than its function."""
    since = max(since, SINCE.get(function, "2021.12"))
    if "complex" in name:
        since = max(since, "2022.12")
    _CHECKS.append(Check(chapter, function, name, group, since, body))


def check(
    chapter: str, function: str, name: str, group: str = "standard", since: str = "2021.12"
) -> Callable[[Callable[[Kit], None]], Callable[[Kit], None]]:
    """Register the decorated function as a check."""

    def keep(body: Callable[[Kit], None]) -> Callable[[Kit], None]:
        add(chapter, function, name, body, group, since)
        return body

    return keep


def checks(
    select: str | Sequence[str] | None = None,
    groups: Sequence[str] = GROUPS,
    version: str | None = None,
) -> list[Check]:
    """Return the checks whose id matches a pattern of `select` (a name, or with wildcards)."""
    wanted = [select] if isinstance(select, str) else list(select or ["*"])

    def match(c: Check) -> bool:
        return any(fnmatch.fnmatchcase(c.id, p) or p in c.id.split("/") for p in wanted)

    chosen = [c for c in _CHECKS if match(c) and c.group in groups]
    return [c for c in chosen if version is None or c.since <= version]


def run_check(xp: Any, c: Check, limits: Limits | None = None) -> Result:
    """Run one check on a namespace; never raises for what the namespace does."""
    kit = Kit(xp, limits)
    kit.rng = np.random.default_rng(zlib.crc32(c.id.encode()))
    start = time.perf_counter()
    found = Result(c, "passed", "", 0.0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if c.function in _DATA_DEPENDENT and not kit.capability("data-dependent shapes"):
                raise Skip("no data-dependent shapes")
            c.body(kit)
        except Skip as e:
            found = Result(c, "skipped", str(e), 0.0)
        except Failure as e:
            found = _failed(kit, c, str(e), e.subject)
        except Exception as e:
            found = _failed(kit, c, f"{type(e).__name__}: {e}", None)
    return replace(found, seconds=time.perf_counter() - start)


def _failed(kit: Kit, c: Check, message: str, subject: Any) -> Result:
    """Return a failure with the shortest reproduction that can be had."""
    outcome = "remark" if c.group == "advice" else "failed"
    module = getattr(kit.xp, "__name__", "xp")
    source = kit.book.last if subject is None else kit.book.find(subject)
    try:
        line = source.line(module) if source is not None else None
    except TooLong:
        line = None
    repeat = f"python -m ascend_array_api conformance --module {module} --select '{c.id}'"
    return Result(c, outcome, message, 0.0, line or repeat)


def iterate(
    xp: Any,
    select: str | Sequence[str] | None = None,
    *,
    groups: Sequence[str] = GROUPS,
    version: str | None = None,
    limits: Limits | None = None,
) -> Iterator[Result]:
    """Run checks one by one, yielding each result as it is known."""
    for c in checks(select, groups, version):
        yield run_check(xp, c, limits)


def run(
    xp: Any,
    select: str | Sequence[str] | None = None,
    *,
    groups: Sequence[str] = GROUPS,
    version: str | None = None,
    limits: Limits | None = None,
) -> list[Result]:
    """Run the kit on a namespace.

    Parameters
    ----------
    xp : module
        Any array API namespace.
    select : str or sequence of str, optional
        Patterns (``"fft/*"``, ``"sort"``) that choose checks by id; all by default.
    groups : sequence of str
        Which of ``standard``, ``advice`` and ``extra`` to run.
    version : str, optional
        Leave out what is newer than this version of the standard; nothing by default.
    limits : Limits, optional
        Rounding allowed.

    Returns
    -------
    list of Result
        One for each check, in the order of the chapters.
    """
    return list(iterate(xp, select, groups=groups, version=version, limits=limits))
