# SPDX-License-Identifier: BSD-3-Clause
"""What mpi4py-fft's own tests, which tools/test/python.sh runs, leave open."""
import functools
import os

import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI

from fftnd.mpi4py_fft import DistArray, HDF5File, NCFile, PFFT, fftw, generate_xdmf, newDistArray
from fftnd.mpi4py_fft.libfft import FFT
from fftnd.mpi4py_fft.mpifft import _PlanTransform
from fftnd.mpi4py_fft.pencil import Pencil, Subcomm

P, RANK = comm.size, comm.rank


def physical(fft, random):
    """A random physical array, and the global one."""
    full = random.random(fft.global_shape(False))
    u = newDistArray(fft, False)
    u[...] = full[fft.local_slice(False)]
    return u, full


@pytest.mark.parametrize("axes, grid, planned", [
    (None, None, True), ((1, 0, 2), None, True), (((0,), (1, 2)), None, True), (((2,), (1,), (0,)), (1, 0, 0), True),
    ((0, 2), None, False), ((0, 1, 2), (0,), True)])
@pytest.mark.parametrize("dtype", "dF")
def test_against_numpy(random, axes, grid, planned, dtype):
    shape = (7, 6, 9)
    fft = PFFT(comm, shape, axes=axes, grid=grid, dtype=dtype, planner_effort="FFTW_ESTIMATE")
    assert isinstance(fft.forward, _PlanTransform) == planned
    flat = [axis for group in fft.axes for axis in group]
    u, full = physical(fft, random)
    expected = (np.fft.rfftn if dtype == "d" else np.fft.fftn)(full.astype(dtype), axes=flat)
    tolerance = 1e-12 if dtype == "d" else 1e-5
    points = np.prod([shape[axis] for axis in flat])
    mine = expected[fft.local_slice(True)]
    assert fft.global_shape(True) == expected.shape and fft.shape(True) == mine.shape
    for normalize in (None, True, False):
        keywords = {} if normalize is None else {"normalize": normalize}
        u_hat = fft.forward(u, newDistArray(fft), **keywords)
        scale = 1 if normalize is False else points
        assert np.allclose(u_hat * scale, mine, rtol=0, atol=tolerance * points)
    back = fft.backward(u_hat, newDistArray(fft, False), normalize=True)
    assert np.allclose(back, u, rtol=0, atol=10 * tolerance)
    fft.destroy()


