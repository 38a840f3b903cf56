# SPDX-License-Identifier: BSD-3-Clause
"""Serial transforms with truncation and padding, by several libraries."""
import numpy as np

from redist import _arguments

from . import fftw


def check_arrays(input_array, own_input, output_array, own_output):
    """Whether the arrays of a call, which may be None, go with those that a transform works on."""
    if input_array is not None:
        _arguments.array_like("input_array", input_array, own_input, False)
    if output_array is not None:
        _arguments.array_like("output_array", output_array, own_output, True)


def check_type(dtype):
    """A type of elements that can be transformed."""
    found = _arguments.dtype("dtype", dtype)
    if found.char not in "fdgFDG":
        raise TypeError(f"dtype is {found}; transforms are of float32, float64, longdouble, and complex ones of these")
    return found


class _Call:
    """A function in the manner of numpy.fft.fftn with its arrays."""

    def __init__(self, function, input_array, output_array, factor, keywords):
        self.function, self.keywords, self.factor = function, keywords, factor
        self.input_array, self.output_array = input_array, output_array

    def __call__(self, **kw):
        result = self.function(self.input_array, **self.keywords)
        if np.iscomplexobj(result) and not np.iscomplexobj(self.output_array):
            result = result.real
        self.output_array[...] = result
        if self.factor != 1:
            self.output_array *= self.factor
        return self.output_array


def _chosen(transforms, axes, dtype, real, complex_):
    """The pair of functions for some axes: the user's, or the library's for the type."""
    if transforms and tuple(axes) in transforms:
        return transforms[tuple(axes)]
    return real if np.issubdtype(dtype, np.floating) else complex_


def _functions(shape, axes, dtype, transforms, real, complex_, size):
    """The transforms of a library whose functions are called like NumPy's, with `size` as the name of s."""
    forward, backward = _chosen(transforms, axes, dtype, real, complex_)
    s = tuple(np.take(shape, axes))
    keywords = {size: s, "axes": tuple(axes)}
    physical = fftw.aligned(shape, dtype=dtype)
    physical.fill(0)
    found = forward(physical, **keywords)
    kind = dtype.char.upper() if np.iscomplexobj(found) else dtype.char  # some libraries know one precision
    spectral = fftw.aligned(found.shape, dtype=kind)
    return (_Call(forward, physical, spectral, 1, keywords),
            _Call(backward, spectral, physical, int(np.prod(s)), keywords))


def _plan_numpy(shape, axes, dtype, transforms, options):
    return _functions(shape, axes, dtype, transforms, (np.fft.rfftn, np.fft.irfftn), (np.fft.fftn, np.fft.ifftn), "s")


def _plan_scipy(shape, axes, dtype, transforms, options):
    from scipy.fftpack import fftn, ifftn
    return _functions(shape, axes, dtype, transforms, (fftn, ifftn), (fftn, ifftn), "shape")


def _plan_mkl(shape, axes, dtype, transforms, options):
    from mkl_fft.interfaces import numpy_fft as mkl
    return _functions(shape, axes, dtype, transforms, (mkl.rfftn, mkl.irfftn), (mkl.fftn, mkl.ifftn), "s")


def _plan_pyfftw(shape, axes, dtype, transforms, options):
    from pyfftw import builders, empty_aligned
    forward, backward = _chosen(transforms, axes, dtype, (builders.rfftn, builders.irfftn),
                                (builders.fftn, builders.ifftn))
    s = tuple(np.take(shape, axes))
    physical = empty_aligned(shape, dtype=dtype)
    there = forward(physical, s=s, axes=tuple(axes), **options)
    spectral = there.output_array
    back = backward(spectral, s=s, axes=tuple(axes), **options)
    there.update_arrays(physical, spectral)
    back.update_arrays(spectral, physical)
    physical.fill(0)
    spectral.fill(0)
    return (_Call(lambda array: there(), physical, spectral, 1, {}),
            _Call(lambda array: back(normalise_idft=False), spectral, physical, 1, {}))


