"""Errors: the expected type, and a message that names the function and what is accepted."""

import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp

F = xp.zeros((2, 3))
V = xp.zeros(4)
I = xp.arange(4)  # noqa: E741

#: call, error, words of the message
CASES = {
    "sum axis": (lambda: xp.sum(F, axis=2), (ValueError, IndexError), ["sum", "2"]),
    "sum axis twice": (lambda: xp.sum(F, axis=(0, 0)), ValueError, ["sum"]),
    "sum axis float": (lambda: xp.sum(F, axis=1.0), TypeError, ["sum"]),
    "max axis": (lambda: xp.max(F, axis=-3), (ValueError, IndexError), ["max"]),
    "sort axis": (lambda: xp.sort(F, axis=5), (ValueError, IndexError), ["sort"]),
    "argsort of 0-d": (lambda: xp.argsort(xp.asarray(1.0)), (ValueError, IndexError), ["argsort"]),
    "flip axis": (lambda: xp.flip(F, axis=2), (ValueError, IndexError), ["flip"]),
    "expand_dims": (lambda: xp.expand_dims(F, axis=4), IndexError, ["expand_dims"]),
    "squeeze": (lambda: xp.squeeze(F, 0), ValueError, ["squeeze"]),
    "reshape size": (lambda: xp.reshape(F, (4, 2)), ValueError, ["reshape", "6", "(4, 2)"]),
    "reshape -1 twice": (lambda: xp.reshape(F, (-1, -1)), ValueError, ["reshape"]),
    "reshape copy": (lambda: xp.reshape(F.T, (6,), copy=False), ValueError, ["reshape", "copy"]),
    "broadcast": (lambda: xp.add(F, V), ValueError, ["add", "(2, 3)", "(4,)"]),
    "operator broadcast": (lambda: F * V, ValueError, ["(2, 3)", "(4,)"]),
    "broadcast_to": (lambda: xp.broadcast_to(F, (3,)), ValueError, ["broadcast_to"]),
    "broadcast_shapes": (lambda: xp.broadcast_shapes((2,), (3,)), ValueError, ["broadcast_shapes"]),
    "concat shapes": (lambda: xp.concat([F, V]), ValueError, ["concat"]),
    "concat nothing": (lambda: xp.concat([]), ValueError, ["concat"]),
    "concat array": (lambda: xp.concat(5), TypeError, ["concat"]),
    "stack shapes": (lambda: xp.stack([F, V]), ValueError, ["stack"]),
    "permute_dims": (lambda: xp.permute_dims(F, (0, 0)), ValueError, ["permute_dims"]),
    "permute_dims count": (lambda: xp.permute_dims(F, (0,)), ValueError, ["permute_dims"]),
    "moveaxis": (lambda: xp.moveaxis(F, (0, 1), (0,)), ValueError, ["moveaxis"]),
    "roll": (lambda: xp.roll(F, (1, 2), axis=(0,)), ValueError, ["roll"]),
    "repeat negative": (lambda: xp.repeat(V, -1), ValueError, ["repeat"]),
    "repeat counts": (lambda: xp.repeat(V, xp.asarray([1, 2])), ValueError, ["repeat"]),
    "tile negative": (lambda: xp.tile(V, (-1,)), ValueError, ["tile"]),
    "repeat beyond int64": (
        lambda: xp.repeat(V, xp.asarray([2**64 - 1], dtype=xp.uint64)),
        MemoryError,
        ["repeat", "18446744073709551615"],
    ),
    "sorter beyond int64": (
        lambda: xp.searchsorted(V[:1], V, sorter=xp.asarray([2**63], dtype=xp.uint64)),
        IndexError,
        ["searchsorted", "9223372036854775808"],
    ),
    "copy is no bool": (lambda: xp.asarray(V, copy=3), TypeError, ["asarray", "copy", "int"]),
    "descending is no bool": (lambda: xp.sort(V, descending=2), TypeError, ["sort", "descending"]),
    "dlpack copy": (lambda: V.__dlpack__(copy=2), TypeError, ["__dlpack__", "copy"]),
    "NumPy operand": (lambda: V + np.zeros(4), TypeError, ["add", "numpy.ndarray", "asarray"]),
    "NumPy factor": (lambda: F @ np.zeros(3), TypeError, ["matmul", "numpy.ndarray"]),
    "diff ranks": (lambda: xp.diff(V, prepend=V[0]), ValueError, ["diff", "prepend", "1", "0"]),
    "norm of nothing": (
        lambda: xp.linalg.matrix_norm(xp.zeros((3, 0)), ord=-2),
        ValueError,
        ["matrix_norm", "ord"],
    ),
    "threads": (lambda: xp.runtime.set_num_threads(-1), ValueError, ["set_num_threads", "-1"]),
    "dump": (lambda: xp.graph.dump(3), TypeError, ["dump", "path", "int"]),
    "T of rank 1": (lambda: V.T, ValueError, ["T"]),
    "T of rank 3": (lambda: xp.zeros((1, 1, 1)).T, ValueError, ["T"]),
    "mT of rank 1": (lambda: V.mT, ValueError, ["mT"]),
    "matmul": (lambda: xp.matmul(F, F), ValueError, ["matmul", "(2, 3)"]),
    "matmul 0-d": (lambda: xp.matmul(xp.asarray(1.0), F), ValueError, ["matmul"]),
    "tensordot": (lambda: xp.tensordot(F, V, axes=1), ValueError, ["tensordot"]),
    "vecdot": (lambda: xp.vecdot(F, V), ValueError, ["vecdot"]),
    "cross": (lambda: xp.linalg.cross(V, V), ValueError, ["cross", "3"]),
    "inv not square": (
        lambda: xp.linalg.inv(F),
        (ValueError, np.linalg.LinAlgError),
        ["inv", "(2, 3)"],
    ),
    "inv singular": (
        lambda: xp.linalg.inv(xp.zeros((2, 2))),
        np.linalg.LinAlgError,
        ["inv", "singular"],
    ),
    "solve singular": (
        lambda: xp.linalg.solve(xp.zeros((2, 2)), xp.zeros(2)),
        np.linalg.LinAlgError,
        ["solve", "singular"],
    ),
    "cholesky": (
        lambda: xp.linalg.cholesky(-xp.eye(2)),
        np.linalg.LinAlgError,
        ["cholesky", "positive"],
    ),
    "eigh not square": (lambda: xp.linalg.eigh(F), (ValueError, np.linalg.LinAlgError), ["eigh"]),
    "qr mode": (lambda: xp.linalg.qr(F, mode="best"), ValueError, ["qr", "mode"]),
    "norm ord": (lambda: xp.linalg.matrix_norm(F, ord="max"), ValueError, ["matrix_norm"]),
    "fft n": (lambda: xp.fft.fft(xp.asarray([1j]), n=0), ValueError, ["fft"]),
    "fft norm": (lambda: xp.fft.fft(xp.asarray([1j]), norm="best"), ValueError, ["fft", "norm"]),
    "fft axis": (lambda: xp.fft.fft(xp.asarray([1j]), axis=1), (ValueError, IndexError), ["fft"]),
    "take axis": (lambda: xp.take(F, xp.asarray([0])), (ValueError, TypeError), ["take", "axis"]),
    "take index dtype": (lambda: xp.take(V, xp.asarray([0.0])), TypeError, ["take"]),
    "searchsorted": (lambda: xp.searchsorted(F, V), ValueError, ["searchsorted"]),
    "searchsorted side": (
        lambda: xp.searchsorted(V, V, side="middle"),
        ValueError,
        ["searchsorted", "left", "right"],
    ),
    "where condition": (lambda: xp.where(I, V, V), TypeError, ["where", "bool"]),
    "where scalars": (
        lambda: xp.where(xp.asarray([True]), 1, 2),
        TypeError,
        ["where", "x1 and x2", "scalars"],
    ),
    "correction huge": (lambda: xp.var(F, correction=2**2000), OverflowError, ["var"]),
    "diff n": (lambda: xp.diff(V, n=True), TypeError, ["diff", "n"]),
    "tensordot axis": (lambda: xp.tensordot(F, F, axes=((2,), (0,))), IndexError, ["tensordot"]),
    "cross axis": (lambda: xp.linalg.cross(F, F, axis=5), IndexError, ["cross"]),
    "nonzero of 0-d": (lambda: xp.nonzero(xp.asarray(1)), ValueError, ["nonzero"]),
    "add scalars": (lambda: xp.add(1, 2), TypeError, ["add", "x1 and x2", "scalars"]),
    "add text": (lambda: xp.add(V, "a"), TypeError, ["add"]),
    "add list": (lambda: xp.add([1], V), TypeError, ["add"]),
    "sin of list": (lambda: xp.sin([1.0]), TypeError, ["sin"]),
    "sin of ndarray": (lambda: xp.sin(np.zeros(2)), TypeError, ["sin"]),
    "arange step": (
        lambda: xp.arange(0, 3, 0),
        (ValueError, ZeroDivisionError),
        ["arange", "step"],
    ),
    "arange nan": (lambda: xp.arange(0.0, xp.nan), ValueError, ["arange"]),
    "linspace num": (lambda: xp.linspace(0, 1, -1), ValueError, ["linspace", "num"]),
    "zeros negative": (lambda: xp.zeros(-1), ValueError, ["zeros"]),
    "zeros float": (lambda: xp.zeros(1.5), TypeError, ["zeros"]),
    "eye negative": (lambda: xp.eye(-1), ValueError, ["eye"]),
    "full text": (lambda: xp.full(2, "a"), TypeError, ["full"]),
    "full kind": (lambda: xp.full(2, 1.5, dtype=xp.int8), TypeError, ["full", "int8"]),
    "astype dtype": (lambda: xp.astype(V, None), TypeError, ["astype"]),
    "complex to real": (
        lambda: xp.astype(xp.asarray([1j]), xp.float64),
        TypeError,
        ["astype", "complex128", "float64"],
    ),
    "meshgrid": (lambda: xp.meshgrid(V, indexing="ab"), ValueError, ["meshgrid", "xy", "ij"]),
    "meshgrid rank": (lambda: xp.meshgrid(F), (ValueError, TypeError), ["meshgrid"]),
    "tril rank": (lambda: xp.tril(V), ValueError, ["tril"]),
    "unstack": (lambda: xp.unstack(xp.asarray(1)), (ValueError, IndexError), ["unstack"]),
    "isdtype": (lambda: xp.isdtype(xp.int8, "integer"), ValueError, ["isdtype", "integral"]),
    "finfo of int": (lambda: xp.finfo(xp.int8), (TypeError, ValueError), ["finfo", "int8"]),
    "iinfo of float": (lambda: xp.iinfo(xp.float32), (TypeError, ValueError), ["iinfo", "float32"]),
    "device": (lambda: xp.zeros(2, device="gpu"), ValueError, ["gpu", "cpu"]),
    "cumulative axis": (lambda: xp.cumulative_sum(F), ValueError, ["cumulative_sum", "axis"]),
    "diff": (lambda: xp.diff(V, n=-1), ValueError, ["diff"]),
    "clip": (lambda: xp.clip(V, "a"), TypeError, ["clip"]),
    "isin": (lambda: xp.isin(1, 2), TypeError, ["isin"]),
}


