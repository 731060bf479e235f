"""Computations of Cubed's array API whose chunks are our arrays, compared with NumPy's results.

Run by `run.py`, with the environment variable that chooses the chunks' module.
"""

import os

import cubed
import cubed.array_api as cx
import numpy as np
import pytest
from cubed.backend_array_api import namespace

RNG = np.random.default_rng(11)
TALL, WIDE = RNG.normal(size=(48, 36)), RNG.normal(size=(36, 20))
NARROW = RNG.normal(size=(240, 8))
GAPS = np.where(TALL > 1.0, np.nan, TALL)
COUNTS = np.arange(1, 13).reshape(3, 4)


@pytest.fixture
def on_chunks(tmp_path):
    """Return how to make an array of Cubed of an array of NumPy."""
    spec = cubed.Spec(str(tmp_path), allowed_mem="300MB", executor_name="threads")
    return lambda values, chunks: cx.asarray(values, chunks=chunks, spec=spec)


def product_of_factors(c):
    """Multiply the factors of a QR decomposition."""
    q, r = cx.linalg.qr(c(NARROW, (120, 8)))
    return np.asarray(q.compute()) @ np.asarray(r.compute())


# The name: what Cubed computes of a maker of arrays, and NumPy's result.
COMPUTATIONS = {
    "scalars": (lambda c: c(TALL, (24, 18)) * 3.0 - 2, TALL * 3 - 2),
    "broadcast": (lambda c: c(TALL, (24, 18)) / c(TALL[0], (18,)), TALL / TALL[0]),
    "sum": (lambda c: cx.sum(c(TALL, (24, 18))), TALL.sum()),
    "sum of an axis": (
        lambda c: cx.sum(c(TALL, (24, 18)), axis=0, keepdims=True),
        TALL.sum(0)[None],
    ),
    "mean": (lambda c: cx.mean(c(TALL, (24, 18)), axis=1), TALL.mean(1)),
    "var": (lambda c: cx.var(c(TALL, (24, 18)), axis=0), TALL.var(0)),
    "std": (lambda c: cx.std(c(TALL, (24, 18)), axis=0), TALL.std(0)),
    "max": (lambda c: cx.max(c(TALL, (24, 18)), axis=0), TALL.max(0)),
    "min": (lambda c: cx.min(c(TALL, (24, 18)), axis=1), TALL.min(1)),
    "prod": (lambda c: cx.prod(c(COUNTS, (1, 2)), axis=1), COUNTS.prod(1)),
    "argmax": (lambda c: cx.argmax(c(TALL, (24, 18)), axis=0), TALL.argmax(0)),
    "any": (lambda c: cx.any(c(TALL, (24, 18)) > 2, axis=0), (TALL > 2).any(0)),
    "all": (lambda c: cx.all(c(TALL, (24, 18)) > -2, axis=0), (TALL > -2).all(0)),
    "cumulative_sum": (lambda c: cx.cumulative_sum(c(TALL, (24, 18)), axis=0), TALL.cumsum(0)),
    "matmul": (lambda c: cx.matmul(c(TALL, (24, 18)), c(WIDE, (18, 10))), TALL @ WIDE),
    "tensordot": (
        lambda c: cx.tensordot(c(TALL, (24, 18)), c(WIDE, (18, 10)), axes=1),
        TALL @ WIDE,
    ),
    "permute_dims": (lambda c: cx.permute_dims(c(TALL, (24, 18)), (1, 0)), TALL.T),
    "reshape": (lambda c: cx.reshape(c(TALL, (12, 36)), (48 * 36,)), TALL.ravel()),
    "concat": (lambda c: cx.concat([c(TALL, (24, 18))] * 2, axis=1), np.hstack([TALL, TALL])),
    "stack": (lambda c: cx.stack([c(TALL, (24, 18))] * 2), np.stack([TALL, TALL])),
    "unstack": (lambda c: cx.unstack(c(TALL, (24, 18)))[5], TALL[5]),
    "where": (
        lambda c: cx.where(c(TALL, (24, 18)) > 0, c(TALL, (24, 18)), 0.0),
        np.maximum(TALL, 0),
    ),
    "slices": (lambda c: c(TALL, (24, 18))[3:40:4, 7], TALL[3:40:4, 7]),
    "rows by numbers": (lambda c: c(TALL, (24, 18))[np.asarray([5, 2, 40]), :], TALL[[5, 2, 40]]),
    "rechunk": (lambda c: c(TALL, (24, 18)).rechunk((48, 4)) + 1, TALL + 1),
    "astype": (lambda c: cx.astype(c(TALL, (24, 18)), cx.float32), TALL.astype("float32")),
    "complex": (lambda c: cx.imag(c(TALL + 2j * TALL, (24, 18)) * 1j), TALL),
    "bits": (
        lambda c: cx.bitwise_xor(c(COUNTS, (1, 4)), c(COUNTS[::-1], (1, 4))),
        COUNTS ^ COUNTS[::-1],
    ),
    "tril": (lambda c: cx.tril(c(TALL, (24, 18))), np.tril(TALL)),
    "qr": (product_of_factors, NARROW),
    "svd": (
        lambda c: cx.linalg.svd(c(NARROW, (120, 8)), full_matrices=False)[1],
        np.linalg.svd(NARROW, compute_uv=False),
    ),
    "map_blocks": (
        lambda c: cubed.map_blocks(namespace.exp, c(TALL, (24, 18)), dtype=np.float64),
        np.exp(TALL),
    ),
    "nansum": (lambda c: cubed.nansum(c(GAPS, (24, 18)), axis=0), np.nansum(GAPS, 0)),
    "nanmean": (lambda c: cubed.nanmean(c(GAPS, (24, 18)), axis=0), np.nanmean(GAPS, 0)),
}


def test_chunks_are_ours():
    """The backend that Cubed took is the one that was asked for."""
    assert namespace.__name__ == os.environ["CUBED_BACKEND_ARRAY_API_MODULE"]


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_computation(on_chunks, name):
    """Cubed computes what NumPy does."""
    compute, wanted = COMPUTATIONS[name]
    result = compute(on_chunks)
    result = result.compute() if hasattr(result, "compute") else result
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6, atol=1e-10)
