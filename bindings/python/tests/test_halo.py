# SPDX-License-Identifier: BSD-3-Clause
"""Ghosts, against the global array."""
import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI
from refusals import FAST, P, RANK, read_only, refused

import redist

NUMBERS = ["f", "d", "g", "F", "D", "G", "b", "h", "i", "q", "B", "H", "I", "Q"]
OTHERS = ["?", "f2", "M8[s]", [("x", "f4"), ("y", "i2", 3)]]


class Case:
    """A distributed array with random extents and ghosts; `places` says which element of the global array each element
    of the local array is or shows, -1 for none."""

    def __init__(self, random, ndims=None):
        ndims = int(random.integers(1, 4)) if ndims is None else ndims
        self.shape = tuple(int(n) for n in random.integers(1, 9, ndims))
        self.periodic = tuple(bool(one) for one in random.integers(0, 2, ndims))
        self.low, self.high = ([int(random.integers(0, 5 if wraps else min(4, n) + 1))
                                for n, wraps in zip(self.shape, self.periodic)] for _ in range(2))
        self.corners = bool(random.integers(0, 2))
        split = int(random.integers(1, ndims + 1))
        with redist.Grid(comm, split) as grid:
            self.show(grid.box(self.shape, range(split)))

    def show(self, box):
        """Takes this rank's part of the array."""
        self.box = box.with_ghosts(self.low, self.high)
        self.places = self._places()
        self.own = np.zeros(self.box.extent, bool)
        self.own[self.box.local] = True
        self.ghosts = (self.places >= 0) & ~self.own

    def _places(self):
        if 0 in self.box.count:
            return np.full(self.box.extent, -1)
        indices, outside = np.indices(self.box.extent), 0
        place, exists = np.zeros(self.box.extent, int), np.ones(self.box.extent, bool)
        for index, start, count, low, size, periodic in zip(indices, self.box.start, self.box.count, self.low, self.shape,
                                                            self.periodic):
            at = start + index - low
            outside += (index < low) | (index >= low + count)
            exists &= periodic | ((at >= 0) & (at < size))
            place = place * size + at % size
        return np.where(exists & (self.corners | (outside < 2)), place, -1)

    def plan(self, array, **keywords):
        return redist.HaloPlan(comm, array, self.box, self.low, self.high, shape=self.shape, periodic=self.periodic,
                               corners=self.corners, **{**FAST, **keywords})


def numbers(random, shape, dtype):
    """Random elements of any type: small whole numbers of the types that have numbers."""
    if np.dtype(dtype).kind in "iufc":
        return random.integers(0, 4, shape).astype(dtype)
    return random.integers(0, 2, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8).view(dtype).reshape(shape)


def same(a, b):
    """Long doubles have bytes that mean nothing."""
    return bool((a == b).all())


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS, ids=str)
def test_fill_and_accumulate(random, dtype):
    for bind in ("plan", "execution", "mapped") * 2:
        case = Case(random)
        full = numbers(random, case.shape, dtype)
        start = np.random.default_rng([int(random.integers(1 << 30)), RANK])
        u = redist.empty(case.box.extent, dtype, comm)
        before = u[...] = numbers(start, case.box.extent, dtype)
        before = before.copy()
        given = () if bind == "plan" else (u,)
        with case.plan(u if bind != "execution" else u.shape, dtype=dtype if bind == "execution" else None,
                       bind=bind) as plan:
            own = plan.interior(*given if given or bind != "plan" else (u,))
            assert own.base is not None and own.shape == case.box.count
            own[...] = full[case.box.slices]
            assert plan.fill(*given) is u
            shows = case.places >= 0
            assert same(u[shows], full.reshape(-1)[case.places[shows]])
            assert u[~shows].tobytes() == before[~shows].tobytes() or np.dtype(dtype).char in "gG"
            u[case.ghosts] = before[case.ghosts]
            if dtype in OTHERS:
                with pytest.raises(redist.ArgumentError):
                    plan.accumulate(*given)
                continue
            sums = np.zeros(full.size, complex)
            np.add.at(sums, case.places[case.ghosts], u[case.ghosts].astype(complex))
            comm.Allreduce(MPI.IN_PLACE, sums)
            plan.start("accumulate", *given)
            plan.wait()
            assert same(u[case.own], full.reshape(-1)[case.places[case.own]] + sums[case.places[case.own]])
            assert same(u[case.ghosts], before[case.ghosts])


