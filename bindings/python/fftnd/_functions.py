# SPDX-License-Identifier: BSD-3-Clause
"""Transforms in one call, in the manner of numpy.fft and scipy.fft, on distributed arrays."""
import re

import numpy as np
from mpi4py import MPI

from redist import ArgumentError, Box, Error, _streams
from redist._arguments import agree, communicator, dtype, integer, one_of, shape as checked_shape, shown
from redist._redist import _cache

from ._fftnd import _SCALINGS, Plan

# The docstring of Plan begins with its signature
_KEYWORDS = set(re.findall(r"(\w+)=", Plan.__doc__.partition("\n")[0])) - {"kind", "dtype", "scaling"}
_KEPT = 8  # plans of these functions for each communicator
_COMMON = """
    The array is one rank's part. Usually the ranks are a grid of one dimension: the physical array is split along its
    first axis and the spectral one along its second axis, both in balanced blocks (redist.decompose), and the global
    extents follow from the parts; a complex array of one axis has the parts of Plan(comm, shape, "c2c"). With `shape`
    they are given, and `grid` (and the other keywords of Plan) may choose another distribution.

    The plans of the last 8 kinds of calls on a communicator are kept. A program that transforms the same arrays again
    and again uses Plan, which measures and takes memory that the ranks share.

    Args:
        a: this rank's part, of float32, float64, longdouble or complex ones of these (NumPy arrays of other types are
            converted)
        comm: the ranks; None = mpi4py.MPI.COMM_WORLD{args}
        shape: global extents of the physical array; None = from the parts{even}; must agree
        norm: "backward" (the inverse divides), "forward", "ortho", or "none"; must agree
        out: array of the result; None = a new one
        options: keywords of Plan (grid, threads, method, space, ...); must agree
    Returns:
        this rank's part of the result
    Collective on comm. Errors: redist.Error, and TypeError or ValueError on a rank whose array or arguments are wrong
    (the other ranks get redist.ArgumentError, which says the same)."""


class _Kept:
    """A plan of these functions, and its kind of calls."""

    def __init__(self, plan, given):
        self.plan, self.given, self.whole = plan, given, True

    def suits(self, given, forward, shape, local):
        """Whether it matches a call with this global shape or, without one, with this part of it on this rank."""
        if given != self.given or shape is not None:
            return given == self.given and shape == self.plan.shape
        if local != (self.plan.physical_shape if forward else self.plan.spectral_shape):
            return False
        return forward or self.plan.kind != "r2c" or self.plan.shape[-1] % 2 == 0


def _global_shape(comm, local, forward, halved):
    """The global extents of an array that is split along one axis; the last one may be that of a halved axis."""
    shape = list(local)
    split = min(0 if forward else 1, len(shape) - 1)
    shape[split] = comm.allreduce(shape[split])
    if halved and not forward:
        shape[-1] = 2 * (shape[-1] - 1)
    return tuple(shape)


def _kept_plan(comm, failure, given, forward, shape, local, options):
    """A plan that suits on all ranks: a kept one, or a new one in the place of the one that was not used for longest.
    All ranks keep the same plans in the same order."""
    kept = _cache(comm)
    flags = agree(comm, failure, [one.whole + 2 * one.suits(given, forward, shape, local) for one in kept])
    found = None
    for one, flag in zip(list(kept), flags):
        if not flag & 1:  # it has failed on some rank
            kept.remove(one)
            one.plan.free()
        elif flag & 2:
            found = one
    if found is None:
        total = _global_shape(comm, local, forward, given[0] == "r2c")
        found = _Kept(Plan(comm, total if shape is None else shape, *given[:2], scaling=given[2], **options), given)
    else:
        kept.remove(found)
    if len(kept) == _KEPT:
        kept.pop(0).plan.free()
    kept.append(found)
    return found


def _fixed(value):
    """An option's current value, for later comparison."""
    if isinstance(value, Box):
        return value.start, value.count, value.extent, value.offset
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return tuple([_fixed(one) for one in value]) if isinstance(value, (list, tuple)) else value


