# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints: several distributed arrays and parameters in one file.

CheckpointField = namedtuple("CheckpointField", "shape type itemsize")
CheckpointField.__doc__ = """A field of a checkpoint: global extents, the C name of its numbers, bytes of an element."""
CheckpointInfo = namedtuple("CheckpointInfo", "fields parameters seconds version")
CheckpointInfo.__doc__ = """What a checkpoint has.

fields is a dictionary of names and CheckpointField; parameters are as read_checkpoint returns them; seconds is when it
was written, as time.time(); version is that of the library that wrote it."""


def _packed(parameters):
    """Parameters as bytes."""
    if not isinstance(parameters, dict):
        return bytes(memoryview(_arguments.instance("parameters", parameters, (bytes, bytearray, memoryview),
                                                    "bytes, or a dictionary that JSON can have")))
    try:
        return json.dumps(parameters, default=lambda value: value.tolist()).encode()
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"parameters is {_arguments.shown(parameters)}; JSON has numbers, strings, lists and dictionaries "
                        "of these") from None


def _unpacked(data):
    """Parameters as they were packed: a dictionary, if the bytes are one."""
    try:
        found = json.loads(data) if data[:1] == b"{" else None
    except ValueError:
        found = None
    return found if isinstance(found, dict) else data


cdef object _read_info(object comm, object path):
    cdef MPI_Comm c = comm_of(comm)
    cdef redist_checkpoint_info *info = NULL
    cdef const redist_checkpoint_field *field
    cdef const char *name = NULL
    cdef int code
    try:
        held = _arguments.filename("path", path)
        name = <bytes>held
    except BaseException as error:
        refuse(error)
        with nogil:
            redist_checkpoint_get_info(c, NULL, &info)
        raise refused(error)
    with nogil:
        code = redist_checkpoint_get_info(c, name, &info)
    check(code)
    try:
        fields = {}
        for i in range(info.nfields):
            field = info.fields[i]
            shape = tuple([field.sizes[k] for k in range(field.ndims)])
            fields[field.name.decode(errors="replace")] = CheckpointField(shape, field.type.decode(), field.element_bytes)
        parameters = (<const char *>info.parameters)[:info.parameter_bytes] if info.parameter_bytes > 0 else b""
        return CheckpointInfo(fields, parameters, info.seconds, tuple([info.version[i] for i in range(3)]))
    finally:
        redist_checkpoint_info_free(&info)


def checkpoint_info(path, comm=None):
    """What a checkpoint has, without the data of its fields.

    Args:
        path: name of the file; must agree
        comm: the ranks; must agree; None = this one alone
    Returns:
        CheckpointInfo
    Collective on comm. Errors: Error, also for a file that is no checkpoint or damaged, TypeError, ValueError.
    """
    info = _read_info(MPI.COMM_SELF if comm is None else comm, path)
    return info._replace(parameters=_unpacked(info.parameters))


cdef object _write_checkpoint(bint starts, object comm, object path, object fields, object parameters, keep,
                              writers_per_node, piece_bytes):
    cdef Owner owner = owner_of(comm) if starts else None
    cdef MPI_Comm c = comm_of(comm)
    cdef redist_checkpoint_request *request = NULL
    cdef redist_checkpoint_options options
    cdef Fields given
    cdef const char *name = NULL
    cdef const char *data = NULL
    cdef size_t nbytes = 0
    cdef int code
    redist_checkpoint_options_init(&options, sizeof(options))
    try:
        held = _arguments.filename("path", path), _packed(parameters)
        name, data, nbytes = <bytes>held[0], <bytes>held[1], len(held[1])
        given = Fields(fields, False, True)
        options.keep = _arguments.integer("keep", keep, 0, _C_INT[1])
        options.writers_per_node = _arguments.integer("writers_per_node", writers_per_node, 0, _C_INT[1])
        options.piece_bytes = _arguments.integer("piece_bytes", piece_bytes, 0)
    except BaseException as error:
        refuse(error)
        with nogil:
            redist_checkpoint_write(c, NULL, 0, NULL, NULL, 0, NULL)
        raise refused(error)
    with nogil:
        if starts:
            code = redist_checkpoint_write_start(c, name, given.number, given.fields, data, nbytes, &options, &request)
        else:
            code = redist_checkpoint_write(c, name, given.number, given.fields, data, nbytes, &options)
    check(code)
    if starts:
        return _started(owner, path, request, <release_function>redist_checkpoint_wait)


def write_checkpoint(comm, path, fields, parameters=b"", *, keep=0, writers_per_node=0, piece_bytes=0):
    """Writes a checkpoint: at any moment `path` is a complete one, if it was one before.

    Args:
        comm: the ranks; must agree
        path: name of the file, on a file system that all nodes see; must agree
        fields: a dictionary of names and Field; names and order must agree
        parameters: the program's own data: bytes, or a dictionary that JSON can have (numbers and arrays of NumPy become
            numbers and lists); must agree
        keep: how many earlier checkpoints remain, as `path`.1 (the newest), `path`.2 ...; must agree
        writers_per_node, piece_bytes: as in redist_checkpoint.h
    Collective on comm. Errors: as write(); `path` and earlier checkpoints are then unchanged.
    """
    _write_checkpoint(False, comm, path, fields, parameters, keep, writers_per_node, piece_bytes)


def write_checkpoint_start(comm, path, fields, parameters=b"", *, keep=0, writers_per_node=0, piece_bytes=0):
    """Starts a write_checkpoint(), which wait() of the result completes: then the file has its name. On return the arrays
    may be changed: the writers have copies of their stripes, and threads write them.

    Returns:
        a Write
    Collective on comm. Errors: as write_checkpoint; later ones from wait().
    """
    return _write_checkpoint(True, comm, path, fields, parameters, keep, writers_per_node, piece_bytes)


def read_checkpoint(comm, path, fields, *, convert=False, writers_per_node=0):
    """Reads fields of a checkpoint by their names, on any number of ranks, in any distribution and memory order.

    Args:
        comm: the ranks; must agree
        path: name of the file; must agree
        fields: a dictionary of names and Field, some or all of those that the file has, with its extents and elements
        convert: single precision may be read into arrays in double precision, and the other way round; must agree
        writers_per_node: ranks of a node that read; 0 = choose; must agree
    Returns:
        the parameters: a dictionary if they are one of JSON, else bytes
    Collective on comm. Errors: as write(), also for a file that is no checkpoint, or damaged. Arrays are unchanged, but
    after damage in the data of a field, which the message names, they are undefined.
    """
    cdef MPI_Comm c = comm_of(comm)
    cdef redist_checkpoint_options options
    cdef Fields given
    cdef const char *name = NULL
    cdef char *data
    cdef size_t nbytes
    cdef int code
    held = _read_info(comm, path).parameters
    redist_checkpoint_options_init(&options, sizeof(options))
    try:
        path = _arguments.filename("path", path)
        name = <bytes>path
        given = Fields(fields, True, True)
        options.convert = _arguments.flag("convert", convert)
        options.writers_per_node = _arguments.integer("writers_per_node", writers_per_node, 0, _C_INT[1])
    except BaseException as error:
        refuse(error)
        with nogil:
            redist_checkpoint_read(c, NULL, 0, NULL, NULL, 0, NULL)
        raise refused(error)
    found = bytearray(held)
    data, nbytes = found, len(found)
    with nogil:
        code = redist_checkpoint_read(c, name, given.number, given.fields, data if nbytes > 0 else NULL, nbytes, &options)
    check(code)
    return _unpacked(bytes(found))
