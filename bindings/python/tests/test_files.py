# SPDX-License-Identifier: BSD-3-Clause
"""Files of distributed arrays, against the global arrays; what was gathered."""
import os

import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI
from refusals import FAST, P, RANK, read_only, refused
from test_halo import NUMBERS, OTHERS, numbers

import fftnd
import redist

SHAPE = (7, 5, 4)


def part_of(full, random, ghosts=1):
    """A random grid's part of an array, with ghosts, in C order or Fortran's: the local array and its box."""
    ndims = int(random.integers(1, full.ndim + 1))
    with redist.Grid(comm, ndims) as grid:
        box = grid.box(full.shape, random.permutation(full.ndim)[:ndims]).with_ghosts(ghosts)
    local = np.zeros(box.extent, full.dtype, "CF"[int(random.integers(0, 2))])
    local[box.local] = full[box.slices]
    return local, box


def equal(a, b):
    """Whether elements are the same ones; those of long double have bytes that are no part of the number."""
    return a.dtype == b.dtype and (a.flatten() == b.flatten()).all() if a.dtype.char in "gG" else a.tobytes() == b.tobytes()


def same(local, box, full):
    """Whether a part is right, and what is around it untouched."""
    expected = np.zeros_like(local)
    expected[box.local] = full[box.slices]
    return comm.allreduce(bool(equal(local, expected))) == P


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS, ids=str)
def test_any_elements(random, folder, dtype):
    """Written, read by NumPy, read again in other parts, and gathered."""
    path, full = f"{folder}/u", numbers(random, SHAPE, dtype)
    local, box = part_of(full, random)
    before = local.copy()
    redist.write(comm, path, redist.Field(local, box, SHAPE))
    assert equal(np.fromfile(path, dtype), full) and equal(local, before)
    again, box = part_of(np.zeros_like(full), random)
    redist.read(comm, path, redist.Field(again, box, SHAPE))
    assert same(again, box, full)
    whole = np.zeros_like(full)
    redist.read(comm, path, redist.Field(whole))
    assert equal(whole, full)
    found = redist.to_numpy(comm, redist.Field(again, box, SHAPE))
    assert equal(found, full) and found.dtype == full.dtype and found.shape == SHAPE
    found = redist.to_numpy(comm, redist.Field(again, box, SHAPE, selection=np.s_[1:6:2, -1]), root=P - 1)
    assert found is None if RANK < P - 1 else equal(found, full[1:6:2, -1:])


def test_several_fields_and_selections(random, folder):
    path, full = f"{folder}/u", [random.random(SHAPE), numbers(random, (9,), "u2")]
    parts = [part_of(one, random) for one in full]
    fields = [redist.Field(*parts[0], SHAPE, selection=(slice(1, None, 2), 3)), redist.Field(*parts[1], (9,))]
    expected = full[0][1::2, 3:4].tobytes() + full[1].tobytes()
    for options in ({}, {"method": "mpi"}, {"offset": 16, "truncate": False, "flush": True, "writers_per_node": 1}):
        redist.write(comm, path, fields, **options)
        with open(path, "rb") as file:
            file.seek(options.get("offset", 0))
            assert file.read(len(expected)) == expected and ("truncate" in options or not file.read())
        for local, _ in parts:
            local[...] = 0
        redist.read(comm, path, fields, **{key: options[key] for key in options if key in ("method", "offset")})
        for (local, box), one in zip(parts, full):
            kept = one
            if one.ndim == 3:
                kept = np.zeros(SHAPE)
                kept[1::2, 3:4] = one[1::2, 3:4]
            assert same(local, box, kept)
            local[box.local] = one[box.slices]
        comm.Barrier()


