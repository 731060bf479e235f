"""Arithmetic of the double against NumPy."""

import numpy as np
import pytest

SIGNED = ["int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def values(dtype, shape=(5, 7), seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -50), min(info.max, 50), shape).astype(dtype)
    real = rng.normal(size=shape) * 3
    if np.dtype(dtype).kind == "c":
        return (real + 1j * rng.normal(size=shape)).astype(dtype)
    return real.astype(dtype)


def close(dtype):
    """Tolerance: the double rounds once, NumPy computes in the dtype."""
    kind = np.dtype(dtype)
    return {} if kind.kind in "biu" else {"rtol": 8 * float(np.finfo(dtype).eps), "atol": 1e-30}


def run(acl, name, out, *inputs, extra=()):
    with acl.tensors(*inputs, out) as tensors:
        *sources, result = tensors
        acl.run(name, *(t.handle for t in sources), *extra, result.handle)
        return result.get()


def positive(x):
    return np.abs(x) + x.dtype.type(1)


UNARY = [
    ("Abs", np.abs, FLOATS + SIGNED + ["bool"]),
    ("Neg", np.negative, [*FLOATS, "int8", "int32", "int64", *COMPLEX]),
    ("Exp", np.exp, FLOATS + COMPLEX),
    ("Sin", np.sin, FLOATS + COMPLEX),
    ("Cos", np.cos, FLOATS + COMPLEX),
    ("Tanh", np.tanh, ["float16", "float32"]),
    ("Atan", np.arctan, FLOATS),
    ("Expm1", np.expm1, ["float16", "float32"]),
    ("Floor", np.floor, FLOATS),
    ("Ceil", np.ceil, FLOATS),
    ("Trunc", np.trunc, ["float16", "float32"]),
    ("Round", np.rint, FLOATS),
    ("Sign", np.sign, [*FLOATS, "int32", "int64"]),
    ("Reciprocal", np.reciprocal, FLOATS + COMPLEX),
    ("BitwiseNot", np.invert, [*SIGNED, "uint8", "bool"]),
]


@pytest.mark.parametrize(
    ("name", "function", "dtype"), [(n, f, d) for n, f, dtypes in UNARY for d in dtypes]
)
def test_unary(acl, name, function, dtype):
    x = values(dtype)
    expected = function(x)
    result = run(acl, f"aclnn{name}", np.zeros_like(expected), x)
    np.testing.assert_allclose(result, expected, **close(expected.dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "function"),
    [("Log", np.log), ("Log2", np.log2), ("Log10", np.log10), ("Log1p", np.log1p)]
    + [("Sqrt", np.sqrt), ("Acosh", np.arccosh)],
)
def test_unary_of_positive(acl, name, function, dtype):
    x = positive(values(dtype))
    expected = function(x)
    result = run(acl, f"aclnn{name}", np.zeros_like(expected), x)
    np.testing.assert_allclose(result, expected, **close(dtype))


def test_integers_become_float32_in_functions(acl):
    x = np.array([1, 2, 3], np.int64)
    result = run(acl, "aclnnSqrt", np.zeros(3, np.float32), x)
    np.testing.assert_allclose(result, np.sqrt(x), rtol=1e-7)


BINARY = [
    ("Mul", np.multiply, [*FLOATS, *SIGNED, "uint8", "bool", *COMPLEX]),
    ("Div", np.divide, FLOATS + COMPLEX),
    ("Maximum", np.maximum, [*FLOATS, *SIGNED, "uint8", "bool"]),
    ("Minimum", np.minimum, [*FLOATS, *SIGNED, "uint8", "bool"]),
    ("Atan2", np.arctan2, FLOATS),
    ("BitwiseAndTensor", np.bitwise_and, [*SIGNED, "uint8", "uint16", "bool"]),
    ("BitwiseOrTensor", np.bitwise_or, [*SIGNED, "uint8", "uint64", "bool"]),
    ("BitwiseXorTensor", np.bitwise_xor, [*SIGNED, "uint8", "bool"]),
    ("LogicalAnd", np.logical_and, [*FLOATS, "int32", "bool", "complex64"]),
    ("LogicalOr", np.logical_or, [*FLOATS, "int32", "bool"]),
    ("LogicalXor", np.logical_xor, [*FLOATS, "int32", "bool"]),
    ("EqTensor", np.equal, [*FLOATS, *SIGNED, "uint8", "bool", *COMPLEX]),
    ("NeTensor", np.not_equal, [*FLOATS, *SIGNED, "uint8", "bool", *COMPLEX]),
    ("LtTensor", np.less, [*FLOATS, *SIGNED, "uint64", "bool"]),
    ("LeTensor", np.less_equal, [*FLOATS, *SIGNED, "bool"]),
    ("GtTensor", np.greater, [*FLOATS, *SIGNED, "uint64", "bool"]),
    ("GeTensor", np.greater_equal, [*FLOATS, *SIGNED, "uint64"]),
    ("LogAddExp", np.logaddexp, ["float16", "float32"]),
]


@pytest.mark.parametrize(
    ("name", "function", "dtype"), [(n, f, d) for n, f, dtypes in BINARY for d in dtypes]
)
def test_binary(acl, name, function, dtype):
    a, b = values(dtype, (4, 1, 6)), values(dtype, (3, 6), seed=1)
    expected = function(a, b)
    result = run(acl, f"aclnn{name}", np.zeros_like(expected), a, b)
    np.testing.assert_allclose(result, expected, **close(expected.dtype))


@pytest.mark.parametrize(
    ("name", "function", "dtype"),
    [("FloorDivide", np.floor_divide, d) for d in [*FLOATS, "int8", "int32", "int64", "uint8"]]
    + [("RemainderTensorTensor", np.remainder, d) for d in [*FLOATS, "int32", "int64"]],
)
def test_division_rounds_down(acl, name, function, dtype):
    a, b = values(dtype), values(dtype, seed=1)
    b[b == 0] = 3
    expected = function(a, b)
    result = run(acl, f"aclnn{name}", np.zeros_like(expected), a, b)
    np.testing.assert_allclose(result, expected, **close(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "complex64"])
def test_power(acl, dtype):
    base = positive(values(dtype))
    exponent = np.asarray(np.arange(35).reshape(5, 7) % 4, dtype)
    expected = np.power(base, exponent)
    result = run(acl, "aclnnPowTensorTensor", np.zeros_like(expected), base, exponent)
    np.testing.assert_allclose(result, expected, rtol=1e-5 if dtype == "complex64" else 1e-6)


def test_shifts(acl):
    a, b = values("int32"), np.asarray(np.arange(35).reshape(5, 7) % 8, np.int32)
    np.testing.assert_array_equal(run(acl, "aclnnLeftShift", np.zeros_like(a), a, b), a << b)
    np.testing.assert_array_equal(run(acl, "aclnnRightShift", np.zeros_like(a), a, b), a >> b)


@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED, "uint8", *COMPLEX])
@pytest.mark.parametrize(("name", "sign"), [("Add", 1), ("Sub", -1)])
def test_add_and_subtract_with_alpha(acl, name, sign, dtype):
    a, b = values(dtype), values(dtype, (7,), seed=1)
    alpha = acl.scalar(2, dtype)
    kind = np.dtype(dtype).type
    expected = a + kind(2) * b if sign > 0 else a - kind(2) * b
    result = run(acl, f"aclnn{name}", np.zeros_like(expected), a, b, extra=(alpha,))
    acl.call("aclDestroyScalar", alpha)
    np.testing.assert_allclose(
        result, expected, **close(dtype) | {"atol": 1e-2 if dtype == "float16" else 1e-6}
    )


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize(
    ("name", "function"),
    [("Adds", lambda a, b: a + b), ("Subs", lambda a, b: a - b), ("Rsubs", lambda a, b: b - a)],
)
def test_scalar_operands_with_alpha(acl, name, function, dtype):
    a = values(dtype)
    other, one = acl.scalar(3, dtype), acl.scalar(1, dtype)
    result = run(acl, f"aclnn{name}", np.zeros_like(a), a, extra=(other, one))
    np.testing.assert_array_equal(result, function(a, np.dtype(dtype).type(3)))
    for handle in (other, one):
        acl.call("aclDestroyScalar", handle)


