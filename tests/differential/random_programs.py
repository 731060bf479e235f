"""Random programs that stress deferred execution, on our arrays and on NumPy's at once.

Run as a script with a first seed and a number of programs: each program is compared with NumPy
where it reads values, and prints one hash of all it read. The hashes must be the same in every
mode of execution.
"""

import hashlib
import sys
import warnings

import numpy as np

import ascend_array_api as xp
from ascend_array_api import _core, runtime
from ascend_array_api._array import as_numpy
from ascend_array_api._device import default_device, on_host

SHAPES = [
    (4095,),
    (4096,),
    (4097,),
    (5001,),
    (20_000,),
    (33_333,),
    (70_000,),
    (65, 64),
    (70, 129),
    (3, 5000),
    (257, 129),
    (2, 65, 63),
]
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ARITHMETIC = ["add", "subtract", "multiply", "maximum", "minimum"]
WIDER = {
    "int8": "int64",
    "uint8": "int16",
    "int16": "int32",
    "int32": "int64",
    "float16": "float32",
    "float32": "float64",
    "complex64": "complex128",
}
INEXACT = ["exp", "sin", "tanh", "log1p", "sqrt", "divide", "atan2", "hypot"]


def raw(a):
    """Return the bytes of an array, every NaN alike (its sign and payload mean nothing)."""
    a = np.ascontiguousarray(a)
    if a.dtype.kind in "fc":
        parts = a.reshape(-1).view(a.real.dtype).copy()
        parts[np.isnan(parts)] = np.nan
        return parts.tobytes()
    return a.tobytes()


