"""What each way to steer the engine is worth: the same work with and without it, and on NumPy."""

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from effects import main
from harness import BASE, OURS
from techniques import NUMPY, SWITCHED_OFF, Effect, Target, Work, finish, floats, speed, timed
from works import camera, encoder, shallow_water


def _hint(xp: Any, enabled: bool, hint: str) -> Callable[[Any], Any]:
    """Return a function that hints an array, or leaves it alone."""
    if not enabled or xp.__name__ != OURS:
        return lambda x: x
    return lambda x: xp.runtime.set_hint(x, hint)


def _reset_peak(xp: Any) -> int:
    """Return the bytes in use; what is above them counts from here."""
    return xp.runtime.MemoryPool().statistics().used if xp.__name__ == OURS else 0


def _added(xp: Any, before: int) -> dict[str, float]:
    """Return the peak that arrays added since."""
    if xp.__name__ != OURS:
        return {"peak_mib": 0.0}
    return {"peak_mib": (xp.runtime.MemoryPool().statistics().peak - before) / 2**20}


def reuse(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Run a chain of steps that need each other's whole result, every one of which has a name."""
    done = xp.runtime.reuse_buffer if enabled and xp.__name__ == OURS else lambda x: None
    x = xp.astype(floats(xp, (1 << 22,)), xp.float64)
    finish(xp, x)
    before = _reset_peak(xp)

    def chain() -> Any:
        sums = xp.cumulative_sum(x * 3.0 - 1.0)
        waves = xp.sin(sums)
        finish(xp, waves)
        done(sums)
        flipped = xp.flip(waves) + waves
        finish(xp, flipped)
        done(waves)
        return flipped[::4096] * 2.0 + xp.flip(flipped)[::4096]

    total, measures = timed(xp, chain, 10)
    return total, measures | _added(xp, before)


def temporary(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Take steps whose state keeps its name while the next one is computed, 32 MiB each."""
    hint = _hint(xp, enabled, "temporary")
    start = floats(xp, (1 << 23,))
    before = _reset_peak(xp)

    def steps() -> Any:
        state = hint(start + 1.0)
        finish(xp, state)
        for _ in range(20):
            following = hint(xp.sqrt(state) * 1.5)
            finish(xp, following)
            state = following
        return state[::4096] * 1.0

    total, measures = timed(xp, steps, 3)
    return total, measures | _added(xp, before)


def sequential(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Scale 16 arrays of 16 MiB in turn: when a result is next touched, it is in no cache."""
    hint = _hint(xp, enabled, "sequential_access")
    tables = [floats(xp, (1 << 22,)) + float(k) for k in range(16)]
    scaled = list(tables)

    def scale() -> Any:
        for k, table in enumerate(tables):
            scaled[k] = hint(table * 2.0)
            finish(xp, scaled[k])
        return scaled[0][::4096] * 1.0

    return timed(xp, scale, 5)


def reduced(function: Callable[[Any, Any], Any]) -> Work:
    """Take the variance of a function of 8 million numbers."""

    def work(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
        hint = _hint(xp, enabled, "reduce_output")
        x = floats(xp, (1 << 23,))
        finish(xp, x)
        before = _reset_peak(xp)
        total, measures = timed(xp, lambda: xp.var(hint(function(xp, x))), 20)
        return total, measures | _added(xp, before)

    return work


def _polynomial(_xp: Any, x: Any) -> Any:
    return ((((x * x + 0.5) * x - 0.25) * x + 0.125) * x - 0.3) * x + 0.7


def _logarithm(xp: Any, x: Any) -> Any:
    return xp.sqrt(xp.log(x + 1.5) * x + 1.0)


def transposed(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Multiply the transpose of a table by the errors of its rows, as a gradient does."""
    table, errors = floats(xp, (2000, 784)), floats(xp, (2000, 64))
    _hint(xp, enabled, "transposed")(table)
    return timed(xp, lambda: table.T @ errors, 50)


def factor(rows: int) -> Work:
    """Multiply some rows by one 1024 x 1024 matrix, again and again."""

    def work(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
        weight = _hint(xp, enabled, "conv_weight")(floats(xp, (1024, 1024)))
        x = floats(xp, (rows, 1024))
        return timed(xp, lambda: x @ weight, 300)

    return work


PARTS = 8  # of a batch that is computed on


def _balance(
    load: Callable[[], Any], as_array: Callable[[Any], Any], compute: Callable[[Any, int], float]
) -> int:
    """Return how many parts are computed on while a batch is loaded, in turn as later."""
    loading, computing = [], []
    for _ in range(15):
        start = time.perf_counter()
        batch = load()
        loaded = time.perf_counter()
        compute(as_array(batch), 4 * PARTS)
        loading.append(loaded - start)
        computing.append((time.perf_counter() - loaded) / (4 * PARTS))
    return max(1, round(statistics.median(loading) / statistics.median(computing)))


def prefetched(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Load 64 batches and compute on each, which takes about as long; one thread for either."""
    rng = np.random.default_rng(0)
    if xp.__name__ == OURS:
        xp.runtime.set_num_threads(1)

    def load() -> Any:
        return np.sort(rng.random((64, 4096)), axis=1)

    def compute(x: Any, parts: int) -> float:
        rows = x.shape[0] // PARTS
        pieces = [x[k * rows : (k + 1) * rows] for k in range(PARTS)]
        sums = [
            float(xp.sum(xp.sin(xp.exp(pieces[k % PARTS]) + pieces[k % PARTS])))
            for k in range(parts)
        ]
        return sums[0]

    def run() -> float:
        batches = (load() for _ in range(64))
        source = xp.runtime.prefetch(batches) if enabled and xp.__name__ == OURS else batches
        return sum(compute(x, parts) for x in map(xp.asarray, source))

    parts = _balance(load, xp.asarray, compute)
    run()  # takes memory from the system
    start = time.perf_counter()
    total = run()
    return total, {"seconds": time.perf_counter() - start}


def _logistic(xp: Any) -> Callable[[], Any]:
    """Return 200 steps of logistic-regression descent at 2000 x 32, from the start."""
    table, slope = floats(xp, (2000, 32)), floats(xp, (2000,))
    target = xp.astype(slope > 0.5, xp.float32)

    def descend() -> Any:
        weights = xp.zeros(32, dtype=xp.float32)
        for _ in range(200):
            error = 1.0 / (1.0 + xp.exp(-(table @ weights))) - target
            weights = weights - 0.1 * (table.T @ error) / 2000.0
            finish(xp, weights)
        return weights

    return descend


def _softmax(xp: Any) -> Callable[[], Any]:
    x = floats(xp, (2000, 500))

    def softmax() -> Any:
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    return softmax


def _once(xp: Any) -> Callable[[], Any]:
    """Return work that is another one each time."""
    x = floats(xp, (1 << 15,))
    sizes = iter(range(1 << 14, 1 << 15))

    def other() -> Any:
        part = x[: next(sizes)]
        return xp.sum(xp.sqrt(part * part + 1.0) - part)

    return other


# Times after which tuning has made its choices: above kTries * kChoices of cpp/graph/tuning.h.
TRIED = 50


def predicted(prepare: Callable[[Any], Callable[[], Any]], repeats: int) -> Work:
    """Do the same again and again, in predictive mode."""

    def work(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
        if enabled and xp.__name__ == OURS:
            xp.runtime.set_mode("predictive")
        run = prepare(xp)
        for _ in range(TRIED):
            result = run()
            finish(xp, *(result if isinstance(result, tuple) else (result,)))
        return timed(xp, run, repeats)

    return work


def precision(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Run a layer of an encoder; the error is the largest one, of values around 1."""
    exact = encoder.prepare(np, np.float64)()
    layer = encoder.prepare(xp)
    mixed = enabled and xp.__name__ == OURS
    with xp.runtime.precision("mixed") if mixed else nullcontext():
        error = float(np.max(np.abs(np.asarray(layer()) - exact)))
        _, measures = timed(xp, layer, 8)
    return float(error < 0.05), measures | {"error": error}


def _effect(text: str, work: Work, *targets: Target) -> Effect:
    return Effect(text, work, {"off": SWITCHED_OFF, BASE: NUMPY}, targets)


def _memory(least: float) -> Target:
    return Target("peak_mib", "off", least)


EFFECTS = {
    "precision": _effect(
        "a layer of an encoder: 16 heads, width 1024, sequence 128, batch 4; mixed precision",
        precision,
        speed("off", 1.3),
    ),
    "prefetch": _effect(
        "64 batches, loading and computing balanced, one thread each",
        prefetched,
        speed("off", 1.8),
    ),
    "predict": _effect(
        "200 steps of logistic-regression descent, 2000 x 32 float32; predictive mode",
        predicted(_logistic, 30),
        speed("off", 1.15),
    ),
    **{
        f"predict-{name}": _effect(text, predicted(prepare, repeats), speed("off", least))
        for name, text, prepare, repeats, least in (
            ("water", "a step of the shallow-water equations", shallow_water.prepare, 60, 0.95),
            ("camera", "a camera frame, 4K", camera.prepare, 100, 0.95),
            ("softmax", "a softmax of 2000 x 500", _softmax, 300, 0.95),
            ("once", "small work that is another one each time", _once, 5000, 0.9),
        )
    },
    "reuse": _effect(
        "three steps on 32 MiB, whose results keep their names but are given back",
        reuse,
        _memory(1.3),
    ),
    "temporary": _effect(
        "20 steps on 32 MiB, the state named until the next one is there",
        temporary,
        _memory(1.3),
        speed("off", 1.1),
    ),
    "sequential": _effect("x * 2, 16 arrays of 16 MiB", sequential, speed("off", 1.1)),
    "reduce": _effect(
        "variance of a polynomial of degree 6, 8e6 float32",
        reduced(_polynomial),
        _memory(5),
        speed("off", 1.05),
    ),
    "reduce-log": _effect(
        "var(sqrt(log(x + 1.5) * x + 1)), 8e6 float32: memory alone",
        reduced(_logarithm),
        _memory(5),
    ),
    "transposed": _effect("x.T @ e, 784 x 2000 x 64 float32", transposed, speed("off", 1.1)),
    **{
        f"factor-{rows}": _effect(
            f"x @ w, {rows} x 1024 x 1024 float32", factor(rows), speed("off", 1.05)
        )
        for rows in (8, 32, 128)
    },
}


if __name__ == "__main__":
    sys.exit(main("What each way to steer is worth", EFFECTS, rounds=7))
