"""A conformance kit for the Python array API standard, runnable on any namespace.

Each function of the standard has rows in a table: which dtypes, which reference of higher
precision, which tolerance in ULP. The kit feeds them real values (the whole range of each dtype,
special values, ties) in every memory layout and at sizes around the borders where
implementations change their path. ``group="standard"`` checks follow from the standard's text;
``group="extra"`` ones are what users of NumPy-like libraries expect on top.

>>> from ascend_array_api.testing import conformance
>>> import array_api_strict
>>> failed = [r for r in conformance.run(array_api_strict, "sort") if r.outcome == "failed"]
"""

from __future__ import annotations

from . import (  # noqa: F401  (importing a chapter registers its checks, in this order)
    complex_values,
    creation,
    data_types,
    elementwise,
    extras,
    fft,
    indexing,
    linalg,
    manipulation,
    searching,
    signatures,
    sorting,
    statistical,
)
from .core import GROUPS, Check, Failure, Kit, Limits, Result, Skip, checks, iterate, run, run_check

__all__ = [
    "GROUPS",
    "Check",
    "Failure",
    "Kit",
    "Limits",
    "Result",
    "Skip",
    "checks",
    "iterate",
    "run",
    "run_check",
]
