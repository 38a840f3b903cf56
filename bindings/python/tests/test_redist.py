# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges, against slices of the global array."""
import ctypes
import gc
import os
import pickle
import sys
import threading

import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI

import redist

P, RANK = comm.size, comm.rank
TYPES = ["f", "d", "F", "D", "b", "h", "g", "G", "M8[s]", [("x", "f4"), ("y", "i2", 3)]]


def part(full, axis):
    """This rank's part of an array that is split along an axis."""
    count, start = redist.decompose(full.shape[axis], P, RANK)
    return np.ascontiguousarray(np.take(full, range(start, start + count), axis))


def numbers(random, shape, dtype):
    """Random elements of any type."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return random.integers(0, 63, size, np.uint8).view(dtype).reshape(shape)


def case(random, dtype):
    shape = tuple(random.integers(1, 12, random.integers(2, 6)))
    axis_a, axis_b = (int(axis) for axis in random.permutation(len(shape))[:2])
    full = numbers(random, shape, dtype)
    return full, part(full, axis_b), axis_a, part(full, axis_a), axis_b


def equal(a, b):
    return a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_exchange_of_any_type(random, dtype):
    for _ in range(5):
        _, a, axis_a, expected, axis_b = case(random, dtype)
        b = np.empty_like(expected)
        assert redist.exchange(comm, a, axis_a, b, axis_b - b.ndim) is b
        assert equal(b, expected)


@pytest.mark.parametrize("method", [None] + sorted(redist.methods()))
def test_plan_of_each_method(random, method):
    for bind in ("plan", "execution", "mapped"):
        _, a, axis_a, expected, axis_b = case(random, "d")
        source = redist.empty(a.shape, "d", comm)
        target = redist.empty(expected.shape, "d", comm)
        source[...], target[...] = a, 0
        try:
            plan = redist.Plan(comm, source, axis_a, target, axis_b, bind=bind, method=method, effort="estimate")
        except redist.Error as error:
            assert error.name == "REDIST_ERR_METHOD" and method is not None  # needs nodes or devices
            continue
        with plan:
            given = () if bind == "plan" else (source, target)
            plan.forward(*given)
            assert equal(target, expected)
            source[...] = 0
            plan.start("backward", *given)
            plan.wait()
            assert equal(source, a)
            assert plan.info["space"] == "host" and plan.method
            assert method is None or plan.method.startswith(method)


def test_plan_by_shapes(random):
    _, a, axis_a, expected, axis_b = case(random, "F")
    b = np.empty_like(expected)
    with redist.Plan(comm, a.shape, axis_a, b.shape, axis_b, dtype="F", bind="execution", effort="estimate",
                     phases=True) as plan:
        for _ in range(3):
            b[...] = 0
            assert plan.forward(a, b) is b and equal(b, expected)
        assert plan.phases["executions"] == 3 and plan.phases["total"] > 0
        assert plan.backward(b, np.empty_like(a)).tobytes() == a.tobytes()
        with pytest.raises((ValueError, TypeError)):
            plan.forward(None, b)


def test_boxes_on_a_grid(random):
    """Bricks to pencils, with halos around the bricks."""
    full = random.random((7, 6, 5))
    with redist.Grid(comm, 3) as bricks, redist.Grid(comm, 2) as pencils:
        assert int(np.prod(bricks.dims)) == P and len(bricks.coords) == 3
        assert [c.size for c in bricks.subcomms] == list(bricks.dims) and bricks.ranks.size == P
        brick, pencil = bricks.box(full.shape, (0, 1, 2)), pencils.box(full.shape, (0, 2))
        with_halo = redist.Box(brick.start, brick.count, [n + 2 for n in brick.count], (1, 1, 1))
        a = np.full(with_halo.extent, -1.0)
        a[with_halo.local] = full[with_halo.slices]
        b = np.zeros(pencil.count)
        with redist.Plan(comm, a, with_halo, b, pencil, shape=full.shape, effort="estimate") as plan:
            plan.forward()
            assert equal(b, np.ascontiguousarray(full[pencil.slices]))
            b *= 2
            plan.backward()
        assert (a[with_halo.local] == 2 * full[with_halo.slices]).all()
        assert a.sum() == pytest.approx(2 * full[with_halo.slices].sum() - (a.size - full[with_halo.slices].size))


class OnlyDLPack:
    """An array of a library that has nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyInterface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


@pytest.mark.parametrize("library", [OnlyDLPack, OnlyInterface, memoryview])
def test_arrays_of_other_libraries(random, library):
    full = random.random((9, 8))
    a, expected = part(full, 1), part(full, 0)
    b = np.zeros_like(expected)
    redist.exchange(comm, library(a), 0, library(b), 1)
    assert equal(b, expected)


class OnDevice(bytes):
    """As arrays of CuPy and JAX on a device: it has a buffer too, which means nothing."""

    def __new__(cls, array):
        self = super().__new__(cls)
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3}
        return self


