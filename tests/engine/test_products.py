"""Matrix products with elementwise work behind them: one group, the same bits, little memory."""

import numpy as np
import pytest

import ascend_array_api as xp

SETUP = """
import hashlib
rng = np.random.default_rng(7)

def make(*shape, dtype="float32"):
    values = rng.integers(-9, 9, shape) if "int" in dtype else rng.standard_normal(shape)
    if "complex" in dtype:
        values = values + 1j * rng.standard_normal(shape)
    return xp.asarray(values.astype(dtype))

def digest(x):
    return hashlib.md5(np.ascontiguousarray(np.asarray(x))).hexdigest()

def groups(f):
    runtime.synchronize()
    before = _core.tape_counters()["groups"]
    result = f()
    runtime.evaluate(*(result if isinstance(result, tuple) else (result,)))
    return _core.tape_counters()["groups"] - before
"""

# Work behind p, the product of a (m, k) and b (k, n), with bias (n,), left (m, 1) and full (m, n);
# for which kinds of dtypes: every one (e), real ones (r) or float32 and float64 (f).
CHAINS = [
    ("e", "result = p + bias"),
    ("r", "result = xp.maximum(p + bias, 0) * left"),
    ("e", "result = p * 2 + full"),
    ("e", "result = full - p"),
    ("r", "result = xp.where(p > full, p, bias)"),
    ("r", "result = p > 0"),
    ("r", "result = (p > bias) | (full < p)"),
    ("f", "result = xp.astype(p, xp.float64) + 1"),
    ("e", "result = xp.stack([p, p + 1, p * p])"),
    ("e", "result = p + (a @ b) * full"),
    ("e", "result = p[::-1] + p"),
    ("e", "result = p; result += bias; result *= left"),
    ("e", "q = p + 0; p *= 2; result = q + p"),
    ("e", "result = zeros(*full.shape) + 1; result += p; result -= p * full"),
    ("e", "result = zeros(2 * m, n + 3); result[::2, 3:] = p; result[::2, 3:] += p"),
    ("e", "result = zeros(n, m); result.T[...] = p - full"),
    ("r", "mask = full > 0; mask &= p > bias; mask ^= p < left; result = mask"),
    ("e", "t = xp.tensordot(image, b, axes=1); result = t * bias - t; result += bias"),
    ("e", "t = xp.reshape(p, (m, 1, n)); result = t + t * left[:, None]; result += p[:, None]"),
    ("e", "result = (a[0] @ b) * bias + 1"),
    ("f", "result = xp.sum(xp.exp(p * 0.1), axis=1) + xp.max(p, axis=0)[:1]"),
    ("e", "x = a + 0; x += x @ xp.ones((k, k), dtype=a.dtype); result = x"),
]
EVERY_CHAIN = f"""
SHAPES = [(5, 1000, 7), (300, 8, 301), (97, 40, 130), (1, 70, 500), (500, 70, 1), (64, 300, 64),
          (2000, 3, 5), (40, 9, 3001)]
DTYPES = {{"float32": "erf", "float64": "erf", "float16": "er", "int8": "er", "int32": "er",
          "uint64": "er", "complex64": "e"}}

def zeros(*shape):
    return xp.zeros(shape, dtype=a.dtype)

for m, k, n in SHAPES:
    for dtype, kinds in DTYPES.items():
        a, b, full = make(m, k, dtype=dtype), make(k, n, dtype=dtype), make(m, n, dtype=dtype)
        bias, left = make(n, dtype=dtype), make(m, 1, dtype=dtype)
        image = make(3, m, k, dtype=dtype)
        for kind, chain in {CHAINS!r}:
            if kind not in kinds:
                continue
            for last in ("", "; del p"):  # the product can be seen, or not
                exec("p = a @ b; " + chain + last)
                print(m, k, n, dtype, chain, last, digest(result), last or digest(p))
"""
BATCHES = """
SHAPES = [((40, 30, 20), (20, 11)), ((7, 1, 30, 20), (5, 20, 11)), ((3000, 4, 4), (3000, 4, 4)),
          ((900, 3, 5), (900, 5, 1)), ((1, 60, 9), (50, 9, 13)), ((30, 1, 33), (33, 33)),
          ((30, 50, 300), (30, 300, 70)), ((2, 3, 0), (0, 4)), ((2, 0, 3), (3, 4))]
TOLERANCES = {"float32": 1e-5, "float16": 1e-3, "int16": 0, "complex128": 1e-13}

def check(left, right, dtype):
    p = left @ right
    behind = [(p.shape[-1],), (p.shape[-2], 1), p.shape, (p.shape[0],) + (1,) * (p.ndim - 1)]
    for shape in behind:
        print(p.shape, dtype, digest(left @ right + make(*shape, dtype=dtype)))
    print(digest(p), digest(p + 1), digest(p == p[..., :1]))
    want = np.asarray(left).astype("c16") @ np.asarray(right).astype("c16")
    if dtype == "int16":
        want = want.real.astype("i8").astype("i2")
    error = np.abs(np.asarray(p).astype("c16") - want).max(initial=0)
    assert error <= TOLERANCES[dtype] * np.abs(want).max(initial=1), (p.shape, dtype)

for (*batch, m, k), right in SHAPES:
    for dtype in TOLERANCES:
        b = make(*right, dtype=dtype)
        check(make(*batch, m, k, dtype=dtype), b, dtype)
        check(make(*batch, m, k, dtype=dtype)[::-1], b, dtype)
        check(make(*batch, m, 2 * k, dtype=dtype)[..., ::2], b, dtype)
        check(make(*batch, k, m, dtype=dtype).mT, b, dtype)
        check(make(*batch, 2 * m, k + 1, dtype=dtype)[..., ::2, 1:], b.mT.mT, dtype)
"""
MODES = [
    {"FUSION": "off"},
    {"DEFER": "off"},
    {"DEFER": "always"},
    {"NUM_THREADS": "1"},
    {"NUM_THREADS": "3"},
    {"NUM_THREADS": "8"},
]


