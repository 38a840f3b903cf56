# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in device memory: of CuPy where there is a device, else of the stand-in that tools/test/python.sh loads in the
place of both libraries, whose device is memory of the host, and whose streams are threads."""
import ctypes
import sys
import types

import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI
from test_fftnd import close
from test_ghosts import Transform, modes_of

import fftnd
import redist

P, RANK = comm.size, comm.rank
FAST = dict(effort="estimate", space="cuda")
try:
    import cupy
    stand_in = None
    missing = None if cupy.cuda.is_available() else "CuPy has no device"
except ImportError:
    stand_in = ctypes.CDLL(None)
    missing = None if hasattr(stand_in, "stream_device_create") else "no CuPy, and no stand-in for a device is loaded"
pytestmark = pytest.mark.skipif(missing is not None, reason=str(missing))


class Stream:
    """A stream of the stand-in, as array libraries have them."""

    def __init__(self):
        stand_in.stream_device_create.restype = ctypes.c_void_p
        self.ptr = stand_in.stream_device_create()

    def synchronize(self):
        stand_in.stream_device_wait(ctypes.c_void_p(self.ptr))


def new_stream():
    return Stream() if stand_in else cupy.cuda.Stream(non_blocking=True)


class CuPyOnHost(types.ModuleType):
    """What functions of boxes need of CuPy, on the stand-in's device: arrays of NumPy, when the stream's work is done."""

    class Stream:
        from_external = staticmethod(lambda stream: CuPyOnHost.Stream(stream.__cuda_stream__()[1]))

        def __init__(self, pointer):
            self.pointer = pointer

        def __enter__(self):
            stand_in.stream_device_wait(ctypes.c_void_p(self.pointer))

        def __exit__(self, *exception):
            pass

    def __init__(self):
        super().__init__("cupy")
        self.cuda = types.ModuleType("cupy.cuda")
        self.cuda.Stream = self.cuda.ExternalStream = self.Stream
        self.cuda.UnownedMemory = lambda address, nbytes, owner: (ctypes.c_char * nbytes).from_address(address)
        self.cuda.MemoryPointer = lambda memory, offset: memory
        self.asnumpy = np.array
        self.ndarray = lambda shape, dtype, memory, strides: np.ndarray(shape, dtype, memory, 0, strides)


class HostView:
    """What an array on the stand-in's device looks like from the host."""

    def __init__(self, array):
        self.__array_interface__ = {**array.__cuda_array_interface__}
        self.array = array


def view(array):
    """The elements, to read and to write, when all work is done; a copy of CuPy's, to read."""
    if stand_in:
        stand_in.stream_device_wait(None)
        return np.asarray(HostView(array))
    return cupy.asnumpy(array)


def put(array, values):
    if stand_in:
        view(array)[...] = values
    else:
        array[...] = cupy.asarray(values)
    return array


def on_device(values):
    """A device array with these values, in C order."""
    return put(redist.empty(values.shape, values.dtype, comm, "cuda"), values)


class OnlyDLPack:
    """A device array with nothing but DLPack: the capsule of a view from the host, which says otherwise."""

    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        capsule = view(self.array).__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        ctypes.c_int32.from_address(pointer(capsule, b"dltensor") + 8).value = 2  # DLTensor.device.device_type
        return capsule


class WithoutStream(OnlyDLPack, bytes):
    """Of PyTorch and JAX: the interface names no stream, and a buffer means nothing."""

    def __new__(cls, array):
        return super().__new__(cls)

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, "version": 2}


def split(full, axis):
    count, start = redist.decompose(full.shape[axis], P, RANK)
    return np.ascontiguousarray(np.take(full, range(start, start + count), axis))


@pytest.mark.parametrize("method", [None, *sorted(redist.methods())])
def test_exchanges(random, method):
    full = random.random((7, 6, 5))
    a, b = on_device(split(full, 0)), on_device(np.zeros_like(split(full, 2)))
    for bind in ("plan", "execution", "mapped"):
        try:
            plan = redist.Plan(comm, a, 2, b, 0, method=method, bind=bind, effort="estimate", phases=True)
        except redist.Error as error:  # needs nodes, or what only asynchronous plans have
            assert error.name == "REDIST_ERR_METHOD" and method is not None
            continue
        with plan:
            given = () if bind == "plan" else (a, b)
            put(b, 0)
            plan.forward(*given)
            assert (view(b) == split(full, 2)).all() and plan.info["space"] == "cuda"
            put(a, 0)
            plan.start("backward", *given)
            plan.wait()
            assert (view(a) == split(full, 0)).all() and plan.phases["executions"] == 2


