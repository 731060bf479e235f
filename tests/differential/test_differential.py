"""Random programs on our arrays and on NumPy's, step by step: both must always agree.

The programs create arrays, take views, write through views, use in-place operators, reductions
and indexing. ``ASCEND_ARRAY_API_EXAMPLES`` sets the number of programs: 100 by default, 20000 for
a long run.
"""

import os

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as hnp

import ascend_array_api as xp

EXAMPLES = int(os.environ.get("ASCEND_ARRAY_API_EXAMPLES", "100"))
LONG = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
DTYPES = ["bool", "int8", "uint8", "int16", "int64", "uint64", "float32", "float64", "complex64"]
SIDES = st.integers(0, 5) | st.sampled_from([8, 9, 31, 65])


def same(x, a, what):
    got = np.array(x, copy=True)
    assert x.shape == a.shape, what
    assert x.dtype == a.dtype, what
    np.testing.assert_array_equal(got, a, err_msg=what)


@st.composite
def sources(draw):
    """Return a small NumPy array: sizes around bytes and words, small integers as values."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = tuple(draw(st.lists(SIDES, max_size=3)))
    seed = draw(st.integers(0, 2**20))
    values = np.random.default_rng(seed).integers(0, 7, shape)
    return np.array(values > 3 if dtype.kind == "b" else values, dtype=dtype)


def basic_keys(shape):
    return hnp.basic_indices(shape, max_dims=6, allow_newaxis=True, allow_ellipsis=True)


def view(a, key):
    """Return a[key] as a view also where NumPy gives a scalar."""
    key = key if isinstance(key, tuple) else (key,)
    return a[key if any(k is ... for k in key) else (*key, ...)]


def overlaps(a):
    """Return whether several elements of a share one address: then writes are refused."""
    return a.size > 0 and any(n > 1 and s == 0 for n, s in zip(a.shape, a.strides, strict=True))


class Program:
    """Pairs of arrays that started equal; every step does the same to both halves of a pair."""

    def __init__(self, data):
        self.data = data
        self.pairs = []
        self.log = []

    def draw(self, strategy):
        return self.data.draw(strategy)

    def pick(self):
        return self.pairs[self.draw(st.integers(0, len(self.pairs) - 1))]

    def add(self, x, a, what):
        self.log.append(what)
        same(x, a, str(self.log))
        if (a.ndim <= 8 and a.size <= 20_000) or not self.pairs:
            self.pairs.append((x, a))

    def verify(self):
        for x, a in self.pairs:
            same(x, a, str(self.log))

    # ---- steps
    def create(self):
        a = self.draw(sources())
        self.add(xp.asarray(a), np.array(a), f"asarray({a!r})")

    def view(self):
        x, a = self.pick()
        kind = self.draw(st.sampled_from(["key", "permute", "expand", "broadcast", "flip"]))
        if kind == "key":
            key = self.draw(basic_keys(a.shape))
            self.add(x[key], view(a, key), f"x[{key}]")
        elif kind == "permute":
            axes = tuple(self.draw(st.permutations(range(a.ndim))))
            self.add(xp.permute_dims(x, axes), a.transpose(axes), f"permute_dims {axes}")
        elif kind == "expand" and a.ndim < 8:
            axis = self.draw(st.integers(-a.ndim - 1, a.ndim))
            self.add(xp.expand_dims(x, axis=axis), np.expand_dims(a, axis), f"expand_dims {axis}")
        elif kind == "broadcast" and a.size < 500:
            shape = (self.draw(st.integers(0, 3)), *a.shape)
            self.add(xp.broadcast_to(x, shape), np.broadcast_to(a, shape), f"broadcast_to {shape}")
        else:
            same(xp.flip(x), np.flip(a), "flip")  # a copy or a view: only its values count

    def copy(self):
        x, a = self.pick()
        if self.draw(st.booleans()):
            self.add(xp.asarray(x, copy=True), np.array(a), "copy")
        else:
            self.add(xp.astype(x, x.dtype), np.array(a), "astype to the same dtype")

    def write(self):
        x, a = self.pick()
        if not a.flags.writeable:
            if overlaps(a):
                with pytest.raises(ValueError):
                    x[...] = x
            return
        key = self.draw(basic_keys(a.shape))
        if isinstance(key, tuple):
            key = tuple(k for k in key if k is not None)
        target = view(a, key)
        choice = self.draw(st.sampled_from(["scalar", "row", "other", "same"]))
        if choice == "scalar":
            value = self.draw(st.booleans()) if a.dtype == bool else self.draw(st.integers(0, 9))
            pair = (value, value)
        elif choice == "row":
            row = self.draw(st.integers(0, 50))
            values = (np.arange(row, row + target.size).reshape(target.shape) % 5).astype(a.dtype)
            pair = (xp.asarray(values), values)
        else:
            y, b = self.pick() if choice == "other" else (x, a)
            if b.dtype != a.dtype:
                return
            try:
                np.broadcast_to(b, target.shape)
            except ValueError:
                with pytest.raises(ValueError):
                    x[key] = y
                return
            pair = (y, b.copy())
        self.log.append(f"x[{key}] = {choice}")
        x[key] = pair[0]
        a[key] = pair[1]
        self.verify()

    def in_place(self):
        x, a = self.pick()
        y, b = self.pick()
        ops = ["and", "or", "xor"] if a.dtype == bool else ["add", "sub", "mul"]
        op = self.draw(st.sampled_from(ops))
        method = f"__i{op}__"
        ok = a.dtype == b.dtype and a.flags.writeable
        try:
            ok = ok and np.broadcast_shapes(a.shape, b.shape) == a.shape
        except ValueError:
            ok = False
        self.log.append(f"x {op}= y")
        if not ok:
            if a.dtype == b.dtype and (a.flags.writeable or overlaps(a)):
                with pytest.raises(ValueError):
                    getattr(x, method)(y)
            return
        assert getattr(x, method)(y) is x
        getattr(a, method)(b.copy())
        # keep values small and exact, so that both libraries agree on every bit
        if a.dtype.kind in "fc" and np.max(np.abs(a), initial=0) > 1e3:
            x[...] = 1
            a[...] = 1
        self.verify()

    def arithmetic(self):
        x, a = self.pick()
        y, b = self.pick()
        if a.dtype != b.dtype:
            return
        if a.dtype == bool:
            name = self.draw(st.sampled_from(["logical_and", "logical_or", "bitwise_xor", "equal"]))
        elif a.dtype.kind == "c":
            name = self.draw(st.sampled_from(["add", "subtract", "equal", "not_equal"]))
        else:
            name = self.draw(
                st.sampled_from(["add", "subtract", "multiply", "maximum", "less", "not_equal"])
            )
        try:
            want = getattr(np, name)(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                getattr(xp, name)(x, y)
            return
        if want.dtype.kind in "fc" and want.size and np.max(np.abs(want)) > 1e4:
            return
        self.add(getattr(xp, name)(x, y), np.asarray(want), name)

    def reduce(self):
        x, a = self.pick()
        axis = self.draw(st.none() | st.integers(-a.ndim, a.ndim - 1)) if a.ndim else None
        keep = self.draw(st.booleans())
        names = ["any", "all", "count_nonzero"]
        if a.dtype != bool and a.dtype.kind != "c":
            names += ["sum", "max", "min", "argmax"]
        name = self.draw(st.sampled_from(names))
        n = a.size if axis is None else a.shape[axis]
        if name in ("max", "min", "argmax") and n == 0:
            if axis is not None and 0 in np.delete(a.shape, axis):
                return  # nothing to reduce into: libraries differ
            with pytest.raises(ValueError):
                getattr(xp, name)(x, axis=axis, keepdims=keep)
            return
        want = np.asarray(getattr(np, name)(a, axis=axis, keepdims=keep))
        if name == "sum" and a.dtype.kind in "iu":
            want = want.astype("int64" if a.dtype.kind == "i" else "uint64")
        self.add(
            getattr(xp, name)(x, axis=axis, keepdims=keep),
            want,
            f"{name} axis={axis} keepdims={keep}",
        )

    def select(self):
        x, a = self.pick()
        if a.ndim == 0 or a.shape[0] == 0:
            return
        if self.draw(st.booleans()):
            m = np.random.default_rng(self.draw(st.integers(0, 99))).random(a.shape) < 0.5
            self.add(x[xp.asarray(m)], a[m], "x[mask]")
            if a.flags.writeable and self.draw(st.booleans()):
                x[xp.asarray(m)] = True if a.dtype == bool else 2
                a[m] = True if a.dtype == bool else 2
                self.verify()
        else:
            n = a.shape[0]
            i = np.array(self.draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=5)))
            self.add(x[xp.asarray(i)], a[i], f"x[{i}]")
            if a.flags.writeable and self.draw(st.booleans()):
                v = (np.arange(i.size) % 2).astype(a.dtype).reshape((-1,) + (1,) * (a.ndim - 1))
                x[xp.asarray(i)] = xp.asarray(v)
                for k, at in enumerate(i):  # the last of equal indices wins
                    a[at] = v[k]
                self.verify()

    def rearrange(self):
        x, a = self.pick()
        name = self.draw(
            st.sampled_from(["roll", "concat", "stack", "reshape", "repeat", "where", "export"])
        )
        if name == "roll":
            k = self.draw(st.integers(-9, 9))
            self.add(xp.roll(x, k), np.roll(a, k), f"roll {k}")
        elif name == "concat" and a.ndim:
            axis = self.draw(st.integers(-a.ndim, a.ndim - 1))
            self.add(xp.concat([x, x], axis=axis), np.concatenate([a, a], axis=axis), "concat")
        elif name == "stack" and a.ndim < 8:
            self.add(xp.stack([x, x], axis=-1), np.stack([a, a], axis=-1), "stack")
        elif name == "reshape":
            self.add(
                xp.reshape(x, (a.size,), copy=True), a.reshape(-1).copy(), "reshape to 1-d, copy"
            )
        elif name == "repeat":
            self.add(xp.repeat(x, 2), np.repeat(a, 2), "repeat")
        elif name == "where":
            self.add(xp.where(x == x, x, x), np.where(a == a, a, a), "where")
        elif name == "export" and a.size:
            # a NumPy view of ours: writes through it show in every alias
            n = np.asarray(x)
            if a.dtype != bool and n.flags.writeable and a.flags.writeable:
                at = tuple(self.draw(st.integers(0, s - 1)) for s in a.shape)
                self.log.append(f"asarray(x)[{at}] = 3")
                n[at] = 3
                a[at] = 3
                self.verify()


STEPS = [
    "create",
    "view",
    "view",
    "view",
    "copy",
    "write",
    "write",
    "in_place",
    "arithmetic",
    "reduce",
    "select",
    "rearrange",
]


@LONG
@given(st.data())
def test_programs(data):
    program = Program(data)
    program.create()
    for name in data.draw(st.lists(st.sampled_from(STEPS), min_size=3, max_size=14)):
        getattr(program, name)()
    program.verify()


@LONG
@given(st.data())
def test_basic_indexing(data):
    a = data.draw(sources())
    x = xp.asarray(a)
    key = data.draw(basic_keys(a.shape))
    same(x[key], np.asarray(a[key]), str(key))


@LONG
@given(st.data())
def test_advanced_indexing(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    a = np.arange(np.prod(shape)).reshape(shape)
    x = xp.asarray(a)
    key = data.draw(hnp.integer_array_indices(shape, dtype=np.int64))
    same(x[tuple(xp.asarray(k) for k in key)], a[key], str(key))
    y, b = xp.asarray(a), a.copy()
    value = np.arange(a[key].size).reshape(a[key].shape)
    y[tuple(xp.asarray(k) for k in key)] = xp.asarray(value)
    grids = np.broadcast_arrays(*key)
    for at in np.ndindex(grids[0].shape):
        b[tuple(g[at] for g in grids)] = value[at]
    same(y, b, str(key))


@LONG
@given(st.data())
def test_broadcasting(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=9))
    p, q = shapes.input_shapes
    a = np.arange(np.prod(p, dtype=int)).reshape(p) % 11
    b = np.arange(np.prod(q, dtype=int)).reshape(q) % 7
    x, y = xp.asarray(a), xp.asarray(b)
    same(x + y, np.asarray(a + b), f"{p} + {q}")
    same(x < y, np.asarray(a < b), f"{p} < {q}")
    same((x < y) & (x > 1), np.asarray((a < b) & (a > 1)), f"bool of {p} and {q}")
    assert xp.broadcast_shapes(p, q) == np.broadcast_shapes(p, q)
