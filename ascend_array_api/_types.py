"""Names used in type annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from ._core import Array
from ._device import Device

DType: TypeAlias = np.dtype[Any]
RealScalar: TypeAlias = int | float
Scalar: TypeAlias = int | float | complex
Axes: TypeAlias = int | tuple[int, ...] | None
Shape: TypeAlias = int | Sequence[int]
DeviceLike: TypeAlias = Device | str
Norm: TypeAlias = Literal["backward", "ortho", "forward"]


class SupportsDLPack(Protocol):
    """An object that exports its memory through DLPack."""

    def __dlpack__(self, *, stream: Any = None) -> Any:
        """Return a capsule that holds the exported tensor."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device type and the device's number."""


__all__ = [
    "Array",
    "Axes",
    "DType",
    "Device",
    "DeviceLike",
    "Norm",
    "RealScalar",
    "Scalar",
    "Shape",
    "SupportsDLPack",
]
