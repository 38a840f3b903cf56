# SPDX-License-Identifier: BSD-3-Clause
"""FFTW's numbers, and arrays that are aligned for its vector instructions."""
import numpy as np

from redist import _arguments

FFTW_FORWARD, FFTW_BACKWARD = -1, 1
C2C_FORWARD, C2C_BACKWARD, R2C, C2R = -1, 1, -2, 2
FFTW_R2HC, FFTW_HC2R, FFTW_DHT = 0, 1, 2
FFTW_REDFT00, FFTW_REDFT01, FFTW_REDFT10, FFTW_REDFT11 = 3, 4, 5, 6
FFTW_RODFT00, FFTW_RODFT01, FFTW_RODFT10, FFTW_RODFT11 = 7, 8, 9, 10

FFTW_MEASURE = 0
FFTW_DESTROY_INPUT = 1 << 0
FFTW_UNALIGNED = 1 << 1
FFTW_CONSERVE_MEMORY = 1 << 2
FFTW_EXHAUSTIVE = 1 << 3
FFTW_PRESERVE_INPUT = 1 << 4
FFTW_PATIENT = 1 << 5
FFTW_ESTIMATE = 1 << 6
FFTW_WISDOM_ONLY = 1 << 21

flag_dict = {name: value for name, value in globals().items() if name.startswith("FFTW_")}


def get_alignment(array):
    """The largest power of two up to 32 that divides the array's address."""
    address = array.__array_interface__["data"][0]
    return next(n for n in (32, 16, 8, 4, 2, 1) if address % n == 0)


def aligned(shape, n=32, dtype=np.dtype("d"), fill=None):
    """An array whose address is a multiple of n bytes.

    Args:
        shape: extents
        n: alignment
        dtype: type of the elements
        fill: value of all elements; None = undefined
    """
    dtype = _arguments.dtype("dtype", dtype)
    n = _arguments.integer("n", n, 1)
    shape = _arguments.shape("shape", (shape,) if isinstance(shape, (int, np.integer)) else shape, 32)
    nbytes = _arguments.size("shape", shape, dtype.itemsize)
    memory = np.empty(nbytes + n, np.uint8)
    skip = -memory.__array_interface__["data"][0] % n
    array = memory[skip:skip + nbytes].view(dtype).reshape(shape)
    if fill is not None:
        array.fill(fill)
    return array


def aligned_like(array, fill=None):
    """An aligned array of the shape and type of another one."""
    return aligned(array.shape, dtype=array.dtype, fill=fill)
