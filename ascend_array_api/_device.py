"""Devices: one object for each, known to the core and equal to its name."""

from __future__ import annotations

from typing import ClassVar

from . import _core

_DLPACK_CPU = 1


class Device:
    """A place where arrays live and operations run.

    There is one object for each device: ``Device("cpu") is Device("cpu")``. A device is hashable,
    can be pickled, and equals its name, so that ``x.device == "cpu"`` reads as it should.

    Parameters
    ----------
    name : str or Device
        The device's name. ``"cpu"`` is always there.

    Raises
    ------
    TypeError
        If ``name`` is neither a string nor a device.
    ValueError
        If no device of this name is available.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api.runtime import Device
    >>> xp.zeros(3, device=Device("cpu")).device
    Device('cpu')
    """

    __slots__ = ("_dlpack", "_lacks", "_name")
    _known: ClassVar[dict[str, Device]] = {}
    _name: str
    _dlpack: tuple[int, int]  # device type and number
    _lacks: frozenset[str]  # names of dtypes

    def __new__(cls, name: str | Device, /) -> Device:
        return resolve_device("Device", name)

    @property
    def name(self) -> str:
        """The name, as every ``device=`` argument accepts it."""
        return self._name

    def statistics(self) -> dict[str, int]:
        """Return what the device has counted since the process began.

        Returns
        -------
        dict of str to int
            Nothing for a CPU device. For an NPU:

            ``uploads``, ``bytes_uploaded``, ``downloads``, ``bytes_downloaded``
                Copies from the host and to it.
            ``executors_made``, ``executors_reused``, ``executors_held``
                Operations that CANN had to prepare, those that ran again as prepared before, and
                those kept for that.
            ``bytes_unpacked``, ``peak_bytes_unpacked``
                Memory of bools that are one byte each while operations use them, now and at most;
                at rest an array of bools takes an eighth.
        """
        return _core.device_statistics(self)

    def __repr__(self) -> str:
        return f"Device({self._name!r})"

    def __str__(self) -> str:
        return self._name

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and self._name == other)

    def __hash__(self) -> int:
        return hash(self._name)

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        return Device, (self._name,)

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self

    def __init_subclass__(cls) -> None:
        raise TypeError("Device cannot be subclassed")


def default_device() -> Device:
    """Return the device on which arrays are made without ``device=``."""
    return list(Device._known.values())[_core.default_device_number()]


def available_devices() -> tuple[Device, ...]:
    """Return every device of this process, the default one first."""
    first = default_device()
    return (first, *(device for device in Device._known.values() if device is not first))


def has_dtype(device: Device, name: str) -> bool:
    """Return whether a device has the dtype of this name."""
    return name not in device._lacks


def with_float64(device: Device) -> Device:
    """Return the device, or the CPU where that lacks float64."""
    return device if has_dtype(device, "float64") else Device("cpu")


def resolve_device(function: str, device: str | Device) -> Device:
    """Return the device that an argument names, or raise an error that tells what there is."""
    if isinstance(device, Device):
        return device
    names = ", ".join(repr(name) for name in Device._known)
    if not isinstance(device, str):
        raise TypeError(
            f"{function}: a device is a Device or a string, got {type(device).__name__}; "
            f"available: {names}"
        )
    found = Device._known.get(device)
    if found is None:
        raise ValueError(f"{function}: unknown device {device!r}; available: {names}")
    return found


def dlpack_code(device: Device) -> tuple[int, int]:
    """Return the DLPack device type and number of a device."""
    return device._dlpack


def on_host(device: Device) -> bool:
    """Return whether the device's memory is the host's."""
    return device._dlpack[0] == _DLPACK_CPU


def _register() -> None:
    for name, dlpack_type, dlpack_number, lacks in _core.device_table():
        device = object.__new__(Device)
        device._name = name
        device._dlpack = dlpack_type, dlpack_number
        device._lacks = frozenset(lacks)
        Device._known[name] = device
    _core.register_devices(tuple(Device._known.values()))


_register()
