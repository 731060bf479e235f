"""A 4K camera frame for a network: flip, crop, every second pixel, channels first, normalise."""

import sys
from typing import Any

import common
import numpy as np
from works import camera


def scene(height: int, width: int) -> Any:
    """Return a picture of a sunset as bytes, of shape (height, width, 3)."""
    y, x = np.linspace(0, 1, height)[:, None], np.linspace(-0.9, 0.9, width)[None, :]
    sun = 1 / (1 + np.exp(80 * (np.hypot(x + 0.3, y - 0.5) - 0.18)))
    sea = (y > 0.62) * (0.5 + 0.5 * np.sin(900 * np.maximum(y - 0.6, 0) ** 0.5 + 9 * x))
    red = 0.35 + 0.55 * y + sun - 0.7 * (y > 0.62) + 0.25 * sea
    green = 0.15 + 0.45 * y + 0.7 * sun - 0.4 * (y > 0.62) + 0.2 * sea
    blue = 0.45 - 0.2 * y + 0.2 * sun + 0.1 * sea
    channels = np.stack(np.broadcast_arrays(red, green, blue), axis=-1)
    return (255 * np.clip(channels, 0, 1)).astype(np.uint8)


def compute(xp: Any, small: bool) -> Any:
    """Return the normalised frame, of shape (3, height, width)."""
    pixels = scene(270, 480) if small else scene(camera.HEIGHT, camera.WIDTH)
    return camera.prepare(xp, pixels=pixels)()


def draw(figure: Any, result: Any) -> None:
    """Show the three channels."""
    for k, (axes, name) in enumerate(
        zip(figure.subplots(1, 3), ("red", "green", "blue"), strict=True)
    ):
        axes.imshow(result[k, ::4, ::4], cmap="gray")
        axes.set_title(name)
        axes.set_axis_off()


if __name__ == "__main__":
    sys.exit(common.main(__doc__, compute, draw, tolerance=1e-6))
