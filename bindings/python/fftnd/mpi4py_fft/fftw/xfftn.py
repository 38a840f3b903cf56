# SPDX-License-Identifier: BSD-3-Clause
"""Serial transforms along some axes of a local array, planned by FFTW.

Each function returns an FFT, which transforms its two arrays or others of their shapes. While FFTW plans, it overwrites
the arrays, unless flags has FFTW_ESTIMATE.
"""
import numpy as np

from ..._serial import Transform
from .utilities import *  # noqa: F401,F403
from .utilities import (C2C_BACKWARD, C2C_FORWARD, C2R, FFTW_DESTROY_INPUT, FFTW_MEASURE, FFTW_PRESERVE_INPUT,
                        FFTW_REDFT00, FFTW_REDFT01, FFTW_REDFT10, FFTW_REDFT11, FFTW_RODFT00, FFTW_RODFT01,
                        FFTW_RODFT10, FFTW_RODFT11, R2C, aligned, flag_dict)

dct_type = {1: FFTW_REDFT00, 2: FFTW_REDFT10, 3: FFTW_REDFT01, 4: FFTW_REDFT11}
idct_type = {1: FFTW_REDFT00, 2: FFTW_REDFT01, 3: FFTW_REDFT10, 4: FFTW_REDFT11}
dst_type = {1: FFTW_RODFT00, 2: FFTW_RODFT10, 3: FFTW_RODFT01, 4: FFTW_RODFT11}
idst_type = {1: FFTW_RODFT00, 2: FFTW_RODFT01, 3: FFTW_RODFT10, 4: FFTW_RODFT11}
_KINDS = {R2C: "r2c", C2R: "c2r"}


def get_normalization(kind, shape, axes):
    """One over the product of the logical sizes of the transformed axes.

    Args:
        kind: FFTW's kind of each axis, or one of C2C_FORWARD, C2C_BACKWARD, R2C, C2R
        shape: extents of the array, of the real one for R2C and C2R
        axes: the transformed axes
    """
    kinds = kind if isinstance(kind, (list, tuple)) else [None] * len(axes)
    product = 1
    for one, axis in zip(kinds, axes):
        n = int(shape[axis])
        if one == FFTW_REDFT00:
            n = 2 * (n - 1)
        elif one == FFTW_RODFT00:
            n = 2 * (n + 1)
        elif one is not None:
            n = 2 * n
        product *= n
    return 1.0 / product


class FFT:
    """A planned serial transform from `input_array` to `output_array`.

    Args:
        input_array, output_array: NumPy arrays that fit each other
        axes: the transformed axes; the last one is halved in transforms of real arrays
        kind: C2C_FORWARD, C2C_BACKWARD, R2C, C2R, or FFTW's kind of each axis (real to real)
        threads: for the interface of mpi4py-fft; one thread transforms
        flags: FFTW's flags
        normalization: the factor of normalize=True
    """

    def __init__(self, input_array, output_array, axes=(-1,), kind=C2C_FORWARD, threads=1, flags=(FFTW_MEASURE,),
                 normalization=1.0):
        flags = int(np.bitwise_or.reduce([int(flag) for flag in flags])) if np.ndim(flags) else int(flags)
        name = "r2r" if isinstance(kind, (list, tuple)) else _KINDS.get(kind, "c2c")
        if name == "c2r" and len(axes) > 1:  # FFTW cannot preserve it
            flags = flags & ~FFTW_PRESERVE_INPUT | FFTW_DESTROY_INPUT
        numbers = list(kind) if name == "r2r" else [kind]
        self._plan = Transform(name, input_array, output_array, [axis % input_array.ndim for axis in axes], numbers,
                               flags)
        self._factor = normalization

    @property
    def input_array(self):
        return self._plan.input_array

    @property
    def output_array(self):
        return self._plan.output_array

    def get_normalization(self):
        """The factor by which normalize=True multiplies."""
        return self._factor

    def update_arrays(self, input_array, output_array):
        """Takes other arrays of the same shapes, types, strides and alignment."""
        if not self._plan.fits(input_array, output_array):
            raise ValueError("the arrays differ from the planned ones in shape, type, strides or alignment")
        self._plan.input_array, self._plan.output_array = input_array, output_array

    def print_plan(self):
        print(f"{type(self).__name__} of {self.input_array.shape} {self.input_array.dtype}")

    def destroy(self):
        """Forgets the plan."""
        self._plan = None

    def __call__(self, input_array=None, output_array=None, implicit=True, normalize=False, **kw):
        """Transforms.

        Args:
            input_array: None = the planned one; others that do not fit the plan are copied to it
            output_array: None = the planned one
            implicit: False = always by the planned arrays
            normalize: multiply with get_normalization()
        Returns:
            the array with the result
        """
        given = self.input_array if input_array is None else input_array
        out = self.output_array if output_array is None else output_array
        if implicit and self._plan.fits(given, out):
            self._plan.execute(given, out)
        else:
            if given is not self.input_array:
                self.input_array[...] = given
            self._plan.execute(self.input_array, self.output_array)
            if out is not self.output_array:
                out[...] = self.output_array
        if normalize:
            out *= self._factor
        return out


