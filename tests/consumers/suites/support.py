"""What functions of SciPy, scikit-learn, xarray and einops do with our arrays: the table of a page.

Each call runs on NumPy's arrays and on ours. The values must agree; the answer is what came out:
arrays of ours, arrays of NumPy, or an error.
"""

import os
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("SCIPY_ARRAY_API", "1")

import array_api_strict
import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime

Case = Callable[[Any], Any]
KEEPS, NUMPY, NUMBER, FAILS = "our arrays", "NumPy's arrays", "numbers", "fails"
DIFFERS = "DIFFERS"
ELSEWHERE = " (array_api_strict's arrays fail too)"


def arguments(library: Any) -> SimpleNamespace:
    """Return the arrays that the calls use, as arrays of one library."""
    rng = np.random.default_rng(3)
    square = rng.normal(size=(6, 6))
    arrays = {
        "x": rng.normal(size=(40, 3)),
        "v": rng.normal(size=64),
        "p": rng.uniform(0.05, 0.95, size=64),
        "w": rng.normal(size=64) + 0.5,
        "m": square @ square.T + 6 * np.eye(6),
        "b": rng.normal(size=6),
        "image": rng.normal(size=(16, 16)),
        "turn": np.asarray([0.1, 0.2, 0.3, 0.9]),
        "t": np.linspace(0, 1, 12),
        "tt": np.sort(rng.uniform(0, 1, 5)),
        "labels": np.arange(40) % 2,
        "target": rng.normal(size=40),
        "others": (np.arange(40) // 2) % 2,
        "positive": rng.uniform(0.1, 2, size=40),
        "table": rng.uniform(size=(40, 3)),
        "positive2": rng.uniform(0.1, 2, size=40),
    }
    return SimpleNamespace(xp=library, **{k: library.asarray(a) for k, a in arrays.items()})


def each(module: Any, names: str, *arrays: str) -> dict[str, Case]:
    """Return calls of a module's functions on arrays of these names."""

    def case(function: Any) -> Case:
        return lambda d: function(*(getattr(d, name) for name in arrays))

    return {f"{module.__name__}.{name}": case(getattr(module, name)) for name in names.split()}


def scipy_cases() -> Mapping[str, Case]:
    """Return calls of SciPy, by their names."""
    import scipy
    from scipy import (
        cluster,
        differentiate,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        spatial,
        special,
        stats,
    )

    return {
        "scipy.constants.convert_temperature": lambda d: scipy.constants.convert_temperature(
            d.v, "Celsius", "Kelvin"
        ),
        **each(special, "expit logit erf gammaln digamma ndtri entr", "p"),
        "scipy.special.logsumexp": lambda d: special.logsumexp(d.x, axis=1),
        "scipy.special.softmax": lambda d: special.softmax(d.x, axis=1),
        "scipy.special.betainc": lambda d: special.betainc(d.p, d.p, d.p),
        "scipy.special.xlogy": lambda d: special.xlogy(d.p, d.p),
        **each(fft, "fft ifft rfft hfft fft2 fftn dct dst fftshift", "image"),
        **each(stats, "skew kurtosis zscore sem iqr describe normaltest", "v"),
        **each(stats, "rankdata median_abs_deviation", "v"),
        "scipy.stats.entropy": lambda d: stats.entropy(d.p),
        "scipy.stats.gmean": lambda d: stats.gmean(d.p),
        "scipy.stats.trim_mean": lambda d: stats.trim_mean(d.v, 0.1),
        "scipy.stats.bootstrap": lambda d: (
            stats.bootstrap((d.v,), d.xp.mean, rng=1, n_resamples=50).standard_error
        ),
        **each(stats, "ttest_ind ttest_rel pearsonr spearmanr kendalltau linregress", "v", "w"),
        **each(stats, "mannwhitneyu wilcoxon ks_2samp bartlett levene f_oneway", "v", "w"),
        "scipy.stats.differential_entropy": lambda d: stats.differential_entropy(d.v),
        "scipy.stats.Normal": lambda d: stats.Normal(mu=d.v, sigma=d.p).cdf(d.w),
        "scipy.stats.norm.cdf": lambda d: stats.norm.cdf(d.v),
        "scipy.stats.gaussian_kde": lambda d: stats.gaussian_kde(d.v)(d.w),
        "scipy.stats.permutation_test": lambda d: (
            stats.permutation_test(
                (d.b,), lambda x, axis: d.xp.mean(x, axis=axis), permutation_type="samples"
            ).pvalue
        ),
        **each(ndimage, "sobel laplace center_of_mass", "image"),
        "scipy.ndimage.gaussian_filter": lambda d: ndimage.gaussian_filter(d.image, 1.5),
        "scipy.ndimage.gaussian_laplace": lambda d: ndimage.gaussian_laplace(d.image, 1.5),
        "scipy.ndimage.zoom": lambda d: ndimage.zoom(d.image, 2.0),
        "scipy.ndimage.rotate": lambda d: ndimage.rotate(d.image, 30.0),
        "scipy.ndimage.median_filter": lambda d: ndimage.median_filter(d.image, 3),
        "scipy.ndimage.label": lambda d: ndimage.label(d.image > 0)[0],
        "scipy.signal.detrend": lambda d: signal.detrend(d.v),
        "scipy.signal.convolve": lambda d: signal.convolve(d.v, d.b),
        "scipy.signal.fftconvolve": lambda d: signal.fftconvolve(d.v, d.b),
        "scipy.signal.correlate": lambda d: signal.correlate(d.v, d.b),
        "scipy.signal.hilbert": lambda d: signal.hilbert(d.v),
        "scipy.signal.savgol_filter": lambda d: signal.savgol_filter(d.v, 7, 2),
        "scipy.signal.lfilter": lambda d: signal.lfilter(d.b, d.xp.asarray([1.0, 0.3]), d.v),
        "scipy.signal.sosfilt": lambda d: signal.sosfilt(
            d.xp.asarray(signal.butter(2, 0.2, output="sos")), d.v
        ),
        "scipy.signal.resample": lambda d: signal.resample(d.v, 32),
        "scipy.signal.find_peaks": lambda d: signal.find_peaks(d.v)[0],
        "scipy.signal.welch": lambda d: signal.welch(d.v, nperseg=16),
        "scipy.signal.windows.hann": lambda d: signal.windows.hann(16, xp=d.xp),
        "scipy.linalg.det": lambda d: linalg.det(d.m),
        "scipy.linalg.inv": lambda d: linalg.inv(d.m),
        "scipy.linalg.solve": lambda d: linalg.solve(d.m, d.b),
        "scipy.linalg.svd": lambda d: linalg.svd(d.m, compute_uv=False),
        "scipy.linalg.eigh": lambda d: linalg.eigh(d.m)[0],
        "scipy.linalg.expm": lambda d: linalg.expm(d.m / 10),
        "scipy.linalg.block_diag": lambda d: linalg.block_diag(d.m, d.m),
        "scipy.integrate.trapezoid": lambda d: integrate.trapezoid(d.v),
        "scipy.integrate.simpson": lambda d: integrate.simpson(d.v),
        "scipy.integrate.cumulative_trapezoid": lambda d: integrate.cumulative_trapezoid(d.v),
        "scipy.integrate.tanhsinh": lambda d: (
            integrate.tanhsinh(lambda x: x * x, d.xp.asarray(0.0), d.xp.asarray(1.0)).integral
        ),
        "scipy.integrate.cubature": lambda d: (
            integrate.cubature(
                lambda x: d.xp.sum(x * x, axis=-1),
                d.xp.asarray([0.0, 0.0]),
                d.xp.asarray([1.0, 1.0]),
            ).estimate
        ),
        "scipy.interpolate.CubicSpline": lambda d: interpolate.CubicSpline(d.t, d.t**2)(d.tt),
        "scipy.interpolate.make_interp_spline": lambda d: interpolate.make_interp_spline(
            d.t, d.t**2
        )(d.tt),
        "scipy.interpolate.PchipInterpolator": lambda d: interpolate.PchipInterpolator(d.t, d.t**2)(
            d.tt
        ),
        "scipy.interpolate.RBFInterpolator": lambda d: interpolate.RBFInterpolator(d.x, d.target)(
            d.x[:5, :]
        ),
        "scipy.interpolate.RegularGridInterpolator": lambda d: interpolate.RegularGridInterpolator(
            (d.t,), d.t**2
        )(d.tt[:, None]),
        "scipy.differentiate.derivative": lambda d: differentiate.derivative(d.xp.exp, d.p).df,
        "scipy.differentiate.jacobian": lambda d: (
            differentiate.jacobian(lambda x: d.xp.exp(x), d.p[:3]).df
        ),
        "scipy.optimize.elementwise.find_root": lambda d: (
            optimize.elementwise.find_root(
                lambda x, c: x**2 - c, (d.xp.zeros_like(d.p), d.xp.ones_like(d.p)), args=(d.p,)
            ).x
        ),
        "scipy.optimize.rosen": lambda d: optimize.rosen(d.b),
        "scipy.optimize.minimize": lambda d: (
            optimize.minimize(lambda x: float(((x - 1) ** 2).sum()), np.zeros(3)).x
        ),
        "scipy.cluster.vq.kmeans": lambda d: cluster.vq.kmeans(d.x, 3, rng=1)[0],
        "scipy.cluster.vq.whiten": lambda d: cluster.vq.whiten(d.x),
        "scipy.cluster.hierarchy.linkage": lambda d: cluster.hierarchy.linkage(d.x),
        "scipy.spatial.distance.cdist": lambda d: spatial.distance.cdist(d.x, d.x),
        "scipy.spatial.transform.Rotation": lambda d: spatial.transform.Rotation.from_quat(
            d.turn
        ).as_matrix(),
    }


# What the default arguments of an estimator do not support: array dispatch says so itself.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "LinearDiscriminantAnalysis": {"solver": "svd"},
    "Nystroem": {"random_state": 0},
    "PCA": {"svd_solver": "full"},
    "Ridge": {"solver": "svd"},
    "RidgeClassifier": {"solver": "svd"},
    "RidgeClassifierCV": {"solver": "svd"},
}
SQUARE = {"KernelCenterer"}
LABELS = {"LabelBinarizer", "LabelEncoder"}