def test_files_in_several_calls(random, folder):
    path, full = f"{folder}/u", random.random(SHAPE)
    local, box = part_of(full, random)
    field = redist.Field(local, box, SHAPE)
    plane = redist.Field(local, box, SHAPE, selection=np.s_[:, 3, ::2])
    expected = full.tobytes() + full[:, 3, ::2].tobytes()
    with redist.File(comm, path, "w", flush=True) as file:
        file.write(field)
        file.write([plane, field])
        assert file.position == len(expected) + full.nbytes
    assert comm.bcast(open(path, "rb").read() if comm.rank == 0 else None) == expected + full.tobytes()
    again = redist.File(comm, path, "r+", position=len(expected))
    local[...] = 0
    again.read(field)
    assert same(local, box, full) and repr(again).endswith(f"at byte {len(expected) + full.nbytes}>")
    again.position = 0
    again.write(plane)
    assert os.path.getsize(path) == len(expected) + full.nbytes
    with pytest.raises(ValueError, match="is for reading; a file is written with mode 'w' or 'r\\+'"):
        redist.File(comm, path).write(field)
    with pytest.raises(ValueError, match="mode is 'a'; it is one of 'r'"):
        redist.File(comm, path, "a")
    comm.Barrier()


@pytest.mark.parametrize("keywords", [{}, {"batch": 2, "batch_position": "last"}, {"in_place": True},
                                      {"ghosts": redist.Halo(1, periodic=True)}, {"padding": ((0, 0, 3), None)},
                                      {"kind": "c2c", "dtype": "F", "memory_order": (None, (2, 0, 1))}], ids=str)
def test_transforms(random, folder, keywords):
    path = f"{folder}/u"
    with fftnd.Plan(comm, SHAPE, **keywords, **FAST) as plan:
        batch = keywords.get("batch", 1)
        full = random.random((batch, *SHAPE)).astype(plan.physical_dtype)
        u = plan.empty_physical()
        u[...] = np.moveaxis(full[(slice(None), *plan.physical_slices)], 0, -1) if batch > 1 else full[0][plan.physical_slices]
        plan.save(path, u)
        assert np.fromfile(path, full.dtype).tobytes() == full.tobytes()
        assert plan.to_numpy(u).tobytes() == full.tobytes()
        again = plan.load(path)
        assert (again == u).all() and again.strides == u.strides
        mine = plan.empty_physical()
        mine[...] = 0
        assert plan.load(path, mine) is mine and (mine == u).all()
        v = plan.forward(u)
        expected = np.fft.fftn(full, axes=(1, 2, 3)) if plan.physical_dtype.kind == "c" else np.fft.rfftn(full, axes=(1, 2, 3))
        plan.save(path, v, "spectral", flush=True)
        found = np.fromfile(path, plan.spectral_dtype).reshape(expected.shape)
        assert np.allclose(found, expected, atol=1e-3 if plan.spectral_dtype == "F" else 1e-10)
        gathered = plan.to_numpy(v, "spectral", root=0)
        assert gathered is None if RANK else (gathered.reshape(expected.shape) == found).all()


def test_checkpoints(random, folder):
    """Written by all ranks, read by all and by each one alone; parameters are a dictionary or bytes."""
    path, full = f"{folder}/state", [random.random(SHAPE), numbers(random, (9, 3), "u4")]
    (u, box_u), (n, box_n) = [part_of(one, random) for one in full]
    fields = {"flow/u": redist.Field(u, box_u, SHAPE), "n": redist.Field(n, box_n, (9, 3))}
    given = {"time": np.float64(0.5), "steps": np.arange(3), "name": "flow é"}
    expected = {"time": 0.5, "steps": [0, 1, 2], "name": "flow é"}
    redist.write_checkpoint(comm, path, fields, b"\0first")
    redist.write_checkpoint(comm, path, fields, given, keep=1)
    info = redist.checkpoint_info(path, comm)
    assert info.fields == {"flow/u": redist.CheckpointField(SHAPE, "double", 8),
                           "n": redist.CheckpointField((9, 3), "uint32", 4)}
    assert info.parameters == expected and info.version == redist.version() and info.seconds > 1.7e9
    assert redist.checkpoint_info(f"{path}.1").parameters == b"\0first"
    again, box = part_of(np.zeros_like(full[0]), random)
    assert redist.read_checkpoint(comm, path, {"flow/u": redist.Field(again, box, SHAPE)}) == expected
    assert same(again, box, full[0])
    whole, single = np.zeros((9, 3), "u4"), np.zeros(SHAPE, "f")
    parameters = redist.read_checkpoint(MPI.COMM_SELF, path,
                                        {"n": redist.Field(whole), "flow/u": redist.Field(single)}, convert=True)
    assert (whole == full[1]).all() and (single == full[0].astype("f")).all() and parameters == expected
    assert redist.read_checkpoint(comm, f"{path}.1", {}) == b"\0first"
    for wrong, words in (({"v": redist.Field(whole)}, "n"), ({"n": redist.Field(np.zeros((9, 4), "u4"))}, "9 x 3"),
                         ({"n": redist.Field(np.zeros((9, 3)))}, "uint32")):
        with pytest.raises(redist.Error, match=words):
            redist.read_checkpoint(comm, path, wrong)
    if RANK == 0:
        with open(path, "r+b") as file:
            file.seek(4096)  # of the first field
            file.write(b"damage")
    comm.Barrier()
    with pytest.raises(redist.Error) as error:
        redist.read_checkpoint(comm, path, fields)
    assert error.value.name == "REDIST_ERR_FILE" and len(set(comm.allgather(str(error.value)))) == 1