@pytest.mark.parametrize("dtype", ["d", "F", "i", "h"])
def test_ghosts(random, dtype):
    """Filled and added on the device, in arrays of several libraries; the interior is a view of one with slices."""
    full = random.integers(0, 9, (7, 4)).astype(dtype)
    count, start = redist.decompose(7, P, RANK)
    box = redist.Box((start, 0), (count, 4)).with_ghosts((2, 0))
    rows = np.arange(start - 2, start + count + 2) % 7
    for given in (lambda array: array, WithoutStream, OnlyDLPack) if stand_in else (lambda array: array,):
        u = on_device(np.zeros(box.extent, dtype))
        with redist.HaloPlan(comm, given(u), box, (2, 0), shape=full.shape, periodic=(True, False),
                             effort="estimate") as plan:
            values = np.zeros(box.extent, dtype)
            values[box.local] = full[box.slices]
            put(u, values)
            plan.fill()
            assert plan.info["space"] == "cuda" and (view(u) == (full[rows] if count else values)).all()
            put(u, np.ones(box.extent, dtype))
            plan.start("accumulate")
            plan.wait()
            shown = np.zeros(7)
            np.add.at(shown, np.concatenate([rows[:2], rows[count + 2:]]) if count else [], 1)
            comm.Allreduce(MPI.IN_PLACE, shown)
            assert (view(u)[box.local] == 1 + shown[box.slices[0]][:, None]).all()
            with pytest.raises(ValueError, match="array is in host memory" if RANK == 0 else None):
                plan.fill(np.zeros(box.extent, dtype) if RANK == 0 else u)
    if not stand_in:
        assert plan.interior(u).shape == box.count and plan.interior(u).base is not None


def test_ghosts_are_enqueued(random):
    """Without the host, in the plan's stream, where no two ranks exchange more than one box."""
    full = random.random((3 * P, 4))
    box = redist.Box((3 * RANK, 0), (3, 4)).with_ghosts((2, 0))
    shown = slice(max(0, 3 * RANK - 2), 3 * RANK + 5)
    u, stream = on_device(np.zeros(box.extent)), new_stream()
    try:
        plan = redist.HaloPlan(comm, u, box, (2, 0), shape=full.shape, overlap="read", asynchronous=True, stream=stream,
                               effort="estimate")
    except redist.Error as error:  # ranks share a device
        assert error.name == "REDIST_ERR_METHOD" and not stand_in
        return
    with plan:
        for _ in range(3):
            values = np.zeros(box.extent)
            values[box.local] = full[box.slices]
            put(u, values)
            plan.fill()
            stream.synchronize()
            first = shown.start - (3 * RANK - 2)
            assert (view(u)[first:first + len(full[shown])] == full[shown]).all()
        plan.query()


class InStream(WithoutStream):
    """Of a library that orders its work itself: DLPack is asked before each execution."""
    __cuda_array_interface__ = property(lambda self: {key: value for key, value in
                                                      self.array.__cuda_array_interface__.items() if key != "version"})


class Tensor(OnlyDLPack):
    __module__ = "torch"


def test_plans_check_arrays_and_streams(random, monkeypatch):
    """Arrays of the host are refused on all ranks; bound arrays wait for their own stream; a shape goes with an array."""
    full = random.random((7, 6))
    a, b = on_device(split(full, 0)), on_device(np.zeros_like(split(full, 1)))
    first, fast = (InStream(a) if stand_in else a), dict(effort="estimate")
    with redist.Plan(comm, first, 1, tuple(b.shape), 0, dtype=float, bind_b="execution", **fast) as plan:
        with pytest.raises(ValueError, match="unlike those of the plan" if RANK == 0 else None):
            plan.forward(None, np.zeros(b.shape) if RANK == 0 else b)
        assert plan.info["space"] == "cuda"
        calls = len(first.streams) if stand_in else 0
        plan.forward(None, b)
        assert (view(b) == split(full, 1)).all() and (not stand_in or len(first.streams) == calls + 1)
    put(b, 0)
    second = b
    if stand_in:  # whose library's current stream is the plan's
        stream, second = new_stream(), Tensor(b)
        monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=types.SimpleNamespace(
            is_available=lambda: True, current_stream=lambda: types.SimpleNamespace(cuda_stream=stream.ptr))))
    with redist.Plan(comm, tuple(a.shape), 1, second, 0, dtype=float, bind_a="execution", **fast) as plan:
        plan.forward(a)
        assert (view(b) == split(full, 1)).all() and (not stand_in or set(second.streams) == {stream.ptr})
    with redist.Plan(comm, tuple(a.shape), 1, tuple(b.shape), 0, dtype=float, bind="execution", **fast) as plan:
        with pytest.raises(ValueError, match="unlike those of the plan" if RANK == 0 else None):
            plan.forward(a if RANK == 0 else split(full, 0), np.zeros(b.shape))


