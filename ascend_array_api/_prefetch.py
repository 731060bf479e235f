"""`prefetch`: the next batches are made ready while the current one is computed."""

from __future__ import annotations

import contextvars
import copy
import queue
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from . import _core
from ._checks import as_index
from ._core import Array
from ._device import Device, resolve_device
from ._dtypes import dtype_named
from ._streams import Stream

T = TypeVar("T")

# How long a thread waits before it asks whether the other one is still there.
_PATIENCE = 0.1


class _Item(NamedTuple):
    """A batch, or the error or the end that comes in its place."""

    value: Any = None
    error: BaseException | None = None


def _arrive(batch: Any, place: Callable[[Any], Any]) -> Any:
    """Return the batch with every array in tuples, lists and dicts placed on the device."""
    if isinstance(batch, Array | np.ndarray):
        return place(batch)
    if isinstance(batch, tuple):
        parts = [_arrive(part, place) for part in batch]
        changed = any(new is not old for new, old in zip(parts, batch, strict=True))
        if not changed:
            return batch
        # Constructors of named tuples and other subclasses take other arguments.
        arrived = tuple.__new__(type(batch), parts)
        if hasattr(batch, "__dict__"):
            vars(arrived).update(vars(batch))
        return arrived
    if isinstance(batch, list | dict):
        new = copy.copy(batch)
        for key in batch if isinstance(batch, dict) else range(len(batch)):
            new[key] = _arrive(batch[key], place)
        return new
    return batch


class _Loader:
    """The thread that takes batches from the source. It knows no reader, so that those may go."""

    def __init__(self, source: Iterable[Any], device: Device | None, depth: int) -> None:
        self.ready: queue.Queue[_Item] = queue.Queue()
        self.room = threading.Semaphore(depth)
        self.stopped = threading.Event()
        self._source = source
        self._device = device
        # The modes of the program hold for its source as well.
        context = contextvars.copy_context()
        self.thread = threading.Thread(
            target=context.run, args=(self._run,), name="ascend_array_api prefetch", daemon=True
        )

    def _place(self, x: Any) -> Any:
        if not isinstance(x, Array) and dtype_named(x.dtype.name) is None:
            return x.copy()  # strings, times, objects
        if isinstance(x, Array):
            if self._device is not None and x.device != self._device:
                return x.to_device(self._device)
            return _core.asarray(x, None, None, True)  # the source may write to it again
        return _core.asarray(x, None, self._device, True)

    def _run(self) -> None:
        try:
            stream = Stream(self._device)
            with stream:
                batches = iter(self._source)
                while self._has_room():
                    batch = _arrive(next(batches), self._place)
                    # What the source recorded is computed here, not by the reader.
                    stream.synchronize()
                    self.ready.put(_Item(batch))
        except StopIteration:
            self.ready.put(_Item(error=StopIteration()))
        except BaseException as error:
            self.ready.put(_Item(error=error))
        finally:
            close = getattr(self._source, "close", None)
            self._source = ()
            if self.stopped.is_set() and close is not None:
                close()

    def _has_room(self) -> bool:
        while not self.stopped.is_set():
            if self.room.acquire(timeout=_PATIENCE):
                return not self.stopped.is_set()
        return False


class Prefetcher(Generic[T]):
    """An iterator over batches that are made ready ahead; made by `prefetch`."""

    def __init__(
        self, source: Iterable[T], device: Device | str | None = None, depth: int = 2
    ) -> None:
        depth = as_index("prefetch", "depth", depth)
        if depth < 1:
            raise ValueError(f"prefetch: depth must be at least 1, got {depth}")
        if not hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
            raise TypeError(
                f"prefetch: an iterable of batches is needed, got {type(source).__name__}"
            )
        place = None if device is None else resolve_device("prefetch", device)
        self._loader = _Loader(source, place, depth)
        # A reader that is forgotten stops its loader.
        self._stop = weakref.finalize(self, self._loader.stopped.set)
        self._over = False
        self._loader.thread.start()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._over:
            raise StopIteration
        item = self._next_item()
        if item.error is None:
            self._loader.room.release()
            value: T = item.value
            return value
        self._over = True
        raise item.error

    def _next_item(self) -> _Item:
        while True:
            try:
                return self._loader.ready.get(timeout=_PATIENCE)
            except queue.Empty:
                if self._over:  # another reader has met the end
                    return _Item(error=StopIteration())
                # After fork the child has the iterator, but not its thread.
                if not self._loader.thread.is_alive() and self._loader.ready.empty():
                    raise RuntimeError(
                        "prefetch: the thread that loads batches is gone; a forked process makes "
                        "an iterator of its own"
                    ) from None

    def close(self) -> None:
        """Stop loading: what is ready is dropped, and the source is closed if it can be."""
        self._over = True
        self._stop()
        if threading.current_thread() is not self._loader.thread:
            self._loader.thread.join()
        while not self._loader.ready.empty():
            self._loader.ready.get_nowait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def prefetch(
    iterable: Iterable[T], /, *, device: Device | str | None = None, depth: int = 2
) -> Prefetcher[T]:
    """Iterate over batches while the next ones are made ready in the background.

    A thread takes batches from the source, copies the NumPy arrays in them to the device, and
    computes what the source recorded, on a stream of its own. So loading and computing overlap.

    Parameters
    ----------
    iterable : iterable
        The source of batches: arrays of this library or of NumPy, alone or in tuples, lists and
        dicts of any depth. They are copied, so the source may write to them again; copies of
        arrays of this library cost nothing unless one side is written. NumPy arrays of other
        dtypes, such as strings, stay NumPy's, and other things pass as they are. It is used by the
        loading thread only, in the modes that are in force at the call.
    device : Device or str, optional
        Where the arrays go. By default arrays of this library stay where they are, others go to
        the default device.
    depth : int, optional
        The most batches that are ready and not yet asked for, at least 1.

    Returns
    -------
    Prefetcher
        An iterator, which is a context manager as well: leaving it, `close`, or forgetting it
        stops the source before its next batch.

    Raises
    ------
    TypeError
        If `iterable` is none or `depth` no integer.
    ValueError
        If `depth` is less than 1 or the device is unknown.
    Exception
        What the source raises, in place of the batch that it did not make; then the iteration is
        over.

    Notes
    -----
    Python code of the source runs beside that of the loop where it waits or works without the
    interpreter's lock: when it reads files, decodes, or calls NumPy or this library on large
    arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> files = (np.full(3, float(i)) for i in range(3))
    >>> [float(xp.sum(batch)) for batch in runtime.prefetch(files)]
    [0.0, 3.0, 6.0]
    """
    return Prefetcher(iterable, device, depth)
