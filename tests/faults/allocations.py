"""Every call of everything.py again and again, with every n-th request for memory failing.

    python tests/faults/allocations.py [--of pool|new|python] [--size 6000] [--most 40] [NAME...]

The requests are those to the memory pool, where arrays are, those of C++ containers, or those of
the interpreter (only the n-th of them fails). For each call n goes from 1 to the number of requests
that it makes. A call gives what it gives without faults, or MemoryError at the call or at a read;
nothing it read has changed, the next call is right, and at the end no memory is held that was not
held before.
"""

import argparse
import contextlib
import faulthandler
import gc
import sys
import time

import everything
import kinds
import numpy as np

from ascend_array_api import _core, runtime


def agrees(result, want):
    """Tell whether everything in a result is as it should be or says that memory was missing."""
    if result is None:
        return True
    if isinstance(result, tuple | list):
        return all(agrees(*pair) for pair in zip(result, want, strict=True))
    try:
        got = everything.values(result)
    except MemoryError:
        return True
    return got == want or (isinstance(got, str) and "Error" in got)  # repr never raises


class Sweep:
    """Faults in calls on inputs of one size."""

    def __init__(self, memory, size):
        self.memory = memory
        self.inputs = everything.Inputs(size)
        self.faults = self.runs = 0

    def attempt(self, call, n):
        """Return the result of a call with faults, which may be pending; None where it failed."""
        result = None
        self.memory.fail_every(n)
        try:
            result = call(self.inputs)
            runtime.synchronize()
        except Exception as error:
            self.memory.fail_every(0)
            if not self.memory.means_memory(error):
                raise
            self.faults += 1
            error.__traceback__ = None  # of an object that the interpreter may use again
        finally:
            self.memory.fail_every(0)
        return result

    def settle(self):
        """Run what is left behind, and forget its errors."""
        with contextlib.suppress(MemoryError):
            runtime.synchronize()

    def held(self, expected):
        """Return how many bytes are in use; only garbage may be above what is expected."""
        if _core.pool_stats("cpu")["used"] != expected:
            gc.collect()
        return _core.pool_stats("cpu")["used"]

    def steps(self, call, most):
        """Return the values of n: all up to the number of requests, or some of them."""
        self.memory.fail_every(0)
        everything.values(call(self.inputs))
        requests = self.memory.requests()
        if requests <= most:
            return range(1, requests + 1)
        return sorted({int(n) for n in np.geomspace(1, requests, most)})

    def check(self, name, most):
        """Sweep n for one call; raise AssertionError where something is wrong."""
        call = everything.CALLS[name]
        want = everything.values(call(self.inputs))
        self.settle()
        used = _core.pool_stats("cpu")["used"]
        for n in self.steps(call, most):
            self.runs += 1
            got = self.attempt(call, n)
            assert agrees(got, want), f"other values with request {n} failing"
            del got
            self.settle()
            assert everything.values(call(self.inputs)) == want, f"wrong after {n}"
            self.settle()
            left = self.held(used) - used
            assert not left or self.memory.leaks, f"{left} bytes are left after {n}"
        assert self.inputs.intact(), "what it read has changed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--of", choices=kinds.KINDS, default="pool", help="whose requests fail")
    parser.add_argument("--size", type=int, default=6000, help="elements of an array")
    parser.add_argument("--most", type=int, default=40, help="values of n for each call, about")
    options = parser.parse_args()
    kinds.restart_with_faults(options.of)
    faulthandler.enable()
    start, wrong = time.monotonic(), 0
    sweep = Sweep(kinds.KINDS[options.of](), options.size)
    for name in options.names or everything.CALLS:
        try:
            sweep.check(name, options.most)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")
            sweep.inputs = everything.Inputs(options.size)
            wrong += 1
    seconds = time.monotonic() - start
    print(
        f"{sweep.runs} calls on {options.size} elements, {sweep.faults} with MemoryError, "
        f"{seconds:.0f} s, {wrong} wrong"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