def fitted(make: Callable[..., Any]) -> Case:
    """Return the case that fits an estimator, and predicts or transforms with it."""
    from sklearn.base import is_classifier
    from sklearn.utils import get_tags

    def case(d: Any) -> Any:
        model = make(**OPTIONS.get(make.__name__, {}))
        tags = get_tags(model)
        x = d.positive[:, None] if tags.input_tags.positive_only else d.x
        x = d.m if make.__name__ in SQUARE else d.labels if make.__name__ in LABELS else x
        wanted = d.labels if is_classifier(model) else d.positive
        model.fit(*((x, wanted) if tags.target_tags.required else (x,)))
        return model.predict(x) if hasattr(model, "predict") else model.transform(x)

    return case


def sklearn_cases() -> Mapping[str, Case]:
    """Return calls of scikit-learn: the estimators that declare support, and metrics."""
    from sklearn import metrics
    from sklearn.utils import all_estimators, get_tags

    cases: dict[str, Case] = {}
    for name, make in all_estimators():
        try:
            supported = get_tags(make(**OPTIONS.get(name, {}))).array_api_support
        except (TypeError, AttributeError):  # made of other estimators, which have their own lines
            continue
        if supported:
            cases[f"sklearn {name}"] = fitted(make)
    labels = "accuracy_score zero_one_loss f1_score precision_score confusion_matrix"
    values = "mean_squared_error mean_absolute_error r2_score max_error mean_gamma_deviance"
    values += " mean_tweedie_deviance explained_variance_score d2_tweedie_score"
    kernels = "euclidean_distances cosine_similarity rbf_kernel polynomial_kernel linear_kernel"
    kernels += " manhattan_distances paired_cosine_distances chi2_kernel"
    return {
        **cases,
        **each(metrics, labels, "labels", "others"),
        **each(metrics, values, "positive", "positive2"),
        **each(metrics.pairwise, kernels, "table", "table"),
    }


