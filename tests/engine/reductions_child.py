"""Reductions and running sums of pending chains against those of the same values in memory.

Run as a script with a seed: for many shapes, layouts, dtypes and axes the two must have the same
bits, and what else a chain leaves behind, too. Prints a hash of all results.
"""

import hashlib
import itertools
import sys

import numpy as np

import ascend_array_api as xp

SHAPES = [
    (),
    (0,),
    (1,),
    (33,),
    (511,),
    (4097,),
    (40_001,),
    (300_000,),
    (0, 5),
    (5, 0),
    (2000, 3),
    (3, 2000),
    (700, 700),
    (20_000, 7),
    (7, 20_000),
    (40, 3, 129),
    (3, 1030, 5),
    (130, 5, 64),
    (2, 600, 300),
]
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
LAYOUTS = ["plain", "offset", "reverse", "step", "transposed", "broadcast"]


def make(rng, shape, dtype, layout):
    """Return an array of this layout, and its values."""
    padded = {"offset": 3, "step": 2}.get(layout)
    full = shape
    if padded and shape:
        full = (*shape[:-1], shape[-1] * padded + 5)
    elif layout == "transposed":
        full = shape[::-1]
    elif layout == "broadcast" and shape:
        full = (1, *shape[1:])
    values = rng.integers(-3, 9, full)
    if dtype == "bool":
        a = np.asarray(values > 2)
    elif np.dtype(dtype).kind == "f":
        a = np.asarray(values * rng.uniform(0.5, 1, full)).astype(dtype)
    elif np.dtype(dtype).kind == "c":
        a = np.asarray(values + 1j * rng.uniform(-2, 2, full)).astype(dtype)
    else:
        a = values.astype(dtype)
    x = xp.asarray(a)
    if layout == "offset" and shape:
        at = (..., slice(3, 3 + shape[-1]))
    elif layout == "step" and shape:
        at = (..., slice(1, 1 + 2 * shape[-1], 2))
    elif layout == "reverse" and shape:
        at = (slice(None, None, -1),)
    elif layout == "transposed":
        return xp.permute_dims(x, tuple(range(len(shape)))[::-1])
    elif layout == "broadcast":
        return xp.broadcast_to(x, shape)
    else:
        at = ()
    return x[at]


def chains(x):
    """Functions of x that make a pending value."""
    kind = x.dtype.kind
    if kind == "b":
        return [lambda: ~x, lambda: x ^ ~x[...], lambda: xp.where(x, xp.asarray(3), 1)]
    found = [lambda: x * x + x, lambda: x != 1, lambda: xp.astype(x + 1, xp.float64)]
    if kind == "c":
        return [found[0], found[1], lambda: xp.abs(x)]
    if kind == "f":
        found.append(lambda: xp.exp(x) > 2)
        found.append(lambda: xp.sqrt(xp.abs(x)))
    return found


def reductions(dtype):
    """Functions that reduce a value of the dtype along axes."""
    found = [xp.any, xp.all, xp.count_nonzero]
    if dtype.kind == "b":
        return found
    found += [xp.sum, xp.prod]
    if dtype.kind != "c":
        found += [xp.max, xp.min]
    if dtype.kind in "fc":
        found.append(xp.mean)
    if dtype.kind == "f":
        found += [xp.var, lambda v, axis: xp.std(v, axis=axis, correction=1)]
    if dtype.kind == "i":
        found.append(lambda v, axis: xp.sum(v, axis=axis, dtype=xp.int64))
    return found


def axes_of(ndim):
    found = [None]
    for n in range(ndim + 1):
        found += itertools.combinations(range(ndim), n)
    return found


def raw(x):
    a = np.ascontiguousarray(np.asarray(x))
    if a.dtype.kind in "fc":
        parts = a.reshape(-1).view(a.real.dtype).copy()
        parts[np.isnan(parts)] = np.nan
        a = parts
    return a.tobytes()


def softmax(x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return [e / xp.sum(e, axis=-1, keepdims=True)]


def standardise(x):
    return [(x - xp.mean(x, axis=-1, keepdims=True)) / xp.std(x, axis=-1, keepdims=True)]


def layer_norm(x):
    mean = xp.mean(x, axis=-1, keepdims=True)
    scale = xp.sqrt(xp.var(x, axis=-1, keepdims=True) + 0.5)
    return [(x - mean) / scale * 2 + 1, mean]


def rms_norm(x):
    return [x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 0.5)]


