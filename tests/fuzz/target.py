"""What a fuzzer throws at the library: `run(data)` takes any bytes as a small program.

    python tests/fuzz/target.py [--seconds 60] [--seed 0]     # random bytes; no coverage needed
    python tests/fuzz/target.py FILE...                       # bytes that a fuzzer has found

fuzz.cpp makes a libFuzzer target of the same function. The bytes decide on an array and on what
happens to it: keys, writes, reshapes, broadcasts, tensors of producers that lie, damaged pickles.
Values are compared with NumPy's; an error must be one of the orderly ones.
"""

import argparse
import contextlib
import ctypes
import math
import pickle
import random
import sys
import time

import numpy as np

import ascend_array_api as xp

ORDERLY = (TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError)
DTYPES = "bool int8 uint8 int16 uint16 int32 int64 uint64 float32 float64 complex64".split()
SIDES = (0, 1, 2, 3, 5, 8, 9, 17, 65)
ODD = (0, 1, 8, 63, 2**31, -(2**31), 2**32, 2**61, -(2**61), 2**62, 2**63 - 1, -(2**63))
#: elements of a result that is compared; a larger one was possible only as a view
MOST = 100_000


class Choices:
    """Decisions that the bytes make; when they are used up, always the first option."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return self.at < len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def below(self, n):
        return self.byte() % n

    def of(self, options):
        return options[self.below(len(options))]

    def number(self):
        """Return a small number, or seldom an odd one."""
        k = self.byte()
        return self.of(ODD) + k % 3 - 1 if k >= 240 else k % 23 - 11


def same(x, a):
    """Raise AssertionError unless both have the same shape, dtype and values."""
    assert (x.shape, x.dtype) == (a.shape, a.dtype), (x.shape, a.shape, x.dtype, a.dtype)
    if a.size <= MOST:
        np.testing.assert_array_equal(np.array(x, copy=True), a)


def both(ours, numpys):
    """Return what both sides give, or None where one of them raises an orderly error."""
    try:
        want = np.asarray(numpys())
    except ORDERLY:
        with contextlib.suppress(*ORDERLY):
            ours()
        return None
    try:
        return ours(), want
    except (MemoryError, ValueError, IndexError, TypeError):
        return None  # stricter than NumPy


class Program:
    """Pairs of one of our arrays and one of NumPy's."""

    def __init__(self, data):
        self.choices = Choices(data)
        self.x, self.a = self.source()

    def source(self):
        c = self.choices
        shape = tuple(c.of(SIDES) for _ in range(c.below(4)))
        dtype = np.dtype(c.of(DTYPES))
        count = int(np.prod(shape))
        values = np.arange(c.byte(), c.byte() + count)[:count] % 7
        a = np.resize(values, count).reshape(shape)
        a = (a > 3) if dtype.kind == "b" else a.astype(dtype)
        return xp.asarray(a), np.array(a)

    # ---- keys
    def key(self):
        c = self.choices
        items = []
        for _ in range(c.below(5)):
            kind = c.below(9)
            if kind < 2:
                items.append(c.number())
            elif kind < 6:
                parts = [c.number() if c.below(2) else None for _ in range(3)]
                items.append(slice(*parts))
            elif kind == 6:
                items.append(...)
            elif kind == 7:
                items.append(None)
            else:
                items.append(np.array([c.byte() % 9 - 4 for _ in range(c.below(4))], np.int64))
        return tuple(items)

    def ours(self, key):
        return tuple(xp.asarray(k) if isinstance(k, np.ndarray) else k for k in key)

    def read(self):
        key = self.key()
        if pair := both(lambda: self.x[self.ours(key)], lambda: self.a[key]):
            same(pair[0], pair[1])
            if self.choices.below(2) and not any(isinstance(k, np.ndarray) for k in key):
                self.keep(pair[0], self.a[(*key, ...)] if ... not in key else self.a[key])

    def keep(self, x, a):
        if a.size <= MOST and a.ndim < 9:
            self.x, self.a = x, a

    def write(self):
        key = tuple(k for k in self.key() if not isinstance(k, np.ndarray) and k is not None)
        value = self.choices.below(2)
        value = bool(value) if self.a.dtype == bool else value
        if not self.a.flags.writeable:
            return
        before = self.a.copy()
        try:
            self.a[key] = value
        except ORDERLY:
            with contextlib.suppress(*ORDERLY):
                self.x[key] = value
            self.a[...] = before
            same(self.x, self.a)
            return
        self.x[key] = value
        same(self.x, self.a)

    def mask(self):
        bits = np.resize([self.choices.below(2) for _ in range(9)], self.a.size).astype(bool)
        bits = bits.reshape(self.a.shape)
        same(self.x[xp.asarray(bits)], self.a[bits])
        if self.a.flags.writeable:
            self.x[xp.asarray(bits)] = True if self.a.dtype == bool else 1
            self.a[bits] = 1
            same(self.x, self.a)

    # ---- shapes
    def reshape(self):
        shape = tuple(self.choices.number() for _ in range(self.choices.below(5)))
        if self.choices.below(2):
            shape = (-1, *(s for s in shape if s > 0 and self.a.size % s == 0))[:2]
        if pair := both(lambda: xp.reshape(self.x, shape), lambda: self.a.reshape(shape)):
            same(*pair)
            if np.shares_memory(pair[1], self.a):
                self.keep(*pair)

    def broadcast(self):
        shape = tuple(abs(self.choices.number()) for _ in range(self.choices.below(3)))
        shape += self.a.shape
        if pair := both(
            lambda: xp.broadcast_to(self.x, shape), lambda: np.broadcast_to(self.a, shape)
        ):
            same(*pair)
            if pair[1].size <= MOST:
                same(pair[0] == pair[0], pair[1] == pair[1])

    def axes(self):
        c = self.choices
        axes = tuple(c.number() for _ in range(c.below(5)))
        if c.below(2):
            axes = tuple(np.argsort([c.byte() for _ in self.a.shape], kind="stable").tolist())
        x, a = self.x, self.a
        for pair in (
            both(lambda: xp.permute_dims(x, axes), lambda: np.permute_dims(a, axes)),
            both(lambda: xp.squeeze(x, axis=axes), lambda: np.squeeze(a, axis=axes)),
            axes and both(lambda: xp.flip(x, axis=axes), lambda: np.flip(a, axis=axes)),
        ):
            if pair:
                same(*pair)

    def arithmetic(self):
        y, b = self.source()
        if b.dtype != self.a.dtype or self.a.dtype == bool:
            y, b = self.x, self.a
            if self.a.dtype == bool:
                return same(self.x ^ True, self.a ^ True)
        if pair := both(lambda: self.x + y, lambda: self.a + b):
            same(*pair)

    # ---- what others say about memory
    def tensor(self):
        """A producer whose tensor may be anything but points to memory that is there."""
        c = self.choices
        memory = np.arange(64, dtype=np.float64)
        n = c.below(4)
        shape = [c.of(SIDES[:5]) if c.below(6) else c.number() for _ in range(n)]
        strides = [c.number() for _ in range(n)] if c.below(2) else None
        tensor = Tensor(
            data=memory.ctypes.data if c.below(8) else None,
            device_type=1 if c.below(6) else c.byte(),
            ndim=n if c.below(10) else c.number() % 2**31 - 2**30,
            code=c.of((2, 0, 1, 5, 6, 4, 77)),
            bits=c.of((64, 8, 16, 32, 1, 128, 63)),
            lanes=1 if c.below(9) else c.byte(),
            byte_offset=8 * c.below(9) if c.below(8) else c.byte(),
        )
        rank = max(n, tensor.ndim if 0 <= tensor.ndim <= 64 else 0)
        tensor.shape = (ctypes.c_int64 * (rank or 1))(*shape)
        if strides is not None:
            tensor.strides = (ctypes.c_int64 * (rank or 1))(*strides)
        producer = Producer(tensor, memory, versioned=bool(c.below(2)))
        if producer.points_elsewhere():
            return  # nobody can see through that
        try:
            x = xp.from_dlpack(producer, copy=c.of((None, False, True)))
        except (BufferError, MemoryError):
            assert producer.released() or not producer.taken()
            return
        if x.size <= MOST and x.size:
            np.asarray(x)
            repr(x)
        del x
        assert producer.released()

    def damaged_pickle(self):
        c = self.choices
        rebuild, (version, dtype, shape, device, data) = self.x.__reduce_ex__(4)
        data = bytes(data)
        match c.below(6):
            case 0:
                shape = tuple(c.number() for _ in range(c.below(4)))
            case 1:
                dtype = c.of([*DTYPES, "float65", ">f8", "M8[s]", ""])
            case 2:
                data = data[: c.byte()] + bytes(c.below(3))
            case 3:
                version = c.number()
            case 4:
                shape = (*shape, c.number(), 1)
            case 5:
                return self.damaged_bytes()
        with contextlib.suppress(*ORDERLY):
            y = rebuild(version, dtype, shape, device, data)
            assert y.shape == shape
            assert y.size * (1 if dtype == "bool" else y.dtype.itemsize) <= 8 * len(data)
            repr(y)

    def damaged_bytes(self):
        """Bytes of the stored elements and of the shape are changed, not what calls functions."""
        stored = bytearray(pickle.dumps(self.x, protocol=4))
        at = len(stored) - 1 - self.choices.below(max(1, min(64, self.a.nbytes)))
        stored[at] ^= 1 << self.choices.below(8)
        with contextlib.suppress(Exception):  # most are pickle's own
            repr(pickle.loads(bytes(stored)))

    STEPS = (
        read, read, read, write, write, mask, reshape, reshape, broadcast, axes, arithmetic,
        tensor, tensor, tensor, damaged_pickle,
    )  # fmt: skip

    def run(self):
        while self.choices.left():
            self.choices.of(self.STEPS)(self)
        same(self.x, self.a)


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
is_capsule = ctypes.pythonapi.PyCapsule_IsValid
is_capsule.argtypes = (ctypes.py_object, ctypes.c_char_p)


