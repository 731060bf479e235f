"""One call at least of every public function, operator and way in or out of the library.

``CALLS`` maps a name to a function of ``Inputs``. Its first word is the name of what is called; the
tests check that no function of the namespace is missing.
"""

import copy
import hashlib
import operator
import pickle

import numpy as np

import ascend_array_api as xp
from ascend_array_api import random, runtime


class Inputs:
    """Arrays that calls read and never change, with about `size` elements."""

    def __init__(self, size):
        rng = np.random.default_rng(size)
        side = min(int(size**0.5), 48)
        self.size = size
        self.numpy = {
            "x": rng.uniform(-2, 2, size),
            "y": rng.uniform(0.5, 2, size),
            "unit": rng.uniform(-0.9, 0.9, size),
            "above": rng.uniform(1.1, 3, size),
            "f": rng.uniform(-2, 2, size).astype(np.float32),
            "i": rng.integers(-5, 5, size),
            "j": rng.integers(1, 6, size),
            "u": rng.integers(0, 9, size, dtype=np.uint8),
            "b": rng.random(size) < 0.5,
            "c": rng.random(size) < 0.5,
            "z": rng.normal(size=size) + 1j * rng.normal(size=size),
            "at": rng.integers(0, size, size // 2),
            "rows": rng.normal(size=(4, size // 4)),
            "triples": rng.normal(size=(size // 3, 3)),
            "square": rng.normal(size=(2, side, side)) + 8 * np.eye(side),
            "sides": rng.normal(size=(2, side, 3)),
        }
        spd = self.numpy["square"]
        self.numpy["spd"] = spd @ spd.swapaxes(-1, -2)
        for name, a in self.numpy.items():
            setattr(self, name, xp.asarray(a))
        runtime.synchronize()

    def intact(self):
        """Return whether every array still has the values that it was made with."""
        return all(
            np.array_equal(np.asarray(getattr(self, name)), a) for name, a in self.numpy.items()
        )


class Foreign:
    """An exporter that only speaks DLPack."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **kwargs):
        return self.x.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def in_place(op, x, value):
    x = xp.asarray(x, copy=True)
    return op(x, value)


def write(x, key, value):
    x = xp.asarray(x, copy=True)
    x[key] = value
    return x


def draw(method, *args, **kwargs):
    return getattr(random.default_rng(1), method)(*args, **kwargs)


def in_stream(n):
    stream = runtime.Stream()
    with stream:
        y = n.x * 2
        event = stream.record()
    other = runtime.Stream()
    with other:
        other.wait_event(event)
        z = y + 1
    other.synchronize()
    return y, z


def in_arena(n):
    with runtime.arena(64 * n.size + (1 << 16)):
        return n.x * 2 + n.y, xp.sum(n.x)


def several(n):
    """Chains, reductions, writes and a product that are pending together."""
    a = n.x * n.x
    total = xp.sum(a + n.y)
    kept = xp.asarray(n.x, copy=True)
    kept += 1
    kept[::2] = 0.0
    unrelated = n.i + n.j
    rows = xp.exp(n.rows - xp.max(n.rows, axis=-1, keepdims=True))
    rows = rows / xp.sum(rows, axis=-1, keepdims=True)
    product = xp.maximum(n.square[0] @ n.sides[0], 0.0)
    return a, total, kept, unrelated, rows, product, n.b & (n.x > 0)


UNARY = {
    "x": "abs ceil floor round trunc sign signbit isfinite isinf isnan negative positive square "
    "sin cos tan sinh cosh tanh asinh atan exp expm1 reciprocal",
    "unit": "asin acos atanh",
    "above": "acosh",
    "y": "log log1p log2 log10 sqrt",
    "z": "conj real imag",
    "b": "logical_not",
    "i": "bitwise_invert",
}
BINARY = {
    ("x", "y"): "add subtract multiply divide floor_divide remainder maximum minimum atan2 hypot "
    "copysign nextafter logaddexp equal not_equal less less_equal greater greater_equal vecdot",
    ("y", "unit"): "pow",
    ("b", "c"): "logical_and logical_or logical_xor",
    ("i", "j"): "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift",
}
REDUCTIONS = "sum prod max min mean var std argmax argmin all any count_nonzero"
FLOATING = ("x", "f")
OPERATORS = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift"
COMPARISONS = "lt le eq ne gt ge"

CALLS = {}
for operand, names in UNARY.items():
    for name in names.split():
        CALLS[name] = lambda n, f=name, a=operand: getattr(xp, f)(getattr(n, a))
for operands, names in BINARY.items():
    for name in names.split():
        CALLS[name] = lambda n, f=name, o=operands: getattr(xp, f)(*(getattr(n, a) for a in o))
for name in REDUCTIONS.split():
    CALLS[name] = lambda n, f=name: getattr(xp, f)(n.x)
    CALLS[f"{name} of rows"] = lambda n, f=name: getattr(xp, f)(n.rows, axis=0, keepdims=True)
for name in OPERATORS.split():
    operands = ("y", "unit") if name in ("truediv", "pow", "mod", "floordiv") else ("i", "j")
    symbol = getattr(operator, name)
    CALLS[f"operator {name}"] = lambda n, f=symbol, o=operands: f(
        getattr(n, o[0]), getattr(n, o[1])
    )
    CALLS[f"operator {name} reflected"] = lambda n, f=symbol, o=operands: f(2, getattr(n, o[1]))
    inplace = getattr(operator, "i" + name.rstrip("_"))
    CALLS[f"operator i{name}"] = lambda n, f=inplace, o=operands: in_place(
        f, getattr(n, o[0]), getattr(n, o[1])
    )
for name in COMPARISONS.split():
    CALLS[f"operator {name}"] = lambda n, f=name: getattr(operator, f)(n.x, 0.5)

CALLS |= {
    "__array_namespace_info__": lambda n: str(xp.__array_namespace_info__().dtypes()),
    "arange": lambda n: xp.arange(n.size),
    "asarray": lambda n: xp.asarray(n.numpy["x"]),
    "asarray shared": lambda n: xp.asarray(n.numpy["x"], copy=False) + 1,
    "asarray of lists": lambda n: xp.asarray([[1, 2], [3, 4]]),
    "asarray of arrays": lambda n: xp.asarray([n.x[0], n.x[1]]),
    "asarray copy": lambda n: write(n.x, 0, 3.0),
    "asarray bytes": lambda n: xp.asarray(memoryview(bytes(n.size))),
    "asarray bool": lambda n: xp.asarray(n.numpy["b"]),
    "asarray with dtype": lambda n: xp.asarray(n.numpy["i"], dtype=xp.float32),
    "astype": lambda n: xp.astype(n.x, xp.int32),
    "astype bool": lambda n: xp.astype(n.i, xp.bool),
    "astype same": lambda n: xp.astype(n.x, xp.float64),
    "broadcast_arrays": lambda n: xp.broadcast_arrays(n.rows, n.rows[:1]),
    "broadcast_shapes": lambda n: xp.broadcast_shapes((3, 1), (1, 4)),
    "broadcast_to": lambda n: xp.broadcast_to(n.x[:9], (5, 9)) + 0.0,
    "can_cast": lambda n: xp.can_cast(xp.int8, xp.int16),
    "clip": lambda n: xp.clip(n.x, -1, n.y),
    "concat": lambda n: xp.concat([n.rows, n.rows], axis=1),
    "concat of dtypes": lambda n: xp.concat([n.x, n.f]),
    "cumulative_prod": lambda n: xp.cumulative_prod(n.rows[:, :50], axis=1),
    "cumulative_sum": lambda n: xp.cumulative_sum(n.x, include_initial=True),
    "cumulative_sum of a chain": lambda n: xp.cumulative_sum(n.rows * 2, axis=0),
    "diff": lambda n: xp.diff(n.x, n=2),
    "empty": lambda n: xp.empty(n.size).shape,
    "empty_like": lambda n: xp.empty_like(n.x).shape,
    "expand_dims": lambda n: xp.expand_dims(n.x, axis=0) * 1,
    "eye": lambda n: xp.eye(9, 12, k=1),
    "finfo": lambda n: xp.finfo(xp.float32).bits,
    "flip": lambda n: xp.flip(n.rows, axis=1) + 0,
    "from_dlpack": lambda n: xp.from_dlpack(n.numpy["x"]) + 1,
    "from_dlpack copy": lambda n: xp.from_dlpack(Foreign(n.x), copy=True),
    "from_dlpack bool": lambda n: xp.from_dlpack(Foreign(n.b)),
    "from_dlpack bytes": lambda n: xp.from_dlpack(n.numpy["b"]),
    "full": lambda n: xp.full((n.size,), 2.5),
    "full_like": lambda n: xp.full_like(n.i, 3),
    "iinfo": lambda n: xp.iinfo(xp.int8).max,
    "isdtype": lambda n: xp.isdtype(xp.int8, "integral"),
    "isin": lambda n: xp.isin(n.i, n.j[:5]),
    "linspace": lambda n: xp.linspace(0, 1, n.size),
    "matmul": lambda n: xp.matmul(n.square, n.sides),
    "matmul int": lambda n: n.i[:30] @ n.j[:30],
    "matmul epilogue": lambda n: xp.maximum(n.square @ n.sides + 1, 0.0),
    "matrix_transpose": lambda n: xp.matrix_transpose(n.sides) + 0,
    "meshgrid": lambda n: xp.meshgrid(n.x[:9], n.y[:7]),
    "moveaxis": lambda n: xp.moveaxis(n.square, 0, 2) + 0,
    "nonzero": lambda n: xp.nonzero(n.b),
    "ones": lambda n: xp.ones(n.size, dtype=xp.int16),
    "ones_like": lambda n: xp.ones_like(n.b),
    "permute_dims": lambda n: xp.permute_dims(n.rows, (1, 0)) * 2,
    "pow of ints": lambda n: xp.pow(n.i, n.j),
    "repeat": lambda n: xp.repeat(n.x, 2),
    "repeat by array": lambda n: xp.repeat(n.x, n.j),
    "reshape": lambda n: xp.reshape(n.rows, (-1, 2), copy=True),
    "reshape of a transpose": lambda n: xp.reshape(n.rows.T, (-1,)),
    "result_type": lambda n: str(xp.result_type(n.x, 3.0)),
    "roll": lambda n: xp.roll(n.rows, (1, 2), axis=(0, 1)),
    "searchsorted": lambda n: xp.searchsorted(xp.sort(n.x), n.y),
    "sort": lambda n: xp.sort(n.x),
    "sort columns": lambda n: xp.sort(n.rows, axis=0, descending=True),
    "argsort": lambda n: xp.argsort(n.rows, axis=1),
    "squeeze": lambda n: xp.squeeze(n.x[None], axis=0) * 1,
    "stack": lambda n: xp.stack([n.x, n.y], axis=1),
    "take": lambda n: xp.take(n.x, n.at),
    "take_along_axis": lambda n: xp.take_along_axis(n.rows, n.i[:4, None] % 3),
    "tensordot": lambda n: xp.tensordot(n.square, n.sides[0], axes=1),
    "tile": lambda n: xp.tile(n.x, (2, 2)),
    "tril": lambda n: xp.tril(n.square),
    "triu": lambda n: xp.triu(n.square, k=1),
    "unique_all": lambda n: xp.unique_all(n.i),
    "unique_counts": lambda n: xp.unique_counts(n.i),
    "unique_inverse": lambda n: xp.unique_inverse(n.i),
    "unique_values": lambda n: xp.unique_values(n.x),
    "unstack": lambda n: [a + 0 for a in xp.unstack(n.rows)],
    "vecdot of rows": lambda n: xp.vecdot(n.rows, n.rows),
    "where": lambda n: xp.where(n.b, n.x, n.y),
    "zeros": lambda n: xp.zeros((3, n.size)),
    "zeros_like": lambda n: xp.zeros_like(n.z),
    # linear algebra
    "linalg.cholesky": lambda n: xp.linalg.cholesky(n.spd),
    "linalg.cross": lambda n: xp.linalg.cross(n.triples, n.triples[::-1]),
    "linalg.det": lambda n: xp.linalg.det(n.square),
    "linalg.diagonal": lambda n: xp.linalg.diagonal(n.square) * 1,
    "linalg.eig": lambda n: xp.linalg.eig(n.square),
    "linalg.eigvals": lambda n: xp.linalg.eigvals(n.square),
    "linalg.eigh": lambda n: xp.linalg.eigh(n.spd),
    "linalg.eigvalsh": lambda n: xp.linalg.eigvalsh(n.spd),
    "linalg.inv": lambda n: xp.linalg.inv(n.square),
    "linalg.matmul": lambda n: xp.linalg.matmul(n.square, n.square),
    "linalg.matrix_norm": lambda n: [
        xp.linalg.matrix_norm(n.square, ord=o) for o in ("fro", "nuc", 1, 2, -float("inf"))
    ],
    "linalg.matrix_power": lambda n: xp.linalg.matrix_power(n.square, 3),
    "linalg.matrix_rank": lambda n: xp.linalg.matrix_rank(n.square),
    "linalg.matrix_transpose": lambda n: xp.linalg.matrix_transpose(n.square) + 0,
    "linalg.outer": lambda n: xp.linalg.outer(n.x[:30], n.y[:20]),
    "linalg.pinv": lambda n: xp.linalg.pinv(n.sides),
    "linalg.qr": lambda n: xp.linalg.qr(n.sides),
    "linalg.slogdet": lambda n: xp.linalg.slogdet(n.square),
    "linalg.solve": lambda n: xp.linalg.solve(n.square, n.sides),
    "linalg.svd": lambda n: xp.linalg.svd(n.sides),
    "linalg.svdvals": lambda n: xp.linalg.svdvals(n.square),
    "linalg.tensordot": lambda n: xp.linalg.tensordot(n.square, n.square, axes=3),
    "linalg.trace": lambda n: xp.linalg.trace(n.square),
    "linalg.vecdot": lambda n: xp.linalg.vecdot(n.z, n.z),
    "linalg.vector_norm": lambda n: [xp.linalg.vector_norm(n.x, ord=o) for o in (1, 2, 3, 0)],
    # Fourier transforms
    "fft.fft": lambda n: xp.fft.fft(n.z),
    "fft.fft of columns": lambda n: xp.fft.fft(xp.astype(n.rows, xp.complex128), axis=0),
    "fft.fft of a prime": lambda n: xp.fft.fft(n.z, n=37),
    "fft.ifft": lambda n: xp.fft.ifft(n.z),
    "fft.fftn": lambda n: xp.fft.fftn(xp.astype(n.square, xp.complex128)),
    "fft.ifftn": lambda n: xp.fft.ifftn(xp.astype(n.square, xp.complex128)),
    "fft.rfft": lambda n: xp.fft.rfft(n.x),
    "fft.irfft": lambda n: xp.fft.irfft(n.z),
    "fft.rfftn": lambda n: xp.fft.rfftn(n.square),
    "fft.irfftn": lambda n: xp.fft.irfftn(xp.astype(n.square, xp.complex128)),
    "fft.hfft": lambda n: xp.fft.hfft(n.z),
    "fft.ihfft": lambda n: xp.fft.ihfft(n.x),
    "fft.fftfreq": lambda n: xp.fft.fftfreq(n.size),
    "fft.rfftfreq": lambda n: xp.fft.rfftfreq(n.size),
    "fft.fftshift": lambda n: xp.fft.fftshift(n.rows),
    "fft.ifftshift": lambda n: xp.fft.ifftshift(n.rows),
    # indexing
    "key slices": lambda n: n.rows[::-1, 1::2] + 0,
    "key element": lambda n: n.x[3],
    "key mask": lambda n: n.x[n.b],
    "key integers": lambda n: n.x[n.at],
    "key mixed": lambda n: n.rows[:, n.at[:5] % n.rows.shape[1]],
    "write scalar": lambda n: write(n.x, slice(1, None, 2), 1.5),
    "write view": lambda n: write(n.x, slice(1, None), n.y[:-1]),
    "write mask": lambda n: write(n.x, n.b, 0.5),
    "write integers": lambda n: write(n.x, n.at, n.y[: n.at.shape[0]]),
    "write bits": lambda n: write(n.b, slice(3, -3), n.c[6:]),
    "write over itself": lambda n: write(n.x, slice(1, None), n.x[:-1]),
    # out of the library
    "scalars": lambda n: (
        float(n.x[1]), int(n.i[1]), bool(n.b[1]), complex(n.z[1]), operator.index(n.i[2])
    ),
    "repr": lambda n: repr(n.x),
    "iteration": lambda n: [a + 0 for a in n.rows],
    "length": lambda n: len(n.x),
    "numpy": lambda n: np.asarray(n.x),
    "numpy bool": lambda n: np.asarray(n.b),
    "numpy from dlpack": lambda n: np.from_dlpack(n.x),
    "numpy of a transpose": lambda n: np.asarray(n.rows.T, dtype=np.float32),
    "pickle": lambda n: pickle.loads(pickle.dumps(n.rows.T)),
    "copy": lambda n: copy.copy(n.x),
    "deepcopy": lambda n: copy.deepcopy(n.x),
    "to_device": lambda n: n.x.to_device("cpu"),
    "negation": lambda n: (-n.x, +n.x, abs(n.x), ~n.b),
    # outside the standard
    "random.random": lambda n: draw("random", n.size),
    "random.normal": lambda n: draw("normal", size=n.size),
    "random.integers": lambda n: draw("integers", 0, 10, n.size),
    "random.uniform": lambda n: draw("uniform", 0.0, n.y),
    "random.gamma": lambda n: draw("gamma", n.y),
    "random.beta": lambda n: draw("beta", n.y, n.y),
    "random.exponential": lambda n: draw("exponential", size=n.size),
    "random.poisson": lambda n: draw("poisson", n.y),
    "random.binomial": lambda n: draw("binomial", 20, 0.4, size=n.size),
    "random.choice": lambda n: draw("choice", n.x, 5),
    "random.permutation": lambda n: draw("permutation", n.x),
    "random.multivariate_normal": lambda n: draw(
        "multivariate_normal", xp.zeros(3), xp.eye(3), 4
    ),
    "streams": in_stream,
    "arena": in_arena,
    "several": several,
}  # fmt: skip


def values(result):
    """Return what tells results apart, bit for bit."""
    if isinstance(result, runtime.Array | np.ndarray):
        a = np.array(result, copy=True, order="C")
        return (str(a.dtype), a.shape, hashlib.blake2b(a.data, digest_size=16).digest())
    if isinstance(result, tuple | list):
        return [values(r) for r in result]
    return result
