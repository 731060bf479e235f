"""Known answers, distributions, and what a generator's state means."""

import copy
import math
import pickle
import threading

import numpy as np
import pytest
from scipy import stats

import ascend_array_api as xp
from ascend_array_api import _core, random, runtime

# A right generator fails a test at this level once in ten thousand; the seeds here do not.
LEVEL = 1e-4
DRAWS = 50_000


def values(x):
    return np.asarray(x)


# Test vectors that the authors of Philox publish with their library Random123.
@pytest.mark.parametrize(
    ("key", "low", "high", "words"),
    [
        (0, 0, 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (2**64 - 1, 2**64 - 1, 2**64 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            0x299F31D0A4093822,
            0x85A308D3243F6A88,
            0x0370734413198A2E,
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers(key, low, high, words):
    assert _core.philox_block(key, low, high) == words


def test_uniform_numbers_are_the_words_of_the_generator():
    rng = random.Generator(3)
    key = rng.state["key"]
    tile = np.array([_core.philox_block(key, block, 0) for block in range(16)], dtype=np.uint64)
    narrow = values(rng.random(64, xp.float32))
    np.testing.assert_array_equal(narrow, (tile.T.ravel() >> 8).astype(np.float32) * 2.0**-24)
    rng = random.Generator(3)
    wide = (tile[:, 0] << np.uint64(32) | tile[:, 1]) >> np.uint64(11)
    np.testing.assert_array_equal(values(rng.random(16)), wide.astype(float) * 2.0**-53)


CONTINUOUS = {
    "random": (lambda r, n: r.random(n), stats.uniform()),
    "random float32": (lambda r, n: r.random(n, xp.float32), stats.uniform()),
    "uniform": (lambda r, n: r.uniform(-2.0, 5.0, n), stats.uniform(-2, 7)),
    "standard_normal": (lambda r, n: r.standard_normal(n), stats.norm()),
    "standard_normal float32": (lambda r, n: r.standard_normal(n, xp.float32), stats.norm()),
    "normal": (lambda r, n: r.normal(3.0, 0.5, n), stats.norm(3, 0.5)),
    "exponential": (lambda r, n: r.exponential(2.0, n), stats.expon(0, 2)),
    "gamma 0.05": (lambda r, n: r.gamma(0.05, size=n), stats.gamma(0.05)),
    "gamma 1": (lambda r, n: r.gamma(1.0, 3.0, n), stats.gamma(1, scale=3)),
    "gamma 7.5": (lambda r, n: r.gamma(7.5, size=n), stats.gamma(7.5)),
    "gamma 1e5": (lambda r, n: r.gamma(1e5, size=n), stats.gamma(1e5)),
    "beta 0.1 0.2": (lambda r, n: r.beta(0.1, 0.2, n), stats.beta(0.1, 0.2)),
    "beta 2 5": (lambda r, n: r.beta(2.0, 5.0, n), stats.beta(2, 5)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    draw, expected = CONTINUOUS[name]
    sample = values(draw(random.Generator(11), DRAWS)).astype(float)
    assert stats.kstest(sample, expected.cdf).pvalue > LEVEL


DISCRETE = {
    "integers": (lambda r, n: r.integers(-3, 4, n, xp.int8), stats.randint(-3, 4)),
    "integers endpoint": (lambda r, n: r.integers(0, 9, n, endpoint=True), stats.randint(0, 10)),
    "binomial few": (lambda r, n: r.binomial(12, 0.3, n), stats.binom(12, 0.3)),
    "binomial likely": (lambda r, n: r.binomial(12, 0.95, n), stats.binom(12, 0.95)),
    "binomial many": (lambda r, n: r.binomial(400, 0.4, n), stats.binom(400, 0.4)),
    "poisson 0.3": (lambda r, n: r.poisson(0.3, n), stats.poisson(0.3)),
    "poisson 9": (lambda r, n: r.poisson(9.0, n), stats.poisson(9)),
    "poisson 80": (lambda r, n: r.poisson(80.0, n), stats.poisson(80)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    draw, expected = DISCRETE[name]
    sample = values(draw(random.Generator(12), DRAWS))
    # Values of less than 10 expected draws are counted together.
    support = np.arange(expected.ppf(1e-9) - 1, expected.ppf(1 - 1e-9) + 2)
    mass = expected.pmf(support) * DRAWS
    common = mass >= 10
    seen = np.array([np.count_nonzero(sample == value) for value in support[common]])
    rest = [DRAWS - seen.sum(), DRAWS - mass[common].sum()]
    counts = np.append(seen, rest[0]) if rest[1] >= 1 else seen
    masses = np.append(mass[common], rest[1]) if rest[1] >= 1 else mass[common]
    assert stats.chisquare(counts, masses * (counts.sum() / masses.sum())).pvalue > LEVEL


@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (lambda r, n: r.poisson(1e12, n), 1e12, 1e12),
        (lambda r, n: r.binomial(10**15, 0.25, n), 2.5e14, 1.875e14),
    ],
)
def test_large_counts_have_their_moments(draw, mean, variance):
    sample = values(draw(random.Generator(5), DRAWS)).astype(float) - mean
    assert abs(sample.mean()) < 4 * np.sqrt(variance / DRAWS)
    assert abs(sample.var() / variance - 1) < 4 * np.sqrt(2 / DRAWS)


@pytest.mark.parametrize("span", [2**63 + 2**62, 3 * 2**30, 2**32, 2**32 + 1])
def test_wide_integers_reject_what_would_be_unequal(span):
    # The product method without rejection gives some thirds of such ranges half as often again.
    sample = values(random.Generator(2).integers(0, span, DRAWS, xp.uint64)).astype(float) / span
    assert stats.kstest(sample, "uniform").pvalue > LEVEL
    thirds = np.bincount((np.floor(sample * span) % 3).astype(int), minlength=3)
    if span < 2**53:
        assert stats.chisquare(thirds).pvalue > LEVEL


def test_integers_reach_the_ends_of_every_dtype():
    for dtype in (xp.int8, xp.uint8, xp.int16, xp.uint16):
        info = xp.iinfo(dtype)
        sample = values(
            random.Generator(0).integers(info.min, info.max, 1 << 20, dtype, endpoint=True)
        )
        assert sample.dtype == dtype
        assert (sample.min(), sample.max()) == (info.min, info.max)
    for dtype in (xp.int64, xp.uint64):
        info = xp.iinfo(dtype)
        sample = values(random.Generator(0).integers(info.min, info.max, 99, dtype, endpoint=True))
        assert len(set(sample.tolist())) == 99


DRAW_ALL = [
    lambda r, n: r.random(n),
    lambda r, n: r.random(n, xp.float32),
    lambda r, n: r.standard_normal(n),
    lambda r, n: r.integers(0, 10**12, n),
    lambda r, n: r.integers(0, 3 * 2**30, n),
    lambda r, n: r.gamma(0.7, size=n),
    lambda r, n: r.beta(0.7, 2.0, n),
    lambda r, n: r.binomial(50, 0.4, n),
    lambda r, n: r.poisson(12.0, n),
]


@pytest.mark.parametrize("draw", DRAW_ALL)
def test_longer_draws_begin_with_shorter_ones(draw):
    longest = values(draw(random.Generator(1), 40_000))
    for n in (0, 1, 15, 16, 17, 255, 256, 257, 20_001):
        np.testing.assert_array_equal(values(draw(random.Generator(1), n)), longest[:n])


@pytest.mark.parametrize("draw", DRAW_ALL)
def test_threads_change_nothing(draw):
    threads = runtime.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3, 8):
            runtime.set_num_threads(count)
            found.append(values(draw(random.Generator(1), 100_001)))
    finally:
        runtime.set_num_threads(threads)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_successive_draws_share_no_numbers():
    rng = random.Generator(4)
    seen = np.concatenate([values(rng.random(n)) for n in (1, 3, 300, 256, 7)])
    assert len(set(seen.tolist())) == seen.size


def test_state_is_restored_by_set_pickle_and_copy():
    rng = random.Generator(9)
    rng.random(100)
    state = rng.state
    twins = [pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng)]
    expected = values(rng.random(10))
    rng.state = state
    for other in [rng, *twins]:
        np.testing.assert_array_equal(values(other.random(10)), expected)
    for bad in ({}, {**state, "key": -1}, {**state, "jump": 2**32}, {**state, "block": 2**64}):
        with pytest.raises((ValueError, TypeError), match="state"):
            rng.state = bad


def test_streams_are_independent():
    rng = random.Generator(8)
    children = [*rng.spawn(2), *rng.spawn(1), rng.jumped(), rng.jumped(2), rng]
    draws = [values(r.random(1000)) for r in children]
    assert len({d.tobytes() for d in draws}) == len(draws)
    correlation = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlation).max() < 0.15
    with pytest.raises(ValueError, match="jumped"):
        rng.jumped(2**32)


def test_seeds():
    assert random.default_rng(5).state == random.default_rng([5]).state
    assert random.default_rng().state != random.default_rng().state
    rng = random.default_rng(1)
    assert random.default_rng(rng) is rng
    with pytest.raises((TypeError, ValueError)):
        random.default_rng("seed")
    with pytest.raises(ValueError):
        random.default_rng(-1)


def test_draws_of_several_threads_are_all_different():
    rng = random.Generator(6)
    found = []

    def work():
        found.extend(values(rng.random(10)).tolist() for _ in range(100))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({x for draw in found for x in draw}) == 4 * 100 * 10


# ---- order and choice


def test_permutation_keeps_the_elements():
    rng = random.Generator(1)
    assert sorted(values(rng.permutation(100)).tolist()) == list(range(100))
    x = xp.reshape(xp.arange(12), (3, 4))
    columns = values(rng.permutation(x, axis=1))
    assert sorted(columns.T.tolist()) == sorted(values(x).T.tolist())
    y = xp.asarray(x, copy=True)
    rng.shuffle(y)
    assert sorted(values(y).tolist()) == values(x).tolist()


def test_every_order_is_equally_likely():
    rng = random.Generator(3)
    orders = [tuple(values(rng.permutation(3)).tolist()) for _ in range(6000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > LEVEL


def test_choice():
    rng = random.Generator(2)
    p = xp.asarray([0.1, 0.2, 0.3, 0.4, 0.0])
    drawn = np.bincount(values(rng.choice(5, DRAWS, p=p)), minlength=5)
    assert drawn[4] == 0
    assert stats.chisquare(drawn[:4], values(p)[:4] * DRAWS).pvalue > LEVEL
    assert sorted(values(rng.choice(5, 4, replace=False, p=p)).tolist()) == [0, 1, 2, 3]
    assert len(set(values(rng.choice(100, (4, 5), replace=False)).ravel().tolist())) == 20
    assert rng.choice(xp.zeros((3, 4, 5)), (2, 6), axis=1).shape == (3, 2, 6, 5)
    assert rng.choice(7).shape == ()
    # Without replacement the first element has exactly the given probabilities.
    first = [int(rng.choice(5, 2, replace=False, p=p)[0]) for _ in range(4000)]
    counts = np.bincount(first, minlength=5)
    assert stats.chisquare(counts[:4], values(p)[:4] * 4000).pvalue > LEVEL
    for bad in (
        lambda: rng.choice(3, 4, replace=False),
        lambda: rng.choice(0, 1),
        lambda: rng.choice(5, 5, replace=False, p=p),
        lambda: rng.choice(4, 1, p=p),
        lambda: rng.choice(5, 1, p=p * 2.0),
        lambda: rng.choice(5, 1, p=p - 0.1),
    ):
        with pytest.raises(ValueError, match="choice"):
            bad()
    assert rng.choice(0, 0).shape == (0,)


@pytest.mark.parametrize("dtype", [xp.dtypes.float16, xp.float32, xp.float64])
@pytest.mark.parametrize("replace", [True, False])
def test_probabilities_are_as_exact_as_their_dtype(dtype, replace):
    p = xp.astype(xp.asarray([0.1] * 10), dtype)
    assert random.Generator(2).choice(10, 3, replace, p).shape == (3,)
    off = 2 * math.sqrt(xp.finfo(dtype).eps)
    with pytest.raises(ValueError, match="choice: p sums to"):
        random.Generator(2).choice(
            10, 3, replace, xp.astype(xp.asarray([0.1] * 9 + [0.1 + off]), dtype)
        )


def test_beta_numbers_of_the_smallest_parameters_lie_at_the_ends():
    tiny = 5e-324
    drawn = values(random.Generator(3).beta(tiny, 3 * tiny, DRAWS))
    assert set(drawn.tolist()) == {0.0, 1.0}
    assert stats.binomtest(int(drawn.sum()), DRAWS, 0.25).pvalue > LEVEL


@pytest.mark.parametrize("method", ["cholesky", "eigh"])
def test_multivariate_normal(method):
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    sample = values(
        random.Generator(1).multivariate_normal(
            xp.asarray(mean), xp.asarray(cov), DRAWS, method=method
        )
    )
    np.testing.assert_allclose(sample.mean(axis=0), mean, atol=0.03)
    np.testing.assert_allclose(np.cov(sample.T), cov, atol=0.05)


def test_multivariate_normal_of_a_singular_covariance():
    ones = xp.ones((2, 2))
    sample = values(random.Generator(1).multivariate_normal(xp.zeros(2), ones, 10, method="eigh"))
    np.testing.assert_allclose(sample[:, 0], sample[:, 1], atol=1e-7)
    with pytest.raises(ValueError, match="eigenvalue"):
        random.Generator(1).multivariate_normal(xp.zeros(2), -ones, method="eigh")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["cholesky", "eigh"])
def test_multivariate_normal_of_a_covariance_that_is_symmetric_up_to_rounding(method, dtype):
    """Scaled row by row and then column by column, a product's triangles differ in last bits."""
    rng = np.random.default_rng(0)
    a, d = rng.standard_normal((24, 12)).astype(dtype), rng.uniform(0.05, 0.2, 12).astype(dtype)
    cov = d[:, None] * (a.T @ a) * d
    assert np.any(cov != cov.T)
    sample = random.Generator(1).multivariate_normal(
        xp.asarray(np.zeros_like(d)), xp.asarray(cov), DRAWS, method=method
    )
    np.testing.assert_allclose(np.cov(values(sample).T), cov, atol=0.05)


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("variance", [1.0, 1e6])
@pytest.mark.parametrize("part", [-0.9, 0.9, -1.1, 1.1, np.nan])
def test_multivariate_normal_says_how_symmetric_a_covariance_is(dtype, variance, part):
    """Beside each pair's own deviations, whatever the variance of a third."""
    cov = xp.asarray([[variance, 0, 0], [0, 1.0, 0], [0, 4e-3 * part, 16]], dtype=dtype)
    mean = xp.zeros(3, dtype=dtype)
    if abs(part) < 1:
        random.Generator(1).multivariate_normal(mean, cov)
        return
    with pytest.raises(ValueError, match="cov is not symmetric"):
        random.Generator(1).multivariate_normal(mean, cov)


# ---- arguments


def test_parameters_broadcast():
    rng = random.Generator(1)
    scale = xp.asarray([[1.0], [100.0]])
    x = values(rng.gamma(xp.asarray([2.0, 5.0]), scale))
    assert x.shape == (2, 2)
    assert rng.normal(xp.zeros(3), 2.0, (4, 3)).shape == (4, 3)
    mean = values(rng.poisson(xp.asarray([1.0, 1000.0]), (2000, 2))).mean(axis=0)
    np.testing.assert_allclose(mean, [1, 1000], rtol=0.1)
    assert rng.gamma(xp.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match="gamma"):
        rng.gamma(xp.ones(3), size=(3, 1))


@pytest.mark.parametrize(
    "bad",
    [
        lambda r: r.uniform(-1.7e308, 1.7e308),
        lambda r: r.uniform(0.0, float("inf")),
        lambda r: r.uniform(0.0, 1e39, 2, xp.float32),
        lambda r: r.uniform(-1e39, -1e39, 2, xp.float32),
        lambda r: r.normal(0.0, -1.0),
        lambda r: r.normal(0.0, float("nan")),
        lambda r: r.exponential(-1.0),
        lambda r: r.gamma(-1.0),
        lambda r: r.gamma(float("inf")),
        lambda r: r.beta(0.0, 1.0),
        lambda r: r.binomial(-1, 0.5),
        lambda r: r.binomial(10, 1.5),
        lambda r: r.binomial(10, xp.asarray([0.5, float("nan")])),
        lambda r: r.poisson(-1.0),
        lambda r: r.poisson(1e300),
        lambda r: r.integers(5, 5),
        lambda r: r.integers(0, 300, dtype=xp.uint8),
        lambda r: r.integers(-1, 5, dtype=xp.uint8),
        lambda r: r.random(-1),
    ],
)
def test_parameters_out_of_range_are_value_errors(bad):
    with pytest.raises(ValueError):
        bad(random.Generator(0))


@pytest.mark.parametrize(
    "bad",
    [
        lambda r: r.random(2.5),
        lambda r: r.random(3, xp.int64),
        lambda r: r.integers(0.5, 3),
        lambda r: r.integers(3, dtype="int32"),
        lambda r: r.random(3, "float32"),
        lambda r: r.integers(0, 3, dtype=xp.float64),
        lambda r: r.permutation("abc"),
        lambda r: r.shuffle(np.arange(3)),
    ],
)
def test_wrong_types_are_type_errors(bad):
    with pytest.raises(TypeError):
        bad(random.Generator(0))


def test_too_many_numbers_are_a_memory_error():
    rng = random.Generator(0)
    before = rng.state
    with pytest.raises(MemoryError):
        rng.random(2**60)
    assert rng.state["key"] == before["key"]


def test_choice_among_many_does_not_make_them_all():
    rng = random.default_rng(5)
    n = 2**62
    drawn = [int(i) for i in rng.choice(n, 1000, replace=False)]
    assert len(set(drawn)) == 1000
    assert min(drawn) >= 0
    assert max(drawn) < n
    assert stats.kstest(np.asarray(drawn) / n, "uniform").pvalue > LEVEL
    assert rng.choice(n, (2, 3)).shape == (2, 3)
    assert rng.choice(n).shape == ()


def test_choice_of_nothing():
    rng = random.default_rng(5)
    assert rng.choice(0, 0, replace=False).shape == (0,)
    assert rng.choice(xp.zeros((0, 3)), 0, replace=False).shape == (0, 3)
    assert rng.choice(5, 0, replace=False).shape == (0,)


def test_samples_of_few_among_many_are_different_and_in_every_order():
    rng = random.default_rng(6)
    pairs = [tuple(values(rng.choice(40, 2, replace=False)).tolist()) for _ in range(4000)]
    assert all(a != b for a, b in pairs)
    low = sum(a < b for a, b in pairs)
    assert stats.binomtest(low, len(pairs), 0.5).pvalue > LEVEL
    counts = np.bincount(np.ravel(pairs), minlength=40)
    assert stats.chisquare(counts).pvalue > LEVEL


def test_exponential_numbers_of_scale_zero_are_zeros():
    drawn = values(random.default_rng(1).exponential(0, 4))
    assert drawn.tolist() == [0.0] * 4
    assert not np.signbit(drawn).any()


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("of_parameters", [xp.float32, xp.float64, xp.int64])
def test_the_dtype_asked_for_is_that_of_the_result(dtype, of_parameters):
    ends = xp.asarray([1, 2], dtype=of_parameters)
    rng = random.Generator(5)
    for drawn in (
        rng.uniform(ends, 3.0, dtype=dtype),
        rng.uniform(0.0, ends, dtype=dtype),
        rng.normal(ends, 1.0, dtype=dtype),
        rng.normal(0.0, ends, dtype=dtype),
        rng.exponential(ends, dtype=dtype),
    ):
        assert drawn.dtype == dtype


@pytest.mark.parametrize(
    "draw",
    [
        lambda r, x: r.gamma(x),
        lambda r, x: r.beta(x, 2.0),
        lambda r, x: r.binomial(20, x / 10.0),
        lambda r, x: r.poisson(x),
    ],
)
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::-1, ::2],
        lambda x: xp.permute_dims(x, (1, 0)),
        lambda x: xp.broadcast_to(x[:, :1], x.shape),
        lambda x: x[:0, ::2],
    ],
)
def test_parameters_may_lie_in_any_way(draw, view):
    x = view(xp.reshape(xp.linspace(1.0, 9.0, 48), (6, 8)))
    wanted = draw(random.Generator(4), xp.asarray(np.ascontiguousarray(np.asarray(x))))
    drawn = draw(random.Generator(4), x)
    x_after = draw(random.Generator(4), x + 0.0)
    np.testing.assert_array_equal(values(drawn), values(wanted))
    np.testing.assert_array_equal(values(x_after), values(wanted))


def test_parameters_may_change_after_the_draw():
    x = xp.reshape(xp.linspace(1.0, 9.0, 40_000), (200, 200))
    wanted = values(random.Generator(4).poisson(xp.asarray(x.T, copy=True)))
    drawn = random.Generator(4).poisson(x.T)
    x *= 0.0
    np.testing.assert_array_equal(values(drawn), wanted)


def test_the_smallest_probabilities_come_before_none():
    p = xp.asarray([0.0, 1.0, 0.0, 1e-320])
    drawn = random.Generator(6).choice(4, 2, replace=False, p=p)
    assert values(drawn).tolist() == [1, 3]


def test_integer_arrays_are_parameters_as_their_values():
    mean = xp.asarray([1000, -1000])
    drawn = values(random.default_rng(1).normal(mean, 1.0))
    assert np.abs(drawn - values(mean)).max() < 10


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: g.random(-1), ValueError, "random: size must not be negative, got -1"),
        (lambda g: g.random((2, "a")), TypeError, "random: size must be an int, got str"),
        (lambda g: g.uniform("a", 2), TypeError, "uniform: low must be an int, a float"),
        (lambda g: g.uniform(1j, 2), TypeError, "uniform: low must be an int, a float"),
        (lambda g: g.uniform(True, 2), TypeError, "uniform: low must be an int, a float"),
        (lambda g: g.normal(xp.asarray([True]), 2), TypeError, "normal: loc must be"),
        (lambda g: g.uniform(xp.asarray([0.0, 1]), 1, size=(3,)), ValueError, "uniform: param"),
        (lambda g: g.shuffle(xp.asarray(3)), IndexError, "shuffle: "),
        (lambda g: g.spawn(-1), ValueError, "spawn: n_children must lie between 0 and"),
        (lambda g: g.spawn(10**30), ValueError, "spawn: n_children must lie between 0 and"),
        (lambda g: g.random((1,) * 70), ValueError, "random: "),
        (lambda g: g.random((2**40, 2**40)), MemoryError, "random: "),
        (lambda g: g.integers(3, size=2**62), MemoryError, "integers: "),
        (lambda g: g.integers(3, size=2**63), OverflowError, "integers: size"),
        (lambda g: g.integers(3, endpoint=2), TypeError, "integers: endpoint must be True or"),
        (lambda g: random.default_rng("a"), TypeError, "default_rng: seed must be None, a non-"),
        (lambda g: random.default_rng(-1), ValueError, "default_rng: seed must be None, a non-"),
        (lambda g: g.choice(3, 2, "no"), TypeError, "choice: replace must be True or False, got s"),
        (lambda g: g.choice(-1), ValueError, "choice: a is from 0 to"),
        (lambda g: g.integers(5, 5), ValueError, r"integers: the range \[5, 5\) is empty"),
        (lambda g: g.binomial(1.5, 0.5), TypeError, "binomial: n must be an int, got float"),
        (
            lambda g: g.multivariate_normal(xp.zeros(2), xp.asarray([[1.0, 2], [2, 1]])),
            ValueError,
            "multivariate_normal: cov is not positive definite",
        ),
        (
            lambda g: g.multivariate_normal(xp.zeros(2), xp.asarray([[2.0, 1], [0, 2]])),
            ValueError,
            "multivariate_normal: cov is not symmetric: its triangles differ by up to 1.0",
        ),
        (
            lambda g: g.multivariate_normal(
                xp.zeros(2), xp.asarray([[2.0, 1], [0, 2]]), method="eigh"
            ),
            ValueError,
            "multivariate_normal: cov is not symmetric",
        ),
        (
            lambda g: g.multivariate_normal(
                xp.zeros(2), xp.asarray([[2.0, 1], [0, 2]]), method="svd"
            ),
            ValueError,
            "multivariate_normal: method is 'cholesky' or 'eigh', got 'svd'",
        ),
    ],
)
def test_errors_name_the_method_and_what_came(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call(random.default_rng(1))