def other_cases() -> Mapping[str, Case]:
    """Return calls of xarray and einops."""
    import einops
    import einops.array_api
    import xarray

    def frame(d: Any) -> Any:
        return xarray.DataArray(d.x, dims=("time", "place"))

    return {
        "xarray arithmetic": lambda d: (frame(d) * 2 + frame(d)).data,
        "xarray mean": lambda d: frame(d).mean("time").data,
        "xarray mean, skipna=False": lambda d: frame(d).mean("time", skipna=False).data,
        "xarray std": lambda d: frame(d).std("time").data,
        "xarray std, skipna=False": lambda d: frame(d).std("time", skipna=False).data,
        "xarray cumsum, skipna=False": lambda d: frame(d).cumsum("time", skipna=False).data,
        "xarray max, skipna=False": lambda d: frame(d).max("place", skipna=False).data,
        "xarray sum of integers": lambda d: xarray.DataArray(d.labels).sum().data,
        "xarray max": lambda d: frame(d).max("place").data,
        "xarray isel": lambda d: frame(d).isel(time=slice(3, 9)).data,
        "xarray where": lambda d: frame(d).where(frame(d) > 0, 0.0).data,
        "xarray fillna": lambda d: frame(d).fillna(1.0).data,
        "xarray transpose": lambda d: frame(d).transpose("place", "time").data,
        "xarray concat": lambda d: xarray.concat([frame(d), frame(d)], "time").data,
        "xarray broadcast": lambda d: (frame(d) - frame(d)[0]).data,
        "xarray apply_ufunc": lambda d: xarray.apply_ufunc(d.xp.exp, frame(d)).data,
        "xarray sel with an array": lambda d: frame(d)[np.asarray([3, 1, 2])].data,
        "xarray clip": lambda d: frame(d).clip(0.0, 1.0).data,
        "xarray expand_dims": lambda d: frame(d).expand_dims("new").data,
        "xarray cumsum": lambda d: frame(d).cumsum("time").data,
        "xarray stack": lambda d: frame(d).stack(both=("time", "place")).data,
        "xarray rolling mean": lambda d: frame(d).rolling(time=3).mean().data,
        "xarray dot": lambda d: xarray.dot(frame(d), frame(d), dim="time").data,
        "einops rearrange": lambda d: einops.array_api.rearrange(
            d.image, "(a b) c -> a (b c)", a=4
        ),
        "einops reduce": lambda d: einops.array_api.reduce(d.image, "(a b) c -> a c", "mean", b=4),
        "einops repeat": lambda d: einops.array_api.repeat(d.v, "a -> a b", b=3),
        "einops pack": lambda d: einops.array_api.pack([d.image, d.image], "* a b")[0],
        "einops asnumpy": lambda d: einops.array_api.asnumpy(d.image),
    }


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers in a result."""
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif hasattr(value, "statistic") and hasattr(value, "pvalue"):
        yield from (value.statistic, value.pvalue)
    elif value is not None:
        yield value


def agree(ours: list[Any], wanted: list[Any]) -> bool:
    """Return whether results hold the same numbers."""
    try:
        for a, b in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6, atol=1e-8)
    except (AssertionError, ValueError):
        return False
    return True


def works_elsewhere(case: Case) -> bool:
    """Return whether a call works on arrays of array_api_strict."""
    try:
        case(arguments(array_api_strict))
    except Exception:
        return False
    return True


def judge(case: Case) -> tuple[str, str]:
    """Return what a call does with our arrays, and why where it fails."""
    wanted = list(leaves(case(arguments(np))))
    try:
        ours = list(leaves(case(arguments(xp))))
    except Exception as error:  # whatever a consumer raises is the answer
        text = textwrap.shorten(str(error).strip().split("\n")[0], 200, placeholder=" ...")
        elsewhere = "" if works_elsewhere(case) else ELSEWHERE
        return FAILS, f"{type(error).__name__}: {text}{elsewhere}"
    if not agree(ours, wanted):
        return DIFFERS, ""
    kinds = {
        KEEPS if type(v) is runtime.Array else NUMPY if isinstance(v, np.ndarray) else NUMBER
        for v in ours
    }
    for kind in (NUMPY, KEEPS, NUMBER):
        if kind in kinds:
            return kind, "with our arrays" if kind == NUMPY and KEEPS in kinds else ""
    return NUMBER, ""


def table(groups: Mapping[str, Mapping[str, Case]]) -> dict[str, dict[str, list[str]]]:
    """Return for each group and call what came out, in strict and in relaxed mode."""
    from sklearn import config_context

    found: dict[str, dict[str, list[str]]] = {}
    with warnings.catch_warnings(), config_context(array_api_dispatch=True):
        warnings.simplefilter("ignore")
        for group, cases in groups.items():
            found[group] = {}
            for name, case in cases.items():
                answers = []
                for strict in (False, True):
                    with runtime.strict(strict):
                        answers += judge(case)
                found[group][name] = answers
    return found


GROUPS = {"SciPy": scipy_cases, "scikit-learn": sklearn_cases, "xarray and einops": other_cases}


if __name__ == "__main__":
    for group, calls in table({name: make() for name, make in GROUPS.items()}).items():
        print(group)
        for call, answer in calls.items():
            print("  ", call, answer)
