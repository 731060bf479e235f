"""The same work in every array library that is installed, and the geometric mean of the ratios."""

import sys

from harness import Case, main

VECTORS = """
rng = np.random.default_rng(0)
def make(values, dtype="{dtype}"):
    return xp.asarray(values.astype(dtype))
a, b, c = (make(rng.uniform(0.5, 2.0, {size})) for _ in range(3))
"""
SHIFTED = """
rng = np.random.default_rng(0)
def make(shape, low=0.5, high=2.0, dtype="float32"):
    return xp.asarray(rng.uniform(low, high, shape).astype(dtype))
"""
# Expressions over VECTORS, and the same for numexpr.
CHAIN = ("xp.sqrt(a * a + b * b) + c * 2.0 - 1.0", "sqrt(a * a + b * b) + c * 2 - 1")
FUNCTIONS = ("xp.exp(-a * a) * xp.sin(b) + xp.log(c)", "exp(-a * a) * sin(b) + log(c)")
GELU = """
def gelu(x):
    return 0.5 * x * (1.0 + xp.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
"""
BLACK_SCHOLES = """
def normal(x):
    # Abramowitz and Stegun 26.2.17.
    k = 1.0 / (1.0 + 0.2316419 * xp.abs(x))
    tail = 1.330274429
    for coefficient in (-1.821255978, 1.781477937, -0.356563782, 0.319381530):
        tail = tail * k + coefficient
    tail = tail * k * 0.3989422804014327 * xp.exp(-0.5 * x * x)
    return xp.where(x < 0.0, tail, 1.0 - tail)
def price(spot, strike, years):
    spread = 0.3 * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (0.02 + 0.045) * years) / spread
    return spot * normal(d1) - strike * xp.exp(-0.02 * years) * normal(d1 - spread)
"""
ROWS = """
def softmax(x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)
def standardise(x):
    return (x - xp.mean(x, axis=-1, keepdims=True)) / xp.std(x, axis=-1, keepdims=True)
def rms(x):
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
x = make((4096, 1024), -2.0, 2.0)
"""
KMEANS = """
points, centres = make((100_000, 16)), make((8, 16))
def assign(points, centres):
    distance = xp.sum(centres * centres, axis=1) - 2.0 * (points @ centres.T)
    return xp.argmin(distance, axis=1)
"""
LOGISTIC = """
data, target, weights = make((100_000, 32)), make((100_000,), 0.0, 1.0), make((32,), -0.1, 0.1)
def step(data, target, weights):
    slope = 1.0 / (1.0 + xp.exp(-(data @ weights))) - target
    return weights - 0.1 * (data.T @ slope) / 100_000
"""
HEAT = """
u = make((2048, 2048), dtype="float64")
def heat(u):
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return u[1:-1, 1:-1] + 0.1 * (around - 4.0 * u[1:-1, 1:-1])
"""
IMAGE = """
image = xp.asarray(rng.integers(0, 256, (2160, 3840, 3), dtype=np.uint8))
mean, scale = make((3,)), make((3,))
"""
INTEGERS = """
keys = xp.asarray(rng.integers(0, 1 << 40, 1_000_000))
few = xp.asarray(rng.integers(0, 1000, 1_000_000))
index = xp.asarray(rng.integers(0, 10_000_000, 10_000_000))
"""
SORTING = """
x = make((1_000_000,))
long = make((10_000_000,))
edges = xp.asarray(np.sort(rng.uniform(0.5, 2.0, 1_000_000)).astype(np.float32))
"""
BOOLS = """
p, q = (xp.asarray(rng.random(50_000_000) < 0.5) for _ in range(2))
"""
MATRICES = """
def spd(n):
    m = rng.standard_normal((n, n))
    return m @ m.T + n * np.eye(n)
m = xp.asarray(rng.standard_normal((500, 500)))
s = xp.asarray(spd(500))
r = xp.asarray(rng.standard_normal((500, 8)))
tall = xp.asarray(rng.standard_normal((5000, 100)))
many = rng.standard_normal((10000, 4, 4))
positive = xp.asarray(many @ many.swapaxes(-1, -2) + np.eye(4))
many, sides = xp.asarray(many + 4 * np.eye(4)), xp.asarray(rng.standard_normal((10000, 4, 2)))
"""
WAVES = """
wave = xp.asarray((rng.random(1 << 20) + 1j * rng.random(1 << 20)))
plane = xp.asarray((rng.random((1024, 1024)) + 1j * rng.random((1024, 1024))))
real = make((1000, 1024))
"""
LONG = "x = make((10_000_000,), -3.0, 3.0)\n"
SQUARE = "x, y = make(({0}, {0})), make(({0}, {0}))\n"


