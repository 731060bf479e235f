"""Loops that run by a plan, while every n-th request of C++ code for memory fails.

    python tests/faults/loops.py N

Each loop gives what it gives without faults, or MemoryError; afterwards it gives it again.
"""

import faulthandler
import sys

import kinds
import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime


def loop(x, steps):
    y = x
    for _ in range(steps):
        y = (xp.sin(y) + x) * 0.5
    return np.asarray(y)


def main(n):
    kinds.restart_with_faults("new")
    faulthandler.dump_traceback_later(100, exit=True)
    memory = kinds.New()
    runtime.set_mode("predictive")
    x = xp.asarray(np.linspace(0.0, 1.0, 6000))
    lengths = (3, 40, 100)  # the last one is cut where it repeats
    wanted = [loop(x, steps) for steps in lengths]
    loops = faults = 0
    for _ in range(12):
        for steps, want in zip(lengths, wanted, strict=True):
            loops += 1
            memory.fail_every(n)
            try:
                got = loop(x, steps)
            except MemoryError:
                faults += 1
                got = want
            finally:
                memory.fail_every(0)
            np.testing.assert_array_equal(got, want)
    for steps, want in zip(lengths, wanted, strict=True):
        np.testing.assert_array_equal(loop(x, steps), want)
    print(f"{loops} loops, {faults} of them without memory")


if __name__ == "__main__":
    main(int(sys.argv[1]))
