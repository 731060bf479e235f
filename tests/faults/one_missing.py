"""Recorded work of which one request for memory fails: python tests/faults/one_missing.py KIND

Results and what is written in place are right all the same, whichever request it is.
"""

import contextlib
import sys

import kinds
import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime


class Work:
    """A chain, its sum, rows, a product and writes in place, all pending."""

    def __init__(self):
        self.x = xp.asarray(np.arange(6000.0))
        self.total = xp.asarray(np.zeros(6000))
        self.copy = xp.asarray(self.total, copy=True)
        self.rows = xp.asarray(np.arange(30_000.0).reshape(3, 10_000))
        self.mask = xp.asarray(np.zeros(6000, bool))
        runtime.synchronize()
        self.y = self.x * 2 + 1
        self.sum = xp.sum(self.y * self.y)
        self.total += self.y
        self.copy[::2] = self.x[::2]
        self.mask[1:] = self.x[1:] > 5
        self.mean = self.rows - xp.mean(self.rows, axis=1, keepdims=True)
        self.running = xp.cumulative_sum(self.x)

    def check(self, what):
        x = np.arange(6000.0)
        rows = np.arange(30_000.0).reshape(3, 10_000)
        for name, want in {
            "y": x * 2 + 1,
            "sum": np.sum((x * 2 + 1) ** 2),
            "total": x * 2 + 1,
            "copy": np.where(x % 2 == 0, x, 0.0),
            "mask": x > 5,
            "mean": rows - rows.mean(axis=1, keepdims=True),
            "running": np.cumsum(x),
        }.items():
            np.testing.assert_array_equal(np.asarray(getattr(self, name)), want, f"{name}, {what}")


def main():
    kinds.restart_with_faults(sys.argv[1])
    memory = kinds.KINDS[sys.argv[1]]()
    memory.fail_every(0)
    work = Work()
    memory.fail_every(0)
    runtime.synchronize()
    requests = memory.requests()
    work.check("no fault")
    assert requests > 5, "nothing was recorded"
    checked = 0
    for n in range(requests // 2 + 1, requests + 1):
        work = Work()
        memory.fail_every(n)
        with contextlib.suppress(MemoryError):  # of the call itself: all is still pending
            runtime.synchronize()
        once = memory.requests() < 2 * n  # else the second try had a fault, too
        memory.fail_every(0)
        if once:
            runtime.synchronize()
            work.check(f"request {n} of {requests}")
        checked += once
    assert checked > 2
    print(f"{checked} of {requests} requests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
