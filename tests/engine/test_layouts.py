"""Every way through the tile machine: layouts, sizes around tiles and blocks, all widths."""

import itertools

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

# One dtype for each width of elements, and packed bool.
WIDTHS = ["bool", "uint8", "int16", "float32", "float64", "complex128"]
# Around registers (512 and 1024 elements), blocks (64 and 128 rows) and words of bits.
SIDES = [1, 2, 3, 4, 5, 7, 8, 31, 63, 64, 65, 127, 129, 300]


def values(shape, dtype, seed=0):
    """Return an array without two equal neighbours."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 2 if dtype == "bool" else 100, shape)
    return (raw + 1j * raw[::-1] if dtype == "complex128" else raw).astype(dtype)


def same(result, expected):
    """Check shape, dtype and bits."""
    result = np.asarray(result)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def combine(a, b):
    """Return an operation of two arrays that every dtype has."""
    namespace = xp if isinstance(a, runtime.Array) else np
    return namespace.where(a != b, a, b) if a.dtype != bool else a ^ b


@pytest.mark.parametrize("dtype", WIDTHS)
def test_transposed(dtype):
    for rows, cols in itertools.product(SIDES, SIDES):
        a, b = values((rows, cols), dtype), values((cols, rows), dtype, 1)
        x, y = xp.asarray(a), xp.asarray(b)
        same(xp.reshape(x.T, (-1,)), np.reshape(a.T, (-1,)))
        same(combine(x.T, y), combine(a.T, b))
        same(combine(x, y.T), combine(a, b.T))


VIEWS = {
    "transposed": lambda a: a.transpose(),
    "flipped and transposed": lambda a: a[::-1, ::-1].transpose(),
    "every second, transposed": lambda a: a[::2, ::2].transpose(),
    "every second": lambda a: a[:, ::2],
    "backwards by three": lambda a: a[::-1, ::-3],
    "narrow": lambda a: a[:, 1:4],
    "rows of 100": lambda a: a[:, 1:101],
    "rows of 129": lambda a: a[1:, 2:131],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", WIDTHS)
def test_views(dtype, view):
    """Copies, mixed layouts and writes."""
    a = values((301, 203), dtype)
    expected = np.ascontiguousarray(VIEWS[view](a))
    other = values(expected.shape, dtype, 1)

    def ours(array):
        # transpose() is NumPy's spelling.
        class View:
            def __init__(self, array):
                self.array = array

            def __getitem__(self, key):
                return View(self.array[key])

            def transpose(self):
                return View(self.array.T)

        return VIEWS[view](View(array)).array

    x = xp.asarray(a)
    same(xp.asarray(ours(x), copy=True), expected)
    same(combine(ours(x), xp.asarray(other)), combine(expected, other))
    same(combine(xp.asarray(other), ours(x)), combine(other, expected))
    ours(x)[...] = xp.asarray(other)
    VIEWS[view](a)[...] = other
    same(x, a)


@pytest.mark.parametrize("width", [*range(1, 20), 31, 64, 100, 128, 159, 160, 319, 320, 330])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_short_rows(dtype, width):
    a = values((500, width + 2), dtype)
    x = xp.asarray(a)
    same(combine(x[:, 1:-1], x[:, 2:]), combine(a[:, 1:-1], a[:, 2:]))
    same(combine(x[:, :1], x[:, 1:-1]), combine(a[:, :1], a[:, 1:-1]))
    x[:, 1:-1] = x[:, 2:]
    a[:, 1:-1] = a[:, 2:].copy()
    same(x, a)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(4))))
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32", "complex128"])
def test_permuted(dtype, axes):
    a = values((3, 17, 70, 4), dtype)
    b = values(a.transpose(axes).shape, dtype, 1)
    view = xp.permute_dims(xp.asarray(a), axes)
    same(xp.reshape(view, (-1,)), np.reshape(a.transpose(axes), (-1,)))
    same(combine(view, xp.asarray(b)), combine(a.transpose(axes), b))
    same(combine(xp.asarray(b), view), combine(b, a.transpose(axes)))


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_images(dtype, channels):
    """Crop, flip, every second pixel, channels first, conversion: one pass."""
    a = values((150, 211, channels), dtype)
    x = xp.asarray(a)
    rows, cols = slice(10, 140, 2), slice(200, 11, -2)
    image = xp.astype(xp.permute_dims(x[rows, cols, :], (2, 0, 1)), xp.float32) * 0.5 - 1.0
    same(
        image, a[rows, cols].transpose(2, 0, 1).astype("float32") * np.float32(0.5) - np.float32(1)
    )
    planes = np.ascontiguousarray(a.transpose(2, 0, 1))
    back = xp.permute_dims(xp.asarray(planes), (1, 2, 0))
    same(xp.reshape(back, (-1,)), np.reshape(a, (-1,)))


def test_comparison_of_transposed():
    """Packed results in blocks, with rows that end on bytes and that do not."""
    for rows, cols in [(64, 64), (130, 512), (200, 513), (700, 129), (1024, 1000)]:
        a, b = values((cols, rows), "float32"), values((rows, cols), "float32", 1)
        same(xp.asarray(a).T < xp.asarray(b), a.T < b)
        buffer = xp.zeros((rows, cols + 3), dtype=xp.bool)
        buffer[:, 1:-2] = xp.asarray(a).T < xp.asarray(b)
        same(buffer[:, 1:-2], a.T < b)
        assert not bool(xp.any(buffer[:, 0]))
        assert not bool(xp.any(buffer[:, -2:]))


def test_several_layouts_in_one_group():
    a, b, c = (values((97, 130, 33), "float64", seed) for seed in range(3))
    x, y = xp.asarray(a), xp.asarray(b)
    result = xp.permute_dims(x, (2, 0, 1)) + xp.permute_dims(y, (2, 0, 1)) * 2.0
    same(result, a.transpose(2, 0, 1) + b.transpose(2, 0, 1) * 2.0)
    p = xp.permute_dims
    mixed = p(x, (1, 0, 2)) * xp.asarray(b.transpose(1, 0, 2)) - p(xp.asarray(c.T), (1, 2, 0))
    same(mixed, a.transpose(1, 0, 2) * b.transpose(1, 0, 2) - c.transpose(1, 0, 2))


@pytest.mark.parametrize("offset", [0, 1, 7])
def test_large_results(offset):
    """Results beyond the caches, whole and in unaligned rows, in place, and with bystanders."""
    n = (40 << 20) // 4
    a = np.arange(n + offset, dtype=np.float32)
    x = xp.asarray(a)
    y = x[offset:] * 2.0 + 1.0
    same(y, a[offset:] * np.float32(2) + np.float32(1))
    target = xp.zeros(n + 16, dtype=xp.float32)
    target[3 : 3 + n] = x[offset:] + 1.0
    expected = np.zeros(n + 16, np.float32)
    expected[3 : 3 + n] = a[offset:] + np.float32(1)
    same(target, expected)
    target[3:] *= 2.0
    expected[3:] *= 2
    same(target, expected)
    rows = np.ascontiguousarray(a[: 3001 * 3300].reshape(3001, 3300))
    same(xp.asarray(rows).T + 1.0, rows.T + np.float32(1))
    same(xp.reshape(xp.asarray(rows).T, (-1,)), rows.T.reshape(-1))


def test_large_results_of_short_and_unaligned_rows():
    """Rows that end inside a line of the cache, and rows of a few elements, beyond the caches."""
    a = np.arange(2203.0 * 2049).reshape(2203, 2049)
    x = xp.asarray(a)
    step = x[1:-1, 1:-1] + 0.5 * (x[2:, 1:-1] - x[1:-1, 2:])
    same(step, a[1:-1, 1:-1] + 0.5 * (a[2:, 1:-1] - a[1:-1, 2:]))
    target = xp.zeros(a.shape)
    target[:, 1:] = x[:, :-1] * 2.0 + x[:, 1:]
    expected = np.zeros(a.shape)
    expected[:, 1:] = a[:, :-1] * 2 + a[:, 1:]
    same(target, expected)
    pixels = (np.arange(2000 * 2100 * 3) % 251).astype(np.uint8).reshape(2000, 2100, 3)
    mean = np.asarray([1.5, 2.5, 3.5], np.float32)
    got = xp.astype(xp.asarray(pixels), xp.float32) - xp.asarray(mean)
    same(got, pixels.astype(np.float32) - mean)
    same((x > 5.0) & (x[:, :1] < 1e6), (a > 5) & (a[:, :1] < 1e6))
