"""The input stage of a super-resolution network on one 4K frame.

RGB bytes become BT.601 luma and chroma (ITU-R BT.601-7, 2.5.1), chroma is averaged over 2x2 pixels,
and the three planes, channels first, are padded by 8 pixels of zeros.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

HEIGHT, WIDTH = 2160, 3840
PAD = 8


def prepare(xp: Any, dtype: Any = None) -> Callable[[], Any]:
    """Return the work on one frame; it computes and stores in `dtype` (float32)."""
    dtype = xp.float32 if dtype is None else dtype
    pixels = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    frame = xp.asarray(pixels)

    def pooled(plane: Any) -> Any:
        even, odd = plane[::2, :], plane[1::2, :]
        return (even[:, ::2] + even[:, 1::2] + odd[:, ::2] + odd[:, 1::2]) * 0.25

    def work() -> Any:
        rgb = xp.astype(xp.permute_dims(frame, (2, 0, 1)), dtype) * (1 / 255)
        red, green, blue = rgb[0, ...], rgb[1, ...], rgb[2, ...]
        luma = red * 0.299 + green * 0.587 + blue * 0.114
        out = xp.zeros((3, HEIGHT + 2 * PAD, WIDTH + 2 * PAD), dtype=dtype)
        inner = out[:, PAD:-PAD, PAD:-PAD]
        inner[0, ...] = luma
        for plane, (source, range_) in enumerate(((blue, 1.772), (red, 1.402)), start=1):
            chroma = pooled((source - luma) * (1 / range_) + 0.5)
            for row in (0, 1):
                for column in (0, 1):
                    inner[plane, row::2, column::2] = chroma
        return out

    return work
