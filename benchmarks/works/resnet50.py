"""ResNet-50's forward pass (He et al., 2015), channels last, random weights, batch norm folded.

A k x k convolution is k * k products of matrices over shifted views of its padded input.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

# Blocks and width of each stage; the output of a block is four times as wide.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
CLASSES = 1000


def prepare(xp: Any, batch: int = 1, side: int = 224) -> Callable[[], Any]:
    """Return the forward pass of a batch of images as a function."""
    random = np.random.default_rng(0)

    def weights(kernel: int, inputs: int, outputs: int) -> tuple[Any, Any]:
        scale = np.sqrt(2 / (kernel * kernel * inputs))
        w = random.standard_normal((kernel, kernel, inputs, outputs)) * scale
        bias = random.standard_normal(outputs) * 0.01
        return xp.asarray(w.astype(np.float32)), xp.asarray(bias.astype(np.float32))

    def pad(x: Any, width: int, fill: float = 0.0) -> Any:
        n, height, length, channels = x.shape
        out = xp.full((n, height + 2 * width, length + 2 * width, channels), fill, dtype=x.dtype)
        out[:, width:-width, width:-width, :] = x
        return out

    def windows(x: Any, kernel: int, stride: int) -> list[Any]:
        rows = (x.shape[1] - kernel) // stride + 1
        columns = (x.shape[2] - kernel) // stride + 1
        return [
            x[:, i : i + stride * rows : stride, j : j + stride * columns : stride, :]
            for i in range(kernel)
            for j in range(kernel)
        ]

    def convolve(x: Any, parameters: tuple[Any, Any], stride: int = 1) -> Any:
        w, bias = parameters
        kernel = w.shape[0]
        if kernel > 1:
            x = pad(x, kernel // 2)
        out = bias
        for k, window in enumerate(windows(x, kernel, stride)):
            out = out + window @ w[k // kernel, k % kernel, :, :]
        return out

    def relu(x: Any) -> Any:
        return xp.maximum(x, 0.0)

    def pool(x: Any) -> Any:
        views = windows(pad(x, 1, -np.inf), 3, 2)
        out = views[0]
        for view in views[1:]:
            out = xp.maximum(out, view)
        return out

    stem = weights(7, 3, 64)
    blocks, inputs = [], 64
    for stage, (count, width) in enumerate(STAGES):
        for block in range(count):
            stride = 2 if block == 0 and stage > 0 else 1
            shortcut = weights(1, inputs, 4 * width) if block == 0 else None
            layers = (weights(1, inputs, width), weights(3, width, width))
            blocks.append((stride, shortcut, *layers, weights(1, width, 4 * width)))
            inputs = 4 * width
    head = weights(1, inputs, CLASSES)
    images = xp.asarray(random.standard_normal((batch, side, side, 3)).astype(np.float32))

    def work() -> Any:
        x = pool(relu(convolve(images, stem, 2)))
        for stride, shortcut, reduce, spatial, expand in blocks:
            y = relu(convolve(x, reduce))
            y = relu(convolve(y, spatial, stride))
            y = convolve(y, expand)
            # Residual sums stay in range with a factor, as batch norm would keep them.
            x = relu(y * 0.5 + (x if shortcut is None else convolve(x, shortcut, stride)))
        x = xp.mean(x, axis=(1, 2))
        return x @ head[0][0, 0, :, :] + head[1]

    return work
