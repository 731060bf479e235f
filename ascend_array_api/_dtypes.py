"""The element types: their objects and their facts."""

from __future__ import annotations

import importlib
from typing import NamedTuple

import numpy as np

from . import _core
from ._device import Device, has_dtype
from ._types import DType

bool_: DType = np.dtype("bool")
int8: DType = np.dtype("int8")
int16: DType = np.dtype("int16")
int32: DType = np.dtype("int32")
int64: DType = np.dtype("int64")
uint8: DType = np.dtype("uint8")
uint16: DType = np.dtype("uint16")
uint32: DType = np.dtype("uint32")
uint64: DType = np.dtype("uint64")
float16: DType = np.dtype("float16")
float32: DType = np.dtype("float32")
float64: DType = np.dtype("float64")
complex64: DType = np.dtype("complex64")
complex128: DType = np.dtype("complex128")

# The standard's dtypes under their canonical names, in the order of the standard.
STANDARD: dict[str, DType] = {
    d.name: d
    for d in (
        bool_,
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
        float32,
        float64,
        complex64,
        complex128,
    )
}


# Kinds as the standard names them, as the set of np.dtype.kind characters they cover.
KINDS: dict[str, str] = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


class FloatFormat(NamedTuple):
    """A binary floating-point format: significand bits with the hidden one, largest exponent."""

    precision: int
    max_exponent: int


# IEEE 754 and bfloat16 formats of the real floating-point dtypes.
FLOAT_FORMATS: dict[str, FloatFormat] = {
    "float16": FloatFormat(11, 15),
    "bfloat16": FloatFormat(8, 127),
    "float32": FloatFormat(24, 127),
    "float64": FloatFormat(53, 1023),
}

_known: dict[str, DType] = STANDARD | {"float16": float16}
_core.register_dtypes(_known)


def load_bfloat16() -> DType:
    """Return the bfloat16 of ml_dtypes, imported and made known to the core at the first call."""
    found = _known.get("bfloat16")
    if found is None:
        found = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        _known["bfloat16"] = found
        _core.register_dtypes(_known)
    return found


def dtype_named(name: str) -> DType | None:
    """Return the supported dtype of this canonical name, or None."""
    if name == "bfloat16":
        return load_bfloat16()
    return _known.get(name)


def kind_of(dtype: DType) -> str:
    """Return the np.dtype.kind character, with bfloat16 counted as a real float."""
    kind = dtype.kind
    # A name is slow to get, and of the supported dtypes only bfloat16 is of kind V.
    return "f" if kind == "V" and dtype.name == "bfloat16" else kind


def real_part(dtype: DType) -> DType:
    """Return the component dtype of a complex dtype, any other dtype itself."""
    if dtype.kind != "c":
        return dtype
    return float32 if dtype.itemsize == 8 else float64


def as_dtype(function: str, dtype: object) -> DType:
    """Return the supported dtype that an argument means, or raise TypeError.

    A ``np.dtype`` is looked up by what it is; strings and Python or NumPy types are understood in
    relaxed mode only.
    """
    if not isinstance(dtype, np.dtype):
        if dtype is None or _core.get_strict():
            raise TypeError(
                f"{function}: expected a dtype such as xp.float32, got {dtype!r}"
                f"{_core.HOW_TO_RELAX if isinstance(dtype, str | type) else ''}"
            )
        try:
            return as_dtype(function, np.dtype(dtype))  # type: ignore[call-overload]
        except (TypeError, ValueError):
            raise TypeError(f"{function}: {dtype!r} is not a supported dtype") from None
    found = dtype_named(dtype.name) if dtype.isnative else None
    if found is None:
        raise TypeError(
            f"{function}: unsupported dtype {dtype}; supported: {', '.join(_known)} in native byte "
            "order"
        )
    return found


def default_float(device: Device) -> DType:
    """Return the real floating-point dtype of a device where none is asked for."""
    return float64 if has_dtype(device, "float64") else float32


def default_complex(device: Device) -> DType:
    """Return the complex dtype of a device where none is asked for."""
    return complex128 if has_dtype(device, "complex128") else complex64
