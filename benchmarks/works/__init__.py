"""Pieces of real work in generic `xp` code, one file each.

A work is a function `prepare(xp, ...)` that returns a function without arguments; that one does the
work once and returns its result. The values come from NumPy's seeded generator, so that every
library computes the same.
"""
