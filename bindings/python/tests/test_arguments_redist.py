# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of module redist (refusals.py), what was freed, and what objects say of themselves."""
import re

import numpy as np
import pytest
from conftest import comm
from refusals import FAST, P, RANK, SHAPE, read_only, refused

import fftnd
import redist


def arrays():
    count = redist.decompose(4, P, RANK)[0]
    return np.ones((4, count)), np.zeros((count, 4))


def boxes():
    """Arrays of the boxes of test_boxes_and_slices: all of a 4 x 4 array on rank 0, and on the last rank."""
    first, last = [redist.Box((0, 0), (4, 4) if RANK == place else (0, 0)) for place in (0, P - 1)]
    return np.ones(first.extent), first, np.zeros(last.extent), last


EXCHANGES = [
    (dict(a=None), TypeError, ["a is None"]), (dict(a="abc"), TypeError, ["a is 'abc'"]),
    (dict(a=[1.0, 2.0]), TypeError, ["a is [1.0, 2.0]"]), (dict(b=5), TypeError, ["b is 5"]),
    (dict(a=np.zeros((4, 4), object)), TypeError, ["a is of object"]),
    (dict(a=np.zeros((4, 4), int)), TypeError, ["a is of int64 and b of float64"]),
    (dict(a=np.zeros((4, 4))[:, ::2]), ValueError, ["a has strides of (32, 16) bytes", "ascontiguousarray"]),
    (dict(a=np.asfortranarray(np.zeros((4, 4)))), ValueError, ["a has strides of (8, 32) bytes"]),
    (dict(a=np.zeros(16)), ValueError, ["a has 1 axes and b has 2"]),
    (dict(b=read_only(np.zeros((4, 4)))), ValueError, ["b cannot be written: it is read-only"]),
    (dict(axis_a=2), ValueError, ["axis_a is 2; it is from -2 to 1"]),
    (dict(axis_b=-3), ValueError, ["axis_b is -3; it is from -2 to 1"]),
    (dict(axis_a=0.0), TypeError, ["axis_a is 0.0; it is an integer"]),
    (dict(axis_a=None), TypeError, ["axis_a is None"]), (dict(axis_b="1"), TypeError, ["axis_b is '1'"]),
    (dict(axis_a=(slice(0, 4), slice(0, 4))), TypeError, ["axis_a is (slice(0, 4, None)", "redist.Box"]),
]


@pytest.mark.parametrize("wrong, kind, words", EXCHANGES, ids=[str(row[2]) for row in EXCHANGES])
def test_exchanges(wrong, kind, words):
    a, b = arrays()
    given = {"a": a, "axis_a": 0, "b": b, "axis_b": 1}
    if wrong.get("b") is not None and isinstance(wrong["b"], np.ndarray):
        wrong = {"b": read_only(b)}
    refused(kind, words, lambda bad: redist.exchange(comm, **{**given, **(wrong if bad else {})}))
    if not isinstance(wrong.get("b"), np.ndarray):  # a plan may be bound to an array that is read-only
        refused(kind, words, lambda bad: redist.Plan(comm, **{**given, **FAST, **(wrong if bad else {})}))
    assert (a == 1).all() and (b == 0).all()
    assert redist.exchange(comm, a, 0, b, 1) is b and (b == 1).all()


PLANS_OF_EXCHANGES = [
    (dict(a=(4, 4)), TypeError, ["a is (4, 4); it is an array, or a shape together with dtype="]),
    (dict(a=(4, 4.0), dtype=float), TypeError, ["a[1] is 4.0"]), (dict(a=(4, -4), dtype=float), ValueError, ["a[1] is -4"]),
    (dict(a=(4, 4), dtype="x y"), TypeError, ["dtype is 'x y'"]), (dict(a=(4, 4), dtype=object), TypeError, ["dtype is"]),
    (dict(a=(4, 4), dtype=int), TypeError, ["a is of int64 and b of float64"]),
    (dict(shape=(4, 4)), TypeError, ["shape is (4, 4); it is for boxes"]),
    (dict(axis_b=redist.Box((0, 0), (4, 4))), TypeError, ["axis_b is Box(", "both"]),
    (dict(method=5), TypeError, ["method is 5"]), (dict(effort="high"), ValueError, ["effort is 'high'"]),
    (dict(bind="later"), ValueError, ["bind is 'later'; it is one of 'plan'"]), (dict(bind_a=1), ValueError, ["bind_a is 1"]),
    (dict(tune_seconds="1"), TypeError, ["tune_seconds is '1'"]), (dict(wisdom_file=1), TypeError, ["wisdom_file is 1"]),
    (dict(nontemporal_bytes=0.5), TypeError, ["nontemporal_bytes is 0.5"]), (dict(space="disk"), ValueError, ["'disk'"]),
    (dict(staging=None), ValueError, ["staging is None"]), (dict(stream=[]), TypeError, ["stream is []"]),
    (dict(skip_agreement="no"), TypeError, ["skip_agreement is 'no'"]), (dict(phases=2), TypeError, ["phases is 2"]),
    (dict(wire="half"), ValueError, ["wire is 'half'; it is one of 'same', 'float', '16 bits'"]),
    (dict(wire_scope=1), ValueError, ["wire_scope is 1; it is one of 'between nodes', 'everywhere'"]),
]


