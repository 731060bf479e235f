"""Arrays to the NPU and back."""

import numpy as np

import ascend_array_api as xp


def on_npu(values, device="npu:0"):
    """Return a NumPy array on the NPU."""
    return xp.asarray(np.asarray(values), device=device)


def back(x):
    """Return an array of the NPU in NumPy."""
    return np.asarray(x.to_device("cpu"))
