"""Views, broadcasts, overlaps, high ranks and packed bits on the NPU, against NumPy."""

import itertools

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime

DTYPES = ["int8", "uint16", "int32", "int64", "float32", "float64", "complex64"]


def check(got, expected):
    got = back(got)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


VIEWS = {
    "whole": lambda a: a,
    "rows": lambda a: a[1:],
    "steps": lambda a: a[::2, 1::3],
    "backwards": lambda a: a[::-1],
    "both backwards": lambda a: a[::-2, ::-1],
    "transposed": lambda a: a.T,
    "one column": lambda a: a[:, 3:4],
    "one element": lambda a: a[2, 5],
    "nothing": lambda a: a[:0],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_read(dtype, view):
    a = np.arange(77).reshape(7, 11).astype(dtype)
    seen = VIEWS[view](a)
    check(VIEWS[view](on_npu(a)), seen)
    check(VIEWS[view](on_npu(a)) + VIEWS[view](on_npu(a)), np.asarray(seen + seen))


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("view", [v for v in VIEWS if v != "one element"])
def test_views_are_written(dtype, view):
    a = (np.arange(77).reshape(7, 11) % 5).astype(dtype)
    x = on_npu(a)
    target, source = VIEWS[view](a), VIEWS[view](a)[..., ::-1].copy() + np.ones((), dtype)
    target[...] = source
    VIEWS[view](x)[...] = on_npu(source)
    check(x, a)


@pytest.mark.parametrize("view", [v for v in VIEWS if v not in ("one element", "nothing")])
def test_views_are_indexed_by_arrays(view):
    runtime.set_fallback("silent")
    a = np.arange(77, dtype=np.float32).reshape(7, 11)
    seen = VIEWS[view](a)
    x = VIEWS[view](on_npu(a))
    at = np.asarray([len(seen) - 1, 0, 1 % len(seen)])
    check(x[on_npu(at)], seen[at])
    check(x[on_npu(at[0])], seen[at[0]])
    check(x[on_npu(seen % 2 > 0)], seen[seen % 2 > 0])
    x[on_npu(at)] = -1
    seen[at] = -1
    check(x, seen)
    runtime.set_fallback("warn")


def test_overlapping_writes_read_everything_first():
    a = np.arange(50.0, dtype=np.float32)
    x = on_npu(a)
    a[1:] = a[:-1].copy()
    x[1:] = x[:-1]
    check(x, a)
    a[:] = a[::-1].copy()
    x[:] = x[::-1]
    check(x, a)
    b = np.arange(36, dtype=np.int32).reshape(6, 6)
    y = on_npu(b)
    b += b.T.copy()
    y += y.T
    check(y, b)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((5, 1, 2), (3, 1))]
)
def test_broadcasts(shapes):
    a, b = (np.arange(1, 1 + np.prod(s), dtype=np.float32).reshape(s) for s in shapes)
    check(on_npu(a) * on_npu(b), a * b)
    check(on_npu(a) < on_npu(b), a < b)
    wide = np.broadcast_to(a, np.broadcast_shapes(*shapes))
    check(-xp.broadcast_to(on_npu(a), wide.shape), -wide)


@pytest.mark.parametrize("rank", [8, 9, 12])
def test_high_ranks(rank):
    a = np.arange(2**rank, dtype=np.int32).reshape((2,) * rank)
    x = on_npu(a)
    order = tuple(reversed(range(rank)))
    check(xp.permute_dims(x, order) + x, a.T + a)
    check(xp.permute_dims(x, order) > x, a.T > a)
    check(xp.astype(xp.permute_dims(x, order), xp.float32), a.T.astype(np.float32))
    x[..., 0, :] = 7
    a[..., 0, :] = 7
    check(x, a)
    check(xp.flip(x), np.flip(a))


@pytest.mark.parametrize("n", [*range(1, 20), 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000])
def test_bits_of_every_length_and_offset(n):
    random = np.random.default_rng(n)
    a, b = random.integers(0, 2, (2, n)).astype(bool)
    x, y = on_npu(a), on_npu(b)
    for start, step in itertools.product((0, 1, 7, 8, 16), (1, 2, -1)):
        s = slice(start, None, step) if step > 0 else slice(None, start or None, step)
        check(~x[s], ~a[s])
        check(x[s] & y[s], a[s] & b[s])
        check(x[s] ^ y[s], a[s] ^ b[s])
        check(x[s] | True, a[s] | True)
        copy, written = xp.asarray(x, copy=True), a.copy()
        copy[s] = y[s]
        written[s] = b[s]
        check(copy, written)
    numbers = random.normal(size=n).astype(np.float32)
    check(xp.where(x, on_npu(numbers), -1.0), np.where(a, numbers, np.float32(-1)))
    check(xp.astype(x, xp.int32), a.astype(np.int32))
    check(xp.astype(on_npu(numbers > 0), xp.bool), numbers > 0)


