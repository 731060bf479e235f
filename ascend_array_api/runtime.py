"""Devices, strictness, threads, memory, and exchange with Arrow.

None of these names belongs to the standard: portable code does not need them.

Examples
--------
>>> import ascend_array_api as xp
>>> from ascend_array_api import runtime
>>> with runtime.strict(False):
...     xp.asarray([1, 2]) * 0.5
Array([0.5, 1. ], dtype=float64, device=cpu)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from . import _core
from ._arrow import ArrowArray, from_arrow, to_arrow
from ._core import Array
from ._device import Device
from ._fallback import Fallback, HostFallbackWarning, fallbacks, set_fallback
from ._hints import get_hints, reuse_buffer, set_hint
from ._memory import Arena, ArenaStatistics, MemoryPool, MemoryStatistics, arena
from ._precision import get_precision, precision
from ._predictive import get_mode, set_mode
from ._prefetch import Prefetcher, prefetch
from ._routing import Route, RoutingTable, routing
from ._streams import Event, Stream, current_stream

__all__ = [
    "Arena",
    "ArenaStatistics",
    "Array",
    "ArrowArray",
    "Device",
    "Event",
    "Fallback",
    "HostFallbackWarning",
    "MemoryPool",
    "MemoryStatistics",
    "Prefetcher",
    "Route",
    "RoutingTable",
    "Stream",
    "arena",
    "current_stream",
    "evaluate",
    "fallbacks",
    "from_arrow",
    "get_hints",
    "get_mode",
    "get_num_threads",
    "get_precision",
    "get_strict",
    "instruction_set",
    "precision",
    "prefetch",
    "reuse_buffer",
    "routing",
    "set_fallback",
    "set_hint",
    "set_mode",
    "set_num_threads",
    "set_strict",
    "strict",
    "synchronize",
    "to_arrow",
]

# None where the setting of the process holds; True or False inside `strict`.
_strict_here: ContextVar[bool | None] = ContextVar("ascend_array_api_strict", default=None)


def set_strict(enabled: bool, /) -> None:
    """Choose strict or relaxed mode for the whole process.

    Strict mode, the default, raises TypeError where the standard leaves the result open. Relaxed
    mode gives what NumPy 2 gives there: dtypes of different kinds promote, integers are accepted by
    floating-point functions, NumPy arrays serve as indices, and strings as dtypes.

    Parameters
    ----------
    enabled : bool
        True for strict mode.

    Raises
    ------
    TypeError
        If `enabled` is neither True nor False.

    Notes
    -----
    The environment variable ``ASCEND_ARRAY_API_STRICT=0`` does the same at import.

    See Also
    --------
    strict : The same for a block of code.
    """
    _core.set_strict(enabled)


def get_strict() -> bool:
    """Return whether strict mode is in force here.

    Returns
    -------
    bool
        The innermost `strict` block decides, then `set_strict`.
    """
    return _core.get_strict()


@contextmanager
def strict(enabled: bool = True, /) -> Iterator[None]:
    """Choose strict or relaxed mode for a block of code.

    Parameters
    ----------
    enabled : bool, optional
        True for strict mode, False for relaxed mode.

    Returns
    -------
    context manager
        It holds in the current thread or asynchronous task only, and can decorate a function.

    Raises
    ------
    TypeError
        If `enabled` is neither True nor False, on entry.

    See Also
    --------
    set_strict : The same for the whole process, and what the modes mean.
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"strict: enabled must be True or False, got {type(enabled).__name__}")
    token = _strict_here.set(enabled)
    try:
        yield
    finally:
        _strict_here.reset(token)


def evaluate(*arrays: Array) -> None:
    """Compute arrays whose operations are recorded but have not run yet.

    Values are computed by themselves as soon as something needs them; this says when.

    Parameters
    ----------
    *arrays : Array
        The arrays to compute.

    Raises
    ------
    TypeError
        If an argument is not an array.
    """
    _core.evaluate(arrays)


def synchronize() -> None:
    """Run every operation that any thread has recorded, and wait for it.

    Raises
    ------
    Exception
        The first error of a recorded operation since the last call.

    Notes
    -----
    The message names the operation; with ``ASCEND_ARRAY_API_TRACE=1`` it also names the line of
    the program that recorded it.
    """
    _core.synchronize()


def set_num_threads(n: int, /) -> None:
    """Set how many threads share the work of one operation.

    Parameters
    ----------
    n : int
        Number of threads, at least 1. Results do not depend on it.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is less than 1.

    Notes
    -----
    The environment variable ``ASCEND_ARRAY_API_NUM_THREADS`` sets the number at import.
    """
    _core.set_num_threads(n)


def get_num_threads() -> int:
    """Return how many threads share the work of one operation.

    Returns
    -------
    int
        The number of threads, by default that of the processors available to the process.
    """
    return _core.num_threads()


def instruction_set() -> str:
    """Return the instruction set that the kernels of this process use.

    Returns
    -------
    str
        "v2", "v3" or "v4" of x86-64, or "neon". The environment variable
        ``ASCEND_ARRAY_API_ISA`` chooses another one at import.
    """
    return _core.isa()


# The environment variables that the core reads, and the values that they may have.
_SWITCHES = {
    "ASCEND_ARRAY_API_STRICT": ("0", "1"),
    "ASCEND_ARRAY_API_DEFER": ("auto", "off", "always"),
    "ASCEND_ARRAY_API_FUSION": ("on", "off"),
    "ASCEND_ARRAY_API_POOL": ("on", "off"),
    "ASCEND_ARRAY_API_TRACE": ("0", "1"),
    "ASCEND_ARRAY_API_MODE": ("default", "predictive"),
}


def _check_switches() -> None:
    threads = os.environ.get("ASCEND_ARRAY_API_NUM_THREADS")
    if threads is not None and not (threads.isascii() and threads.isdigit() and int(threads)):
        raise ValueError(f"ASCEND_ARRAY_API_NUM_THREADS is a positive integer, got {threads!r}")
    for name, accepted in _SWITCHES.items():
        value = os.environ.get(name)
        if value is not None and value not in accepted:
            raise ValueError(f"{name} is {' or '.join(accepted)}, got {value!r}")


def __dir__() -> list[str]:
    return list(__all__)


_core.register_strict_var(_strict_here)
_check_switches()
_core.set_strict(os.environ.get("ASCEND_ARRAY_API_STRICT") != "0")
if os.environ.get("ASCEND_ARRAY_API_MODE") == "predictive":
    set_mode("predictive")