@pytest.mark.parametrize("modes", [8, 10, 7, 9])
def test_padded_real_axis(random, modes):
    """For every parity of N and of N/2 + 1 the last mode is X[k] + X[-k], by plans and by serial transforms."""
    for axes in (None, (0, 1)):
        fft = PFFT(comm, (6, modes), axes=axes, padding=[1, 1.5], planner_effort="FFTW_ESTIMATE",
                   backend="fftw" if axes is None else "numpy")
        assert isinstance(fft.forward, _PlanTransform) == (axes is None)
        u, full = physical(fft, random)
        expected = np.fft.rfft(full, axis=1)[:, :modes // 2 + 1]
        if modes % 2 == 0:
            expected[:, -1] = 2 * expected[:, -1].real
        expected = np.fft.fft(expected, axis=0)
        u_hat = fft.forward(u, newDistArray(fft), normalize=False)
        assert np.allclose(u_hat, expected[fft.local_slice(True)])
        again = fft.forward(fft.backward(u_hat / full.size, newDistArray(fft, False)), newDistArray(fft))
        assert np.allclose(again * full.size, u_hat)
        fft.destroy()


@pytest.mark.parametrize("axes", [None, ((0, 1),), ((1,), (0,)), ((1, 0),)])
def test_real_axes_joined_on_one_rank(random, axes):
    """A group of all axes, the last of which is halved, is one plan of a chain without exchanges."""
    for shape in ((12, 13), (5, 12, 13)):
        groups = axes if len(shape) == 2 else axes and tuple(tuple(a + 1 for a in group) for group in axes) + ((0,),)
        fft = PFFT(MPI.COMM_SELF, shape, axes=groups, dtype="d", collapse=True, planner_effort="FFTW_ESTIMATE")
        assert len(fft.axes) == len(fft.xfftn) == 1 and isinstance(fft.forward, _PlanTransform)
        u = random.random(shape)
        expected = np.fft.rfftn(u, axes=fft.axes[0], norm="forward")
        assert fft.global_shape(True) == expected.shape and np.allclose(fft.forward(u), expected)
        assert np.allclose(fft.backward(fft.forward(u)), u)
        fft.destroy()


def test_groups_of_axes(random):
    """Whole axes join the group that is transformed before them, also if that one is not whole; split ones are refused,
    on all ranks, since their local parts alone have no transform."""
    fft = PFFT(comm, (8, 9, 7), axes=((2,), (1,), (0,)), dtype="D", grid=(1, -1), collapse=True,
               planner_effort="FFTW_ESTIMATE")
    assert fft.axes == (((2, 1), (0,)) if P > 1 else ((2, 1, 0),))
    full = random.random((8, 9, 7)) + 0j
    assert np.allclose(fft.forward(full[fft.local_slice(False)]), np.fft.fftn(full, norm="forward")[fft.local_slice()])
    fft.destroy()
    for shape, axes in ((2, 3, 4), ((0, 1), (2,))), ((1, 4, 1), ((0, 2), (1,))):
        for collapse in (False, True):
            if P > 1:
                with pytest.raises(ValueError, match="is split where axes"):
                    PFFT(comm, shape, axes=axes, dtype="F", grid=[-1 if i == 0 else 1 for i in range(3)],
                         collapse=collapse)


def test_transforms_of_the_program():
    """What a program puts in the place of a direction says where its arrays are."""
    coarse = PFFT(comm, (8, 6, 4), planner_effort="FFTW_ESTIMATE")
    fine = PFFT(comm, (8, 6, 4), padding=[1.5, 1.5, 1.5], planner_effort="FFTW_ESTIMATE")
    forward, backward = fine.forward, fine.backward
    fine.forward, fine.backward = coarse.forward, coarse.backward
    for side in (False, True):
        assert fine.local_slice(side) == coarse.local_slice(side) and fine.shape(side) == coarse.shape(side)
    fine.forward, fine.backward = forward, backward
    assert fine.local_slice(False) != coarse.local_slice(False)
    for one in (coarse, fine):
        one.destroy()


@pytest.mark.parametrize("modes", [6, 8])
def test_padded_derivative(random, modes):
    """A last mode that is not real, as of a derivative, is the same for plans and for serial transforms: half of it at
    K/2, and the mirror image at -K/2."""
    full = random.random((4, int(1.5 * modes)))
    results = []
    for backend in ("fftw", "numpy"):
        fft = PFFT(comm, (4, modes), padding=[1, 1.5], backend=backend)
        assert isinstance(fft.forward, _PlanTransform) == (backend == "fftw")
        u_hat = 1j * fft.forward(full[fft.local_slice(False)])
        results.append(np.array(fft.backward(u_hat)))
        fft.destroy()
    assert np.allclose(*results)


def test_more_ranks_than_rows(random):
    fft = PFFT(comm, (2, 3, 5), grid=(-1,), planner_effort="FFTW_ESTIMATE")
    u, full = physical(fft, random)
    assert np.allclose(fft.forward(u), np.fft.rfftn(full, norm="forward")[fft.local_slice(True)])
    assert len(fft.xfftn) == 3 and len(fft.transfer) == 2 and fft.xfftn[0].forward.input_array.shape == u.shape
    fft.destroy()


def test_serial_transforms(random):
    """Types, alignment and arrays of the caller."""
    for kind in (1, 2, 3, 4):
        fft = FFT((6, 5), (0,), transforms={(0,): (functools.partial(fftw.dctn, type=kind),
                                                   functools.partial(fftw.idctn, type=kind))})
        u = random.random((6, 5))
        assert np.allclose(fft.backward(fft.forward(u)), u)
    plan = fftw.rfftn(fftw.aligned((4, 7), fill=0), axes=(1,), flags=(fftw.FFTW_ESTIMATE,))
    u = random.random((7, 4)).T  # other strides than planned
    assert np.allclose(plan(u), np.fft.rfft(u))
    out = np.empty((4, 4), complex)
    assert plan(np.ascontiguousarray(u), out, normalize=True) is out and np.allclose(out, np.fft.rfft(u) / 7)
    with pytest.raises(ValueError):
        plan.update_arrays(u, out)
    assert fftw.get_alignment(fftw.aligned(3)) == 32 and fftw.get_fftw_lib("g") is None


@pytest.mark.parametrize("padded", [False, True])
def test_navier_stokes(padded):
    """The Taylor-Green vortex by tensors of DistArrays, in rotational form with classical Runge-Kutta steps, as programs
    for mpi4py-fft are written; its energy at time 0.1 is known from finer grids."""
    n, nu, dt = 16, 0.000625, 0.02
    fft = PFFT(comm, (n, n, n), planner_effort="FFTW_ESTIMATE")
    fine = PFFT(comm, (n, n, n), padding=[1.5] * 3, planner_effort="FFTW_ESTIMATE") if padded else fft
    x = [2 * np.pi / n * axis for axis in np.ogrid[fft.local_slice(False)]]
    modes = [np.fft.fftfreq(n, 1 / n), np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)]
    k = np.array(np.meshgrid(*[axis[s] for axis, s in zip(modes, fft.local_slice())], indexing="ij"))
    k_square = (k * k).sum(0)
    u, u_hat = newDistArray(fft, False, rank=1), newDistArray(fft, rank=1)
    velocity, curl = newDistArray(fine, False, rank=1), newDistArray(fine, False, rank=1)
    change = newDistArray(fft, rank=1)

    def right_side(field):
        for i in range(3):
            velocity[i] = fine.backward(field[i], velocity[i])
            curl[i] = fine.backward(1j * np.cross(k, field, axis=0)[i], curl[i])
        for i, product in enumerate(np.cross(velocity, curl, axis=0)):
            change[i] = fine.forward(product, change[i])
        change[:] -= k * (change * k).sum(0) / np.where(k_square == 0, 1, k_square) + nu * k_square * field
        return change

    u[0], u[1] = np.sin(x[0]) * np.cos(x[1]) * np.cos(x[2]), -np.cos(x[0]) * np.sin(x[1]) * np.cos(x[2])
    for i in range(3):
        u_hat[i] = fft.forward(u[i], u_hat[i])
    for _ in range(5):
        begin, total = u_hat.copy(), u_hat.copy()
        for weight, part in ((1 / 6, 0.5), (1 / 3, 0.5), (1 / 3, 1), (1 / 6, 0)):
            right = right_side(u_hat)
            total += weight * dt * right
            u_hat[:] = begin + part * dt * right
        u_hat[:] = total
    for i in range(3):
        u[i] = fft.backward(u_hat[i], u[i])
    assert comm.allreduce((u.v * u.v).sum()) / n**3 / 2 == pytest.approx(0.124953117517, abs=1e-7)
    for one in {fft, fine}:
        one.destroy()


