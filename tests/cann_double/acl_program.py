"""The double through ctypes: enough of CANN's interface to write small programs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from cann_double import Control

# dtype -> aclDataType
CODES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "uint16": 7,
    "uint32": 8,
    "int64": 9,
    "uint64": 10,
    "float64": 11,
    "bool": 12,
    "complex64": 16,
    "complex128": 17,
    "bfloat16": 27,
}
ND = 2
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3
SYNC, TIME_LINE = 1, 8


class Refused(Exception):
    """A function returned an error; ``code`` is what it returned."""

    def __init__(self, function: str, code: int, message: str) -> None:
        super().__init__(f"{function}: {code}: {message}")
        self.code = code


class Tensor:
    """Device memory of an array, and a descriptor of it."""

    def __init__(self, acl: Acl, array: np.ndarray) -> None:
        self.acl, self.dtype, self.shape = acl, array.dtype, array.shape
        self.size = array.nbytes
        self.address = acl.malloc(max(self.size, 1))
        if self.size:
            acl.upload(self.address, np.ascontiguousarray(array))
        self.handle = acl.tensor(self.address, array.shape, array.dtype)

    def view(
        self, shape: Sequence[int], strides: Sequence[int], offset: int = 0
    ) -> ctypes.c_void_p:
        """Make another descriptor of the same memory."""
        storage = self.size // self.dtype.itemsize
        return self.acl.tensor(self.address, shape, self.dtype, strides, offset, (storage,))

    def get(self) -> np.ndarray:
        """Copy the elements to the host."""
        return self.acl.download(self.address, self.shape, self.dtype)

    def free(self) -> None:
        """Give back descriptor and memory."""
        self.acl.call("aclDestroyTensor", self.handle)
        self.acl.call("aclrtFree", ctypes.c_void_p(self.address))


class Acl:
    """A loaded family of libraries, with device 0 current.

    Parameters
    ----------
    folder : Path
        What `cann_double.build` returned.
    """

    def __init__(self, folder: Path) -> None:
        self.control = Control(folder)
        names = sorted(path.name for path in folder.iterdir())
        self.libraries = [ctypes.CDLL(str(folder / name)) for name in names]
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateIntArray"):
            self.function(name).restype = ctypes.c_void_p
        self.function("aclCreateTensorList").restype = ctypes.c_void_p
        self.function("aclGetRecentErrMsg").restype = ctypes.c_char_p
        self.call("aclInit", None, accept=(0, 100002))
        self.call("aclrtSetDevice", 0)
        self.stream = self.new("aclrtCreateStream")

    def function(self, name: str) -> ctypes._CFuncPtr:
        """Return the function of that name from whichever library has it."""
        for library in self.libraries:
            if hasattr(library, name):
                return getattr(library, name)
        raise AttributeError(name)

    def call(self, name: str, *arguments: object, accept: Sequence[int] = (0,)) -> int:
        """Call a function that returns a code, and raise `Refused` where that is not accepted."""
        code = int(self.function(name)(*arguments))
        if code not in accept:
            message = self.function("aclGetRecentErrMsg")()
            raise Refused(name, code, message.decode() if message else "")
        return code

    def new(self, name: str, *arguments: object) -> ctypes.c_void_p:
        """Call a function of which the first argument is where a handle goes."""
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle

    def malloc(self, size: int) -> int:
        """Return the address of device memory."""
        address = self.new("aclrtMalloc", ctypes.c_size_t(size), 0).value
        assert address is not None
        return address

    def copy(self, to: int, source: int, size: int, kind: int) -> None:
        """Copy at once."""
        room = ctypes.c_size_t(size)
        self.call("aclrtMemcpy", ctypes.c_void_p(to), room, ctypes.c_void_p(source), room, kind)

    def copy_async(
        self, to: int, source: int, size: int, kind: int, stream: ctypes.c_void_p | None = None
    ) -> None:
        """Copy on a stream."""
        room = ctypes.c_size_t(size)
        arguments = (ctypes.c_void_p(to), room, ctypes.c_void_p(source), room, kind)
        self.call("aclrtMemcpyAsync", *arguments, stream or self.stream)

    def upload(self, address: int, array: np.ndarray) -> None:
        """Copy a contiguous array to the device."""
        self.copy(address, array.ctypes.data, array.nbytes, TO_DEVICE)

    def download(self, address: int, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """Copy from the device."""
        array = np.empty(shape, dtype)
        if array.nbytes:
            self.copy(array.ctypes.data, address, array.nbytes, TO_HOST)
        return array

    def synchronize(self, stream: ctypes.c_void_p | None = None) -> None:
        """Wait for a stream."""
        self.call("aclrtSynchronizeStream", stream or self.stream)

    def tensor(
        self,
        address: int,
        shape: Sequence[int],
        dtype: np.dtype,
        strides: Sequence[int] | None = None,
        offset: int = 0,
        storage: Sequence[int] | None = None,
    ) -> ctypes.c_void_p:
        """Make a descriptor; strides and offset count elements."""
        rank = len(shape)
        storage = shape if storage is None else storage
        return ctypes.c_void_p(
            self.function("aclCreateTensor")(
                (ctypes.c_int64 * rank)(*shape),
                ctypes.c_uint64(rank),
                CODES[np.dtype(dtype).name],
                None if strides is None else (ctypes.c_int64 * rank)(*strides),
                ctypes.c_int64(offset),
                ND,
                (ctypes.c_int64 * len(storage))(*storage),
                ctypes.c_uint64(len(storage)),
                ctypes.c_void_p(address),
            )
        )

    def scalar(self, value: object, dtype: str) -> ctypes.c_void_p:
        """Make a scalar."""
        held = np.array([value], dtype)
        handle = self.function("aclCreateScalar")(ctypes.c_void_p(held.ctypes.data), CODES[dtype])
        return ctypes.c_void_p(handle)

    def ints(self, *values: int) -> ctypes.c_void_p:
        """Make an array of integers."""
        held = (ctypes.c_int64 * len(values))(*values)
        return ctypes.c_void_p(
            self.function("aclCreateIntArray")(held, ctypes.c_uint64(len(values)))
        )

    def plan(self, name: str, *arguments: object) -> tuple[int, ctypes.c_void_p]:
        """Run phase 1: the size of the workspace, and the executor."""
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.call(f"{name}GetWorkspaceSize", *arguments, ctypes.byref(size), ctypes.byref(executor))
        return size.value, executor

    def launch(
        self,
        name: str,
        size: int,
        executor: ctypes.c_void_p,
        workspace: int | None = None,
        stream: ctypes.c_void_p | None = None,
    ) -> None:
        """Run phase 2."""
        place = ctypes.c_void_p(workspace)
        self.call(name, place, ctypes.c_uint64(size), executor, stream or self.stream)

    def run(self, name: str, *arguments: object, stream: ctypes.c_void_p | None = None) -> None:
        """Run both phases and wait."""
        size, executor = self.plan(name, *arguments)
        workspace = self.malloc(size) if size else None
        self.launch(name, size, executor, workspace, stream)
        self.synchronize(stream)
        if workspace is not None:
            self.call("aclrtFree", ctypes.c_void_p(workspace))

    @contextmanager
    def tensors(self, *arrays: np.ndarray):
        """Give device copies of arrays for a while."""
        made = [Tensor(self, array) for array in arrays]
        yield made
        for each in made:
            each.free()
