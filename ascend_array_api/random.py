"""Random numbers from a counter-based generator, modelled on NumPy's ``Generator``.

The generator is Philox4x32-10 [1]_. Element i of a draw depends on the state of the generator and
on i alone, so the numbers are the same whatever the number of threads, and a longer draw begins
with the numbers of a shorter one. None of these names belongs to the standard.

References
----------
.. [1] J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as
   1, 2, 3", 2011.

Examples
--------
>>> from ascend_array_api import random
>>> rng = random.default_rng(7)
>>> rng.integers(0, 10, size=(2, 3)).shape
(2, 3)
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypedDict, cast

import numpy as np

from . import _core, linalg
from ._checks import as_axis, as_index, composed, require_array, require_bool
from ._core import Array
from ._creation import arange, asarray, ones
from ._data_types import astype, finfo
from ._device import with_float64
from ._dtypes import as_dtype, bool_, default_float, float32, float64, int64, kind_of, uint64
from ._elementwise import log, log1p, maximum, sqrt
from ._indexing import take
from ._manipulation import broadcast_shapes, broadcast_to, concat, reshape
from ._searching import count_nonzero, searchsorted
from ._sorting import argsort
from ._statistical import cumulative_sum, max as largest, min as least, sum as total_of
from ._types import Device, DeviceLike, DType, RealScalar, Shape
from ._utility import all as all_of

__all__ = ["Generator", "State", "default_rng"]

# Blocks of the generator between two `jumped` ones.
_JUMP_LIMIT = 2**32
_BLOCK_LIMIT = 2**64


class State(TypedDict):
    """What determines the numbers to come."""

    bit_generator: str
    key: int
    block: int
    jump: int


def default_rng(
    seed: int | Sequence[int] | np.random.SeedSequence | Generator | None = None, /
) -> Generator:
    """Make a generator.

    Parameters
    ----------
    seed : int, sequence of ints, numpy.random.SeedSequence, Generator, optional
        Non-negative integers that determine all numbers. None takes a seed from the operating
        system, and a `Generator` is returned as it is.

    Returns
    -------
    Generator
        The generator.

    Raises
    ------
    TypeError
        If the seed is of another type.
    ValueError
        If an integer is negative.
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