def test_writes_that_have_started(random, folder):
    """The arrays change meanwhile; two at once, one that is dropped, and one that fails."""
    path, full = f"{folder}/u", random.random(SHAPE)
    local, box = part_of(full, random)
    field = redist.Field(local, box, SHAPE)
    raw = redist.write_start(comm, path, field, flush=True)
    with redist.write_checkpoint_start(comm, f"{folder}/state", {"u": field}, {"step": 3}) as state:
        local[...] = 0
        assert repr(raw) == f"<redist.Write of {path!r}, started>" and state.comm == comm
        raw.wait()
    raw.wait()
    assert repr(state) == f"<redist.Write of '{folder}/state', complete>"
    assert np.fromfile(path).tobytes() == full.tobytes()
    assert redist.read_checkpoint(comm, f"{folder}/state", {"u": field}) == {"step": 3} and same(local, box, full)
    living = redist.collect(comm)
    redist.write_start(comm, f"{folder}/dropped", field)
    assert redist.collect(comm) == living and np.fromfile(f"{folder}/dropped").tobytes() == full.tobytes()
    with pytest.raises(redist.Error, match="No space left"), redist.write_start(comm, "/dev/full", field):
        pass
    with pytest.raises(redist.Error, match="No such file"):
        redist.write_checkpoint_start(comm, f"{folder}/missing/state", {"u": field})
    with pytest.raises(TypeError, match="write_start"):
        redist.Write()


def test_another_plan_goes_on(random, folder):
    """A state of one plan is read by another one of other axes in memory, precision and ranks."""
    path, full = f"{folder}/state", random.random((2, *SHAPE))
    with fftnd.Plan(comm, SHAPE, batch=2, **FAST) as plan:
        u = plan.empty_physical()
        u[...] = full[(slice(None), *plan.physical_slices)]
        redist.write_checkpoint(comm, path, {"u": plan.field(u), "v": plan.field(plan.forward(u), "spectral")})
        assert "side of <fftnd.Plan of 2 fields" in repr(plan.field(u))
    few = comm.Split(RANK < max(1, P - 1), RANK)
    if RANK < max(1, P - 1):
        with fftnd.Plan(few, SHAPE, dtype="f", batch=2, batch_position="last", memory_order=((2, 0, 1), None), **FAST) as plan:
            u, v = plan.empty_physical(), plan.empty_spectral()
            redist.read_checkpoint(few, path, {"v": plan.field(v, "spectral"), "u": plan.field(u)}, convert=True)
            assert (np.moveaxis(u, -1, 0) == full[(slice(None), *plan.physical_slices)].astype("f")).all()
            assert np.allclose(plan.backward(v), u, atol=1e-5)
    few.Free()


