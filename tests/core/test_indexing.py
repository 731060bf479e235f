"""Indexing beyond the standard: NumPy's rules for arrays mixed with slices, bounds, order."""

import itertools

import numpy as np
import pytest

import ascend_array_api as xp

I = np.array  # noqa: E741

SHAPE = (4, 5, 6)

KEYS = [
    (I([0, 3, -1]),),
    (I([0, 3, -1]), np.s_[1:4]),
    (np.s_[1:], I([4, 0, 0])),
    (np.s_[::-1], I([4, 0, 0]), np.s_[::2]),
    (I([0, 1]), np.s_[:], I([2, -1])),
    (I([[0], [3]]), np.s_[:], I([2, -1, 0])),
    (np.s_[:2], I([1, 2]), I([3, 4])),
    (2, I([1, 2]), np.s_[::3]),
    (2, np.s_[1:], I([1, 2])),
    (I([1, 2]), 3, np.s_[1:]),
    (..., I([5, 5, 0])),
    (I([3, 3]), ...),
    (I([3, 3]), ..., I([0, 1])),
    (None, I([1, 0]), np.s_[2:]),
    (I([1, 0]), None, np.s_[2:]),
    (I([1, 0]), None, I([0, 4])),
    (I([]).astype(int), np.s_[:]),
    (I(2), np.s_[1:], I([0])),
    (I([0, 1], dtype=np.int8), I([0, 1], dtype=np.uint64)),
    (I([[[1]], [[0]]]), I([[1], [2]]), np.s_[-2:]),
    (np.s_[:], 1, ..., I([0, 2])),  # an ellipsis of no axis is between them, too
    (np.s_[:], I([1, 0]), ..., I([0, 2])),
    (1, ..., I([0, 1]), I([0, 2])),
    (np.s_[:], ..., 1, I([0, 2])),
]


def array(dtype="int64", shape=SHAPE):
    values = np.arange(np.prod(shape)).reshape(shape)
    return (values % 3 == 1) if dtype == "bool" else values.astype(dtype)


def ours(key):
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex128"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_integer_arrays_mixed_with_other_keys(key, dtype, check):
    a = array(dtype)
    check(xp.asarray(a)[ours(key)], a[key])
    b = a.transpose(2, 1, 0)[::-1].transpose(2, 1, 0)
    x = xp.permute_dims(xp.permute_dims(xp.asarray(a), (2, 1, 0))[::-1], (2, 1, 0))
    check(x[ours(key)], b[key])


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_set_with_integer_arrays(key, dtype, check):
    a = array(dtype)
    inner = a[key].shape
    rng = np.random.default_rng(3)
    values = [rng.integers(0, 2, inner).astype(dtype), rng.integers(0, 2, inner[-1:]).astype(dtype)]
    for value in values:
        want, x = a.copy(), xp.asarray(a)
        want[key] = value
        x[ours(key)] = xp.asarray(value)
        check(x, want)
    want, x = a.copy(), xp.asarray(a)
    want[key] = True if dtype == "bool" else 7
    x[ours(key)] = True if dtype == "bool" else 7
    check(x, want)


MASKS = [
    (np.s_[:], "m1"),
    ("m0", np.s_[1:3]),
    (..., "m2"),
    ("m01", np.s_[::2]),
    (np.s_[::-1], "m12"),
    (2, "m1"),
    ("m0", 3),
    ("m0", None),
    ("m01", 4),
    ("m01",),
    ("m012",),
    (I([0, 1, 2]), np.s_[:], "m2three"),
]


def mask(name):
    shape = {"m0": (4,), "m1": (5,), "m2": (6,), "m01": (4, 5), "m12": (5, 6), "m012": SHAPE}
    if name == "m2three":
        return I([True, False, True, True, False, False])
    return np.random.default_rng(len(name)).random(shape[name]) < 0.5


@pytest.mark.parametrize("key", MASKS, ids=repr)
def test_masks_mixed_with_other_keys(key, check):
    a = array()
    real = tuple(mask(k) if isinstance(k, str) else k for k in key)
    check(xp.asarray(a)[ours(real)], a[real])
    want, x = a.copy(), xp.asarray(a)
    want[real] = -1
    x[ours(real)] = -1
    check(x, want)
    value = np.arange(a[real].size).reshape(a[real].shape)
    want, x = a.copy(), xp.asarray(a)
    want[real] = value
    x[ours(real)] = xp.asarray(value)
    check(x, want)


def test_python_bools_and_zero_dimensional_masks(check):
    a = array()
    x = xp.asarray(a)
    for value in (True, False):
        check(x[xp.asarray(value)], a[np.asarray(value)])


def test_last_of_duplicate_indices_wins(check):
    x = xp.zeros(5, dtype=xp.int64)
    x[xp.asarray([1, 3, 1, 1, 3])] = xp.asarray([10, 20, 30, 40, 50])
    check(x, I([0, 40, 0, 50, 0]))
    n = 100_000
    x = xp.zeros(7, dtype=xp.int64)
    i = np.random.default_rng(0).integers(0, 7, n)
    x[xp.asarray(i)] = xp.arange(n)
    check(x, I([np.flatnonzero(i == k)[-1] for k in range(7)]))
    y = xp.zeros((3, 3), dtype=xp.bool)
    y[xp.asarray([0, 0]), xp.asarray([1, 1])] = xp.asarray([True, False])
    check(y, np.zeros((3, 3), bool))
    z = xp.zeros((2, 3))
    z[:, xp.asarray([2, 2])] = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    check(z, I([[0, 0, 2.0], [0, 0, 4.0]]))