@pytest.mark.parametrize("name", CASES)
def test_error(name):
    call, error, words = CASES[name]
    with pytest.raises(error) as e:
        call()
    assert not isinstance(e.value, NotImplementedError)
    text = str(e.value)
    missing = [w for w in words if w not in text]
    assert not missing, text


HUGE = [
    lambda: xp.zeros(2**60),
    lambda: xp.ones((2**30, 2**30), dtype=xp.int8),
    lambda: xp.empty(2**62, dtype=xp.complex128),
    lambda: xp.full((2**20, 2**20, 2**20), 1.0),
    lambda: xp.arange(2**60),
    lambda: xp.linspace(0, 1, 2**60),
    lambda: xp.eye(2**30),
    lambda: xp.tile(xp.zeros(10), (2**58,)),
    lambda: xp.repeat(xp.zeros(10), 2**58),
    lambda: xp.reshape(xp.broadcast_to(xp.zeros(2), (2**30, 2**30, 2)), (-1,)),
    lambda: xp.broadcast_to(xp.zeros(1), (2**30, 2**30)) + 1.0,
    lambda: xp.asarray(xp.broadcast_to(xp.zeros(1), (2**60,)), copy=True),
    lambda: xp.zeros((2**31, 2**31, 2**31)),
    lambda: xp.concat([xp.broadcast_to(xp.zeros(1), (2**62,))] * 2),
    lambda: xp.linalg.outer(
        xp.broadcast_to(xp.zeros(1), (2**30,)), xp.broadcast_to(xp.zeros(1), (2**30,))
    ),
]