class OnDeviceByDLPack(bytes):
    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream):
        raise RuntimeError(f"asked with stream {stream}")


class ReadOnly(OnlyDLPack, bytes):
    """As arrays of JAX in host memory: DLPack does not say that nobody may write to it, the buffer does."""

    def __new__(cls, array):
        return super().__new__(cls)


def test_arrays_with_a_buffer_besides(random):
    a, b = part(random.random((9, 8)), 1), part(np.zeros((9, 8)), 0)
    for array, error, sentence in ((OnDevice(a), ValueError, "is on a device"),
                                   (OnDeviceByDLPack(), RuntimeError, "asked with stream 1")):
        with pytest.raises(error, match=sentence):
            redist.exchange(comm, array, 0, b, 1)
    with redist.Plan(comm, a.shape, 0, b.shape, 1, dtype=float, bind="execution", effort="estimate") as plan:
        with pytest.raises(ValueError, match="a is on a device"):
            plan.forward(OnDevice(a), b)
    with pytest.raises(ValueError, match="cannot be written"):
        redist.exchange(comm, a, 0, ReadOnly(b), 1)
    assert (b == 0).all()


def test_errors_come_on_all_ranks():
    a = np.zeros((4, 4))
    with pytest.raises((redist.ArgumentError, ValueError)) as error:
        redist.exchange(comm, a[:, ::2] if RANK == 0 else a, 0, np.zeros((4, 4)), 1)
    assert RANK == 0 or isinstance(error.value, redist.ArgumentError)
    with pytest.raises(ValueError):
        redist.Plan(comm, a, 0, a.copy(), 1, effort="high" if RANK == P - 1 else "measure", method="no")
    with pytest.raises(redist.ArgumentError) as error:
        redist.Grid(comm, [P + 1])
    assert error.value.name == "REDIST_ERR_GRID" and error.value.code == 7 and str(P + 1) in str(error.value)
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), again.code, str(again)) == (type(error.value), 7, str(error.value))
    with pytest.raises(redist.Error):
        redist.exchange(MPI.COMM_NULL, a, 0, a.copy(), 1)
    with pytest.raises(TypeError):
        redist.exchange("comm", a, 0, a.copy(), 1)
    with pytest.raises(ValueError):
        constant = np.zeros((4, 4))
        constant.flags.writeable = False
        redist.exchange(comm, a, 0, constant, 1)


def test_a_bound_array_that_is_read_only():
    """The plan may only read it."""
    a, b = np.ones((4, redist.decompose(4, P, RANK)[0])), np.zeros((redist.decompose(4, P, RANK)[0], 4))
    if RANK == P - 1:
        a.flags.writeable = False
    with redist.Plan(comm, a, 0, b, 1, effort="estimate") as plan:
        plan.forward()
        with pytest.raises((ValueError, redist.ArgumentError)) as error:
            plan.backward()
        assert isinstance(error.value, redist.ArgumentError) or RANK == P - 1
        assert plan.forward() is b and (b == 1).all()


def refused(kind, call):
    """A call that rank 0 makes with arguments that cannot be understood fails on all ranks."""
    with pytest.raises((kind, redist.ArgumentError)) as error:
        call()
    assert isinstance(error.value, kind if RANK == 0 else redist.ArgumentError)


def test_arguments_that_cannot_be_understood():
    a, b = np.zeros((4, redist.decompose(4, P, RANK)[0])), np.zeros((redist.decompose(4, P, RANK)[0], 4))
    bad = RANK == 0
    refused(TypeError, lambda: redist.Grid(comm, "xy" if bad else (P, 1)))
    refused(TypeError, lambda: redist.Grid(comm, None if bad else 2))
    refused(TypeError, lambda: redist.Grid(comm, 1, np.zeros(2) if bad else False))
    refused(TypeError, lambda: redist.empty(3, "no type" if bad else "d", comm))
    refused(TypeError, lambda: redist.empty("abc" if bad else 3, "d", comm))
    refused(ValueError, lambda: redist.empty((2, -3) if bad else 3, "d", comm))
    refused(ValueError, lambda: redist.zeros(3, "d", comm, "disk" if bad else "host"))
    refused(ValueError, lambda: redist.empty((2**40, 2**40) if bad else 3, "d", comm))
    refused(TypeError, lambda: redist.subcomm(comm, "2" if bad else 2))
    refused(TypeError, lambda: redist.exchange(comm, a, None if bad else 0, b, 1))
    refused(TypeError, lambda: redist.exchange(comm, a, 0, b, "1" if bad else 1))
    refused(TypeError, lambda: redist.Plan(comm, a, None if bad else 0, b, 1, effort="estimate"))
    with redist.Plan(comm, a, 0, b, 1, effort="estimate") as plan:
        refused(ValueError, lambda: plan.start("up" if bad else "forward"))
        refused(ValueError, lambda: plan.forward(a[1:] if bad else a, b))
        plan.forward()