@pytest.fixture(scope="module")
def reference():
    return {}


@pytest.mark.parametrize("code", [EVERY_CHAIN, BATCHES], ids=["chains", "batches"])
@pytest.mark.parametrize("mode", MODES, ids=lambda m: "-".join(*m.items()))
def test_same_bits(child, reference, code, mode):
    if code not in reference:
        reference[code] = child(SETUP + code)
    got, want = child(SETUP + code, **mode).splitlines(), reference[code].splitlines()
    assert [pair for pair in zip(got, want, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [1, 3, 8, 17, 256, 257])
@pytest.mark.parametrize("m", [2, 9, 17, 31, 33, 97, 200, 700])
def test_few_columns_have_the_bits_of_many(dtype, k, m):
    rng = np.random.default_rng(k * m)
    tall, wide = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, 40)))
    by_rows, by_columns = xp.asarray, lambda x: xp.asarray(np.ascontiguousarray(x.T)).T
    want = np.asarray(by_rows(tall) @ by_rows(wide))
    size = np.abs(tall).astype(np.float64) @ np.abs(wide)
    error = np.abs(want - tall.astype(np.float64) @ wide.astype(np.float64))
    assert np.all(error <= (k + 1) * np.finfo(dtype).eps * size)
    for a in (by_rows(tall), by_columns(tall)):
        for b in (by_rows(wide), by_columns(wide)):
            for n in range(2, 10):
                got = np.asarray(a @ b[:, 1 : 1 + n])
                np.testing.assert_array_equal(got, want[:, 1 : 1 + n])


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("m", [11, 12, 31, 97, 200])
def test_few_columns_of_integers(dtype, m):
    rng = np.random.default_rng(m)
    ends = np.iinfo(dtype)
    tall, wide = (
        rng.integers(ends.min, ends.max, s, dtype=dtype, endpoint=True) for s in ((m, 40), (40, 9))
    )
    for k in (1, 7, 37):
        a = xp.asarray(tall)[:, 2 : 2 + k]
        for n in range(2, 10):
            got = np.asarray(a @ xp.asarray(wide)[:k, :n])
            np.testing.assert_array_equal(got, tall[:, 2 : 2 + k] @ wide[:k, :n])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("copies", [1, 3])
