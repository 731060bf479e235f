"""Portability checks: what a program does that other array libraries would do differently.

While a check is on, the functions of the namespace and the methods of the array class are replaced
by wrappers that look at each call; when the last check is off, they are put back, so that programs
which do not ask pay nothing.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from .. import _core
from .conformance.core import SINCE, VERSIONS
from .conformance.signatures import SIGNATURES

LEVELS = ("ignore", "warn", "error")

#: Each check, and what it reports.
CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "aliased_writes": "a write that another live array sees through the memory they share",
        "item_writes": "x[key] = value",
        "operator_writes": "x += y and the like",
        "synchronization": "bool(), int(), float(), complex(), an index, and len() of a shape that "
        "depends on values: results are waited for",
        "data_dependent_shapes": "nonzero, unique_*, repeat by an array, and x[mask]",
        "mixed_kinds": "operands of different kinds, whose result the standard leaves open",
        "newer": "what is newer than the chosen version of the standard",
        "extensions": "functions of linalg and fft",
        "missing_dtypes": "arrays of the dtypes that the chosen device lacks",
        "default_dtypes": "results whose dtype is the default one, which is 32 bits wide elsewhere",
        "device_changes": "results on another device than their inputs, and creation without "
        "device=, which is on the default device",
        "negative_steps": "slices with a negative step",
    }
)

_UNSIGNED = ("uint16", "uint32", "uint64")
_DOUBLES = ("float64", "complex128")

#: Ready-made settings: the levels of checks, the version, and the dtypes that are missing.
PROFILES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "jax": {
            "aliased_writes": "error",
            "item_writes": "error",
            "mixed_kinds": "warn",
            "newer": "warn",
            "version": "2024.12",
            "missing_dtypes": "warn",
            "missing": (*_DOUBLES, "int64", "uint64"),
            "default_dtypes": "warn",
        },
        "dask": {
            "aliased_writes": "error",
            "synchronization": "warn",
            "data_dependent_shapes": "warn",
            "mixed_kinds": "warn",
            "newer": "warn",
            "version": "2024.12",
            "extensions": "warn",
        },
        "torch": {
            "negative_steps": "error",
            "missing_dtypes": "warn",
            "missing": _UNSIGNED,
            "default_dtypes": "warn",
            "device_changes": "warn",
            "newer": "warn",
            "version": "2024.12",
        },
        "cupy": {
            "synchronization": "warn",
            "data_dependent_shapes": "warn",
            "device_changes": "warn",
            "newer": "warn",
            "version": "2024.12",
        },
        "strictest": {
            **dict.fromkeys(CHECKS, "error"),
            "version": "2022.12",
            "missing": _DOUBLES,
        },
    }
)
PROFILES = MappingProxyType(
    {
        **PROFILES,
        "jax-jit": {
            **PROFILES["jax"],
            "synchronization": "error",
            "data_dependent_shapes": "error",
        },
        "torch-mps": {
            **PROFILES["torch"],
            "missing_dtypes": "error",
            "missing": (*_UNSIGNED, *_DOUBLES),
        },
    }
)


class PortabilityWarning(UserWarning):
    """Something that other array libraries do differently."""


class PortabilityError(Exception):
    """The same, at the level ``error``."""


@dataclass(frozen=True)
class Finding:
    """What was found, and the line of the caller that did it."""

    check: str
    message: str
    filename: str
    line: int

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}: {self.message} [{self.check}]"


@dataclass
class Portability:
    """The settings of a block, and what was found in it."""

    levels: Mapping[str, str]
    version: str
    missing: frozenset[str]
    findings: list[Finding] = field(default_factory=list)

    def on(self, check: str) -> bool:
        """Return whether a check reports anything."""
        return self.levels[check] != "ignore"

    def report(self, check: str, message: str, frame: FrameType) -> None:
        """Note a finding of a check that is on, then warn or raise."""
        if not self.on(check):
            return
        finding = Finding(check, message, frame.f_code.co_filename, frame.f_lineno)
        self.findings.append(finding)
        if self.levels[check] == "error":
            raise PortabilityError(str(finding))
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        text = f"{message} [{check}]"
        warnings.warn_explicit(
            text, PortabilityWarning, finding.filename, finding.line, registry=registry
        )


_here: ContextVar[Portability | None] = ContextVar("ascend_array_api_portability", default=None)


def settings(
    profile: str | None = None,
    *,
    version: str | None = None,
    missing: tuple[str, ...] | None = None,
    **levels: str,
) -> Portability:
    """Return the settings of a profile with some of them changed."""
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"portability: no profile {profile!r}; there are {', '.join(PROFILES)}")
    chosen = dict(PROFILES[profile]) if profile is not None else {}
    version = version or chosen.pop("version", max(VERSIONS))
    chosen.pop("version", None)
    preset = chosen.pop("missing", ())
    chosen.update(levels)
    for name, level in chosen.items():
        if name not in CHECKS:
            raise TypeError(f"portability: no check {name!r}; there are {', '.join(CHECKS)}")
        if level not in LEVELS:
            raise ValueError(f"portability: {name}={level!r}, expected {' or '.join(LEVELS)}")
    if version not in VERSIONS:
        raise ValueError(f"portability: no version {version!r}; there are {', '.join(VERSIONS)}")
    lacking = frozenset(preset if missing is None else missing)
    return Portability({c: chosen.get(c, "ignore") for c in CHECKS}, version, lacking)


@contextmanager
def portability(
    profile: str | None = None,
    /,
    *,
    version: str | None = None,
    missing: tuple[str, ...] | None = None,
    **levels: str,
) -> Iterator[Portability]:
    """Report what other array libraries would do differently, in the block of a with statement.

    Parameters
    ----------
    profile : str, optional
        ``jax``, ``jax-jit``, ``dask``, ``torch``, ``torch-mps``, ``cupy`` or ``strictest``: which
        checks are on. None turns on those given by name only.
    version : str, optional
        The version of the standard beyond which the check ``newer`` reports.
    missing : tuple of str, optional
        The dtypes that the check ``missing_dtypes`` reports.
    **levels : str
        ``ignore``, ``warn`` or ``error`` for a check: ``aliased_writes``, ``item_writes``,
        ``operator_writes``, ``synchronization``, ``data_dependent_shapes``, ``mixed_kinds``,
        ``newer``, ``extensions``, ``missing_dtypes``, ``default_dtypes``, ``device_changes``,
        ``negative_steps``.

    Returns
    -------
    context manager of Portability
        Its ``findings`` say what was found, with the file and line of the caller.

    Raises
    ------
    PortabilityError
        Inside the block, by a check at the level ``error``.

    Notes
    -----
    The block counts for the thread or task that runs it. The environment variable
    ``ASCEND_ARRAY_API_PORTABILITY`` does the same for a whole process: a profile, or settings such
    as ``aliased_writes=error,newer=warn,version=2023.12``. The pytest plugin
    ``ascend_array_api.testing.pytest_plugin`` does it for tests.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import testing
    >>> with testing.portability(item_writes="error"):
    ...     y = xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0)
    """
    with using(settings(profile, version=version, missing=missing, **levels)) as chosen:
        yield chosen


@contextmanager
def using(chosen: Portability) -> Iterator[Portability]:
    """Turn on checks by their settings."""
    token = _here.set(chosen)
    _hooks.install()
    try:
        yield chosen
    finally:
        _hooks.remove()
        _here.reset(token)


def from_text(text: str) -> Portability:
    """Return the settings that an environment variable or an option names."""
    profile: str | None = None
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            profile = name
        else:
            options[name] = tuple(value.split("+")) if name == "missing" else value
    return settings(profile, **options)


# ---------------------------------------------------------------- what each call is looked at for

_CREATION = ("zeros", "ones", "empty", "full", "eye", "arange", "linspace", "asarray")
_DATA_DEPENDENT = ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")
_BINARY = frozenset(SIGNATURES["x1, x2, /"].split()) - {"linalg.outer", "linalg.solve"}
_READS = {
    "__bool__": "bool()",
    "__int__": "int()",
    "__float__": "float()",
    "__complex__": "complex()",
    "__index__": "an index",
}
_PLAIN = "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split()
_OPERATORS = frozenset(f"__{n}__" for n in _PLAIN + "eq ne lt le gt ge".split())
_REFLECTED = frozenset(f"__r{n}__" for n in _PLAIN)
_IN_PLACE = frozenset(f"__i{n}__" for n in _PLAIN)
_METHODS = _OPERATORS | _REFLECTED | _IN_PLACE | {*_READS, "__len__", "__getitem__", "__setitem__"}
_METHODS = _METHODS | {"__neg__", "__pos__", "__invert__", "__abs__", "T", "mT", "to_device"}

_KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "floating", "c": "floating"}


def _arrays(values: Any) -> Iterator[Any]:
    for v in values:
        if isinstance(v, _core.Array):
            yield v
        elif isinstance(v, list | tuple):
            yield from _arrays(v)


def _has_array(values: Any) -> bool:
    return next(_arrays(values), None) is not None


class _Live:
    """The arrays that live Python objects hold, as far as the wrappers have seen them."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[Any]] = {}
        self._unknown_length: dict[int, weakref.ref[Any]] = {}

    def see(self, x: Any, data_dependent: bool = False) -> None:
        for table in (self._known, self._unknown_length)[: 1 + data_dependent]:
            if id(x) not in table or table[id(x)]() is not x:
                table[id(x)] = weakref.ref(x, functools.partial(_forget, table, id(x)))

    def aliases(self, x: Any, apart_from: tuple[Any, ...]) -> bool:
        """Return whether another array shares elements with `x`."""
        skipped = {id(x), *map(id, apart_from)}
        others = (ref() for key, ref in list(self._known.items()) if key not in skipped)
        return any(y is not None and _core.alias(x, y) for y in others)

    def has_unknown_length(self, x: Any) -> bool:
        """Return whether the shape of `x` came from values."""
        ref = self._unknown_length.get(id(x))
        return ref is not None and ref() is x


