"""Streams and events: independent work side by side, in order within each stream."""

from __future__ import annotations

import atexit
import os
import threading
from contextvars import ContextVar
from types import TracebackType
from typing import NamedTuple, Self

from . import _core
from ._device import Device, default_device, resolve_device


def _require(function: str, name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(
            f"{function}: expected {name} of type {kind.__name__}, got {type(value).__name__}"
        )


class _Entered(NamedTuple):
    """An entered stream; the core looks at the handle, which comes first."""

    handle: _core.StreamHandle
    stream: Stream
    outer: _Entered | None


# The innermost stream of this thread or coroutine.
_entered: ContextVar[_Entered | None] = ContextVar("ascend_array_api_stream", default=None)


class _Default(threading.local):
    """The default stream of this thread."""

    def __init__(self) -> None:
        self.stream = Stream._of(_core.own_stream())


class Stream:
    """A sequence of operations that runs in order, beside those of other streams.

    Inside ``with stream:`` this thread or coroutine records its operations there. Arrays may be
    used on any stream: what they need runs first, without an event.

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
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> stream = runtime.Stream()
    >>> with stream:
    ...     y = xp.ones(3) * 2
    >>> stream.synchronize()
    >>> y
    Array([2., 2., 2.], dtype=float64, device=cpu)
    """

    __slots__ = ("_handle", "device")

    def __init__(self, device: Device | str | None = None) -> None:
        self.device = default_device() if device is None else resolve_device("Stream", device)
        self._handle = _core.StreamHandle()
        _core.watch_caller()

    @classmethod
    def _of(cls, handle: _core.StreamHandle) -> Self:
        stream = object.__new__(cls)
        stream.device = default_device()
        stream._handle = handle
        return stream

    def __enter__(self) -> Self:
        _entered.set(_Entered(self._handle, self, _entered.get()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        entered = _entered.get()
        if entered is None or entered.stream is not self:
            raise RuntimeError(
                "Stream: it is not the innermost stream of this thread or coroutine that is left"
            )
        _entered.set(entered.outer)
        self._handle.submit()

    def synchronize(self) -> None:
        """Run what is recorded on this stream, and wait for it.

        Raises
        ------
        Exception
            The first error of an operation of this stream since it was last synchronized.
        """
        self._handle.finish()

    @property
    def done(self) -> bool:
        """Whether nothing is recorded or running on this stream."""
        return self._handle.idle()

    def record(self, event: Event | None = None) -> Event:
        """Record an event: it is done when all operations recorded so far are.

        Parameters
        ----------
        event : Event, optional
            The event. By default a new one.

        Returns
        -------
        Event
            The event.

        Raises
        ------
        TypeError
            If `event` is not an `Event`.
        """
        event = Event() if event is None else event
        _require("record", "an event", event, Event)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let the operations that are recorded from now on run after an event.

        Parameters
        ----------
        event : Event
            An event of any stream. One that was never recorded is done.

        Raises
        ------
        TypeError
            If `event` is not an `Event`.
        """
        _require("wait_event", "an event", event, Event)
        event._handle.hold(self._handle)

    def __repr__(self) -> str:
        own = self is _default.stream
        return f"<{'default stream of this thread' if own else 'stream'} on {self.device}>"


class Event:
    """A point in a stream, to order streams by and to measure time with."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        self._handle = _core.EventHandle()

    def record(self, stream: Stream | None = None) -> None:
        """Put the event behind what is recorded so far.

        Parameters
        ----------
        stream : Stream, optional
            The stream. By default the current one.

        Raises
        ------
        TypeError
            If `stream` is not a `Stream`.
        """
        stream = current_stream() if stream is None else stream
        _require("record", "a stream", stream, Stream)
        self._handle.record(stream._handle)

    def synchronize(self) -> None:
        """Run or wait for everything that the event stands behind."""
        self._handle.wait()

    @property
    def done(self) -> bool:
        """Whether everything that the event stands behind has run."""
        return self._handle.done()

    def elapsed_time(self, end: Event, /) -> float:
        """Return the time between two events.

        Parameters
        ----------
        end : Event
            The later event.

        Returns
        -------
        float
            Milliseconds from this event to `end`; both are waited for. By the clock of the
            accelerator that took longest, where there is one.

        Raises
        ------
        TypeError
            If `end` is not an `Event`.
        ValueError
            If one of the events was never recorded.
        """
        _require("elapsed_time", "an event", end, Event)
        for event in (self, end):
            if not event._handle.recorded():
                raise ValueError("elapsed_time: both events must have been recorded")
            event.synchronize()
        return self._handle.milliseconds_to(end._handle)


def current_stream() -> Stream:
    """Return the stream on which this thread records.

    Returns
    -------
    Stream
        The innermost stream entered by ``with``, or the thread's default stream.
    """
    entered = _entered.get()
    return _default.stream if entered is None else entered.stream


_default = _Default()
_core.register_stream_variable(_entered)
_core.register_package(os.path.join(os.path.dirname(__file__), ""))
if os.environ.get("ASCEND_ARRAY_API_TRACE") == "1":
    _core.trace_lines()
    _core.watch_caller()
# Recorded work that nobody has asked for does not outlive the interpreter.
atexit.register(_core.stop_runners)
