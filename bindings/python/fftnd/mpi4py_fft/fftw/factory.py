# SPDX-License-Identifier: BSD-3-Clause
"""FFTW's state of a process: precisions, wisdom, the time limit."""
import numpy as np

from redist import _arguments

from ... import _serial
from .xfftn import get_planned_FFT  # noqa: F401

fftlib = {"f": _serial, "d": _serial}


def get_fftw_lib(dtype):
    """The module for arrays of a type; None for long double, which is not built in."""
    return fftlib.get(np.dtype(dtype).char.lower())


def _files(filename):
    return (f"{filename}", False), (f"{filename}f", True)


def export_wisdom(filename):
    """Writes FFTW's wisdom: of double precision to `filename`, of single precision to the same name with an f."""
    for name, single in _files(filename):
        if not _serial.export_wisdom(name, single):
            raise OSError(f"FFTW could not write its wisdom to {name}")


def import_wisdom(filename):
    """Reads what export_wisdom wrote."""
    for name, single in _files(filename):
        if not _serial.import_wisdom(name, single):
            raise OSError(f"FFTW could not read wisdom from {name}")


def forget_wisdom():
    """Forgets FFTW's wisdom."""
    _serial.forget_wisdom()


def set_timelimit(limit):
    """Limits the time of FFTW's planner, in seconds; negative: no limit."""
    _serial.set_timelimit(_arguments.number("limit", limit))


def cleanup():
    """Forgets FFTW's wisdom. Plans stay valid."""
    forget_wisdom()
