# SPDX-License-Identifier: BSD-3-Clause
"""Transforms, against NumPy on the gathered array."""
import ctypes
import re
import sys
import types

import numpy as np
import pytest
from conftest import comm, gathered
from mpi4py import MPI

import fftnd
import redist
from fftnd import _functions
from redist import _streams
from redist._redist import _cache

P, RANK = comm.size, comm.rank
FAST = dict(effort="estimate")


def field(plan, random):
    """A random physical array in the plan's memory, and the global one."""
    full = random.random(plan.physical.shape)
    if plan.physical_dtype.kind == "c":
        full = full + 1j * random.random(plan.physical.shape)
    full = full.astype(plan.physical_dtype)
    local = plan.empty_physical()
    local[...] = full[plan.physical_slices]
    return local, full


def close(a, b, dtype):
    tolerance = 1e-4 if np.dtype(dtype).char in "fF" else 1e-11
    return a.shape == b.shape and np.allclose(a, b, rtol=0, atol=tolerance * max(1, np.abs(b).max(initial=0)))


@pytest.mark.parametrize("dtype", "fdgFDG")
def test_against_numpy(random, dtype):
    for _ in range(4):
        ndims = int(random.integers(2, 5))
        shape = tuple(int(n) for n in random.integers(1, 14, ndims))
        grid = None if random.integers(2) else int(random.integers(1, ndims))
        with fftnd.Plan(comm, shape, dtype=dtype, grid=grid, **FAST) as plan:
            a, full = field(plan, random)
            expected = (np.fft.rfftn if dtype in "fdg" else np.fft.fftn)(full)
            assert plan.kind == ("r2c" if dtype in "fdg" else "c2c") and plan.shape == shape
            assert plan.spectral.shape == expected.shape
            b = plan.forward(a)
            assert b.dtype == plan.spectral_dtype == np.dtype(dtype.upper())
            assert close(b, expected[plan.spectral_slices], dtype)
            back = plan.empty_physical()
            assert plan.backward(b, out=back) is back and close(back, a, dtype)
            plan.start("forward", a, b)
            plan.wait()
            assert close(b, expected[plan.spectral_slices], dtype)


@pytest.mark.parametrize("wire, most", [("float", 1e-6), ("16 bits", 1e-3)])
def test_fewer_bytes(random, wire, most):
    wanted = dict(dtype=complex, wire_scope="everywhere", **FAST)
    with fftnd.Plan(comm, (8, 12, 10), wire=wire, **wanted) as plan:
        a, full = field(plan, random)
        expected = np.fft.fftn(full)[plan.spectral_slices]
        error = np.linalg.norm(plan.forward(a) - expected) / max(1, np.linalg.norm(expected))
        assert (1e-12 < error < most) == (P > 1) and error < most
        assert plan.info["wire"] == (wire if P > 1 else "same")
        assert all((0 < e < most) == (P > 1) for e in plan.info["wire_error"])
    with fftnd.Plan(comm, (8, 12, 10), tolerance=most, **wanted) as plan:
        assert plan.info["wire"] == (wire if P > 1 else "same")


@pytest.mark.parametrize("wrong, words", [
    (dict(dtype="F", wire="float"), "wire: REDIST_WIRE_FLOAT is not supported with precision of dtype = FFTND_FLOAT"),
    (dict(dtype="D", wire="float", tolerance=1e-3), r"tolerance = 0.001 with wire = REDIST_WIRE_FLOAT"),
    (dict(dtype="D", tolerance=1e-9), r"tolerance = 1e-09 is below 7.4\d*e-09"),
    (dict(dtype="D", tolerance=float("nan")), "tolerance = nan is not 0 or more")])
def test_formats_that_are_refused(wrong, words):
    for alone in (False, True):
        right = dict(dtype=wrong["dtype"])
        with pytest.raises(redist.ArgumentError) as error:
            fftnd.Plan(comm, (8, 12, 10), **FAST, **(right if alone and comm.rank < P - 1 else wrong))
        assert re.search(words, str(error.value)), error.value


