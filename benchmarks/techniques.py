"""What each technique is: its work, how to switch it off, and what it must be worth."""

import resource
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import BASE, OURS
from works import camera, resnet50, shallow_water, superres


@dataclass(frozen=True)
class Variant:
    """One way to do the work: a library, environment variables, or the technique's own switch."""

    library: str = OURS
    env: Mapping[str, str] | None = None
    enabled: bool = False


@dataclass(frozen=True)
class Target:
    """How many times what a variant needs of `measure` the technique must save: at least."""

    measure: str
    variant: str
    least: float


# Gets the namespace and whether the technique is on; returns the work's result, for comparison,
# and what it measured of itself.
Work = Callable[[Any, bool], tuple[float, dict[str, float]]]


@dataclass(frozen=True)
class Effect:
    """A technique: its work, its variants beside the one with it, and what it must be worth."""

    text: str
    work: Work
    variants: Mapping[str, Variant]
    targets: tuple[Target, ...]


NUMPY = Variant(BASE)
WITHOUT_POOL = Variant(env={"ASCEND_ARRAY_API_POOL": "off"})
WITHOUT_FUSION = Variant(env={"ASCEND_ARRAY_API_FUSION": "off"})
WITHOUT_DEFERRAL = Variant(env={"ASCEND_ARRAY_API_DEFER": "off"})
# What a variant does not set itself is on, whatever the surroundings say.
SWITCHES = {name for v in (WITHOUT_POOL, WITHOUT_FUSION, WITHOUT_DEFERRAL) for name in v.env or ()}
LOOPS = Variant("works.loops")
SWITCHED_OFF = Variant()


def finish(xp: Any, *arrays: Any) -> None:
    if hasattr(xp, "runtime"):
        xp.runtime.evaluate(*arrays)


def _allocations(xp: Any) -> int:
    """Return how often memory was taken from the system."""
    return xp.runtime.MemoryPool().statistics().allocations if hasattr(xp, "runtime") else 0