@pytest.mark.parametrize("bad", [5, -6, 2**31, -(2**31), 2**62, -(2**63), 2**63])
def test_out_of_bounds_raise(bad):
    x = xp.zeros((5, 3))
    with pytest.raises(IndexError):
        x[bad, 0]
    with pytest.raises(IndexError):
        x[bad, 0] = 1.0
    if -(2**63) <= bad < 2**63:
        i = xp.asarray([0, bad], dtype=xp.int64)
        for call in (
            lambda: x[i, 0],
            lambda: x[i],
            lambda: x.__setitem__((i, 0), 1.0),
            lambda: xp.take(x, i, axis=0),
            lambda: xp.take_along_axis(xp.zeros(5), i, axis=0),
        ):
            with pytest.raises(IndexError):
                call()
    assert float(xp.sum(x)) == 0.0  # a failed write changes nothing


class AsIndex:
    def __index__(self):
        return 2**70


@pytest.mark.parametrize("i", [2**63, 2**70, -(2**70), np.uint64(2**63), AsIndex()])
def test_an_index_beyond_64_bits_is_not_shown_as_another(i):
    x = xp.zeros((3, 3))
    for key in (i, (0, i), (i, xp.asarray([0]))):
        with pytest.raises(IndexError, match="getitem: an index beyond 64 bits"):
            x[key]
        with pytest.raises(IndexError, match="setitem: an index beyond 64 bits"):
            x[key] = 1.0


def test_uint64_indices_beyond_int64_raise():
    with pytest.raises(IndexError):
        xp.zeros(5)[xp.asarray([2**64 - 1], dtype=xp.uint64)]


@pytest.mark.parametrize("key", [1.0, "a", b"a", {}, object(), 1j, [1, 2], (1, [2]), (slice(0.5),)])
def test_wrong_kinds_of_keys(key):
    x = xp.zeros((3, 3))
    with pytest.raises((IndexError, TypeError)):
        x[key]
    with pytest.raises((IndexError, TypeError)):
        x[key] = 1.0


def test_float_array_as_index_raises():
    with pytest.raises((IndexError, TypeError)):
        xp.zeros(3)[xp.asarray([1.0])]


def test_too_many_indices_and_ellipses():
    x = xp.zeros((3, 3))
    for key in ((0, 0, 0), (..., ...), (slice(None),) * 3, (xp.asarray([0]),) * 3):
        with pytest.raises(IndexError):
            x[key]


def test_a_result_of_indexing_with_arrays_is_a_copy(check):
    x = xp.arange(5)
    for y in (x[xp.asarray([0, 1])], x[xp.asarray([True] * 5)]):
        y[...] = 9
    check(x, np.arange(5))


def test_setitem_values(check):
    x = xp.zeros((2, 3))
    x[0, :] = np.float32(1.5)
    x[1, 0] = np.int64(2)
    x[1, 1:] = xp.asarray([7.0], dtype=xp.float32)
    check(x, I([[1.5, 1.5, 1.5], [2, 7, 7]]))
    y = xp.zeros(2, dtype=xp.float32)
    y[0] = np.float64(0.1)
    check(y, I([0.1, 0], dtype=np.float32))
    i = xp.zeros(2, dtype=xp.int8)
    for value, error in (
        (1.5, TypeError),
        (1j, TypeError),
        (300, OverflowError),
        ("1", TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            i[0] = value
    with pytest.raises(TypeError):
        i[0] = xp.asarray(1.5)
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        x[...] = xp.zeros(4)
    check(i, np.zeros(2, np.int8))


def test_many_random_keys(check):
    rng = np.random.default_rng(17)
    shape = (5, 4, 7)
    a = array(shape=shape)
    x = xp.asarray(a)
    for _ in range(300):
        key = []
        rank = int(rng.integers(1, 4))
        for axis in range(rank):
            n = shape[axis]
            kind = rng.integers(0, 4)
            if kind == 0:
                key.append(int(rng.integers(-n, n)))
            elif kind == 1:
                start, stop = (int(v) for v in rng.integers(-n - 2, n + 3, 2))
                key.append(slice(start, stop, int(rng.choice([-2, -1, 1, 3]))))
            elif kind == 2:
                key.append(rng.integers(-n, n, 2))
            else:
                key.append(slice(None))
            if rng.random() < 0.15:
                key.append(None)
        if rng.random() < 0.2 and rank < 3:
            key.insert(int(rng.integers(0, len(key) + 1)), ...)
            if len([k for k in key if k is not None and k is not ...]) > 2:
                continue
        try:
            want = a[tuple(key)]
        except IndexError:
            with pytest.raises(IndexError):
                x[ours(tuple(key))]
            continue
        check(x[ours(tuple(key))], want)


def test_all_slices_of_two_axes(check):
    a = array(shape=(3, 4))
    x = xp.asarray(a)
    ends = [None, -9, -1, 0, 2, 9]
    for i, j, k, m in itertools.product(ends, ends, [None, -1, 2], [None, -2]):
        key = (slice(i, j, k), slice(j, i, m))
        check(x[key], a[key])