def test_formats_differ_on_ranks():
    if P > 1:
        with pytest.raises(redist.ArgumentError, match="wire"):
            fftnd.Plan(comm, (8, 12, 10), dtype=complex, wire=("same", "float")[comm.rank % 2], **FAST)
    a, b = np.zeros((P, 2), "i4"), np.zeros((1, 2 * P), "i4")
    with pytest.raises(redist.ArgumentError, match="wire = REDIST_WIRE_FLOAT is for elements of doubles"):
        redist.Plan(comm, a, 0, b, 1, wire="float", wire_scope="everywhere")


def test_kept_plans(random):
    for _ in range(3):
        with fftnd.Plan(comm, (6, 5, 4), "c2c", keep=True, **FAST) as plan:
            a, full = field(plan, random)
            assert close(plan.forward(a), np.fft.fftn(full)[plan.spectral_slices], "D")
    with pytest.raises(redist.Error):
        plan.forward(a)
    fftnd.cache_clear(comm)


@pytest.mark.parametrize("kind", ["dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4"])
def test_real_to_real_by_definition(random, kind):
    """Against sums of cosines and sines at the wavenumbers that the plan names."""
    shape = (5, 4, 3)
    with fftnd.Plan(comm, shape, kind, **FAST) as plan:
        a, full = field(plan, random)
        expected = full
        for axis, n in enumerate(shape):
            expected = np.moveaxis(np.tensordot(matrix(kind, n), expected, (1, axis)), 0, axis)
        b = plan.forward(a)
        assert close(b, expected[plan.spectral_slices], "d")
        assert close(plan.backward(b), a, "d")
        start = {"dct1": 0, "dct2": 0, "dst1": 1, "dst2": 1}.get(kind, 0.5)
        assert plan.wavenumbers(1).tolist() == [start + i for i in range(4)][plan.spectral_slices[1]]


def matrix(kind, n):
    """FFTW's definition of a transform of n points."""
    k, j = np.mgrid[:n, :n]
    if kind == "dct1":
        weight = np.where((j == 0) | (j == n - 1), 1, 2)
        return weight * np.cos(np.pi * j * k / (n - 1))
    if kind == "dst1":
        return 2 * np.sin(np.pi * (j + 1) * (k + 1) / (n + 1))
    if kind in ("dct2", "dst2"):
        return 2 * (np.cos(np.pi * (j + 0.5) * k / n) if kind[1] == "c" else np.sin(np.pi * (j + 0.5) * (k + 1) / n))
    if kind == "dct3":
        return np.where(j == 0, 1, 2) * np.cos(np.pi * j * (k + 0.5) / n)
    if kind == "dst3":
        return np.where(j == n - 1, 1, 2) * np.sin(np.pi * (j + 1) * (k + 0.5) / n)
    return 2 * (np.cos if kind[1] == "c" else np.sin)(np.pi * (j + 0.5) * (k + 0.5) / n)


def test_kinds_of_axes(random):
    """Fourier, cosine and untransformed axes beside each other."""
    shape = (6, 5, 8, 3)
    with fftnd.Plan(comm, shape, ["c2c", "dct2", "r2c", None], **FAST) as plan:
        a, full = field(plan, random)
        expected = np.fft.rfftn(full, axes=(0, 2))
        expected = np.moveaxis(np.tensordot(matrix("dct2", 5), expected, (1, 1)), 0, 1)
        b = plan.forward(a)
        assert close(b, expected[plan.spectral_slices], "d")
        assert close(plan.backward(b), a, "d")


def test_batches_and_scalings(random):
    for position, scaling in (("first", "forward"), ("last", "unitary"), ("first", "none")):
        with fftnd.Plan(comm, (6, 7, 8), batch=3, batch_position=position, scaling=scaling, **FAST) as plan:
            full = random.random((3, 6, 7, 8))
            axis = 0 if position == "first" else 3
            a = plan.empty_physical()
            assert a.shape == plan.physical_shape and a.shape[axis] == 3
            a[...] = np.moveaxis(full[(slice(None),) + plan.physical_slices], 0, axis)
            norm = {"forward": "forward", "unitary": "ortho", "none": "backward"}[scaling]
            expected = np.fft.rfftn(full, axes=(1, 2, 3), norm=norm)[(slice(None),) + plan.spectral_slices]
            b = plan.forward(a)
            assert close(b, np.moveaxis(expected, 0, axis), "d")
            factor = 6 * 7 * 8 if scaling == "none" else 1
            assert close(plan.backward(b), factor * a, "d")


