# SPDX-License-Identifier: BSD-3-Clause
# Errors of the C libraries as exceptions; keywords as values of enums.


class Error(RuntimeError):
    """A call of the library failed. The text names the argument, its value and the rank.

    Attributes:
        code: number of the error, as in redist_base.h
        name: its name, such as "REDIST_ERR_AXIS"
    """

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code
        self.name = redist_error_name(code).decode()

    def __reduce__(self):
        return type(self), (self.code, str(self))


class ArgumentError(Error, ValueError):
    """An argument is wrong, on this rank or on another one; no array was changed."""


class OutOfMemory(Error, MemoryError):
    """There is too little memory, on this rank or on another one."""


# Names of C's arguments, and Python's names for them
_NAMES = [(re.compile(name), new) for name, new in (
    (r"\b(options|halo)(->|\.)", ""), (r"\bsizes_([ab])\b", r"\1.shape"), (r"\bsizes\b", "shape"),
    (r"\bbox_([ab])\b", r"axis_\1"), (r"\br2r\b", "kind"), (r"\bprecision( =|:)", r"precision of dtype\1"), (r"->", "."))]


def _error(int code):
    """The exception of a code, with the message of the last failed call of this thread."""
    text = redist_error_message().decode(errors="replace") or redist_error_string(code).decode()
    for name, new in _NAMES:
        text = name.sub(new, text)
    if code <= REDIST_ERR_METHOD:
        return ArgumentError(code, text)
    return (OutOfMemory if code == REDIST_ERR_MEMORY else Error)(code, text)


cdef int check(int code) except -1:
    if code:
        raise _error(code)
    return 0


def _said(error):
    """The text of an exception for the other ranks."""
    return str(error) if isinstance(error, (TypeError, ValueError)) else f"{type(error).__name__}: {error}"


def _with_rank(error):
    """The exception, with its rank, as those of the library."""
    if isinstance(error, (TypeError, ValueError)) and not isinstance(error, Error) and len(error.args) == 1:
        error.args = (f"{error} (rank {MPI.COMM_WORLD.Get_rank()})",)
    return error


cdef int refuse(object error) except -1:
    """Refuses an argument that cannot be passed on: the next call of the library fails on all ranks, which read this
    text, so that none waits for this one. After that call: raise refused(error)."""
    cdef bytes text = _said(error).encode(errors="replace")
    redist_refuse(text)
    return 0


cdef object refused(object error):
    """The exception for this rank, with its number; withdraws the refusal."""
    redist_refuse(NULL)
    return _with_rank(error)


cdef int choice(str name, object value, dict choices) except -1:
    """The number of a keyword's value."""
    return choices[_arguments.one_of(name, value, choices)]


_SPACES = {"auto": REDIST_SPACE_AUTO, "host": REDIST_SPACE_HOST, "cuda": REDIST_SPACE_CUDA}
_MEMORIES = {"host": REDIST_SPACE_HOST, "cuda": REDIST_SPACE_CUDA}
_STAGINGS = {"auto": REDIST_STAGING_AUTO, "always": REDIST_STAGING_ALWAYS, "never": REDIST_STAGING_NEVER}
_EFFORTS = {"measure": REDIST_MEASURE, "estimate": REDIST_ESTIMATE}
_BINDINGS = {"plan": REDIST_BIND_AT_PLAN, "execution": REDIST_BIND_AT_EXECUTION,
             "mapped": REDIST_BIND_AT_EXECUTION_MAPPED}
_WIRES = {"same": REDIST_WIRE_SAME, "float": REDIST_WIRE_FLOAT, "16 bits": REDIST_WIRE_16_BITS}
_WIRE_SCOPES = {"between nodes": REDIST_WIRE_BETWEEN_NODES, "everywhere": REDIST_WIRE_EVERYWHERE}
_OVERLAPS = {"refused": REDIST_OVERLAP_REFUSED, "read": REDIST_OVERLAP_READ, "add": REDIST_OVERLAP_ADD}
_DIRECTIONS = {"forward": REDIST_FORWARD, "backward": REDIST_BACKWARD}
_HALO_DIRECTIONS = {"fill": REDIST_FILL, "accumulate": REDIST_ACCUMULATE}


_ERR_ARGUMENT = REDIST_ERR_ARGUMENT
_C_INT = -2**31, 2**31 - 1  # what an int of C can be


def version():
    """The version of the loaded C library, as a tuple of three numbers."""
    cdef int major, minor, patch
    redist_version(&major, &minor, &patch)
    return major, minor, patch
