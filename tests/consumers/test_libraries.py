"""Libraries that accept any namespace keep our arrays and compute what they do with NumPy's."""

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp


class TestCompat:
    @pytest.fixture
    def compat(self):
        return pytest.importorskip("array_api_compat")

    def test_namespace(self, compat):
        x = xp.zeros(3)
        assert compat.array_namespace(x, 1.5, None) is xp
        assert compat.is_array_api_obj(x)

    def test_neither_lazy_nor_unwritable(self, compat):
        x = xp.asarray([math.nan, 1.0])
        assert compat.is_lazy_array(x) is False
        assert compat.is_writeable_array(x) is True
        assert compat.size(x) == 2

    def test_device(self, compat):
        x = xp.zeros(3)
        assert compat.device(x) == x.device
        assert compat.to_device(x, compat.device(x)) is not None


class TestExtra:
    @pytest.fixture
    def xpx(self):
        return pytest.importorskip("array_api_extra")

    def test_at(self, xpx, same):
        x = xp.asarray([3, 1, 2])
        same(xpx.at(x, x > 1).add(10, copy=True), np.asarray([13, 1, 12]))
        same(x, np.asarray([3, 1, 2]))

    def test_cov(self, xpx, table, same):
        values, x = table
        same(xpx.cov(x.T), np.cov(values.T))

    def test_lazy_apply_as_numpy(self, xpx, same):
        x = xp.asarray([1.0, 4.0])
        same(xpx.lazy_apply(np.sqrt, x, as_numpy=True), np.asarray([1.0, 2.0]))


class TestSciPy:
    @pytest.fixture(autouse=True)
    def scipy(self):
        return pytest.importorskip("scipy")

    @pytest.mark.parametrize("name", ["gammaln", "erf", "expit", "logit", "ndtr"])
    def test_special(self, name, same):
        from scipy import special

        values = np.linspace(0.05, 0.95, 7)
        same(getattr(special, name)(xp.asarray(values)), getattr(special, name)(values))

    def test_logsumexp(self, table, same):
        from scipy import special

        values, x = table
        same(special.logsumexp(x, axis=1), special.logsumexp(values, axis=1))

    @pytest.mark.parametrize("name", ["zscore", "skew", "kurtosis", "sem", "variation"])
    def test_stats(self, name, table, same):
        from scipy import stats

        values, x = table
        same(getattr(stats, name)(x), getattr(stats, name)(values))

    def test_test_statistic(self, table, same):
        from scipy import stats

        values, x = table
        got, wanted = stats.ttest_1samp(x, 0.1), stats.ttest_1samp(values, 0.1)
        same(got.statistic, wanted.statistic)
        same(got.pvalue, wanted.pvalue)

    def test_ranks_with_ties(self, same):
        from scipy import stats

        values = np.asarray([3, 1, 3, 2, 3, 1])
        same(stats.rankdata(xp.asarray(values)), np.asarray([5.0, 1.5, 5.0, 3.0, 5.0, 1.5]))

    def test_integer_ramp_as_signal(self, same):
        from scipy import signal

        a = xp.linspace(0, 3, 4, dtype=xp.int32)
        same(signal.correlate(a, a), np.asarray([0, 3, 8, 14, 8, 3, 0], np.int32))

    def test_filter_design(self, same):
        from scipy import signal

        b, a = signal.butter(3, xp.asarray(0.2))
        wanted_b, wanted_a = signal.butter(3, 0.2)
        same(b, wanted_b, rtol=1e-12)
        same(a, wanted_a, rtol=1e-12)

    def test_fft_and_ndimage(self, table, same):
        from scipy import fft, ndimage

        values, x = table
        same(fft.rfft(x, axis=0), fft.rfft(values, axis=0), rtol=1e-12)
        same(ndimage.gaussian_filter(x, 1.0), ndimage.gaussian_filter(values, 1.0))

    def test_root_finding_with_one_element(self, same):
        from scipy.optimize import elementwise

        found = elementwise.find_root(lambda t: t * t - 2, (xp.asarray([1.0]), xp.asarray([2.0])))
        assert bool(found.success)
        same(found.x, np.asarray([math.sqrt(2)]), rtol=1e-12)


