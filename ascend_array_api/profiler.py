"""What the library did in a block of code, when, and how fast.

Examples
--------
>>> import ascend_array_api as xp
>>> from ascend_array_api.profiler import Profiler
>>> with Profiler() as profile:
...     x = xp.linspace(0.0, 1.0, 100_000)
...     total = float(xp.sum(xp.sqrt(x * x + 1.0)))
>>> [operation.name for operation in profile.operations()]  # doctest: +SKIP
['multiply+add+sqrt+sum', 'linspace']
>>> profile.export_chrome_trace("trace.json")  # doctest: +SKIP
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import TextIO

from . import _core
from ._checks import as_index, require_writable
from ._profile import (
    CategoryRow,
    OperationRow,
    Recording,
    category_rows,
    operation_rows,
    print_summary,
)
from ._trace import write_trace

__all__ = ["CategoryRow", "OperationRow", "Profiler"]


class Profiler:
    """Records what happens inside of a ``with`` block.

    On the host these are calls of functions, recorded operations, fusion and waiting, with the line
    of the program; on the device each group of operations that ran together, with its stream,
    elements and bytes; and every block of memory that came or went. What was recorded before the
    block runs before it, and what is recorded inside runs at its end.

    Parameters
    ----------
    capacity : int, optional
        How many events each thread keeps; later ones overwrite the oldest, and the summary says how
        many are lost. An event takes 80 bytes.

    Raises
    ------
    TypeError
        If `capacity` is not an integer.
    ValueError
        If `capacity` is less than 1.

    Notes
    -----
    Profilers may be nested, and used in several threads at once: each one sees what all threads did
    while it was on. A process made by fork is not profiled.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> with Profiler() as profile:
    ...     y = xp.exp(xp.ones(100_000))
    >>> profile.operations()[0].calls
    1
    """

    def __init__(self, *, capacity: int = 1 << 16) -> None:
        capacity = as_index("Profiler", "capacity", capacity)
        if capacity < 1:
            raise ValueError(f"Profiler: capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._since: int | None = None
        self._recording: Recording | None = None

    def __enter__(self) -> Profiler:
        if self._since is not None:
            raise RuntimeError("Profiler: it is running already")
        _core.watch_caller()
        _core.finish_all()
        self._since = _core.profiler_start(self._capacity)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._since is None:
            raise RuntimeError("Profiler: it is not running")
        try:
            if kind is None:
                _core.finish_all()
        finally:
            since, self._since = self._since, None
            self._recording = Recording(since, _core.profiler_stop(since))

    def _recorded(self, function: str) -> Recording:
        if self._recording is None:
            raise RuntimeError(f"Profiler.{function}: no `with` block of it has ended yet")
        return self._recording

    def operations(self) -> tuple[OperationRow, ...]:
        """Return what ran, by operation.

        Returns
        -------
        tuple of OperationRow
            One for each name, device and category; those that took longest come first. Operations
            that ran together are one, named after its parts or by a fusion rule.

        Raises
        ------
        RuntimeError
            If no block has ended yet.
        """
        return operation_rows(self._recorded("operations"))

    def categories(self) -> tuple[CategoryRow, ...]:
        """Return where the threads' time went.

        Returns
        -------
        tuple of CategoryRow
            "compute", "copy", "wait", "fallback" (work on the host for another device) and "host"
            (calls, recording, fusion). A thread's time counts once: what runs while it waits is not
            waiting.

        Raises
        ------
        RuntimeError
            If no block has ended yet.
        """
        return category_rows(self._recorded("categories"))

    def summary(self, *, file: TextIO | None = None) -> None:
        """Print `operations` and `categories` as tables.

        Parameters
        ----------
        file : file-like, optional
            Where to print. By default standard output.

        Raises
        ------
        RuntimeError
            If no block has ended yet.
        TypeError
            If `file` is not one to write to.
        """
        require_writable("summary", file)
        print_summary(self._recorded("summary"), file)

    def export_chrome_trace(self, path: str | os.PathLike[str], /) -> None:
        """Write the events as a trace, for Perfetto or Chromium's ``about:tracing``.

        Threads and streams are rows. Arrows lead from the call that recorded an operation to the
        work that it became part of; a counter shows the memory in use.

        Parameters
        ----------
        path : path-like
            The file to write, in the Trace Event format (JSON).

        Raises
        ------
        OSError
            If the file cannot be written.
        RuntimeError
            If no block has ended yet.
        TypeError
            If `path` is no path.

        Notes
        -----
        ``python -m ascend_array_api trace FILE -o out.svg`` draws the file as a picture.
        """
        if not isinstance(path, str | os.PathLike):
            raise TypeError(
                f"export_chrome_trace: path must be a str or os.PathLike, got {type(path).__name__}"
            )
        write_trace(self._recorded("export_chrome_trace"), path)


def __dir__() -> list[str]:
    return list(__all__)
