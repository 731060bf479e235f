"""Python source of the arrays that a check makes, for one-line reproductions of failures."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]

#: Longest literal and longest line that are still readable.
_ELEMENTS, _CHARACTERS = 24, 400


class TooLong(Exception):
    """No short expression makes the array."""


class Source:
    """An expression, and the statements that must run before it; built only when asked for.

    `again` repeats the call with other arguments, where the expression is a call.
    """

    def __init__(
        self, build: Callable[[list[str]], str], again: Callable[..., Any] | None = None
    ) -> None:
        self._build = build
        self.again = again

    def line(self, module: str) -> str:
        """Return one line of Python that prints the value."""
        before: list[str] = []
        value = self._build(before)
        text = "; ".join([f"import {module} as xp", *before, f"print({value})"])
        if len(text) > _CHARACTERS:
            raise TooLong
        return text

    def write(self, before: list[str]) -> str:
        """Return the expression; append what must precede it."""
        return self._build(before)


class Book:
    """The sources of the arrays that were last made, found by identity."""

    def __init__(self, dtypes: dict[str, Any]) -> None:
        self._dtypes = dtypes
        self._known: OrderedDict[int, tuple[Any, Source]] = OrderedDict()
        self.last: Source | None = None

    def note(self, x: Any, source: Source) -> None:
        """Remember what `x` was made from."""
        self._known[id(x)] = (x, source)
        self._known.move_to_end(id(x))
        while len(self._known) > 64:
            self._known.popitem(last=False)

    def find(self, x: Any) -> Source | None:
        """Return the source of an array, None if it is not known."""
        entry = self._known.get(id(x))
        if entry is None or entry[0] is not x:
            return None
        self._known.move_to_end(id(x))
        return entry[1]

    def call_of(self, x: Any) -> Callable[..., Any] | None:
        """Return what repeats the call that made `x` with other arguments."""
        source = self.find(x)
        return source.again if source is not None else None

    # ---- sources
    def made(self, base: NDArray, view: str) -> Source:
        """Return the source of a view of an array that holds `base`."""
        name = base.dtype.name

        def build(before: list[str]) -> str:
            whole = f"xp.asarray({literal(base)}, dtype=xp.{name})"
            if base.size == 0:
                whole = f"xp.zeros({base.shape}, dtype=xp.{name})"
            if view == "x":
                return whole
            return view.replace("(x,", f"({whole},").replace("x[", f"{whole}[")

        return Source(build)

    def call(
        self, form: str, args: tuple[Any, ...], kw: dict[str, Any], again: Callable[..., Any]
    ) -> Source:
        """Return the source of a call; `form` has places for its arguments."""
        parts = [self.value(a) for a in args]
        named = {k: self.value(v) for k, v in kw.items()}

        def build(before: list[str]) -> str:
            words = [p.write(before) for p in parts]
            words += [f"{k}={v.write(before)}" for k, v in named.items()]
            return form.format(*words) if "{0}" in form else form.format(", ".join(words))

        return Source(build, again)

    def item(self, of: Source, key: Any) -> Source:
        """Return the source of ``of[key]``."""
        inner = self.key(key)
        return Source(lambda before: f"{of.write(before)}[{inner.write(before)}]")

    def written(self, of: Source, key: Any, value: Any) -> Source:
        """Return the source of an array after ``of[key] = value``."""
        inner, new = self.key(key), self.value(value)

        def build(before: list[str]) -> str:
            whole, k, v = of.write(before), inner.write(before), new.write(before)
            name = f"x{len(before)}"
            before += [f"{name} = {whole}", f"{name}[{k}] = {v}"]
            return name

        return Source(build)

    def key(self, key: Any) -> Source:
        """Return the source of what stands between brackets."""
        parts = key if isinstance(key, tuple) else (key,)
        inner = [self.value(p) for p in parts]
        if not parts:
            return Source(lambda before: "()")
        return Source(lambda before: ", ".join(p.write(before) for p in inner))

    def value(self, v: Any) -> Source:
        """Return the source of an argument: an array, a dtype, or a plain Python value."""
        known = self.find(v)
        if known is not None:
            return known
        if isinstance(v, list | tuple):
            inner = [self.value(p) for p in v]
            ends = "[]" if isinstance(v, list) else "()"
            tail = "," if isinstance(v, tuple) and len(v) == 1 else ""
            return Source(
                lambda before: ends[0] + ", ".join(p.write(before) for p in inner) + tail + ends[1]
            )
        return Source(lambda before: self._plain(v))

    def _plain(self, v: Any) -> str:
        if isinstance(v, slice):
            shown = ["" if p is None else repr(p) for p in (v.start, v.stop)]
            return ":".join(shown if v.step is None else [*shown, repr(v.step)])
        if v is ...:
            return "..."
        if v is None or isinstance(v, bool | int | str):
            return repr(v)
        if isinstance(v, float | complex):
            return number(v)
        for name, dtype in self._dtypes.items():
            if type(v) is type(dtype) and v == dtype:
                return f"xp.{name}"
        raise TooLong


def number(v: Any) -> str:
    """Return the source of a Python number."""
    if isinstance(v, complex):
        return f"complex({number(v.real)}, {number(v.imag)})"
    if isinstance(v, float) and not math.isfinite(v):
        return "xp.nan" if math.isnan(v) else "xp.inf" if v > 0 else "-xp.inf"
    return repr(v)


def literal(a: NDArray) -> str:
    """Return nested lists of Python numbers."""
    if a.size > _ELEMENTS:
        raise TooLong
    if a.ndim == 0:
        return number(a.item())
    return f"[{', '.join(literal(np.asarray(part)) for part in a)}]"