def test_in_place(random):
    for shape in ((6, 5, 7), (4, 1, 1)):
        with fftnd.Plan(comm, shape, in_place=True, **FAST) as plan:
            a, full = field(plan, random)
            b = plan.forward(a)
            assert a.size == 0 or b.size == 0 or np.shares_memory(a, b)
            assert close(b, np.fft.rfftn(full)[plan.spectral_slices], "d")
            assert close(plan.backward(b), full[plan.physical_slices], "d")


def test_arrays_with_room(random):
    """Where the library stores more in the arrays than either side, those without room are refused on all ranks."""
    shape = (6, 5, 7)
    for keywords in ({"in_place": True}, {"overwrite_input": True}):
        with fftnd.Plan(comm, shape, **keywords, **FAST) as plan:
            a, full = field(plan, random)
            before = a.copy()
            small = tight(a), tight(plan.empty_spectral())
            assert small[0].base.nbytes < plan.physical.nbytes
            for source, out in ((small[0], None), (a, small[1])):
                bad = RANK == P - 1
                if not comm.bcast(source is small[0] or out.base.nbytes < plan.spectral.nbytes, P - 1):
                    continue  # the spectral side is as large as any step
                with pytest.raises(ValueError, match="bytes of memory; .* empty_physical" if bad else None) as error:
                    plan.forward(source if bad else a, out if bad else None)
                assert isinstance(error.value, redist.ArgumentError) != bad
            assert close(a, before, "d")
            b = plan.forward(a[:], None if "in_place" in keywords else plan.empty_spectral()[...])
            assert close(b, np.fft.rfftn(full)[plan.spectral_slices], "d")
            unknown = np.frombuffer(memoryview(np.zeros(2 * plan.physical.nbytes, "u1")), "u1")
            source = np.ndarray(plan.physical_shape, float, unknown.data, 0, a.strides)
            source[...] = full[plan.physical_slices]
            assert close(plan.forward(source), np.fft.rfftn(full)[plan.spectral_slices], "d")


def tight(array):
    """An array of the same shape and strides in memory that ends with its last element."""
    nbytes = array.itemsize + sum((n - 1) * step for n, step in zip(array.shape, array.strides)) if array.size else 0
    return np.ndarray(array.shape, array.dtype, np.zeros(nbytes, "u1"), 0, array.strides)


def test_memory_of_other_libraries():
    """It is known of what PyTorch and CuPy allocated, not of what they made an array of."""
    def tensor(resizable):
        storage = types.SimpleNamespace(data_ptr=lambda: 100, nbytes=lambda: 28, resizable=lambda: resizable)
        return made("torch", untyped_storage=lambda: storage)

    def made(library, **attributes):
        return type("Array", (types.SimpleNamespace,), {"__module__": library})(**attributes)

    def cupy_array(memory):
        return made("cupy", __cuda_array_interface__={}, data=types.SimpleNamespace(mem=memory))

    memory = _streams.memory_of
    assert memory(tensor(True)) == (100, 28) and memory(tensor(False)) is None
    assert memory(made("cupy.cuda.pinned_memory", ptr=100)) is None  # the base of cupyx.empty_pinned
    ours = types.SimpleNamespace(address=100, nbytes=28)
    assert memory(cupy_array(types.SimpleNamespace(ptr=100, size=28))) == (100, 28)
    assert memory(cupy_array(types.SimpleNamespace(ptr=100, size=8, _owner=ours))) == (100, 28)
    assert memory(cupy_array(types.SimpleNamespace(ptr=100, size=8, _owner=tensor(True)))) is None
    assert memory(cupy_array(type("DLPackMemory", (), {"ptr": 100, "size": 8})())) is None


class Tensor:
    """Of PyTorch, on a device: it refuses the default stream of a thread."""
    __module__ = "torch"

    def __init__(self):
        self.streams = []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        raise BufferError("no")