@pytest.mark.parametrize("wrong, kind, words", PLANS_OF_EXCHANGES, ids=[str(row[2]) for row in PLANS_OF_EXCHANGES])
def test_plans_of_exchanges(wrong, kind, words):
    a, b = arrays()
    given = {"a": a, "axis_a": 0, "b": b, "axis_b": 1, **FAST}
    refused(kind, words, lambda bad: redist.Plan(comm, **{**given, **(wrong if bad else {})}))


def test_boxes_and_slices():
    a, box_a, b, box_b = boxes()
    given = {"a": a, "axis_a": box_a, "b": b, "axis_b": box_b, "shape": (4, 4), **FAST}
    for wrong, kind, words in (
            (dict(shape=None), TypeError, ["shape is None; with boxes"]), (dict(shape=4), TypeError, ["shape is 4"]),
            (dict(shape=(4,)), ValueError, ["shape is (4,), of 1 values; it has 2"]),
            (dict(axis_b=1), TypeError, ["axis_b is 1; it is a redist.Box"]),
            (dict(axis_b=(slice(0, 4), slice(0, 4))), TypeError, ["axis_b is (slice(0, 4, None)", "redist.Box"]),
            (dict(axis_a=redist.Box((0,), (4,))), ValueError, ["axis_a is Box(", "of 1 axes; the array has 2"]),
            (dict(a=np.ones((3, 3))), ValueError, ["a has the shape (3, 3); the local array of its box has"])):
        refused(kind, words, lambda bad: redist.Plan(comm, **{**given, **(wrong if bad else {})}))
    for arguments, kind, words in (((3, (4,)), TypeError, "start is 3"), ((slice(0, 4), (4,)), TypeError, "start is slice"),
                                   (((0,), (4, 4)), ValueError, "count is (4, 4), of 2 values; it has 1"),
                                   (((0.5,), (4,)), TypeError, "start[0] is 0.5"), (((0,), "4"), TypeError, "count is '4'"),
                                   (((0,), (4,), (4, 5)), ValueError, "extent is (4, 5)"),
                                   (((0,), (4,), None, (None,)), TypeError, "offset[0] is None")):
        with pytest.raises(kind, match=re.escape(words)):
            redist.Box(*arguments)
    with redist.Plan(comm, **given) as plan:
        plan.forward()
        assert (b == 1).all()


def test_arrays_of_exchanges():
    a, b = arrays()
    with redist.Plan(comm, a.shape, 0, b.shape, 1, dtype=float, bind="execution", **FAST) as plan:
        for wrong, kind, words in (
                (None, TypeError, "a is not given, and the plan is not bound to one"), ("abc", TypeError, "a is 'abc'"),
                (a.astype("f"), TypeError, "a is of float32"), (a.astype(int), TypeError, "a is of int64"),
                (np.ones((4, 9)), ValueError, "a has the shape (4, 9); that of the plan has"),
                (np.ones(4), ValueError, "a has the shape (4,)")):
            if isinstance(wrong, np.ndarray) and wrong.dtype == int:
                continue  # elements of 8 bytes are moved whatever they mean
            refused(kind, [words], lambda bad: plan.forward(wrong if bad else a, b))
            refused(kind, [words], lambda bad: plan.start("forward", wrong if bad else a, b))
        refused(ValueError, ["b cannot be written"], lambda bad: plan.forward(a, read_only(b) if bad else b))
        refused(ValueError, ["a cannot be written"], lambda bad: plan.backward(b, read_only(a) if bad else a))
        refused(ValueError, ["direction is 3; it is one of"], lambda bad: plan.start(3 if bad else "forward", a, b))
        assert (a == 1).all() and (b == 0).all() and plan.forward(a, b) is b and (b == 1).all()


