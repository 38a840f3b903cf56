# SPDX-License-Identifier: BSD-3-Clause
"""The interface of mpi4py-fft 2.0.6 on fftnd and redist: `import fftnd.mpi4py_fft as mpi4py_fft`.

What differs from mpi4py-fft:

- A PFFT of all axes with the backend "fftw" is one plan of fftnd; others are serial transforms and exchanges, one after
  the other, as in mpi4py-fft.
- Axes that are transformed together are whole then, or PFFT refuses them; mpi4py-fft transforms the local parts of
  those that are split.
- A wrong argument is a TypeError or ValueError on all ranks, where mpi4py-fft has an AssertionError on one.
- Parts of arrays may be empty: there may be more ranks than rows.
- Truncation and padding of real axes follow fftnd_options.retained_modes (fftnd.h). mpi4py-fft halves and doubles the
  last mode if N/2 + 1 is even, where the number of modes N has to be.
- Files are written in parallel where h5py and netCDF4 can, else by one rank after the other. DistArray.get needs no
  h5py.
- Module fftw has FFTW's transforms in double and single precision; there is no long double.
"""
from . import fftw
from .distarray import DistArray, Function, newDistArray
from .fftw import fftlib
from .io import HDF5File, NCFile, generate_xdmf
from .mpifft import PFFT

__version__ = "2.0.6"
__all__ = ["DistArray", "Function", "HDF5File", "NCFile", "PFFT", "fftlib", "fftw", "generate_xdmf", "newDistArray"]