def _forget(table: dict[int, weakref.ref[Any]], key: int, _: weakref.ref[Any]) -> None:
    table.pop(key, None)


_live = _Live()


def _before(p: Portability, name: str, args: tuple[Any, ...], kw: Any, frame: FrameType) -> None:
    """Report what can be said of a call before it runs."""
    short = name.rpartition(".")[2]
    if SINCE.get(short, "") > p.version:
        p.report("newer", f"{name} came with {SINCE[short]}, after {p.version}", frame)
    if name.startswith(("linalg.", "fft.")):
        p.report("extensions", f"xp.{name} belongs to an extension", frame)
    if name in _BINARY or name in _OPERATORS | _REFLECTED | _IN_PLACE:
        _look_at_operands(p, name, args, frame)
    if name in _IN_PLACE:
        _look_at_write(p, name, args, frame)
    if name == "__setitem__":
        p.report("item_writes", "x[key] = value: arrays elsewhere are immutable", frame)
        if p.on("aliased_writes") and _live.aliases(_written(*args[:2]), args):
            p.report("aliased_writes", "x[key] = value: another live array sees it", frame)
    if name in ("__getitem__", "__setitem__"):
        _look_at_key(p, name, args[1], frame)
    if name in _DATA_DEPENDENT or (name == "repeat" and _has_array(args[1:])):
        p.report("data_dependent_shapes", f"{name}: the shape depends on values", frame)
    if name in _READS:
        p.report("synchronization", f"{_READS[name]} of an array waits for its value", frame)
    if name == "__len__" and _live.has_unknown_length(args[0]):
        p.report("synchronization", "len() waits for a shape that depends on values", frame)
    if name in _CREATION and kw.get("device") is None and not _has_array(args):
        p.report("device_changes", f"{name} without device= is on the default device", frame)