def test_default_stream_of_a_thread(monkeypatch):
    waited = []
    fake = types.SimpleNamespace(cuda=types.SimpleNamespace(
        is_available=lambda: True, current_stream=lambda: types.SimpleNamespace(cuda_stream=0),
        synchronize=lambda: waited.append("all")))
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    array = Tensor()
    with fftnd.Plan(comm, (6, 5, 4), stream=2, **FAST) as plan:
        with pytest.raises(ValueError, match="cannot be exported"):
            plan.forward(array)
    assert waited == ["all"] and array.streams == [-1]
    stream = types.SimpleNamespace(cuda_stream=7)
    fake.cuda.current_stream = lambda: stream
    assert _streams.pointer(None, array) == 7


def test_how_sides_lie(random):
    """Orders in memory, padding, FFTW's blocks and boxes."""
    shape = (6, 5, 4)
    for keywords in (dict(memory_order=((2, 0, 1), None)), dict(padding=((0, 1, 2), (1, 0, 3))),
                     dict(padding=((2, 1, 4), (1, 0, 3)), offset=((1, 0, 2), (1, 0, 0))),
                     dict(blocks=("ceiling", "balanced")), dict(alignment="input"),
                     dict(grid=(P,), split=(None, (2,))), dict(grid=(P,), split=((1,), (0,))),
                     dict(box=(redist.Box((0, 0, 0), shape if RANK == P - 1 else (0, 0, 0)), None)),
                     dict(grid=(P,), order=(0, 1, 2), bounds=([[0] + [6] * P], None)),
                     dict(order=(1, 0, 2)), dict(halved_axis=0)):
        with fftnd.Plan(comm, shape, **keywords, **FAST) as plan:
            a, full = field(plan, random)
            expected = np.fft.rfftn(full, axes=(1, 2, 0) if "halved_axis" in keywords else None)
            b = plan.forward(a)
            assert close(b, expected[plan.spectral_slices], "d"), keywords
            assert close(plan.backward(b), a, "d"), keywords


def test_interior(random):
    """The interior of an array with ghosts is transformed where it is, and the ghosts are left alone."""
    room = dict(padding=((2, 2, 2), (3, 0, 1)), offset=((1, 1, 1), (1, 0, 1)))
    with fftnd.Plan(comm, (6, 5, 4), **room, **FAST) as plan:
        padded = np.full([n + 2 for n in plan.physical_shape], 7.0)
        interior = padded[1:-1, 1:-1, 1:-1]
        full = comm.bcast(random.standard_normal((6, 5, 4)))
        interior[...] = full[plan.physical_slices]
        modes = plan.forward(interior)
        assert close(modes, np.fft.rfftn(full)[plan.spectral_slices], "d")
        interior[...] = 7
        plan.backward(modes, out=interior)
        assert close(interior, full[plan.physical_slices], "d")
        interior[...] = 7
        assert np.all(padded == 7)
    with fftnd.Plan(comm, (6, 5, 4), in_place=True, **room, **FAST) as plan:
        a, full = field(plan, random)
        modes = plan.forward(a)
        assert close(modes, np.fft.rfftn(full)[plan.spectral_slices], "d")
        assert close(plan.backward(modes), full[plan.physical_slices], "d")


def test_dealiasing(random):
    """Modes that are retained are those of a shorter transform."""
    modes, points = (8, 6, 7), (12, 9, 10)
    with fftnd.Plan(comm, points, scaling="forward", retained_modes=modes, **FAST) as plan:
        assert plan.spectral.shape == (8, 6, 4)
        coefficients = np.fft.rfftn(random.random(modes), norm="forward")
        b = plan.empty_spectral()
        b[...] = coefficients[plan.spectral_slices]
        a = plan.backward(b)
        assert close(plan.forward(a), b, "d")
        full = gathered(a, plan.physical_slices, points)
        assert full[0, 0, 0] == pytest.approx(np.fft.irfftn(coefficients, modes, (0, 1, 2), "forward")[0, 0, 0])


