"""Work on large arrays lets other Python threads run meanwhile."""

import sys
import threading

import numpy as np
import pytest

import ascend_array_api as xp

N = 1 << 21


@pytest.fixture
def switches_on_release_only():
    """Python threads take turns only where the running one lets go of the lock by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(before)


def lets_others_run(call):
    """Whether a thread that is ready to run does so during one of many calls."""
    ready, go = threading.Event(), threading.Lock()
    progress = []
    go.acquire()

    def other():
        ready.set()
        with go:
            progress.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    ready.wait()
    go.release()  # does not give up the interpreter's lock
    for _ in range(50):
        call()
        if progress:
            break
    during = bool(progress)
    thread.join()
    return during


def matrix():
    return xp.reshape(xp.arange(N, dtype=xp.float64), (N // 2, 2))


X = matrix()
SHARED = xp.asarray(np.arange(N, dtype=np.float64), copy=False)
INDICES = xp.arange(N - 1, -1, -1)
BYTES = np.ones(16 * N, dtype=bool)
MASK = xp.arange(N) % 3 == 0
ZEROS = xp.zeros(X.shape, dtype=xp.int64)

CALLS = {
    "asarray copy": lambda: xp.asarray(SHARED, copy=True),
    "asarray of ndarray": lambda: xp.asarray(np.asarray(SHARED)),
    "copy": SHARED.__copy__,
    "astype": lambda: xp.astype(SHARED, xp.float32),
    "astype same": lambda: xp.astype(SHARED, xp.float64),
    "from_dlpack copy": lambda: xp.from_dlpack(SHARED, copy=True),
    "from_dlpack bool": lambda: xp.from_dlpack(BYTES),
    "dlpack": lambda: SHARED.__dlpack__(copy=True),
    "reshape copy": lambda: xp.reshape(SHARED, (2, N // 2), copy=True),
    "reshape": lambda: xp.runtime.evaluate(xp.reshape(X.T, (-1,))),
    "take": lambda: xp.take(SHARED, INDICES),
    "take_along_axis": lambda: xp.take_along_axis(X, ZEROS, axis=1),
    "getitem": lambda: SHARED[INDICES],
    "getitem mask": lambda: SHARED[MASK],
    "setitem": lambda: SHARED.__setitem__(INDICES, 1.0),
    "repeat": lambda: xp.repeat(X, xp.asarray([1, 2]), axis=1),
    "arange": lambda: xp.arange(4 * N),
    "linspace": lambda: xp.linspace(0, 1, 4 * N),
    "full": lambda: xp.runtime.evaluate(xp.full(4 * N, xp.asarray(1.5))),
    "eye": lambda: xp.eye(4096),
    "isin": lambda: xp.isin(INDICES, 3),
    "searchsorted": lambda: xp.searchsorted(xp.asarray([1.0, 2.0]), SHARED),
}


@pytest.mark.parametrize("name", CALLS)
def test_large_work_without_the_lock(name, switches_on_release_only):
    CALLS[name]()
    assert lets_others_run(CALLS[name])