def test_bits_are_packed_at_rest_and_in_transfers(control):
    n = 80_000
    a = np.arange(n) % 3 == 0
    control.reset_counters()
    x = on_npu(a)
    y = on_npu(np.ones(n, bool))
    result = back(x ^ y)
    assert control.counter("bytes_h2d") <= 2 * n // 8 + 4096
    assert control.counter("bytes_d2h") == n // 8
    np.testing.assert_array_equal(result, ~a)


LOGIC = {
    "and": lambda x, y, z: x & y,
    "or": lambda x, y, z: xp.logical_or(x, y),
    "xor": lambda x, y, z: x ^ y,
    "not equal": lambda x, y, z: x != y,
    "not": lambda x, y, z: ~x,
    "with numbers": lambda x, y, z: (x ^ True) | (y & False),
    "a chain": lambda x, y, z: ~((x & y) | (y ^ z)) & ~x,
}


@pytest.mark.parametrize("n", [16, 64, 4096, 5000, 8000, 100_003])
@pytest.mark.parametrize("name", LOGIC)
def test_bits_are_never_unpacked_for_logic(control, name, n):
    npu = runtime.Device("npu:0")
    bits = np.random.default_rng(n).integers(0, 2, (3, n)).astype(bool)
    x, y, z = map(on_npu, bits)
    runtime.evaluate(x, y, z)
    control.reset_counters()
    before = npu.statistics()["peak_bytes_unpacked"]
    used = runtime.MemoryPool(npu).used_bytes()
    got = LOGIC[name](x, y, z)
    runtime.evaluate(got)
    # At rest one bit each; a chunk begins at a border of 512 bytes.
    assert runtime.MemoryPool(npu).used_bytes() - used <= n // 8 + 32 + 512
    assert npu.statistics()["bytes_unpacked"] == 0
    for name_of_unpacking in ("aclnnNeScalar", "aclnnSWhere", "aclnnLogicalAnd", "aclnnCast"):
        assert control.counter(f"launches.{name_of_unpacking}") == 0
    assert npu.statistics()["peak_bytes_unpacked"] == before
    a, b, c = (xp.asarray(each, device="cpu") for each in bits)
    np.testing.assert_array_equal(back(got), np.asarray(LOGIC[name](a, b, c)))


def test_views_on_borders_of_words_are_not_unpacked_and_neighbours_stay(control):
    a, b = np.random.default_rng(0).integers(0, 2, (2, 640)).astype(bool)
    x, y = on_npu(a), on_npu(b)
    control.reset_counters()
    for start, stop in ((64, 640), (32, 96), (16, 48)):
        x[start:stop] = x[start:stop] ^ y[start:stop]
        a[start:stop] ^= b[start:stop]
        x[start:stop] &= y[start:stop]
        a[start:stop] &= b[start:stop]
    check(x, a)
    assert control.counter("launches.aclnnLogicalXor") == 0
    x[3:50] |= y[3:50]
    a[3:50] |= b[3:50]
    check(x, a)


def test_the_statistics_show_bools_at_rest_and_at_peak():
    n = 1 << 20
    npu = runtime.Device("npu:0")
    x = on_npu(np.arange(n, dtype=np.float32))
    runtime.evaluate(x + 1)
    used = runtime.MemoryPool(npu).used_bytes()
    y = x > 5
    runtime.evaluate(y)
    assert n // 8 <= runtime.MemoryPool(npu).used_bytes() - used <= n // 8 + 1024
    statistics = npu.statistics()
    assert statistics["bytes_unpacked"] == 0
    assert statistics["peak_bytes_unpacked"] >= n


def test_programs_keep_intermediate_values_on_the_device(control):
    a = np.linspace(-3, 3, 10_000, dtype=np.float32)
    x = on_npu(a)
    control.reset_counters()
    y = xp.where((x > -1) & (x < 1), x * 2 + 1, -x)
    check(y, np.where((a > -1) & (a < 1), a * 2 + 1, -a))
    assert control.counter("bytes_h2d") <= a.nbytes + 1024
    assert control.counter("bytes_d2h") == a.nbytes
