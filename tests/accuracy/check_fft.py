"""Accuracy of Fourier transforms of every length, measured against long double sums.

For each length the relative error of one transform of random numbers is taken, in the Euclidean
norm and in units of the rounding error of its precision (2**-53, 2**-24), beside that of SciPy's
pocketfft. The promise is the one of `bound`.

Run it from anywhere the package is importable; all lengths take some minutes::

    python tests/accuracy/check_fft.py
    python tests/accuracy/check_fft.py --last 300 --step 7 --function rfft

It prints a table by ranges of lengths and the lengths with the largest errors, and exits with
status 1 where the promise is broken. SciPy is needed.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np
import scipy.fft

import ascend_array_api as xp

UNIT = {"complex64": 2.0**-24, "complex128": 2.0**-53}
REAL = {"complex64": "float32", "complex128": "float64"}


def bound(n: int) -> float:
    """Return the largest error that is promised, in units of the rounding error."""
    return 1.5 + 0.5 * math.log2(n)


def transform(x: Any) -> Any:
    """Return the transform by its definition, in long double."""
    n = len(x)
    turns = np.arange(n, dtype=np.longdouble) / n
    # 2 * np.pi is a double; the second factor is what it lacks.
    angle = 2 * np.pi * turns + turns * np.longdouble("2.4492935982947063545e-16")
    roots = np.cos(angle) - 1j * np.sin(angle)
    k = np.arange(n)
    # Blocks of rows keep the matrix small.
    return np.concatenate(
        [roots[np.outer(rows, k) % n] @ x for rows in np.array_split(k, n // 64 + 1)]
    )


def error(found: Any, exact: Any) -> float:
    """Return the relative error in the Euclidean norm."""
    difference = np.asarray(found).astype(np.clongdouble) - exact
    return float(np.sqrt(np.sum(np.abs(difference) ** 2) / np.sum(np.abs(exact) ** 2)))


def measure(function: str, dtype: str, n: int) -> tuple[float, float]:
    """Return the errors of ours and of SciPy's transform of length n."""
    rng = np.random.default_rng(n)
    x = (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    if function == "rfft":
        x = np.real(x).astype(REAL[dtype])
    exact = transform(x.astype(np.clongdouble))
    if function == "rfft":
        exact = exact[: n // 2 + 1]
    ours = getattr(xp.fft, function)(xp.asarray(x))
    theirs = getattr(scipy.fft, function)(x)
    return error(ours, exact) / UNIT[dtype], error(theirs, exact) / UNIT[dtype]


def main() -> int:
    """Measure all lengths that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--last", type=int, default=2048)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--function", choices=["fft", "rfft"], default="fft")
    parser.add_argument("--dtype", choices=list(UNIT), nargs="*", default=list(UNIT))
    args = parser.parse_args()
    broken = False
    for dtype in args.dtype:
        lengths = range(1, args.last + 1, args.step)
        found = {n: measure(args.function, dtype, n) for n in lengths}
        print(f"{args.function} {dtype}: lengths, mean and largest error, the same of SciPy")
        edge = 2
        while edge // 2 <= args.last:
            rows = np.asarray([found[n] for n in lengths if edge // 2 <= n < edge] or [(0.0, 0.0)])
            (mean, other), (most, other_most) = rows.mean(axis=0), rows.max(axis=0)
            print(f"  {edge // 2:5} ... {mean:6.2f} {most:6.2f}   {other:6.2f} {other_most:6.2f}")
            edge *= 2
        worst = sorted(lengths, key=lambda n: found[n][0] / bound(n))[-3:]
        for n in worst:
            print(f"  n = {n}: {found[n][0]:.2f}, promised {bound(n):.2f}")
            broken |= not found[n][0] <= bound(n)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
