# SPDX-License-Identifier: BSD-3-Clause
"""Calls with a wrong argument, as newcomers give them, on one rank only: that rank gets a TypeError or ValueError, the
others an ArgumentError, and all of them read the same sentence, with the argument, its value, what is allowed, and the
rank. Nothing is touched, and the next call works."""
import re

import numpy as np
import pytest
from conftest import comm

import redist

P, RANK = comm.size, comm.rank
FAST = dict(effort="estimate")
SHAPE = (6, 5, 4)


def shape_at_fault(array):
    """Stands for the shape that an array has on the rank whose argument is wrong."""
    return "<" + "|".join(map(str, comm.allgather(array.shape))) + ">"


def on_rank(text, place):
    """A text with the shapes of a rank."""
    return re.sub("<([^>]*)>", lambda shapes: shapes[1].split("|")[place], text)


def refused(kind, words, call):
    """call(wrong) is made with a wrong argument on the first rank, then on the last one."""
    for place in sorted({0, P - 1}):
        with pytest.raises((kind, redist.ArgumentError)) as error:
            call(RANK == place)
        text = str(error.value)
        assert type(error.value) is (kind if RANK == place else redist.ArgumentError), text
        assert all(on_rank(word, place) in text for word in words) and text.endswith(f"(rank {place})"), text
        assert len(set(comm.allgather(text))) == 1, text


def strided(shape):
    return np.zeros(shape[:-1] + (2 * shape[-1],))[..., ::2]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array