def test_zero_padding(random):
    """The product of the modes of two fields with zeros behind them is their convolution."""
    points, shape = (5, 4, 6), (10, 7, 12)
    fields = random.random((2,) + points)
    with fftnd.Plan(comm, shape, batch=2, filled=points, **FAST) as plan:
        assert plan.physical.shape == points
        a = plan.empty_physical()
        a[...] = fields[(slice(None),) + plan.physical_slices]
        b = plan.forward(a)
        b[0] *= b[1]
        a = plan.backward(b)
        modes = np.fft.rfftn(fields[0], shape, (0, 1, 2)) * np.fft.rfftn(fields[1], shape, (0, 1, 2))
        expected = np.fft.irfftn(modes, shape, (0, 1, 2))[:5, :4, :6]
        assert close(a[0], expected[plan.physical_slices], "d")


def test_wavenumbers(random):
    with fftnd.Plan(comm, (6, 5, 8), **FAST) as plan:
        for axis, k in enumerate((np.fft.fftfreq(6, 1 / 6), np.fft.fftfreq(5, 1 / 5), np.arange(5))):
            assert plan.wavenumbers(axis).tolist() == k[plan.spectral_slices[axis]].tolist()
            assert plan.wavenumbers(axis - 3, broadcast=True).ndim == 3
        with pytest.raises(ValueError):
            plan.wavenumbers(3)


def test_questions(random):
    with fftnd.Plan(comm, (16, 12, 10), phases=True, user_workspace=True, grid=(P,), method="alltoallw",
                    **FAST) as plan:
        info = plan.info
        assert int(np.prod(info["grid"])) == P == plan.ranks.size and sorted(info["order"]) == [0, 1, 2]
        assert info["scale_forward"] == 1 and info["scale_backward"] == pytest.approx(1 / 1920)
        assert info["halved_axis"] == 2
        plan.set_workspace(redist.empty(max(64, info["workspace_bytes"]), "u1", comm))
        assert P == 1 or plan.info["method"] == "alltoallw"
        a, full = field(plan, random)
        assert close(plan.forward(a), np.fft.rfftn(full)[plan.spectral_slices], "d")
        assert plan.phases["executions"] == 1
    assert fftnd.version() >= (0, 2, 0)


def test_workspace_that_does_not_fit():
    with fftnd.Plan(comm, (16, 12, 10), user_workspace=True, grid=(P,), fusion="never", **FAST) as plan:
        size = comm.allreduce(plan.info["workspace_bytes"], MPI.MAX)
        if plan.info["workspace_bytes"] > 0:
            for wrong in (np.zeros(2 * size, "u1")[::2], "no array"):
                with pytest.raises((TypeError, ValueError)):
                    plan.set_workspace(wrong if RANK == 0 else redist.empty(size, "u1", MPI.COMM_SELF))


def test_effort_measure(random):
    with fftnd.Plan(comm, (20, 18, 16), "c2c", "F", effort="measure", plan_seconds=0.1) as plan:
        a, full = field(plan, random)
        assert close(plan.forward(a), np.fft.fftn(full)[plan.spectral_slices], "F")


def test_functions(random):
    full = random.random((9, 8, 6))
    count, start = redist.decompose(9, P, RANK)
    a = full[start:start + count]
    columns, first = redist.decompose(8, P, RANK)
    there = (slice(None), slice(first, first + columns))
    for norm in ("backward", "forward", "ortho"):
        b = fftnd.rfftn(a, comm, norm=norm)
        assert close(b, np.fft.rfftn(full, norm=norm)[there], "d")
        assert close(fftnd.irfftn(b, comm, norm=norm), a, "d")
        b = fftnd.fftn(a, comm, norm=norm)
        assert close(b, np.fft.fftn(full, norm=norm)[there], "d")
        assert close(fftnd.ifftn(b, comm, norm=norm), a.astype(complex), "d")
    for forward, backward, name in ((fftnd.dctn, fftnd.idctn, "dct"), (fftnd.dstn, fftnd.idstn, "dst")):
        for type in (1, 2, 3, 4):
            expected = full
            for axis, n in enumerate(full.shape):
                expected = np.moveaxis(np.tensordot(matrix(f"{name}{type}", n), expected, (1, axis)), 0, axis)
            b = forward(a, comm, type)
            assert close(b, expected[there], "d") and close(backward(b, comm, type), a, "d")
    with pytest.raises(ValueError):
        fftnd.dctn(a, comm, 5)
    with fftnd.Plan(comm, (60,), "c2c", alignment="input", **FAST) as plan:  # one axis over all ranks
        x, whole = field(plan, random)
        b = fftnd.fftn(x, comm)
        assert close(b, np.fft.fft(whole)[plan.spectral_slices], "d") and close(fftnd.ifftn(b, comm), x, "d")
    with fftnd.Plan(comm, (7, 6, 5), grid=2, **FAST) as plan:
        x, whole = field(plan, random)
        b = fftnd.rfftn(x.astype("f"), comm, plan.shape, grid=plan.info["grid"])
        assert b.dtype == np.complex64
        assert close(fftnd.irfftn(b, comm, plan.shape, grid=plan.info["grid"]), x.astype("f"), "f")


