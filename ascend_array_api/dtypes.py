"""Element types outside the standard, accepted by every ``dtype=`` argument.

``float16`` is always there. ``bfloat16`` comes from the optional package ``ml_dtypes``, which is
imported when the name is first used. Both are stored narrow and computed in float32.
"""

from __future__ import annotations

from importlib.util import find_spec

from ._dtypes import float16, load_bfloat16
from ._types import DType

__all__ = ["float16"]


def __getattr__(name: str) -> DType:
    if name != "bfloat16":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return load_bfloat16()
    except ImportError as error:
        raise AttributeError(
            "bfloat16 needs the package ml_dtypes, which is not installed"
        ) from error


def __dir__() -> list[str]:
    return [*__all__, "bfloat16"] if find_spec("ml_dtypes") else list(__all__)