def _case(name: str, setup: str, statement: str, **spelling: str) -> Case:
    return Case(name, SHIFTED + setup, statement, None, spelling)


def _chains() -> list[Case]:
    cases = []
    for dtype in ("float32", "float64"):
        for size in (10_000, 1_000_000, 10_000_000):
            setup = VECTORS.format(dtype=dtype, size=size)
            for name, (statement, numexpr) in {"chain": CHAIN, "exp sin log": FUNCTIONS}.items():
                label = f"{name} {size:g} {dtype}"
                cases.append(Case(label, setup, statement, None, {"numexpr": numexpr}))
    gelu = "0.5*x*(1 + tanh(0.7978845608028654*(x + 0.044715*x*x*x)))"
    options = "s, k, t = (make((1_000_000,)) for _ in range(3))\n"
    return [
        *cases,
        _case("gelu 1e7", GELU + LONG, "gelu(x)", numexpr=gelu),
        _case("Black-Scholes 1e6", BLACK_SCHOLES + options, "price(s, k, t)"),
    ]


def _views() -> list[Case]:
    plane = "u, v, w = make((1024, 1)), make((1, 1024)), make((1024, 1024))\n"
    deep = "u, v = make((256, 1, 1024)), make((1, 512, 1024))\n"
    return [
        _case("broadcast (1024,1)+(1,1024)", plane, "u + v", numexpr="u + v"),
        _case("the same, times a third", plane, "(u + v) * w", numexpr="(u + v) * w"),
        _case("broadcast (256,1,1024)+(1,512,1024)", deep, "u + v", numexpr="u + v"),
        *(_case(f"x.T + y {n}", SQUARE.format(n), "x.T + y") for n in (2048, 2049, 4096)),
        _case("x[::2, ::2] * 2 + 1", SQUARE.format(4096), "x[::2, ::2] * 2.0 + 1.0"),
        _case("heat step 2048", HEAT, "heat(u)"),
    ]


def _reductions() -> list[Case]:
    axes = [
        _case(f"{name}({axis}) 4096x1024", "x = make((4096, 1024))\n", f"xp.{name}(x, {axis})")
        for name in ("sum", "max", "var", "argmax")
        for axis in ("axis=None", "axis=0", "axis=1")
    ]
    return [
        *axes,
        _case("sum(x * x) 1e7", LONG, "xp.sum(x * x)", numexpr="sum(x * x)"),
        _case("count_nonzero(x > 1) 1e7", LONG, "xp.count_nonzero(x > 1.0)"),
        *(_case(f"{f} 4096x1024", ROWS, f"{f}(x)") for f in ("softmax", "standardise", "rms")),
        _case("cumulative_sum 1e7", LONG, "xp.cumulative_sum(x)", jax="xp.cumsum(x)"),
    ]


def _bools() -> list[Case]:
    where = "where(x > 0, x, y)"
    return [
        _case("bool and 5e7", BOOLS, "xp.logical_and(p, q)"),
        _case("bool count 5e7", BOOLS, "xp.count_nonzero(p)"),
        _case("where 1e7", LONG + "y = -x\n", "xp.where(x > 0.0, x, y)", numexpr=where),
        _case("mask selection 1e7", LONG + "keep = x > 0.0\n", "x[keep]"),
    ]


