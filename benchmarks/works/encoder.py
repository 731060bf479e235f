"""One layer of a transformer's encoder: 16 heads, width 1024, sequences of 128, a batch of 4."""

from collections.abc import Callable
from typing import Any

import numpy as np

BATCH, LENGTH, WIDTH, HEADS, HIDDEN = 4, 128, 1024, 16, 4096


def prepare(xp: Any, dtype: Any = np.float32) -> Callable[[], Any]:
    """Return a function that runs the layer in the dtype."""
    rng = np.random.default_rng(0)

    def make(*shape: int, scale: float = 0.02) -> Any:
        return xp.asarray((rng.standard_normal(shape) * scale).astype(np.float32).astype(dtype))

    projections = [make(WIDTH, WIDTH) for _ in range(4)]
    widen, narrow = make(WIDTH, HIDDEN), make(HIDDEN, WIDTH)
    wide_bias, bias = make(HIDDEN), make(WIDTH)
    x = make(BATCH, LENGTH, WIDTH, scale=1.0)

    def heads(y: Any) -> Any:
        split = xp.reshape(y, (BATCH, LENGTH, HEADS, WIDTH // HEADS))
        return xp.permute_dims(split, (0, 2, 1, 3))

    def normalised(y: Any) -> Any:
        centred = y - xp.mean(y, axis=-1, keepdims=True)
        return centred / xp.sqrt(xp.var(y, axis=-1, keepdims=True) + 1e-5)

    def layer() -> Any:
        query, key, value = (heads(x @ p) for p in projections[:3])
        score = (query @ xp.matrix_transpose(key)) * (WIDTH // HEADS) ** -0.5
        e = xp.exp(score - xp.max(score, axis=-1, keepdims=True))
        mixed = (e / xp.sum(e, axis=-1, keepdims=True)) @ value
        joined = xp.reshape(xp.permute_dims(mixed, (0, 2, 1, 3)), (BATCH, LENGTH, WIDTH))
        attended = normalised(x + joined @ projections[3])
        active = xp.maximum(attended @ widen + wide_bias, 0.0)
        return normalised(attended + active @ narrow + bias)

    return layer