def test_errors_come_on_all_ranks(random):
    with fftnd.Plan(comm, (8, 7, 6), **FAST) as plan:
        a = plan.empty_physical()
        a[...] = 1
        for wrong, kind in ((a[..., :-1], ValueError), (a.astype("f"), TypeError), (None, TypeError)):
            with pytest.raises((kind, redist.ArgumentError)) as error:
                plan.forward(wrong if RANK == 0 else a)
            assert isinstance(error.value, kind if RANK == 0 else redist.ArgumentError)
        b = plan.forward(a)  # nothing was harmed
        assert close(plan.backward(b), a, "d")
    for keywords in (dict(grid=(P + 1,)), dict(kind="r2r"), dict(kind=["c2c"]), dict(scaling="half"),
                     dict(order=(0, 0, 1)), dict(dtype=int), dict(retained_modes=(9, 9, 9)), dict(filled=(0, 1, 1)), dict(method="no"),
                     dict(halved_axis=5)):
        with pytest.raises((redist.Error, ValueError, TypeError)):
            fftnd.Plan(comm, (8, 7, 6), **keywords, **FAST)
    with pytest.raises((redist.ArgumentError, TypeError)):
        fftnd.Plan(comm, "abc" if RANK == 0 else (8, 7, 6), **FAST)


def split_field(random, shape):
    """A global array, and this rank's part of it along the first axis."""
    full = random.random(shape)
    count, start = redist.decompose(shape[0], P, RANK)
    return full, full[start:start + count]


def kept_plans(private):
    return len(_cache(private))


def test_functions_decide_alike(random):
    """A call may fit a kept plan on some ranks only: boxes differ between them."""
    private = comm.Dup()
    full, a = split_field(random, (6, 5, 4))
    mine = redist.Box((0, 0, 0), full.shape if RANK == P - 1 else (0, 0, 0))
    other = redist.Box((0, 0, 0), full.shape if RANK == 0 else (0, 0, 0))
    expected = np.fft.rfftn(full)
    for number, box in ((1, mine), (1, mine), (2 if P > 1 else 1, other), (2 if P > 1 else 1, mine)):
        with fftnd.Plan(comm, full.shape, box=(box, None), grid=(P,), **FAST) as plan:
            x = full[plan.physical_slices]
            there = plan.spectral_slices
        b = fftnd.rfftn(x, private, full.shape, box=(box, None))
        assert close(b, expected[there], "d") and kept_plans(private) == number
    order = [0, 1, 2]
    before = fftnd.rfftn(a, private, full.shape, order=order)
    order[0:2] = 1, 0  # an option counts as it was in the call
    with fftnd.Plan(comm, full.shape, grid=(P,), order=order, **FAST) as plan:
        b = fftnd.rfftn(full[plan.physical_slices].copy(), private, full.shape, order=order)
        assert close(b, expected[plan.spectral_slices], "d") and before.shape == fftnd.rfftn(a, private).shape
    long = np.zeros(2000, int)  # of which NumPy prints six
    assert _functions._fixed([long]) == ((0,) * 2000,) != _functions._fixed([np.arange(2000) == 1000])
    private.Free()


