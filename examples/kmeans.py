"""k-means (Lloyd's algorithm): points of a plane in five clusters."""

import sys
from typing import Any

import common
import numpy as np

CLUSTERS = 5
STEPS = 20


def data(count: int) -> Any:
    """Return points around five places, as a NumPy array of shape (count, 2)."""
    rng = np.random.default_rng(3)
    angles = np.arange(CLUSTERS) * (2 * np.pi / CLUSTERS)
    places = 5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return places[rng.integers(0, CLUSTERS, count)] + rng.standard_normal((count, 2))


def nearest(points: Any, centres: Any) -> Any:
    """Return the index of the centre that is nearest to each point."""
    xp = points.__array_namespace__()
    squares = xp.sum(centres * centres, axis=1)
    return xp.argmin(squares - 2.0 * (points @ centres.T), axis=1)


def cluster(points: Any, steps: int = STEPS) -> Any:
    """Return the centres of the clusters."""
    xp = points.__array_namespace__()
    centres = points[:CLUSTERS, :]
    numbers = xp.arange(CLUSTERS)
    for _ in range(steps):
        member = xp.astype(nearest(points, centres)[:, None] == numbers, points.dtype)
        sizes = xp.sum(member, axis=0)[:, None]
        # A centre without points stays where it is.
        centres = xp.where(sizes > 0, (member.T @ points) / xp.maximum(sizes, 1.0), centres)
    return centres


def compute(xp: Any, small: bool) -> Any:
    """Return the centres, of shape (clusters, 2)."""
    return cluster(xp.asarray(data(2_000 if small else 200_000)))


def draw(figure: Any, result: Any) -> None:
    """Show some points in the colour of their cluster, and the centres."""
    axes = figure.subplots()
    points = data(3_000)
    axes.scatter(*points.T, c=nearest(points, result), s=4, cmap="tab10")
    axes.scatter(*result.T, c="black", marker="x", s=80)
    axes.set_aspect("equal")


if __name__ == "__main__":
    sys.exit(common.main(__doc__, compute, draw, tolerance=1e-10))
