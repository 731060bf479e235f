"""Elementwise functions.

Shapes broadcast together and dtypes promote as the standard says. Dtypes, shapes and scalars
are checked by the core, which also runs the operation.
"""

from __future__ import annotations

from ._core import (
    Array,
    abs as _abs,
    acos as _acos,
    acosh as _acosh,
    add as _add,
    asin as _asin,
    asinh as _asinh,
    atan as _atan,
    atan2 as _atan2,
    atanh as _atanh,
    bitwise_and as _bitwise_and,
    bitwise_invert as _bitwise_invert,
    bitwise_left_shift as _bitwise_left_shift,
    bitwise_or as _bitwise_or,
    bitwise_right_shift as _bitwise_right_shift,
    bitwise_xor as _bitwise_xor,
    ceil as _ceil,
    clip as _clip,
    conj as _conj,
    copysign as _copysign,
    cos as _cos,
    cosh as _cosh,
    divide as _divide,
    equal as _equal,
    exp as _exp,
    expm1 as _expm1,
    floor as _floor,
    floor_divide as _floor_divide,
    greater as _greater,
    greater_equal as _greater_equal,
    hypot as _hypot,
    imag as _imag,
    isfinite as _isfinite,
    isinf as _isinf,
    isnan as _isnan,
    less as _less,
    less_equal as _less_equal,
    log as _log,
    log1p as _log1p,
    log2 as _log2,
    log10 as _log10,
    logaddexp as _logaddexp,
    logical_and as _logical_and,
    logical_not as _logical_not,
    logical_or as _logical_or,
    logical_xor as _logical_xor,
    maximum as _maximum,
    minimum as _minimum,
    multiply as _multiply,
    negative as _negative,
    nextafter as _nextafter,
    not_equal as _not_equal,
    positive as _positive,
    pow as _pow,
    real as _real,
    reciprocal as _reciprocal,
    remainder as _remainder,
    round as _round,
    sign as _sign,
    signbit as _signbit,
    sin as _sin,
    sinh as _sinh,
    sqrt as _sqrt,
    square as _square,
    subtract as _subtract,
    tan as _tan,
    tanh as _tanh,
    trunc as _trunc,
)

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]


def abs(x: Array, /) -> Array:
    """Absolute value of each element.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        The magnitudes. A complex input gives the real dtype of the same precision.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    ``abs(-0.0)`` is ``0.0``, ``abs(nan)`` is ``nan``. The magnitude of a complex number is
    computed without intermediate overflow or underflow, and is ``inf`` when either component is
    infinite, even beside ``nan``. The smallest signed integer has no counterpart and is
    returned unchanged.
    """
    return _abs(x)


def acos(x: Array, /) -> Array:
    """Inverse cosine of each element.

    Parameters
    ----------
    x : Array
        Cosines, of a floating-point dtype.

    Returns
    -------
    Array
        The principal values in radians, in ``[0, pi]`` for real input.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Real values outside ``[-1, 1]`` give ``nan``. For complex input the branch cuts lie on the
    real axis beyond -1 and 1, continuous from the side that the sign of a zero imaginary part
    names (C99, annex G).
    """
    return _acos(x)


def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        Hyperbolic cosines, of a floating-point dtype.

    Returns
    -------
    Array
        The principal values, non-negative for real input.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Real values below 1 give ``nan``. For complex input the branch cut lies on the real axis
    below 1 (C99, annex G).
    """
    return _acosh(x)


def add(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Sum of each pair of elements, the function of ``x1 + x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex
        Summands, of a numeric dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex
        Summands, of a numeric dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The sums. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not numeric, or the two do not promote to
        one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Integers wrap around on overflow.
    """
    return _add(x1, x2)


