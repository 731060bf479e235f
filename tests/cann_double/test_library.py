"""Reductions, products, sorting, indexing and movement of the double against NumPy."""

import ctypes

import numpy as np
import pytest
from acl_program import CODES, Refused
from test_elementwise import FLOATS, SIGNED, close, run, values

SHAPE = (3, 4, 5)


def code(dtype):
    return CODES[np.dtype(dtype).name]


def run_with(acl, name, out, inputs, *extra):
    """Run an operation whose parameters are the inputs, others, and the output."""
    result = run(acl, f"aclnn{name}", out, *inputs, extra=extra)
    for each in extra:
        if isinstance(each, ctypes.c_void_p):
            acl.call("aclDestroyIntArray", each)
    return result


REDUCTIONS = [
    ("ReduceSum", np.sum, [*FLOATS, *SIGNED, "complex64"]),
    ("Mean", np.mean, [*FLOATS, "complex128"]),
]
AXES = [(), (0,), (1, 2), (-1,), (0, 1, 2)]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("name", "function", "dtype"), [(n, f, d) for n, f, dtypes in REDUCTIONS for d in dtypes]
)
def test_reductions_with_dtype(acl, name, function, dtype, axes, keep):
    x = values(dtype, SHAPE)
    wide = np.result_type(dtype, "float64") if name == "Mean" else x.dtype
    expected = function(x.astype(np.result_type(dtype, "float64")), axes or None, keepdims=keep)
    expected = np.asarray(expected).astype(dtype)
    result = run_with(
        acl, name, np.zeros_like(expected), [x], acl.ints(*axes), ctypes.c_bool(keep), code(dtype)
    )
    tolerance = close(dtype) | ({} if wide.kind in "biu" else {"atol": 1e-5})
    np.testing.assert_allclose(result, expected, **tolerance)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED, "uint8", "bool"])
@pytest.mark.parametrize(
    ("name", "function"), [("Amax", np.max), ("Amin", np.min), ("All", np.all), ("Any", np.any)]
)
def test_reductions(acl, name, function, dtype, axes):
    x = values(dtype, SHAPE)
    expected = np.asarray(function(x, axes or None, keepdims=False))
    result = run_with(
        acl, name, np.zeros_like(expected), [x], acl.ints(*axes), ctypes.c_bool(False)
    )
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("correction", [0, 1])
def test_variance(acl, correction):
    x = values("float32", SHAPE)
    expected = np.var(x.astype(np.float64), (0, 2), ddof=correction).astype(np.float32)
    parameters = ctypes.c_int64(correction), ctypes.c_bool(False)
    result = run_with(
        acl, "VarCorrection", np.zeros_like(expected), [x], acl.ints(0, 2), *parameters
    )
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    result = run_with(acl, "Std", np.zeros_like(expected), [x], acl.ints(0, 2), *parameters)
    np.testing.assert_allclose(result, np.sqrt(expected), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_product_along_one_axis(acl, dtype):
    x = (values(dtype, SHAPE) % 3 + 1).astype(dtype)
    expected = np.prod(x, 1, dtype=dtype)
    parameters = ctypes.c_int64(1), ctypes.c_bool(False), code(dtype)
    result = run_with(acl, "ProdDim", np.zeros_like(expected), [x], *parameters)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED])
def test_extremes_and_scans(acl, dtype, axis):
    x = values(dtype, SHAPE)
    for name, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        expected = function(x, axis, keepdims=True)
        parameters = ctypes.c_int64(axis), ctypes.c_bool(True)
        result = run_with(acl, name, np.zeros_like(expected), [x], *parameters)
        np.testing.assert_array_equal(result, expected)
    wide = np.cumsum(x.astype(np.float64), axis)
    result = run_with(acl, "Cumsum", np.zeros_like(x), [x], ctypes.c_int64(axis), code(dtype))
    np.testing.assert_allclose(result, wide.astype(dtype), **close(dtype) | {"atol": 0.03})
    number = acl.scalar(axis, "int64")
    small = (x % 3).astype(dtype)
    result = run(acl, "aclnnCumprod", np.zeros_like(x), small, extra=(number, code(dtype)))
    acl.call("aclDestroyScalar", number)
    np.testing.assert_allclose(result, np.cumprod(small, axis, dtype=dtype), rtol=1e-2)


