# SPDX-License-Identifier: BSD-3-Clause
"""Serial transforms along some axes of a local array, planned by FFTW.

Each function returns an FFT, which transforms its two arrays or others of their shapes. While FFTW plans, it overwrites
the arrays, unless flags has FFTW_ESTIMATE.
"""
import numpy as np

from redist import _arguments

from ..._serial import Transform
from .utilities import *  # noqa: F401,F403
from .utilities import (C2C_BACKWARD, C2C_FORWARD, C2R, FFTW_DESTROY_INPUT, FFTW_MEASURE, FFTW_PRESERVE_INPUT,
                        FFTW_R2HC, FFTW_REDFT00, FFTW_REDFT01, FFTW_REDFT10, FFTW_REDFT11, FFTW_RODFT00, FFTW_RODFT01,
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


# The types of input and output of each kind, and their names
_SIDES = {"c2c": ("FD", "FD", "complex"), "r2c": ("fd", "FD", "real"), "c2r": ("FD", "fd", "complex"),
          "r2r": ("fd", "fd", "real")}


def _sort_of(kind):
    return "r2r" if isinstance(kind, (list, tuple)) else _KINDS.get(kind, "c2c")


def _halved(shape, axis):
    shape = list(shape)
    shape[axis] = shape[axis] // 2 + 1
    return shape


def _points(modes, axis, s, output_array):
    """The extent of a real array along its halved axis: that of s, else of the array, else even."""
    if output_array is None and s is not None:
        s = (s,) if isinstance(s, (int, np.integer)) else s
        points = _arguments.integers("s", s)[-1]
        if points // 2 + 1 != modes:
            raise ValueError(f"s is {_arguments.shown(s)}; with {modes} modes the last value is {2 * modes - 2} or "
                             f"{2 * modes - 1}")
        return points
    points = output_array.shape[axis] if getattr(output_array, "ndim", 0) > axis else 0
    return points if points // 2 + 1 == modes else 2 * (modes - 1)


def _check(kind, input_array, output_array, axes):
    """Refuses arrays that FFTW would go beyond; the axes, counted from 0."""
    before, after, what = _SIDES[_sort_of(kind)]
    _check_input(input_array, before, what)
    axes = _axes(axes, input_array.ndim)
    if isinstance(kind, (list, tuple)):
        _arguments.integers("kind", kind, len(axes), "axis", FFTW_R2HC, FFTW_RODFT11)
    elif kind not in (C2C_FORWARD, C2C_BACKWARD, R2C, C2R):
        raise ValueError(f"kind is {_arguments.shown(kind)}; it is C2C_FORWARD, C2C_BACKWARD, R2C, C2R, or FFTW's kind of "
                         "each axis")
    shape = list(input_array.shape)
    if kind == R2C:
        shape = _halved(shape, axes[-1])
    elif kind == C2R:
        shape[axes[-1]] = _points(shape[axes[-1]], axes[-1], None, output_array)
    own = np.broadcast_to(np.zeros((), after["fd".find(input_array.dtype.char.lower())]), shape)
    _arguments.array_like("output_array", output_array, own, True)
    if output_array.dtype != own.dtype:
        raise TypeError(f"output_array is of {output_array.dtype}; that of this transform is of {own.dtype}")
    return axes


def _check_input(array, types, what):
    _arguments.instance("input_array", array, np.ndarray, "an array of NumPy")
    if array.dtype.char not in types:
        raise TypeError(f"input_array is of {array.dtype}; this transform is of {what} numbers in single or double "
                        "precision")
    if not array.flags.writeable:
        raise ValueError("input_array cannot be written: it is read-only, and FFTW overwrites it when it plans")


def _axes(axes, ndims):
    found = [axis % ndims for axis in _arguments.integers("axes", axes, low=-ndims, high=ndims - 1)]
    if not found or len(set(found)) != len(found):
        raise ValueError(f"axes is {_arguments.shown(axes)}; the axes differ, and there is at least one")
    return found


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
        flags = (flags,) if isinstance(flags, (int, np.integer)) else flags
        flags = int(np.bitwise_or.reduce(_arguments.integers("flags", flags, low=0, high=2**32 - 1)))
        axes, name = _check(kind, input_array, output_array, axes), _sort_of(kind)
        if name == "c2r" and len(axes) > 1:  # FFTW cannot preserve it
            flags = flags & ~FFTW_PRESERVE_INPUT | FFTW_DESTROY_INPUT
        numbers = list(kind) if name == "r2r" else [kind]
        self._plan = Transform(name, input_array, output_array, axes, numbers, flags)
        self._factor = normalization

    def _alive(self):
        if self._plan is None:
            raise RuntimeError("the transform was destroyed: it cannot be used after destroy()")
        return self._plan

    @property
    def input_array(self):
        return self._alive().input_array

    @property
    def output_array(self):
        return self._alive().output_array

    def get_normalization(self):
        """The factor by which normalize=True multiplies."""
        return self._factor

    def update_arrays(self, input_array, output_array):
        """Takes other arrays of the same shapes, types, strides and alignment."""
        if not self._alive().fits(input_array, output_array):
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
        for name, array, own in (("input_array", input_array, self.input_array),
                                 ("output_array", output_array, self.output_array)):
            if array is not None:
                _arguments.array_like(name, array, own, name == "output_array")
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


def _plan(input_array, output_array, axes, kind, threads, flags, s=None):
    """An FFT of these arrays; s[-1] points along the last axis are those of the real array of C2R."""
    before, after, what = _SIDES[_sort_of(kind)]
    _check_input(input_array, before, what)
    axes = _axes(axes, input_array.ndim)
    real = list(input_array.shape)
    if kind == C2R:
        real[axes[-1]] = _points(input_array.shape[axes[-1]], axes[-1], s, output_array)
    if output_array is None:
        output_array = aligned(_halved(real, axes[-1]) if kind == R2C else real,
                               dtype=after["fd".find(input_array.dtype.char.lower())])
    kind = kind * len(axes) if isinstance(kind, list) else kind
    return FFT(input_array, output_array, axes, kind, threads, flags, get_normalization(kind, real, axes))


def fftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex to complex, forward. s is not used."""
    return _plan(input_array, output_array, axes, C2C_FORWARD, threads, flags)


def ifftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex to complex, backward, without scaling. s is not used."""
    return _plan(input_array, output_array, axes, C2C_BACKWARD, threads, flags)


def rfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Real to complex; the last one of axes has n/2 + 1 elements. s is not used."""
    return _plan(input_array, output_array, axes, R2C, threads, flags)


def irfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex to real, without scaling. The last one of axes has s[-1] points, without s and output_array an even
    number. The input array is overwritten if there are several axes."""
    return _plan(input_array, output_array, axes, C2R, threads, flags, s)


def hfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Complex with Hermitian symmetry to real, without scaling; as irfftn."""
    return irfftn(input_array, s, axes, threads, flags, output_array)


def ihfftn(input_array, s=None, axes=(-1,), threads=1, flags=(FFTW_MEASURE,), output_array=None):
    """Inverse of hfftn, without scaling; as rfftn."""
    return rfftn(input_array, s, axes, threads, flags, output_array)


def _real_to_real(table, what):
    def transform(input_array, s=None, axes=(-1,), type=2, threads=1, flags=(FFTW_MEASURE,), output_array=None):
        kind = [table[_arguments.integer("type", type, 1, 4)]]
        return _plan(input_array, output_array, axes, kind, threads, flags)
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
