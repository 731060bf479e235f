"""What the profiler shows of an NPU: its work, copies to and from it, and what goes by the host."""

import warnings

import numpy as np
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api.profiler import Profiler

VALUES = np.random.default_rng(0).random(50_000, dtype=np.float32)


def test_categories():
    with Profiler() as profile, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = on_npu(VALUES)
        back(xp.sqrt(x) * 2.0)
        back(xp.linalg.qr(xp.reshape(x, (250, 200))).R)
    rows = {(row.name, row.category): row for row in profile.operations()}
    assert rows["upload", "copy"].device == "npu:0"
    assert rows["upload", "copy"].bytes >= VALUES.nbytes
    assert rows["download", "copy"].bytes >= VALUES.nbytes
    assert rows["sqrt+multiply", "compute"].device == "npu:0"
    assert rows["qr", "fallback"].device == "npu:0"
    totals = {row.name: row for row in profile.categories()}
    assert totals["copy"].events >= 3
    assert totals["fallback"].events >= 1
    assert totals["fallback"].total > 0
    # Copies inside of a fallback count as copies alone.
    assert sum(row.share for row in profile.operations()) <= 1 + 1e-9