def _products() -> list[Case]:
    pair = "x, y = make({}), make({})\n".format
    bias = SQUARE.format(1024) + "z = make((1024,))\n"
    return [
        _case("matmul 1024 float32", SQUARE.format(1024), "x @ y"),
        _case("matmul 4096x8x4096", pair((4096, 8), (8, 4096)), "x @ y"),
        _case("matmul 100000x64x64", pair((100_000, 64), (64, 64)), "x @ y"),
        _case("matmul 256 of 128x64x128", pair((256, 128, 64), (256, 64, 128)), "x @ y"),
        _case("matmul x.T @ y 1024", SQUARE.format(1024), "x.T @ y"),
        _case("exp(x @ y) 4096x8x4096", pair((4096, 8), (8, 4096)), "xp.exp(x @ y)"),
        _case("maximum(x @ y + z, 0) 1024", bias, "xp.maximum(x @ y + z, 0.0 * z)"),
    ]


def _linear_algebra() -> list[Case]:
    return [
        _case("inv 500", MATRICES, "xp.linalg.inv(m)"),
        _case("solve 500", MATRICES, "xp.linalg.solve(m, r)"),
        _case("svdvals 500", MATRICES, "xp.linalg.svdvals(m)"),
        _case("eigvalsh 500", MATRICES, "xp.linalg.eigvalsh(s)"),
        _case("cholesky 500", MATRICES, "xp.linalg.cholesky(s)"),
        _case("qr 5000x100", MATRICES, "xp.abs(xp.linalg.qr(tall)[1])"),
        _case("inv 10000 of 4x4", MATRICES, "xp.linalg.inv(many)"),
        _case("solve 10000 of 4x4", MATRICES, "xp.linalg.solve(many, sides)"),
        _case("cholesky 10000 of 4x4", MATRICES, "xp.linalg.cholesky(positive)"),
        _case("det 10000 of 4x4", MATRICES, "xp.linalg.det(many)"),
        _case("qr 10000 of 4x4", MATRICES, "xp.abs(xp.linalg.qr(many)[1])"),
        _case("fft 2**20", WAVES, "xp.fft.fft(wave)"),
        _case("fftn 1024x1024", WAVES, "xp.fft.fftn(plane)"),
        _case("rfft 1000x1024 float32", WAVES, "xp.fft.rfft(real)"),
    ]


def _searches() -> list[Case]:
    return [
        _case("sort 1e6 float32", SORTING, "xp.sort(x)", torch="xp.sort(x)"),
        _case("argsort 1e6 float32", SORTING, "xp.take(x, xp.argsort(x))"),
        _case("unique 1e6 of 1000", INTEGERS, "xp.sort(xp.unique_values(few))"),
        _case("searchsorted 1e6 in 1e6", SORTING, "xp.searchsorted(edges, x)"),
        _case("take 1e7", LONG + INTEGERS, "xp.take(x, index, axis=0)"),
        _case("uint8 to float32 4K", IMAGE, "xp.astype(image, xp.float32)"),
        _case("float32 to float64 1e7", LONG, "xp.astype(x, xp.float64)"),
    ]


def _applications() -> list[Case]:
    normalised = "(xp.astype(image, xp.float32) / 255.0 - mean) * scale"
    return [
        _case("k-means step", KMEANS, "assign(points, centres)"),
        _case("logistic step", LOGISTIC, "step(data, target, weights)"),
        _case("4K image normalised", IMAGE, normalised),
    ]


def cases() -> list[Case]:
    """Return the works."""
    return [
        *_chains(),
        *_views(),
        *_reductions(),
        *_bools(),
        *_products(),
        *_linear_algebra(),
        *_searches(),
        *_applications(),
    ]


if __name__ == "__main__":
    sys.exit(main("Array libraries side by side", {}, cases))
