"""Linear shallow-water equations on a square, Lax-Friedrichs steps on an n x n periodic grid.

dh/dt = -H (du/dx + dv/dy), du/dt = -g dh/dx, dv/dt = -g dh/dy, with central differences; the values
beside an edge are copied from the other side.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

GRAVITY, DEPTH, COURANT = 9.81, 1.0, 0.2


def prepare(xp: Any, n: int = 1024) -> Callable[[], Any]:
    """Return the work of one step, which returns the new heights and velocities."""
    side = np.linspace(-1, 1, n + 2)
    bump = 0.1 * np.exp(-40 * (side[:, None] ** 2 + side**2))
    state = [xp.asarray(a) for a in (bump, np.zeros_like(bump), np.zeros_like(bump))]
    factor = COURANT / 2

    def wrap(a: Any) -> None:
        a[0, :], a[-1, :] = a[-2, :], a[1, :]
        a[:, 0], a[:, -1] = a[:, -2], a[:, 1]

    def mean(a: Any) -> Any:
        return (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2]) * 0.25

    def across(a: Any) -> Any:
        return a[1:-1, 2:] - a[1:-1, :-2]

    def down(a: Any) -> Any:
        return a[2:, 1:-1] - a[:-2, 1:-1]

    def work() -> Any:
        height, east, north = state
        new = [xp.empty_like(a) for a in state]
        new[0][1:-1, 1:-1] = mean(height) - (across(east) + down(north)) * (DEPTH * factor)
        new[1][1:-1, 1:-1] = mean(east) - across(height) * (GRAVITY * factor)
        new[2][1:-1, 1:-1] = mean(north) - down(height) * (GRAVITY * factor)
        for a in new:
            wrap(a)
        state[:] = new
        return tuple(new)

    return work
