"""Operations that run in one pass give the bits that they give one by one, and NumPy's."""

import itertools
import operator

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

OPS = [operator.add, operator.sub, operator.mul]
# Whatever can be part of a strand, with NumPy's name.
UNARY = ["negative", "abs", "square", "sqrt", "reciprocal"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum"]
SPECIAL = [0.0, -0.0, 1.0, -1.5, 3.0e38, -3.0e38, 1.0e-38, 1.0e-45, np.inf, -np.inf]


def bits(array):
    """Return the bits of an array, with one NaN for all."""
    a = np.asarray(array)
    return np.where(np.isnan(a), np.nan, a).view(f"uint{a.itemsize * 8}")


def values(dtype, seed):
    """Return special values and random ones, of a length that no vector divides."""
    rng = np.random.default_rng(seed)
    raw = np.concatenate([rng.permutation(SPECIAL), rng.standard_normal(6007)])
    with np.errstate(all="ignore"):
        return raw.astype(dtype)


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_pairs(dtype, exchanged):
    """Each pair of operations, each operand an array, a row, one element or a Python scalar."""
    full = [xp.asarray(values(dtype, seed)) for seed in range(3)]
    scalar = 3 if dtype == "int32" else 2.5
    kinds = [lambda x: x, lambda x: x[5:6], lambda x: scalar]
    for first, second in itertools.product(OPS, OPS):
        for a, b, c in itertools.product(kinds, kinds, kinds):
            x, y, z = a(full[0]), b(full[1]), c(full[2])
            if not (isinstance(x, runtime.Array) or isinstance(y, runtime.Array)):
                continue
            inner = first(x, y)
            fused = second(z, inner) if exchanged else second(inner, z)
            step = first(x, y)
            runtime.evaluate(step)
            alone = second(z, step) if exchanged else second(step, z)
            runtime.evaluate(alone)
            np.testing.assert_array_equal(np.asarray(fused), np.asarray(alone))
            if dtype.startswith("float"):
                np.testing.assert_array_equal(bits(fused), bits(alone))


def test_results_that_are_needed_stay():
    a, b = (xp.asarray(values("float64", seed)) for seed in range(2))
    product = a * b
    total = product + 1.0
    twice = product + product
    chain = ((a * 2.0 - b) * a + b) * 0.5 - a
    x, y = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(product), x * y)
        np.testing.assert_array_equal(np.asarray(total), x * y + 1.0)
        np.testing.assert_array_equal(np.asarray(twice), x * y + x * y)
        np.testing.assert_array_equal(np.asarray(chain), ((x * 2.0 - y) * x + y) * 0.5 - x)


def test_in_place():
    a, b = values("float32", 0), values("float32", 1)
    x, y = xp.asarray(a), xp.asarray(b)
    with np.errstate(all="ignore"):
        for _ in range(3):
            z = x * y
            x += z
            x *= 0.5
            x -= y * x
            a += a * b
            a *= np.float32(0.5)
            a -= b * a
    np.testing.assert_array_equal(np.asarray(x), a)


# Of two zeros the second one is taken, which NumPy leaves open.
REFERENCE = {
    "maximum": lambda a, b: np.where(np.isnan(a) | (a > b), a, b),
    "minimum": lambda a, b: np.where(np.isnan(a) | (a < b), a, b),
}