def test_bound_arrays_are_named_on_some_ranks(random):
    """Whether a rank names the arrays that the plan is bound to makes no difference to the others."""
    _, a, axis_a, expected, axis_b = case(random, "d")
    b = np.empty_like(expected)
    with redist.Plan(comm, a, axis_a, b, axis_b, effort="estimate") as plan:
        for other in range(3):
            b[...] = 0
            result = np.zeros_like(b) if RANK % 2 and other == 2 else b
            plan.forward(*(() if RANK % 2 == 0 else (a, b), (), (a, result))[other])
            assert equal(result, expected)
        plan.start("backward", *(() if RANK == 0 else (a.copy(), b)))
        plan.wait()


def test_a_freed_plan_is_an_error():
    a, b = np.zeros((4, redist.decompose(4, P, RANK)[0])), np.zeros((redist.decompose(4, P, RANK)[0], 4))
    plan = redist.Plan(comm, a, 0, b, 1, effort="estimate")
    plan.free()
    plan.free()
    with pytest.raises(redist.Error):
        plan.forward()


def test_garbage_is_freed_in_agreement():
    """Ranks drop their objects at different times; nothing hangs, and at last nothing is left."""
    private = comm.Dup()
    assert redist.collect(private) == 0
    full = np.arange(64.0).reshape(8, 8)
    a, b = part(full, 1), np.empty_like(part(full, 0))
    plans = [redist.Plan(private, a, 0, b, 1, effort="estimate") for _ in range(6)]
    arrays = [redist.empty(10 + RANK, comm=private) for _ in range(3)]
    cycle = [redist.Grid(private, 1)]
    cycle.append(cycle)
    assert redist.collect(private) == 10
    for i in range(6):
        if (i + RANK) % 2:  # each rank drops other ones
            plans[i] = None
    cycle = None
    if RANK == 0:
        gc.collect()
    kept = redist.collect(private)
    assert kept == comm.bcast(kept) and (kept == 10 or P == 1)
    plans, arrays[1] = None, None
    gc.collect()
    assert redist.collect(private) == 2
    view = arrays[0][2:5]
    del arrays
    assert redist.collect(private) == 1
    view[...] = 7
    assert (view == 7).all()
    del view
    private.Free()  # frees the last one


def test_garbage_that_cannot_be_freed(monkeypatch):
    """It is reported as an error of a destructor is, and the rest is freed."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = [line.split(maxsplit=5)[-1].strip() for line in maps]
    library = ctypes.CDLL(next(path for path in paths if os.path.basename(path).startswith("libredist")))
    private, reported = comm.Dup(), []
    monkeypatch.setattr(sys, "unraisablehook", lambda failed: reported.append(failed.exc_type))
    memory, other = redist.Memory(private, 64), redist.Memory(private, 32)
    address = ctypes.c_void_p(memory.address)
    assert memory.mappable and other.mappable
    assert library.redist_free(ctypes.byref(address)) == 0  # behind its back
    del memory
    gc.collect()
    assert redist.collect(private) == 1 and reported == [redist.Error]
    del other
    gc.collect()
    assert redist.collect(private) == 0 and len(reported) == 1
    private.Free()


def test_objects_outlive_their_communicator():
    private = comm.Dup()
    full = np.arange(30.0).reshape(6, 5)
    a, expected = part(full, 1), part(full, 0)
    b = np.zeros_like(expected)
    plan = redist.Plan(private, a, 0, b, 1, effort="estimate")
    private.Free()
    plan.forward()
    assert equal(b, expected)
    plan.free()


def test_many_plans(random):
    a, b = np.zeros((4, redist.decompose(4, P, RANK)[0])), np.zeros((redist.decompose(4, P, RANK)[0], 4))
    for _ in range(300):
        redist.Plan(comm, a, 0, b, 1, effort="estimate")  # dropped at once
    assert redist.collect(comm) < 20


def test_subcomm_decompose_version():
    comms = redist.subcomm(comm, 2)
    assert comms[0].size * comms[1].size == P
    for one in comms:
        one.Free()
    assert sum(redist.decompose(10, 3, i)[0] for i in range(3)) == 10
    with pytest.raises(redist.ArgumentError):
        redist.decompose(-1, 3, 0)
    assert redist.version() >= (0, 2, 0) and redist.__version__.startswith("0.")


def test_other_threads_run_meanwhile():
    """The interpreter's lock is free while the library works."""
    n = 256
    count = redist.decompose(n, P, RANK)[0]
    a, b = np.zeros((count, n, 64)), np.empty((n, count, 64))
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    with redist.Plan(comm, a, 1, b, 0, effort="estimate") as plan:
        before = ticks[0]
        for _ in range(20):
            plan.forward()
    done.set()
    thread.join()
    assert ticks[0] > before
