# SPDX-License-Identifier: BSD-3-Clause
"""Transforms in one call, in the manner of numpy.fft and scipy.fft, on distributed arrays."""
import numpy as np
from mpi4py import MPI

from redist._redist import _cache

from ._fftnd import Plan

_KEPT = 8  # plans of these functions for each communicator
_COMMON = """
    The array is one rank's part. Usually the ranks are a grid of one dimension: the physical array is split along its
    first axis and the spectral one along its second axis, both in balanced blocks (redist.decompose), and the global
    extents follow from the parts; a complex array of one axis has the parts of Plan(comm, shape, "c2c"). With `shape`
    they are given, and `grid` (and the other keywords of Plan) may choose another distribution.

    The plans of the last 8 kinds of calls on a communicator are kept. A program that transforms the same arrays again
    and again uses Plan, which measures and takes memory that the ranks share.

    Args:
        a: this rank's part, of float32, float64, complex64 or complex128 (NumPy arrays of other types are converted)
        comm: the ranks; None = mpi4py.MPI.COMM_WORLD{args}
        shape: global extents of the physical array; None = from the parts{even}; must agree
        norm: "backward" (the inverse divides), "forward", "ortho", or "none"; must agree
        out: where the result goes; None = a new array
        options: keywords of Plan (grid, threads, method, space, ...); must agree
    Returns:
        this rank's part of the result
    Collective on comm. Errors: redist.Error, and TypeError or ValueError on a rank whose array does not fit."""


def _global_shape(a, comm, split, real_from_halved):
    """The global extents of an array that is split along one axis; the last one may be that of a halved axis."""
    shape = list(a.shape)
    split = min(split, len(shape) - 1)
    shape[split] = comm.allreduce(shape[split])
    if real_from_halved:
        shape[-1] = 2 * (shape[-1] - 1)
    return tuple(shape)


def _plan(comm, shape, kind, dtype, norm, options):
    """A kept plan, or a new one in the place of the one that was not used for longest. All ranks do the same."""
    options.setdefault("effort", "estimate")
    if len(shape) == 1:
        options.setdefault("alignment", "input")
    else:
        options.setdefault("grid", (comm.size,))
    key = (tuple(shape), kind, np.dtype(dtype).char, norm, repr(sorted(options.items())))
    kept = _cache(comm)
    plan = kept.pop(key, None)
    if plan is None:
        if len(kept) >= _KEPT:
            kept.pop(next(iter(kept))).free()
        plan = Plan(comm, shape, kind, dtype, scaling=norm, **options)
    kept[key] = plan
    return plan


def _as_type(a, kinds):
    """A NumPy array of another type becomes one that can be transformed."""
    if isinstance(a, (np.ndarray, list, tuple, float, int, complex)):
        a = np.asarray(a)
        if a.dtype.kind not in kinds or a.dtype.char not in "fdFD":
            single = a.dtype.char in "fFe"
            a = a.astype({"f": "f" if single else "d", "c": "F" if single else "D"}[kinds])
    return a


def _type_of(a):
    name = str(a.dtype).rsplit(".", 1)[-1]  # of PyTorch: torch.float64
    return np.dtype(name)


def _forward(a, comm, shape, kind, norm, out, options, kinds):
    comm = MPI.COMM_WORLD if comm is None else comm
    a = _as_type(a, kinds)
    shape = _global_shape(a, comm, 0, False) if shape is None else shape
    return _plan(comm, shape, kind, _type_of(a), norm, options).forward(a, out)


def _backward(a, comm, shape, kind, norm, out, options, kinds):
    comm = MPI.COMM_WORLD if comm is None else comm
    a = _as_type(a, kinds)
    shape = _global_shape(a, comm, 1, kind == "r2c") if shape is None else shape
    return _plan(comm, shape, kind, _type_of(a), norm, options).backward(a, out)


def _real_to_real(name, type):
    if type not in (1, 2, 3, 4):
        raise ValueError(f"type is {type!r}; it is 1, 2, 3 or 4")
    return f"{name}{type}"


def fftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _forward(a, comm, shape, "c2c", norm, out, options, "c")


def ifftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _backward(a, comm, shape, "c2c", norm, out, options, "c")


def rfftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _forward(a, comm, shape, "r2c", norm, out, options, "f")


def irfftn(a, comm=None, shape=None, norm="backward", out=None, **options):
    return _backward(a, comm, shape, "r2c", norm, out, options, "c")


def dctn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _forward(a, comm, shape, _real_to_real("dct", type), norm, out, options, "f")


def idctn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _backward(a, comm, shape, _real_to_real("dct", type), norm, out, options, "f")


def dstn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _forward(a, comm, shape, _real_to_real("dst", type), norm, out, options, "f")


def idstn(a, comm=None, type=2, shape=None, norm="backward", out=None, **options):
    return _backward(a, comm, shape, _real_to_real("dst", type), norm, out, options, "f")


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