def test_exchange_of_other_libraries(random):
    """By __cuda_array_interface__ and by DLPack, and host beside device memory is refused on all ranks."""
    full = random.random((7, 6))
    a, b = on_device(split(full, 0)), on_device(np.zeros_like(split(full, 1)))
    redist.exchange(comm, a, 1, b, 0)
    assert (view(b) == split(full, 1)).all()
    if stand_in:
        put(b, 0)
        redist.exchange(comm, OnlyDLPack(a), 1, WithoutStream(b), 0)
        assert (view(b) == split(full, 1)).all()
    with pytest.raises(ValueError):
        redist.exchange(comm, a, 1, np.zeros_like(split(full, 1)) if RANK == 0 else b, 0)


@pytest.mark.parametrize("keywords", [{}, {"kind": "c2c", "dtype": "F"}, {"batch": 2}, {"scaling": "forward"},
                                      {"mapped_arrays": True}], ids=str)
def test_transforms(random, keywords):
    with fftnd.Plan(comm, (6, 5, 8), **keywords, **FAST) as plan, \
            fftnd.Plan(comm, (6, 5, 8), effort="estimate", grid=plan.info["grid"], **keywords) as host:
        values = random.random(host.physical_shape).astype(host.physical_dtype)
        a, b = plan.empty_physical(), plan.empty_spectral()
        put(a, values)
        assert plan.forward(a, b) is b
        expected = host.forward(put_host(host.empty_physical(), values), host.empty_spectral())
        tolerance = 1e-4 if host.physical_dtype.char in "fF" else 1e-12
        assert np.allclose(view(b), expected, rtol=0, atol=tolerance * 240)
        plan.start("backward", b, a)
        plan.wait()
        assert np.allclose(view(a), host.backward(expected, host.empty_physical()), rtol=0, atol=tolerance)


def put_host(array, values):
    array[...] = values
    return array


def test_in_place(random):
    with fftnd.Plan(comm, (6, 5, 7), in_place=True, **FAST) as plan:
        full = random.random((6, 5, 7))
        a = put(plan.empty_physical(), full[plan.physical_slices])
        b = plan.forward(a)
        assert b.__cuda_array_interface__["data"][0] == a.__cuda_array_interface__["data"][0] or 0 in a.shape
        assert np.allclose(view(b), np.fft.rfftn(full)[plan.spectral_slices])
        assert np.allclose(view(plan.backward(b)), full[plan.physical_slices])
    with fftnd.Plan(comm, (8, 8, 8), "c2c", complex, in_place=True, **FAST) as plan:
        with pytest.raises(ValueError, match="bytes of memory"):
            plan.apply("gradient", plan.empty_physical())


@pytest.mark.parametrize("in_place", [False, True])
def test_ghosts_of_transforms(random, in_place):
    """Added and filled on the device; with_ghosts() is a view of the same memory."""
    for dtype in ("d", "D", "f", "F"):
        case = Transform(random, dtype=dtype, in_place=in_place, space="cuda")
        with case.plan() as plan:
            full = random.integers(0, 9, (case.batch or 1, *case.shape)).astype(dtype)
            u, modes = plan.empty_physical(), None if in_place else plan.empty_spectral()
            whole = plan.with_ghosts(u)
            values = np.zeros(whole.shape, dtype)
            added = case.fill(case.fields(values), full, random)
            if values.size > 0:
                put(whole, values)
            modes = plan.forward(u, modes)
            if case.accumulates:
                full += added
            expected = modes_of(full, dtype)[(slice(None), *plan.spectral_slices)]
            assert 0 in modes.shape or close(case.fields(view(modes)), expected, dtype), case.keywords
            back = plan.with_ghosts(plan.backward(modes, None if in_place else u))
            if values.size > 0:
                case.check(case.fields(view(back)), full)