def test_each_method(random):
    case = Case(random)
    full = random.random(case.shape)
    u = redist.empty(case.box.extent, comm=comm)
    served = []
    for method in sorted(redist.methods()):
        try:
            plan = case.plan(u, method=method, overlap="read")
        except redist.Error as error:
            assert error.name == "REDIST_ERR_METHOD"
            continue
        with plan:
            u[...] = -1
            plan.interior()[...] = full[case.box.slices]
            plan.start()
            plan.wait()
            shows = case.places >= 0
            assert same(u[shows], full.reshape(-1)[case.places[shows]]) and same(u[~shows], np.full_like(u[~shows], -1))
            served.append(method)
            with pytest.raises(redist.ArgumentError):
                plan.accumulate()
    assert "alltoallw" in served or "p2p" in served


def test_one_number_for_all_axes(random):
    with redist.Grid(comm, 2) as grid:
        box = grid.box((8, 12), (0, 1)).with_ghosts(1)
    assert box.extent == tuple(n + 2 for n in box.count) and box.offset == (1, 1)
    u = np.zeros(box.extent, int)
    full = np.arange(96).reshape(8, 12)
    with redist.HaloPlan(comm, u, box, 1, shape=(8, 12), periodic=True, corners=True, **FAST) as plan:
        plan.interior()[...] = full[box.slices]
        plan.fill()
        assert plan.box == box and f"<redist.HaloPlan of integers of 8 bytes, {box.extent} in Box(" in repr(plan)
    for axis in range(2):
        for distance in (-1, 1):
            assert same(u[box.neighbours(axis, distance)], np.roll(full, -distance, axis)[box.slices])
    assert same(u, np.pad(full, 1, "wrap")[tuple(slice(s, s + n) for s, n in zip(box.start, box.extent))])


def test_several_fields():
    """A batch is an axis without ghosts."""
    count, start = redist.decompose(10, P, RANK)
    box = redist.Box((0, start), (3, count)).with_ghosts((0, 2), (0, 1))
    u = np.zeros(box.extent)
    full = np.arange(30.0).reshape(3, 10)
    with redist.HaloPlan(comm, u, box, (0, 2), (0, 1), shape=(3, 10), periodic=(False, True), **FAST) as plan:
        plan.interior()[...] = full[box.slices]
        plan.fill()
    if count > 0:
        assert same(u, full[:, np.arange(start - 2, start + count + 1) % 10])


def test_elements_that_several_ranks_read():
    row, whole = redist.Box((RANK, 0), (1, 3)), redist.Box((0, 0), (P, 3))
    for dtype in ("i", "d"):
        a, b = np.full((1, 3), RANK, dtype), np.zeros((P, 3), dtype)
        with redist.Plan(comm, a, row, b, whole, shape=(P, 3), overlap="add", **FAST) as plan:
            plan.forward()
            assert same(b, np.repeat(np.arange(P), 3).reshape(P, 3))
            b[...] = 2**24 + 1  # not a float
            plan.backward()
            assert same(a, np.full((1, 3), RANK + P * (2**24 + 1)))
        with redist.Plan(comm, a, row, b, whole, shape=(P, 3), overlap="read", **FAST) as plan:
            plan.forward()
            with pytest.raises(redist.ArgumentError):
                plan.backward()
    for wrong, words in ((dict(overlap="yes"), "overlap is 'yes'; it is one of 'refused', 'read', 'add'"),):
        refused(ValueError, [words], lambda bad: redist.Plan(comm, a, row, b, whole, shape=(P, 3),
                                                             **{"overlap": "read", **FAST, **(wrong if bad else {})}))
    mixed = np.zeros((1, 3), "i4,f4"), np.zeros((P, 3), "i4,f4")
    with pytest.raises(redist.ArgumentError, match="overlap = REDIST_OVERLAP_ADD, but datatype does not consist of"):
        redist.Plan(comm, mixed[0], row, mixed[1], whole, shape=(P, 3), overlap="add", **FAST)