def row_major(shape):
    """Return the strides of an array without gaps."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class Producer:
    """Exports a tensor, and counts how often it is let go."""

    def __init__(self, tensor, memory, versioned):
        self.tensor, self.memory = tensor, memory
        self.calls = 0
        self.deleter = DELETER(self.delete)
        if versioned:
            self.managed = ManagedVersioned(major=1, minor=1, deleter=self.deleter, tensor=tensor)
            self.name = b"dltensor_versioned"
        else:
            self.managed = Managed(tensor=tensor, deleter=self.deleter)
            self.name = b"dltensor"
        self.capsule = new_capsule(ctypes.addressof(self.managed), self.name, None)

    def delete(self, _):
        self.calls += 1

    def taken(self):
        return not is_capsule(self.capsule, self.name)

    def released(self):
        return self.calls == 1

    def points_elsewhere(self):
        """Tell whether elements lie outside of the memory, at addresses that there could be."""
        t = self.tensor
        if not (0 <= t.ndim <= 64 and t.shape and t.data):
            return False
        shape = t.shape[: t.ndim]
        if any(n < 0 for n in shape) or math.prod(shape) == 0:
            return False
        steps = t.strides[: t.ndim] if t.strides else row_major(shape)
        spans = [(n - 1) * s for n, s in zip(shape, steps, strict=True)]
        low, high = sum(s for s in spans if s < 0), sum(s for s in spans if s > 0) + 1
        if max(-low, high, high - low) * t.bits * max(t.lanes, 1) >= 2**63:
            return False
        first, last = (t.byte_offset + n * t.bits * t.lanes / 8 for n in (low, high))
        return first < 0 or last > self.memory.nbytes

    def __dlpack_device__(self):
        return (self.tensor.device_type, self.tensor.device_id)

    def __dlpack__(self, **kwargs):
        return self.capsule


def run(data):
    """Run the program that the bytes are."""
    with np.errstate(all="ignore"):
        Program(data).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.files:
        with open(name, "rb") as file:
            run(file.read())
    rng, runs, end = random.Random(options.seed), 0, time.monotonic() + options.seconds
    while not options.files and time.monotonic() < end:
        data = rng.randbytes(rng.randrange(1, 120))
        try:
            run(data)
        except BaseException:
            print(f"failed: run({data!r})", file=sys.stderr)
            raise
        runs += 1
    print(f"{runs or len(options.files)} programs, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