def _plan_fftw(shape, axes, dtype, transforms, options):
    forward, backward = _chosen(transforms, axes, dtype, (fftw.rfftn, fftw.irfftn), (fftw.fftn, fftw.ifftn))
    effort, destroy = [fftw.flag_dict[_arguments.one_of(name, options.get(name, usual), fftw.flag_dict)]
                       for name, usual in (("planner_effort", "FFTW_MEASURE"),
                                           ("overwrite_input", "FFTW_DESTROY_INPUT"))]
    threads = options.get("threads", 1)
    s = tuple(np.take(shape, axes))
    physical = fftw.aligned(shape, dtype=dtype, fill=0)
    there = forward(physical, s=s, axes=axes, threads=threads, flags=(effort, destroy))
    spectral = there.output_array
    back = backward(spectral, s=s, axes=axes, threads=threads, flags=(effort, destroy), output_array=physical)
    physical.fill(0)
    spectral.fill(0)
    return there, back


_PLANS = {"fftw": _plan_fftw, "pyfftw": _plan_pyfftw, "numpy": _plan_numpy, "scipy": _plan_scipy,
          "mkl_fft": _plan_mkl}


class _Direction:
    """One direction of an FFT: forward(input_array=None, output_array=None, **options)."""

    def __init__(self, run, input_array, output_array):
        self._run, self._input_array, self._output_array = run, input_array, output_array

    @property
    def input_array(self):
        return self._input_array

    @property
    def output_array(self):
        return self._output_array

    def __call__(self, input_array=None, output_array=None, **options):
        check_arrays(input_array, self._input_array, output_array, self._output_array)
        if input_array is not None:
            self._input_array[...] = input_array
        self._run(**options)
        if output_array is None:
            return self._output_array
        output_array[...] = self._output_array
        return output_array


def _part(array, axis, where):
    index = [slice(None)] * array.ndim
    index[axis] = where if isinstance(where, slice) else slice(where, where + 1)
    return array[tuple(index)]


