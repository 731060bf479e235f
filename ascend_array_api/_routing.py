"""How operations are computed: the core's own choice of kernels, as records."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from . import _core
from ._device import default_device, has_dtype, resolve_device
from ._dtypes import as_dtype, dtype_named
from ._precision import get_precision
from ._types import Device, DeviceLike, DType

Kind = Literal["native", "wider", "compensated", "mixed", "host", "refused"]
_SUMS = {"sum", "mean", "var", "std"}
_PRODUCTS = {"matmul", "vecdot"}


class Route(NamedTuple):
    """How one operation is computed on elements of one dtype.

    Attributes
    ----------
    op : str
        Name of the function in the namespace, such as "add" or "linalg.qr".
    dtype : dtype
        The dtype to which the arguments promote.
    device : Device
        Where the arguments are.
    kind : {"native", "wider", "compensated", "mixed", "host", "refused"}
        "native": there are kernels for the dtype. "wider": elements are converted to another
        dtype, in which kernels compute. "compensated" and "mixed": as the `precision` in force
        says. "host": the device has none, so that the CPU computes, on copies. "refused": the
        dtype is a TypeError.
    compute : dtype or None
        The dtype of the kernels; None for what is refused.
    reason : str
        Why the CPU computes it; empty for the other kinds.
    """

    op: str
    dtype: DType
    device: Device
    kind: Kind
    compute: DType | None
    reason: str = ""


class RoutingTable(tuple[Route, ...]):
    """Routes, which print as a table: "native", "host", the wider dtype, or "-" for "refused"."""

    __slots__ = ()

    def __repr__(self) -> str:
        dtypes = list(dict.fromkeys(route.dtype.name for route in self))
        rows: dict[str, dict[str, str]] = {}
        for route in self:
            shown = {"wider": str(route.compute), "refused": "-"}.get(route.kind, route.kind)
            rows.setdefault(f"{route.op} on {route.device}", {})[route.dtype.name] = shown
        lines = [
            ["", *dtypes],
            *([op, *(row[name] for name in dtypes)] for op, row in rows.items()),
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def _routes(device: Device) -> list[Route]:
    bfloat16 = find_spec("ml_dtypes") is not None
    routes = []
    for op, name, compute, here, reason in _core.routes(device):
        dtype = dtype_named(name) if bfloat16 or name != "bfloat16" else None
        if dtype is None:
            continue
        compute = _there(device, name, compute)
        kind: Kind = "native" if compute == name else "wider"
        if compute is None:
            kind = "refused"
        elif not here:
            kind = "host"
        if kind in ("native", "wider") and device.name.startswith("cpu"):
            kind, compute = _precise(op, name, kind, compute)
        found = dtype_named(compute) if compute else None
        routes.append(Route(op, dtype, device, kind, found, reason if kind == "host" else ""))
    return routes


def _precise(op: str, name: str, kind: Kind, compute: str | None) -> tuple[Kind, str | None]:
    """Return what the precision in force makes of the way in which sums and products compute."""
    precision = get_precision()
    if precision == "high" and name == "float64" and op in _SUMS | _PRODUCTS:
        return "compensated", compute
    if precision == "high" and op in _PRODUCTS and compute in ("float32", "complex64"):
        return "wider", {"float32": "float64", "complex64": "complex128"}[compute]
    if precision == "mixed" and (op, name) == ("matmul", "float32") and _core.mixed_unit():
        return "mixed", compute
    return kind, compute


def _there(device: Device, name: str, compute: str | None) -> str | None:
    """Return the dtype in which a device computes, where one with every dtype does in `compute`."""
    if compute is None or not has_dtype(device, name):
        return None
    if has_dtype(device, compute):
        return compute
    return {"float64": "float32", "complex128": "complex64"}.get(compute)


def routing(
    op: str | Callable[..., Any] | None = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> RoutingTable:
    """Show which kernels compute which operation.

    The answer comes from the tables by which operations are dispatched, in the mode (strict or
    relaxed) and the `precision` in force.

    Parameters
    ----------
    op : str or function, optional
        A function of the namespace or its name, such as "add" or "linalg.qr". By default all that
        have kernels of their own. The others only move elements, which every dtype allows, or
        are composed of these.
    dtype : dtype, optional
        The dtype to which the arguments promote. By default all of them.
    device : Device or str, optional
        Where the arguments are. By default the default device.

    Returns
    -------
    RoutingTable
        A tuple of `Route` records (`op`, `dtype`, `device`, `kind`, `compute`, `reason`), which
        prints as a table.

    Raises
    ------
    TypeError
        If `dtype` is not a supported dtype.
    ValueError
        If `op` has no kernels of its own, or the device is unknown.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> runtime.routing("sum", xp.float32)
                float32
    sum on cpu  native
    >>> runtime.routing(xp.sin, xp.dtypes.float16)[0].compute
    dtype('float32')
    """
    place = default_device() if device is None else resolve_device("routing", device)
    wanted = None if dtype is None else as_dtype("routing", dtype)
    name = op if op is None or isinstance(op, str) else _qualified_name(op)
    found = _routes(place)
    if name is not None:
        found = [route for route in found if route.op == name]
        if not found:
            raise ValueError(
                f"routing: {name!r} has no kernels of its own; routing() lists what has"
            )
    return RoutingTable(r for r in found if wanted is None or r.dtype == wanted)


def _qualified_name(function: Callable[..., Any]) -> str:
    """Return the name of a public function below the namespace, such as "linalg.qr"."""
    module = getattr(function, "__module__", "").partition(".")[2]
    name = getattr(function, "__name__", repr(function))
    return f"{module}.{name}" if module else name
