# SPDX-License-Identifier: BSD-3-Clause
"""Serial transforms of FFTW, as mpi4py-fft's module of this name has them."""
from .xfftn import *  # noqa: F401,F403
from .factory import (cleanup, export_wisdom, fftlib, forget_wisdom, get_fftw_lib, get_planned_FFT,  # noqa: F401
                      import_wisdom, set_timelimit)
