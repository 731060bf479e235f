"""Random calls of every function, compared with NumPy and array_api_strict.

    python tests/differential/whole_namespace.py [--operations 1000000] [--seconds N] [--seed 0]

The arguments are arrays of any dtype and layout, fresh ones or results of calls before. A result
has the dtype and shape of NumPy's, and its values: exactly for integers and bools, within rounding
for others. Half of the results that have exact values are read only after more calls, so that what
takes them finds them pending where operations are recorded; arrays are written meanwhile.
array_api_strict is asked now and then, too. Where one of the two is known to differ it is not
asked; DIFFERENT says why.
"""

import argparse
import sys
import time
import warnings

import array_api_strict
import numpy as np

import ascend_array_api as xp

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
KINDS = {
    "bool": ["bool"],
    "int": INTEGERS,
    "real": INTEGERS + FLOATS,
    "float": FLOATS,
    "floating": FLOATS + COMPLEX,
    "complex": COMPLEX,
    "numeric": INTEGERS + FLOATS + COMPLEX,
    "any": ["bool", *INTEGERS, *FLOATS, *COMPLEX],
}
SHAPES = [(), (0,), (1,), (7,), (8,), (65,), (3, 5), (4, 1), (2, 3, 4), (0, 3), (9, 64)]
LARGE = [(5000,), (70, 80), (3, 50, 40)]

#: functions that a reference is not asked about, and why
DIFFERENT = {
    "numpy": {
        "sign": "complex zero gives NaN in some versions",
        "expm1": "the imaginary part of complex arguments is less exact",
    },
    "array_api_strict": {
        "isin": "ignores invert",
        "sort": "has no stable descending order of equal elements",
        "argsort": "has no stable descending order of equal elements",
        "astype": "refuses complex to bool",
    },
}

#: functions whose values do not depend on how they are computed
EXACT = set(
    "negative positive ceil floor round trunc isnan isfinite isinf signbit conj real imag "
    "logical_not bitwise_invert equal not_equal maximum minimum less less_equal greater "
    "greater_equal copysign bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor "
    "max min argmax argmin any all count_nonzero moveaxis reshape concat stack repeat tile roll "
    "flip sort argsort searchsorted isin take take_along_axis where clip broadcast_to expand_dims "
    "permute_dims matrix_transpose tril triu linalg.diagonal zeros_like ones_like".split()
)
#: calls between two comparisons of the results that were left unread
UNREAD = 40


class Both:
    """An array of ours and the equal one of NumPy's."""

    def __init__(self, ours, numpy):
        self.ours, self.numpy = ours, numpy

    @property
    def shape(self):
        return self.numpy.shape


def sides(argument, side):
    """Return an argument as one library takes it."""
    if isinstance(argument, Both):
        if side is xp:
            return argument.ours
        return argument.numpy if side is np else array_api_strict.asarray(argument.numpy.copy())
    if isinstance(argument, list | tuple):
        return type(argument)(sides(a, side) for a in argument)
    if isinstance(argument, np.dtype) and side is array_api_strict:
        return getattr(array_api_strict, argument.name)
    return argument


def function_of(side, name):
    for part in name.split("."):
        side = getattr(side, part)
    return side


