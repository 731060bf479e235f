"""Ctrl-C: real signals, while work runs and while it is waited for."""

import pytest

PRESS = """
import signal
# Processes that a shell starts in the background ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
pressed = [None]
def press(after, kind=signal.SIGINT):
    def send():
        time.sleep(after)
        pressed[0] = time.perf_counter()
        os.kill(os.getpid(), kind)
    threading.Thread(target=send, daemon=True).start()

def interrupted(call, raised=KeyboardInterrupt):
    '''How long it took from the signal until call() raised.'''
    try:
        call()
    except raised:
        return time.perf_counter() - pressed[0]
    raise AssertionError("not interrupted")

took = [0.0]
def enough(chain, steps):
    '''So many steps that they take much longer than a signal does to come.'''
    while True:
        start = time.perf_counter()
        runtime.evaluate(chain(steps))
        took[0] = time.perf_counter() - start
        if took[0] > 0.5:
            return steps
        steps *= 2

def soon(late):
    return late < max(0.6, took[0] / 4)
"""

# The start of a chain, the least number of steps, and one step.
CHAINS = {
    "tiles": ("np.linspace(0, 1, 12_000_000)", 16, "xp.sin(y) + x", "np.sin(y) + x"),
    "groups": ("np.linspace(0, 1, 400_000)", 400, "xp.sin(y) + x", "np.sin(y) + x"),
    "bool": ("np.arange(6_000_000) % 7 < 3", 24, "xp.sin(xp.astype(y, xp.float64)) < 0.5", None),
    "reductions": ("np.ones(9_000_000)", 40, "xp.tanh(y * xp.sum(xp.sin(y)))", None),
    "scans": ("np.ones(9_000_000)", 40, "xp.sin(xp.cumulative_sum(y))", None),
    "products": ("np.eye(600) + 1e-3", 4, "y @ x", None),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.technique("DEFER")
def test_a_long_evaluation_stops_and_is_taken_up_again(child, name, threads):
    start, steps, step, reference = CHAINS[name]
    child(
        PRESS
        + f"""
runtime.set_num_threads({threads})
a = {start}
x = xp.asarray(a)
def chain(steps):
    y = x
    for _ in range(steps):
        y = {step}
    return y
runtime.synchronize()
steps = enough(chain, {steps})
y = chain(steps)
press(0.15)
late = interrupted(lambda: runtime.evaluate(y))
assert soon(late), (late, took)
got = np.asarray(y)
again = chain(steps)
runtime.evaluate(again)
assert np.array_equal(got, np.asarray(again))
"""
        + (
            ""
            if reference is None
            else f"""
part = a[:: len(a) // 1000]
x, y = part, part
for _ in range(steps):
    y = {reference}
np.testing.assert_allclose(got[:: len(a) // 1000], y, rtol=1e-12)
"""
        )
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.technique("DEFER", "FUSION")
def test_one_group_stops_within_its_tiles(child, threads):
    child(
        PRESS
        + f"""
runtime.set_num_threads({threads})
def chain(x):
    y = x
    for _ in range(12):
        y = xp.atan2(xp.tan(y), x)
    return y
n, took = 2_000_000, 0.0
while took < 1.2:
    n *= 2
    x = xp.asarray(np.linspace(0.1, 1, n))
    runtime.synchronize()
    groups = _core.tape_counters()["groups"]
    start = time.perf_counter()
    runtime.evaluate(chain(x))
    took = time.perf_counter() - start
    assert _core.tape_counters()["groups"] == groups + 1
y = chain(x)
press(0.1)
late = interrupted(lambda: runtime.evaluate(y))
assert late < 0.5 * took, (late, took)
"""
    )


@pytest.mark.technique("DEFER")
def test_in_place_writes_finish(child):
    child(
        PRESS
        + """
a = np.linspace(0, 1, 3_000_000)
x = xp.asarray(a)
def chain(steps):
    acc = xp.asarray(np.zeros_like(a))
    for _ in range(steps):
        acc += xp.sin(x + acc)
    return acc
runtime.synchronize()
steps = enough(chain, 40)
acc = chain(steps)
press(0.15)
late = interrupted(lambda: runtime.evaluate(acc))
got = np.array(acc, copy=True)
want = np.zeros(1000)
for _ in range(steps):
    want += np.sin(a[::3000] + want)
np.testing.assert_allclose(got[::3000], want, rtol=1e-12)
"""
    )


@pytest.mark.technique("DEFER")
def test_while_another_thread_runs_the_work(child):
    child(
        PRESS
        + """
x = xp.asarray(np.linspace(0, 1, 12_000_000))
def chain(steps, f):
    y = x
    for _ in range(steps):
        y = f(y) + x
    return y
steps = 2 * enough(lambda steps: chain(steps, xp.sin), 24)
y = chain(steps, xp.sin)
stream = runtime.Stream()
with stream:
    z = chain(steps, xp.cos)
t = threading.Thread(target=lambda: float(y[0]))
t.start()
time.sleep(0.05)
press(0.1)
late = interrupted(lambda: float(y[0]))
assert soon(late), (late, took)
press(0.1)
late = interrupted(stream.synchronize)
assert soon(late), (late, took)
t.join()
assert abs(float(y[0])) < 1e-12
assert float(z[0]) > 0.5
"""
    )


def test_a_loop_that_records_faster_than_it_runs(child):
    child(
        PRESS
        + """
x = xp.asarray(np.linspace(0, 1, 1_000_000))
def loop():
    y = x
    while True:
        y = xp.sin(y) + x
press(1.0)
assert interrupted(loop) < 0.6
assert float(xp.sum(xp.ones(100_000))) == 100_000
"""
    )


@pytest.mark.technique("DEFER")
def test_other_signals_between_groups(child):
    """A handler that raises stops the evaluation; one that returns, and uses arrays, does not."""
    child(
        PRESS
        + """
x = xp.asarray(np.linspace(0, 1, 400_000))
def chain(steps):
    y = x
    for _ in range(steps):
        y = xp.sin(y) + x
    return y
steps = enough(chain, 600)
class Late(Exception):
    pass
def handler(*_):
    raise Late
signal.signal(signal.SIGALRM, handler)
y = chain(steps)
press(0.1, signal.SIGALRM)
assert interrupted(lambda: float(y[0]), Late) < 0.6
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append((float((x + 1)[0]), float(y[0]))))
signal.signal(signal.SIGINT, lambda *_: seen.append(float(xp.sum(x * 0))))
z = chain(steps)
press(0.05, signal.SIGALRM)
press(0.1, signal.SIGINT)
assert np.array_equal(np.asarray(z), np.asarray(y))
while len(seen) < 2:
    float((x + 1)[1])
assert sorted(map(str, seen)) == ["(1.0, 0.0)", "0.0"], seen
"""
    )
