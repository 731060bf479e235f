"""Single operations on large arrays.

Targets: at most 1.05 times NumPy's time for each, a quarter of it for logic and counting on bool,
which takes one bit an element here and eight in NumPy.
"""

import sys

from harness import Case, main

SETUP = """
rng = np.random.default_rng(0)
def make(values):
    return xp.asarray(values.astype("{dtype}"))
x = make(rng.uniform(0.5, 10.0, {size}))
y = make(rng.uniform(0.5, 10.0, {size}))
"""
INTEGERS = """
rng = np.random.default_rng(0)
i = xp.asarray(rng.integers(-10**6, 10**6, {size}, dtype=np.int32))
j = xp.asarray(rng.integers(1, 10**3, {size}, dtype=np.int32))
"""
BOOLS = """
rng = np.random.default_rng(0)
p = xp.asarray(rng.random({size}) < 0.5)
q = xp.asarray(rng.random({size}) < 0.5)
"""
MATRICES = """
rng = np.random.default_rng(0)
m = xp.asarray(rng.random((1024, 1024)).astype("{dtype}"))
n = xp.asarray(rng.random((1024, 1024)).astype("{dtype}"))
"""


def cases(size: int, dtype: str) -> list[Case]:
    """Return the operations for arrays of `size` elements."""

    def case(name: str, setup: str, statement: str, target: float, **spelling: str) -> Case:
        return Case(name, setup.format(size=size, dtype=dtype), statement, target, spelling)

    return [
        case("add", SETUP, "x + y", 1.05),
        case("exp", SETUP, "xp.exp(x)", 1.05),
        case("sin", SETUP, "xp.sin(x)", 1.05),
        case("log", SETUP, "xp.log(x)", 1.05),
        case("tanh", SETUP, "xp.tanh(x)", 1.05),
        case("floor_divide int32", INTEGERS, "i // j", 1.05),
        case("sum", SETUP, "xp.sum(x)", 1.05),
        case("max", SETUP, "xp.max(x)", 1.05),
        case("argmax", SETUP, "xp.argmax(x)", 1.05),
        case("sort", SETUP, "xp.sort(x)", 1.05, torch="xp.sort(x).values"),
        case("cumulative_sum", SETUP, "xp.cumulative_sum(x)", 1.05, torch="xp.cumsum(x, 0)"),
        case("matmul 1024", MATRICES, "m @ n", 1.05),
        case("logical_and bool", BOOLS, "xp.logical_and(p, q)", 0.25),
        case("logical_or bool", BOOLS, "xp.logical_or(p, q)", 0.25),
        case("count_nonzero bool", BOOLS, "xp.count_nonzero(p)", 0.25),
    ]


if __name__ == "__main__":
    sys.exit(main("Single operations", {"size": 1_000_000, "dtype": "float64"}, cases))
