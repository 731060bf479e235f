"""What the examples share: the command line, and the comparison with NumPy's result."""

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# The works that the benchmarks time are generic code, so examples show them, too.
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))


def main(
    title: str,
    compute: Callable[[Any, bool], Any],
    draw: Callable[[Any, Any], None],
    tolerance: float,
) -> int:
    """Compute an example in a library and in NumPy, compare, draw; return the exit status.

    `compute` takes the namespace and whether the small form is wanted; `draw` takes the figure of
    matplotlib and the result as a NumPy array.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--library", default="ascend_array_api", help="the namespace's module")
    parser.add_argument("--small", action="store_true", help="a small form, for tests")
    parser.add_argument("--picture", type=Path, help="where to save the picture (matplotlib)")
    args = parser.parse_args()
    result, reference = (
        np.asarray(compute(importlib.import_module(library), args.small))
        for library in (args.library, "numpy")
    )
    difference = float(np.max(np.abs(result - reference)) / np.max(np.abs(reference)))
    agree = result.shape == reference.shape and difference <= tolerance
    print(f"largest difference to NumPy, relative: {difference:.1e}, accepted {tolerance:g}")
    print("the results agree" if agree else "THE RESULTS DIFFER")
    if args.picture:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 3.5), layout="constrained")
        draw(figure, result)
        figure.savefig(args.picture, dpi=100, bbox_inches="tight")
    return 0 if agree else 1