def asin(x: Array, /) -> Array:
    """Inverse sine of each element.

    Parameters
    ----------
    x : Array
        Sines, of a floating-point dtype.

    Returns
    -------
    Array
        The principal values in radians, in ``[-pi/2, pi/2]`` for real input.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Real values outside ``[-1, 1]`` give ``nan``; signed zeros are kept. For complex input the
    branch cuts lie on the real axis beyond -1 and 1 (C99, annex G).
    """
    return _asin(x)


def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        Hyperbolic sines, of a floating-point dtype.

    Returns
    -------
    Array
        The principal values.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros and infinities are kept. For complex input the branch cuts lie on the imaginary
    axis beyond -1j and 1j (C99, annex G).
    """
    return _asinh(x)


def atan(x: Array, /) -> Array:
    """Inverse tangent of each element.

    Parameters
    ----------
    x : Array
        Tangents, of a floating-point dtype.

    Returns
    -------
    Array
        The principal values in radians, in ``[-pi/2, pi/2]`` for real input.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros are kept; infinities give ``pi/2`` with their sign. For complex input the
    branch cuts lie on the imaginary axis beyond -1j and 1j (C99, annex G).
    """
    return _atan(x)


def atan2(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Angle of each point, the inverse tangent of ``x1 / x2`` in the right quadrant.

    Parameters
    ----------
    x1 : Array or int or float
        Ordinates (y), of a real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Abscissas (x), of a real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The angles in radians, in ``[-pi, pi]``. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not real floating-point, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    The signs of zeros count: ``atan2(0.0, -0.0)`` is ``pi`` and ``atan2(-0.0, -0.0)`` is
    ``-pi``. Two infinities give odd multiples of ``pi/4``.
    """
    return _atan2(x1, x2)


def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        Hyperbolic tangents, of a floating-point dtype.

    Returns
    -------
    Array
        The principal values.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    ``atanh(1)`` is ``inf`` and ``atanh(-1)`` is ``-inf``; real values beyond them give ``nan``.
    For complex input the branch cuts lie on the real axis beyond -1 and 1 (C99, annex G).
    """
    return _atanh(x)


def bitwise_and(x1: Array | int | bool, x2: Array | int | bool, /) -> Array:
    """Bitwise AND of each pair of elements, the function of ``x1 & x2``.

    Parameters
    ----------
    x1 : Array or int or bool
        Values, of an integer or bool dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or bool
        Values, of an integer or bool dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The conjunctions. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or bool, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.
    """
    return _bitwise_and(x1, x2)


def bitwise_invert(x: Array, /) -> Array:
    """Inverse of the bits of each element, the function of ``~x``.

    Parameters
    ----------
    x : Array
        Values, of an integer or bool dtype.

    Returns
    -------
    Array
        The inverted values, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of an integer or bool dtype.

    Notes
    -----
    For bool this is the logical negation.
    """
    return _bitwise_invert(x)


def bitwise_left_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits of `x1` shifted left by `x2`, the function of ``x1 << x2``.

    Parameters
    ----------
    x1 : Array or int
        Values, of an integer dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int
        Numbers of bits, not negative, of an integer dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The shifted values. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer, or the two do not promote to
        one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Shifting by the width of the dtype or more gives 0.
    """
    return _bitwise_left_shift(x1, x2)


def bitwise_or(x1: Array | int | bool, x2: Array | int | bool, /) -> Array:
    """Bitwise OR of each pair of elements, the function of ``x1 | x2``.

    Parameters
    ----------
    x1 : Array or int or bool
        Values, of an integer or bool dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or bool
        Values, of an integer or bool dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The disjunctions. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or bool, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.
    """
    return _bitwise_or(x1, x2)