def test_grids():
    for dims, kind, words in (("xy", TypeError, "dims is 'xy'; it is the number"), (None, TypeError, "dims is None"),
                              ((P, 1.0), TypeError, "dims[1] is 1.0"), (0, ValueError, "dims is 0; it is from 1 to 16"),
                              ((1,) * 17, ValueError, "of 17 dimensions; at most 16"), ({1: 2}, TypeError, "dims is {1: 2}")):
        refused(kind, [words], lambda bad: redist.Grid(comm, dims if bad else 2))
    refused(TypeError, ["by_node is an array", "True or False"],
            lambda bad: redist.Grid(comm, 1, np.zeros(2) if bad else False))
    with redist.Grid(comm, 2) as grid:
        for arguments, kind, words in (((5, (0, 1)), TypeError, "shape is 5"), (((4, 4), 0), TypeError, "axes is 0"),
                                       (((4, 4), (0,)), ValueError, "axes is (0,), of 1 values; it has 2"),
                                       (((4, 4), (0, 2)), ValueError, "axes[1] is 2; it is from 0 to 1"),
                                       (((4, 4.5), (0, 1)), TypeError, "shape[1] is 4.5"),
                                       (((-4, 4), (0, 1)), ValueError, "shape[0] is -4")):
            with pytest.raises(kind, match=re.escape(words)):
                grid.box(*arguments)
    for number, kind in ((0, ValueError), (17, ValueError), ("2", TypeError), (2.0, TypeError), (None, TypeError)):
        refused(kind, [f"ndims is {number!r}"], lambda bad: redist.subcomm(comm, number) if bad else redist.subcomm(comm, 2))


def test_memory():
    for wrong, kind, words in (
            (dict(shape="abc"), TypeError, "shape is 'abc'"), (dict(shape=None), TypeError, "shape is None"),
            (dict(shape=2.5), TypeError, "shape is 2.5"), (dict(shape=(2, -3)), ValueError, "shape[1] is -3"),
            (dict(shape=(2, 3.0)), TypeError, "shape[1] is 3.0"),
            (dict(shape=(2**40, 2**40)), ValueError, "more than a machine can address"),
            (dict(dtype="no type"), TypeError, "dtype is 'no type'"), (dict(dtype=object), TypeError, "dtype is object"),
            (dict(dtype=str), TypeError, "dtype is <U0"), (dict(space="disk"), ValueError, "space is 'disk'"),
            (dict(space=None), ValueError, "space is None; it is one of 'host', 'cuda'")):
        for function in (redist.empty, redist.zeros):
            refused(kind, [words], lambda bad: function(**{"shape": 3, "comm": comm, **(wrong if bad else {})}))
    for nbytes, kind in ((-1, ValueError), (1.5, TypeError), ("8", TypeError), (2**70, ValueError)):
        refused(kind, [f"nbytes is {nbytes!r}"], lambda bad: redist.Memory(comm, nbytes if bad else 8))
    memory = redist.Memory(comm, 64)
    for arguments, kind, words in (((None, 3, float), TypeError, "memory is None"), ((memory, 3, float), TypeError, "shape is 3"),
                                   ((memory, (9,), float), ValueError, "the array has 72 bytes, the memory 64"),
                                   ((memory, (2, 2), float, (64, 8)), ValueError, "the array has 80 bytes"),
                                   ((memory, (8,), "x y"), TypeError, "dtype is 'x y'"),
                                   ((memory, (8,), float, 8), TypeError, "strides is 8"),
                                   ((memory, (8,), float, (-8,)), ValueError, "strides[0] is -8")):
        with pytest.raises(kind, match=re.escape(words)):
            redist.as_array(*arguments)
    memory.free()


def test_arguments_without_other_ranks():
    for arguments, kind, words in (((8.0, 2, 0), TypeError, "n is 8.0"), ((8, 2.0, 0), TypeError, "nparts is 2.0"),
                                   ((8, 2, None), TypeError, "part is None"), ((8, 2**40, 0), ValueError, "nparts is")):
        with pytest.raises(kind, match=re.escape(words)):
            redist.decompose(*arguments)
    with pytest.raises(redist.ArgumentError, match="part"):
        redist.decompose(8, 2, 2)
    for call in (lambda: redist.collect("comm"), lambda: redist.Grid(None, 2), lambda: redist.empty(3, float, 7),
                 lambda: fftnd.Plan("world", SHAPE), lambda: redist.exchange(0, None, 0, None, 0)):
        with pytest.raises(TypeError, match="comm is .*; it is a communicator of mpi4py"):
            call()


