"""`runtime.routing` tells what happens: every row that computes runs, every refused one raises."""

import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

VECTORS = {"fft.fft", "fft.hfft", "fft.ifft", "fft.ihfft", "fft.irfft", "fft.rfft"}
TWO = {"isin", "searchsorted", "matmul", "tensordot", "vecdot", "linalg.solve"}
ELEMENTWISE = {
    name
    for name in dir(xp)
    if getattr(getattr(xp, name), "__code__", None) is not None
    and getattr(xp, name).__code__.co_filename.endswith("_elementwise.py")
}


def call(op, dtype):
    function = xp
    for part in op.split("."):
        function = getattr(function, part)
    x = xp.astype(xp.asarray([[2, 0], [0, 1]]), dtype)
    if op == "where":
        return function(xp.asarray([True, False]), x, x)
    if op == "clip":
        return function(x, x, x)
    if op in ELEMENTWISE:
        return function(*[x] * len(function.__annotations__.keys() - {"return"}))
    if op in VECTORS or op.startswith("cumulative"):
        x = x[0, :]
    if op == "searchsorted":
        return function(x[0, :], x)
    return function(x, x) if op in TWO else function(x)


@pytest.mark.parametrize("strict", [True, False])
def test_every_row_does_what_it_says(strict):
    with runtime.strict(strict):
        table = runtime.routing()
        wrong = []
        for route in table:
            try:
                call(route.op, route.dtype)
                runs = True
            except TypeError:
                runs = False
            if runs != (route.kind != "refused"):
                wrong.append(route)
    assert not wrong


def test_contents():
    table = runtime.routing()
    operations = {route.op for route in table}
    assert operations >= {"add", "where", "sum", "sort", "matmul", "linalg.svd", "fft.rfft", "mean"}
    dtypes = set(xp.__array_namespace_info__().dtypes().values()) | {xp.dtypes.float16}
    assert {route.dtype for route in table} >= dtypes
    for route in table:
        assert route.device == "cpu"
        same = route.compute is not None and route.compute == route.dtype
        assert (route.kind == "native") == same
        assert (route.kind == "refused") == (route.compute is None)


def test_filters():
    (route,) = runtime.routing("add", xp.int8, "cpu")
    assert route == ("add", xp.int8, "cpu", "native", xp.int8, "")
    assert runtime.routing(xp.add, xp.int8) == (route,)
    assert runtime.routing(xp.linalg.qr) == runtime.routing("linalg.qr")
    assert {route.op for route in runtime.routing(dtype=xp.bool)} == {
        route.op for route in runtime.routing()
    }
    (wider,) = runtime.routing("sin", xp.dtypes.float16)
    assert (wider.kind, wider.compute) == ("wider", xp.float32)
    (refused,) = runtime.routing("sin", xp.int64)
    assert (refused.kind, refused.compute) == ("refused", None)
    with runtime.strict(False):
        (relaxed,) = runtime.routing("sin", xp.int64)
    assert (relaxed.kind, relaxed.compute) == ("wider", xp.float64)


def test_printing():
    text = repr(runtime.routing("sin"))
    head, row = text.splitlines()
    assert head.split()[:2] == ["bool", "int8"]
    assert row.split()[:3] == ["sin", "on", "cpu"]
    assert row.split()[-1] == "native"
    assert "float32" in row
    assert repr(runtime.RoutingTable()) == ""


def test_errors():
    for op in ("nothing", "reshape", xp.reshape, 3):
        with pytest.raises(ValueError, match=r"routing: .*no kernels of its own"):
            runtime.routing(op)
    with pytest.raises(TypeError, match="routing"):
        runtime.routing(dtype="float64")
    with pytest.raises(ValueError, match="routing: unknown device 'npu:0'"):
        runtime.routing(device="npu:0")


def test_a_device_without_float64_refuses_it():
    kinds = {route.dtype: route.kind for route in runtime.routing("add", device="cpu:2")}
    assert kinds[xp.float64] == kinds[xp.complex128] == "refused"
    assert kinds[xp.float32] == "native"
    with runtime.strict(False):
        assert runtime.routing("divide", xp.int8, "cpu:2")[0].compute == xp.float32
