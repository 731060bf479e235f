"""Inspection of the namespace: what it can do, on which devices, with which dtypes."""

from __future__ import annotations

from typing import TypedDict

from . import _core, _dtypes
from ._device import (
    Device,
    available_devices,
    default_device,
    has_dtype,
    resolve_device,
)
from ._types import DeviceLike, DType

__all__ = ["__array_namespace_info__"]

Capabilities = TypedDict(
    "Capabilities",
    {"boolean indexing": bool, "data-dependent shapes": bool, "max dimensions": int | None},
)
DefaultDTypes = TypedDict(
    "DefaultDTypes",
    {
        "real floating": DType,
        "complex floating": DType,
        "integral": DType,
        "indexing": DType,
    },
)


class Info:
    """Answers to questions about the namespace, as `__array_namespace_info__` gives them."""

    __slots__ = ()

    def capabilities(self) -> Capabilities:
        """Return what the library can do.

        Returns
        -------
        dict
            "boolean indexing" and "data-dependent shapes" (bool), and "max dimensions" (int).
        """
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _core.max_dimensions,
        }

    def default_device(self) -> Device:
        """Return the device on which arrays are made without ``device=``.

        Returns
        -------
        Device
            ``cpu``, or the one that the environment variable ``ASCEND_ARRAY_API_DEVICE`` names.
        """
        return default_device()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> DefaultDTypes:
        """Return the dtypes used where none is asked for.

        Parameters
        ----------
        device : Device or str, optional
            The device in question. By default the default device. One without float64 or
            complex128 has float32 or complex64 in their place.

        Returns
        -------
        dict
            The dtypes under "real floating", "complex floating", "integral" and "indexing".

        Raises
        ------
        ValueError
            If the device is unknown.
        """
        place = default_device() if device is None else resolve_device("default_dtypes", device)
        return {
            "real floating": _dtypes.default_float(place),
            "complex floating": _dtypes.default_complex(place),
            "integral": _dtypes.int64,
            "indexing": _dtypes.int64,
        }

    def devices(self) -> tuple[Device, ...]:
        """Return the devices of this process.

        Returns
        -------
        tuple of Device
            The devices, the default one first.
        """
        return available_devices()

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the dtypes of the standard that a device supports.

        Parameters
        ----------
        device : Device or str, optional
            The device in question. By default the default device.
        kind : str or tuple of str, optional
            The kinds wanted, as `isdtype` takes them. By default all of them.

        Returns
        -------
        dict
            The dtypes under their canonical names.

        Raises
        ------
        ValueError
            If the device or a kind is unknown.
        """
        place = default_device() if device is None else resolve_device("dtypes", device)
        kinds = (
            tuple(_dtypes.KINDS) if kind is None else kind if isinstance(kind, tuple) else (kind,)
        )
        for k in kinds:
            if k not in _dtypes.KINDS:
                known = ", ".join(repr(name) for name in _dtypes.KINDS)
                raise ValueError(f"dtypes: unknown kind {k!r}; known: {known}")
        wanted = "".join(_dtypes.KINDS[k] for k in kinds)
        return {
            name: dtype
            for name, dtype in _dtypes.STANDARD.items()
            if dtype.kind in wanted and has_dtype(place, name)
        }


_INFO = Info()


def __array_namespace_info__() -> Info:  # noqa: N807
    """Object that tells what this namespace can do.

    Returns
    -------
    Info
        An object with the methods ``capabilities``, ``default_device``, ``default_dtypes``,
        ``devices`` and ``dtypes``.
    """
    return _INFO
