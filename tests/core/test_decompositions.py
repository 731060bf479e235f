"""LU, Cholesky and QR: sizes around every block, residuals, scales, errors, threads."""

import numpy as np
import pytest

import ascend_array_api as xp

DTYPES = ("float32", "float64", "complex64", "complex128")
# Around panels, triangles, blocks of reflections.
SIZES = (1, 2, 8, 9, 16, 17, 33, 64, 65, 129, 200)


def random(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Return normal numbers, complex ones in both parts."""
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else x).astype(dtype)


def wide(x) -> np.ndarray:
    """Return an array with twice the digits or more."""
    x = np.asarray(x)
    return x.astype({"f": "f8", "d": "g", "F": "c16", "D": "G", "g": "g", "G": "G"}[x.dtype.char])


def error(got, want, scale) -> float:
    """Return the norm of a difference in units of eps * scale."""
    eps = float(np.finfo(np.asarray(scale).dtype).eps)
    return float(np.linalg.norm((wide(got) - want).astype("c16")) / np.linalg.norm(scale) / eps)


def adjoint(x: np.ndarray) -> np.ndarray:
    """Return the conjugate transpose."""
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
class TestSquare:
    def test_solve_is_backward_stable(self, dtype, n):
        rng = np.random.default_rng(n)
        a = random(rng, dtype, n, n)
        for shape in ((n,), (n, 1), (n, 3), (n, 70)):
            b = random(rng, dtype, *shape)
            x = xp.linalg.solve(xp.asarray(a), xp.asarray(b))
            assert x.shape == shape
            residual = np.linalg.norm((wide(a) @ wide(x) - b).astype("c16"))
            scale = np.linalg.norm(a) * np.linalg.norm(np.asarray(x)) + np.linalg.norm(b)
            assert residual <= 2 * max(n, 4) ** 0.5 * np.finfo(dtype).eps * scale

    def test_inv(self, dtype, n):
        a = random(np.random.default_rng(n), dtype, n, n)
        x = xp.linalg.inv(xp.asarray(a))
        residual = np.linalg.norm((wide(a) @ wide(x) - np.eye(n)).astype("c16"))
        scale = np.linalg.norm(a) * np.linalg.norm(np.asarray(x)) + 1
        assert residual <= 2 * max(n, 4) ** 0.5 * np.finfo(dtype).eps * scale

    @pytest.mark.parametrize("upper", [False, True])
    def test_cholesky(self, dtype, n, upper):
        m = random(np.random.default_rng(n), dtype, n, n)
        a = (m @ adjoint(m) + np.eye(n)).astype(dtype)
        a = ((a + adjoint(a)) / 2).astype(dtype)
        half = np.triu(a) if upper else np.tril(a)
        c = np.asarray(xp.linalg.cholesky(xp.asarray(half), upper=upper))
        assert np.array_equal(c, np.triu(c) if upper else np.tril(c))
        # The other triangle is not read, and comes out as zero.
        other = np.tri(n, k=-1, dtype="bool")
        for rest in (adjoint(half), np.full_like(a, np.nan)):
            full = xp.asarray(np.where(other if upper else other.T, rest, half))
            assert np.array_equal(np.asarray(xp.linalg.cholesky(full, upper=upper)), c)
        assert np.all(np.diagonal(c).real > 0)
        assert np.all(np.diagonal(c).imag == 0)
        product = adjoint(wide(c)) @ wide(c) if upper else wide(c) @ adjoint(wide(c))
        assert error(product, a, a) < 2 * max(n, 4) ** 0.5

    def test_det(self, dtype, n):
        a = random(np.random.default_rng(n), dtype, n, n) / max(n, 2) ** 0.5
        sign, log = np.linalg.slogdet(a.astype("complex128"))
        found = xp.linalg.slogdet(xp.asarray(a))
        limit = 20 * n * np.finfo(dtype).eps * np.linalg.cond(a)
        assert abs(complex(found[0]) - sign) < limit
        assert abs(float(found[1]) - log) < limit


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize(
    "shape",
    [(n, n) for n in SIZES]
    + [(5, 3), (3, 5), (40, 17), (17, 40), (300, 9), (9, 300), (300, 150), (150, 300)]
    + [(1, 9), (9, 1)],
)
def test_qr(dtype, mode, shape):
    m, n = shape
    a = random(np.random.default_rng(m + n), dtype, m, n)
    q, r = map(np.asarray, xp.linalg.qr(xp.asarray(a), mode=mode))
    k = m if mode == "complete" else min(m, n)
    assert q.shape == (m, k)
    assert r.shape == (k, n)
    assert np.array_equal(r, np.triu(r))
    assert error(wide(q) @ wide(r), a, a) < 2 * max(min(m, n), 4) ** 0.5
    eye = np.eye(k, dtype=dtype)
    assert error(adjoint(wide(q)) @ wide(q), eye, eye) < 2 * max(min(m, n), 4) ** 0.5


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("n", [127, 128, 143, 144, 145, 207, 208, 500, 512, 513])
def test_lu_in_blocks_of_columns(dtype, n):
    """Around the borders of blocks: random and graded matrices, zeros and NaN in any block."""
    rng = np.random.default_rng(n)
    a, b = random(rng, dtype, n, n), random(rng, dtype, n, 3)
    graded = (a * np.logspace(0, 8, n)[:, None]).astype(dtype)
    triangle = (np.triu(a, -1) / n + np.eye(n)).astype(dtype)
    for m in (a, graded, triangle, a[::-1, ::-1], a.T):
        x = np.asarray(xp.linalg.solve(xp.asarray(m), xp.asarray(b)))
        residual = np.linalg.norm(m.astype("c16") @ x.astype("c16") - b)
        scale = np.linalg.norm(m) * np.linalg.norm(x) + np.linalg.norm(b)
        assert residual <= 2 * n**0.5 * np.finfo(dtype).eps * scale
    for j in (0, 63, 64, 126, n - 1):
        holed = a.copy()
        holed[:, j] = 0
        with pytest.raises(ValueError, match="singular"):
            xp.linalg.inv(xp.asarray(holed))
        holed[n // 2, j] = np.nan
        assert np.isnan(complex(xp.linalg.det(xp.asarray(holed))))


# Around the least rows of two blocks, odd pairs of blocks, and the widest that goes in blocks.
TALL = [(1023, 1), (1024, 1), (1024, 5), (1025, 64), (1560, 65), (2100, 17), (2047, 128)]
TALL += [(2048, 128), (2048, 129), (9000, 16)]


def assert_columns_decomposed(a: np.ndarray, q, r, what: str = "random"):
    """Check Q R of a matrix whose columns may have any sizes, each against its own."""
    m, n = a.shape
    q, r = np.asarray(q), np.asarray(r)
    assert q.shape == (m, n)
    assert np.array_equal(r, np.triu(r))
    sizes = np.linalg.norm(a.astype("c16"), axis=0)
    units = np.where(sizes == 0, 1, 2.0 ** np.round(np.log2(np.where(sizes == 0, 1, sizes))))
    units = units.astype("f8")
    rest = (wide(q) @ (wide(r) / units) - wide(a) / units).astype("c16")
    limit = 4 * max(n, 4) ** 0.5 * np.finfo(a.dtype).eps
    assert np.linalg.norm(rest, axis=0).max() < limit, what
    eye = np.eye(n, dtype=a.dtype)
    assert error(adjoint(wide(q)) @ wide(q), eye, eye) < 2 * max(n, 4) ** 0.5, what


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", TALL)
def test_qr_of_tall_matrices(dtype, shape):
    a = random(np.random.default_rng(shape[0]), dtype, *shape)
    assert_columns_decomposed(a, *xp.linalg.qr(xp.asarray(a)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_of_tall_matrices_of_any_kind(dtype):
    rng = np.random.default_rng(7)
    a = random(rng, dtype, 2100, 40)
    top = float(np.finfo(dtype).max) ** 0.4
    kinds = {
        "graded columns": a * np.logspace(-1, 1, 40, base=top),
        "graded rows": a * np.logspace(0, -12, 2100)[:, None],
        "equal columns": np.repeat(a[:, :4], 10, axis=1),
        "zero columns": a * (np.arange(40) % 3 != 0),
        "zeros": a * 0,
        "rows of a single block": a * (np.arange(2100) < 60)[:, None],
        "nearly dependent columns": a[:, :1] + 1e-6 * a,
    }
    for name, x in kinds.items():
        kind = x.astype(dtype)
        assert_columns_decomposed(kind, *xp.linalg.qr(xp.asarray(kind)), what=name)
    turned = xp.asarray(np.ascontiguousarray(a.T)).T
    strided = xp.asarray(np.repeat(np.repeat(a, 2, axis=0), 3, axis=1))[::2, ::3]
    reverse = xp.asarray(np.ascontiguousarray(a[::-1]))[::-1, :]
    want = [np.asarray(part) for part in xp.linalg.qr(xp.asarray(a))]
    for other in (turned, strided, reverse):
        for got, part in zip(xp.linalg.qr(other), want, strict=True):
            assert np.array_equal(np.asarray(got), part)
    a[1500, 20] = np.nan
    for part in xp.linalg.qr(xp.asarray(a)):
        assert np.isnan(np.asarray(part)).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1024, 3), (5000, 30)])
def test_qr_of_tall_matrices_has_the_same_bits_on_any_number_of_threads(dtype, shape):
    a = random(np.random.default_rng(8), dtype, 2, *shape)
    before, found = xp.runtime.get_num_threads(), set()
    try:
        for threads in (1, 2, 3, 8):
            xp.runtime.set_num_threads(threads)
            q, r = xp.linalg.qr(xp.asarray(a))
            found.add(np.asarray(q).tobytes() + np.asarray(r).tobytes())
            parts = [xp.linalg.qr(xp.asarray(x)) for x in a]
            found.add(b"".join(np.asarray(p[k]).tobytes() for k in (0, 1) for p in parts))
    finally:
        xp.runtime.set_num_threads(before)
    assert len(found) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [-1.0, -0.6, 0.6, 1.0])
def test_columns_of_any_scale(dtype, scale):
    """Each column of Q R is as near to its own as if it stood alone, subnormal ones too."""
    rng = np.random.default_rng(1)
    info = np.finfo(dtype)
    edge = info.tiny if scale < 0 else info.max / 256
    a = random(rng, dtype, 50, 20)
    factors = np.ones(20)
    factors[::3] = float(edge) ** abs(scale)
    a = (a * factors.astype(info.dtype)).astype(dtype)
    q, r = map(np.asarray, xp.linalg.qr(xp.asarray(a)))
    assert np.all(np.isfinite(q))
    assert np.all(np.isfinite(r))
    for j in range(20):
        unit = (wide(q) @ (wide(r)[:, j] / factors[j])).astype("c16")
        assert np.linalg.norm(unit - wide(a)[:, j] / factors[j]) < 200 * info.eps
    assert error(adjoint(wide(q)) @ wide(q), np.eye(20), np.eye(20, dtype=dtype)) < 20


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_at_the_ends_of_the_range(dtype):
    info = np.finfo(dtype)
    a = random(np.random.default_rng(2), dtype, 20, 20)
    b = random(np.random.default_rng(3), dtype, 20, 2)
    want = np.asarray(xp.linalg.solve(xp.asarray(a), xp.asarray(b)))
    for factor in (2.0 ** (info.maxexp - 6), 2.0 ** (info.minexp + 6)):
        x = xp.linalg.solve(*(xp.asarray((y * factor).astype(dtype)) for y in (a, b)))
        assert np.allclose(np.asarray(x), want, rtol=1e-3 if info.bits == 32 else 1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 5, 8, 9, 40])
def test_det_whose_factors_leave_the_range_together(dtype, n):
    """Powers of two, permuted, so that every step is exact."""
    rows = np.random.default_rng(n).permutation(n)
    unit = 1j if "complex" in dtype else 1
    phase = complex(unit**n * np.round(np.linalg.det(np.eye(n)[rows])))
    most = np.finfo(dtype).maxexp - 8
    balanced = np.repeat([most, -most, 3], [n // 2, n // 2, n % 2])
    for exponents, size in (
        (balanced, 8.0 ** (n % 2)),
        (balanced[::-1], 8.0 ** (n % 2)),
        (np.full(n, most), np.inf),
        (np.full(n, -most), 0.0),
    ):
        a = (np.eye(n)[rows] * 2.0**exponents * unit).astype(dtype)
        found = complex(xp.linalg.det(xp.asarray(a)))
        want = [part * size if part else 0.0 for part in (phase.real, phase.imag)]
        assert [found.real, found.imag] == want


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 3, 40, 200])
class TestErrors:
    def test_singular(self, dtype, n):
        a = random(np.random.default_rng(n), dtype, n, n)
        a[:, n // 2] = 0
        for f in (xp.linalg.inv, lambda x: xp.linalg.solve(x, x)):
            with pytest.raises(ValueError, match="singular"):
                f(xp.asarray(a))
        assert complex(xp.linalg.det(xp.asarray(a))) == 0

    def test_not_positive_definite(self, dtype, n):
        a = np.eye(n, dtype=dtype)
        for bad in (0.0, -1.0, np.nan):
            a[n // 2, n // 2] = bad
            with pytest.raises(ValueError, match="positive definite"):
                xp.linalg.cholesky(xp.asarray(a))

    def test_nan_spreads(self, dtype, n):
        a = random(np.random.default_rng(n), dtype, n, n)
        a[n // 2, n // 2] = np.nan
        assert np.isnan(np.asarray(xp.linalg.inv(xp.asarray(a)))).any()
        assert np.isnan(np.asarray(xp.linalg.qr(xp.asarray(a))[1])).any()
        assert np.isnan(complex(xp.linalg.det(xp.asarray(a))))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_batch_gives_the_bits_of_its_matrices_on_any_number_of_threads(dtype):
    rng = np.random.default_rng(4)
    before = xp.runtime.get_num_threads()
    try:
        for n in (5, 90, 144, 300, 577):  # 577: a single column behind whole blocks
            a, b = random(rng, dtype, 3, n, n), random(rng, dtype, 3, n, 10)
            s = (a @ adjoint(a) + n * np.eye(n)).astype(dtype)
            works = {
                "inv": lambda i, a=a: xp.linalg.inv(xp.asarray(a[i])),
                "solve": lambda i, a=a, b=b: xp.linalg.solve(xp.asarray(a[i]), xp.asarray(b[i])),
                "cholesky": lambda i, s=s: xp.linalg.cholesky(xp.asarray(s[i])),
                "q": lambda i, a=a: xp.linalg.qr(xp.asarray(a[i]))[0],
                "r": lambda i, a=a: xp.linalg.qr(xp.asarray(a[i]))[1],
            }
            for name, work in works.items():
                found = set()
                for threads in (1, 2, 3, 8):
                    xp.runtime.set_num_threads(threads)
                    whole = np.asarray(work(slice(None)))
                    found.add(whole.tobytes())
                    found.add(np.stack([np.asarray(work(i)) for i in range(3)]).tobytes())
                assert len(found) == 1, f"{name}, {n}"
    finally:
        xp.runtime.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("rows", [1000, 300_000])
def test_qr_of_tall_matrices_adds_up_pairwise(dtype, rows):
    rng = np.random.default_rng(rows)
    a = rng.random((rows, 3)).astype(dtype)
    q, r = (np.asarray(part).astype("complex128") for part in xp.linalg.qr(xp.asarray(a)))
    eps = np.finfo("float32").eps
    assert np.abs(q.conj().T @ q - np.eye(3)).max() < 10 * eps
    columns = np.linalg.norm(a.astype("complex128"), axis=0)
    assert (np.linalg.norm(q @ r - a, axis=0) / columns).max() < 10 * eps
    assert np.abs(np.abs(r[0, 0]) / columns[0] - 1) < 10 * eps


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [
        ("float32", (1e14, 1e25)),
        ("float32", (1e-10, 1e-32)),
        ("float32", (1e-37, 1e37)),
        ("float64", (1e135, 1e200)),
        ("float64", (1e-115, 1e-200)),
        ("float64", (1e-300, 1e300)),
        ("complex64", (1e14, 1e25)),
        ("complex64", (1e37, 1e-37)),
        ("complex128", (1e-300, 1e300)),
    ],
)
def test_qr_of_columns_of_any_size(dtype, sizes):
    """Each column is as good as alone: scaling it by powers of two changes no digit."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal((5, 4)) + (1j * rng.standard_normal((5, 4)) if "c" in dtype else 0)
    a = (a * np.asarray([*sizes, 1.0, sizes[0]])).astype(dtype)
    q, r = (np.asarray(part) for part in xp.linalg.qr(xp.asarray(a)))
    # The product in steps that stay within the range of float64, column by column.
    largest = np.abs(a).max(axis=0).astype("float64")
    product = q.astype("complex128") @ (r.astype("complex128") / largest)
    eps = np.finfo(dtype).eps
    assert np.abs(product - a / largest).max() < 20 * eps
    assert np.abs(q.conj().T @ q - np.eye(4)).max() < 20 * eps


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_an_infinite_pivot_leaves_finite_numbers(dtype):
    a = xp.asarray([[np.inf, 1.0], [1.0, 1.0]], dtype=getattr(xp, dtype))
    assert np.abs(np.asarray(xp.linalg.inv(a))).tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", range(1, 10))
class TestManySmall:
    """Batches of small matrices: each has its own pivots, errors and special values."""

    def test_each_matrix(self, dtype, n):
        rng = np.random.default_rng(n)
        count = 37
        a = random(rng, dtype, count, n, n)
        spd = (a @ adjoint(a) + np.eye(n)).astype(dtype)
        spd = ((spd + adjoint(spd)) / 2).astype(dtype)
        eps, limit = np.finfo(dtype).eps, 2 * max(n, 4) ** 0.5

        def norm(x):
            return np.linalg.norm(x.astype("f8"), axis=(-2, -1))

        inverse = np.asarray(xp.linalg.inv(xp.asarray(a)))
        residual = norm(wide(a) @ wide(inverse) - np.eye(n))
        assert np.all(residual <= limit * eps * (norm(a) * norm(inverse) + 1))
        for columns in (1, 3, 8, 9):
            b = random(rng, dtype, count, n, columns)
            x = np.asarray(xp.linalg.solve(xp.asarray(a), xp.asarray(b)))
            residual = norm(wide(a) @ wide(x) - b)
            assert np.all(residual <= limit * eps * (norm(a) * norm(x) + norm(b)))
        for upper in (False, True):
            half = np.triu(spd) if upper else np.tril(spd)
            c = np.asarray(xp.linalg.cholesky(xp.asarray(half), upper=upper))
            assert np.array_equal(c, np.triu(c) if upper else np.tril(c))
            product = adjoint(wide(c)) @ wide(c) if upper else wide(c) @ adjoint(wide(c))
            assert np.all(norm(product - spd) <= limit * eps * norm(spd))
        want = np.linalg.det(a.astype("f8"))
        det = np.asarray(xp.linalg.det(xp.asarray(a)))
        condition = np.linalg.cond(a.astype("f8"))
        assert np.all(abs(det - want) <= 20 * n * eps * condition * abs(want))

    def test_alone_and_in_a_batch(self, dtype, n):
        rng = np.random.default_rng(n)
        a, b = random(rng, dtype, 21, n, n), random(rng, dtype, 21, n, 2)
        spd = (a @ adjoint(a) + np.eye(n)).astype(dtype)
        for f, *args in (
            (xp.linalg.inv, a),
            (xp.linalg.det, a),
            (xp.linalg.cholesky, spd),
            (xp.linalg.solve, a, b),
        ):
            together = np.asarray(f(*map(xp.asarray, args)))
            for i in (0, 7, 8, 16, 20):
                alone = np.asarray(f(*(xp.asarray(x[i]) for x in args)))
                np.testing.assert_array_equal(alone, together[i])

    def test_exchanges(self, dtype, n):
        """Every permutation of rows is found, the sign of each determinant too."""
        rng = np.random.default_rng(n)
        a = np.stack([np.eye(n)[rng.permutation(n)] for _ in range(50)]).astype(dtype)
        np.testing.assert_array_equal(np.asarray(xp.linalg.inv(xp.asarray(a))), a.mT)
        det = np.asarray(xp.linalg.det(xp.asarray(a)))
        np.testing.assert_array_equal(det, np.round(np.linalg.det(a)))

    def test_neighbours(self, dtype, n):
        """What is wrong with one matrix stays with it."""
        a = random(np.random.default_rng(n), dtype, 20, n, n)
        spd = (a @ adjoint(a) + np.eye(n)).astype(dtype)
        clean = np.asarray(xp.linalg.inv(xp.asarray(a)))
        a[3], a[9] = np.nan, np.inf
        with np.errstate(all="ignore"):
            got = np.asarray(xp.linalg.inv(xp.asarray(a)))
        others = [i for i in range(20) if i not in (3, 9)]
        np.testing.assert_array_equal(got[others], clean[others])
        assert np.all(np.isnan(got[3]))
        a[5] = 0
        assert float(xp.linalg.det(xp.asarray(a))[5]) == 0
        a[17] = 0
        for call in (xp.linalg.inv, lambda x: xp.linalg.solve(x, x)):
            with pytest.raises(np.linalg.LinAlgError, match=r"index \(5,\)"):
                call(xp.asarray(a))
        spd[6, 0, 0] = spd[13, 0, 0] = -1
        with pytest.raises(np.linalg.LinAlgError, match=r"index \(6,\)"):
            xp.linalg.cholesky(xp.asarray(spd))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize(
    "shape",
    [(1, 1), (2, 2), (4, 4), (3, 7), (7, 3), (1, 40), (40, 1), (12, 12), (16, 16), (17, 17)],
)
class TestManySmallQr:
    """Batches of QR around the size up to which each matrix has a lane of its own."""

    def test_each_matrix(self, dtype, mode, shape):
        """The signs are LAPACK's, the errors those of one matrix."""
        a = random(np.random.default_rng(5), dtype, 37, *shape)
        q, r = map(np.asarray, xp.linalg.qr(xp.asarray(a), mode=mode))
        eye, eps = np.eye(q.shape[-1], dtype=dtype), np.finfo(dtype).eps
        limit = 2 * max(*shape, 4) ** 0.5
        assert np.array_equal(r, np.triu(r))
        for i in range(37):
            assert error(wide(q[i]) @ wide(r[i]), a[i], a[i]) < limit
            assert error(adjoint(wide(q[i])) @ wide(q[i]), eye, eye) < limit
        want = np.linalg.qr(a.astype("c16" if "complex" in dtype else "f8"), mode=mode)
        condition = np.linalg.cond(a[..., : shape[0]]).max(initial=1)
        assert np.abs(q - want[0]).max() < 100 * eps * condition

    def test_alone_in_a_batch_and_beside_anything(self, dtype, mode, shape):
        """What is wrong with one matrix stays with it, and what is right does as well."""
        rng, info = np.random.default_rng(6), np.finfo(dtype)
        a = random(rng, dtype, 37, *shape)
        a[3], a[5, :, 0], a[7, :, -1] = 0, 0, a[7, :, 0]
        a[9] = wide(a[9]) / np.linalg.norm(a[9], axis=0) * (0.9 * wide(info.max))
        a[11, :, 0] *= info.tiny
        a[13, 0, 0], a[15, -1, -1] = np.nan, np.inf
        q, r = map(np.asarray, xp.linalg.qr(xp.asarray(a), mode=mode))
        for i in range(37):
            alone = xp.linalg.qr(xp.asarray(a[i]), mode=mode)
            np.testing.assert_array_equal(np.asarray(alone[0]), q[i])
            np.testing.assert_array_equal(np.asarray(alone[1]), r[i])
            if i in (13, 15):
                assert not np.all(np.isfinite(r[i]))
                continue
            eye = np.eye(q.shape[-1], dtype=dtype)
            assert error(adjoint(wide(q[i])) @ wide(q[i]), eye, eye) < 60
            for j in range(shape[1]):
                size = max(np.abs(a[i, :, j]).max(), info.tiny)
                column = a[i, :, j] / size
                got = wide(q[i]) @ (wide(r[i, :, j]) / wide(size))
                assert np.abs(got - column).max() < 60 * info.eps
        assert not np.any(r[3])
        np.testing.assert_array_equal(q[3], np.eye(*q.shape[1:]))
        assert not np.any(r[5, :, 0])
        if min(shape) > 1:
            assert abs(r[7, -1, -1]) < 60 * info.eps * abs(r[7, 0, 0])
