# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of the packages, checked: what does not fit is a TypeError or ValueError that names the argument, its value,
and what is allowed."""
import math
import operator
import os
import reprlib
from collections.abc import Iterable, Mapping, Set

import numpy as np
from mpi4py import MPI

_INDEX = 2**63
_repr = reprlib.Repr()
_repr.maxtuple = _repr.maxlist = 16
_repr.maxstring = _repr.maxother = 80


def shown(value):
    """A value in a message: an array by its properties, others in at most a line."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"an array of {value.dtype} with the shape {tuple(value.shape)}"
    text = " ".join(_repr.repr(value).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def integer(name, value, low=-_INDEX, high=_INDEX - 1):
    """A whole number: neither a truth value nor a float, which int() would truncate."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        hint = f": {int(value)}, or // in place of /" if isinstance(value, float) and value.is_integer() else ""
        raise TypeError(f"{name} is {shown(value)}; it is an integer{hint}") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}; it is from {low} to {high}")
    return number


def sequence(name, value, what, length=None, each=None):
    """The values of a sequence as a tuple; `each` names the items of which the length is the number."""
    if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{name} is {shown(value)}; it is a sequence of {what}"
                        + (f", one for each {each}" if each else ""))
    values = tuple(value)
    if length is not None and len(values) != length:
        raise ValueError(f"{name} is {shown(value)}, of {len(values)} values; it has {length}, one for each {each}")
    return values


def integers(name, value, length=None, each=None, low=-_INDEX, high=_INDEX - 1):
    """A tuple of whole numbers."""
    values = sequence(name, value, "integers", length, each)
    return tuple([integer(f"{name}[{i}]", one, low, high) for i, one in enumerate(values)])


def shape(name, value, ndims):
    """A tuple of extents, one for each of at most `ndims` axes."""
    extents = integers(name, value, each="axis", low=0)
    if len(extents) > ndims:
        raise ValueError(f"{name} is {shown(value)}, of {len(extents)} extents; at most {ndims} are possible")
    return extents


def number(name, value):
    """A float of a real number."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; it is a real number") from None


def numbers(name, value, length=None, each=None):
    """A tuple of floats."""
    values = sequence(name, value, "numbers", length, each)
    return tuple([number(f"{name}[{i}]", one) for i, one in enumerate(values)])


def flag(name, value):
    """A truth value: True, False, or the numbers 1 and 0."""
    if isinstance(value, (bool, np.bool_, int, np.integer)) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} is {shown(value)}; it is True or False")


def one_of(name, value, choices):
    """A keyword's value, one of several strings."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {shown(value)}; it is one of {', '.join(repr(key) for key in choices)}")
    return value


def text(name, value):
    """The bytes of a string, or None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}; it is a string, or None")
    if "\0" in value:  # for C the end
        raise ValueError(f"{name} is {shown(value)}; it is a string without the character 0")
    return value.encode()


def path(name, value):
    """The bytes of the name of a file, or None."""
    if value is None:
        return None
    try:
        return os.fsencode(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; it is the name of a file, or None") from None


def filename(name, value):
    """The bytes of the name of a file."""
    found = None if value is None else path(name, value)
    if not found or b"\0" in found:
        raise (TypeError if value is None else ValueError)(f"{name} is {shown(value)}; it is the name of a file")
    return found


def dtype(name, value):
    """A type of elements that can be moved, without references to Python's objects."""
    try:
        found = np.dtype(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; it is a type of NumPy, such as float or 'complex64'") from None
    if found.hasobject or found.itemsize == 0:
        raise TypeError(f"{name} is {found}; elements are numbers, or structures of a fixed size")
    return found


def size(name, extents, itemsize):
    """Bytes of an array."""
    nbytes = math.prod(extents) * itemsize
    if nbytes >= _INDEX:
        raise ValueError(f"{name} is {extents}; that is {nbytes} bytes, more than a machine can address")
    return nbytes


def axis(name, value, ndims):
    """The number of an axis; negative ones count from the end."""
    return integer(name, value, -ndims, ndims - 1) % ndims


def instance(name, value, kind, what):
    """A value of a class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {shown(value)}; it is {what}")
    return value


def communicator(name, value):
    """A communicator of mpi4py."""
    return instance(name, value, MPI.Comm, "a communicator of mpi4py, such as MPI.COMM_WORLD")


def array_like(name, value, own, written):
    """An array for elements of another one: with its shape, and a matching type."""
    there = instance(name, value, np.ndarray, "an array of NumPy") if written else np.asarray(value)
    if there.shape != own.shape:
        raise ValueError(f"{name} has the shape {there.shape}; that of the transform has {own.shape} on this rank")
    types = (own.dtype, there.dtype) if written else (there.dtype, own.dtype)
    if not np.can_cast(*types, "same_kind"):
        raise TypeError(f"{name} is of {there.dtype}; that of the transform is of {own.dtype}")
    if written and not there.flags.writeable:
        raise ValueError(f"{name} cannot be written: it is read-only, and the result goes there")
    return value


def _text(failure):
    from . import _redist
    return None if failure is None else f"{_redist._said(failure)} (rank {MPI.COMM_WORLD.Get_rank()})"


def _raise(failure, text):
    from . import _redist
    if failure is not None:
        raise _redist._with_rank(failure)
    raise _redist.ArgumentError(_redist._ERR_ARGUMENT, text)


def agree(comm, failure, flags=()):
    """The bits of each flag that all ranks have set; an error on all if one has a failure. Collective."""
    flags = np.array([failure is None, *flags], "u1")
    comm.Allreduce(MPI.IN_PLACE, [flags, MPI.BYTE], MPI.BAND)
    if not flags[0]:
        _raise(failure, next(filter(None, comm.allgather(_text(failure)))))
    return flags[1:].tolist()


def agree_along(comms, failure):
    """An error on all ranks of a grid, if one has a failure; the grid is given by the communicators along its axes.
    Collective on the grid."""
    comms = [comm for comm in comms if comm.Get_size() > 1]
    fine = np.array([failure is None], "u1")
    for comm in comms:
        comm.Allreduce(MPI.IN_PLACE, [fine, MPI.BYTE], MPI.BAND)
    if fine[0]:
        return
    text = _text(failure)
    for comm in comms:
        text = next(filter(None, comm.allgather(text)), None)
    _raise(failure, text)


def attempt(check, *given):
    """The result of a check of arguments and None, or None and its exception."""
    try:
        return check(*given), None
    except Exception as error:
        return None, error


def agreed(comm, check, *given):
    """The result of a check of arguments, a dictionary of those that are the same on all ranks; an error on all ranks
    if the check raises on one, or if one differs from the first rank. Collective."""
    found, failure = attempt(check, *given)
    agree(comm, failure)
    first = comm.bcast(found)
    for name, value in found.items():
        if value != first[name]:
            failure = ValueError(f"{name} is {shown(value)}; on the first rank it is {shown(first[name])}")
    agree(comm, failure)
    return found
