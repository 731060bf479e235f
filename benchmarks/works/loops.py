"""Layout changes as anyone would first write them in C++: nested loops, one element at a time."""

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = """
extern "C" void add_transposed(float* out, const float* a, const float* b, long n) {
    for (long i = 0; i < n; ++i)
        for (long j = 0; j < n; ++j) out[i * n + j] = a[j * n + i] + b[i * n + j];
}
extern "C" void permuted(float* out, const float* x, const long* n, const long* stride) {
    for (long i = 0; i < n[0]; ++i)
        for (long j = 0; j < n[1]; ++j)
            for (long k = 0; k < n[2]; ++k)
                for (long l = 0; l < n[3]; ++l)
                    *out++ = x[i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3]];
}
"""

asarray = np.asarray


def _compiled() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "loops.cpp", Path(folder) / "loops.so"
        source.write_text(SOURCE)
        command = [
            "c++",
            "-O3",
            "-march=native",
            "-shared",
            "-fPIC",
            "-o",
            str(library),
            str(source),
        ]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))


_loops = _compiled()


def add_transposed(a: Any, b: Any) -> Any:
    """Return a.T + b of square float32 matrices."""
    out = np.empty_like(b)
    pointers = (ctypes.c_void_p(x.ctypes.data) for x in (out, a, b))
    _loops.add_transposed(*pointers, ctypes.c_long(b.shape[0]))
    return out


def permuted(x: Any, axes: tuple[int, int, int, int]) -> Any:
    """Return x with its four axes in another order, as float32 in new memory."""
    shape = np.array([x.shape[axis] for axis in axes])
    strides = np.array([x.strides[axis] // x.itemsize for axis in axes])
    out = np.empty(tuple(shape), dtype=np.float32)
    _loops.permuted(*(ctypes.c_void_p(a.ctypes.data) for a in (out, x, shape, strides)))
    return out
