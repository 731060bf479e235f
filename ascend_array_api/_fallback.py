"""What happens where a device does not have an operation: the CPU computes it, on copies."""

from __future__ import annotations

from typing import Literal, NamedTuple

from . import _core

_POLICIES = ("warn", "silent", "error")


class HostFallbackWarning(RuntimeWarning):
    """A device does not have an operation for a dtype: the CPU computes it, on copies.

    Warned once for each function, dtype and device; `set_fallback` chooses something else.
    """


class Fallback(NamedTuple):
    """What the CPU computed for a device.

    Attributes
    ----------
    function : str
        Name of the function.
    dtype : str
        Name of the dtype of its arguments.
    device : str
        Name of the device where they are.
    times : int
        How often.
    """

    function: str
    dtype: str
    device: str
    times: int


def set_fallback(policy: Literal["warn", "silent", "error"], /) -> None:
    """Choose what happens where a device does not have an operation.

    Parameters
    ----------
    policy : {"warn", "silent", "error"}
        "warn", the default: the CPU computes, with one `HostFallbackWarning` for each function,
        dtype and device. "silent": without it. "error": RuntimeError, at the call or, for what is
        recorded, where the result is read.

    Raises
    ------
    ValueError
        If `policy` is none of these.
    """
    if policy not in _POLICIES:
        raise ValueError(
            f"set_fallback: unknown policy {policy!r}; accepted: {', '.join(map(repr, _POLICIES))}"
        )
    _core.set_fallback(_POLICIES.index(policy))


def fallbacks() -> tuple[Fallback, ...]:
    """Return what the CPU has computed for other devices in this process.

    Returns
    -------
    tuple of Fallback
        Each function, dtype and device once, in the order of their first time.
    """
    return tuple(Fallback(*item) for item in _core.fallbacks())


_core.register_fallback_warning(HostFallbackWarning)