@pytest.mark.parametrize(
    ("name", "function"),
    [("Muls", np.multiply), ("Divs", np.divide), ("EqScalar", np.equal), ("GtScalar", np.greater)]
    + [("PowTensorScalar", np.power), ("ClampMin", np.maximum), ("ClampMax", np.minimum)],
)
def test_scalar_operands(acl, name, function):
    a = values("float32")
    scalar = acl.scalar(2, "float32")
    expected = function(a, np.float32(2))
    result = run(acl, f"aclnn{name}", np.zeros_like(expected), a, extra=(scalar,))
    acl.call("aclDestroyScalar", scalar)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [*FLOATS, "int16", "uint64", "bool", "complex128"])
def test_where(acl, dtype):
    condition = values("bool", (5, 1))
    a, b = values(dtype), values(dtype, seed=1)
    result = run(acl, "aclnnSWhere", np.zeros_like(a), condition, a, b)
    np.testing.assert_array_equal(result, np.where(condition, a, b))


def test_clamp_keeps_nan(acl):
    x = np.array([-5, np.nan, 0.5, 7], np.float32)
    low, high = np.array([0], np.float32), np.array([1], np.float32)
    result = run(acl, "aclnnClampTensor", np.zeros_like(x), x, low, high)
    np.testing.assert_array_equal(result, [0, np.nan, 0.5, 1])


