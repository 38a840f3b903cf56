# SPDX-License-Identifier: BSD-3-Clause
"""Streams and arrays of libraries for CUDA devices, all of them optional."""
import sys

import numpy as np

from ._arguments import integer, shown


def is_device_array(array):
    if getattr(array, "__cuda_array_interface__", None) is not None:
        return True
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in (2, 13)  # as in views.pxi


def _current(array):
    """The current stream of an array's library; of CuPy or PyTorch without an array."""
    library = type(array).__module__.split(".")[0] if is_device_array(array) else None
    for name in [library] if library else ["cupy", "torch"]:
        module = sys.modules.get(name)
        if module is None:
            continue
        if name == "cupy" and module.cuda.is_available():
            return module.cuda.get_current_stream().ptr
        if name == "torch" and module.cuda.is_available():
            return module.cuda.current_stream().cuda_stream
    return 0


def pointer(stream, array=None, device=False):
    """The address of a stream: of CuPy, of PyTorch, by the protocol __cuda_stream__, or a number. None = the current
    stream of the library that `array` is of, or, with `device`, of the one that is loaded."""
    if stream is None:
        return _current(array) if device or is_device_array(array) else 0
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return (protocol() if callable(protocol) else protocol)[1]
    for name in ("ptr", "cuda_stream", "handle"):
        if hasattr(stream, name):
            number = getattr(stream, name)
            return int(getattr(number, "value", number) or 0)  # Numba's is a pointer of ctypes
    if isinstance(stream, (int, np.integer)):
        return integer("stream", stream, 0, 2**64 - 1)
    raise TypeError(f"stream is {shown(stream)}; it is a stream of CuPy, PyTorch or Numba, or its address")


def _memory_of_cupy(memory):
    """Memory of redist.Memory is known; that of others may be larger than CuPy's array of it."""
    owner = getattr(memory, "_owner", None)
    if owner is None and type(memory).__name__ != "DLPackMemory":
        return memory.ptr, memory.size
    return (owner.address, owner.nbytes) if hasattr(owner, "address") else None


def memory_of(array):
    """The address and the bytes of the memory of an array of another library than NumPy; None = unknown."""
    library = type(array).__module__.split(".")[0]
    if library == "cupy" and is_device_array(array):  # not pinned memory, which is the base of NumPy's arrays
        return _memory_of_cupy(array.data.mem)
    if library == "torch":  # a storage in others' memory, not resizable, is that of the array that was given
        storage = array.untyped_storage()
        return (storage.data_ptr(), storage.nbytes()) if storage.resizable() else None
    return (array.memory.address, array.memory.nbytes) if isinstance(array, DeviceArray) else None


def synchronize(stream):
    """Waits for all work in a stream, by the loaded library."""
    if "cupy" in sys.modules:
        sys.modules["cupy"].cuda.runtime.streamSynchronize(stream)
    elif "torch" in sys.modules:
        cuda = sys.modules["torch"].cuda
        cuda.ExternalStream(stream).synchronize() if stream > 2 else cuda.synchronize()  # 1 and 2 are no pointers
    elif "numba" in sys.modules:
        from numba import cuda
        cuda.external_stream(stream).synchronize()
    else:
        raise RuntimeError("an array's work is in another stream than the plan's, and no library is loaded that "
                           "could wait for it: give the plan that stream, or synchronize before the call")


class _Stream:
    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream


def streams_of_cupy():
    try:
        from cupy.cuda import ExternalStream, Stream
    except ImportError:
        raise TypeError("without CuPy there are no arrays for a function on a device") from None
    return ExternalStream, Stream


def working_in(stream):
    """A context in which CuPy works in a stream."""
    ExternalStream, Stream = streams_of_cupy()
    return Stream.from_external(_Stream(stream)) if hasattr(Stream, "from_external") else ExternalStream(stream)


def new_array(given, nbytes, shape, dtype, strides, offset):
    """A new array: of PyTorch if the given one is, else of CuPy."""
    if type(given).__module__.split(".")[0] == "torch":
        torch = sys.modules["torch"]
        number = -(-nbytes // dtype.itemsize)
        elements = torch.empty(number, dtype=getattr(torch, dtype.name), device=given.device)
        return elements.as_strided(shape, [step // dtype.itemsize for step in strides], offset // dtype.itemsize)
    try:
        import cupy
    except ImportError:
        raise TypeError("without CuPy there is no new array on a device: give one as out") from None
    return cupy.ndarray(shape, dtype, cupy.empty(nbytes, "u1").data + offset, strides)


def device_array(memory, shape, dtype, strides=None, offset=0):
    """A CuPy array in device memory; without CuPy an object with __cuda_array_interface__, for other libraries."""
    try:
        import cupy
    except ImportError:
        return DeviceArray(memory, shape, dtype, strides, offset)
    if memory.nbytes == 0:
        return cupy.empty(shape, dtype)
    owned = cupy.cuda.UnownedMemory(memory.address, memory.nbytes, memory)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(owned, offset), strides)


def to_host(memory, shape, dtype, strides):
    """A copy, as an array of NumPy, of one in device memory."""
    array = device_array(memory, shape, dtype, strides)
    if "cupy" in sys.modules:
        return sys.modules["cupy"].asnumpy(array)
    if "torch" in sys.modules:
        return sys.modules["torch"].as_tensor(array).cpu().numpy()
    raise TypeError("without CuPy or PyTorch no array on a device is copied to the host")


class DeviceArray:
    """An array in device memory for libraries with __cuda_array_interface__ (torch.as_tensor, numba)."""

    def __init__(self, memory, shape, dtype, strides, offset):
        self.memory, self.shape, self.dtype = memory, tuple(shape), dtype
        self.__cuda_array_interface__ = {
            "shape": self.shape, "typestr": dtype.str, "data": (memory.address + offset, False),
            "version": 3,
            "strides": None if strides is None else tuple(strides)}