def _with_defaults(options, a, comm, ndims):
    for name in options.keys() - _KEYWORDS:
        raise TypeError(f"{name} is no keyword of these functions, nor one of fftnd.Plan that they take")
    options.setdefault("effort", "estimate")
    if ndims == 1:
        options.setdefault("alignment", "input")
    else:
        options.setdefault("grid", (comm.size,))
    if _streams.is_device_array(a):
        options.setdefault("space", "cuda")
        options["stream"] = _streams.pointer(options.get("stream"), a)
    return options


def _as_type(a, kinds):
    """Converts a NumPy array of another type to one that can be transformed."""
    if isinstance(a, (np.ndarray, list, tuple, float, int, complex)):
        try:
            a = np.asarray(a)
        except ValueError:
            raise ValueError(f"a is {shown(a)}; it is an array, whose rows have one length") from None
        if a.dtype.kind not in "biufc" or (a.dtype.kind == "c" and kinds == "f"):
            raise TypeError(f"a is {shown(a)}; this transform is of {'real ' if kinds == 'f' else ''}numbers")
        if a.dtype.kind not in kinds or a.dtype.char not in "fdgFDG":
            real = "f" if a.dtype.char in "fFe" else "g" if a.dtype.char in "gG" else "d"
            a = a.astype(real if kinds == "f" else real.upper())
    elif not hasattr(a, "shape") or not hasattr(a, "dtype"):
        raise TypeError(f"a is {shown(a)}; it is an array of NumPy, CuPy, PyTorch or JAX")
    return a


def _type_of(a):
    return dtype("the type of a", str(a.dtype).rsplit(".", 1)[-1])  # of PyTorch: torch.float64


def _call(forward, a, comm, shape, kind, norm, out, options, kinds):
    comm = MPI.COMM_WORLD if comm is None else comm
    communicator("comm", comm)
    given = local = failure = None
    try:
        if isinstance(kind, tuple):
            kind = f"{kind[0]}{integer('type', kind[1], 1, 4)}"
        one_of("norm", norm, _SCALINGS)
        a = _as_type(a, kinds)
        local = tuple(a.shape)
        shape = None if shape is None else checked_shape("shape", shape, 15)
        if not local:
            raise ValueError(f"a is {shown(a)}; it has at least one axis")
        options = _with_defaults(options, a, comm, len(local if shape is None else shape))
        letter = _type_of(a).char
        precision = letter.lower() if letter in "FDG" else letter
        given = kind, precision, norm, _fixed(sorted(options.items()))
    except Exception as error:  # on all ranks
        failure = error
    kept = _kept_plan(comm, failure, given, forward, shape, local, options)
    try:
        return kept.plan._transform("forward" if forward else "backward", "a", a, out)
    except Error as error:
        kept.whole = isinstance(error, ArgumentError)
        raise


def fftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _call(True, a, comm, shape, "c2c", norm, out, options, "c")


def ifftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _call(False, a, comm, shape, "c2c", norm, out, options, "c")


def rfftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _call(True, a, comm, shape, "r2c", norm, out, options, "f")


def irfftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _call(False, a, comm, shape, "r2c", norm, out, options, "c")


def dctn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _call(True, a, comm, shape, ("dct", type), norm, out, options, "f")


def idctn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _call(False, a, comm, shape, ("dct", type), norm, out, options, "f")


def dstn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _call(True, a, comm, shape, ("dst", type), norm, out, options, "f")


def idstn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _call(False, a, comm, shape, ("dst", type), norm, out, options, "f")


def _document(function, what, args="", even=""):
    function.__doc__ = what + "\n" + _COMMON.format(args=args, even=even)


_TYPE = "\n        type: 1 to 4, as in scipy.fft; of an inverse the type that it inverts; must agree"
_document(fftn, "Fourier transform of a complex distributed array along all axes.")
_document(ifftn, "Inverse of fftn.")
_document(rfftn, "Fourier transform of a real distributed array along all axes; the last one has n/2 + 1 elements.")
_document(irfftn, "Inverse of rfftn.", even=", the last one even")
_document(dctn, "Cosine transform of a distributed array along all axes, as FFTW and SciPy define it.", _TYPE)
_document(idctn, "Inverse of dctn.", _TYPE)
_document(dstn, "Sine transform of a distributed array along all axes, as FFTW and SciPy define it.", _TYPE)
_document(idstn, "Inverse of dstn.", _TYPE)
