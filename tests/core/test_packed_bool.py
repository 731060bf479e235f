"""Bool takes one bit an element; every function is right at odd bit offsets and lengths."""

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

OFFSETS = [0, 1, 3, 7, 8, 13, 31, 63, 64, 65, 511, 513]
LENGTHS = [0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 200, 513, 1025, 4099]


def pieces():
    """Yield a packed array at each offset and length, forward, backward and strided."""
    rng = np.random.default_rng(2)
    for offset in OFFSETS:
        bits = rng.random(offset + max(LENGTHS) * 2 + 9) < 0.5
        whole = xp.asarray(bits)
        for n in LENGTHS:
            yield whole[offset : offset + n], bits[offset : offset + n]
        yield whole[offset : offset + 77][::-1], bits[offset : offset + 77][::-1]
        yield whole[offset : offset + 200 : 3], bits[offset : offset + 200 : 3]
        grid, want = whole[offset : offset + 9 * 13], bits[offset : offset + 9 * 13]
        yield xp.reshape(grid, (9, 13)).T, want.reshape(9, 13).T


PIECES = list(pieces())

BINARY = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "equal": np.equal,
    "not_equal": np.not_equal,
}


@pytest.mark.parametrize("name", BINARY)
def test_logic(name, check):
    f, ref = getattr(xp, name), BINARY[name]
    for i, (x, a) in enumerate(PIECES):
        y, b = next(p for p in PIECES[i + 1 :] + PIECES[: i + 1] if p[1].shape == a.shape)
        check(f(x, y), ref(a, b))
        check(f(x, True), ref(a, True))
        check(f(False, x), ref(False, a))


def test_inversion_and_copies(check):
    for x, a in PIECES:
        check(~x, ~a)
        check(xp.logical_not(x), ~a)
        check(xp.asarray(x, copy=True), a)
        check(xp.astype(x, xp.bool), a)
        check(xp.flip(x), np.flip(a))


@pytest.mark.parametrize("name", ["int8", "uint8", "int64", "float32", "float64", "complex64"])
def test_conversion_both_ways(name, check):
    for x, a in PIECES:
        check(xp.astype(x, getattr(xp, name)), a.astype(name))
        check(xp.astype(xp.astype(x, getattr(xp, name)), xp.bool), a)


def test_reductions(check):
    for x, a in PIECES:
        check(xp.any(x), np.any(a))
        check(xp.all(x), np.all(a))
        check(xp.count_nonzero(x), np.asarray(np.count_nonzero(a)))
        for axis in range(a.ndim):
            check(xp.any(x, axis=axis), np.any(a, axis=axis))
            check(xp.all(x, axis=axis), np.all(a, axis=axis))
            check(xp.count_nonzero(x, axis=axis), np.count_nonzero(a, axis=axis))