def test_special_values(acl):
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 1], np.float32)
    flags = np.zeros(5, bool)
    assert run(acl, "aclnnIsFinite", flags, x).tolist() == np.isfinite(x).tolist()
    assert run(acl, "aclnnIsInf", flags, x).tolist() == np.isinf(x).tolist()
    assert run(acl, "aclnnSignbit", flags, x).tolist() == np.signbit(x).tolist()
    nan_first = run(acl, "aclnnMaximum", np.zeros_like(x), x, np.ones_like(x))
    np.testing.assert_array_equal(nan_first, np.maximum(x, np.float32(1)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_mixed_dtypes_promote_as_in_pytorch(acl, dtype):
    a, b = values("int8"), values(dtype, seed=1)
    result = run(acl, "aclnnMul", np.zeros_like(b), a, b)
    expected = (a.astype(np.float64) * b.astype(np.float64)).astype(dtype)
    np.testing.assert_array_equal(result, expected)


def test_strided_views_and_in_place(acl):
    x = np.arange(12, dtype=np.float32)
    with acl.tensors(x) as (t,):
        odd = t.view((3, 2), (4, 2), 1)  # 1 3 5 7 9 11
        acl.run("aclnnMul", odd, odd, odd)
        acl.call("aclDestroyTensor", odd)
        x[1::2] **= 2
        np.testing.assert_array_equal(t.get(), x)


@pytest.mark.parametrize("bits", range(0, 1 << 16, 257))
def test_float16_round_trip(acl, bits):
    x = np.array([bits], np.uint16).view(np.float16)
    wide = run(acl, "aclnnCast", np.zeros(1, np.float64), x, extra=(11,))
    np.testing.assert_array_equal(wide, x.astype(np.float64))
    if not np.isnan(x[0]):
        back = run(acl, "aclnnCast", np.zeros(1, np.float16), wide, extra=(1,))
        assert back.view(np.uint16)[0] == bits


def test_rounding_to_float16_and_bfloat16(acl):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    rng = np.random.default_rng(3)
    x = np.concatenate(
        [rng.normal(size=500) * 10.0 ** rng.integers(-9, 6, 500), [65519, 65520, 1e-8, 3e38, 1e-45]]
    ).astype(np.float32)
    half = run(acl, "aclnnCast", np.zeros(x.shape, np.float16), x, extra=(1,))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(half, x.astype(np.float16))
    brain = run(acl, "aclnnCast", np.zeros(x.shape, bfloat16), x, extra=(27,))
    np.testing.assert_array_equal(brain.view(np.uint16), x.astype(bfloat16).view(np.uint16))
