# SPDX-License-Identifier: BSD-3-Clause
"""Ghosts of transforms, against the global array."""
import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI
from refusals import FAST, P, RANK, SHAPE, read_only, refused
from test_fftnd import close, tight
from test_halo import Case

import fftnd
import redist


class Transform(Case):
    """A plan with random ghosts, and its arrays with the fields along the first axis."""

    def __init__(self, random, **keywords):
        super().__init__(random, int(random.integers(2, 4)))
        ndims = len(self.shape)
        self.halo = redist.Halo(self.low, self.high, self.periodic, self.corners)
        accumulates, self.fills = (bool(one) for one in random.integers(0, 2, 2))
        self.keywords = {"ghosts": self.halo, "accumulate_ghosts": accumulates, "fill_ghosts": self.fills, **keywords}
        self.accumulates = self.keywords["accumulate_ghosts"]
        self.batch = self.keywords.setdefault("batch", (None, 1, 3)[random.integers(0, 3)])
        self.last = self.batch is not None and random.integers(0, 2) == 1
        self.keywords["batch_position"] = "last" if self.last else "first"
        if random.integers(0, 2):
            self.keywords["box"] = self.box, None
        else:
            self.keywords["grid"] = int(random.integers(1, ndims))
            self.keywords["memory_order"] = random.permutation(ndims).tolist(), None
            if random.integers(0, 2):
                self.keywords.update(padding=((3,) * ndims, None), offset=((1,) * ndims, None))

    def plan(self):
        plan = fftnd.Plan(comm, self.shape, **self.keywords, **FAST)
        self.show(redist.Box(plan.physical.start, plan.physical.count))
        return plan

    def fields(self, array):
        return array[None] if self.batch is None else np.moveaxis(array, -1 if self.last else 0, 0)

    def fill(self, whole, full, random):
        """Numbers in this rank's part and its ghosts; returns the sums that all ranks' ghosts add to the global array."""
        sums, own = np.zeros_like(full), np.random.default_rng([int(random.integers(1 << 30)), RANK])
        if whole.size > 0:
            whole[...] = own.integers(1, 9, whole.shape)
            whole[:, self.own] = full.reshape(len(full), -1)[:, self.places[self.own]]
            for field, of_field in zip(whole, sums):
                np.add.at(of_field.reshape(-1), self.places[self.ghosts], field[self.ghosts])
        comm.Allreduce(MPI.IN_PLACE, sums)
        return sums

    def check(self, whole, full, untouched=None):
        """Points, ghosts, and what is neither."""
        if 0 in self.box.count:
            return
        shown = self.places >= 0 if self.fills else self.own
        assert close(whole[:, shown], full.reshape(len(full), -1)[:, self.places[shown]], whole.dtype), self.keywords
        assert untouched is None or (whole[:, ~shown] == untouched).all(), self.keywords


def modes_of(full, dtype):
    axes = range(1, full.ndim)
    return np.fft.fftn(full, axes=axes) if np.dtype(dtype).kind == "c" else np.fft.rfftn(full, axes=axes)


@pytest.mark.parametrize("dtype", ["d", "F", "f", "D"])
@pytest.mark.parametrize("in_place", [False, True])
def test_transforms(random, dtype, in_place):
    for _ in range(6):
        case = Transform(random, dtype=dtype, in_place=in_place)
        with case.plan() as plan:
            assert plan.ghosts == case.halo
            full = random.integers(0, 9, (case.batch or 1, *case.shape)).astype(dtype)
            u = plan.empty_physical()
            whole = case.fields(plan.with_ghosts(u))
            assert u.size == 0 or np.shares_memory(whole, u) and whole[0].shape == case.box.extent
            added = case.fill(whole, full, random)
            before = whole.copy()
            modes = plan.forward(u)
            if case.accumulates:
                full += added
            elif not in_place:
                assert (whole == before).all()
            expected = modes_of(full, dtype)[(slice(None), *plan.spectral_slices)]
            assert close(case.fields(modes), expected, dtype), case.keywords
            case.check(case.fields(plan.with_ghosts(plan.backward(modes))), full)
            if not in_place:
                whole[...] = 77
                assert plan.backward(modes, out=u) is u
                case.check(whole, full, 77)


def first_twice(box):
    for field in box.outputs:
        field[...] = box.inputs[0]


@pytest.mark.parametrize("kind, options", [("laplacian", {}), ("modes", dict(function=first_twice, outputs=2)),
                                           ("gradient", {})], ids=str)
def test_operators(random, kind, options):
    """Of several numbers of fields on both sides."""
    for _ in range(4):
        case = Transform(random)
        with case.plan() as plan, plan.operator(kind, **options) as operator:
            full = random.integers(0, 9, (case.batch or 1, *case.shape)).astype(float)
            u = operator.empty_input()
            added = case.fill(case.fields(operator.with_ghosts(u)), full, random)
            out = operator.with_ghosts(operator(u))
            if case.accumulates:
                full += added
            with fftnd.Plan(MPI.COMM_SELF, case.shape, batch=len(full), **FAST) as alone:
                expected = alone.apply(kind, full, **options)
            if case.batch is None and out.ndim > len(case.shape):
                case.batch = len(out)
            case.check(case.fields(out), expected)


