"""Programs that never look at a value before their end: python tests/long/endless.py [NAME...]

    loop      1e6 iterations of x = x * 0.999 + 1 on 1e5 elements
    chain     a chain of 1e6 operations that nothing but its end is read of, and one of 1e6 views
    tiny      1e6 recorded operations on 8 elements
    held      1e5 pending results that are all held, read from the last to the first
    streams   independent work on two streams, and the same one after the other
    bits      reductions and products with 1, 2, 3 and 8 threads

`--part 0.01` makes them that much shorter. Each checks its values and that resident memory is flat.
"""

import argparse
import faulthandler
import gc
import os
import resource
import subprocess
import sys
import time

import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime

MIB = 1 << 20
#: seconds after which a program that hangs shows where
TIMEOUT = 3000


def resident():
    """Return the bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Flat:
    """Resident memory during a loop: a tenth of it may warm up."""

    def __init__(self, steps):
        self.steps, self.early, self.late = steps, 0, 0

    def look(self, i):
        if i % max(1, self.steps // 100) == 0:
            now = resident()
            if i <= self.steps // 10:
                self.early = max(self.early, now)
            self.late = max(self.late, now)

    def check(self, slack=32 * MIB):
        grown = self.late - self.early
        assert grown <= slack, f"resident memory has grown by {grown / MIB:.0f} MiB"
        return f"resident memory: {self.early / MIB:.0f} MiB, later {grown / MIB:+.1f}"


def loop(steps):
    start = np.linspace(0.0, 2000.0, 100_000)
    x = xp.asarray(start)
    flat = Flat(steps)
    for i in range(steps):
        x = x * 0.999 + 1
        flat.look(i)
    some = np.asarray(x)[:: start.size // 50]
    want = start[:: start.size // 50].copy()
    for _ in range(steps):
        want = want * 0.999 + 1
    np.testing.assert_array_equal(some, want)
    return flat.check()


def chain(steps):
    x = xp.asarray(np.arange(5000.0))
    flat = Flat(steps)
    y, v = x, x
    for i in range(steps):
        y = y + 1
        v = v[::-1]
        flat.look(i)
    np.testing.assert_array_equal(np.asarray(y), np.arange(5000.0) + steps)
    assert float(v[3]) == (3 if steps % 2 == 0 else 4996)
    del y, v
    return flat.check()


def tiny(steps):
    x = xp.asarray(np.arange(8.0))
    total = xp.zeros(8)
    flat = Flat(steps)
    for i in range(steps // 2):
        total += x * 2
        flat.look(2 * i)
    np.testing.assert_array_equal(np.asarray(total), np.arange(8.0) * 2 * (steps // 2))
    return flat.check()


def held(steps):
    steps //= 10
    x = xp.asarray(np.arange(8.0))
    before = runtime.MemoryPool().statistics().used
    kept = [x]
    for _ in range(steps):
        kept.append(kept[-1] + 1)
    for i in range(steps, 0, -max(1, steps // 1000)):
        assert float(kept[i][3]) == 3 + i
    used = runtime.MemoryPool().statistics().used - before
    del kept
    gc.collect()
    assert runtime.MemoryPool().statistics().used == before, "memory is left"
    return f"{used / MIB:.1f} MiB held, nothing after"


def streams(steps):
    """Each stream has few elements a step, so that one does not occupy all cores."""
    steps = max(1000, steps // 100)
    x = xp.asarray(np.linspace(0.0, 1.0, 20_000))

    def work(stream):
        with stream:
            y = x
            for _ in range(steps):
                y = xp.sin(y) * 0.5
            stream.record()
        return y

    def seconds(apart):
        first, second = runtime.Stream(), runtime.Stream()
        start = time.perf_counter()
        y = work(first)
        if apart:
            first.synchronize()
        z = work(second)
        first.synchronize()
        second.synchronize()
        taken = time.perf_counter() - start
        np.testing.assert_array_equal(np.asarray(y), np.asarray(z))
        return taken

    runtime.set_num_threads(1)
    apart = min(seconds(True) for _ in range(5))
    together = min(seconds(False) for _ in range(5))
    return f"two streams: {apart / together:.2f} times as fast as one after the other"


def bits(steps):
    rng = np.random.default_rng(3)
    arrays = [
        rng.normal(size=shape).astype(dtype)
        for shape in ((1_000_003,), (777, 1301), (64, 100, 129))
        for dtype in ("float32", "float64", "complex64")
    ]
    a, b = rng.normal(size=(301, 503)), rng.normal(size=(503, 407))
    names = ("sum", "prod", "mean", "std", "var", "cumulative_sum")
    reference, compared = None, 0
    for threads in (1, 2, 3, 8):
        runtime.set_num_threads(threads)
        got = []
        for array in arrays:
            x = xp.asarray(array)
            for name in names:
                if name in ("std", "var") and array.dtype.kind == "c":
                    continue
                for axis in [None, 0, -1] if name != "cumulative_sum" else [0, -1]:
                    got.append(np.asarray(getattr(xp, name)(x, axis=axis)).tobytes())
                    got.append(np.asarray(getattr(xp, name)(x * 3, axis=axis)).tobytes())
        for dtype in ("float32", "float64", "complex128"):
            p, q = xp.asarray(a.astype(dtype)), xp.asarray(b.astype(dtype))
            got += [np.asarray(r).tobytes() for r in (p @ q, q.T @ p.T, p @ q[:, 0], p[0] @ q)]
            got.append(np.asarray((p @ q) * 2 + q[:1]).tobytes())
        reference = reference or got
        assert got == reference, f"other bits with {threads} threads"
        compared += len(got)
    return f"{compared} results with 1, 2, 3 and 8 threads have the same bits"


#: the function, and the mode of deferral that it wants
PROGRAMS = {
    "loop": (loop, "auto"),
    "chain": (chain, "auto"),
    "tiny": (tiny, "always"),
    "held": (held, "always"),
    "streams": (streams, "auto"),
    "bits": (bits, "auto"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--here", action="store_true", help="in this process, as it was started")
    options = parser.parse_args()
    for name in options.names or PROGRAMS:
        program, mode = PROGRAMS[name]
        if options.here:
            faulthandler.dump_traceback_later(TIMEOUT)
            start = time.monotonic()
            result = program(int(1_000_000 * options.part))
            print(f"{name}: {result}; {time.monotonic() - start:.0f} s", flush=True)
            continue
        env = {"ASCEND_ARRAY_API_DEFER": mode} | os.environ
        command = [sys.executable, __file__, "--here", "--part", str(options.part), name]
        if code := subprocess.run(command, env=env).returncode:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