class Program:
    """Pairs of arrays that started equal; every step does the same to both halves of a pair."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.shape = SHAPES[self.rng.integers(len(SHAPES))]
        self.dtypes = list(self.rng.choice(DTYPES, 3, replace=False))
        self.pairs = []
        self.exports = []
        self.variances = []  # ours, what is expected, and the largest value
        self.streams = [runtime.Stream(), runtime.Stream()]
        self.hash = hashlib.blake2b(digest_size=8)
        self.log = [f"seed {seed}"]

    # ---- choices
    def chance(self, p):
        return self.rng.random() < p

    def choose(self, options):
        return options[int(self.rng.integers(len(options)))]

    def pick(self, suits=lambda a: True):
        """Return a random pair whose NumPy half suits, or None."""
        found = [pair for pair in self.pairs if suits(pair[1])]
        return self.choose(found) if found else None

    def partner(self, a):
        """Return a pair of a's dtype that broadcasts to a's shape, or None."""

        def suits(b):
            if b.dtype != a.dtype or b.ndim > a.ndim:
                return False
            tail = a.shape[a.ndim - b.ndim :]
            return all(m in (1, n) for m, n in zip(b.shape, tail, strict=True))

        return self.pick(suits)

    # ---- bookkeeping
    def note(self, what):
        self.log.append(what)

    def add(self, x, a, what):
        self.note(f"{len(self.pairs)}: {what} -> {a.dtype} {a.shape}")
        assert (x.shape, x.dtype) == (a.shape, a.dtype), self.log
        if len(self.pairs) >= 12:
            del self.pairs[int(self.rng.integers(len(self.pairs)))]
        self.pairs.append((x, a))

    def check(self, x, a):
        got = as_numpy(x).copy()
        assert (got.dtype, got.shape) == (a.dtype, a.shape), self.log
        if not np.array_equal(got, a, equal_nan=a.dtype.kind in "fc"):
            where = np.argwhere((got != a) & ~((got != got) & (a != a)))
            first = tuple(where[0])
            raise AssertionError(
                f"{len(where)} elements differ, first at {first}: {got[first]!r} != {a[first]!r}; "
                + "\n".join(self.log)
            )
        self.hash.update(raw(got))

    # ---- steps
    def create(self):
        shape = self.shape
        if len(shape) > 1 and self.chance(0.3):
            shape = tuple(1 if self.chance(0.5) else n for n in shape)
        elif self.chance(0.1):
            shape = ()
        dtype = np.dtype(self.choose(self.dtypes))
        values = self.rng.integers(0, 7, shape)
        a = np.asarray(values > 3 if dtype.kind == "b" else values).astype(dtype)
        if dtype.kind in "ifc" and self.chance(0.5):
            a = np.asarray(a - dtype.type(3))
        self.add(xp.asarray(a), a.copy(), "asarray")

    def view(self):
        x, a = self.pick()
        kind = self.choose(["tail", "head", "reverse", "step", "transpose", "broadcast", "part"])
        if a.ndim == 0:
            return
        axis = int(self.rng.integers(a.ndim))
        full = [slice(None)] * a.ndim
        if kind == "transpose":
            self.add(xp.permute_dims(x, tuple(range(a.ndim))[::-1]), a.T, "transpose")
        elif kind == "broadcast":
            try:
                b = np.broadcast_to(a, self.shape)
            except ValueError:
                return
            self.add(xp.broadcast_to(x, self.shape), b, "broadcast_to")
        elif kind == "part" and a.dtype.kind == "c":
            name = self.choose(["real", "imag"])
            self.add(getattr(xp, name)(x), getattr(a, name), name)
        else:
            full[axis] = {
                "tail": slice(1, None),
                "head": slice(None, -1),
                "reverse": slice(None, None, -1),
            }.get(kind, slice(int(self.rng.integers(0, 3)), None, 2))
            self.add(x[tuple(full)], a[tuple(full)], f"slice {full}")

    def copy(self):
        x, a = self.pick()
        kind = self.choose(["asarray", "astype", "reshape"])
        if kind == "asarray":
            self.add(xp.asarray(x, copy=True), a.copy(order="C"), "asarray(copy=True)")
        elif kind == "astype":
            self.add(xp.astype(x, x.dtype), a.copy(order="C"), "astype to the same")
        else:
            self.add(xp.reshape(x, (-1,), copy=True), a.reshape(-1).copy(), "reshape(copy=True)")

    def cast(self):
        x, a = self.pick()
        dtype = np.dtype(self.choose(self.dtypes))
        if a.dtype.kind == "c" and dtype.kind not in "bc":
            return
        if a.dtype.kind == "f" and dtype.kind in "iu":
            low, high = (0, 100) if dtype.kind == "u" else (-100, 100)
            a = np.clip(np.nan_to_num(a, nan=0.0), low, high)
            x = xp.where(xp.isnan(x), xp.zeros((), dtype=x.dtype), x)
            x = xp.clip(x, low, high)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.add(xp.astype(x, dtype), a.astype(dtype, order="C"), "astype")

    def arithmetic(self):
        x, a = self.pick()
        pair = self.partner(a)
        if pair is None:
            return
        y, b = pair
        if a.dtype == bool:
            name = self.choose(["logical_and", "logical_or", "logical_xor", "equal"])
        elif a.dtype.kind == "c":
            name = self.choose(["add", "subtract", "equal", "not_equal"])
        else:
            name = self.choose([*ARITHMETIC, "less", "greater_equal", "not_equal"])
        if self.chance(0.5) and name in ("add", "subtract", "multiply", "less", "not_equal"):
            number = int(self.rng.integers(0, 4))
            if a.dtype.kind in "fc":
                number /= 2
            self.add(
                getattr(xp, name)(x, number),
                np.asarray(getattr(np, name)(a, a.dtype.type(number))),
                f"{name} {number}",
            )
        else:
            self.add(getattr(xp, name)(x, y), np.asarray(getattr(np, name)(a, b)), name)

    def choose_where(self):
        pair = self.pick(lambda a: a.dtype.kind != "c")
        if pair is None:
            return
        x, a = pair
        partner = self.partner(a)
        condition = self.pick(lambda c: c.dtype == bool and c.shape == a.shape)
        if condition is None or self.chance(0.3):
            condition = (x, a) if a.dtype == bool else (x > 1, np.asarray(a > 1))
        m, c = condition
        if partner is None or self.chance(0.3):
            low, high = (0, 2)
            if a.dtype == bool:
                return
            self.add(xp.clip(x, low, high), np.asarray(np.clip(a, low, high)), "clip")
        else:
            y, b = partner
            self.add(xp.where(m, x, y), np.asarray(np.where(c, a, b)), "where")

    def inexact(self):
        """Functions whose last bit is ours alone: equal between modes, not compared with NumPy."""
        pair = self.pick(lambda a: a.dtype.kind == "f")
        if pair is None:
            return
        x, _a = pair
        y = xp.multiply(x, 0.5) + 1
        names = [self.choose(INEXACT) for _ in range(int(self.rng.integers(1, 6)))]
        for name in names:
            f = getattr(xp, name)
            y = f(y, x) if name in ("divide", "atan2", "hypot") else f(y)
            if self.chance(0.3):
                y = y - x
        self.note(f"inexact {names}")
        self.hash.update(raw(as_numpy(y)))
        # the sum of what only we can compute
        self.hash.update(raw(as_numpy(xp.sum(y))))

    def writeable(self, dtype=None):
        return self.pick(
            lambda a: (
                a.flags.writeable
                and a.size > 0
                and 0 not in [s for n, s in zip(a.shape, a.strides, strict=True) if n > 1]
                and (dtype is None or a.dtype == dtype)
            )
        )

    def in_place(self):
        pair = self.writeable()
        if pair is None:
            return
        x, a = pair
        if a.dtype == bool:
            name = self.choose(["__iand__", "__ior__", "__ixor__"])
        else:
            name = self.choose(["__iadd__", "__isub__", "__imul__"])
            if a.dtype.kind == "c" and name == "__imul__":
                return
        partner = self.partner(a)
        if partner is None or self.chance(0.4):
            number = True if a.dtype == bool else 2
            getattr(x, name)(number)
            getattr(a, name)(a.dtype.type(number))
            self.note(f"{name} scalar on {a.dtype} {a.shape} {a.strides}")
        else:
            y, b = partner
            getattr(x, name)(y)
            getattr(a, name)(b.copy())
            self.note(f"{name} on {a.dtype} {a.shape} {a.strides} by {b.shape} {b.strides}")

    def assign(self):
        pair = self.writeable()
        if pair is None:
            return
        x, a = pair
        key = ...
        if a.ndim and a.shape[0] > 4 and self.chance(0.6):
            key = self.choose(
                [slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1)]
            )
        partner = self.partner(a[key])
        if partner is None or self.chance(0.2):
            x[key] = a.dtype.type(1).item()
            a[key] = 1
            self.note(f"[{key}] = 1 on {a.dtype} {a.shape} {a.strides}")
        else:
            y, b = partner
            x[key] = y
            a[key] = b.copy()
            self.note(f"[{key}] = view {b.shape} {b.strides} on {a.dtype} {a.shape} {a.strides}")

    def shift(self):
        """Assign between overlapping views of one array."""
        pair = self.writeable()
        if pair is None or pair[1].ndim == 0 or pair[1].shape[0] < 4:
            return
        x, a = pair
        n = a.shape[0]
        k = int(self.rng.integers(1, 4))
        kind = self.choose(["up", "down", "reverse", "add", "twice"])
        self.note(f"shift {kind} by {k} on {a.dtype} {a.shape} {a.strides}")
        if kind == "up":
            x[k:] = x[:-k]
            a[k:] = a[:-k].copy()
        elif kind == "down":
            x[:-k] = x[k:]
            a[:-k] = a[k:].copy()
        elif kind == "reverse":
            x[...] = x[::-1]
            a[...] = a[::-1].copy()
        elif kind == "add" and a.dtype != bool:
            x[k:] += x[:-k]
            a[k:] += a[:-k].copy()
        else:
            x[: n // 2] = x[n - n // 2 :]
            a[: n // 2] = a[n - n // 2 :].copy()
            x[n - n // 2 :] = x[: n // 2]
            a[n - n // 2 :] = a[: n // 2].copy()

    def reduce(self):
        x, a = self.pick()
        axis = int(self.rng.integers(a.ndim)) if a.ndim and self.chance(0.6) else None
        if a.dtype == bool:
            name = self.choose(["any", "all", "count_nonzero"])
            want = np.asarray(getattr(np, name)(a, axis=axis))
            if name == "count_nonzero":
                want = want.astype(np.int64)
        elif a.dtype.kind in "iu":
            name = self.choose(["sum", "max", "min"] if a.size else ["sum"])
            want = np.asarray(getattr(np, name)(a, axis=axis))
            if name == "sum":
                want = want.astype("int64" if a.dtype.kind == "i" else "uint64")
        else:
            name = "count_nonzero"
            want = np.asarray(np.count_nonzero(a, axis=axis)).astype(np.int64)
        self.add(getattr(xp, name)(x, axis=axis), want, f"{name} axis={axis}")

    def reduced_chain(self):
        """Chains that end in reductions or running sums; some rows meet what they reduce to."""
        pair = self.pick(lambda a: a.dtype.kind in "iu" and a.ndim > 0 and a.size > 0)
        if pair is None:
            return
        x, a = pair
        axis = int(self.rng.integers(a.ndim))
        wide = "int64" if a.dtype.kind == "i" else "uint64"
        y, b = x * x + 1, a * a + a.dtype.type(1)
        kind = self.choose(["all", "axis", "count", "rows", "scan", "kept"])
        if kind == "all":
            self.add(xp.sum(y), np.asarray(np.sum(b, dtype=wide)), "sum of a chain")
        elif kind == "axis":
            self.add(xp.max(y, axis=axis), np.asarray(np.max(b, axis=axis)), "max of a chain")
        elif kind == "count":
            count = np.asarray(np.count_nonzero(b > 3, axis=axis)).astype(np.int64)
            self.add(xp.count_nonzero(y > 3, axis=axis), count, "count of a chain")
        elif kind == "rows":
            y, b = x - xp.max(x, axis=-1, keepdims=True), a - np.max(a, axis=-1, keepdims=True)
            s, t = xp.sum(y * y, axis=-1), np.sum(b * b, axis=-1, dtype=wide)
            z = xp.astype(y, s.dtype) + xp.expand_dims(s, axis=-1)
            self.add(z, b.astype(wide) + t[..., None], "rows")
            if self.chance(0.5):
                self.add(s, np.asarray(t), "sums of rows")
        elif kind == "scan":
            got = xp.cumulative_sum(y, axis=axis)
            self.add(got, np.cumsum(b, axis=axis, dtype=wide), "running sums of a chain")
        else:
            self.add(xp.min(y, axis=axis), np.asarray(np.min(b, axis=axis)), "min of what is kept")
            self.add(y, b, "what was reduced")

    def inexact_rows(self):
        """Rows that are divided by what they reduce to: equal between modes."""
        pair = self.pick(lambda a: a.dtype.kind == "f" and a.ndim > 0 and a.size > 0)
        if pair is None:
            return
        x = xp.multiply(pair[0], 0.25)
        axis = int(self.rng.integers(-x.ndim, 0))
        kind = self.choose(["softmax", "standardise", "sums"])
        self.note(f"inexact {kind} along {axis}")
        if kind == "softmax":
            e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
            y = e / xp.sum(e, axis=axis, keepdims=True)
        elif kind == "standardise":
            y = x - xp.mean(x, axis=axis, keepdims=True)
            y = y / (xp.std(x, axis=axis, keepdims=True) + 1)
        else:
            y = xp.cumulative_sum(xp.tanh(x), axis=axis) + xp.var(x + 1)
        self.hash.update(raw(as_numpy(y)))

    def change(self, x, a):
        """Write to a number array in place."""
        if a.dtype.kind != "c" and self.chance(0.6):
            x *= 2
            a *= a.dtype.type(2)
        elif a.ndim and self.chance(0.3):
            x[:7] += 3
            a[:7] += a.dtype.type(3)
        else:
            x += 3
            a += a.dtype.type(3)

    def cast_around(self):
        """Casts forth and back, and a write to what was cast somewhere around them."""
        pair = self.writeable()
        if pair is None or pair[1].dtype.name not in WIDER:
            return
        x, a = pair
        wide = np.dtype(WIDER[a.dtype.name])
        when = self.choose(["first", "between", "last"])
        self.note(f"{wide} and back, write {when}, {a.dtype} {a.shape} {a.strides}")
        if when == "first":
            self.change(x, a)
        t, b = xp.astype(x, wide), a.astype(wide, order="C")
        if when == "between":
            self.change(x, a)
        y = xp.astype(t, x.dtype)
        if self.chance(0.5):
            self.add(t, b, "the wide one")
        if self.chance(0.5):
            count = np.asarray(np.count_nonzero(b)).astype(np.int64)
            self.add(xp.count_nonzero(y), count, "count of what was cast back")
        if self.chance(0.7):
            self.add(y, b.astype(a.dtype), "what was cast back")
        del t, y
        if when == "last":
            self.change(x, a)

    def changed_results(self):
        """Results of reductions and running sums, changed in place while they are pending."""
        pair = self.pick(lambda a: a.dtype.kind in "iu" and a.ndim > 0 and a.size > 0)
        if pair is None:
            return
        x, a = pair
        axis = int(self.rng.integers(a.ndim))
        wide = "int64" if a.dtype.kind == "i" else "uint64"
        kind = self.choose(["cumulative_sum", "sum", "max"])
        if kind == "cumulative_sum":
            y, b = xp.cumulative_sum(x, axis=axis), np.cumsum(a, axis=axis, dtype=wide)
        elif kind == "sum":
            y, b = xp.sum(x, axis=axis), np.asarray(np.sum(a, axis=axis, dtype=wide))
        else:
            y, b = xp.max(x, axis=axis), np.asarray(np.max(a, axis=axis)).copy()
        z, c = y + 1, np.asarray(b + b.dtype.type(1))
        self.change(y, b)
        if self.chance(0.5):
            self.change(z, c)
        self.add(y, b, f"{kind}, changed")
        self.add(z, c, f"{kind} and 1")

    def reduce_changed(self):
        """Reductions of a value whose source is written before or after them."""
        pair = self.writeable()
        if pair is None or pair[1].dtype.kind not in "iuf" or pair[1].ndim == 0:
            return
        x, a = pair
        if self.chance(0.4) and a.dtype.kind in "iu":
            x, a = xp.cumulative_sum(x, axis=-1), np.cumsum(a, axis=-1, dtype=a.dtype)
            x = xp.astype(x, a.dtype)
        when = self.choose(["before", "after", "itself"])
        y, b = (x, a) if when == "itself" else (x + 1, a + a.dtype.type(1))
        self.note(f"reduce what was made of {a.dtype} {a.shape} {a.strides}, written {when}")
        if when != "after":
            self.change(x, a)
        if a.dtype.kind == "f":
            self.variance(y, b)
        else:
            wide = "int64" if a.dtype.kind == "i" else "uint64"
            self.add(xp.cumulative_sum(y, axis=-1), np.cumsum(b, axis=-1, dtype=wide), "scan")
            self.add(xp.sum(y, axis=-1), np.asarray(np.sum(b, axis=-1, dtype=wide)), "sum")
        if y is not x and self.chance(0.5):
            self.add(y, b, "what was reduced")
        del y
        if when == "after":
            self.change(x, a)

    def variance(self, y, b):
        """Check a pending variance roughly: its last bits are ours alone."""
        b = b.astype(np.float64)
        most = np.max(np.abs(b), initial=0)
        if b.size and most < 200:
            self.variances.append((xp.var(y), np.var(b), most))

    def parts_of_products(self):
        """Views of products, and of their parts, under other shapes."""
        kind = self.choose(["complex64", "complex128", "float64", "int32"])
        m, k, n = (int(self.rng.integers(1, 90)) for _ in range(3))
        a, b = (self.rng.integers(-4, 5, shape).astype(kind) for shape in ((m, k), (k, n)))
        if a.dtype.kind == "c":
            a, b = a * a.dtype.type(1 + 2j), b * a.dtype.type(2 - 1j)
        p, q = xp.asarray(a) @ xp.asarray(b), a @ b
        if a.dtype.kind == "c" and self.chance(0.8):
            name = self.choose(["real", "imag"])
            p, q = getattr(xp, name)(p), getattr(np, name)(q)
        shape = self.choose([(m, 1, n), (1, m, n), (m, n, 1), (m * n,), (m, n)])
        p, q = xp.reshape(p, shape), q.reshape(shape)
        if self.chance(0.3):
            p, q = p[1:], q[1:]
        self.add(p + 1, q + q.dtype.type(1), f"{kind} product as {shape}")
        if self.chance(0.3):
            self.add(p, q, "the view")

    def element(self):
        pair = self.pick(lambda a: a.size > 0)
        if pair is None:
            return
        x, a = pair
        at = tuple(int(self.rng.integers(n)) for n in a.shape)
        got, want = x[at], np.asarray(a[at])
        self.check(got, want)

    def chain(self):
        """A long chain whose intermediate results nobody holds."""
        pair = self.pick(lambda a: a.dtype.kind in "iuf")
        if pair is None:
            return
        x, a = pair
        length = int(self.rng.integers(3, 80))
        one, y, b = a.dtype.type(1), x, a
        for i in range(length):
            if i % 3 == 0:
                y, b = y + 1, b + one
            elif i % 3 == 1:
                y, b = xp.maximum(y, x), np.maximum(b, a)
            else:
                y, b = xp.minimum(y, 50), np.minimum(b, a.dtype.type(50))
        self.add(y, np.asarray(b), f"chain of {length}")

    def export(self):
        pair = self.pick(lambda a: a.dtype != bool and a.size > 0)
        if pair is None:
            return
        x, a = pair
        n = np.asarray(x)
        self.note(f"export of {a.dtype} {a.shape} {a.strides}")
        self.exports.append((n, a))

    def use_export(self):
        if not self.exports:
            return
        at = int(self.rng.integers(len(self.exports)))
        n, a = self.exports[at]
        assert np.array_equal(n, a, equal_nan=a.dtype.kind in "fc"), ("export", self.log)
        self.hash.update(raw(n))
        if n.flags.writeable and a.flags.writeable:
            n[...] = n[::-1].copy() if n.ndim else n + n
            a[...] = a[::-1].copy() if a.ndim else a + a
            self.note("write to an export")
        if self.chance(0.5):
            del self.exports[at]

    def share(self):
        """Memory that NumPy owns: two overlapping arrays of it, and NumPy's own view."""
        dtype = np.dtype(self.choose(self.dtypes))
        if dtype.kind == "b" or len(self.shape) != 1:
            return
        n = self.rng.integers(0, 7, self.shape).astype(dtype)
        a = n.copy()
        self.add(xp.asarray(n, copy=False), a, "asarray(copy=False)")
        self.add(xp.asarray(n[1:], copy=False), a[1:], "asarray(copy=False) of a part")
        self.exports.append((n, a))

    def rearrange(self):
        """Functions of the library, which may be recorded, too."""
        pair = self.pick(lambda a: a.ndim > 0 and a.size > 0)
        if pair is None:
            return
        x, a = pair
        axis = int(self.rng.integers(a.ndim))
        small = a.dtype.kind in "fc" and np.all(np.isfinite(a)) and np.max(np.abs(a)) < 1000
        small = small and np.array_equal(a, np.rint(a))
        if a.ndim == 2 and small and a.dtype.itemsize >= 8 and a.dtype.kind == "f":
            self.matmul(x[:40], x[-30:].T, a[:40], a[-30:].T)
        kind = self.choose(["roll", "concat", "sort", "cumulative_sum", "flip", "take", "mask"])
        if kind == "roll":
            self.add(xp.roll(x, 5, axis=axis), np.roll(a, 5, axis=axis), kind)
        elif kind == "concat":
            self.add(xp.concat([x, x], axis=axis), np.concatenate([a, a], axis=axis), kind)
        elif kind == "flip" and a.dtype != bool:
            # a copy or a view, so what is written to either must not tell
            self.add(xp.flip(x, axis=axis) + x, np.flip(a, axis=axis) + a, kind)
        elif kind == "sort" and a.dtype.kind in "iu":
            self.add(xp.sort(x, axis=axis), np.sort(a, axis=axis), kind)
        elif kind == "cumulative_sum" and a.dtype.kind in "iu":
            wide = "int64" if a.dtype.kind == "i" else "uint64"
            self.add(xp.cumulative_sum(x, axis=axis), np.cumsum(a, axis=axis, dtype=wide), kind)
        elif kind == "take":
            at = self.rng.integers(0, a.shape[axis], 50)
            self.add(xp.take(x, xp.asarray(at), axis=axis), np.take(a, at, axis=axis), kind)
        elif kind == "mask" and a.dtype.kind in "iuf":
            self.add(x[x > 2], a[a > 2], kind)

    def matmul(self, x, y, a, b):
        """A product of matrices, with work behind it that can run on its blocks."""
        p, q = x @ y, a @ b
        kind = self.choose(["alone", "chain", "kept", "in place", "mask", "transpose"])
        if kind == "chain":
            p, q = xp.maximum(p * 2 + 1, 3), np.maximum(q * 2 + 1, 3)
        elif kind == "kept":
            self.add(p, q, "matmul that is read again")
            p, q = p - p[:1], q - q[:1]
        elif kind == "in place":
            p += p[:, :1] + 0
            q += q[:, :1] + 0
        elif kind == "mask":
            p, q = p > 5, q > 5
        elif kind == "transpose":
            p, q = p.T + 1, q.T + 1
        self.add(p, q, f"matmul, {kind}")

    def stream(self):
        """A few steps on one stream; what they touch may be pending on another."""
        at = int(self.rng.integers(2))
        self.note(f"stream {at}")
        with self.streams[at]:
            for _ in range(int(self.rng.integers(1, 5))):
                getattr(self, self.choose(self.STEPS))()
        if self.chance(0.3):
            self.streams[1 - at].wait_event(self.streams[at].record())
        if self.chance(0.1):
            self.streams[at].synchronize()
        self.note("end of stream")

    def delete(self):
        if len(self.pairs) > 1:
            del self.pairs[int(self.rng.integers(len(self.pairs)))]
            self.note("delete")

    def read(self):
        self.check(*self.pick())

    STEPS = (
        ["view"] * 4
        + ["arithmetic"] * 6
        + ["in_place"] * 5
        + ["assign"] * 4
        + ["shift"] * 2
        + ["cast"] * 3
        + ["copy"] * 4
        + ["choose_where"] * 3
        + ["create"] * 2
        + ["delete"] * 2
        + ["chain", "reduce", "element", "inexact"]
        + ["export", "use_export", "use_export", "share"] * on_host(default_device())
        + ["rearrange"] * 3
        + ["reduced_chain"] * 3
        + ["inexact_rows"]
        + ["cast_around", "changed_results", "reduce_changed"] * 2
        + ["parts_of_products"]
        + ["stream"] * 2
        + ["read"]
    )

    def run(self):
        for _ in range(3):
            self.create()
        for _ in range(int(self.rng.integers(5, 45))):
            getattr(self, self.choose(self.STEPS))()
        for n, a in self.exports:
            assert np.array_equal(n, a, equal_nan=a.dtype.kind in "fc"), ("export", self.log)
        for x, a in self.pairs:
            self.check(x, a)
        for x, expected, most in self.variances:
            got = as_numpy(x).copy()
            assert abs(got - expected) <= 1e-2 * expected + 1e-3 * most**2, (
                got,
                expected,
                self.log,
            )
            self.hash.update(raw(got))
        return self.hash.hexdigest()


def main():
    before = _core.tape_counters()["replays"]
    first, count = int(sys.argv[1]), int(sys.argv[2])
    np.seterr(all="ignore")
    for seed in range(first, first + count):
        try:
            # In predictive mode a program runs by its plans from the third time on.
            times = 4 if runtime.get_mode() == "predictive" else 1
            for digest in {Program(seed).run() for _ in range(times)}:
                print(seed, digest)
        except Exception:
            print("program", seed, "failed", file=sys.stderr)
            raise
    replayed = _core.tape_counters()["replays"] > before
    assert replayed == (runtime.get_mode() == "predictive")


if __name__ == "__main__":
    main()
