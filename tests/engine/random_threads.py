"""Random programs on threads and streams that share arrays, compared with NumPy.

    python tests/engine/random_threads.py [--seconds 60] [--seed 0]

Every round has a table of shared arrays. Anybody reads and copies the ones of the round before;
each array has one writer in the round, except for some that all threads add to under a lock, so
that the result is defined. A seed with one round is reproduced by `--seed N --seconds 0`.
"""

import argparse
import sys
import threading
import time

import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime

THREADS, STEPS = 3, 12
SIZES = (7, 500, 5000, 40_000)


class Worker:
    """One thread's share of a round: the same steps on arrays of ours and of NumPy's."""

    def __init__(self, seed, number, tables, total, lock):
        self.rng = np.random.default_rng([seed, number])
        self.ours, self.numpy = tables
        self.total, self.lock = total, lock
        self.own = self.ours[number], self.numpy[number]
        self.added = 0
        self.kept = []
        self.streams = [runtime.Stream() for _ in range(2)]
        self.error = None

    def operand(self):
        """Return a shared array that nobody writes in this round."""
        k = int(self.rng.integers(THREADS, len(self.ours)))
        return self.ours[k], self.numpy[k]

    def step(self):
        mine, want = self.own
        other, other_want = self.operand()
        match self.rng.integers(7):
            case 0:
                mine *= 0.5
                want *= 0.5
            case 1:
                mine += other
                want += other_want
            case 2:
                mine[1:] = other[:-1]
                want[1:] = other_want[:-1]
            case 3:
                mine[::2] = xp.abs(mine[::2]) - 1.0
                want[::2] = np.abs(want[::2]) - 1.0
            case 4:
                self.kept.append((xp.asarray(mine, copy=True), want.copy()))
            case 5:
                self.kept.append((xp.asarray(other, copy=True), other_want.copy()))
                self.kept[-1][0][0] = -1.0
                self.kept[-1][1][0] = -1.0
            case 6:
                with self.lock:
                    self.total += 1.0
                self.added += 1

    def run(self):
        try:
            before = None
            for _ in range(STEPS):
                stream = self.streams[int(self.rng.integers(2))]
                with stream:
                    if before is not None:
                        stream.wait_event(before)
                    self.step()
                    before = stream.record()
        except BaseException as error:
            self.error = error


def check_round(seed):
    """Run one random round; raise AssertionError where it differs from NumPy."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice(SIZES))
    numpy = [rng.integers(-8, 8, size).astype(np.float64) for _ in range(THREADS + 3)]
    ours = [xp.asarray(a) for a in numpy]
    # Copies that share memory with the arrays that are written.
    for k in range(THREADS):
        ours.append(xp.asarray(ours[k], copy=True))
        numpy.append(numpy[k].copy())
    total, lock = xp.zeros(size), threading.Lock()
    workers = [Worker(seed, k, (ours, numpy), total, lock) for k in range(THREADS)]
    threads = [threading.Thread(target=worker.run) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.error:
            raise worker.error
        for got, want in [worker.own, *worker.kept]:
            np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"seed {seed}")
    for got, want in zip(ours, numpy, strict=True):
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"seed {seed}")
    added = sum(worker.added for worker in workers)
    np.testing.assert_array_equal(np.asarray(total), added, err_msg=f"seed {seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end, seed = time.monotonic() + options.seconds, options.seed
    while True:
        check_round(seed)
        seed += 1
        if time.monotonic() >= end:
            break
    print(f"{seed - options.seed} rounds from seed {options.seed}: all as NumPy has it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