class TestScikitLearn:
    @pytest.fixture(autouse=True)
    def dispatch(self):
        sklearn = pytest.importorskip("sklearn")
        with sklearn.config_context(array_api_dispatch=True):
            yield

    def test_pca(self, table, same):
        from sklearn.decomposition import PCA

        values, x = table
        model, reference = (PCA(n_components=2, svd_solver="full").fit(v) for v in (x, values))
        same(model.explained_variance_, reference.explained_variance_)
        same(model.transform(x), reference.transform(values), rtol=1e-10)
        same(pickle.loads(pickle.dumps(model)).mean_, reference.mean_)
        same(copy.deepcopy(model).mean_, reference.mean_)

    def test_scaler_and_ridge(self, table, same):
        from sklearn.linear_model import Ridge
        from sklearn.preprocessing import StandardScaler

        values, x = table
        target = values @ [1.0, -2.0, 0.5] + 3.0
        same(StandardScaler().fit_transform(x), StandardScaler().fit_transform(values))
        model = Ridge(solver="svd").fit(x, xp.asarray(target))
        same(model.coef_, Ridge(solver="svd").fit(values, target).coef_, rtol=1e-10)

    def test_metrics_mix_kinds(self):
        from sklearn import metrics

        truth, guess = [0, 1, 1, 0, 1, 2], [0, 1, 0, 0, 1, 1]
        a, b = xp.asarray(truth), xp.asarray(guess)
        for score in (metrics.accuracy_score, metrics.balanced_accuracy_score):
            assert float(score(a, b)) == pytest.approx(score(truth, guess), rel=1e-14)
        assert np.asarray(metrics.confusion_matrix(a, b)).tolist() == [
            [2, 0, 0],
            [1, 2, 0],
            [0, 1, 0],
        ]

    def test_selection_indexes_with_numpy(self, table):
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import cross_val_score

        values, x = table
        target = values @ [1.0, -2.0, 0.5]
        scores = cross_val_score(Ridge(solver="svd"), x, xp.asarray(target), cv=4)
        wanted = cross_val_score(Ridge(solver="svd"), values, target, cv=4)
        np.testing.assert_allclose(scores, wanted, rtol=1e-10)


class TestXarray:
    @pytest.fixture
    def pair(self, table):
        xarray = pytest.importorskip("xarray")
        values, x = table
        return tuple(xarray.DataArray(v, dims=("row", "column")) for v in (values, x))

    @pytest.mark.parametrize(
        "compute",
        [
            lambda d: d * 2 + d.isel(row=0, drop=True),
            lambda d: d.sum("row"),
            lambda d: d.mean("row", skipna=False),
            lambda d: d.where(d > 0),
            lambda d: d.where(d > 0).fillna(1),
            lambda d: d.isel(row=[4, 0, 7], column=[2, 1]),
            lambda d: d.transpose("column", "row").astype(np.float32),
            lambda d: d.stack(cell=("row", "column")).reset_index("cell"),
        ],
    )
    def test_keeps_our_arrays(self, pair, compute, same):
        wanted, got = map(compute, pair)
        same(got.data, wanted.data)


def test_einops(table, same):
    einops = pytest.importorskip("einops.array_api")
    values, x = table
    same(einops.rearrange(x, "(a b) c -> b c a", a=4), values.reshape(4, 5, 3).transpose(1, 2, 0))
    same(einops.reduce(x, "(a b) c -> a c", "max", a=4), values.reshape(4, 5, 3).max(1))


def test_dask_blocks(table, same):
    array = pytest.importorskip("dask.array")
    values, _ = table
    blocks = array.from_array(values, chunks=(7, 3)).map_blocks(
        xp.asarray, meta=xp.asarray([[0.0]])
    )
    result = blocks.map_blocks(xp.exp, dtype=values.dtype).compute(scheduler="sync")
    np.testing.assert_allclose(np.asarray(result), np.exp(values), rtol=1e-14)


def test_joblib(tmp_path, same):
    joblib = pytest.importorskip("joblib")
    x = xp.asarray([True, False, True])
    assert joblib.hash(x) == joblib.hash(xp.asarray([True, False, True]))
    joblib.dump(x, tmp_path / "array")
    same(joblib.load(tmp_path / "array"), np.asarray([True, False, True]))


CUBED = """
import numpy as np
import cubed, cubed.array_api as cxp
import ascend_array_api as xp

a = np.arange(24.0).reshape(4, 6)
kinds = set()

def seen(block):
    kinds.add(type(block))
    return block

x = cxp.asarray(a, chunks=(2, 3))
blocks = cubed.map_blocks(seen, cxp.matmul(x, cxp.permute_dims(x, (1, 0))), dtype=a.dtype)
np.testing.assert_array_equal(np.asarray(cxp.sum(blocks, axis=0).compute()), (a @ a.T).sum(0))
np.testing.assert_array_equal(np.asarray(cxp.mean(x, axis=1).compute()), a.mean(1))
assert kinds == {xp.runtime.Array}, kinds
"""


def test_cubed_computes_its_chunks_with_us(child_env):
    pytest.importorskip("cubed")
    settings = {
        "CUBED_BACKEND_ARRAY_API_MODULE": "ascend_array_api",
        "ASCEND_ARRAY_API_STRICT": "0",
    }
    subprocess.run([sys.executable, "-c", CUBED], env=child_env | settings, check=True, timeout=120)