def test_single_bits_are_seen(check):
    for n in (1, 8, 9, 64, 65, 129, 1000, 70_001):
        for offset in (0, 1, 7, 63):
            for at in {0, n // 2, n - 1}:
                whole = xp.zeros(n + 200, dtype=xp.bool)
                x = whole[offset : offset + n]
                x[at] = True
                assert bool(xp.any(x))
                assert int(xp.count_nonzero(x)) == 1
                assert bool(xp.all(x)) is (n == 1)
                assert [int(i) for i in xp.nonzero(x)[0]] == [at]
                y = ~x
                assert int(xp.count_nonzero(y)) == n - 1
                assert bool(xp.all(y)) is False
                # neighbours outside the view must not count
                if offset:
                    whole[offset - 1] = True
                whole[offset + n] = True
                assert int(xp.count_nonzero(x)) == 1


def test_selection(check):
    rng = np.random.default_rng(4)
    for x, a in PIECES:
        b, c = (rng.integers(0, 99, a.shape) for _ in range(2))
        y, z = xp.asarray(b), xp.asarray(c)
        check(xp.where(x, y, z), np.where(a, b, c))
        check(xp.where(x, x, ~x), np.where(a, a, ~a))
        check(y[x], b[a])
        check(x[x], a[a])
        w, d = xp.asarray(b), b.copy()
        w[x] = -1
        d[a] = -1
        check(w, d)
        for got, want in zip(xp.nonzero(x), np.nonzero(a), strict=True):
            check(got, want)


def test_manipulation(check):
    for x, a in PIECES:
        check(xp.reshape(x, (-1,)) if a.size else x, a.reshape(-1) if a.size else a)
        check(xp.concat([x, x], axis=0), np.concatenate([a, a]))
        check(xp.stack([x, ~x], axis=-1), np.stack([a, ~a], axis=-1))
        check(xp.roll(x, 5), np.roll(a, 5))
        check(xp.repeat(x, 3), np.repeat(a, 3))
        check(xp.tile(x, (2,)), np.tile(a, (2,)))
        check(xp.expand_dims(x, axis=0), a[None])
        check(xp.broadcast_to(x, (3, *a.shape)), np.broadcast_to(a, (3, *a.shape)))
        if a.size:
            i = np.array([0, a.shape[0] - 1, -1])
            check(xp.take(x, xp.asarray(i), axis=0), np.take(a, i, axis=0))


def test_sets_of_bool():
    for x, a in PIECES:
        got = xp.unique_all(x)
        values = np.array(got.values, copy=True)
        assert sorted(values.tolist()) == sorted(set(a.reshape(-1).tolist()))
        assert np.array_equal(values[np.array(got.inverse_indices, copy=True)], a)


@pytest.mark.parametrize("offset", OFFSETS)
def test_writes_leave_neighbours_alone(offset, check):
    rng = np.random.default_rng(offset)
    for n in LENGTHS:
        bits = rng.random(offset + n + 140) < 0.5
        value = rng.random(n) < 0.5
        for make in (
            lambda x, v, s: x.__setitem__(s, v),
            lambda x, v, s: x[s].__setitem__(..., v),
            lambda x, v, s: x[s][::-1].__setitem__(..., v[::-1]),
        ):
            x, want = xp.asarray(bits), bits.copy()
            make(x, xp.asarray(value), slice(offset, offset + n))
            want[offset : offset + n] = value
            check(x, want)
        for fill in (True, False):
            x, want = xp.asarray(bits), bits.copy()
            x[offset : offset + n] = fill
            want[offset : offset + n] = fill
            check(x, want)
        x, want = xp.asarray(bits), bits.copy()
        part = x[offset : offset + n]
        part ^= xp.asarray(value)
        want[offset : offset + n] ^= value
        check(x, want)
        x, want = xp.asarray(bits), bits.copy()
        x[offset : offset + n : 3] = True
        want[offset : offset + n : 3] = True
        check(x, want)


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "float64"])
@pytest.mark.parametrize(
    "name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
)
def test_comparisons_pack(dtype, name, check):
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        a, b = (rng.integers(0, 3, n).astype(dtype) for _ in range(2))
        check(getattr(xp, name)(xp.asarray(a), xp.asarray(b)), getattr(np, name)(a, b))
        check(getattr(xp, name)(xp.asarray(a)[::-1], 1), getattr(np, name)(a[::-1], 1))


@pytest.mark.parametrize("threads", [1, 3, 8])
@pytest.mark.parametrize("offset", [1, 64, 511, 512, 1000])
def test_large_results_that_start_anywhere(offset, threads, check):
    """Threads share no cache line of the result: their borders depend on where it starts."""
    n = 1_000_003
    values = np.random.default_rng(offset).integers(-3, 4, n).astype("float32")
    want = np.ones(n + offset + 100, dtype="bool")
    want[offset : offset + n] = values * values > 2
    before = runtime.get_num_threads()
    runtime.set_num_threads(threads)
    try:
        x, target = xp.asarray(values), xp.ones(want.size, dtype=xp.bool)
        target[offset : offset + n] = x * x > 2
        check(target, want)
    finally:
        runtime.set_num_threads(before)


def test_an_element_takes_one_bit(used):
    n = 8_000_000
    most = n // 8 + n // 128 + 4096  # the pool rounds sizes up
    before = used()
    x = xp.zeros(n, dtype=xp.bool)
    runtime.evaluate(x)
    first = used() - before
    assert n // 8 <= first <= most
    y = xp.zeros(n, dtype=xp.int8) > 3
    runtime.evaluate(y)
    second = used() - before - first
    assert n // 8 <= second <= most
    z = x | y
    runtime.evaluate(z)
    assert used() - before - first - second <= most
    del x, y, z
    assert used() == before


def test_least_significant_bit_comes_first():
    """The order of Arrow: seen through a one-bit DLPack capsule in the DLPack tests."""
    x = xp.asarray([True, False, False, False, False, False, False, False, False, True])
    assert [bool(v) for v in x] == [True] + [False] * 8 + [True]