@pytest.mark.parametrize("case", range(len(HUGE)))
def test_too_large_is_a_memory_error(case):
    with pytest.raises(MemoryError, match="memory"):
        HUGE[case]()


@pytest.mark.parametrize("shape", [(2**62,), (2**63 - 1,), (2**61, 2), (2, 2**61), (2**20, 2**42)])
@pytest.mark.parametrize(
    "work",
    [
        lambda x: x + x,
        lambda x: -xp.flip(x),
        lambda x: xp.asarray(x, copy=True),
        lambda x: xp.reshape(x, x.shape, copy=True),
        lambda x: xp.astype(x, xp.float32),
        lambda x: xp.where(x != x, x, x),
        xp.sort,
        xp.argsort,
        xp.unique_values,
        xp.unique_all,
        xp.nonzero,
        lambda x: xp.isin(x, x),
        lambda x: xp.cumulative_sum(x, axis=0, include_initial=True),
        lambda x: xp.cumulative_prod(x, axis=-1, include_initial=True),
        lambda x: xp.diff(x, axis=-1, append=x),
        lambda x: xp.searchsorted(xp.arange(3.0), x),
        lambda x: xp.concat([x, x]),
        lambda x: xp.stack([x, x]),
        lambda x: xp.roll(x, 1),
        lambda x: xp.repeat(x, 3),
        lambda x: xp.tile(x, (2,)),
        lambda x: xp.tensordot(x, x, axes=0),
    ],
)
def test_no_size_overflows(work, shape):
    with pytest.raises(MemoryError):
        work(xp.broadcast_to(xp.asarray(1.0), shape))


