"""Every function: results are where the inputs are, and all inputs are in one place."""

import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from device_calls import COMPUTING, CREATING, ELSEWHERE, Call, M, N, S, V, W

import ascend_array_api as xp
from ascend_array_api.testing.conformance.signatures import METHODS, SIGNATURES

WIDE = {np.dtype("float64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("complex64")}
WITHOUT_FLOAT64 = "cpu:2"


def function_of(name: str) -> Callable[..., Any]:
    return operator.attrgetter(name)(xp)


def placed(value: Any, device: str) -> Any:
    """Return arguments with every NumPy array as one of the device, in a dtype that it has."""
    if isinstance(value, np.ndarray):
        narrow = WIDE.get(value.dtype, value.dtype)
        return xp.asarray(value, device=device, dtype=narrow if device == WITHOUT_FLOAT64 else None)
    if isinstance(value, list):
        return [placed(v, device) for v in value]
    return value


def perform(c: Call, device: str) -> Any:
    keywords = {name: placed(v, device) for name, v in c.keywords.items()}
    return function_of(c.name)(*(placed(v, device) for v in c.args), **keywords)


def arrays_in(result: Any) -> list[xp.runtime.Array]:
    results = result if isinstance(result, tuple | list) else (result,)
    assert all(isinstance(x, xp.runtime.Array) for x in results)
    return list(results)


def mixtures(c: Call) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield the arguments with one array on `cpu` and the others on `cpu:1`, for each of them."""
    spots: list[tuple[Any, ...]] = []
    for i, v in enumerate(c.args):
        if isinstance(v, np.ndarray):
            spots.append((i,))
        elif isinstance(v, list):
            spots += [(i, k) for k, item in enumerate(v) if isinstance(item, np.ndarray)]
    spots += [(name,) for name, v in c.keywords.items() if isinstance(v, np.ndarray)]
    for spot in spots if len(spots) > 1 else ():
        args: list[Any] = [placed(v, "cpu:1") for v in c.args]
        keywords = {name: placed(v, "cpu:1") for name, v in c.keywords.items()}
        holder: Any = keywords if isinstance(spot[0], str) else args
        if len(spot) == 2:
            holder, spot = holder[spot[0]], spot[1:]
        holder[spot[0]] = holder[spot[0]].to_device("cpu")
        yield args, keywords


MIXED = [c for c in COMPUTING if next(mixtures(c), None)]


def test_the_table_has_every_function() -> None:
    listed = {c.name for c in (*COMPUTING, *CREATING)} | set(ELSEWHERE.split())
    assert listed == {name for names in SIGNATURES.values() for name in names.split()}


@pytest.mark.parametrize("c", COMPUTING, ids=str)
def test_results_are_where_the_inputs_are(c: Call) -> None:
    there, here = (arrays_in(perform(c, device)) for device in ("cpu:1", "cpu"))
    assert all(x.device == "cpu:1" for x in there)
    assert all(x.device == "cpu" for x in here)
    for x, y in zip(there, here, strict=True):
        assert x.dtype == y.dtype
        if c.name != "empty_like":
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


@pytest.mark.parametrize("c", COMPUTING, ids=str)
def test_no_function_needs_float64_on_its_device(c: Call) -> None:
    narrow, wide = (arrays_in(perform(c, device)) for device in (WITHOUT_FLOAT64, "cpu"))
    for x, y in zip(narrow, wide, strict=True):
        assert x.device == WITHOUT_FLOAT64
        assert x.dtype == WIDE.get(y.dtype, y.dtype)
        if c.name not in ("empty_like", "linalg.eig", "linalg.eigh", "linalg.svd"):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("c", MIXED, ids=str)
def test_arrays_of_two_devices_are_an_error_that_names_both(c: Call) -> None:
    short = c.name.rpartition(".")[2]
    for args, keywords in mixtures(c):
        with pytest.raises(ValueError, match=r"cpu:1") as error:
            function_of(c.name)(*args, **keywords)
        text = str(error.value)
        assert text.startswith(short + ":"), text
        assert "to_device" in text, text
        assert "cpu and cpu:1" in text or "cpu:1 and cpu" in text, text


@pytest.mark.parametrize("c", CREATING, ids=str)
def test_creation_follows_device(c: Call) -> None:
    f = function_of(c.name)
    assert f(*c.args).device == "cpu"
    there = f(*c.args, device="cpu:1")
    assert there.device == "cpu:1"
    assert there.dtype == f(*c.args).dtype
    narrow = f(*c.args, device=WITHOUT_FLOAT64)
    assert narrow.device == WITHOUT_FLOAT64
    assert narrow.dtype == WIDE.get(there.dtype, there.dtype)
    if c.name != "empty":
        np.testing.assert_array_equal(np.asarray(there), np.asarray(f(*c.args)))
        np.testing.assert_allclose(np.asarray(narrow), np.asarray(there), rtol=1e-6)


@pytest.mark.parametrize("c", CREATING, ids=str)
def test_a_dtype_that_the_device_lacks_is_an_error(c: Call) -> None:
    wide = xp.complex128 if 1j in c.args or [1j] in c.args else xp.float64
    with pytest.raises(TypeError, match=rf"{c.name.rpartition('.')[2]}.*cpu:2 has no dtype {wide}"):
        function_of(c.name)(*c.args, dtype=wide, device=WITHOUT_FLOAT64)


# ---- methods of the class

OPERATORS = [name for name in METHODS["other, /"].split() if not name.startswith("__r")]
IN_PLACE = [
    f"__i{name[2:]}" for name in OPERATORS if name[2:4] not in ("eq", "ne", "ge", "le", "gt", "lt")
]


def operands(name: str, *devices: str) -> list[Any]:
    on_ints = any(part in name for part in ("and", "or", "xor", "shift"))
    values = (N, N) if on_ints else (M, M) if "matmul" in name else (V, W)
    return [placed(v, device) for v, device in zip(values, devices, strict=True)]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name: str) -> None:
    x, y = operands(name, "cpu:1", "cpu:1")
    result = getattr(x, name)(y)
    assert result.device == "cpu:1"
    expected = getattr(x.to_device("cpu"), name)(y.to_device("cpu"))
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))
    for devices in (("cpu", "cpu:1"), ("cpu:1", "cpu")):
        x, y = operands(name, *devices)
        with pytest.raises(ValueError, match="are on the devices cpu"):
            getattr(x, name)(y)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_operators(name: str) -> None:
    x, y = operands(name, "cpu:1", "cpu:1")
    getattr(x, name)(y)
    assert x.device == "cpu:1"
    x, y = operands(name, "cpu", "cpu:1")
    before = copy.copy(x)
    with pytest.raises(ValueError, match="are on the devices cpu and cpu:1"):
        getattr(x, name)(y)
    assert xp.all(x == before)


def test_scalars_of_python_and_numpy_go_anywhere() -> None:
    x = placed(V, "cpu:1")
    for y in (x + 1, 2.0 * x, x + np.float64(1), np.float64(2) * x, x**2, xp.maximum(x, 0.5)):
        assert y.device == "cpu:1"


KEYS: list[Any] = [0, slice(0, 2), ..., None, np.array([0, 2]), np.array([True, False, True])]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_elements(key: Any) -> None:
    x = placed(V, "cpu:1")
    assert x[placed(key, "cpu:1")].device == "cpu:1"
    x[placed(key, "cpu:1")] = 9.0
    x[placed(key, "cpu:1")] = placed(S, "cpu:1")
    with pytest.raises(ValueError, match="setitem: the arrays are on the devices cpu:1 and cpu"):
        x[placed(key, "cpu:1")] = placed(S, "cpu")
    if isinstance(key, np.ndarray):
        with pytest.raises(
            ValueError, match="getitem: the arrays are on the devices cpu:1 and cpu"
        ):
            x[placed(key, "cpu")]
        with pytest.raises(
            ValueError, match="setitem: the arrays are on the devices cpu:1 and cpu"
        ):
            x[placed(key, "cpu")] = 1.0


def test_copies_stay() -> None:
    x = placed(V, "cpu:1")
    for y in (copy.copy(x), copy.deepcopy(x), xp.asarray(x, copy=True), x.T if x.ndim == 2 else x):
        assert y.device == "cpu:1"