def bitwise_right_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits of `x1` shifted right by `x2`, the function of ``x1 >> x2``.

    Parameters
    ----------
    x1 : Array or int
        Values, of an integer dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int
        Numbers of bits, not negative, of an integer dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The shifted values. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer, or the two do not promote to
        one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Signed integers are shifted arithmetically: shifting by the width of the dtype or more gives
    0, or -1 for negative values.
    """
    return _bitwise_right_shift(x1, x2)


def bitwise_xor(x1: Array | int | bool, x2: Array | int | bool, /) -> Array:
    """Bitwise exclusive OR of each pair of elements, the function of ``x1 ^ x2``.

    Parameters
    ----------
    x1 : Array or int or bool
        Values, of an integer or bool dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or bool
        Values, of an integer or bool dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The exclusive disjunctions. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or bool, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.
    """
    return _bitwise_xor(x1, x2)


def ceil(x: Array, /) -> Array:
    """Smallest integer not below each element.

    Parameters
    ----------
    x : Array
        Values, of an integer or real floating-point dtype.

    Returns
    -------
    Array
        The rounded values, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of an integer or real floating-point dtype.

    Notes
    -----
    Integers are returned unchanged; signed zeros, infinities and ``nan`` are kept, and values
    in ``(-1, 0)`` give ``-0.0``.
    """
    return _ceil(x)


def clip(
    x: Array,
    /,
    min: Array | int | float | None = None,
    max: Array | int | float | None = None,
) -> Array:
    """Limit each element to the range from `min` to `max`.

    Parameters
    ----------
    x : Array
        Values, of an integer or real floating-point dtype.
    min : Array or int or float, optional
        Lower bounds, of the dtype of `x`, in a shape that broadcasts with that of `x`. None sets no
        bound.
    max : Array or int or float, optional
        Upper bounds, likewise.

    Returns
    -------
    Array
        The limited values, of the dtype of `x`, in the broadcast shape.

    Raises
    ------
    TypeError
        If `x` is not an array of such a dtype, or a bound cannot be brought to it.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of an integer dtype.

    Notes
    -----
    ``nan`` in `x`, `min` or `max` gives ``nan``. Where `min` is above `max` the result is `max`.
    """
    return _clip(x, min, max)


def conj(x: Array, /) -> Array:
    """Complex conjugate of each element.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        The conjugates, of the dtype of `x`; real input is returned unchanged.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    """
    return _conj(x)


def copysign(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Magnitudes of `x1` with the signs of `x2`.

    Parameters
    ----------
    x1 : Array or int or float
        Magnitudes, of a real floating-point dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float
        Signs, of a real floating-point dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The values of `x1` with the sign bits of `x2`. The dtype is the promoted one of the
        operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not real floating-point, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    The sign bits of zeros and NaN count.
    """
    return _copysign(x1, x2)


def cos(x: Array, /) -> Array:
    """Cosine of each element.

    Parameters
    ----------
    x : Array
        Angles in radians, of a floating-point dtype.

    Returns
    -------
    Array
        The cosines, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Infinite angles give ``nan``. The argument is reduced exactly, however large it is.
    """
    return _cos(x)


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        Hyperbolic angles, of a floating-point dtype.

    Returns
    -------
    Array
        The hyperbolic cosines, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Zeros give 1 and real infinities ``inf``.
    """
    return _cosh(x)


def divide(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Quotient of each pair of elements, the function of ``x1 / x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex
        Dividends, of a floating-point dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex
        Divisors, of a floating-point dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The quotients. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not floating-point, or the two do not promote
        to one.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    A nonzero value divided by a zero gives an infinity of the product of their signs, ``0 / 0``
    and ``inf / inf`` give ``nan``. Complex division is scaled, so that it overflows only when
    the quotient does.
    """
    return _divide(x1, x2)


def equal(
    x1: Array | int | float | complex | bool, x2: Array | int | float | complex | bool, /
) -> Array:
    """Test each pair of elements for equality, the function of ``x1 == x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex or bool
        Values, of any dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex or bool
        Values, of any dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        A bool array, true where the elements are equal.

    Raises
    ------
    TypeError
        If neither operand is an array, or their dtypes do not promote to one (in strict mode).
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    ``nan`` equals nothing; zeros of both signs are equal.
    """
    return _equal(x1, x2)