@pytest.mark.parametrize("library", [lambda array: array, WithoutStream, OnlyDLPack] if stand_in else [lambda array: array])
def test_files(random, folder, monkeypatch, library):
    """Written, read, in checkpoints and HDF5 files, and gathered by CuPy."""
    path, full = f"{folder}/u", random.random((7, 5, 4))
    local = np.zeros((*split(full, 1).shape[:2], 6))
    count, start = redist.decompose(5, P, RANK)
    box = redist.Box((0, start, 0), (7, count, 4), local.shape, (0, 0, 1))
    local[box.local] = full[box.slices]

    def fresh():
        array = on_device(np.zeros_like(local))
        return array, redist.Field(library(array), box, full.shape)

    def moved(array):
        return comm.allreduce(view(array).tobytes() == local.tobytes()) == P

    (u, field), (v, other) = fresh(), fresh()
    put(u, local)
    redist.write(comm, path, field)
    assert np.fromfile(path).tobytes() == full.tobytes()
    redist.read(comm, path, other)
    assert moved(v)
    comm.Barrier()
    redist.write_checkpoint(comm, path, {"u": field})
    v, other = fresh()
    redist.read_checkpoint(comm, path, {"u": other})
    assert moved(v)
    with fftnd.Plan(comm, full.shape, **FAST) as plan:
        a = put(plan.empty_physical(), full[plan.physical_slices])
        plan.save(path, a)
        b = put(plan.empty_physical(), 0)
        assert plan.load(path, b) is b and (view(b) == view(a)).all()
        with pytest.raises(ValueError, match="array is in host memory" if RANK == 0 else None):
            plan.save(path, np.zeros(plan.physical_shape) if RANK == 0 else a)
    try:
        with redist.HDF5(comm, f"{path}.h5", "w") as file:
            file.write({"u": field})
            v, other = fresh()
            file.read({"u": other})
            assert moved(v)
    except ImportError:  # without HDF5
        pass
    if stand_in:
        cupy_on_host = CuPyOnHost()
        with pytest.raises(TypeError, match="without CuPy"):
            redist.to_numpy(comm, field)
        monkeypatch.setitem(sys.modules, "cupy", cupy_on_host)
    assert redist.to_numpy(comm, field).tobytes() == full.tobytes()


def test_functions_of_one_call(random):
    full = random.random((6, 5, 4))
    a, b = on_device(split(full, 0)), on_device(split(np.fft.rfftn(full), 1) * 0)
    fftnd.rfftn(a, comm, out=b)
    assert np.allclose(view(b), split(np.fft.rfftn(full), 1))
    back = on_device(np.zeros_like(split(full, 0)))
    fftnd.irfftn(b, comm, out=back)
    assert np.allclose(view(back), split(full, 0))
    if stand_in:
        with pytest.raises(TypeError, match="give one as out"):
            fftnd.rfftn(a, comm)
    else:
        assert np.allclose(view(fftnd.rfftn(a, comm)), split(np.fft.rfftn(full), 1))


def test_functions_of_boxes(random, monkeypatch):
    """They get arrays of CuPy, in the stream of the operator."""
    def smooth(box):
        for i in range(2):
            box.outputs[i][...] = box.inputs[1 - i] * np.exp(-0.1 * (box.k[0] ** 2 + box.k[2] ** 2))

    with fftnd.Plan(comm, (6, 5, 4), batch=1, **FAST) as plan:
        full = random.random((2, 6, 5, 4))
        values = full[(slice(None), *plan.physical_slices)]
        a, b = on_device(values), on_device(np.zeros_like(values))
        if stand_in:
            with pytest.raises(TypeError, match="without CuPy"):
                plan.operator("modes", function=smooth, inputs=2, outputs=2)
            cupy_on_host = CuPyOnHost()
            monkeypatch.setitem(sys.modules, "cupy", cupy_on_host)
            monkeypatch.setitem(sys.modules, "cupy.cuda", cupy_on_host.cuda)
        op = plan.operator("modes", function=smooth, inputs=2, outputs=2)
        op(a, b)
        k = [np.fft.fftfreq(n, 1 / n) for n in (6, 4)]
        weight = np.exp(-0.1 * (k[0].reshape(6, 1, 1) ** 2 + k[1] ** 2))
        for i in range(2):
            expected = np.fft.ifftn(np.fft.fftn(full[1 - i]) * weight).real
            assert np.allclose(view(b)[i], expected[plan.physical_slices])