def test_functions_share_plans(random):
    """One plan serves both directions, and an odd extent is not taken for an even one."""
    private = comm.Dup()
    full, a = split_field(random, (4, 4, 7))
    b = fftnd.rfftn(a, private)
    assert close(fftnd.irfftn(b, private, full.shape), a, "d") and kept_plans(private) == 1
    even = fftnd.irfftn(b, private)
    assert even.shape[-1] == 6 and kept_plans(private) == 2
    for n in range(12):
        fftnd.fftn(np.zeros((redist.decompose(4, P, RANK)[0], n + 1)), private)
    assert kept_plans(private) == 8
    private.Free()


class Failing(fftnd.Plan):
    """A plan whose second execution fails on rank 0, as where the network did."""
    executions = 0

    def _transform(self, direction, name, array, out):
        result = super()._transform(direction, name, array, out)
        Failing.executions += 1
        if Failing.executions == 2 and RANK == 0:
            raise redist.Error(14, "a call of MPI failed")
        return result


def test_functions_drop_a_broken_plan(random, monkeypatch):
    private = comm.Dup()
    monkeypatch.setattr(_functions, "Plan", Failing)
    full, a = split_field(random, (4, 4, 6))
    fftnd.rfftn(a, private)
    kept = _cache(private)[0]
    if RANK == 0:
        with pytest.raises(redist.Error, match="of MPI"):
            fftnd.rfftn(a, private)
    else:
        fftnd.rfftn(a, private)
    assert close(fftnd.irfftn(fftnd.rfftn(a, private), private), a, "d")
    assert kept_plans(private) == 1 and _cache(private)[0] is not kept
    private.Free()


def test_arguments_that_cannot_be_understood(random):
    """A call that one rank cannot make fails on all ranks, and the next one does not notice."""
    full, a = split_field(random, (6, 5, 4))
    bad = RANK == P - 1
    for kind, call in (
            (ValueError, lambda: fftnd.rfftn([[1.0], [2.0, 3.0]] if bad else a, comm)),
            (ValueError, lambda: fftnd.rfftn(np.zeros(()) if bad else a, comm)),
            (TypeError, lambda: fftnd.fftn("abc" if bad else a, comm)),
            (TypeError, lambda: fftnd.rfftn(a, comm, shape=7 if bad else full.shape)),
            (ValueError, lambda: fftnd.dctn(a, comm, 5 if bad else 2)),
            (ValueError, lambda: fftnd.rfftn(a, comm, norm="half" if bad else "ortho")),
            (ValueError, lambda: fftnd.rfftn(a[:-1] if bad and len(a) else a, comm, shape=full.shape)),
            (ValueError, lambda: fftnd.rfftn(a, comm, out=np.zeros((1, 1, 9), complex) if bad else None))):
        with pytest.raises((kind, redist.ArgumentError)) as error:
            call()
        assert isinstance(error.value, kind if bad else redist.ArgumentError)
        assert close(fftnd.irfftn(fftnd.rfftn(a, comm), comm), a, "d")
    with fftnd.Plan(comm, full.shape, **FAST) as plan:
        with pytest.raises(ValueError):
            plan.start("up" if bad else "forward", plan.empty_physical())


class OnDevice:
    """An array that says it lies in device memory, with work in stream 7."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, "stream": 7}


class Stream:
    ptr = 42


def test_device_arrays_are_told_apart(random, monkeypatch):
    """Without a device: what an array says of itself is understood, its stream is waited for, and a plan for host
    memory refuses it on all ranks."""
    waited = []
    fake = types.SimpleNamespace(cuda=types.SimpleNamespace(
        runtime=types.SimpleNamespace(streamSynchronize=waited.append), is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    with fftnd.Plan(comm, (6, 5, 4), **FAST) as plan:
        with pytest.raises(ValueError, match="is on a device"):
            plan.forward(OnDevice(np.zeros(plan.physical_shape)))
        assert waited == [7]
    assert _streams.pointer(types.SimpleNamespace(handle=ctypes.c_void_p(9))) == 9  # as Numba has it
    assert _streams.pointer(Stream()) == 42 and _streams.pointer(3) == 3 and _streams.pointer(None) == 0
    with pytest.raises(redist.Error):
        fftnd.Plan(comm, (6, 5, 4), space="cuda", device="cuda", stream=0, **FAST)