def _look_at_operands(p: Portability, name: str, args: tuple[Any, ...], frame: FrameType) -> None:
    dtypes = [a.dtype for a in args if isinstance(a, _core.Array)]
    scalars = [a for a in args if isinstance(a, bool | int | float | complex)]
    kinds = {_KINDS.get(np.dtype(d).kind, "floating") for d in dtypes}
    told = [str(d) for d in dtypes] + [type(s).__name__ for s in scalars]
    open_result = len(kinds) > 1 or any(not _weak(s, dtypes) for s in scalars)
    if {"uint64"} < {str(d) for d in dtypes} and any(np.dtype(d).kind == "i" for d in dtypes):
        open_result = True
    if open_result and name not in ("__eq__", "__ne__"):
        p.report("mixed_kinds", f"{name} of {' and '.join(told)} is left open", frame)
    if scalars and not name.startswith("__") and p.version < "2024.12":
        p.report("newer", f"{name} of a Python scalar came with 2024.12, after {p.version}", frame)


def _weak(scalar: Any, dtypes: list[Any]) -> bool:
    """Return whether the standard defines a Python scalar beside arrays of these dtypes."""
    kinds = {np.dtype(d).kind for d in dtypes}
    if isinstance(scalar, bool):
        return kinds <= {"b"}
    if isinstance(scalar, int):
        return not kinds & {"b"}
    return not kinds & {"b", "i", "u"}


def _written(x: Any, key: Any) -> Any:
    """Return the part of `x` that a write changes, or all of it where that has no view."""
    return x if _has_array([key]) else x[key]


def _look_at_write(p: Portability, name: str, args: tuple[Any, ...], frame: FrameType) -> None:
    p.report("operator_writes", f"{name}: an in-place operator", frame)
    # In ``x[key] += y`` the view has no name: what counts is the assignment that follows.
    nameless = sys.getrefcount(args[0]) <= _nameless_references
    if p.on("aliased_writes") and not nameless and _live.aliases(args[0], ()):
        p.report("aliased_writes", f"{name}: another live array sees it", frame)