def test_distributed_arrays(random):
    full = random.random((3, 8, 7, 6))
    a = DistArray((3, 8, 7, 6), rank=1, subcomm=(0, 0, 1))
    a[...] = full[a.local_slice()]
    b = a.redistribute(0)
    assert b.alignment == 0 and np.array_equal(b, full[b.local_slice()])
    line = b.get((1, 2, slice(None), 3))
    assert line is None if RANK else np.array_equal(line, full[1, 2, :, 3])
    assert a[0].rank == 0 and not isinstance(a[0, 0], DistArray) and type(a.v) is np.ndarray


class Vectors(DistArray):
    """As the fields of some programs, which take components by number."""

    def __getitem__(self, index):
        assert self.rank != 1 or not isinstance(index, tuple)
        return super().__getitem__(index)


@pytest.mark.parametrize("kind", [HDF5File, NCFile])
def test_components_in_files(random, tmp_path_factory, kind):
    pytest.importorskip("h5py" if kind is HDF5File else "netCDF4")
    folder = comm.bcast(str(tmp_path_factory.mktemp("files")) if RANK == 0 else None)
    full = random.random((3, 6, 5, 4))
    u = Vectors((3, 6, 5, 4), rank=1)
    u.v[...] = full[u.local_slice()]
    file = kind(os.path.join(folder, "u"), domain=((0, 1),) * 3, mode="w")
    file.write(0, {"u": [u, (u, [slice(None), 2, slice(None)])]}, as_scalar=True)
    for i in range(3):
        v = DistArray((6, 5, 4))
        file.read(v, f"u{i}", step=0)
        assert np.array_equal(v, full[i][v.local_slice()])


def test_files(random, tmp_path_factory):
    h5py = pytest.importorskip("h5py")
    folder = comm.bcast(str(tmp_path_factory.mktemp("files")) if RANK == 0 else None)
    name = os.path.join(folder, "u.h5")
    full = random.random((6, 5, 4))
    u = DistArray((6, 5, 4))
    u[...] = full[u.local_slice()]
    file = HDF5File(name, domain=((0, 1), (0, 2), (1, 3)), mode="w")
    for step in (0, 1):
        file.write(step, {"u": [u, (u, [slice(None), 2, slice(None)])]})
    v = DistArray((6, 5, 4), alignment=0)
    v.read(name, "u", 1)
    assert np.array_equal(v, full[v.local_slice()])
    comm.Barrier()
    if RANK == 0:
        with h5py.File(name, "r") as content:
            assert np.array_equal(content["u/2D/slice_2_slice/1"], full[:, 2])
        generate_xdmf(name)
        with open(name[:-3] + "_slice_2_slice.xdmf") as text:
            text = text.read()
        assert 'Dimensions="6 1 4"' in text and "u/2D/slice_2_slice/1" in text and "0.8" in text
    comm.Barrier()


@pytest.mark.parametrize("shape", [(7, 5), (2, 9), (1, 4, 6), (5, 3, 2, 4)], ids=str)
@pytest.mark.parametrize("dtype", ["f", "d", "D", "i2"])
def test_transfers(random, shape, dtype):
    """Each call of one transfer: the first ones are without a plan."""
    subcomm = Subcomm(comm, [0] + [1] * (len(shape) - 1))
    before = Pencil(subcomm, shape, 1)
    after = before.pencil(0)
    transfer = before.transfer(after, dtype)
    for call in range(2 * 3):
        whole = (100 * random.random(shape)).astype(dtype)
        a, b = [whole[tuple(map(slice, one.substart, np.add(one.substart, one.subshape)))] for one in (before, after)]
        given, target = (a, b) if call % 3 < 2 else (b, a)
        result = np.zeros(target.shape[::-1], dtype).T if call > 2 else np.zeros(target.shape, dtype)
        (transfer.forward if call % 3 < 2 else transfer.backward)(given, result)
        assert (result == target).all()
    transfer.destroy()
    subcomm.destroy()