def test_fewer_bytes():
    row, whole = redist.Box((RANK, 0), (1, 3)), redist.Box((0, 0), (P, 3))
    a, b = np.full((1, 3), 1 + 2.0**-40), np.zeros((P, 3))
    with redist.Plan(comm, a, row, b, whole, shape=(P, 3), overlap="read", wire="float", wire_scope="everywhere",
                     **FAST) as plan:
        plan.forward()
        assert plan.info["wire"] == ("float" if P > 1 else "same")
        assert all(np.all(b[rank] == (a[0] if rank == RANK else 1)) for rank in range(P))


def test_operations():
    """The highest value that a rank has of an element; and digits, which are in the order of ranks."""
    row, whole = redist.Box((RANK, 0), (1, 3)), redist.Box((0, 0), (P, 3))
    a, b = np.full((1, 3), 9), np.full((P, 3), RANK + 1)
    with redist.Plan(comm, a, row, b, whole, shape=(P, 3), overlap="add", operation=MPI.MAX, **FAST) as plan:
        plan.backward()
        assert same(a, np.full((1, 3), max(9, P)))

    small, all_small = np.full((1, 3), 9, "u1"), np.full((P, 3), 200, "u1")
    highest = small.copy()
    MPI.MAX.Reduce_local([all_small, 3, MPI.UINT8_T], [highest, MPI.UINT8_T])  # MPICH 4.0 takes 200 for -56
    with redist.Plan(comm, small, row, all_small, whole, shape=(P, 3), overlap="add", operation=MPI.MAX, **FAST) as plan:
        plan.backward()
        assert same(small, highest)

    def append(arriving, elements, datatype):
        own = np.frombuffer(elements, int)
        own[:] = 10 * own + np.frombuffer(arriving, int)

    digits = MPI.Op.Create(append)
    a[...] = 9
    with redist.Plan(comm, a, row, b, whole, shape=(P, 3), overlap="add", operation=digits, **FAST) as plan:
        plan.backward()
        assert same(a, np.full((1, 3), int("9" + "".join(str(rank + 1) for rank in range(P)))))
    digits.Free()
    given = ghosts_of_one()
    with redist.HaloPlan(comm, **given, operation=MPI.MIN) as plan:
        given["array"][...] = RANK
        plan.accumulate()
        assert same(plan.interior()[0], np.full(6, min(RANK, (RANK - 1) % P)))
    refused(TypeError, ["operation is 'max'; it is an operation of mpi4py"],
            lambda bad: redist.Plan(comm, a, row, b, whole, shape=(P, 3), overlap="add", **FAST,
                                    operation="max" if bad else MPI.MAX))


def ghosts_of_one():
    """The arguments of a plan of 8 x 6 numbers in rows."""
    count, start = redist.decompose(8, P, RANK)
    box = redist.Box((start, 0), (count, 6)).with_ghosts(1)
    return dict(array=np.zeros(box.extent), box=box, low=1, shape=(8, 6), periodic=True, **FAST)


OF_PYTHON = [
    (dict(array=None), TypeError, ["array is None"]), (dict(array=(4, 4)), TypeError, ["array is (4, 4); it is an array, or"]),
    (dict(array=np.zeros((8, 12))[:, ::2]), ValueError, ["array has strides of (96, 16) bytes"]),
    (dict(array=read_only(np.zeros((3, 3)))), ValueError, ["array cannot be written: it is read-only"]),
    (dict(array=np.zeros((3, 3))), ValueError, ["array has the shape (3, 3); the local array of its box has"]),
    (dict(array=np.zeros((3, 3), object)), TypeError, ["array is of object"]),
    (dict(box=None), TypeError, ["box is None; it is a redist.Box"]),
    (dict(box=redist.Box((0,), (8,))), ValueError, ["box is Box(", "of 1 axes; the array has 2"]),
    (dict(low=1.0), TypeError, ["low is 1.0; it is a sequence of values, or one for all"]),
    (dict(low=(1,)), ValueError, ["low is (1,), of 1 values; it has 2, one for each axis of the array"]),
    (dict(high=(1, "1")), TypeError, ["high[1] is '1'; it is an integer"]),
    (dict(periodic="yes"), TypeError, ["periodic is 'yes'"]), (dict(periodic=(True, 2)), TypeError, ["periodic[1] is 2"]),
    (dict(corners=None), TypeError, ["corners is None; it is True or False"]),
    (dict(shape=None), TypeError, ["shape is None"]), (dict(shape=(8,)), ValueError, ["shape is (8,), of 1 values"]),
    (dict(bind="later"), ValueError, ["bind is 'later'; it is one of 'plan'"]),
    (dict(overlap=1), ValueError, ["overlap is 1; it is one of"]), (dict(space="disk"), ValueError, ["space is 'disk'"]),
]