def _look_at_key(p: Portability, name: str, key: Any, frame: FrameType) -> None:
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if isinstance(part, slice) and part.step is not None and operator.index(part.step) < 0:
            p.report("negative_steps", "a slice with a negative step", frame)
        if isinstance(part, _core.Array):
            if np.dtype(part.dtype).kind == "b":
                if name == "__getitem__":
                    p.report("data_dependent_shapes", "a boolean index", frame)
            elif p.version < "2024.12":
                p.report("newer", f"an index array came with 2024.12, after {p.version}", frame)


def _after(
    p: Portability, name: str, args: tuple[Any, ...], kw: Any, result: Any, frame: FrameType
) -> None:
    """Remember arrays, and report what can be said of a result."""
    unknown = name in _DATA_DEPENDENT or (name == "__getitem__" and _masked(args[1]))
    inputs = list(_arrays(args))
    for x in inputs:
        _live.see(x)
    for y in _arrays(result if isinstance(result, tuple) else (result,)):
        _live.see(y, unknown)
        dtype = str(y.dtype)
        if dtype in p.missing:
            p.report("missing_dtypes", f"{name}: {dtype} is not everywhere", frame)
        if name in _CREATION and _by_default(name, args, kw):
            p.report("default_dtypes", f"{name} without dtype= is {dtype} here", frame)
        moved = inputs and all(y.device != x.device for x in inputs)
        if moved and kw.get("device") is None and name != "to_device":
            p.report("device_changes", f"{name}: the result is on {y.device}", frame)


def _masked(key: Any) -> bool:
    return isinstance(key, _core.Array) and np.dtype(key.dtype).kind == "b"


def _by_default(name: str, args: tuple[Any, ...], kw: Any) -> bool:
    """Return whether a creation function chose its dtype by itself."""
    if kw.get("dtype") is not None or _has_array(args):
        return False
    if name in ("asarray", "full"):
        source = args[-1] if name == "asarray" else kw.get("fill_value", args[-1])
        return not hasattr(source, "dtype") and np.asarray(source).dtype.kind in "ifc"
    return True


# ---------------------------------------------------------------- wrappers

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _wrapper(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def look(*args: Any, **kw: Any) -> Any:
        p = _here.get() or _everywhere
        frame = sys._getframe(1)
        if p is None or frame.f_code.co_filename.startswith(_PACKAGE):
            return function(*args, **kw)
        _before(p, name, args, kw, frame)
        result = function(*args, **kw)
        _after(p, name, args, kw, result, frame)
        return result

    return look


class _Hooks:
    """The wrappers, in place while at least one user wants them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._kept: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                for owner, name, shown in self._targets():
                    self._replace(owner, name, shown)

    def remove(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                for owner, name, old in reversed(self._kept):
                    setattr(owner, name, old)
                self._kept.clear()

    def _targets(self) -> Iterator[tuple[Any, str, str]]:
        package = sys.modules[__name__.rpartition(".testing")[0]]
        for dotted in (n for names in SIGNATURES.values() for n in names.split()):
            owner: ModuleType = package
            *parents, name = dotted.split(".")
            for parent in parents:
                owner = getattr(owner, parent)
            yield owner, name, dotted
        for name in sorted(_METHODS):
            yield _core.Array, name, name

    def _replace(self, owner: Any, name: str, shown: str) -> None:
        old = owner.__dict__[name] if name in owner.__dict__ else getattr(owner, name)
        self._kept.append((owner, name, old))
        if isinstance(old, type(_core.Array.shape)):  # an attribute: T, mT
            setattr(owner, name, property(_wrapper(shown, old.__get__)))
        else:
            setattr(owner, name, _wrapper(shown, old))


_hooks = _Hooks()
_everywhere: Portability | None = None


def _calibrate() -> int:
    """Return the references of a nameless operand as `_look_at_write` counts them."""
    seen: list[int] = []

    class Probe:
        def __getitem__(self, key: int) -> Probe:
            return Probe()

        def __setitem__(self, key: int, value: Any) -> None:
            pass

    def add(*args: Any) -> Any:
        seen.append(sys.getrefcount(args[0]))
        return args[0]

    Probe.__iadd__ = add  # type: ignore[attr-defined]
    probe: Any = Probe()
    probe[0] += 1
    return seen[0]


_nameless_references = _calibrate()


def enable(text: str) -> None:
    """Turn checks on for the whole process."""
    global _everywhere
    chosen = from_text(text)
    if _everywhere is None:
        _hooks.install()
    _everywhere = chosen