def allocations(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """200 training steps of a 784-256-10 network on batches of 256."""
    rng = np.random.default_rng(0)

    def make(shape: tuple[int, ...], scale: float = 1.0) -> Any:
        return xp.asarray((rng.standard_normal(shape) * scale).astype(np.float32))

    weights = [make((784, 256), 0.05), make((256,), 0.0), make((256, 10), 0.1), make((10,), 0.0)]
    data = make((8, 256, 784))
    targets = xp.asarray(np.eye(10, dtype=np.float32)[rng.integers(0, 10, (8, 256))])
    loss = 0.0
    before = _allocations(xp)
    for step in range(200):
        x, target = data[step % 8, ...], targets[step % 8, ...]
        hidden = x @ weights[0] + weights[1]
        active = xp.where(hidden > 0.0, hidden, 0.0 * hidden)
        score = active @ weights[2] + weights[3]
        e = xp.exp(score - xp.max(score, axis=1, keepdims=True))
        likely = e / xp.sum(e, axis=1, keepdims=True)
        loss = -xp.mean(xp.sum(target * xp.log(likely + 1e-7), axis=1))
        slope = (likely - target) / 256.0
        back = xp.where(hidden > 0.0, slope @ weights[2].T, 0.0 * hidden)
        slopes = [x.T @ back, xp.sum(back, axis=0), active.T @ slope, xp.sum(slope, axis=0)]
        weights = [w - 0.1 * s for w, s in zip(weights, slopes, strict=True)]
        finish(xp, *weights, loss)
    return float(loss), {"allocations": _allocations(xp) - before}


def arena(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """500 iterations with six temporaries of 1 to 8 MiB, of other sizes each time."""
    rng = np.random.default_rng(0)
    source = xp.asarray(np.arange(1 << 20, dtype=np.float64) % 1000.0)
    sizes = rng.integers(1 << 17, 1 << 20, (500, 6)).tolist()
    total = 0.0
    before = _allocations(xp)
    with xp.runtime.arena("64MiB") if enabled else nullcontext():
        for row in sizes:
            temporaries = [source[:size] + float(k) for k, size in enumerate(row)]
            finish(xp, *temporaries)
            total += sum(float(t[-1]) for t in temporaries)
            del temporaries
    return total, {"allocations": _allocations(xp) - before}


def timed(xp: Any, work: Callable[[], Any], repeats: int) -> tuple[float, dict[str, float]]:
    """Do the work a few times; return the sum of its first results, and what one time takes."""

    def results() -> tuple[Any, ...]:
        result = work()
        return result if isinstance(result, tuple) else (result,)

    total = sum(float(np.sum(np.asarray(x), dtype=np.float64)) for x in results())
    seconds = []
    cpu = time.process_time()
    for _ in range(repeats):
        start = time.perf_counter()
        finish(xp, *results())
        seconds.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / repeats
    return total, {"seconds": statistics.median(seconds), "cpu": cpu}


def floats(xp: Any, shape: tuple[int, ...], scale: float = 1.0) -> Any:
    values = np.random.default_rng(len(shape)).random(shape) * scale
    return xp.asarray(values.astype(np.float32))


def broadcast(third: bool) -> Work:
    """Add a column and a row; without the technique, each is first made a matrix."""

    def work(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
        u, v = floats(xp, (1024, 1)), floats(xp, (1, 1024))
        w = floats(xp, (1024, 1024))
        materialised = not enabled and xp.__name__ == OURS

        def operand(x: Any) -> Any:
            return xp.tile(x, tuple(1024 // n for n in x.shape)) if materialised else x

        def add() -> Any:
            total = operand(u) + operand(v)
            return total * w if third else total

        return timed(xp, add, 200)

    return work


def views(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """Prepare camera frames; without the technique, every view is copied."""

    def copied(x: Any) -> Any:
        copy = xp.positive(x)
        xp.runtime.evaluate(copy)
        return copy

    plain = enabled or xp.__name__ != OURS
    frame = camera.prepare(xp) if plain else camera.prepare(xp, copied)
    total, measures = timed(xp, frame, 20)
    return total, measures | {"frames_per_second": 1 / measures["seconds"]}


def network(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """Run ResNet-50's forward pass."""
    return timed(xp, resnet50.prepare(xp), 5)


def epilogue(depth: int) -> Work:
    """Take exp of a product of matrices."""

    def work(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
        a, b = floats(xp, (4096, depth), 1 / depth), floats(xp, (depth, 4096))
        return timed(xp, lambda: xp.exp(a @ b), 5)

    return work


def transposed(n: int) -> Work:
    """Add a matrix to the transpose of another."""

    def work(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
        a, b = floats(xp, (n, n)), floats(xp, (n, n))
        add = (lambda: xp.add_transposed(a, b)) if xp.__name__ == LOOPS.library else lambda: a.T + b
        total, measures = timed(xp, add, 10)
        return total, measures | {"ns_per_element": measures["seconds"] / n**2 * 1e9}

    return work


def channels(shape: tuple[int, int, int, int], axes: tuple[int, int, int, int]) -> Work:
    """Move the channels of a batch of images to the other side."""

    def work(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
        x = floats(xp, shape)
        if xp.__name__ == LOOPS.library:
            total, measures = timed(xp, lambda: xp.permuted(x, axes), 10)
        else:
            total, measures = timed(xp, lambda: xp.reshape(xp.permute_dims(x, axes), (-1,)), 10)
        return total, measures | {"ns_per_element": measures["seconds"] / x.size * 1e9}

    return work


def pde(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """Make steps of the shallow-water equations; peak memory is what the steps add."""
    step = shallow_water.prepare(xp)
    before = _resident_peak()
    total, measures = timed(xp, step, 20)
    return total, measures | {"peak_mib": (_resident_peak() - before) / 1024}


def pde_limit(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """Find the largest grid whose step fits into a limit of 1 GiB of address space."""
    timed(xp, shallow_water.prepare(xp, 64), 1)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), resource.RLIM_INFINITY))
    fits, fails = 64, 16384
    while fails - fits > 32:
        n = (fits + fails) // 2
        try:
            timed(xp, shallow_water.prepare(xp, n), 1)
            fits = n
        except MemoryError:
            fails = n
        if xp.__name__ == OURS:
            xp.runtime.MemoryPool().free_all_blocks()
    return 0.0, {"largest_n": fits, "bytes_per_cell": (1 << 30) / fits**2}


def mask(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """Count the bytes of a mask."""
    n = 100_000_000
    before = xp.runtime.MemoryPool().statistics().used if xp.__name__ == OURS else 0
    x = xp.zeros(n, dtype=xp.bool)
    x[: n // 3] = True
    finish(xp, x)
    held = xp.runtime.MemoryPool().statistics().used - before if xp.__name__ == OURS else x.nbytes
    return float(xp.count_nonzero(x)), {"bytes": held}


def superresolution(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """Prepare a frame for a super-resolution network."""
    return timed(xp, superres.prepare(xp), 10)


def _resident_peak() -> int:
    """Return the largest resident memory so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def speed(variant: str, least: float) -> Target:
    return Target("seconds", variant, least)


EFFECTS = {
    "allocations": Effect(
        "200 training steps of a 784-256-10 network, batch 256",
        allocations,
        {"off": WITHOUT_POOL, BASE: NUMPY},
        (Target("allocations", "off", 1 / 0.7),),
    ),
    **{
        name: Effect(
            text,
            broadcast(third),
            {"off": SWITCHED_OFF, BASE: NUMPY},
            (speed("off", 2.3), speed(BASE, 2.3)),
        )
        for name, text, third in (
            ("broadcast", "(1024, 1) + (1, 1024), float32", False),
            ("broadcast-3", "((1024, 1) + (1, 1024)) * (1024, 1024), float32", True),
        )
    },
    "views": Effect(
        "4K frames of bytes: flip, crop, every second pixel, channels first, normalise",
        views,
        {"off": SWITCHED_OFF, BASE: NUMPY},
        (speed("off", 1.4),),
    ),
    "network": Effect(
        "ResNet-50 forward, batch 1: 3 x 3 convolutions as nine products over shifted views",
        network,
        {"off": WITHOUT_DEFERRAL, BASE: NUMPY},
        (speed(BASE, 1.8),),
    ),
    **{
        f"epilogue-{depth}": Effect(
            f"exp(A @ B), 4096 x {depth} x 4096, float32",
            epilogue(depth),
            {"off": WITHOUT_FUSION, BASE: NUMPY},
            (speed("off", 2.0 if depth == 8 else 0.97),),
        )
        for depth in (8, 64, 1024)
    },
    **{
        f"layout-{n}": Effect(
            f"a.T + b of {n} x {n} float32",
            transposed(n),
            {"loop": LOOPS, BASE: NUMPY},
            (speed("loop", 4.0), speed(BASE, 1.0)),
        )
        for n in (2048, 2049, 4096)
    },
    "layout-nhwc": Effect(
        "NCHW to NHWC, 32 x 64 x 112 x 112 float32",
        channels((32, 64, 112, 112), (0, 2, 3, 1)),
        {"loop": LOOPS, BASE: NUMPY},
        (speed("loop", 4.0), speed(BASE, 1.0)),
    ),
    "layout-nchw": Effect(
        "NHWC to NCHW, 32 x 112 x 112 x 64 float32",
        channels((32, 112, 112, 64), (0, 3, 1, 2)),
        {"loop": LOOPS, BASE: NUMPY},
        (speed("loop", 4.0), speed(BASE, 1.0)),
    ),
    "pde": Effect(
        "a step of the shallow-water equations on 1024 x 1024 float64",
        pde,
        {"off": WITHOUT_FUSION, BASE: NUMPY},
        (speed(BASE, 3.9), Target("peak_mib", BASE, 1 / 0.68)),
    ),
    "pde-limit": Effect(
        "the largest such grid within 1 GiB",
        pde_limit,
        {"off": WITHOUT_FUSION, BASE: NUMPY},
        (Target("bytes_per_cell", BASE, 1 / 0.68),),
    ),
    "arena": Effect(
        "500 iterations, six temporaries of 1 to 8 MiB, of other sizes each time",
        arena,
        {"off": WITHOUT_POOL, "pool": SWITCHED_OFF, BASE: NUMPY},
        (
            Target("allocations", "off", 1 / 0.17),
            speed("off", 1.4),
            speed("pool", 0.97),  # no slower, to within what timings vary
        ),
    ),
    "bool": Effect(
        "a mask of 1e8 elements", mask, {BASE: NUMPY}, (Target("bytes", BASE, 1 / (1 - 0.8749)),)
    ),
    "superres": Effect(
        "4K frame of bytes to BT.601 planes in float32, chroma averaged, padded",
        superresolution,
        {"off": WITHOUT_FUSION, BASE: NUMPY},
        (speed(BASE, 2.56), Target("cpu", BASE, 2.5)),
    ),
}