@pytest.mark.parametrize("wrong, kind, words", OF_PYTHON, ids=[str(row[2]) for row in OF_PYTHON])
def test_arguments(wrong, kind, words):
    given = ghosts_of_one()
    refused(kind, words, lambda bad: redist.HaloPlan(comm, **{**given, **(wrong if bad else {})}))


def test_what_the_library_refuses():
    """In Python's names, on all ranks."""
    given = ghosts_of_one()
    for wrong, code, words in (
            (dict(low=(1, -2)), "SIZE", r"low\[1\] = -2 is negative"),
            (dict(high=(9, 1), periodic=False), "SIZE", r"high\[0\] = 9 is wider than shape\[0\] = 8"),
            (dict(low=(1, 2)), "SIZE", r"low\[1\] = 2, but the array has room for 1 elements there \(box.offset"),
            (dict(shape=(9, 6)), "SIZE", "the boxes leave a hole: no rank holds the element at 8 along axis 0")):
        with pytest.raises(redist.ArgumentError, match=words) as error:
            redist.HaloPlan(comm, **{**given, **wrong})
        assert error.value.name == f"REDIST_ERR_{code}"
    if P > 1:
        with pytest.raises(redist.ArgumentError, match=r"periodic\[0\]") as error:
            redist.HaloPlan(comm, **{**given, "periodic": RANK == 0})
        assert error.value.name == "REDIST_ERR_DISAGREE"


def test_arrays_of_executions():
    given = ghosts_of_one()
    u = given["array"]
    with redist.HaloPlan(comm, **{**given, "array": u.shape, "dtype": float, "bind": "execution"}) as plan:
        for wrong, kind, words in ((None, TypeError, "array is not given, and the plan is not bound to one"),
                                   (u.astype("f"), TypeError, "array is of float32"),
                                   (u.astype(int), TypeError, "array is of int64"),
                                   (read_only(u), ValueError, "array cannot be written"),
                                   (np.ones((2, 9)), ValueError, "array has the shape (2, 9); that of the plan has")):
            refused(kind, [words], lambda bad: plan.fill(wrong if bad else u))
            refused(kind, [words], lambda bad: plan.start("accumulate", wrong if bad else u))
        refused(ValueError, ["direction is 'forward'; it is one of 'fill', 'accumulate'"],
                lambda bad: plan.start("forward" if bad else "fill", u))
        with pytest.raises(TypeError, match="array is not given"):
            plan.interior()
        assert plan.fill(u) is u
    with pytest.raises(redist.Error, match="the plan was freed"):
        plan.fill(u)


def test_boxes():
    box = redist.Box((2, 0), (3, 4)).with_ghosts((1, 0), (2, 0))
    assert box == redist.Box((2, 0), (3, 4), (6, 4), (1, 0))
    assert box.neighbours(0, 2) == (slice(3, 6), slice(0, 4)) and box.neighbours(-2, -1) == (slice(0, 3), slice(0, 4))
    for call, kind, words in ((lambda: box.neighbours(1, 1), ValueError, "distance is 1; the local array has 0 elements"),
                              (lambda: box.neighbours(2, 0), ValueError, "axis is 2"),
                              (lambda: box.neighbours(0, 0.5), TypeError, "distance is 0.5"),
                              (lambda: box.with_ghosts((1, -1)), ValueError, r"low\[1\] is -1"),
                              (lambda: box.with_ghosts(1, (1,)), ValueError, "high is \\(1,\\), of 1 values"),
                              (lambda: box.with_ghosts(None), TypeError, "low is None")):
        with pytest.raises(kind, match=words):
            call()
