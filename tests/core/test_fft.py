"""Fourier transforms: values, bits in every layout, special values.

Here some lengths are tested; `python tests/accuracy/check_fft.py` takes all up to 2048.
"""

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
REAL_INPUT = {"rfft", "ihfft", "rfftn"}
REAL_OUTPUT = {"irfft", "hfft", "irfftn"}
# Every radix alone and squared, products, the largest direct factor, convolutions, long ones.
LENGTHS = [
    *range(1, 34),
    *(35, 37, 48, 49, 60, 63, 64, 77, 81, 96, 97, 100, 121, 125, 127, 128, 131, 143, 169, 210),
    *(254, 256, 257, 262, 343, 381, 512, 523, 600, 729, 1000, 1009, 1024, 1155, 1536, 2048),
]


def roots_of_unity(n: int) -> Any:
    """Return exp(-2 pi i k / n) in long double."""
    turns = np.arange(n, dtype=np.longdouble) / n
    # 2 * np.pi is a double; the second factor is what it lacks.
    angle = 2 * np.pi * turns + turns * np.longdouble("2.4492935982947063545e-16")
    return np.cos(angle) - 1j * np.sin(angle)


def exact(name: str, x: np.ndarray, n: int) -> Any:
    """Return a transform along the last axis by its definition, without a factor."""
    w = x.astype(np.clongdouble)
    if name in REAL_OUTPUT:
        w = np.zeros((*x.shape[:-1], n), np.clongdouble)
        m = min(x.shape[-1], n // 2 + 1)
        w[..., :m] = x[..., :m]
        w[..., 0] = w[..., 0].real
        if n % 2 == 0:
            w[..., n // 2] = w[..., n // 2].real
        for k in range(1, (n + 1) // 2):
            w[..., n - k] = np.conj(w[..., k])
    else:
        w = w[..., :n]
        w = np.concatenate([w, np.zeros((*w.shape[:-1], n - w.shape[-1]))], axis=-1)
    k = np.arange(n)
    r = roots_of_unity(n)
    if name in {"ifft", "irfft", "ihfft"}:
        r = np.conj(r)
    out = w @ r[np.outer(k, k) % n]
    if name in REAL_OUTPUT:
        return out.real
    return out[..., : n // 2 + 1] if name in REAL_INPUT else out


def bound(n: int, dtype: Any) -> float:
    """Return the largest relative error, in the Euclidean norm, that a transform may have."""
    return (0.75 + 0.25 * np.log2(n)) * float(np.finfo(dtype).eps)


def error(found: Any, expected: Any) -> float:
    """Return the relative error in the Euclidean norm."""
    a = np.asarray(found).astype(expected.dtype)
    size = float(np.sqrt(np.sum(np.abs(expected) ** 2)))
    return float(np.sqrt(np.sum(np.abs(a - expected) ** 2))) / (size or 1.0)


def values(name: str, shape: tuple[int, ...], single: bool = False, seed: int = 0) -> np.ndarray:
    """Return random input of a function."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if name in REAL_INPUT:
        return x.astype("float32") if single else x
    x = x + 1j * rng.standard_normal(shape)
    return x.astype("complex64") if single else x


def bits(x: Any) -> bytes:
    return np.ascontiguousarray(np.asarray(x)).tobytes()


@pytest.fixture
def threads() -> Any:
    before = runtime.get_num_threads()
    yield runtime.set_num_threads
    runtime.set_num_threads(before)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("single", [False, True])
def test_values_by_the_definition(name, single):
    for n in LENGTHS:
        m = n // 2 + 1 if name in REAL_OUTPUT else n
        x = values(name, (m,), single, n)
        found = getattr(xp.fft, name)(xp.asarray(x), n=n, norm="backward")
        expected = exact(name, x, n) / (n if name in {"ifft", "irfft", "ihfft"} else 1)
        assert found.shape == expected.shape
        assert error(found, expected) <= bound(n, x.dtype), n


@pytest.mark.parametrize("n", [2**14, 3**9, 10**5, 2 * 50021, 2**17])
def test_long_transforms(n):
    x = values("fft", (n,))
    found = np.asarray(xp.fft.fft(xp.asarray(x)))
    k = np.random.default_rng(1).integers(0, n, 20)
    r = roots_of_unity(n)
    expected = np.stack([np.sum(x * r[np.arange(n) * int(i) % n]) for i in k])
    scale = np.sqrt(np.sum(np.abs(x) ** 2))
    assert np.max(np.abs(found[k] - expected)) <= 12 * np.finfo("float64").eps * scale
    assert error(xp.fft.ifft(xp.asarray(found)), x) <= 2 * bound(n, "float64")
    half = xp.fft.rfft(xp.asarray(x.real.copy()))
    assert error(half, np.fft.rfft(x.real)) <= 2 * bound(n, "float64")
    assert error(xp.fft.irfft(half, n=n), x.real) <= 2 * bound(n, "float64")


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("single", [False, True])
def test_bits_do_not_depend_on_the_layout(name, single):
    """Alone or in a batch, contiguous or strided, forwards or backwards in memory."""
    f = getattr(xp.fft, name)
    for n in [1, 2, 3, 4, 6, 7, 8, 9, 16, 30, 31, 48, 64, 100, 128, 144, 127, 262, 360, 1000, 1024]:
        m = n // 2 + 1 if name in REAL_OUTPUT else n
        a = values(name, (37, m), single, n)
        alone = [bits(f(xp.asarray(row), n=n)) for row in a]
        layouts = {
            "rows": (a, a[...], 1),
            "columns": (a.T.copy(), None, 0),
            "few columns": (a[:3].T.copy(), None, 0),
            "middle": (np.repeat(a.T[None], 2, 0).copy(), None, 1),
        }
        for what, (b, _, axis) in layouts.items():
            found = np.moveaxis(np.asarray(f(xp.asarray(b), n=n, axis=axis)), axis, -1)
            for i, row in enumerate(found.reshape(-1, found.shape[-1])):
                assert bits(row) == alone[i % a.shape[0]], (n, what)
        wide = np.zeros((2 * 37, 3 * m + 5), a.dtype)
        wide[::2, 5::3] = a[:, ::-1]
        for view, axis in [
            (xp.asarray(wide)[::2, 5::3][:, ::-1], 1),
            (xp.asarray(wide.T.copy())[5::3, ::2][::-1, :], 0),
        ]:
            found = np.moveaxis(np.asarray(f(view, n=n, axis=axis)), axis, -1)
            for i, row in enumerate(found):
                assert bits(row) == alone[i], n


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "ihfft"])
@pytest.mark.parametrize("single", [False, True])
def test_batches_beyond_the_caches(name, single):
    """Sequences that are fetched while others are transformed give the same bits as alone."""
    f = getattr(xp.fft, name)
    for n in (512, 1000, 2050):
        m = n // 2 + 1 if name in REAL_OUTPUT else n
        a = values(name, (2**22 // (8 * n), m), single, n)
        for x in [a] if name != "fft" else [a, a.real.copy()]:
            found = np.asarray(f(xp.asarray(x), n=n))
            for i in (0, 1, 15, 16, 17, x.shape[0] - 1):
                assert bits(found[i]) == bits(f(xp.asarray(x[i]), n=n)), (n, i)
            np.testing.assert_allclose(
                found, getattr(np.fft, name)(x, n=n), rtol=0, atol=1e-4 if single else 1e-12
            )


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_bits_do_not_depend_on_the_number_of_threads(name, threads):
    f = getattr(xp.fft, name)
    shapes = [(2**16,), (3 * 20011,), (50000 + 1,), (3, 2**15), (300, 129), (129, 300), (64, 9, 64)]
    for shape in shapes:
        x = xp.asarray(values(name, shape))
        for axis in range(len(shape)):
            seen = set()
            for count in (1, 2, 3, 8):
                threads(count)
                seen.add(bits(f(x, axis=axis)))
            assert len(seen) == 1, (shape, axis)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cutting_and_padding(name, axis):
    a = values(name, (9, 10, 11))
    for n in (1, 2, 3, 5, 8, 16, 17, 40, 131, 300):
        for b in (a, a[::-1, :, ::2], np.broadcast_to(a[:1, :, :1], a.shape)):
            x = xp.asarray(a)
            if b.shape != a.shape:
                x = x[::-1, :, ::2]
            elif b is not a:
                x = xp.broadcast_to(x[:1, :, :1], a.shape)
            found = getattr(xp.fft, name)(x, n=n, axis=axis)
            w = np.moveaxis(b, axis, -1)
            expected = exact(name, w, n) / (n if name in {"ifft", "irfft", "ihfft"} else 1)
            assert error(np.moveaxis(np.asarray(found), axis, -1), expected) <= bound(n, "float64")


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name):
    a = values(name, (6, 7, 8, 9))
    for axes, s in [
        ((0, 1, 2, 3), (5, 12, 8, 10)),
        ((3, 0), (4, 9)),
        ((1,), (6,)),
        ((2, 1), (3, 130)),
    ]:
        for norm in ("backward", "ortho", "forward"):
            found = getattr(xp.fft, name)(xp.asarray(a), s=s, axes=axes, norm=norm)
            expected = getattr(np.fft, name)(a, s=s, axes=axes, norm=norm)
            assert found.shape == expected.shape
            assert error(found, expected) <= 4 * bound(10**4, "float64")


def test_input_is_not_written():
    for name, n in itertools.product(ONE, (8, 9, 131, 4096)):
        a = values(name, (3, n))
        x = xp.asarray(a)
        runtime.evaluate(getattr(xp.fft, name)(x))
        np.testing.assert_array_equal(np.asarray(x), a)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    single = dtype in {"float16", "float32", "complex64"}
    x = xp.asarray(np.ones((3, 4), dtype))
    assert xp.fft.fft(x).dtype == (xp.complex64 if single else xp.complex128)
    assert xp.fft.fftn(x).dtype == (xp.complex64 if single else xp.complex128)
    assert xp.fft.irfft(x).dtype == (xp.float32 if single else xp.float64)
    assert xp.fft.hfft(x).dtype == (xp.float32 if single else xp.float64)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["irfft", "hfft", "irfftn"])
def test_real_values_of_transforms_with_real_results(name, dtype):
    """A half of Hermitian values may be real, as in NumPy."""
    many, single = name == "irfftn", dtype != "float64"
    for shape in [(1,), (2,), (5,), (66,), (1001,), (3, 5), (40, 33), (2, 3, 4)]:
        a = values("rfft", shape).astype(dtype)
        choices: list[dict[str, Any]] = [{}, {"norm": "ortho"}] if shape[-1] > 1 else []
        for n, axis in itertools.product((4, 7, 131), (0, -1)):
            choices.append({"s": (n,), "axes": (axis,)} if many else {"n": n, "axis": axis})
        for options in choices:
            found = getattr(xp.fft, name)(xp.asarray(a), **options)
            expected = getattr(np.fft, name)(a.astype("float64"), **options)
            assert found.dtype == (xp.float32 if single else xp.float64)
            assert found.shape == expected.shape
            assert error(found, expected) <= 2 * bound(found.size, found.dtype), (shape, options)


def test_empty_batches():
    x = xp.zeros((0, 5), dtype=xp.complex128)
    assert xp.fft.fft(x).shape == (0, 5)
    assert xp.fft.irfft(x, n=6).shape == (0, 6)
    assert xp.fft.fftn(x, axes=(1,)).shape == (0, 5)
    nothing = xp.zeros((2, 0), dtype=xp.complex128)
    assert bool(xp.all(xp.fft.fft(nothing, n=5) == 0))
    assert bool(xp.all(xp.fft.irfft(nothing, n=5) == 0))
    assert bool(xp.all(xp.fft.rfft(xp.zeros((2, 0)), n=6) == 0))


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values_reach_their_own_sequence_only(name, special):
    for n, axis in itertools.product((4, 7, 16, 131, 1024), (0, 1)):
        m = n // 2 + 1 if name in REAL_OUTPUT else n
        a = values(name, (20, m))
        clean = np.asarray(getattr(xp.fft, name)(xp.asarray(a), n=n))
        a[3, 1] = special
        x = xp.asarray(a if axis == 1 else a.T.copy())
        found = np.asarray(getattr(xp.fft, name)(x, n=n, axis=axis))
        found = found if axis == 1 else found.T
        assert not np.any(np.isfinite(found[3]))
        np.testing.assert_array_equal(np.delete(found, 3, 0), np.delete(clean, 3, 0))


def test_large_and_small_values_keep_their_scale():
    x = values("fft", (96,))
    plain = np.asarray(xp.fft.fft(xp.asarray(x)))
    for power in (900, -900):
        found = np.asarray(xp.fft.fft(xp.asarray(x * 2.0**power)))
        np.testing.assert_array_equal(found, plain * 2.0**power)


def test_exact_on_small_integers():
    """Products with 1, -1, i and -i are exact, so these sums are."""
    for n in (2, 4):
        for a in itertools.product((-1.0, 0.0, 2.0), repeat=n):
            expected = np.round(np.fft.fft(a))
            np.testing.assert_array_equal(np.asarray(xp.fft.fft(xp.asarray(a))), expected)
    for n in (8, 60, 1024, 1009):
        one = np.zeros(n)
        one[0] = 1.0
        found = np.asarray(xp.fft.fft(xp.asarray(one)))
        assert np.max(np.abs(found - 1)) <= (1e-15 if n == 1009 else 0)


@pytest.mark.parametrize("n", [8, 15, 127, 131, 1000, 4096])
def test_properties(n):
    x = values("fft", (n,))
    found = np.asarray(xp.fft.fft(xp.asarray(x), norm="ortho"))
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(x), rel=1e-13)
    moved = np.asarray(xp.fft.fft(xp.asarray(np.roll(x, 3)), norm="ortho"))
    phase = np.exp(-2j * np.pi * 3 * np.arange(n) / n)
    assert np.max(np.abs(moved - found * phase)) <= 1e-12
    real = np.asarray(xp.fft.fft(xp.asarray(x.real.copy())))
    np.testing.assert_array_equal(real[1:], np.conj(real[1:][::-1]))


def test_pending_input_is_transformed_later():
    a = values("fft", (300, 64))
    x = xp.asarray(a) * 2.0
    y = xp.fft.fft(x, axis=0) + 1.0
    x[0, 0] = 100.0
    assert error(y, np.fft.fft(2 * a, axis=0) + 1) <= 1e-14


@pytest.mark.parametrize("name", ONE)
def test_results_larger_than_memory(name):
    x = xp.asarray(values(name, (4,)))
    for n in (2**40, 2**61, 2**62):
        with pytest.raises(MemoryError, match=name):
            getattr(xp.fft, name)(x, n=n)
    for many in ("fftn", "ifftn", "irfftn"):
        with pytest.raises(MemoryError, match=many):
            getattr(xp.fft, many)(xp.asarray([[1j]]), s=(2**40, 2**40), axes=(0, 1))


def test_odd_arguments_are_told_by_name():
    x = xp.asarray([1.0, 2.0])
    for norm in (np.ones(2), x, 3, None, "Ortho"):
        with pytest.raises(ValueError, match="rfft: norm is 'backward'"):
            xp.fft.rfft(x, norm=norm)  # type: ignore[arg-type]
    for n in (2**63, 2**70, 2**2000):
        with pytest.raises(OverflowError, match="ifft: a length does not fit 64 bits"):
            xp.fft.ifft(x, n=n)
    for s in (3, "text", np.ones(1), x, {4}):
        with pytest.raises((TypeError, ValueError), match="fftn: "):
            xp.fft.fftn(x, s=s, axes=(0,))  # type: ignore[arg-type]
    for d in ("1.5", None, x, 2**2000):
        with pytest.raises((TypeError, OverflowError), match="rfftfreq: "):
            xp.fft.rfftfreq(4, d=d)  # type: ignore[arg-type]
    many = xp.ones((1,) * 20)
    with pytest.raises((MemoryError, OverflowError), match="fftn: "):
        xp.fft.fftn(many, s=(2**62,) * 20, axes=tuple(range(20)), norm="ortho")


SCRIPT = """
import hashlib
import numpy as np
import ascend_array_api as xp
rng = np.random.default_rng(0)
total = hashlib.sha256()
for shape in [(7,), (64, 40), (3, 5000), (131, 12), (2**15,)]:
    x = xp.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) * 1.5
    for axis in range(len(shape)):
        for y in (
            xp.fft.fft(x, axis=axis) + 1.0,
            xp.fft.rfft(xp.real(x), axis=axis),
            xp.fft.irfft(x, axis=axis),
            xp.fft.fftn(x),
        ):
            total.update(np.ascontiguousarray(np.asarray(y)).tobytes())
print(total.hexdigest())
"""


def test_bits_do_not_depend_on_the_mode(child_env):
    settings: list[dict[str, str]] = [
        {},
        {"ASCEND_ARRAY_API_DEFER": "off"},
        {"ASCEND_ARRAY_API_DEFER": "always"},
        {"ASCEND_ARRAY_API_FUSION": "off"},
        {"ASCEND_ARRAY_API_POOL": "off"},
        {"ASCEND_ARRAY_API_NUM_THREADS": "3"},
    ]
    seen = set()
    for setting in settings:
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=child_env | setting,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(run.stdout)
    assert len(seen) == 1
