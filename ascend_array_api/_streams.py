"""Streams and events: independent work side by side, in order within each stream."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from . import _core
from ._device import DEFAULT_DEVICE, Device, resolve_device


class _Stack(threading.local):
    """The streams that this thread has entered, the innermost last."""

    def __init__(self) -> None:
        self.entered: list[Stream] = []


_stack = _Stack()


class Stream:
    """A sequence of operations that runs in order, beside those of other streams.

    Inside ``with stream:`` this thread records its operations there. Arrays may be used on any
    stream: what they need is finished first, without an event.

    Parameters
    ----------
    device : Device or str, optional
        The device. Default: ``cpu``.

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
        self.device = resolve_device("Stream", DEFAULT_DEVICE if device is None else device)
        self._handle: _core.StreamHandle | None = _core.StreamHandle()

    def __enter__(self) -> Self:
        _stack.entered.append(self)
        _core.use_stream(self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _stack.entered.pop()
        _core.use_stream(_stack.entered[-1]._handle if _stack.entered else None)
        if self._handle is not None:
            self._handle.submit()

    def synchronize(self) -> None:
        """Run what is recorded on this stream, and wait for it."""
        if self._handle is None:
            _core.finish_current()
        else:
            self._handle.finish()

    @property
    def done(self) -> bool:
        """Whether nothing is recorded or running on this stream."""
        return _core.current_idle() if self._handle is None else self._handle.idle()

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
        """
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let the operations that are recorded from now on run after an event.

        Parameters
        ----------
        event : Event
            An event of any stream. One that was never recorded is done.
        """
        event._handle.hold(self._handle)

    def __repr__(self) -> str:
        kind = "default stream of this thread" if self._handle is None else "stream"
        return f"<{kind} on {self.device}>"


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
        """
        self._handle.record((current_stream() if stream is None else stream)._handle)

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
            Milliseconds from this event to `end`; both are waited for.

        Raises
        ------
        ValueError
            If one of the events was never recorded.
        """
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
    if _stack.entered:
        return _stack.entered[-1]
    stream = object.__new__(Stream)
    stream.device = resolve_device("current_stream", DEFAULT_DEVICE)
    stream._handle = None
    return stream
