"""The memory pool, its limits and statistics, and arenas."""

from __future__ import annotations

import math
import re
from types import TracebackType
from typing import NamedTuple, Self, SupportsIndex

from . import _core
from ._checks import as_index
from ._device import Device, default_device, resolve_device

# Decimal and binary units, as in "2GB" and "2GiB".
_UNITS = {"": 1, "b": 1} | {
    f"{letter}{binary}b": (1024 if binary else 1000) ** power
    for power, letter in enumerate("kmgt", start=1)
    for binary in ("", "i")
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE | re.ASCII)
_ACCEPTED = "an int of bytes or a string such as '512MiB' or '2GB'"


def _to_bytes(function: str, size: SupportsIndex | str, least: int) -> int:
    """Return a size in bytes, or raise an error that tells what is accepted."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{function}: size must be {_ACCEPTED}, got {size!r}")
        # Numbers without a fraction are exact at any size; part of a byte counts as one.
        whole = match[1].isdigit()
        number: int = int(match[1]) * unit if whole else math.ceil(float(match[1]) * unit)
    else:
        number = as_index(function, "size", size, accepted=_ACCEPTED)
    if not least <= number < 2**62:
        raise ValueError(
            f"{function}: size must be at least {least} and less than 2**62 bytes, got {size!r}"
        )
    return number


class MemoryStatistics(NamedTuple):
    """Numbers of the memory pool.

    Attributes
    ----------
    used : int
        Bytes in use now: arrays, with their padding and headers, scratch memory, and the whole of
        every arena.
    cached : int
        Bytes that the pool keeps for later use.
    peak : int
        The highest value of `used` so far, to within 64 KiB a thread.
    allocations : int
        How many times memory was taken from the system so far.
    reused : int
        How many times it was served without.
    limit : int
        What the pool may hold: the limit that was set, or the memory of the machine or the
        container. An array that is larger is a MemoryError.
    """

    used: int
    cached: int
    peak: int
    allocations: int
    reused: int
    limit: int


class MemoryPool:
    """The pool from which the arrays of a device get their memory.

    Memory of arrays that are gone is kept for later ones, up to a quarter of the machine's memory;
    beyond that what was unused for longest goes back to the system. The environment variable
    ``ASCEND_ARRAY_API_POOL=off`` takes all memory from the system instead.

    Parameters
    ----------
    device : Device or str, optional
        The device. By default the default device.

    Raises
    ------
    ValueError
        If the device is unknown.

    Examples
    --------
    >>> from ascend_array_api import runtime
    >>> pool = runtime.MemoryPool()
    >>> pool.set_limit("4GiB")
    >>> pool.get_limit()
    4294967296
    >>> pool.set_limit(0)
    """

    __slots__ = ("device",)

    def __init__(self, device: Device | str | None = None) -> None:
        self.device = default_device() if device is None else resolve_device("MemoryPool", device)

    def statistics(self) -> MemoryStatistics:
        """Return what the pool holds and has done so far.

        Returns
        -------
        MemoryStatistics
            Sizes in bytes and counts.
        """
        stats = _core.pool_stats(self.device)
        return MemoryStatistics(*(stats[name] for name in MemoryStatistics._fields))

    def used_bytes(self) -> int:
        """Return how many bytes are in use.

        Returns
        -------
        int
            `MemoryStatistics.used`.
        """
        return self.statistics().used

    def free_bytes(self) -> int:
        """Return how many bytes the pool keeps for later use.

        Returns
        -------
        int
            `MemoryStatistics.cached`.
        """
        return self.statistics().cached

    def total_bytes(self) -> int:
        """Return how many bytes the pool has from the system, used or not.

        Returns
        -------
        int
            The sum of `used_bytes` and `free_bytes`.
        """
        stats = self.statistics()
        return stats.used + stats.cached

    def n_free_blocks(self) -> int:
        """Return in how many pieces the unused memory is.

        Returns
        -------
        int
            The number of stretches of memory kept for later use.
        """
        return _core.pool_stats(self.device)["free_blocks"]

    def free_all_blocks(self) -> None:
        """Give the memory that the pool keeps for later arrays back to the system.

        Tables that transforms keep for others of their length are freed, too. What stays are pages
        that are partly in use (on an NPU segments), and what other threads keep of pieces up to
        4 KiB.
        """
        _core.free_cached(self.device)

    def get_limit(self) -> int:
        """Return the most that the pool may hold.

        Returns
        -------
        int
            The limit in bytes, 0 where none was set.
        """
        return _core.pool_limit(self.device)

    def set_limit(
        self, size: SupportsIndex | str | None = None, *, fraction: float | None = None
    ) -> None:
        """Set the most that the pool may hold, in use and kept for later use.

        What is kept beyond it goes back to the system at once, but for small pieces that other
        threads keep and, on an NPU, segments of which a part is in use. Later, what would exceed it
        first takes from the cache, pages between arrays in use included, and runs what is recorded,
        then raises MemoryError. Memory that is in use already stays.

        Parameters
        ----------
        size : int or str, optional
            Bytes, or a string such as ``"512MiB"`` or ``"2GB"``; 0 for no limit.
        fraction : float, optional
            In place of `size`: a share of the memory of the machine or the container, from 0 to 1.

        Raises
        ------
        TypeError
            If not exactly one of the two is given, or it is of another type.
        ValueError
            If it is out of range.
        """
        if (size is None) == (fraction is None):
            raise TypeError("set_limit: exactly one of size and fraction is needed")
        if size is not None:
            _core.set_pool_limit(self.device, _to_bytes("set_limit", size, least=0))
            return
        if isinstance(fraction, bool) or not isinstance(fraction, int | float):
            raise TypeError(f"set_limit: fraction must be a float, got {type(fraction).__name__}")
        if not 0 < fraction <= 1:
            raise ValueError(
                f"set_limit: fraction must be above 0 and at most 1, got {fraction!r}; "
                "size=0 removes the limit"
            )
        # Zero would mean no limit.
        _core.set_pool_limit(self.device, max(1, int(fraction * _core.total_memory(self.device))))

    def __repr__(self) -> str:
        return f"MemoryPool({self.device.name!r})"


class ArenaStatistics(NamedTuple):
    """Numbers of an arena.

    Attributes
    ----------
    size : int
        Bytes that it was made with.
    used : int
        Bytes in use now, with padding and headers.
    peak : int
        The highest value of `used` so far.
    served : int
        How many pieces of memory came from it so far.
    outgrown : int
        How many did not fit, and came from the arena around it or from the pool.
    """

    size: int
    used: int
    peak: int
    served: int
    outgrown: int


class Arena:
    """A stretch of memory that serves the arrays of a block of code; made by `arena`."""

    __slots__ = ("_handle", "device")

    def __init__(self, size: SupportsIndex | str, device: Device | str) -> None:
        self._handle = _core.make_arena(_to_bytes("arena", size, least=1))
        self.device = resolve_device("arena", device)

    def __enter__(self) -> Self:
        _core.enter_arena(self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core.leave_arena(self._handle)

    def statistics(self) -> ArenaStatistics:
        """Return what the arena holds and has served so far.

        Returns
        -------
        ArenaStatistics
            Sizes in bytes and counts.
        """
        return ArenaStatistics(**_core.arena_stats(self._handle))

    def __repr__(self) -> str:
        return f"<arena of {self.statistics().size} bytes on {self.device}>"


def arena(size: SupportsIndex | str, *, device: Device | str = "cpu") -> Arena:
    """Take the memory of a block of code in one piece.

    Everything that this thread computes inside ``with arena(size):`` has its memory from there.
    What no longer fits comes from the pool as usual, and is counted. Arrays may outlive the block:
    the memory goes back to the pool when the last of them is gone.

    Parameters
    ----------
    size : int or str
        Bytes, or a string such as ``"512MiB"`` (2**20) or ``"2GB"`` (10**9).
    device : Device or str, optional
        The device. Default: ``cpu``.

    Returns
    -------
    Arena
        A context manager, which may be entered again after it was left. Its `statistics` tell how
        much of it is needed.

    Raises
    ------
    TypeError, ValueError
        If the size is not one.
    MemoryError
        On entering, if there is not enough memory.
    RuntimeError
        On entering an arena that is entered already, or leaving it in another thread.

    Notes
    -----
    An arena belongs to the thread that enters it, not to a context or an asynchronous task: what
    other tasks of the thread compute before it is left comes from it, too. Arenas nest: the inner
    one has its memory from the outer one where it fits there, and so has what outgrows it.

    Recorded operations take memory when they run, so they run at both ends of the block: those from
    before it without the arena, those from inside it with it. What other threads run, as that of a
    `Stream` does, takes memory from the pool.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> with runtime.arena("1MiB") as arena:
    ...     x = xp.ones(1000) + 1
    >>> arena.statistics().outgrown
    0
    """
    return Arena(size, device)
