# SPDX-License-Identifier: BSD-3-Clause
# Lifetimes of objects.
#
# The C libraries free plans, grids and mapped memory in collective calls. Python's garbage collector runs at
# different times on different ranks, so it must not make such calls: when it destroys an object, the object's
# handle is only marked as dropped. Each communicator has a list of the handles that were made on it and are not
# freed; since making and freeing are collective, the list is the same on all ranks. In the next call that makes
# something on the communicator, in collect(), or when the communicator is freed, one small MPI_Allreduce finds
# the handles that all ranks have dropped, and all ranks free these in the order of the list, plans first.
# MPI_Finalize frees the remaining ones.

cdef str _library():
    cdef char text[MPI_MAX_LIBRARY_VERSION_STRING]
    cdef int length
    MPI_Get_library_version(text, &length)
    return text[:length].decode(errors="replace")


def _check_mpi():
    """Refuses an mpi4py of another MPI library, whose handles are invalid here."""
    ours = _library().rstrip("\0")
    theirs = MPI.Get_library_version().rstrip("\0")
    if ours != theirs or MPI._sizeof(MPI.Comm) != sizeof(MPI_Comm) or comm_of(MPI.COMM_WORLD) != MPI_COMM_WORLD:
        raise ImportError(
            f"redist was built for another MPI library than mpi4py uses: here {ours.splitlines()[0]!r}, "
            f"mpi4py {theirs.splitlines()[0]!r}; install the package for mpi4py's MPI library, or set "
            "MPI4PY_MPIABI so that mpi4py takes this one")


cdef MPI_Comm comm_of(object comm) except *:
    """mpi4py's communicator. Its handle is read at the address that mpi4py publishes for C; so a build of this
    module serves all versions of mpi4py."""
    _arguments.communicator("comm", comm)
    return redist_py_comm(<const void *><uintptr_t>MPI._addressof(comm))


cdef object comm_from(MPI_Comm comm):
    """An mpi4py communicator of a handle, without ownership."""
    result = MPI.Intracomm()
    redist_py_set_comm(<void *><uintptr_t>MPI._addressof(result), comm)
    return result


cdef class Owner:
    """The objects of a communicator that are not freed: an attribute of the communicator."""

    def __init__(self, comm):
        self.comm = comm
        self.living = []
        self.cache = []


cdef class Handle:
    """One object of a C library."""


cdef object _keyval = None


def _comm_is_freed(comm, keyval, owner):
    """Runs on all ranks when the program frees a communicator."""
    (<Owner>owner).cache.clear()
    _collect(owner)
    (<Owner>owner).comm = None


cdef Owner owner_of(object comm):
    """The communicator's list. Collective: frees the objects that all ranks have dropped."""
    global _keyval
    if _keyval is None:
        _keyval = MPI.Comm.Create_keyval(delete_fn=_comm_is_freed)
    comm_of(comm)
    if comm == MPI.COMM_NULL:  # the C libraries refuse it
        return Owner(comm)
    cdef Owner owner = comm.Get_attr(_keyval)
    if owner is None:
        owner = Owner(comm)
        comm.Set_attr(_keyval, owner)
    _collect(owner)
    return owner


cdef Handle own(Owner owner, void *object, release_function release, Release order):
    """Enters a new object in the list of its communicator, on all ranks."""
    cdef Handle handle = Handle()
    handle.object = object
    handle.release = release
    handle.order = order
    handle.owner = owner
    owner.living.append(handle)
    return handle


cdef void *alive(Handle handle, str what) except NULL:
    """An object that is not freed."""
    if handle is None or handle.object == NULL:
        raise Error(REDIST_ERR_STATE, f"{what} {'was not made' if handle is None else 'was freed'}: it cannot be used "
                    f"{'' if handle is None else 'after free(), nor behind its `with`'}".rstrip())
    return handle.object


cdef int free_handle(Handle handle) except -1:
    """Frees an object now. Collective; does nothing if it was freed."""
    cdef int code
    if handle is None or handle.object == NULL:
        return 0
    with nogil:
        code = handle.release(&handle.object)
    if handle.object == NULL and handle in handle.owner.living:
        handle.owner.living.remove(handle)
    return check(code)


cdef void _release(Handle handle) noexcept:
    """Frees a dropped object. What fails goes to sys.unraisablehook, as in a destructor: this rank must not leave a
    collective call that the others go on with, and the lists of all ranks stay the same."""
    try:
        free_handle(handle)
    finally:  # an operator of a plan at work is freed later, with the plan at the latest
        if handle.order != RELEASE_OPERATOR and handle in handle.owner.living:
            handle.owner.living.remove(handle)


cdef int _collect(Owner owner) except -1:
    """Frees the objects that all ranks have dropped. Collective."""
    cdef int number = len(owner.living)
    cdef bytearray dropped
    cdef uint8_t *flags
    cdef MPI_Comm comm
    cdef int finalized
    cdef Handle handle
    MPI_Finalized(&finalized)
    if number == 0 or finalized or owner.comm is None:
        return 0
    dropped = bytearray((<Handle>item).dropped for item in owner.living)
    flags = dropped
    comm = comm_of(owner.comm)
    with nogil:
        MPI_Allreduce(MPI_IN_PLACE, flags, number, MPI_BYTE, MPI_BAND, comm)
    garbage = [item for flag, item in zip(dropped, owner.living) if flag]
    for order in range(RELEASE_MEMORY + 1):
        for item in garbage:
            handle = item
            if handle.order == order:
                _release(handle)
    return 0


def collect(comm):
    """Frees the plans, grids and arrays of a communicator that all ranks have dropped.

    Every call that makes something on `comm` does this too, and so does `comm.Free()`; a program calls it where it
    has dropped something large and makes nothing for long.

    Args:
        comm: the communicator on which they were made (mpi4py.MPI.Comm)
    Returns:
        number of remaining objects of this communicator
    Collective on comm.
    """
    return len(owner_of(comm).living)


def subcomm(comm, ndims):
    """Splits a communicator in the one-dimensional subgroups of a balanced Cartesian grid.

    Args:
        comm: the ranks to arrange
        ndims: grid dimensions; must agree
    Returns:
        list of `ndims` communicators; the caller frees each of them with `Free`
    Collective on comm. Errors: Error, and TypeError or ValueError on a rank whose argument is wrong.
    """
    cdef MPI_Comm c = comm_of(comm)
    cdef MPI_Comm[REDIST_MAX_NDIMS] found
    cdef int number, code
    try:
        number = _arguments.integer("ndims", ndims, 1, REDIST_MAX_NDIMS)
    except BaseException as error:
        refuse(error)
        with nogil:
            redist_subcomm(c, -1, found)
        raise refused(error)
    with nogil:
        code = redist_subcomm(c, number, found)
    check(code)
    return [comm_from(found[i]) for i in range(number)]


def decompose(n, nparts, part):
    """Balanced block decomposition: the first n % nparts parts have one element more.

    Args:
        n: number of elements
        nparts: number of parts
        part: number of the part, 0 <= part < nparts
    Returns:
        (count, start): elements in this part and the index of its first one
    Not collective. Errors: ArgumentError, TypeError, ValueError.
    """
    cdef redist_index count, start
    check(redist_decompose(_arguments.integer("n", n), _arguments.integer("nparts", nparts, *_C_INT),
                           _arguments.integer("part", part, *_C_INT), &count, &start))
    return count, start


def _cache(comm):
    """A list that lives as long as the communicator; fftnd keeps plans there. Collective."""
    owner = None if _keyval is None else comm.Get_attr(_keyval)
    return (<Owner>(owner_of(comm) if owner is None else owner)).cache