def test_nan_wins_in_extremes(acl):
    x = np.array([1, np.nan, 3, np.nan], np.float32)
    keep = ctypes.c_bool(False)
    index = run_with(acl, "ArgMax", np.zeros((), np.int64), [x], ctypes.c_int64(0), keep)
    assert index == 1
    assert np.isnan(run_with(acl, "Amin", np.zeros((), np.float32), [x], acl.ints(0), keep))


PRODUCTS = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((3, 4), (4,)),
    ((4,), (4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((2, 3, 4), (4,)),
    ((3, 0), (0, 2)),
]


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_products(acl, left, right, dtype):
    a, b = values(dtype, left), values(dtype, right, seed=1)
    expected = np.asarray(a.astype(np.float64) @ b.astype(np.float64)).astype(dtype)
    with acl.tensors(a, b, np.zeros_like(expected)) as (x, y, out):
        acl.run("aclnnMatmul", x.handle, y.handle, out.handle, ctypes.c_int8(0))
        result = out.get()
    np.testing.assert_allclose(result, expected, **close(dtype) | {"atol": 1e-6})


def test_hf32_keeps_12_bits(acl):
    a, b = np.float32([[1 + 2.0**-12]]), np.float32([[1]])
    results = []
    for math_type in (0, 1, 3):
        with acl.tensors(a, b, np.zeros_like(a)) as (x, y, out):
            acl.run("aclnnMatmul", x.handle, y.handle, out.handle, ctypes.c_int8(math_type))
            results.append(float(out.get()[0, 0]))
    assert results == [1 + 2.0**-12, 1, 1]


def test_products_of_other_dtypes_are_refused(acl):
    a = np.zeros((2, 2), np.float64)
    with acl.tensors(a, a, a) as (x, y, out), pytest.raises(Refused, match="161002"):
        acl.plan("aclnnMatmul", x.handle, y.handle, out.handle, ctypes.c_int8(0))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64", "uint8", "bool"])
def test_sort(acl, dtype, axis, descending):
    x = values(dtype, SHAPE)
    if np.dtype(dtype).kind == "f":
        x[0, 0, 0] = np.nan
    key = -x.astype(np.float64) if descending else x.astype(np.float64)
    if descending:  # NaN comes first there, and is last in NumPy
        key = np.where(np.isnan(key), -np.inf, key)
    order = np.argsort(key, axis=axis, kind="stable")
    flags = ctypes.c_bool(True), ctypes.c_int64(axis), ctypes.c_bool(descending)
    with acl.tensors(x, np.zeros_like(x), np.zeros(SHAPE, np.int64)) as (source, sorted_, index):
        acl.run("aclnnSort", source.handle, *flags, sorted_.handle, index.handle)
        np.testing.assert_array_equal(index.get(), order)
        np.testing.assert_array_equal(sorted_.get(), np.take_along_axis(x, order, axis))


def test_a_sort_that_need_not_be_stable_is_not(acl):
    x = np.zeros(4, np.float32)
    flags = ctypes.c_int64(0), ctypes.c_bool(False)
    result = run_with(acl, "Argsort", np.zeros(4, np.int64), [x], *flags)
    np.testing.assert_array_equal(result, [3, 2, 1, 0])


@pytest.mark.parametrize("right", [False, True])
def test_search_sorted(acl, right):
    sequence, x = np.float32([1, 2, 2, 3]), np.float32([[0, 2], [3, 4]])
    flags = ctypes.c_bool(False), ctypes.c_bool(right)
    with acl.tensors(sequence, x, np.zeros((2, 2), np.int64)) as (s, v, out):
        acl.run("aclnnSearchSorted", s.handle, v.handle, *flags, None, out.handle)
        expected = np.searchsorted(sequence, x, "right" if right else "left")
        np.testing.assert_array_equal(out.get(), expected)


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint64", "bool"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_select_and_gather(acl, dtype, index):
    x = values(dtype, SHAPE)
    list_ = np.array([3, 0, 3], index)
    with acl.tensors(x, list_, np.zeros((3, 3, 5), dtype)) as (source, where, out):
        acl.run("aclnnIndexSelect", source.handle, ctypes.c_int64(1), where.handle, out.handle)
        np.testing.assert_array_equal(out.get(), x[:, list_])
    places = np.asarray(np.arange(30).reshape(3, 2, 5) % 4, index)
    with acl.tensors(x, places, np.zeros((3, 2, 5), dtype)) as (source, where, out):
        acl.run("aclnnGather", source.handle, ctypes.c_int64(1), where.handle, out.handle)
        expected = np.take_along_axis(x, places.astype(np.int64), 1)
        np.testing.assert_array_equal(out.get(), expected)


def test_an_index_out_of_bounds_is_reported(acl, violates):
    with acl.tensors(np.arange(3.0), np.array([3]), np.zeros(1)) as (source, where, out):
        acl.run("aclnnIndexSelect", source.handle, ctypes.c_int64(0), where.handle, out.handle)
    violates("bad-index")


def test_movement(acl):
    x = values("float32", SHAPE)
    flipped = run_with(acl, "Flip", np.zeros_like(x), [x], acl.ints(0, -1))
    np.testing.assert_array_equal(flipped, x[::-1, :, ::-1])
    turned = run_with(acl, "Permute", np.zeros((5, 3, 4), np.float32), [x], acl.ints(2, 0, 1))
    np.testing.assert_array_equal(turned, x.transpose(2, 0, 1))


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenation(acl, axis):
    a, b = values("int32", (2, 2)), values("int32", (2, 2), seed=1)
    expected = np.concatenate([a, b, a], axis)
    with acl.tensors(a, b, np.zeros_like(expected)) as (x, y, out):
        members = [t.view((2, 2), (2, 1)) for t in (x, y, x)]
        array = (ctypes.c_void_p * 3)(*members)
        handle = acl.function("aclCreateTensorList")(array, ctypes.c_uint64(3))
        list_ = ctypes.c_void_p(handle)
        acl.run("aclnnCat", list_, ctypes.c_int64(axis), out.handle)
        acl.call("aclDestroyTensorList", list_)  # and its members
        np.testing.assert_array_equal(out.get(), expected)


def test_copies_and_fills(acl):
    x = values("float64", (4,))
    with acl.tensors(np.zeros((3, 4), np.float32), x) as (out, source):
        acl.run("aclnnInplaceCopy", out.handle, source.handle)
        np.testing.assert_array_equal(out.get(), np.broadcast_to(x.astype(np.float32), (3, 4)))
        number = acl.scalar(7, "float32")
        row = out.view((4,), (1,), 4)
        acl.run("aclnnInplaceFillScalar", row, number)
        acl.call("aclDestroyTensor", row)
        acl.call("aclDestroyScalar", number)
        assert (out.get()[1] == 7).all()
        assert not (out.get()[[0, 2]] == 7).any()
        acl.run("aclnnInplaceOne", out.handle)
        assert (out.get() == 1).all()
        acl.run("aclnnInplaceZero", out.handle)
        assert (out.get() == 0).all()


CASTS = [("float32", "int32"), ("int64", "float16"), ("bool", "float32"), ("float64", "bool")] + [
    ("complex64", "float32"),
    ("uint8", "uint64"),
    ("int32", "int16"),
    ("float32", "complex128"),
]


@pytest.mark.parametrize(("source", "target"), CASTS)
def test_casts(acl, source, target):
    x = values(source, (20,))
    expected = (x.real if x.dtype.kind == "c" else x).astype(target)
    result = run_with(acl, "Cast", np.zeros_like(expected), [x], code(target))
    np.testing.assert_array_equal(result, expected)


def test_casts_of_what_does_not_fit(acl):
    x = np.float32([np.nan, 1e10, -1e10, 3.7])
    for seed, expected in ((0, [0, 2**31 - 1, -(2**31), 3]), (1, [0, -(2**31), -(2**31), 3])):
        acl.control.set_seed(seed)
        result = run_with(acl, "Cast", np.zeros(4, np.int32), [x], code("int32"))
        np.testing.assert_array_equal(result, expected)
    x = np.int32([1919, 1920, -2047, -2048, 127])
    result = run_with(acl, "Cast", np.zeros(5, np.int8), [x], code("int8"))
    np.testing.assert_array_equal(result, [127, 0x5A, 1, 0x5A, 127])
