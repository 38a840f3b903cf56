# SPDX-License-Identifier: BSD-3-Clause
"""The extension module of package redist: redist/__init__.py has the public names."""
cimport cython
from cpython.buffer cimport (PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer,
                             PyObject_GetBuffer)
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from redist.c cimport *

import json
import re
from collections import namedtuple

from mpi4py import MPI
import numpy as np

from redist import _arguments, _streams

include "errors.pxi"
include "lifetime.pxi"
include "views.pxi"
include "memory.pxi"
include "grid.pxi"
include "plan.pxi"
include "halo.pxi"
include "files.pxi"
include "checkpoint.pxi"