class Expressions:
    """Random expressions, built on both sides at once."""

    def __init__(self, seed, dtype):
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype
        rows, cols = int(self.rng.integers(1, 40)), int(self.rng.integers(300, 900))
        self.shape = (rows, cols) if self.rng.random() < 0.6 else (rows * cols,)
        self.pairs = [self.operand(i) for i in range(int(self.rng.integers(2, 6)))]

    def operand(self, number):
        shape = list(self.shape)
        if len(shape) == 2 and number > 0 and self.rng.random() < 0.5:
            shape[int(self.rng.integers(0, 2))] = 1
        values = self.rng.standard_normal(shape) * 4.0 ** self.rng.integers(-3, 4)
        if number == 0:
            values.flat[: len(SPECIAL)] = self.rng.permutation(SPECIAL)[: values.size]
        with np.errstate(all="ignore"):
            a = values.astype(self.dtype)
        return xp.asarray(a), a

    def pick(self):
        # What was made last is chosen most, so that there are chains as well as trees.
        near = self.rng.random() < 0.6
        return self.pairs[-1 if near else int(self.rng.integers(0, len(self.pairs)))]

    def step(self):
        x, a = self.pick()
        name = self.rng.choice(UNARY if self.rng.random() < 0.25 else BINARY)
        if name in UNARY:
            result, wanted = getattr(xp, name)(x), getattr(np, name)(a)
        else:
            y, b = self.pick()
            if self.rng.random() < 0.25:
                y = b = float(self.rng.choice([0.5, -3.0, 1e-3, 0.0, 7.25]))
            if self.rng.random() < 0.3:
                x, y, a, b = y, x, b, a
            if isinstance(x, float) and isinstance(y, float):
                return
            result, wanted = getattr(xp, name)(x, y), REFERENCE.get(name, getattr(np, name))(a, b)
        self.pairs.append((result, wanted.astype(self.dtype, copy=False)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(40))
def test_expressions(seed, dtype):
    """Trees and chains with several results, some of which are needed and stay."""
    made = Expressions(seed, dtype)
    given = len(made.pairs)
    with np.errstate(all="ignore"):
        for _ in range(int(made.rng.integers(2, 45))):
            made.step()
    results = made.pairs[given:]
    kept = [pair for pair in results if made.rng.random() < 0.15] + results[-1:]
    made.pairs.clear(), results.clear()
    for result, wanted in kept:
        got = np.asarray(result)
        assert got.shape == wanted.shape
        np.testing.assert_array_equal(bits(got), bits(wanted))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_step_in_every_register(dtype):
    """Every operation, where each operand is in a register, in memory, or a scalar."""
    a, b, c = (values(dtype, seed)[:5003] for seed in range(3))
    for name, first, second, last in itertools.product(BINARY, range(4), range(4), [False, True]):

        def compute(lib, x, y, z, name=name, first=first, second=second, last=last):
            busy = [x + y, y * z, z - x]  # three registers
            choices = [busy[0], busy[1], y, x[7:8]]
            function = REFERENCE.get(name) if lib is np else None
            out = (function or getattr(lib, name))(choices[first], choices[second])
            return (out + busy[2]) * busy[1] - busy[0] if last else out * 2.0

        with np.errstate(all="ignore"):
            wanted = compute(np, a, b, c)
        got = np.asarray(compute(xp, *(xp.asarray(v) for v in (a, b, c))))
        np.testing.assert_array_equal(bits(got), bits(wanted))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_zeros_keep_their_order(name, dtype):
    """Whichever operand is in a register, of two zeros the second one is taken."""
    a = np.tile(np.asarray([0.0, -0.0, 0.0, -0.0], dtype=dtype), 1501)
    b = np.tile(np.asarray([0.0, 0.0, -0.0, -0.0], dtype=dtype), 1501)
    x, y = xp.asarray(a), xp.asarray(b)
    function = getattr(xp, name)
    # Made when they are used: what somebody holds would go to memory.
    for first, second, wanted in [
        (lambda: x * 0.5, lambda: y, b),
        (lambda: x, lambda: y * 0.5, b),
        (lambda: y, lambda: x * 0.5, a),
        (lambda: x * 0.5, lambda: y * 0.5, b),
        (lambda: x * 0.5, lambda: y[1:2], np.broadcast_to(b[1:2], a.shape)),
        (lambda: x[1:2], lambda: y * 0.5, b),
    ]:
        got = np.asarray(function(first(), second()) * 2.0)
        np.testing.assert_array_equal(bits(got), bits(wanted))