def test_few_columns_of_rows_that_lie_apart(dtype, copies):
    rng = np.random.default_rng(copies)
    images, wide = (rng.standard_normal(s).astype(dtype) for s in ((6, 21, 9), (8, 40)))
    rows = np.broadcast_to(images[:, 2:, 1:], (copies, 6, 19, 8))
    tall, apart = xp.reshape(xp.asarray(rows), (-1, 8)), xp.asarray(images)[:, 2:, 1:]
    apart = xp.broadcast_to(apart, rows.shape)
    for n in range(2, 10):
        b = xp.asarray(wide[:, :n])
        got = np.reshape(np.asarray(apart @ b), (-1, n))
        np.testing.assert_array_equal(got, np.asarray(tall @ b))


@pytest.mark.technique("DEFER", "FUSION")
def test_a_chain_belongs_to_the_product(child):
    child(
        SETUP
        + """
a, b, bias, full = make(200, 100), make(100, 150), make(150), make(200, 150)
assert groups(lambda: xp.maximum(a @ b + bias, 0)) == 1
assert groups(lambda: (a @ b) * 2 + full > 0) == 1
assert groups(lambda: xp.astype(a @ b, xp.float64)) == 1
def kept():
    p = a @ b
    return p, xp.exp(p), p + 1
assert groups(kept) == 1
def in_place():
    p = a @ b
    p += bias
    return p
assert groups(in_place) == 1
image = make(8, 10, 20, 16)
assert groups(lambda: xp.tensordot(image, make(16, 33), axes=1) * make(33) + 1) == 1
assert groups(lambda: make(300) @ make(300, 500) + 1) == 1
def other_layout():
    p = a @ b
    return p.T + 1
assert groups(other_layout) == 2
"""
    )


@pytest.mark.parametrize("chain", ["xp.exp(a @ b)", "a @ b + 1 > full", "(a @ b) * 2 - full"])
@pytest.mark.technique("DEFER", "FUSION")
def test_the_product_itself_is_not_allocated(child, chain):
    child(
        SETUP
        + f"""
a, b, full = make(2000, 8), make(8, 2000), make(2000, 2000)
runtime.synchronize()
used = _core.pool_stats("cpu")["used"]
result = {chain}
runtime.evaluate(result)
own = result.size * (4 if result.dtype != xp.bool else 1)
assert _core.pool_stats("cpu")["peak"] - used < own + 4_000_000, _core.pool_stats()
"""
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_products_added_in_place(child):
    """A convolution as products of shifted views: no product is written on its way."""
    child(
        SETUP
        + """
image, weights = make(4, 34, 34, 64), make(3, 3, 64, 64)
acc = xp.zeros((4, 32, 32, 64), dtype=xp.float32)
runtime.synchronize()
used, before = _core.pool_stats("cpu")["used"], _core.tape_counters()["groups"]
for i in range(3):
    for j in range(3):
        acc += image[:, i : i + 32, j : j + 32, :] @ weights[i, j]
runtime.evaluate(acc)
assert _core.tape_counters()["groups"] - before == 9
assert _core.pool_stats("cpu")["peak"] - used < 1_500_000, _core.pool_stats()
image, weights = np.asarray(image, dtype="f8"), np.asarray(weights, dtype="f8")
want = sum(
    image[:, i : i + 32, j : j + 32, :] @ weights[i, j] for i in range(3) for j in range(3)
)
assert np.allclose(np.asarray(acc), want, atol=1e-3)
"""
    )


def test_empty_sums_and_empty_products(child):
    child(
        SETUP
        + """
nothing = make(100, 0) @ make(0, 130)
assert not np.asarray(nothing + 0).any() and np.asarray(nothing == 0).all()
assert (make(0, 5) @ make(5, 130) + 1).shape == (0, 130)
"""
    )