def exp(x: Array, /) -> Array:
    """Exponential of each element.

    Parameters
    ----------
    x : Array
        Exponents, of a floating-point dtype.

    Returns
    -------
    Array
        ``e**x``, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    ``exp(-inf)`` is ``0.0`` and ``exp(inf)`` is ``inf``; a complex exponent with the real part
    ``-inf`` gives 0 whatever its imaginary part.
    """
    return _exp(x)


def expm1(x: Array, /) -> Array:
    """``exp(x) - 1`` of each element, accurate where `x` is small.

    Parameters
    ----------
    x : Array
        Exponents, of a floating-point dtype.

    Returns
    -------
    Array
        ``exp(x) - 1``, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros are kept; ``expm1(-inf)`` is -1.
    """
    return _expm1(x)


def floor(x: Array, /) -> Array:
    """Largest integer not above each element.

    Parameters
    ----------
    x : Array
        Values, of an integer or real floating-point dtype.

    Returns
    -------
    Array
        The rounded values, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of an integer or real floating-point dtype.

    Notes
    -----
    Integers are returned unchanged; signed zeros, infinities and ``nan`` are kept.
    """
    return _floor(x)


def floor_divide(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Largest integer not above each quotient, the function of ``x1 // x2``.

    Parameters
    ----------
    x1 : Array or int or float
        Dividends, of an integer or real floating-point dtype; at least one of `x1` and `x2` is
        an array.
    x2 : Array or int or float
        Divisors, of an integer or real floating-point dtype. Its shape and that of `x1`
        broadcast together.

    Returns
    -------
    Array
        The quotients rounded towards negative infinity. The dtype is the promoted one of the
        operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Floating-point: a nonzero value divided by a zero and an infinity divided by a finite value
    give an infinity, a finite value divided by an infinity gives a zero, each of the product of
    the signs; ``0 // 0`` and ``inf // inf`` give ``nan``. Integers: division by zero gives 0,
    and the smallest signed integer divided by -1 wraps around.
    """
    return _floor_divide(x1, x2)


def greater(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Test ``x1 > x2`` for each pair of elements.

    Parameters
    ----------
    x1 : Array or int or float
        Values, of an integer or real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Values, of an integer or real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        A bool array, true where `x1` is the larger.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Comparisons with ``nan`` are false.
    """
    return _greater(x1, x2)


def greater_equal(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Test ``x1 >= x2`` for each pair of elements.

    Parameters
    ----------
    x1 : Array or int or float
        Values, of an integer or real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Values, of an integer or real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        A bool array, true where `x1` is not the smaller.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Comparisons with ``nan`` are false.
    """
    return _greater_equal(x1, x2)


def hypot(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Length of the hypotenuse over each pair of legs.

    Parameters
    ----------
    x1 : Array or int or float
        Legs, of a real floating-point dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float
        Legs, of a real floating-point dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        ``sqrt(x1**2 + x2**2)``, without intermediate overflow or underflow. The dtype is the
        promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not real floating-point, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    An infinite leg gives ``inf``, even beside ``nan``.
    """
    return _hypot(x1, x2)


def imag(x: Array, /) -> Array:
    """Imaginary part of each element.

    Parameters
    ----------
    x : Array
        Values, of a complex floating-point dtype.

    Returns
    -------
    Array
        The imaginary parts, of the real dtype of the same precision.

    Raises
    ------
    TypeError
        If `x` is not an array of a complex floating-point dtype.

    Notes
    -----
    The result is a view: writing to it writes to `x`.
    """
    return _imag(x)


def isfinite(x: Array, /) -> Array:
    """Test each element for being neither infinite nor NaN.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        A bool array, true where the element is finite.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    A complex number is finite when both of its components are. Integers always are.
    """
    return _isfinite(x)


def isinf(x: Array, /) -> Array:
    """Test each element for being infinite.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        A bool array, true where the element is positive or negative infinity.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    A complex number is infinite when either of its components is, even beside ``nan``.
    """
    return _isinf(x)


def isnan(x: Array, /) -> Array:
    """Test each element for being NaN.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        A bool array, true where the element is ``nan``.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    A complex number is NaN when either of its components is.
    """
    return _isnan(x)


def less(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Test ``x1 < x2`` for each pair of elements.

    Parameters
    ----------
    x1 : Array or int or float
        Values, of an integer or real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Values, of an integer or real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        A bool array, true where `x1` is the smaller.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Comparisons with ``nan`` are false.
    """
    return _less(x1, x2)


def less_equal(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Test ``x1 <= x2`` for each pair of elements.

    Parameters
    ----------
    x1 : Array or int or float
        Values, of an integer or real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Values, of an integer or real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        A bool array, true where `x1` is not the larger.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Comparisons with ``nan`` are false.
    """
    return _less_equal(x1, x2)


def log(x: Array, /) -> Array:
    """Natural logarithm of each element.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype.

    Returns
    -------
    Array
        The logarithms, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Zeros of either sign give ``-inf``, negative real values ``nan``. For complex input the
    branch cut is the negative real axis, and the imaginary part lies in ``[-pi, pi]``.
    """
    return _log(x)


def log10(x: Array, /) -> Array:
    """Logarithm to base 10 of each element.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype.

    Returns
    -------
    Array
        The logarithms, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Zeros of either sign give ``-inf``, negative real values ``nan``. For complex input the
    branch cut is the negative real axis.
    """
    return _log10(x)


def log1p(x: Array, /) -> Array:
    """``log(1 + x)`` of each element, accurate where `x` is small.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype.

    Returns
    -------
    Array
        The logarithms, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros are kept, -1 gives ``-inf``, smaller real values ``nan``. For complex input the
    branch cut is the real axis below -1.
    """
    return _log1p(x)


def log2(x: Array, /) -> Array:
    """Logarithm to base 2 of each element.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype.

    Returns
    -------
    Array
        The logarithms, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Exact for powers of two. Zeros of either sign give ``-inf``, negative real values ``nan``.
    For complex input the branch cut is the negative real axis.
    """
    return _log2(x)


def logaddexp(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Logarithm of the sum of two exponentials, ``log(exp(x1) + exp(x2))``.

    Parameters
    ----------
    x1 : Array or int or float
        Logarithms, of a real floating-point dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float
        Logarithms, of a real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The logarithms of the sums, without intermediate overflow. The dtype is the promoted one
        of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not real floating-point, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    ``logaddexp(inf, -inf)`` is ``inf`` and ``logaddexp(-inf, -inf)`` is ``-inf``.
    """
    return _logaddexp(x1, x2)


def logical_and(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Logical AND of each pair of elements.

    Parameters
    ----------
    x1 : Array or bool
        Values, of a bool dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or bool
        Values, of a bool dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        A bool array, true where both elements are.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not bool, or the two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    """
    return _logical_and(x1, x2)


def logical_not(x: Array, /) -> Array:
    """Logical negation of each element.

    Parameters
    ----------
    x : Array
        Values, of a bool dtype.

    Returns
    -------
    Array
        A bool array, true where `x` is false.

    Raises
    ------
    TypeError
        If `x` is not an array of a bool dtype.
    """
    return _logical_not(x)


def logical_or(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Logical OR of each pair of elements.

    Parameters
    ----------
    x1 : Array or bool
        Values, of a bool dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or bool
        Values, of a bool dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        A bool array, true where either element is.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not bool, or the two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    """
    return _logical_or(x1, x2)


def logical_xor(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Logical exclusive OR of each pair of elements.

    Parameters
    ----------
    x1 : Array or bool
        Values, of a bool dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or bool
        Values, of a bool dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        A bool array, true where just one of the elements is.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not bool, or the two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    """
    return _logical_xor(x1, x2)


def maximum(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Larger one of each pair of elements.

    Parameters
    ----------
    x1 : Array or int or float
        Values, of an integer or real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Values, of an integer or real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The larger values. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    ``nan`` in either operand gives ``nan``.
    """
    return _maximum(x1, x2)


def minimum(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Smaller one of each pair of elements.

    Parameters
    ----------
    x1 : Array or int or float
        Values, of an integer or real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Values, of an integer or real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The smaller values. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    ``nan`` in either operand gives ``nan``.
    """
    return _minimum(x1, x2)


def multiply(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Product of each pair of elements, the function of ``x1 * x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex
        Factors, of a numeric dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex
        Factors, of a numeric dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The products. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not numeric, or the two do not promote to
        one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Integers wrap around on overflow.
    """
    return _multiply(x1, x2)


def negative(x: Array, /) -> Array:
    """Negative of each element, the function of ``-x``.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        The negated values, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    Unsigned integers and the smallest signed integer wrap around.
    """
    return _negative(x)


def nextafter(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Next representable value after `x1` in the direction of `x2`.

    Parameters
    ----------
    x1 : Array or int or float
        Starting values, of a real floating-point dtype; at least one of `x1` and `x2` is an
        array.
    x2 : Array or int or float
        Directions, of a real floating-point dtype. Its shape and that of `x1` broadcast
        together.

    Returns
    -------
    Array
        The neighbours of `x1`. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not real floating-point, or the two do not
        promote to one.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    Equal operands give `x2`, ``nan`` in either operand gives ``nan``.
    """
    return _nextafter(x1, x2)


def not_equal(
    x1: Array | int | float | complex | bool, x2: Array | int | float | complex | bool, /
) -> Array:
    """Test each pair of elements for inequality, the function of ``x1 != x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex or bool
        Values, of any dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex or bool
        Values, of any dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        A bool array, true where the elements differ.

    Raises
    ------
    TypeError
        If neither operand is an array, or their dtypes do not promote to one (in strict mode).
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    ``nan`` differs from everything; zeros of both signs are equal.
    """
    return _not_equal(x1, x2)


def positive(x: Array, /) -> Array:
    """A copy of each element, the function of ``+x``.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        The values of `x`, of its dtype.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    """
    return _positive(x)


def pow(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Power of each pair of elements, the function of ``x1 ** x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex
        Bases, of a numeric dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex
        Exponents, of a numeric dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        ``x1`` to the power ``x2``. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not numeric, or the two do not promote to
        one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Any base to the power 0 is 1, and 1 to any power is 1, ``nan`` included. A negative real
    base with an exponent that is not an integer gives ``nan``. Integers wrap around; a negative
    exponent of integers raises ValueError.
    """
    return _pow(x1, x2)


def real(x: Array, /) -> Array:
    """Real part of each element.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        The real parts, of the real dtype of the same precision; a real `x` gives its own
        values.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    The result is a view: writing to it writes to `x`.
    """
    return _real(x)


def reciprocal(x: Array, /) -> Array:
    """Reciprocal of each element.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype.

    Returns
    -------
    Array
        ``1 / x``, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros give infinities of their sign, and infinities zeros of theirs.
    """
    return _reciprocal(x)


def remainder(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Remainder of each quotient, the function of ``x1 % x2``.

    Parameters
    ----------
    x1 : Array or int or float
        Dividends, of an integer or real floating-point dtype; at least one of `x1` and `x2` is
        an array.
    x2 : Array or int or float
        Divisors, of an integer or real floating-point dtype. Its shape and that of `x1`
        broadcast together.

    Returns
    -------
    Array
        ``x1 - floor(x1 / x2) * x2``, with the sign of `x2`. The dtype is the promoted one of
        the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not integer or real floating-point, or the
        two do not promote to one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Floating-point: division by zero gives ``nan``, and a finite value keeps itself under an
    infinity of its own sign. Integers: division by zero gives 0.
    """
    return _remainder(x1, x2)


def round(x: Array, /) -> Array:
    """Nearest integer of each element, ties to the even one.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        The rounded values, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    ``round(2.5)`` is 2 and ``round(-0.5)`` is ``-0.0``. Integers are returned unchanged; a
    complex number is rounded in each component.
    """
    return _round(x)


def sign(x: Array, /) -> Array:
    """Sign of each element.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        -1, 0 or 1 for real input, ``x / abs(x)`` for complex input, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    Both zeros give 0, ``nan`` gives ``nan``.
    """
    return _sign(x)


def signbit(x: Array, /) -> Array:
    """Test the sign bit of each element.

    Parameters
    ----------
    x : Array
        Values, of a real floating-point dtype.

    Returns
    -------
    Array
        A bool array, true where the sign bit is set, which includes ``-0.0`` and a ``nan`` with
        a sign.

    Raises
    ------
    TypeError
        If `x` is not an array of a real floating-point dtype.
    """
    return _signbit(x)


def sin(x: Array, /) -> Array:
    """Sine of each element.

    Parameters
    ----------
    x : Array
        Angles in radians, of a floating-point dtype.

    Returns
    -------
    Array
        The sines, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros are kept, infinite angles give ``nan``. The argument is reduced exactly,
    however large it is.
    """
    return _sin(x)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        Hyperbolic angles, of a floating-point dtype.

    Returns
    -------
    Array
        The hyperbolic sines, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros and infinities are kept.
    """
    return _sinh(x)


def sqrt(x: Array, /) -> Array:
    """Square root of each element.

    Parameters
    ----------
    x : Array
        Values, of a floating-point dtype.

    Returns
    -------
    Array
        The principal square roots, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Real results are correctly rounded. ``sqrt(-0.0)`` is ``-0.0``, other negative real values
    give ``nan``. For complex input the branch cut is the negative real axis, and the result
    lies in the right half plane.
    """
    return _sqrt(x)


def square(x: Array, /) -> Array:
    """Square of each element.

    Parameters
    ----------
    x : Array
        Values, of a numeric dtype.

    Returns
    -------
    Array
        ``x * x``, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.

    Notes
    -----
    Integers wrap around.
    """
    return _square(x)


def subtract(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Difference of each pair of elements, the function of ``x1 - x2``.

    Parameters
    ----------
    x1 : Array or int or float or complex
        Minuends, of a numeric dtype; at least one of `x1` and `x2` is an array.
    x2 : Array or int or float or complex
        Subtrahends, of a numeric dtype. Its shape and that of `x1` broadcast together.

    Returns
    -------
    Array
        The differences. The dtype is the promoted one of the operands.

    Raises
    ------
    TypeError
        If neither operand is an array, a dtype is not numeric, or the two do not promote to
        one.
    ValueError
        If the shapes do not broadcast together.
    OverflowError
        If a Python scalar is out of the range of the other operand's integer dtype.

    Notes
    -----
    Integers wrap around on overflow.
    """
    return _subtract(x1, x2)


def tan(x: Array, /) -> Array:
    """Tangent of each element.

    Parameters
    ----------
    x : Array
        Angles in radians, of a floating-point dtype.

    Returns
    -------
    Array
        The tangents, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros are kept, infinite angles give ``nan``. The argument is reduced exactly,
    however large it is.
    """
    return _tan(x)


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        Hyperbolic angles, of a floating-point dtype.

    Returns
    -------
    Array
        The hyperbolic tangents, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype.

    Notes
    -----
    Signed zeros are kept, infinities give 1 with their sign.
    """
    return _tanh(x)


def trunc(x: Array, /) -> Array:
    """Nearest integer towards zero of each element.

    Parameters
    ----------
    x : Array
        Values, of an integer or real floating-point dtype.

    Returns
    -------
    Array
        The rounded values, of the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of an integer or real floating-point dtype.

    Notes
    -----
    Integers are returned unchanged; signed zeros, infinities and ``nan`` are kept.
    """
    return _trunc(x)
