"""Logistic regression, fitted by SciPy's L-BFGS-B: loss and gradient in the library."""

import sys
from typing import Any

import common
import numpy as np
from scipy.optimize import minimize

PENALTY = 1e-4


def data(count: int, features: int) -> tuple[Any, Any]:
    """Return features and labels (0.0 or 1.0) as NumPy arrays."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((count, features))
    slopes = np.linspace(-2, 2, features)
    return x, (rng.random(count) < 1 / (1 + np.exp(-(x @ slopes)))).astype(np.float64)


def fit(xp: Any, x: Any, labels: Any) -> Any:
    """Return the weights that minimise the penalised mean loss, as a NumPy array."""

    def loss(parameters: Any) -> tuple[float, Any]:
        weights = xp.asarray(parameters)
        score = x @ weights
        # log(1 + exp(score)), which logaddexp computes without overflow.
        losses = xp.logaddexp(xp.zeros_like(score), score) - labels * score
        slope = 1.0 / (1.0 + xp.exp(-score)) - labels
        value = xp.mean(losses) + 0.5 * PENALTY * xp.vecdot(weights, weights)
        gradient = (x.T @ slope) / x.shape[0] + PENALTY * weights
        return float(value), np.asarray(gradient)

    start = np.zeros(x.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 0})
    return found.x


def compute(xp: Any, small: bool) -> Any:
    """Return the weights."""
    x, labels = data(500, 8) if small else data(100_000, 32)
    return fit(xp, xp.asarray(x), xp.asarray(labels))


def draw(figure: Any, result: Any) -> None:
    """Show the weights beside those that made the labels."""
    axes = figure.subplots()
    axes.bar(np.arange(len(result)), result, label="fitted")
    axes.plot(np.linspace(-2, 2, len(result)), "k.", label="true")
    axes.set_xlabel("feature")
    axes.set_ylabel("weight")
    axes.legend()


if __name__ == "__main__":
    sys.exit(common.main(__doc__, compute, draw, tolerance=1e-5))