def test_wrong_arguments(random, folder):
    path, full = f"{folder}/u", random.random(SHAPE)
    local, box = part_of(full, random)
    right = redist.Field(local, box, SHAPE)
    redist.write(comm, path, right)

    def call(function, *given, **keywords):
        return lambda bad: function(comm, *[one[bad] if isinstance(one, tuple) else one for one in given],
                                    **{key: value if bad else 0 for key, value in keywords.items()})

    def field(*given, **keywords):
        return right, redist.Field(*given, **keywords)

    for function in (redist.write, redist.write_start, redist.read):
        for given, keywords, kind, words in (
                (((path, None), right), {}, TypeError, "path is None; it is the name of a file"),
                (((path, "a\0b"), right), {}, ValueError, "path is 'a"), (((path, 5), right), {}, TypeError, "path is 5"),
                ((path, (right, local)), {}, TypeError, "fields"), ((path, (right, [right, 5])), {}, TypeError, "fields[1] is 5"),
                ((path, field(None, box, SHAPE)), {}, TypeError, "array is None"),
                ((path, field(local, None, SHAPE[:2])), {}, ValueError, "shape is (7, 5)"),
                ((path, field(local, (0, 3), SHAPE)), {}, TypeError, "box is (0, 3); it is a redist.Box"),
                ((path, field(np.zeros((1, 1, 1)), box, SHAPE)), {}, ValueError, "array has the shape (1, 1, 1)"),
                ((path, field(local, redist.Box((0, 0, 0), box.extent, box.extent, (1, 0, 0)), SHAPE)), {}, ValueError,
                 "along axis 0 the box is not within its local array"),
                ((path, field(np.zeros(3, "i2,i4")["f1"], redist.Box((0,), (3,)), (3,))), {}, ValueError, "a stride of 6"),
                ((path, field(local, box, SHAPE, selection=(9,))), {}, ValueError, "selection[0] is 9"),
                ((path, field(local, box, SHAPE, selection=np.s_[3:3])), {}, ValueError, "it selects at least one"),
                ((path, field(local, box, SHAPE, selection=np.s_[::-1])), {}, ValueError, "in their order"),
                ((path, field(local, box, SHAPE, selection=(0,) * 4)), {}, ValueError, "of 4 axes; the array has 3"),
                ((path, right), {"offset": -1}, ValueError, "offset is -1"),
                ((path, right), {"buffer_bytes": 0.5}, TypeError, "buffer_bytes is 0.5")):
            refused(kind, [words], call(function, *given, **keywords))
    state = f"{folder}/state"
    redist.write_checkpoint(comm, state, {"u": right}, {"time": 1})
    for function in (redist.write_checkpoint, redist.write_checkpoint_start, redist.read_checkpoint):
        refused(TypeError, ["fields is <redist.Field"], call(function, state, ({"u": right}, right)))
    refused(TypeError, ["fields['u'].array is None"], call(redist.write_checkpoint, state, ({"u": right},
                                                                                          {"u": redist.Field(None)})))
    refused(ValueError, ["a name in fields is 'u\\x00v'"], call(redist.write_checkpoint, state, ({"u": right}, {"u\0v": right})))
    refused(TypeError, ["parameters is {'a': <object"], call(redist.write_checkpoint, state, {"u": right}, (b"", {"a": object()})))
    refused(TypeError, ["parameters is 5"], call(redist.write_checkpoint, state, {"u": right}, (b"", 5)))
    refused(ValueError, ["keep is -1"], call(redist.write_checkpoint, state, {"u": right}, keep=-1))
    refused(ValueError, ["array cannot be written"], call(redist.read, path, field(read_only(local), box, SHAPE)))
    refused(TypeError, ["field is 5"], call(redist.to_numpy, (right, 5)))
    assert redist.read_checkpoint(comm, state, {}) == {"time": 1} and redist.to_numpy(comm, right).tobytes() == full.tobytes()
    with pytest.raises(redist.Error, match="too short|bytes"):
        redist.read(comm, path, [right, right])
    with pytest.raises(redist.Error, match="No such file"):
        redist.read(comm, f"{folder}/missing", right)
    assert same(local, box, full)
    with fftnd.Plan(comm, SHAPE, **FAST) as plan:
        u = plan.empty_physical()
        refused(ValueError, ["side is 'both'"], lambda bad: plan.load(path, None, "both" if bad else "physical"))
        refused(ValueError, ["array has the shape (1, 1, 1)"], lambda bad: plan.save(path, np.zeros((1, 1, 1)) if bad else u))
    with pytest.raises(redist.Error, match="the plan was freed"):
        plan.save(path, u)