def get_planned_FFT(input_array, output_array, axes=(-1,), kind=C2C_FORWARD, threads=1, flags=(FFTW_MEASURE,),
                    normalization=1.0):
    """An FFT of these arrays."""
    return FFT(input_array, output_array, axes, kind, threads, flags, normalization)


def _plan(input_array, output_array, shape, dtype, axes, kind, threads, flags, real_shape):
    if output_array is None:
        output_array = aligned(shape, dtype=dtype)
    factor = get_normalization(kind, real_shape, axes)
    return FFT(input_array, output_array, axes, kind, threads, flags, factor)


def fftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex to complex, forward. s is not used."""
    return _plan(input_array, output_array, input_array.shape, input_array.dtype, axes, C2C_FORWARD, threads, flags,
                 input_array.shape)


def ifftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex to complex, backward, without scaling. s is not used."""
    return _plan(input_array, output_array, input_array.shape, input_array.dtype, axes, C2C_BACKWARD, threads, flags,
                 input_array.shape)


def _halved(shape, axis):
    shape = list(shape)
    shape[axis] = shape[axis] // 2 + 1
    return shape


def _doubled(shape, axis, s):
    shape = list(shape)
    shape[axis] = 2 * (shape[axis] - 1) if s is None else int(np.ravel(s)[-1])
    return shape


def rfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Real to complex; the last one of axes has n/2 + 1 elements. s is not used."""
    return _plan(input_array, output_array, _halved(input_array.shape, axes[-1]), input_array.dtype.char.upper(), axes,
                 R2C, threads, flags, input_array.shape)


def irfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex to real, without scaling. The last one of axes has s[-1] points, without s and output_array an even
    number. The input array is overwritten if there are several axes."""
    shape = _doubled(input_array.shape, axes[-1], s) if output_array is None else output_array.shape
    return _plan(input_array, output_array, shape, input_array.dtype.char.lower(), axes, C2R, threads, flags, shape)


def hfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex with Hermitian symmetry to real, without scaling; as irfftn."""
    return irfftn(input_array, s, axes, threads, flags, output_array)


def ihfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Inverse of hfftn, without scaling; as rfftn."""
    return rfftn(input_array, s, axes, threads, flags, output_array)


def _real_to_real(table, what):
    def transform(input_array, s=None, axes=(-1,), type=2, threads=1, flags=(FFTW_MEASURE,), output_array=None):
        kind = [table[type]] * len(axes)
        return _plan(input_array, output_array, input_array.shape, input_array.dtype, axes, kind, threads, flags,
                     input_array.shape)
    transform.__doc__ = what + ", without scaling. type is 1, 2, 3 or 4; s is not used."
    return transform


dctn = _real_to_real(dct_type, "Cosine transform")
idctn = _real_to_real(idct_type, "Inverse cosine transform")
dstn = _real_to_real(dst_type, "Sine transform")
idstn = _real_to_real(idst_type, "Inverse sine transform")
for _name in ("dctn", "idctn", "dstn", "idstn"):
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name

inverse = {fftn: ifftn, ifftn: fftn, rfftn: irfftn, irfftn: rfftn, hfftn: ihfftn, ihfftn: hfftn, dctn: idctn,
           idctn: dctn, dstn: idstn, idstn: dstn}
