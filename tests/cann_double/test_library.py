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


def tensor_list(acl, *tensors):
    """Make a list; destroying it destroys the descriptors in it."""
    members = [acl.tensor(t.address, t.shape, t.dtype) for t in tensors]
    array = (ctypes.c_void_p * len(members))(*members)
    length = ctypes.c_uint64(len(members))
    return ctypes.c_void_p(acl.function("aclCreateTensorList")(array, length))


def shape_of(acl, handle):
    """Read the shape that the device left in a descriptor."""
    dims, rank = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
    acl.call("aclGetViewShape", handle, ctypes.byref(dims), ctypes.byref(rank))
    return tuple(dims[i] for i in range(rank.value))


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_sequences(acl, dtype):
    bounds = [acl.scalar(value, dtype) for value in (2, 11, 3)]
    with acl.tensors(np.zeros(3, dtype), np.zeros(4, dtype)) as (three, four):
        acl.run("aclnnArange", *bounds, three.handle)
        np.testing.assert_array_equal(three.get(), [2, 5, 8])
        with pytest.raises(Refused, match="161002"):
            acl.plan("aclnnArange", *bounds, four.handle)
        acl.run("aclnnLinspace", *bounds[:2], ctypes.c_int64(4), four.handle)
        np.testing.assert_array_equal(four.get(), np.linspace(2, 11, 4).astype(dtype))
    for bound in bounds:
        acl.call("aclDestroyScalar", bound)


@pytest.mark.parametrize("diagonal", [-2, 0, 1])
def test_triangles_and_identity(acl, diagonal):
    x = values("int32", SHAPE)
    for name, function in (("Tril", np.tril), ("Triu", np.triu)):
        result = run_with(acl, name, np.zeros_like(x), [x], ctypes.c_int64(diagonal))
        np.testing.assert_array_equal(result, function(x, diagonal))
    with acl.tensors(np.zeros((3, 4), np.float32)) as (out,):
        acl.run("aclnnEye", ctypes.c_int64(3), ctypes.c_int64(4), out.handle)
        np.testing.assert_array_equal(out.get(), np.eye(3, 4))


@pytest.mark.parametrize(
    ("shifts", "axes"), [((2,), (1,)), ((-1, 7), (0, 2)), ((13,), ()), ((1, 1), (0, 0))]
)
def test_roll(acl, shifts, axes):
    x = values("float32", SHAPE)
    parameters = acl.ints(*shifts), acl.ints(*axes)
    result = run_with(acl, "Roll", np.zeros_like(x), [x], *parameters)
    expected = np.roll(x, shifts, axes) if axes else np.roll(x, shifts[0])
    np.testing.assert_array_equal(result, expected)


def test_repetitions(acl):
    x = values("int16", (2, 3))
    expected = np.tile(x, (2, 1, 2))
    result = run_with(acl, "Repeat", np.zeros_like(expected), [x], acl.ints(2, 1, 2))
    np.testing.assert_array_equal(result, expected)
    numbers = ctypes.c_int64(2), ctypes.c_int64(12)
    result = run_with(acl, "RepeatInterleaveInt", np.zeros(12, np.int16), [x], *numbers)
    np.testing.assert_array_equal(result, np.repeat(x, 2))
    numbers = ctypes.c_int64(2), ctypes.c_int64(1), ctypes.c_int64(6)
    out = np.zeros((2, 6), np.int16)
    result = run_with(acl, "RepeatInterleaveIntWithDim", out, [x], *numbers)
    np.testing.assert_array_equal(result, np.repeat(x, 2, 1))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(acl, axis):
    a, b = values("float32", (2, 3)), values("float32", (2, 3), seed=1)
    expected = np.stack([a, b], axis)
    with acl.tensors(a, b, np.zeros_like(expected)) as (x, y, out):
        list_ = tensor_list(acl, x, y)
        acl.run("aclnnStack", list_, ctypes.c_int64(axis), out.handle)
        acl.call("aclDestroyTensorList", list_)
        np.testing.assert_array_equal(out.get(), expected)


