"""The demonstration: the same scikit-learn and generic code on two namespaces, compared."""

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._array import as_numpy

# What double precision leaves between two correct ways of computing the results below.
_TOLERANCE = 1e-8


class _Job(NamedTuple):
    name: str
    call: Callable[[Any, Any], Any]
    headline: Callable[[Any, Any], str]


def class_probabilities(x: Any, labels: Any) -> Any:
    """Return how likely each row of `x` is of each class, from distances to the class means.

    Generic code: it knows nothing of the array library it runs on.
    """
    xp = x.__array_namespace__()
    classes = xp.sort(xp.unique_values(labels))
    member = xp.astype(labels[None, :] == classes[:, None], x.dtype)
    means = (member @ x) / xp.sum(member, axis=1, keepdims=True)
    squares = xp.sum(x * x, axis=1)[:, None] + xp.sum(means * means, axis=1)[None, :]
    score = -(squares - 2.0 * (x @ means.T)) / xp.mean(xp.var(x, axis=0))
    weight = xp.exp(score - xp.max(score, axis=1, keepdims=True))
    return weight / xp.sum(weight, axis=1, keepdims=True)


def _jobs() -> list[_Job]:
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    def pca(x: Any, labels: Any) -> Any:
        return PCA(n_components=10, svd_solver="full").fit_transform(x)

    def lda(x: Any, labels: Any) -> Any:
        return LinearDiscriminantAnalysis(solver="svd").fit(x, labels).predict_proba(x)

    def variance(result: Any, labels: Any) -> str:
        return f"variance kept {float(np.sum(np.var(result, axis=0))):.4f}"

    def accuracy(result: Any, labels: Any) -> str:
        return f"accuracy {float(np.mean(np.argmax(result, axis=1) == labels)):.4f}"

    return [
        _Job("scikit-learn PCA, 10 components", pca, variance),
        _Job("scikit-learn LinearDiscriminantAnalysis", lda, accuracy),
        _Job("generic function, nearest class mean", class_probabilities, accuracy),
    ]


def _timed(job: _Job, x: Any, labels: Any, repeat: int) -> tuple[Any, float]:
    """Return the result as a NumPy array, and the median time of `repeat` runs."""
    result = as_numpy(job.call(x, labels))
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        as_numpy(job.call(x, labels))
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def compare(xp: Any, repeat: int) -> bool:
    """Run every job on NumPy and on `xp`, print both; return whether all results agree."""
    import sklearn
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    print(f"scikit-learn {sklearn.__version__}, digits data: {images.shape}, {images.dtype}")
    agree = True
    with sklearn.config_context(array_api_dispatch=True):
        for job in _jobs():
            print(f"\n{job.name}")
            results = []
            for space in (np, xp):
                data = space.asarray(images), space.asarray(digits)
                result, seconds = _timed(job, *data, repeat)
                results.append(result)
                label = f"{space.__name__} {space.__version__}"
                print(f"  {label:25}{job.headline(result, digits):28}{seconds * 1e3:9.2f} ms")
            difference = float(np.max(np.abs(results[0] - results[1])))
            agree &= difference <= _TOLERANCE
            print(f"  largest difference       {difference:.1e}")
    print(f"\nBoth give the same results (within {_TOLERANCE:g}): {'yes' if agree else 'NO'}")
    return agree


def run(repeat: int) -> int:
    """Run the demonstration on this package; return the exit status."""
    if repeat < 1:
        print(f"demo: --repeat must be at least 1, got {repeat}", file=sys.stderr)
        return 2
    # SciPy reads this once, when it is first imported.
    os.environ.setdefault("SCIPY_ARRAY_API", "1")
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("demo needs scikit-learn: pip install scikit-learn", file=sys.stderr)
        return 2
    import ascend_array_api

    return 0 if compare(ascend_array_api, repeat) else 1
