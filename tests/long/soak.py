"""Everything at once for a long time: python tests/long/soak.py [--minutes 30 | --seconds 5]

Threads make random calls of every function, run random programs on arrays of their own and on
shared ones, export, pickle, enter arenas and streams, while one of them takes memory up to the
limit of the pool, gives it back, empties the cache and changes the number of worker threads. Every
result is compared with what one thread got alone, or with NumPy. Missing memory may raise
MemoryError, and nothing else. At the end the pool holds what it held before. Resident memory goes
up and down with the cache; its least in the last third of the time is that of the first third.
"""

import argparse
import faulthandler
import gc
import os
import resource
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / name) for name in ("faults", "differential", "engine")]

import everything  # noqa: E402
import random_programs  # noqa: E402
import random_threads  # noqa: E402

import ascend_array_api as xp  # noqa: E402
from ascend_array_api import runtime  # noqa: E402

MIB = 1 << 20
LIMIT = 384 * MIB
SIZES = (24, 6000, 150_000)
#: what the allocator of C may keep beyond what is in use, for a few threads
SLACK = 64 * MIB
if "asan" in os.environ.get("LD_PRELOAD", ""):  # which keeps what is freed for a while
    SLACK = 1024 * MIB

pool = runtime.MemoryPool()


def resident():
    """Return the bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Soak:
    """What the threads share: inputs, expected results, the end, and what went wrong."""

    def __init__(self, seed):
        self.seed = seed
        self.inputs = [everything.Inputs(size) for size in SIZES]
        self.expected = [
            {name: everything.values(call(n)) for name, call in everything.CALLS.items()}
            for n in self.inputs
        ]
        self.over = threading.Event()
        self.errors = []
        self.lock = threading.Lock()
        self.steps = self.missed = 0

    # ---- steps
    def call(self, rng):
        at = int(rng.choice(len(SIZES), p=[0.5, 0.35, 0.15]))
        name = list(everything.CALLS)[int(rng.integers(len(everything.CALLS)))]
        got = everything.values(everything.CALLS[name](self.inputs[at]))
        assert got == self.expected[at][name], f"{name} on {SIZES[at]} elements"

    def program(self, rng):
        random_programs.Program(int(rng.integers(1 << 40))).run()

    def shared(self, rng):
        random_threads.check_round(int(rng.integers(1 << 40)))

    def loop(self, rng):
        """A loop that nobody looks at before its end."""
        n = int(rng.integers(10, 1000))
        x = xp.asarray(np.ones(int(rng.choice([10, 5000, 20_000]))))
        for _ in range(n):
            x = x * 0.5 + 1
        assert bool(xp.all(xp.abs(x - 2) <= 1)), "a loop"

    def fill(self, rng):
        """Take memory up to the limit and give it back."""
        kept = []
        try:
            for i in range(1000):
                size = int(rng.integers(1, 4 * MIB))
                kept.append(xp.full(size, i % 256, dtype=xp.uint8) + 1)
                if rng.random() < 0.003:
                    break
            runtime.evaluate(*kept)
        except MemoryError:
            self.count(missed=1)
        for i, x in enumerate(kept[:-1]):
            try:
                assert int(x[-1]) == (i + 1) % 256, "an array beside others"
            except MemoryError:
                self.count(missed=1)

    def settings(self, rng):
        match int(rng.integers(3)):
            case 0:
                runtime.set_num_threads(int(rng.integers(1, 6)))
            case 1:
                pool.free_all_blocks()
            case 2:
                gc.collect()

    # ---- threads
    def count(self, steps=0, missed=0):
        with self.lock:
            self.steps += steps
            self.missed += missed

    def run(self, number):
        rng = np.random.default_rng([self.seed, number])
        steps = [self.call] * 60 + [self.program] * 2 + [self.loop] * 4 + [self.shared]
        if number == 0:
            steps += [self.fill] * 2 + [self.settings] * 10
        while not self.over.is_set():
            try:
                steps[int(rng.integers(len(steps)))](rng)
            except MemoryError:
                self.count(missed=1)
            except BaseException as error:
                self.errors.append(error)
                self.over.set()
            self.count(steps=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seconds", type=float, help="in place of --minutes")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    length = options.seconds if options.seconds is not None else 60 * options.minutes
    faulthandler.enable()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    pool.set_limit(LIMIT)
    soak = Soak(options.seed)
    used = pool.statistics().used
    soak.fill(np.random.default_rng(options.seed))
    samples = [resident()]
    threads = [threading.Thread(target=soak.run, args=[i]) for i in range(options.threads)]
    for thread in threads:
        thread.start()
    start = time.monotonic()
    while not soak.over.wait(max(0.05, length / 200)):
        samples.append(resident())
        if time.monotonic() - start >= length:
            soak.over.set()
    for thread in threads:
        thread.join()
    if soak.errors:
        raise soak.errors[0]
    assert all(n.intact() for n in soak.inputs), "inputs have changed"
    gc.collect()
    left = pool.statistics().used - used
    assert left <= 0, f"{left} bytes are left in the pool"
    third = len(samples) // 3
    early, late = min(samples[third // 3 : third]), min(samples[-third:])
    print(
        f"{soak.steps} steps on {len(threads)} threads in {time.monotonic() - start:.0f} s, "
        f"{soak.missed} times MemoryError, all results right; resident: {early / MIB:.0f} MiB at "
        f"least in the first third, {late / MIB:.0f} in the last, {max(samples) / MIB:.0f} at most"
    )
    assert late <= early + SLACK, "resident memory grows"
    assert soak.missed < soak.steps / 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