class Generator:
    """A stream of random numbers.

    The methods of one generator may be called from several threads; each draw has numbers of its
    own.

    Parameters
    ----------
    seed : int, sequence of ints, numpy.random.SeedSequence, optional
        See `default_rng`.
    """

    def __init__(self, seed: int | Sequence[int] | np.random.SeedSequence | None = None) -> None:
        from numpy.random import SeedSequence

        try:
            self._seed = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
        except (TypeError, ValueError) as error:
            raise type(error)(
                "default_rng: seed must be None, a non-negative int, a sequence of them, a "
                f"SeedSequence or a Generator, got {seed!r}"
            ) from None
        low, high = (int(word) for word in self._seed.generate_state(2))
        self._key = low | high << 32
        self._block = 0
        self._jump = 0
        self._lock = threading.Lock()

    # ---- state

    @property
    def state(self) -> State:
        """The state, to be stored and set again."""
        with self._lock:
            return {
                "bit_generator": "Philox4x32",
                "key": self._key,
                "block": self._block,
                "jump": self._jump,
            }

    @state.setter
    def state(self, value: State) -> None:
        limits = {"key": _BLOCK_LIMIT, "block": _BLOCK_LIMIT, "jump": _JUMP_LIMIT}
        if not isinstance(value, dict) or value.get("bit_generator") != "Philox4x32":
            raise ValueError(f"state: expected the state of a Philox4x32 generator, got {value!r}")
        numbers = {}
        for name, limit in limits.items():
            number = as_index("state", name, value.get(name))
            if not 0 <= number < limit:
                raise ValueError(f"state: {name} is from 0 to {limit - 1}, got {number}")
            numbers[name] = number
        with self._lock:
            self._key, self._block, self._jump = numbers["key"], numbers["block"], numbers["jump"]

    def __getstate__(self) -> tuple[State, np.random.SeedSequence]:
        return self.state, self._seed

    def __setstate__(self, state: tuple[State, np.random.SeedSequence]) -> None:
        self._lock = threading.Lock()
        self.state, self._seed = state

    def __repr__(self) -> str:
        state = self.state
        numbers = f"key={state['key']:#x}, block={state['block']}, jump={state['jump']}"
        return f"Generator(Philox4x32, {numbers})"

    def spawn(self, n_children: int, /) -> list[Generator]:
        """Make independent generators, by the spawning of ``numpy.random.SeedSequence``.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of Generator
            The generators; a later call gives others.

        Raises
        ------
        ValueError
            If `n_children` is negative, or 2**31 and more.
        """
        count = as_index("spawn", "n_children", n_children)
        if not 0 <= count < 2**31:
            raise ValueError(f"spawn: n_children must lie between 0 and 2**31 - 1, got {count}")
        with self._lock:
            seeds = self._seed.spawn(count)
        return [Generator(seed) for seed in seeds]

    def jumped(self, jumps: int = 1, /) -> Generator:
        """Make a generator of the same key that begins far ahead: 2**64 blocks of four words.

        Parameters
        ----------
        jumps : int
            How far; different numbers give streams that do not overlap.

        Returns
        -------
        Generator
            The generator.
        """
        state = self.state
        ahead = state["jump"] + as_index("jumped", "jumps", jumps)
        if not 0 <= ahead < _JUMP_LIMIT:
            raise ValueError(f"jumped: the generator has {_JUMP_LIMIT} streams, not number {ahead}")
        other = Generator(self._seed)
        other.state = {**state, "block": 0, "jump": ahead}
        return other

    # ---- continuous distributions

    def random(
        self,
        size: Shape | None = None,
        dtype: DType | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw uniform numbers in [0, 1), from a grid of 2**-53 (float32: 2**-24).

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result. By default a 0-dimensional array.
        dtype : dtype, optional
            float64 (default) or float32.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            The numbers.
        """
        return self._draw("random", "uniform", size, dtype, device)

    @composed
    def uniform(
        self,
        low: RealScalar | Array = 0.0,
        high: RealScalar | Array = 1.0,
        size: Shape | None = None,
        dtype: DType | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw uniform numbers in [low, high).

        Parameters
        ----------
        low, high : float or Array
            The ends.
        size : int or tuple of ints, optional
            Shape of the result. By default that of the parameters.
        dtype : dtype, optional
            float64 (default) or float32.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            The numbers; where rounding would give `high`, they reach it.
        """
        low, high = _real("uniform", "low", low), _real("uniform", "high", high)
        size = _common_shape("uniform", size, low, high)
        most = float(finfo(float32 if dtype == float32 else float64).max)
        _require("uniform", "low", low, -most, most)
        _require("uniform", "high - low", high - low, -most, most)
        place = _place("uniform", device, low, high)
        drawn = self._draw("uniform", "uniform", size, dtype, place)
        return astype(drawn * (high - low) + low, drawn.dtype, copy=False)

    def standard_normal(
        self,
        size: Shape | None = None,
        dtype: DType | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw normal numbers of mean 0 and standard deviation 1, by Box and Muller's method.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result. By default a 0-dimensional array.
        dtype : dtype, optional
            float64 (default) or float32.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            The numbers; none is beyond 8.6 (float32: 5.8) in absolute value.
        """
        return self._draw("standard_normal", "normal", size, dtype, device)

    @composed
    def normal(
        self,
        loc: RealScalar | Array = 0.0,
        scale: RealScalar | Array = 1.0,
        size: Shape | None = None,
        dtype: DType | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw normal numbers.

        Parameters
        ----------
        loc : float or Array
            The mean.
        scale : float or Array
            The standard deviation, not negative.
        size : int or tuple of ints, optional
            Shape of the result. By default that of the parameters.
        dtype : dtype, optional
            float64 (default) or float32.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            The numbers.

        Raises
        ------
        ValueError
            If `scale` is negative somewhere.
        """
        loc, scale = _real("normal", "loc", loc), _real("normal", "scale", scale)
        _require("normal", "scale", scale, 0)
        size = _common_shape("normal", size, loc, scale)
        place = _place("normal", device, loc, scale)
        drawn = self._draw("normal", "normal", size, dtype, place)
        return astype(drawn * scale + loc, drawn.dtype, copy=False)

    @composed
    def exponential(
        self,
        scale: RealScalar | Array = 1.0,
        size: Shape | None = None,
        dtype: DType | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw exponential numbers, by inversion.

        Parameters
        ----------
        scale : float or Array
            The mean, not negative.
        size : int or tuple of ints, optional
            Shape of the result. By default that of `scale`.
        dtype : dtype, optional
            float64 (default) or float32.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            The numbers.

        Raises
        ------
        ValueError
            If `scale` is negative somewhere.
        """
        scale = _real("exponential", "scale", scale)
        _require("exponential", "scale", scale, 0)
        size = _common_shape("exponential", size, scale)
        place = _place("exponential", device, scale)
        uniform = self._draw("exponential", "uniform", size, dtype, place)
        return astype(-log1p(-uniform) * scale, uniform.dtype, copy=False)

    @composed
    def gamma(
        self,
        shape: RealScalar | Array,
        scale: RealScalar | Array = 1.0,
        size: Shape | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw gamma numbers, by Marsaglia and Tsang's method.

        Parameters
        ----------
        shape, scale : float or Array
            The parameters, not negative; the mean is their product.
        size : int or tuple of ints, optional
            Shape of the result. By default that of the parameters.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            Numbers of dtype float64.

        Raises
        ------
        ValueError
            If a parameter is negative or not finite somewhere.
        """
        shape, scale = _real("gamma", "shape", shape), _real("gamma", "scale", scale)
        _require("gamma", "shape", shape, 0)
        _require("gamma", "scale", scale, 0)
        size = _common_shape("gamma", size, shape, scale)
        place = _place("gamma", device, shape, scale)
        return self._draw("gamma", "gamma", size, None, place, shape) * scale

    @composed
    def beta(
        self,
        a: RealScalar | Array,
        b: RealScalar | Array,
        size: Shape | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw beta numbers, from two gamma numbers.

        Parameters
        ----------
        a, b : float or Array
            The parameters, positive.
        size : int or tuple of ints, optional
            Shape of the result. By default that of the parameters.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            Numbers of dtype float64 in [0, 1].

        Raises
        ------
        ValueError
            If a parameter is not positive and finite somewhere.
        """
        a, b = _real("beta", "a", a), _real("beta", "b", b)
        _require("beta", "a", a, 0, positive=True)
        _require("beta", "b", b, 0, positive=True)
        place = _place("beta", device, a, b)
        return self._draw("beta", "beta", _common_shape("beta", size, a, b), None, place, a, b)

    @composed
    def multivariate_normal(
        self,
        mean: Array,
        cov: Array,
        size: Shape | None = None,
        *,
        method: str = "cholesky",
    ) -> Array:
        """Draw vectors of a multivariate normal distribution.

        Parameters
        ----------
        mean : Array
            The mean, of shape ``(n,)``.
        cov : Array
            The covariance, of shape ``(n, n)``, symmetric: an element and its mirror image differ
            by at most a thousandth of the product of both standard deviations.
        size : int or tuple of ints, optional
            Shape of a stack of vectors. By default one vector.
        method : {"cholesky", "eigh"}
            How the covariance is factored; ``"eigh"`` serves singular ones, too.

        Returns
        -------
        Array
            The vectors, of shape ``size + (n,)``.

        Raises
        ------
        ValueError
            If the shapes do not match, or `method` is another, or `cov` is not symmetric, or not
            positive definite (``"eigh"``: not positive semidefinite).
        """
        require_array("multivariate_normal", mean, cov)
        n = mean.shape[0] if mean.ndim == 1 else -1
        if cov.shape != (n, n):
            raise ValueError(
                f"multivariate_normal: expected shapes (n,) and (n, n), got {mean.shape} and "
                f"{cov.shape}"
            )
        if method not in ("cholesky", "eigh"):
            raise ValueError(f"multivariate_normal: method is 'cholesky' or 'eigh', got {method!r}")
        _require_symmetric(cov)
        if method == "cholesky":
            factor = _factor(cov)
        else:
            values, vectors = linalg.eigh(cov)
            # Rounding may leave a zero eigenvalue a little below zero.
            if n and float(values[0]) < -1e-8 * max(1.0, float(values[-1])):
                raise ValueError(f"multivariate_normal: cov has the eigenvalue {float(values[0])}")
            factor = vectors * sqrt(maximum(values, 0.0))
        place = _place("multivariate_normal", None, mean, cov)
        shape = (*_shape("multivariate_normal", size), n)
        normal = self.standard_normal(shape, dtype=cov.dtype, device=place)
        return normal @ factor.mT + mean

    # ---- discrete distributions

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Shape | None = None,
        dtype: DType | None = None,
        *,
        endpoint: bool = False,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw integers, each with exactly the same probability (Lemire's method).

        Parameters
        ----------
        low, high : int
            The range [low, high); of one number, [0, low).
        size : int or tuple of ints, optional
            Shape of the result. By default a 0-dimensional array.
        dtype : dtype, optional
            An integer dtype, int64 by default.
        endpoint : bool
            Whether `high` belongs to the range.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            The integers.

        Raises
        ------
        ValueError
            If the range is empty or exceeds the dtype.
        """
        if high is None:
            low, high = 0, low
        first, last = as_index("integers", "low", low), as_index("integers", "high", high)
        require_bool("integers", "endpoint", endpoint)
        last -= not endpoint
        if first > last:
            ends = f"[{first}, {last}]" if endpoint else f"[{first}, {last + 1})"
            raise ValueError(f"integers: the range {ends} is empty")
        dtype = int64 if dtype is None else as_dtype("integers", dtype)
        if kind_of(dtype) not in "iu":
            raise TypeError(f"integers: expected an integer dtype, got {dtype}")
        bits, signed = 8 * dtype.itemsize, kind_of(dtype) == "i"
        limits = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        if not limits[0] <= first or not last <= limits[1]:
            raise ValueError(
                f"integers: expected a range within {limits} of {dtype}, got {first} to {last}"
            )
        return self._draw(
            "integers", "integers", size, dtype, device, low=first, span=last - first + 1
        )

    def binomial(
        self,
        n: int | Array,
        p: RealScalar | Array,
        size: Shape | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw numbers of successes in `n` trials of probability `p` (Hörmann's BTRS).

        Parameters
        ----------
        n : int or Array
            Trials, not negative, up to 2**53.
        p : float or Array
            Probability of a success.
        size : int or tuple of ints, optional
            Shape of the result. By default that of the parameters.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            Integers of dtype int64.

        Raises
        ------
        ValueError
            If a parameter is out of its range somewhere.
        """
        n = _whole("binomial", "n", n)
        p = _real("binomial", "p", p)
        _require("binomial", "n", n, 0, 2**53)
        _require("binomial", "p", p, 0, 1)
        size = _common_shape("binomial", size, n, p)
        place = _place("binomial", device, n, p)
        return self._draw("binomial", "binomial", size, int64, place, n, p)

    def poisson(
        self,
        lam: RealScalar | Array = 1.0,
        size: Shape | None = None,
        *,
        device: DeviceLike | None = None,
    ) -> Array:
        """Draw Poisson numbers (Hörmann's PTRS).

        Parameters
        ----------
        lam : float or Array
            The mean, not negative, up to 2**53.
        size : int or tuple of ints, optional
            Shape of the result. By default that of `lam`.
        device : Device or str, optional
            Where to make the array.

        Returns
        -------
        Array
            Integers of dtype int64.

        Raises
        ------
        ValueError
            If `lam` is out of its range somewhere.
        """
        lam = _real("poisson", "lam", lam)
        _require("poisson", "lam", lam, 0, 2**53)
        size = _common_shape("poisson", size, lam)
        place = _place("poisson", device, lam)
        return self._draw("poisson", "poisson", size, int64, place, lam)

    # ---- order and choice

    @composed
    def permutation(self, x: int | Array, /, *, axis: int = 0) -> Array:
        """Return the elements of an array along an axis, or the integers below a number, shuffled.

        Parameters
        ----------
        x : int or Array
            The array, or a number n for ``arange(n)``.
        axis : int
            The axis whose elements change places.

        Returns
        -------
        Array
            A new array.
        """
        if not isinstance(x, Array):
            x = arange(as_index("permutation", "x", x))
        axis = as_axis("permutation", axis, x.ndim)
        return take(x, self._order(x.shape[axis], x.device), axis=axis)

    @composed
    def shuffle(self, x: Array, /, *, axis: int = 0) -> None:
        """Shuffle an array in place along an axis.

        Parameters
        ----------
        x : Array
            The array.
        axis : int
            The axis whose elements change places.
        """
        require_array("shuffle", x)
        axis = as_axis("shuffle", axis, x.ndim)
        x[...] = self.permutation(x, axis=axis)

    @composed
    def choice(
        self,
        a: int | Array,
        size: Shape | None = None,
        replace: bool = True,
        p: Array | None = None,
        *,
        axis: int = 0,
    ) -> Array:
        """Draw elements of an array along an axis, or integers below a number.

        Parameters
        ----------
        a : int or Array
            The array, or a number n for ``arange(n)``.
        size : int or tuple of ints, optional
            Shape of the draw, which takes the place of `axis`. By default one element.
        replace : bool
            Whether an element may be drawn again.
        p : Array, optional
            The probability of each element; by default they are equal. Their sum is 1, to within
            the square root of the dtype's `finfo.eps`.
        axis : int
            The axis along which elements are drawn.

        Returns
        -------
        Array
            The elements.

        Raises
        ------
        ValueError
            If there are too few elements, or `p` is no distribution over them.
        TypeError
            If `replace` is not a bool, or `p` not an array of numbers.
        """
        require_bool("choice", "replace", replace)
        shape, place = _shape("choice", size), _place("choice", None, a, p)
        count = math.prod(shape)
        if isinstance(a, Array):
            axis = as_axis("choice", axis, a.ndim)
            n = a.shape[axis]
        else:
            n = as_index("choice", "a", a)
            if not 0 <= n < 2**63:
                raise ValueError(f"choice: a is from 0 to {2**63 - 1}, got {n}")
        weights = None if p is None else _distribution(p, n)
        available = n if weights is None else int(count_nonzero(weights))
        if count > available and not (replace and available):
            raise ValueError(f"choice: cannot draw {count} of {available} elements")
        index = self._choose(n, count, replace, weights, place)
        if not isinstance(a, Array):
            return reshape(index, shape)
        return reshape(take(a, index, axis=axis), (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))

    def _choose(
        self, n: int, count: int, replace: bool, weights: Array | None, place: Device
    ) -> Array:
        """Draw positions, on the device `place`; weights are where float64 is."""
        if weights is None and replace:
            return self.integers(0, max(n, 1), count, device=place)
        if weights is None:
            return self._sample(n, count, place)
        if replace:
            total = cumulative_sum(weights)
            random = self.random(count, device=weights.device)
            drawn = searchsorted(total, random * total[-1], side="right")
        else:
            # Efraimidis and Spirakis: Weighted random sampling with a reservoir, 2006.
            # Of the quotients the logarithms, as those of the smallest weights would be infinite.
            keys = log(self.exponential(size=n, device=weights.device)) - log(weights)
            drawn = argsort(keys)[:count]
        return drawn.to_device(place)

    def _sample(self, n: int, count: int, place: Device) -> Array:
        """Draw `count` different numbers below n."""
        if n <= 16 * count:
            return self._order(n, place)[:count]
        # Few numbers among many: the first `count` different ones of draws with replacement.
        drawn = self.integers(0, n, 0, device=place)
        while drawn.size < count:
            more = self.integers(0, n, count + count // 8 + 8, device=place)
            drawn = _different(concat([drawn, more]))
        return drawn[:count]

    def _order(self, n: int, place: Device) -> Array:
        # Keys of 64 bits: two of a million are equal once in 3e7 draws.
        keys = self._draw("permutation", "integers", n, uint64, place, low=0, span=0)
        return argsort(keys)

    def _draw(
        self,
        function: str,
        distribution: str,
        size: Shape | None,
        dtype: DType | None,
        device: DeviceLike | None,
        a: Any = 0.0,
        b: Any = 0.0,
        *,
        low: int = 0,
        span: int = 0,
    ) -> Array:
        """Draw from the core, and go on behind the numbers that it used."""
        place = _place(function, device, a, b)
        dtype = default_float(place) if dtype is None else as_dtype(function, dtype)
        plain = distribution in ("uniform", "normal")
        if plain and dtype not in (float32, float64):
            raise TypeError(f"{function}: expected dtype float32 or float64, got {dtype}")
        _core.require_dtype(function, dtype, place)
        shape = _shape(function, size)
        workplace = with_float64(place)
        a, b = (_parameter(x, shape, workplace) for x in (a, b))
        drawn_dtype = dtype if plain or distribution == "integers" else float64
        kind = (distribution, drawn_dtype, low % _BLOCK_LIMIT, span % _BLOCK_LIMIT)
        used = _core.random_blocks(function, *kind, shape)
        with self._lock:
            key, block, jump = self._key, self._block, self._jump
            self._block = (block + used) % _BLOCK_LIMIT
        drawn = _core.random_draw(function, *kind, key, block, jump, shape, a, b)
        return astype(drawn, dtype, copy=False, device=place)


def _place(function: str, device: DeviceLike | None, *parameters: object) -> Device:
    """Return the device of a draw: that asked for, which is the one of all parameters."""
    arrays = tuple(x for x in parameters if isinstance(x, Array))
    return _core.common_device(function, arrays, device)


def _shape(function: str, size: Shape | None) -> tuple[int, ...]:
    if size is None:
        return ()
    extents = size if isinstance(size, Sequence) else (size,)
    shape = tuple(as_index(function, "size", extent) for extent in extents)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"{function}: size must not be negative, got {size}")
    return shape


def _common_shape(
    function: str, size: Shape | None, *parameters: RealScalar | Array
) -> tuple[int, ...]:
    """Return the shape of a draw, which the parameters must broadcast to."""
    shapes = [x.shape for x in parameters if isinstance(x, Array)]
    common = cast("tuple[int, ...]", broadcast_shapes(*shapes))
    if size is None:
        return common
    shape = _shape(function, size)
    fits = len(common) <= len(shape) and all(
        extent in (1, wanted) for extent, wanted in zip(common[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(f"{function}: parameters of shape {common} do not fit size {shape}")
    return shape


def _different(x: Array) -> Array:
    """Return the different elements of a vector, in the order of their first places."""
    order = argsort(x)  # stable: equal elements stay in order
    ordered = take(x, order)
    first = ones(x.shape, dtype=bool_, device=x.device)
    first[order[1:]] = ordered[1:] != ordered[:-1]
    return x[first]


def _require_symmetric(cov: Array) -> None:
    """Refuse triangles that differ by more than a thousandth of the deviations' product."""
    if cov.size == 0 or cov.dtype not in (float32, float64):
        return  # whoever factors it names the dtypes that are accepted
    deviations = sqrt(abs(linalg.diagonal(cov)))
    apart = abs(cov - cov.mT)
    if not bool(all_of(apart <= 1e-3 * deviations[:, None] * deviations)):  # NaN is refused, too
        raise ValueError(
            "multivariate_normal: cov is not symmetric: its triangles differ by up to "
            f"{float(largest(apart))}"
        )


def _factor(cov: Array) -> Array:
    try:
        return linalg.cholesky(cov)
    except ValueError as error:
        raise ValueError(
            "multivariate_normal: cov is not positive definite; method='eigh' serves "
            "semidefinite ones, too"
        ) from error


def _real(function: str, name: str, value: RealScalar | Array) -> RealScalar | Array:
    """Return a real parameter; integers of an array become floating-point numbers."""
    if isinstance(value, Array):
        if kind_of(value.dtype) in "iu":
            return astype(value, default_float(value.device))
        if kind_of(value.dtype) == "f":
            return value
    elif isinstance(value, Real) and not isinstance(value, bool):
        return value
    came = value.dtype if isinstance(value, Array) else type(value).__name__
    raise TypeError(
        f"{function}: {name} must be an int, a float, or an array of a real dtype, got {came}"
    )


def _whole(function: str, name: str, value: int | Array) -> int | Array:
    if not isinstance(value, Array):
        return as_index(function, name, value)
    if kind_of(value.dtype) not in "iu":
        raise TypeError(f"{function}: {name} must be of an integer dtype, got {value.dtype}")
    return value


def _parameter(x: RealScalar | Array, shape: tuple[int, ...], workplace: Device) -> Array:
    """Return a parameter as the core wants it: one element, or as many as the result."""
    if not isinstance(x, Array):
        return asarray(float(x), dtype=float64, device=workplace)
    x = astype(x, float64, device=workplace)
    return x if x.shape == () else broadcast_to(x, shape)


def _require(
    function: str,
    name: str,
    value: RealScalar | Array,
    low: float,
    high: float = sys.float_info.max,
    *,
    positive: bool = False,
) -> None:
    """Raise ValueError unless every element is between low and high, or positive as well."""
    if isinstance(value, Array) and value.size == 0:
        return
    ends = (least(value), largest(value)) if isinstance(value, Array) else (value, value)
    smallest, greatest = (float(end) for end in ends)
    # A NaN fails, as it compares false.
    if not (low <= smallest and greatest <= high and not (positive and smallest == 0)):
        bounds = f"above {low}" if positive else f"from {low}"
        raise ValueError(f"{function}: {name} is {bounds} to {high:g}, got {value}")


def _distribution(p: Array, n: int) -> Array:
    """Return the probabilities of n elements as float64, where that is, or raise ValueError."""
    require_array("choice", p)
    if p.shape != (n,):
        raise ValueError(f"choice: p has shape {p.shape}, expected {(n,)}")
    _require("choice", "p", p, 0)
    tolerance = math.sqrt(finfo(p.dtype).eps) if kind_of(p.dtype) == "f" else 0.0
    p = astype(p, float64, device=with_float64(p.device))
    if not abs(float(total_of(p)) - 1) <= tolerance:
        raise ValueError(f"choice: p sums to {float(total_of(p))}, expected 1")
    return p
