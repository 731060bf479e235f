"""Child process of test_no_crash.py: fuzz_child.py PART CALLS."""

import faulthandler
import inspect
import operator
import os
import random
import resource
import sys
import warnings

import numpy as np

import ascend_array_api as xp
from ascend_array_api import runtime

faulthandler.enable()
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if "LD_PRELOAD" not in os.environ:  # sanitizers reserve more than any limit
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

part, calls = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(part)
DTYPES = [
    getattr(xp, n)
    for n in """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64
complex64 complex128""".split()
]


class Odd:
    """An object whose protocol methods misbehave."""

    def __index__(self):
        raise RuntimeError("index")

    def __float__(self):
        raise RuntimeError("float")

    def __len__(self):
        return 2**62

    def __getitem__(self, i):
        raise KeyError(i)

    def __iter__(self):
        raise RuntimeError("iter")

    def __array__(self, *a, **k):
        raise RuntimeError("array")

    def __dlpack__(self, *a, **k):
        return None

    def __dlpack_device__(self):
        return ("x", None)

    def __bool__(self):
        raise RuntimeError("bool")


class Index:
    def __init__(self, v):
        self.v = v

    def __index__(self):
        return self.v


class Growing(list):
    """A sequence that changes while it is read."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        self.clear()
        return 1


def array():
    dtype = rng.choice(DTYPES)
    shape = rng.choice(
        [
            (),
            (0,),
            (1,),
            (3,),
            (7,),
            (2, 3),
            (3, 3),
            (0, 2),
            (2, 0, 3),
            (2, 2, 2),
            (65,),
            (1,) * 5,
            (1,) * 64,
        ]
    )
    n = int(np.prod(shape))
    with np.errstate(all="ignore"):
        values = np.array(
            [rng.choice([0, 1, -1, 2, 5, 127, 1e30, float("nan"), float("inf")]) for _ in range(n)]
        )
        x = xp.asarray(values.astype(dtype).reshape(shape))
    form = rng.randrange(7)
    if form == 0 and shape and shape[0]:
        x = x[::-1]
    elif form == 1 and len(shape) > 1:
        x = xp.permute_dims(x, tuple(reversed(range(len(shape)))))
    elif form == 2 and len(shape) < 60:
        x = xp.broadcast_to(x, (3, *shape))
    elif form == 3 and shape and shape[0] > 1:
        x = x[1:]
    return x


def junk():
    k = rng.randrange(12)
    if k < 5:
        return array()
    return rng.choice(JUNK)() if k < 11 else [junk() for _ in range(rng.randrange(3))]


JUNK = [
    lambda: None,
    lambda: ...,
    lambda: True,
    lambda: False,
    lambda: 0,
    lambda: 1,
    lambda: -1,
    lambda: 2,
    lambda: 3,
    lambda: -5,
    lambda: 2**31,
    lambda: -(2**31),
    lambda: 2**63,
    lambda: -(2**63),
    lambda: 2**70,
    lambda: 1.5,
    lambda: -0.0,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: 1j,
    lambda: "text",
    lambda: "float64",
    lambda: "left",
    lambda: "cpu",
    lambda: b"bytes",
    lambda: (),
    lambda: (1,),
    lambda: (0, 1),
    lambda: (-1,),
    lambda: (2, 3),
    lambda: (3, 2**31),
    lambda: (1,) * 64,
    lambda: (1,) * 65,
    lambda: (0, 0),
    lambda: [0],
    lambda: [[1, 2], [3]],
    dict,
    lambda: {1},
    lambda: object(),
    lambda: Odd(),
    lambda: Index(1),
    lambda: Index(2**70),
    lambda: Growing(),
    lambda: slice(None),
    lambda: slice(1, None, -1),
    lambda: slice(2**70),
    lambda: slice("a"),
    lambda: (slice(None), 0),
    lambda: (..., None),
    lambda: (None, ...),
    lambda: rng.choice(DTYPES),
    lambda: np.dtype("M8"),
    lambda: np.dtype(">f8"),
    lambda: np.dtype("V3"),
    lambda: np.float32(1),
    lambda: np.bool_(True),
    lambda: np.int8(-3),
    lambda: np.zeros(3),
    lambda: np.zeros((2, 3), bool),
    lambda: np.array(["a"]),
    lambda: np.array([None]),
    lambda: int,
    lambda: float,
    lambda: runtime.Array,
    lambda: runtime.Device("cpu"),
    lambda: iter([1]),
    lambda: range(3),
    lambda: memoryview(b"abcdefgh"),
    lambda: bytearray(8),
    lambda: Exception,
    lambda: lambda *a: a,
    lambda: "\ud800",
    lambda: "x" * 1000,
    lambda: -(2**70),
    lambda: (2**62, 2**62),
]

functions = []
for module in (xp, xp.linalg, xp.fft):
    for name in sorted(set(dir(module))):
        f = getattr(module, name)
        if callable(f) and not isinstance(f, type) and not name.startswith("set_"):
            functions.append((f"{module.__name__}.{name}", f))
info = xp.__array_namespace_info__()
functions += [
    (f"info.{n}", getattr(info, n))
    for n in ("capabilities", "default_device", "default_dtypes", "dtypes", "devices")
]
skip = {
    "__init_subclass__",
    "__subclasshook__",
    "__class__",
    "__new__",
    "__setattr__",
    "__delattr__",
    "__dir__",
    "__getattribute__",
}
methods = [
    n
    for n in sorted(set(dir(runtime.Array)))
    if n not in skip and callable(getattr(runtime.Array, n))
]
operators = [
    getattr(operator, n)
    for n in dir(operator)
    if n.startswith("__")
    and callable(getattr(operator, n))
    and n not in ("__build_class__", "__loader__", "__spec__")
]
plain = [
    f
    for n, f in vars(operator).items()
    if not n.startswith("_")
    and callable(f)
    and n
    in """add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift iadd isub
imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift neg pos
invert abs lt le eq ne gt ge getitem setitem delitem contains index truth""".split()
]

KEYWORDS = """axis dtype keepdims copy device correction side sorter descending stable n norm s
axes k ord mode upper full_matrices offset rtol indexing invert include_initial
prepend append min max endpoint d""".split()
ORDERLY = (Exception,)
bad = 0


def attempt(what, f, args, kw):
    global bad
    try:
        with np.errstate(all="ignore"):
            r = f(*args, **kw)
        if isinstance(r, runtime.Array) and r.size < 10**6:
            repr(r)
        elif isinstance(r, tuple):
            for v in r[:4]:
                if isinstance(v, runtime.Array) and v.size < 10**6:
                    repr(v)
    except SystemError as e:
        print("SystemError", what, e)
        bad += 1
    except MemoryError:
        pass
    except Exception as e:
        if "PyThreadState" in str(e) or "without an exception" in str(e):
            print(type(e).__name__, what, e)
            bad += 1


for i in range(calls):
    what = rng.randrange(10)
    if what < 6:
        name, f = functions[(part * 7 + i) % len(functions)] if what < 3 else rng.choice(functions)
        args = [
            array() if j == 0 and rng.random() < 0.7 else junk() for j in range(rng.randrange(4))
        ]
        kw = {rng.choice(KEYWORDS): junk() for _ in range(rng.choice([0, 0, 1, 1, 2]))}
        try:
            names = list(inspect.signature(f).parameters)
            kw = {k: v for k, v in kw.items() if k in names or rng.random() < 0.05}
            own = [n for n in names if n in KEYWORDS]
            if own and rng.random() < 0.6:
                kw[rng.choice(own)] = junk()
        except (TypeError, ValueError):
            pass
    elif what < 8:
        name = rng.choice(methods)
        f = getattr(runtime.Array, name)
        args, kw = [array(), *(junk() for _ in range(rng.choice([0, 1, 1, 1, 2])))], {}
    else:
        f = rng.choice(plain)
        name = f.__name__
        args, kw = [array(), junk(), junk()][: rng.choice([1, 2, 2, 2, 3])], {}
        if rng.random() < 0.3:
            args = args[::-1]
    print(f"{i} {name} {len(args)} {sorted(kw)}", file=sys.stderr) if "-v" in sys.argv else None
    attempt(name, f, args, kw)
print("END", bad)
