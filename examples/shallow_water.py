"""Linear shallow-water equations: a drop in a square basin, after many steps."""

import sys
from typing import Any

import common
from works import shallow_water


def compute(xp: Any, small: bool) -> Any:
    """Return the heights after the last step."""
    step = shallow_water.prepare(xp, n=64 if small else 512)
    for _ in range(20 if small else 300):
        heights, _, _ = step()
    return heights


def draw(figure: Any, result: Any) -> None:
    """Show the heights as a map and along the middle."""
    chart, section = figure.subplots(1, 2)
    figure.colorbar(chart.imshow(result, cmap="RdBu"), ax=chart, label="height")
    section.plot(result[len(result) // 2, :])
    section.set_xlabel("along the middle")


if __name__ == "__main__":
    sys.exit(common.main(__doc__, compute, draw, tolerance=1e-12))