class World:
    """Arrays of the last calls, and the calls that can be made."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.recent = []
        self.unread = []
        self.operations = 0

    # ---- choices
    def below(self, n):
        return int(self.rng.integers(n))

    def of(self, options):
        return options[self.below(len(options))]

    def axis(self, a):
        n = len(a.shape)
        return self.of(range(-n, n))

    def fresh(self, dtype, shape=None):
        """Return a new array; one without a given shape may lie in memory in any order."""
        free = shape is None
        shape = shape if not free else self.of(LARGE if self.below(40) == 0 else SHAPES)
        dtype = np.dtype(dtype)
        low = 0 if dtype.kind in "bu" else -6
        a = self.rng.integers(low, 7, shape)
        if dtype.kind in "fc":
            a = a + np.asarray(self.rng.integers(0, 4, shape)) / 4
        a = np.asarray(a + 1j * np.flip(a) if dtype.kind == "c" else a)
        a = np.asarray(a > 2 if dtype.kind == "b" else a).astype(dtype)
        both = Both(xp.asarray(a), a)
        return self.layout(both) if free and self.below(3) == 0 else both

    def layout(self, b):
        """Return the same elements in another order in memory, or a view of some."""
        match self.below(3):
            case 0:
                return Both(xp.flip(b.ours), np.flip(b.numpy))
            case 1 if len(b.shape) > 1:
                return Both(xp.permute_dims(b.ours, (*range(1, len(b.shape)), 0)),
                            np.moveaxis(b.numpy, 0, -1))  # fmt: skip
            case _ if b.shape:
                return Both(b.ours[::2], b.numpy[::2])
        return b

    def array(self, kind="any", suits=lambda a: True):
        """Return a recent array of a kind, or a new one."""
        names = KINDS[kind]
        if self.recent and self.below(2):
            for _ in range(4):
                b = self.of(self.recent)
                if b.numpy.dtype.name in names and suits(b):
                    return b
        while True:
            b = self.fresh(self.of(names))
            if suits(b):
                return b

    def partner(self, a, dtype=None):
        """Return an array that broadcasts with another one."""
        shape = tuple(1 if self.below(4) == 0 else n for n in a.shape)[self.below(2) :]
        return self.fresh(dtype or a.numpy.dtype, shape)

    def square(self):
        n = self.of([1, 2, 5, 17])
        a = self.rng.integers(-2, 3, (*self.of([(), (3,)]), n, n)) + 4.0 * n * np.eye(n)
        a = a.astype(self.of(FLOATS + COMPLEX))
        return Both(xp.asarray(a), a)

    # ---- a call
    def call(self, name, *args, rounds=64, **kwargs):
        """Call a function of all libraries; compare, and keep the result."""
        self.operations += 1
        got = self.results(xp, name, args, kwargs)
        if name not in DIFFERENT["numpy"]:
            want = self.results(np, name, args, kwargs)
            if name in EXACT and len(got) == 1 and self.below(2):
                return self.leave(got, want, name, args, kwargs)
            self.compare(got, want, rounds, lambda: f"numpy: {self.text(name, args, kwargs)}")
        if self.below(5) == 0 and name not in DIFFERENT["array_api_strict"]:
            other = self.results(array_api_strict, name, args, kwargs)
            what = lambda: f"array_api_strict: {self.text(name, args, kwargs)}"
            self.compare(got, other, rounds, what)
        for x in got:
            if isinstance(x, type(xp.asarray(0))):
                self.keep(Both(x, np.array(x, copy=True)))
        return None

    def keep(self, b):
        """Let later calls take a result whose values are small."""
        if b.numpy.size <= 6000 and b.numpy.ndim < 5:
            size = np.max(np.abs(b.numpy), initial=0)
            if size < 100:  # not for NaN
                self.recent.append(b)
        del self.recent[:-12]

    def leave(self, got, want, name, args, kwargs):
        """Keep a result that nobody has read, and compare it later."""
        want = [np.array(want[0], copy=True)]
        frozen = [Both(a.ours, a.numpy.copy()) if isinstance(a, Both) else a for a in args]
        what = lambda: f"numpy, read later: {self.text(name, frozen, kwargs)}"
        self.unread.append((got, want, what))
        self.keep(Both(got[0], want[0]))
        if len(self.unread) >= UNREAD:
            self.read()

    def read(self):
        """Compare what was left unread, in any order."""
        for k in self.rng.permutation(len(self.unread)):
            got, want, what = self.unread[k]
            self.compare(got, want, 0, what)
        self.unread.clear()

    @staticmethod
    def results(side, name, args, kwargs):
        keywords = {key: sides(value, side) for key, value in kwargs.items()}
        result = function_of(side, name)(*sides(args, side), **keywords)
        return list(result) if isinstance(result, tuple | list) else [result]

    @staticmethod
    def text(name, args, kwargs):
        shown = [repr(a.numpy) if isinstance(a, Both) else repr(a) for a in args]
        return f"{name}({', '.join(shown)}, {kwargs})"

    @staticmethod
    def compare(got, want, rounds, what):
        """Raise AssertionError with the text that `what` returns unless results agree."""
        assert len(got) == len(want), what()
        for g, w in zip(got, want, strict=True):
            if not isinstance(g, type(xp.asarray(0))):
                assert g == w, what()
                continue
            g, w = np.array(g, copy=True), np.asarray(w)
            assert (g.shape, g.dtype) == (w.shape, w.dtype), f"{what()}: {g.dtype} {g.shape}"
            if g.dtype.kind not in "fc":
                assert np.array_equal(g, w), f"{what()}: {g!r}, not {w!r}"
                continue
            eps = np.finfo(g.dtype).eps
            finite = np.abs(w[np.isfinite(w)])
            scale = np.max(finite, initial=0) + 1
            same = np.isclose(g, w, rtol=rounds * eps, atol=rounds * eps * scale, equal_nan=True)
            assert np.all(same), f"{what()}: {g!r}, not {w!r}"

    def step(self):
        self.of(CALLS)(self)


def unary(kind, names, low=None, high=None):
    def make(name):
        def call(w):
            a = w.array(kind)
            if low is not None:
                fresh = w.rng.uniform(low, high, a.shape).astype(a.numpy.dtype)
                a = Both(xp.asarray(fresh), fresh)
            w.call(name, a)

        return call

    return [make(name) for name in names.split()]


def binary(kind, names, positive=False):
    def make(name):
        def call(w):
            a = w.array(kind)
            b = w.partner(a)
            if positive:
                b = Both(*(2 * (x * x) + 1 for x in (b.ours, b.numpy)))
            if w.below(4) == 0 and not positive and kind != "bool" and a.numpy.dtype.kind != "u":
                b = w.below(5) - 2
            w.call(name, a, b)

        return call

    return [make(name) for name in names.split()]


def reductions(kind, names, **kwargs):
    def make(name):
        def call(w):
            a = w.array(kind, lambda b: 0 not in b.shape)
            axis = w.axis(a) if a.shape and w.below(2) else None
            w.call(name, a, axis=axis, keepdims=bool(w.below(2)), rounds=2000, **kwargs)

        return call

    return [make(name) for name in names.split()]


def has_axes(n):
    return lambda b: len(b.shape) >= n and 0 not in b.shape


def moved(w):
    a = w.array("any", has_axes(1))
    w.call("moveaxis", a, w.axis(a), w.axis(a))


def reshaped(w):
    a = w.array()
    w.call("reshape", a, w.of([(-1,), (1, -1), (*a.shape, 1)]) if 0 not in a.shape else (0,))


def joined(w):
    a = w.array("any", has_axes(1))
    w.call("concat", [a, a, w.layout(a) if len(a.shape) < 2 else a], axis=w.of([0, -1]))
    w.call("stack", [a, a], axis=w.axis(a))


def repeated(w):
    a = w.array("any", has_axes(1))
    w.call("repeat", a, w.below(4), axis=w.axis(a))
    w.call("tile", a, (w.below(3), w.below(3)))
    w.call("roll", a, w.below(20) - 10, axis=w.of([None, w.axis(a)]))
    w.call("flip", a, axis=w.of([None, w.axis(a)]))


def ordered(w):
    a = w.array("real", has_axes(1))
    w.call("sort", a, axis=w.axis(a))
    w.call("argsort", a, axis=w.axis(a), stable=True)
    for name in ("unique_counts", "unique_inverse", "unique_all"):
        w.call(name, a)
    values = Both(xp.sort(xp.unique_values(a.ours)), np.sort(np.unique_values(a.numpy)))
    w.compare([values.ours], [values.numpy], 0, lambda: f"unique_values({a.numpy!r})")
    b = w.fresh(a.numpy.dtype, (7,))
    b = Both(xp.sort(b.ours), np.sort(b.numpy))
    w.call("searchsorted", b, w.fresh(a.numpy.dtype, (2, 9)), side=w.of(["left", "right"]))
    w.call("isin", a, b, invert=bool(w.below(2)))


def taken(w):
    a = w.array("any", has_axes(1))
    axis = w.axis(a)
    at = w.rng.integers(0, a.shape[axis], 6)
    w.call("take", a, Both(xp.asarray(at), at), axis=axis)
    shape = list(a.shape)
    shape[axis] = 3
    at = w.rng.integers(0, a.shape[axis], shape)
    w.call("take_along_axis", a, Both(xp.asarray(at), at), axis=axis)
    w.call("nonzero", a)
    w.call("unstack", a)


def chosen(w):
    a = w.array("any")
    w.call("where", w.partner(a, "bool"), a, w.partner(a))
    a = w.array("real")
    w.call("clip", a, 0, 4)


def accumulated(w):
    a = w.array("numeric", has_axes(1))
    w.call("cumulative_sum", a, axis=w.axis(a), rounds=2000, include_initial=bool(w.below(2)))
    small = w.fresh(w.of(KINDS["numeric"]), (5, 3))
    w.call("cumulative_prod", small, axis=w.axis(small), rounds=2000)
    w.call("diff", a, axis=w.axis(a), n=w.below(3))


def made(w):
    n = w.below(70)
    w.call("arange", n)
    w.call("arange", w.below(9) - 20, n, 3)
    w.call("linspace", -1.0, 2.5, n, endpoint=bool(w.below(2)))
    w.call("eye", n % 9, w.below(9), k=w.below(7) - 3)
    w.call("full", (n, 2), w.below(9))
    a = w.array()
    for name in ("zeros_like", "ones_like"):
        w.call(name, a)
    x, y = w.fresh("float64", (4,)), w.fresh("float64", (5,))
    w.call("meshgrid", x, y, indexing=w.of(["xy", "ij"]))
    w.call("broadcast_to", a, (2, *a.shape))
    w.call("broadcast_arrays", a, w.partner(a))


def shaped(w):
    a = w.array()
    w.call("expand_dims", a, axis=w.below(len(a.shape) + 1))
    w.call("permute_dims", a, tuple(int(k) for k in w.rng.permutation(len(a.shape))))
    a = w.array("any", has_axes(2))
    w.call("matrix_transpose", a)
    w.call("tril", a, k=w.below(5) - 2)
    w.call("triu", a, k=w.below(5) - 2)
    w.call("linalg.diagonal", a, offset=w.below(3) - 1)


def cast(w):
    a = w.array("any")
    d = np.dtype(w.of(KINDS["any"]))
    # Values of the other kind's range: what is outside is left open.
    if a.numpy.dtype.kind != "c" or d.kind in "bc":
        if d.kind == "u":
            a = w.fresh(w.of(["bool", "uint8", "uint16"]))
        w.call("astype", a, d)


def written(w):
    """Write by way of a view, between calls that read the same memory before and after."""
    dtype = w.of(KINDS["any"])
    a = w.fresh(dtype, w.of([(9,), (3, 5), (2, 3, 4), (5000,)]))
    a = Both(xp.asarray(a.numpy, copy=True), a.numpy.copy())
    views = [a, w.layout(a), w.layout(a)]
    for _ in range(3):
        w.call("equal", w.of(views), w.below(5) > 1 if dtype == "bool" else w.below(5))
        x, value = w.of(views), w.fresh(dtype, ())
        if w.below(2) or dtype == "bool":
            same = [v for v in views if v.shape == x.shape]
            value = w.of([value, w.partner(x), w.of(same)])
            x.ours[...] = value.ours
            x.numpy[...] = value.numpy.copy()
        else:
            x.ours += value.ours
            x.numpy += value.numpy
        w.operations += 1
    for x in views:
        w.compare([x.ours], [x.numpy], 0, lambda: f"written {dtype} {a.shape}")


def multiplied(w):
    d = w.of(KINDS["numeric"])
    m, k, n = (w.of([1, 2, 7, 33]) for _ in range(3))
    a, b = w.fresh(d, (2, m, 2 * k)), w.fresh(d, (2 * k, n))
    a = Both(a.ours[..., :k], a.numpy[..., :k])
    b = Both(b.ours[:k, :], b.numpy[:k, :])
    w.call("matmul", a, b, rounds=2000)
    w.call("tensordot", a, b, axes=1, rounds=2000)
    v = w.fresh(d, (3, 9))
    w.call("vecdot", v, v, rounds=2000)


def decomposed(w):
    a = w.square()
    b = Both(xp.asarray(a.numpy[..., :1] * 1), a.numpy[..., :1] * 1)
    for name in ("det", "inv", "slogdet", "trace", "matrix_rank", "svdvals", "pinv"):
        w.call(f"linalg.{name}", a, rounds=20_000)
    w.call("linalg.solve", a, b, rounds=20_000)
    w.call("linalg.matrix_power", a, w.below(4), rounds=20_000)
    orders = ["fro", "nuc", 1, -1, 2, -2, float("inf")]
    w.call("linalg.matrix_norm", a, ord=w.of(orders), rounds=20_000)
    w.call("linalg.vector_norm", a, ord=w.of([0, 1, 2, 3, float("inf")]), rounds=20_000)
    spd = a.numpy @ np.conj(np.swapaxes(a.numpy, -1, -2))
    spd = Both(xp.asarray(spd), spd)
    for name in ("cholesky", "eigvalsh"):
        w.call(f"linalg.{name}", spd, rounds=20_000)
    v = w.fresh("float64", (4, 3))
    w.call("linalg.cross", v, v)
    u = w.fresh("float32", (5,))
    w.call("linalg.outer", u, u)


def transformed(w):
    n = w.of([1, 2, 5, 8, 30, 64, 101])
    z, r = w.fresh(w.of(COMPLEX), (3, n)), w.fresh(w.of(FLOATS), (3, n))
    norm = w.of(["backward", "ortho", "forward"])
    for name in ("fft", "ifft"):
        w.call(f"fft.{name}", z, axis=w.axis(z), norm=norm, rounds=2000)
    for name in ("fftn", "ifftn"):
        w.call(f"fft.{name}", z, axes=(0, 1), norm=norm, rounds=2000)
    for name in ("irfft", "hfft"):
        w.call(f"fft.{name}", z, n=6, norm=norm, rounds=2000)
    for name in ("rfft", "ihfft"):
        w.call(f"fft.{name}", r, norm=norm, rounds=2000)
    w.call("fft.rfftn", r, axes=(0, 1), norm=norm, rounds=2000)
    w.call("fft.fftshift", z)
    w.call("fft.ifftshift", r)
    w.call("fft.fftfreq", n)
    w.call("fft.rfftfreq", n)


CALLS = [
    *unary("numeric", "abs negative positive square"),
    *unary("real", "ceil floor round trunc sign"),
    *unary("numeric", "isnan isfinite isinf"),
    *unary("floating", "sin cos tanh asinh exp"),
    *unary("float", "tan sinh cosh atan expm1 signbit reciprocal"),
    *unary("float", "asin acos atanh", -0.9, 0.9),
    *unary("float", "log log1p log2 log10 sqrt acosh", 1.1, 50.0),
    *unary("complex", "conj real imag"),
    *unary("bool", "logical_not"),
    *unary("int", "bitwise_invert"),
    *binary("numeric", "add subtract multiply equal not_equal"),
    *binary("real", "maximum minimum less less_equal greater greater_equal"),
    *binary("float", "atan2 hypot copysign nextafter logaddexp"),
    *binary("float", "divide floor_divide remainder", positive=True),
    *binary("int", "bitwise_and bitwise_or bitwise_xor"),
    *binary("bool", "logical_and logical_or logical_xor"),
    *reductions("numeric", "sum"),
    *reductions("real", "max min argmax argmin"),
    *reductions("floating", "mean"),
    *reductions("float", "std var", correction=0),
    *reductions("any", "any all count_nonzero"),
    *[moved, reshaped, joined, repeated, ordered, taken, chosen, accumulated, made, shaped],
    *[written, cast, multiplied, decomposed, transformed],
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that long")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    array_api_strict.set_array_api_strict_flags(api_version="2025.12")
    start, done, seed = time.monotonic(), 0, options.seed
    while done < options.operations and time.monotonic() - start < options.seconds:
        world = World(seed)
        try:
            while world.operations < min(1000, options.operations - done):
                world.step()
            world.read()
        except Exception:
            print(f"failed: seed {seed}, operation {world.operations}", file=sys.stderr)
            raise
        done += world.operations
        seed += 1
    seconds = time.monotonic() - start
    print(f"{done} operations from seed {options.seed} agree, {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