def hdf5():
    try:
        return redist.HDF5
    except ImportError as error:
        pytest.skip(str(error))


def test_hdf5(random, folder):
    """Written in steps, read by h5py, and again in other parts."""
    HDF5, path, full = hdf5(), f"{folder}/flow.h5", random.random((2, *SHAPE))
    counts = numbers(random, (9,), "u2")
    (u, box), (n, box_n) = part_of(full[0], random), part_of(counts, random)
    for access in ("root", "auto"):
        with HDF5(comm, path, "w", access=access) as file:
            assert repr(file) == f"<redist.HDF5 {path!r}, mode 'w', on {P} ranks>"
            file.write({"n": redist.Field(n, box_n, (9,))}, compression=4)
            plane = np.zeros((3, 2) if RANK == 0 else (0, 0))
            file.write({"plane": redist.Field(plane, redist.Box((0, 0), plane.shape), (3, 2))})
            for step in range(2):
                u[box.local] = full[step][box.slices]
                file.write({"flow/u": redist.Field(u, box, SHAPE)}, step="next", time=0.5 * step, axes=("z", "y", "x"),
                           spacing=(1, 0.5, 0.25), origin=(0, 0, 0))
            for key, value in (("title", "flow é"), ("viscosity", 0.25), ("counts", [3, 2]), ("lengths", (1.5, 2.5))):
                file.set_attribute(key, value)
                assert (np.array(file.attribute(key)) == value).all()
            file.set_attribute("steps", 2, "flow/u")
            assert file.attribute("steps", "flow/u") == 2
            assert {name: tuple(one) for name, one in file.datasets.items()} == {
                "flow/u": (SHAPE, 2, 1), "n": ((9,), None, 1), "plane": ((3, 2), None, 1)}
            for name, words in (("plane.xdmf", '"3DCoRectMesh" Dimensions="1 3 2"'),
                                ("flow.xdmf", '="7 5 4" NumberType="Float" Precision="8" Format="HDF">flow.h5:/flow/u|'
                                              "1 0 0 0:1 1 1 1:1 7 5 4:2 7 5 4<"),
                                ("flow.xdmf2", ">1 0 0 0 1 1 1 1 1 7 5 4<"), ("flow.xmf2", ">1 0 0 0 1 1 1 1 1 7 5 4<")):
                file.write_xdmf(f"{folder}/{name}")
                with open(f"{folder}/{name}", encoding="utf-8") as text:
                    assert text.read().count(words) == 1
        assert repr(file) == "<redist.HDF5, closed>"
        with HDF5(comm, path) as file:
            again, other = part_of(np.zeros(SHAPE), random)
            for step, place in ((0, 0), ("last", 1)):
                file.read({"flow/u": redist.Field(again, other, SHAPE)}, step=step)
                assert same(again, other, full[place])
            with pytest.raises(redist.Error, match="open for reading"):
                file.write({"v": redist.Field(again, other, SHAPE)})
            refused(TypeError, ["fields['v'] is 5"], lambda bad: file.read({"v": 5} if bad else {}))
            refused(ValueError, ["step is 'first'"], lambda bad: file.read({}, step="first" if bad else None))
    refused(ValueError, ["mode is 'x'"], lambda bad: HDF5(comm, path, "x" if bad else "r").close())
    h5py = pytest.importorskip("h5py")
    if RANK == 0:
        with h5py.File(path) as file:
            assert (file["flow/u"][:] == full).all() and (file["n"][:] == counts).all() and file["n"].dtype == "u2"
            assert (file["time"][:] == [0, 0.5]).all() and file.attrs["title"] == "flow é"
    comm.Barrier()
