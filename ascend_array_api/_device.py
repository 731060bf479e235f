"""Devices: one object for each, known to the core and equal to its name."""

from __future__ import annotations

from typing import ClassVar

from . import _core

# Name: (DLPack device type, number). kDLCPU is 1.
_DLPACK_CODES: dict[str, tuple[int, int]] = {"cpu": (1, 0)}

DEFAULT_DEVICE = "cpu"


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

    __slots__ = ("_name",)
    _known: ClassVar[dict[str, Device]] = {}
    _name: str

    def __new__(cls, name: str | Device, /) -> Device:
        return resolve_device("Device", name)

    @property
    def name(self) -> str:
        """The name, as every ``device=`` argument accepts it."""
        return self._name

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


def available_devices() -> tuple[Device, ...]:
    """Return every device of this process, the default one first."""
    return tuple(Device._known.values())


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
    return _DLPACK_CODES[device.name]


def _register() -> None:
    for name in _DLPACK_CODES:
        device = object.__new__(Device)
        device._name = name
        Device._known[name] = device
    _core.register_device_class(Device)


_register()
