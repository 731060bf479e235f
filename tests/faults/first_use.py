"""Faults when something is used for the first time: python tests/faults/first_use.py KIND

Each value of n has a process of its own, forked before the first use.
"""

import contextlib
import os
import signal
import sys
import threading

import kinds
import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime


def threads_and_tapes():
    """Start worker threads, a tape, the pool's part of a thread."""
    x = xp.asarray(np.ones(600_000))
    results = []

    def work():
        try:
            results.append(float(xp.sum(xp.exp(x * 0) + x)))
        except MemoryError:
            results.append(None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results[0] in (None, 1_200_000.0)
    return results[0] is not None


def streams():
    stream = runtime.Stream()
    with stream:
        x = xp.asarray(np.ones(6000)) * 3
        event = stream.record()
    other = runtime.Stream()
    other.wait_event(event)
    with other:
        y = x + 1
    other.synchronize()
    return float(xp.sum(y)) == 24_000


def transforms():
    z = xp.asarray(np.ones(1009, complex))
    return abs(complex(xp.fft.fft(z)[0]) - 1009) < 1e-9


def arenas():
    with runtime.arena("1MB"):
        return float(xp.sum(xp.ones(1000))) == 1000


def matrices():
    a = xp.asarray(np.eye(300) * 2)
    return float((xp.linalg.inv(a) @ a)[5, 5]) == 1.0


USES = [threads_and_tapes, streams, transforms, arenas, matrices]


def status(memory, use, n):
    """Return the exit status of a process that uses something with faults, then without."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        memory.fail_every(n)
        with contextlib.suppress(MemoryError):
            use()
        memory.fail_every(0)
        with contextlib.suppress(MemoryError):
            runtime.synchronize()
        os._exit(0 if use() else 1)
    return os.waitpid(pid, 0)[1]


def main():
    kinds.restart_with_faults(sys.argv[1])
    memory = kinds.KINDS[sys.argv[1]]()
    bad = [(use.__name__, n) for use in USES for n in range(1, 40) if status(memory, use, n)]
    print(bad or "all right")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
