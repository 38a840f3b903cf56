# SPDX-License-Identifier: BSD-3-Clause
"""The extension module of package fftnd: fftnd/__init__.py has the public names."""
cimport cython
from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport uintptr_t
from libc.string cimport memset
from redist.c cimport *
from redist._redist cimport (Field, Handle, Owner, RELEASE_FFT, RELEASE_OPERATOR, View, alive, check, choice, comm_from, comm_of,
                             contiguous, fill_box, fill_halo, free_handle, own, owner_of, read_dims, refuse, refused,
                             release_function, type_of_elements, view_of)
from fftnd.c cimport *

from collections import namedtuple

import numpy as np

import redist
from redist import Halo, Memory, _arguments, _streams
from redist._redist import _C_INT, _DIRECTIONS, _SPACES, _STAGINGS, _WIRES, _WIRE_SCOPES, array_in

include "options.pxi"
include "plan.pxi"
include "operator.pxi"
include "field.pxi"