class FFTBase:
    """Common part of serial transforms: arguments, truncation and padding of the last one of their axes.

    Args:
        shape: extents of the (padded) physical array
        axes: the transformed axes; None = all
        dtype: type of the physical array
        padding: False, a factor, or a factor for each axis of the array; only with a single transformed axis
    """

    def __init__(self, shape, axes=None, dtype=float, padding=False):
        shape = (shape,) if isinstance(shape, (int, np.integer)) else shape
        self.shape = list(_arguments.integers("shape", shape, low=0))
        ndims = len(self.shape)
        given = range(ndims) if axes is None else (axes,) if isinstance(axes, (int, np.integer)) else axes
        self.axes = [axis % ndims for axis in _arguments.integers("axes", given, low=-ndims, high=ndims - 1)]
        if not self.axes or len(set(self.axes)) != len(self.axes):
            raise ValueError(f"axes is {_arguments.shown(axes)}; the axes differ, and there is at least one")
        self.dtype = check_type(dtype)
        self.padding = padding
        self.real_transform = bool(np.issubdtype(self.dtype, np.floating))
        self.padding_factor = 1

    def _modes(self):
        """How many modes are retained along the padded axis."""
        return int(np.round(self.shape[self.axes[-1]] / self.padding_factor))

    def _truncation_forward(self, padded_array, trunc_array):
        """Retains the modes of the truncated array; "Dealiasing" in fftnd.h has the formulas."""
        axis, modes = self.axes[-1], self._modes()
        if self.padding_factor <= 1 + 1e-8:
            return
        even = modes % 2 == 0 and modes < self.shape[axis]
        if self.real_transform:
            trunc_array[...] = _part(padded_array, axis, slice(0, modes // 2 + 1))
            if even:  # X[k] + X[-k], which is the conjugate
                last = _part(trunc_array, axis, modes // 2)
                last[...] = 2 * last.real
            return
        low = (modes + 1) // 2
        high = modes - low
        _part(trunc_array, axis, slice(0, low))[...] = _part(padded_array, axis, slice(0, low))
        if high:
            _part(trunc_array, axis, slice(low, None))[...] = _part(padded_array, axis, slice(-high, None))
        if even:
            middle = _part(trunc_array, axis, low)
            middle += _part(padded_array, axis, low)

    def _padding_backward(self, trunc_array, padded_array):
        """Fills up with zeros; the inverse of _truncation_forward."""
        axis, modes = self.axes[-1], self._modes()
        if self.padding_factor <= 1 + 1e-8:
            return
        even = modes % 2 == 0 and modes < self.shape[axis]
        padded_array.fill(0)
        if self.real_transform:
            _part(padded_array, axis, slice(0, modes // 2 + 1))[...] = trunc_array
            if even:
                last = _part(padded_array, axis, modes // 2)
                last *= 0.5
            return
        low = (modes + 1) // 2
        high = modes - low
        _part(padded_array, axis, slice(0, low))[...] = _part(trunc_array, axis, slice(0, low))
        if high:
            _part(padded_array, axis, slice(-high, None))[...] = _part(trunc_array, axis, slice(low, None))
        if even:
            half = 0.5 * _part(trunc_array, axis, low)
            _part(padded_array, axis, low)[...] = half
            _part(padded_array, axis, padded_array.shape[axis] - high)[...] = half


class FFT(FFTBase):
    """Serial transforms forward and backward along some axes of a local array.

    Args:
        shape, axes, dtype, padding: as FFTBase
        backend: "fftw", "pyfftw", "numpy", "scipy" or "mkl_fft"
        transforms: from tuples of axes to pairs of functions (forward, backward) of the backend, for axes that are
            transformed otherwise than by rfftn or fftn
        kw: options of the backend

    forward(input_array=None, output_array=None, normalize=True) divides by the number of points,
    backward(input_array=None, output_array=None, normalize=False) does not. Without arguments they work on their
    own input_array and output_array.
    """

    def __init__(self, shape, axes=None, dtype=float, padding=False, backend="fftw", transforms=None, **kw):
        super().__init__(shape, axes, dtype, padding)
        self.backend = _arguments.one_of("backend", backend, _PLANS)
        self.fwd, self.bck = _PLANS[backend](self.shape, self.axes, self.dtype, transforms, kw)
        physical, spectral = self.fwd.input_array, self.fwd.output_array
        if hasattr(self.fwd, "get_normalization"):
            self.M = self.fwd.get_normalization()
        else:
            self.M = 1.0 / np.prod(np.take(self.shape, self.axes))
        if backend == "scipy":  # its transforms of real arrays are complex ones
            self.real_transform = False
        if padding is not False:
            self.padding_factor = padding[self.axes[-1]] if np.ndim(padding) else padding
        if abs(self.padding_factor - 1) > 1e-8:
            if len(self.axes) != 1:
                raise ValueError(f"padding is {_arguments.shown(padding)} and axes is {self.axes}; one axis at a time is "
                                 "padded")
            spectral = self._get_truncarray(self.shape, spectral.dtype)
        self.forward = _Direction(self._forward, physical, spectral)
        self.backward = _Direction(self._backward, spectral, physical)

    def _forward(self, normalize=True, **kw):
        self.fwd(**kw)
        self._truncation_forward(self.fwd.output_array, self.forward.output_array)
        if normalize:
            self.forward._output_array *= self.M

    def _backward(self, normalize=False, **kw):
        self._padding_backward(self.backward.input_array, self.bck.input_array)
        self.bck(**kw)
        if normalize:
            self.backward._output_array *= self.M

    def _get_truncarray(self, shape, dtype):
        shape = list(shape)
        modes = self._modes()
        shape[self.axes[-1]] = modes // 2 + 1 if self.real_transform else modes
        return fftw.aligned(shape, dtype=dtype)
