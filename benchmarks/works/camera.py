"""4K camera frames: flip, crop, every second pixel, channels first, normalise."""

from collections.abc import Callable
from typing import Any

import numpy as np

HEIGHT, WIDTH = 2160, 3840
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def prepare(
    xp: Any, settle: Callable[[Any], Any] = lambda x: x, pixels: Any = None
) -> Callable[[], Any]:
    """Return the work on one frame; `settle` is called with every view, and its result used.

    `pixels` are the frame's bytes as a NumPy array, random ones by default.
    """
    if pixels is None:
        pixels = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    frame = xp.asarray(pixels)
    mean = xp.reshape(xp.asarray(MEAN, dtype=xp.float32), (3, 1, 1))
    scale = xp.reshape(1 / (255 * xp.asarray(DEVIATION, dtype=xp.float32)), (3, 1, 1))

    def work() -> Any:
        x = settle(xp.flip(frame, axis=1))
        x = settle(x[56:-56, 128:-128, :])
        x = settle(x[::2, ::2, :])
        x = settle(xp.permute_dims(x, (2, 0, 1)))
        return (xp.astype(x, xp.float32) - mean * 255) * scale

    return work