def test_what_was_freed():
    a, b = arrays()
    exchange, transform = redist.Plan(comm, a, 0, b, 1, **FAST), fftnd.Plan(comm, SHAPE, **FAST)
    operator, grid, memory = transform.operator("laplacian"), redist.Grid(comm, 2), redist.Memory(comm, 64)
    u = transform.empty_physical()
    for one in (exchange, operator, transform, grid, memory):
        one.free()
        one.free()
    for call, what in ((exchange.forward, "the plan"), (exchange.backward, "the plan"), (exchange.start, "the plan"),
                       (exchange.wait, "the plan"), (exchange.query, "the plan"), (lambda: exchange.info, "the plan"),
                       (lambda: exchange.phases, "the plan"), (lambda: exchange.method, "the plan"),
                       (lambda: transform.forward(u), "the plan"), (lambda: transform.backward(u), "the plan"),
                       (transform.wait, "the plan"), (transform.query, "the plan"), (lambda: transform.info, "the plan"),
                       (lambda: transform.phases, "the plan"), (lambda: transform.ranks, "the plan"),
                       (transform.empty_physical, "the plan"), (lambda: transform.wavenumbers(0), "the plan"),
                       (lambda: transform.set_workspace(u), "the plan"), (lambda: transform.operator("laplacian"), "the plan"),
                       (lambda: operator(u), "the plan"), (operator.empty_input, "the plan"), (lambda: grid.dims, "the grid"),
                       (lambda: grid.ranks, "the grid"), (lambda: grid.box((4, 4), (0, 1)), "the grid"),
                       (lambda: memory.address, "the memory"), (lambda: memory.mappable, "the memory"),
                       (lambda: redist.as_array(memory, (8,), float), "the memory")):
        with pytest.raises(redist.Error, match=f"{what} was freed: it cannot be used after free") as error:
            call()
        assert error.value.name == "REDIST_ERR_STATE"
    with fftnd.Plan(comm, SHAPE, **FAST) as plan:
        operator = plan.operator("laplacian")
        operator.free()
        with pytest.raises(redist.Error, match="the operator was freed"):
            operator(plan.empty_physical())
    assert [repr(one) for one in (exchange, transform, operator, grid)] == [
        "<redist.Plan, freed>", "<fftnd.Plan, freed>", "<fftnd.Operator, freed>", "<redist.Grid, freed>"]
    assert "freed" in repr(memory)
    for unmade in (fftnd.Plan.__new__(fftnd.Plan), redist.Plan.__new__(redist.Plan)):
        assert "not made" in repr(unmade)
        with pytest.raises(redist.Error, match="was not made"):
            unmade.wait()


def test_what_objects_say_of_themselves():
    a, b = arrays()
    with redist.Plan(comm, a, 0, b, 1, method="alltoallw") as plan:
        assert repr(plan) == (f"<redist.Plan of float64, {a.shape} whole along axis 0 to {b.shape} whole along axis 1 on {P} "
                              "ranks, method 'alltoallw'>")
    with fftnd.Plan(comm, SHAPE, "r2c", batch=2, grid=(P,), **FAST) as plan:
        parts = [", ".join(f"{one.start}:{one.stop}" for one in slices)
                 for slices in (plan.physical_slices, plan.spectral_slices)]
        expected = (f"<fftnd.Plan of 2 fields of (6, 5, 4), 'r2c', float64 to complex128, on {P} ranks as grid ({P},), method "
                    f"{plan.info['method']!r}; this rank: [{parts[0]}] to [{parts[1]}]>")
        assert repr(plan) == expected
        u, v = plan.empty_physical(), plan.empty_spectral()
        u[...] = 0
        plan.start("forward", u, v)
        assert repr(plan) == expected  # while it works
        plan.wait()
        assert repr(plan.operator("laplacian")).startswith("<fftnd.Operator 'laplacian', this rank: (2, ")
        said = []
        plan.operator("modes", function=lambda box: said.append(repr(box)), inputs=1, outputs=1)(u)
        assert all(one.startswith("<fftnd.OperatorBox at (") for one in said)
    with fftnd.Plan(comm, SHAPE, ["c2c", "dct2", None], **FAST) as plan:
        assert "(6, 5, 4), ('c2c', 'dct2', 'none'), complex128 to complex128" in repr(plan)
    with redist.Grid(comm, (P, 1)) as grid:
        assert repr(grid) == f"<redist.Grid ({P}, 1), this rank at ({RANK}, 0)>"
    memory = redist.Memory(comm, 64)
    assert repr(memory) == "<redist.Memory of 64 bytes, host>"
    memory.free()
    assert repr(redist.Box((0,), (3,))) == "Box(start=(0,), count=(3,), extent=(3,), offset=(0,))"