def test_streams(random):
    """Asynchronous plans enqueue their work in the caller's stream; DLPack gets that stream."""
    stream = new_stream()
    try:
        plan = fftnd.Plan(comm, (8, 6, 4), stream=stream, asynchronous=True, mapped_arrays=True, **FAST)
    except redist.Error as error:
        assert error.name == "REDIST_ERR_METHOD" and not stand_in and P > cupy.cuda.runtime.getDeviceCount()
        return
    with plan:
        full = random.random((8, 6, 4))
        a, b = put(plan.empty_physical(), full[plan.physical_slices]), plan.empty_spectral()
        for _ in range(5):
            plan.forward(a, b)
            plan.backward(b, a)
        plan.forward(a, b)
        stream.synchronize()
        plan.query()
        assert np.allclose(view(b), np.fft.rfftn(full)[plan.spectral_slices])
        laplacian = plan.operator("laplacian")
        out = laplacian(a, laplacian.empty_output())
        stream.synchronize()
        plan.query()
        k = np.meshgrid(*(np.fft.fftfreq(n, 1 / n) for n in full.shape), indexing="ij")
        expected = np.fft.ifftn(np.fft.fftn(full) * -(k[0] ** 2 + k[1] ** 2 + k[2] ** 2)).real
        assert np.allclose(view(out), expected[plan.physical_slices])
        if stand_in:
            for library in (OnlyDLPack, WithoutStream):
                packed = library(a)
                put(b, 0)
                plan.forward(packed, b)
                stream.synchronize()
                assert packed.streams == [stream.ptr]
                assert np.allclose(view(b), np.fft.rfftn(full)[plan.spectral_slices])


def test_ghosts_of_transforms_are_enqueued(random):
    """Filled and added in the stream of an asynchronous plan, step after step without the host."""
    stream, shape, periodic = new_stream(), (2 * P + 1, 6, 4), (True, False, True)
    halo = redist.Halo((1, 0, 1), (2, 0, 0), periodic=periodic)
    try:
        plan = fftnd.Plan(comm, shape, grid=(P,), ghosts=halo, accumulate_ghosts=True, stream=stream, asynchronous=True,
                          mapped_arrays=True, **FAST)
    except redist.Error as error:  # ranks share a device
        assert error.name == "REDIST_ERR_METHOD" and not stand_in and P > cupy.cuda.runtime.getDeviceCount()
        return
    with plan:
        full = random.random(shape)
        u, modes = plan.empty_physical(), plan.empty_spectral()
        box = redist.Box(plan.physical.start, plan.physical.count).with_ghosts(halo.low, halo.high)
        whole, values = plan.with_ghosts(u), np.zeros(box.extent)
        values[box.local] = full[box.slices]
        put(whole, values)  # ghosts of 0 add nothing
        plan.forward(u, modes)
        stream.synchronize()
        for _ in range(3):
            plan.backward(modes, u)
        stream.synchronize()
        plan.query()
        shown = [np.arange(start - low, start + count + high) % n for start, count, low, high, n in
                 zip(plan.physical.start, plan.physical.count, halo.low, halo.high, shape)]
        expected = full[np.ix_(*shown)]
        for axis in (0, 2):  # faces alone, without edges
            place = [slice(low, low + count) for low, count in zip(halo.low, plan.physical.count)]
            place[axis] = slice(None)
            assert np.allclose(view(whole)[tuple(place)], expected[tuple(place)])
        plan.forward(u, modes)  # the ghosts add their points to their owners
        stream.synchronize()
        plan.query()
        sums = np.zeros(shape)
        for axis in (0, 2):
            place = [slice(low, low + count) for low, count in zip(halo.low, plan.physical.count)]
            for ghosts in (slice(0, halo.low[axis]), slice(halo.low[axis] + plan.physical.count[axis], None)):
                place[axis] = ghosts
                at = [axis_places[of_axis] for axis_places, of_axis in zip(shown, place)]
                np.add.at(sums, np.ix_(*at), expected[tuple(place)])
        comm.Allreduce(MPI.IN_PLACE, sums)
        assert np.allclose(view(modes), np.fft.rfftn(full + sums)[plan.spectral_slices])


def test_errors_come_on_all_ranks(random):
    with fftnd.Plan(comm, (6, 5, 4), **FAST) as plan:
        a, b = put(plan.empty_physical(), 1), plan.empty_spectral()
        for wrong in (np.ones(plan.physical_shape), on_device(np.ones((1, 1, 9))), None):
            with pytest.raises((ValueError, TypeError)):
                plan.forward(wrong if RANK == 0 else a, b)
        plan.forward(a, b)
        assert abs(comm.allreduce(view(b).sum()) - 120) < 1e-10
