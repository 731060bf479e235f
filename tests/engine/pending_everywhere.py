"""A pytest plugin: what ``asarray`` returns is the result of recorded work that has not run yet.

With ``ASCEND_ARRAY_API_DEFER=always`` every function of the namespace then gets pending arguments.
"""

import functools

import ascend_array_api as xp

_asarray = xp.asarray


@functools.wraps(_asarray)
def _pending(obj, /, *, dtype=None, device=None, copy=None):
    x = _asarray(obj, dtype=dtype, device=device, copy=copy)
    if copy is False or isinstance(obj, type(x)):
        return x
    return ~(~x) if x.dtype.kind == "b" else +x


xp.asarray = _pending
