"""`precision`: in which precision products and sums are computed."""

from __future__ import annotations

import warnings
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Literal, Self

from . import _core

# The order is that of the core's.
_NAMES = ("default", "mixed", "high")
_here: ContextVar[int] = ContextVar("ascend_array_api_precision", default=0)


class precision:  # noqa: N801
    """Choose the precision of products and sums for a block of code.

    Parameters
    ----------
    name : {"default", "mixed", "high"}
        ``"default"``
            Matrix products have the precision of their dtype. Sums of float32 and complex64 are
            added in float64 anyway, sums of float64 pairwise.
        ``"mixed"``
            The factors of float32 matrix products are rounded to bfloat16, which has 8 bits of
            precision, and the products added in float32, where that is faster: on processors with
            AMX or AVX512-BF16, from matrices of 16 x 16 and 2**17 multiplications on. An element
            of ``a @ b`` is then off by at most ``2**-6.9 * (abs(a) @ abs(b))``, typically by
            ``2**-8 * sqrt(k) * rms(a) * rms(b)``. Factors, products and sums below 2**-126 count as
            zero, and factors from 3.4e38 on as infinity. Sums and products with vectors are as by
            default: they wait for memory, not for arithmetic.
        ``"high"``
            Products of float16, bfloat16, float32 and complex64 (`matmul`, `tensordot`, `vecdot`)
            are computed in float64 or complex128 and rounded once. Of float64, `sum`, `mean`,
            `var`, `std`, `vecdot` and matrix products up to 2**22 multiplications add without
            an error until the last rounding: a sum of n elements is off by half a unit in the
            last place and ``2**-150 * n**3`` of the largest element, a product likewise, and by
            ``2**-105 * sum(abs(x * y))``; a mean by one and a half units, a variance by two. Sums
            take five to twenty times as long, matrix products some hundred times. complex128 is as
            by default.

    Returns
    -------
    context manager
        It holds in the current thread or asynchronous task only, for operations that are called
        inside of it, whenever they run. Blocks nest: the innermost decides.

    Raises
    ------
    TypeError
        If `name` is not a string.
    ValueError
        If it is none of the three.

    Warns
    -----
    RuntimeWarning
        On entering ``"mixed"`` where the processor has neither, so that it changes nothing; in
        ``"high"``, by matrix products of float64 that are larger, and by sums and products on
        devices without a wider dtype.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> x = xp.asarray([[1e8, 1.0, -1e8]], dtype=xp.float32)
    >>> ones = xp.ones((3, 1), dtype=xp.float32)
    >>> with runtime.precision("high"):
    ...     x @ ones
    Array([[1.]], dtype=float32, device=cpu)
    """

    def __init__(self, name: Literal["default", "mixed", "high"], /) -> None:
        if not isinstance(name, str):
            raise TypeError(f"precision: name must be a str, got {type(name).__name__}")
        if name not in _NAMES:
            accepted = ", ".join(repr(known) for known in _NAMES)
            raise ValueError(f"precision: unknown precision {name!r}; accepted: {accepted}")
        self.name = name
        self._tokens: list[Token[int]] = []

    def __enter__(self) -> Self:
        if self.name == "mixed" and _core.mixed_unit() is None:
            warnings.warn(
                "precision: 'mixed' changes nothing here: the processor has neither AMX nor "
                "AVX512-BF16, or other kernels were chosen; products stay in float32",
                RuntimeWarning,
                stacklevel=2,
            )
        _core.watch_precision()
        self._tokens.append(_here.set(_NAMES.index(self.name)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._tokens:
            raise RuntimeError("precision: it is left without having been entered")
        _here.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"precision({self.name!r})"


def get_precision() -> str:
    """Return the precision in force here.

    Returns
    -------
    str
        "default", "mixed" or "high": that of the innermost `precision` block.
    """
    return _NAMES[_here.get()]


_core.register_precision_var(_here)
