# SPDX-License-Identifier: BSD-3-Clause
"""The extension module of package fftnd: see fftnd/__init__.py for what users see."""
cimport cython
from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport uintptr_t
from libc.string cimport memset
from redist.c cimport *
from redist._redist cimport (Handle, Owner, RELEASE_FFT, RELEASE_OPERATOR, View, check, choice, comm_from, comm_of,
                             contiguous, fill_box, free_handle, own, owner_of, read_dims, release_function,
                             text_or_none, view_of)
from fftnd.c cimport *

from collections import namedtuple

import numpy as np

from redist import Memory, _streams, as_array
from redist._redist import _DIRECTIONS, _SPACES, _STAGINGS

include "options.pxi"
include "plan.pxi"
include "operator.pxi"