def test_masks(acl):
    x, mask = values("float32", SHAPE), values("bool", (4, 5))
    full = np.broadcast_to(mask, SHAPE)
    with acl.tensors(x, mask, np.zeros(60, np.float32)) as (source, chosen, out):
        acl.run("aclnnMaskedSelect", source.handle, chosen.handle, out.handle)
        assert shape_of(acl, out.handle) == (full.sum(),)
        np.testing.assert_array_equal(out.get()[: full.sum()], x[full])
        number = acl.scalar(3, "float32")
        acl.run("aclnnInplaceMaskedFillScalar", source.handle, chosen.handle, number)
        np.testing.assert_array_equal(source.get(), np.where(full, np.float32(3), x))
        acl.call("aclDestroyScalar", number)


def test_membership(acl):
    x = values("int32", SHAPE)
    number = acl.scalar(int(x[0, 0, 0]), "int32")
    for invert in (False, True):
        flags = number, ctypes.c_bool(False), ctypes.c_bool(invert)
        result = run(acl, "aclnnIsInTensorScalar", np.zeros(SHAPE, bool), x, extra=flags)
        np.testing.assert_array_equal(result, np.isin(x, x[0, 0, 0], invert=invert))
    acl.call("aclDestroyScalar", number)


def test_nonzero(acl):
    x = values("bool", (3, 4))
    expected = np.argwhere(x)
    with acl.tensors(x, np.zeros((12, 2), np.int64)) as (source, out):
        acl.run("aclnnNonzero", source.handle, out.handle)
        assert shape_of(acl, out.handle) == expected.shape
        np.testing.assert_array_equal(out.get()[: len(expected)], expected)


def test_unique(acl):
    x = np.float32([[3, 1, np.nan], [1, np.nan, -2]])
    flags = (ctypes.c_bool(True),) * 3
    outputs = np.zeros(6, np.float32), np.zeros((2, 3), np.int64), np.zeros(6, np.int64)
    with acl.tensors(x, *outputs) as (source, out, inverse, counts):
        handles = (t.handle for t in (out, inverse, counts))
        acl.run("aclnnUnique2", source.handle, *flags, *handles)
        assert shape_of(acl, out.handle) == (5,)
        np.testing.assert_array_equal(out.get()[:5], [-2, 1, 3, np.nan, np.nan])
        np.testing.assert_array_equal(inverse.get(), [[2, 1, 3], [1, 4, 0]])
        np.testing.assert_array_equal(counts.get()[:5], [1, 2, 1, 1, 1])


INDICES = [
    (np.array([2, 0, -1]),),
    (np.array([[0], [2]]), np.array([1, 3])),
    (np.array([True, False, True]),),
]


@pytest.mark.parametrize("indices", INDICES, ids=["one", "two", "mask"])
def test_index_arrays(acl, indices):
    x = values("float32", SHAPE)
    expected = x[indices]
    new = values("float32", expected.shape, seed=1)
    with acl.tensors(x, np.zeros_like(expected), new, *indices) as (source, out, fresh, *where):
        list_ = tensor_list(acl, *where)
        acl.run("aclnnIndex", source.handle, list_, out.handle)
        np.testing.assert_array_equal(out.get(), expected)
        flags = ctypes.c_bool(False), ctypes.c_bool(False)
        acl.run("aclnnIndexPutImpl", source.handle, list_, fresh.handle, *flags)
        acl.call("aclDestroyTensorList", list_)
        x[indices] = new
        np.testing.assert_array_equal(source.get(), x)


@pytest.mark.parametrize("order", [0, 1, 2, 3, np.inf, -np.inf])
def test_vector_norm(acl, order):
    x = values("float32", SHAPE)
    number, axes = acl.scalar(order, "float32"), acl.ints(1)
    expected = np.linalg.norm(x.astype(np.float64), order, 1)
    out = np.zeros(expected.shape, np.float32)
    flags = number, axes, ctypes.c_bool(False), code("float32")
    result = run(acl, "aclnnLinalgVectorNorm", out, x, extra=flags)
    acl.call("aclDestroyScalar", number)
    acl.call("aclDestroyIntArray", axes)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