def normalised(x):
    lengths = xp.sqrt(xp.sum(x * x, axis=-1))
    return [x / xp.expand_dims(lengths + 1, axis=-1), lengths]


def flags(x):
    high = x > xp.mean(x, axis=-1, keepdims=True)
    return [xp.count_nonzero(high, axis=-1), xp.any(high, axis=-1), high]


def two_axes(x):
    axes = tuple(range(max(x.ndim - 2, 0), x.ndim))
    y = x - xp.min(x, axis=axes, keepdims=True)
    return [y / (xp.max(y, axis=axes, keepdims=True) + 1)]


def square(x):
    """Sums of rows that meet columns: no row depends on its own row alone."""
    n = min(x.shape[-2:])
    x = x[..., :n, :n]
    y = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return [y / xp.expand_dims(xp.sum(y, axis=-1), axis=-2)]


def along_first(x):
    return [(x - xp.mean(x, axis=0)) / (xp.std(x, axis=0) + 1)]


def in_place(x):
    y = x * 2
    y -= xp.max(y, axis=-1, keepdims=True)
    y[..., ::2] += xp.sum(y, axis=-1, keepdims=True)
    return [y / xp.mean(y, axis=-1, keepdims=True)]


ROW_SHAPES = [(700, 700), (3000, 513), (2, 40, 4100), (30, 7, 1000), (5, 100_001), (40_000, 8)]
ROWWISE = [
    softmax,
    standardise,
    layer_norm,
    rms_norm,
    normalised,
    flags,
    two_axes,
    square,
    along_first,
    in_place,
]


def rowwise(rng, digest):
    """Chains whose rows depend on reductions of the same rows."""
    for shape in ROW_SHAPES:
        for function in ROWWISE:
            dtype = rng.choice(["float16", "float32", "float64"])
            x = make(rng, shape, dtype, rng.choice(LAYOUTS))
            for result in function(x):
                digest.update(raw(result))


def main():
    rng = np.random.default_rng(int(sys.argv[1]))
    digest = hashlib.blake2b(digest_size=8)
    rowwise(rng, digest)
    for shape in SHAPES:
        for layout, dtype in zip(rng.choice(LAYOUTS, 3), rng.choice(DTYPES, 3), strict=True):
            x = make(rng, shape, dtype, layout)
            for chain in chains(x):
                value = chain()
                stored = xp.asarray(np.asarray(value))
                places = axes_of(len(shape))
                places = [places[i] for i in rng.choice(len(places), 2)]
                for reduce, axis in itertools.product(reductions(value.dtype), places):
                    what = (shape, layout, dtype, reduce, axis)
                    try:
                        expected = reduce(stored, axis=axis)
                    except ValueError:  # nothing to choose from
                        continue
                    expected = raw(expected)
                    assert raw(reduce(chain(), axis=axis)) == expected, what
                    digest.update(expected)
                # several in one pass, which leaves the value behind
                kept = chain()
                together = [reduce(kept, axis=places[0]) for reduce in reductions(value.dtype)[:4]]
                assert raw(kept) == raw(stored), (shape, layout, dtype)
                for reduce, result in zip(reductions(value.dtype), together, strict=False):
                    what = (shape, layout, dtype, reduce, places[0])
                    assert raw(result) == raw(reduce(stored, axis=places[0])), what
                if shape and value.dtype.kind != "b":
                    axis = int(rng.integers(len(shape)))
                    for scan in (xp.cumulative_sum, xp.cumulative_prod):
                        initial = bool(rng.integers(2))
                        expected = raw(scan(stored, axis=axis, include_initial=initial))
                        got = scan(chain(), axis=axis, include_initial=initial)
                        assert raw(got) == expected, (shape, layout, dtype, scan, axis)
                        kept = chain()
                        got = scan(kept, axis=axis, include_initial=initial)
                        assert (raw(kept), raw(got)) == (raw(stored), expected), (shape, axis)
                        digest.update(expected)
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
