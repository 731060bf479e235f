"""ResNet-50's forward pass of one image, with random weights."""

import sys
from typing import Any

import common
import numpy as np
from works import resnet50


def compute(xp: Any, small: bool) -> Any:
    """Return the scores of the 1000 classes."""
    return resnet50.prepare(xp, side=32 if small else 224)()[0, :]


def draw(figure: Any, result: Any) -> None:
    """Show the scores, and the ten highest."""
    scores, best = figure.subplots(1, 2)
    scores.plot(np.sort(result))
    scores.set_xlabel("classes, sorted")
    scores.set_ylabel("score")
    order = np.argsort(result)[-10:]
    best.barh([str(k) for k in order], result[order])
    best.set_xlabel("score")
    best.set_ylabel("class")


if __name__ == "__main__":
    sys.exit(common.main(__doc__, compute, draw, tolerance=1e-4))
