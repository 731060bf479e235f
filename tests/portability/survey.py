"""What array-api-extra and scikit-learn do that is not portable, line by line.

``python tests/portability/survey.py`` prints the figures of docs/portability.md.
"""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import array_api_extra as xpx
import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime
from ascend_array_api.testing import _portability, portability

Programs = dict[str, Callable[[], Any]]

LEVELS = {**dict.fromkeys(_portability.CHECKS, "warn"), "missing_dtypes": "ignore"}


def extra_programs() -> Programs:
    x = xp.asarray(np.random.default_rng(0).normal(size=(6, 4)))
    mask, f = x > 0, xp.asarray([1.0, 2.0, 4.0])
    i, z = xp.asarray([3, 1, 2, 1]), xp.asarray([1 + 1j])
    return {
        "at.set": lambda: xpx.at(x)[0, :].set(0.0, copy=True),
        "at.add": lambda: xpx.at(x)[0, :].add(1.0, copy=True),
        "at[mask].set": lambda: xpx.at(x, mask).set(0.0, copy=True),
        "apply_where": lambda: xpx.apply_where(mask, x, lambda v: v * 2, lambda v: -v),
        "argpartition": lambda: xpx.argpartition(f, 1),
        "partition": lambda: xpx.partition(f, 1),
        "atleast_nd": lambda: xpx.atleast_nd(f, ndim=3),
        "broadcast_shapes": lambda: xpx.broadcast_shapes((2, 1), (3,)),
        "cov": lambda: xpx.cov(x),
        "create_diagonal": lambda: xpx.create_diagonal(f),
        "default_dtype": lambda: xpx.default_dtype(xp),
        "expand_dims": lambda: xpx.expand_dims(f, axis=(0, 2)),
        "isclose": lambda: xpx.isclose(f, f + 1e-9),
        "isin": lambda: xpx.isin(i, i[:2]),
        "kron": lambda: xpx.kron(x, x),
        "nan_to_num": lambda: xpx.nan_to_num(x),
        "nunique": lambda: xpx.nunique(i),
        "one_hot": lambda: xpx.one_hot(i, 4),
        "pad": lambda: xpx.pad(x, 1),
        "searchsorted": lambda: xpx.searchsorted(f, f),
        "setdiff1d": lambda: xpx.setdiff1d(i, i[:1]),
        "sinc": lambda: xpx.sinc(x),
        "union1d": lambda: xpx.union1d(i, i),
        "angle": lambda: xpx.angle(z),
    }


def learn_programs() -> Programs:
    from sklearn import (
        decomposition,
        discriminant_analysis,
        linear_model,
        metrics,
        mixture,
        model_selection,
        naive_bayes,
        preprocessing,
        set_config,
    )
    from sklearn.metrics import pairwise

    set_config(array_api_dispatch=True)
    rng = np.random.default_rng(0)
    x, t = xp.asarray(rng.normal(size=(60, 5))), xp.asarray(rng.normal(size=60))
    y = xp.asarray(rng.integers(0, 3, 60))
    third = xp.full((60, 3), 1 / 3)
    scalers = "StandardScaler MinMaxScaler MaxAbsScaler Normalizer Binarizer PolynomialFeatures"
    programs: Programs = {
        name: lambda name=name: getattr(preprocessing, name)().fit_transform(x)
        for name in scalers.split()
    }
    for solver in ("full", "randomized", "covariance_eigh"):
        pca = decomposition.PCA(
            2, svd_solver=solver, power_iteration_normalizer="QR", random_state=0
        )
        programs[f"PCA {solver}"] = lambda pca=pca: pca.fit_transform(x)
    for model in (
        discriminant_analysis.LinearDiscriminantAnalysis(solver="svd"),
        naive_bayes.GaussianNB(),
        mixture.GaussianMixture(2, init_params="random", random_state=0),
    ):
        programs[type(model).__name__] = lambda model=model: model.fit(x, y).predict(x)
    return programs | {
        "Ridge": lambda: linear_model.Ridge(solver="svd").fit(x, t).predict(x),
        "KernelCenterer": lambda: preprocessing.KernelCenterer().fit_transform(x @ x.T),
        "LabelEncoder": lambda: preprocessing.LabelEncoder().fit_transform(y),
        "LabelBinarizer": lambda: preprocessing.LabelBinarizer().fit_transform(y),
        "train_test_split": lambda: model_selection.train_test_split(x, y, random_state=0),
        "accuracy_score": lambda: metrics.accuracy_score(y, y),
        "confusion_matrix": lambda: metrics.confusion_matrix(y, y),
        "f1_score": lambda: metrics.f1_score(y, y, average="macro"),
        "zero_one_loss": lambda: metrics.zero_one_loss(y, y),
        "log_loss": lambda: metrics.log_loss(y, third),
        "roc_curve": lambda: metrics.roc_curve(y > 1, t),
        "r2_score": lambda: metrics.r2_score(t, t),
        "mean_squared_error": lambda: metrics.mean_squared_error(t, t * 2),
        "mean_tweedie_deviance": lambda: metrics.mean_tweedie_deviance(t, t),
        "entropy": lambda: metrics.cluster.entropy(y),
        "cosine_similarity": lambda: pairwise.cosine_similarity(x),
        "euclidean_distances": lambda: pairwise.euclidean_distances(x),
        "rbf_kernel": lambda: pairwise.rbf_kernel(x),
    }


def survey(programs: Programs) -> dict[str, dict[str, set[str]]]:
    """Return for each check the lines that it reports, and the programs that reach them."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, program in programs.items():
        for strict in (True, False):
            with runtime.strict(strict), portability(version="2022.12", **LEVELS) as seen:
                try:
                    program()
                except Exception as e:
                    print(f"  {name} {'strict' if strict else 'relaxed'}: {e!r:.100}")
            for finding in seen.findings:
                if finding.filename != __file__:
                    place = finding.filename.rpartition("site-packages/")[2]
                    found[finding.check][f"{place}:{finding.line}"].add(name)
    return found


def report(library: str, programs: Programs) -> Iterator[str]:
    yield f"{library}: {len(programs)} programs"
    for check, places in survey(programs).items():
        yield f"  {check}: {len(places)} lines"
        yield from (f"    {p}  {', '.join(sorted(n))}" for p, n in sorted(places.items()))


if __name__ == "__main__":
    os.environ.setdefault("SCIPY_ARRAY_API", "1")
    warnings.simplefilter("ignore")
    for library, programs in (
        ("array-api-extra", extra_programs),
        ("scikit-learn", learn_programs),
    ):
        print("\n".join(report(library, programs())))