def test_a_huge_broadcast_costs_nothing(used):
    before = used()
    x = xp.broadcast_to(xp.zeros(1), (2**30, 2**20))
    assert x.size == 2**50
    assert used() - before < 4096
    assert float(x[-1, -1]) == 0.0


def test_after_a_memory_error_work_goes_on():
    x = xp.ones(10)
    with pytest.raises(MemoryError):
        xp.zeros(2**60)
    assert float((x + x)[9]) == 2.0


def test_wrong_arguments_are_type_errors():
    for call in (
        lambda: xp.sin(),
        lambda: xp.sin(V, V),
        lambda: xp.sin(x=V),
        lambda: xp.sum(V, 0),
        lambda: xp.sum(V, axes=0),
        lambda: xp.zeros(),
        lambda: xp.add(V),
        lambda: V.to_device(),
        lambda: xp.reshape(V),
    ):
        with pytest.raises(TypeError):
            call()


RELAXABLE = {
    "mixed kinds": lambda: xp.add(V, I),
    "scalar": lambda: I + 1.5,
    "category": lambda: xp.sqrt(I),
    "reduction": lambda: xp.mean(I),
    "composed": lambda: xp.linalg.vector_norm(I),
    "imag": lambda: xp.imag(V),
    "dtype name": lambda: xp.zeros(2, dtype="float64"),
    "dtype name in Python": lambda: xp.isdtype("float64", "bool"),
    "index": lambda: V[np.array([0])],
    "setitem array": lambda: I.__setitem__(0, xp.asarray(1.5)),
    "setitem scalar": lambda: I.__setitem__(0, 1.5),
    "fill value": lambda: xp.full(2, 1.5, dtype=xp.int64),
    "arange": lambda: xp.arange(0.0, 2.0, dtype=xp.int64),
    "scalars alone": lambda: xp.result_type(1, 2.0),
}


@pytest.mark.parametrize("name", RELAXABLE)
def test_errors_of_strict_mode_alone_say_how_to_relax(name):
    """All in the same words; relaxed mode takes the call."""
    with pytest.raises((TypeError, IndexError, ValueError)) as e:
        RELAXABLE[name]()
    assert str(e.value).endswith(
        ", or relax with runtime.set_strict(False) or ASCEND_ARRAY_API_STRICT=0"
    )
    with xp.runtime.strict(False):
        RELAXABLE[name]()


def test_messages_name_the_public_class():
    with pytest.raises(TypeError, match=r"'ascend_array_api\.runtime\.Array'"):
        V + "text"
    assert repr(xp.runtime.Array) == "<class 'ascend_array_api.runtime.Array'>"
    assert xp.runtime.Array.__qualname__ == "Array"


def test_sub_interpreters_get_an_import_error(child_env):
    code = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
i = interpreters.create()
code = '''
try:
    import ascend_array_api
except ImportError as e:
    print("ImportError", flush=True)
'''
interpreters.run_string(i, code)
"""
    p = subprocess.run(
        [sys.executable, "-c", code], env=child_env, capture_output=True, text=True, timeout=60
    )
    assert p.returncode == 0, p.stderr[-500:]
    assert "ImportError" in p.stdout