def test_arrays_of_the_program(random):
    """The part of an array of NumPy with room for the ghosts around it."""
    full = random.random(SHAPE)
    for own_box in (False, True):
        with redist.Grid(comm, 2) as grid:
            box = grid.box(SHAPE, (0, 1)).with_ghosts((1, 0, 2), (0, 1, 2))
        keywords = dict(box=(box, None)) if own_box else dict(grid=MPI.Compute_dims(P, 2))
        with fftnd.Plan(comm, SHAPE, ghosts=redist.Halo((1, 0, 2), (0, 1, 2), periodic=True), accumulate_ghosts=True,
                        **keywords, **FAST) as plan:
            box = redist.Box(plan.physical.start, plan.physical.count).with_ghosts((1, 0, 2), (0, 1, 2))
            u = np.zeros(box.extent)
            u[box.local] = full[box.slices]
            plan.backward(plan.forward(u[box.local]), out=u[box.local])
            assert close(u[box.local], full[box.slices], "d")
            if 0 not in box.count:
                for axis, distance in ((0, -1), (1, 1), (2, -2), (2, 2)):
                    assert close(u[box.neighbours(axis, distance)], np.roll(full, -distance, axis)[box.slices], "d")
                assert plan.with_ghosts(u[box.local]).ctypes.data == u.ctypes.data


def test_wrong_arrays():
    """Ghosts are written around an array: one without room for them is refused, also where its strides fit."""
    with fftnd.Plan(comm, (2 * P, 3, 4), grid=(P,), ghosts=redist.Halo((1, 0, 0), 0, periodic=True), **FAST) as plan:
        a, b = plan.empty_physical(), plan.empty_spectral()
        a[...] = 1
        bare, words = np.ones(a.shape), [f"is in {a.nbytes} bytes of memory; with in_place, overwrite_input or ghosts",
                                         f"needs {a.nbytes * 3 // 2}, of which {a.nbytes // 2} are before its first "
                                         "element, where it has 0"]
        refused(ValueError, ["physical", *words], lambda bad: plan.forward(bare if bad else a, b))
        refused(ValueError, ["out", *words], lambda bad: plan.backward(b, bare if bad else a))
        with pytest.raises(ValueError, match="physical is in"):
            plan.with_ghosts(bare)
        behind = np.ones((4, *a.shape[1:]))[:2]
        refused(ValueError, ["physical is in", "where it has 0"], lambda bad: plan.forward(behind if bad else a, b))
        plan.forward(read_only(plan.with_ghosts(a))[1:], b)
        for wrong, kind, words in ((np.ones((9, 9, 9)), ValueError, "has the shape"), (None, TypeError, "is None"),
                                   (read_only(plan.with_ghosts(a))[1:], ValueError, "cannot be written")):
            with pytest.raises(kind, match=f"physical {words}"):
                plan.with_ghosts(wrong)
    with fftnd.Plan(comm, SHAPE, ghosts=redist.Halo(1), accumulate_ghosts=True, **FAST) as plan:
        a, b = plan.empty_physical(), plan.empty_spectral()
        a[...] = 1

        def unwritable():
            view = a[...]
            view.flags.writeable = False
            return view
        refused(ValueError, ["physical cannot be written"], lambda bad: plan.forward(unwritable() if bad else a, b))
        with plan.operator("laplacian") as operator:
            a, b = operator.empty_input(), operator.empty_output()
            a[...] = 1
            refused(ValueError, ["array cannot be written"], lambda bad: operator(unwritable() if bad else a, b))
            for wrong, kind, words in ((np.ones((9, 9, 9)), ValueError, "has the shape"), (None, TypeError, "is None")):
                with pytest.raises(kind, match=f"array {words}"):
                    operator.with_ghosts(wrong)
    with fftnd.Plan(comm, SHAPE, **FAST) as plan:
        a = plan.empty_physical()
        assert plan.ghosts is None and plan.with_ghosts(a) is a and close(plan.with_ghosts(tight(a)), tight(a), "d")


def test_what_the_library_refuses():
    """In Python's names, on all ranks."""
    with redist.Grid(comm, 2) as grid:
        box = grid.box(SHAPE, (0, 1)).with_ghosts(1)
    for ghosts, keywords, code, words in (
            (redist.Halo((1, -2, 1)), {}, "SIZE", r"ghosts.low\[1\] = -2 is not in 0\.\."),
            (redist.Halo(0, (9, 1, 1)), {}, "SIZE", r"ghosts.high\[0\] = 9 is wider than shape\[0\] = 6"),
            (redist.Halo(0, (0, 2, 0)), dict(box=(box, None)), "SIZE", r"ghosts.high\[1\] = 2, but box\[FFTND_PHYSICAL\]")):
        with pytest.raises(redist.ArgumentError, match=words) as error:
            fftnd.Plan(comm, SHAPE, ghosts=ghosts, **keywords, **FAST)
        assert error.value.name == f"REDIST_ERR_{code}"
    if P > 1:
        with pytest.raises(redist.ArgumentError, match="ghosts.periodic") as error:
            fftnd.Plan(comm, SHAPE, ghosts=redist.Halo(1, periodic=RANK == 0), **FAST)
        assert error.value.name == "REDIST_ERR_DISAGREE"
