# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of module fftnd (refusals.py)."""
import re

import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI
from refusals import FAST, P, RANK, SHAPE, read_only, refused, shape_at_fault, strided

import fftnd
import redist

# Of fftnd.Plan: keywords, the exception, and words of the sentence.
PLANS = [
    (dict(shape=16), TypeError, ["shape is 16; it is a sequence of integers"]),
    (dict(shape=None), TypeError, ["shape is None"]),
    (dict(shape="abc"), TypeError, ["shape is 'abc'"]),
    (dict(shape={6, 5, 4}), TypeError, ["shape is {4, 5, 6}"]),
    (dict(shape=(6, 5.5, 4)), TypeError, ["shape[1] is 5.5; it is an integer"]),
    (dict(shape=(6, 10 / 2, 4)), TypeError, ["shape[1] is 5.0; it is an integer: 5, or // in place of /"]),
    (dict(shape=(6, True, 4)), TypeError, ["shape[1] is True"]),
    (dict(shape=(6, -5, 4)), ValueError, ["shape[1] is -5; it is from 0"]),
    (dict(shape=(6, 2**70, 4)), ValueError, [f"shape[1] is {2**70}"]),
    (dict(shape=(2,) * 17), ValueError, ["of 17 extents; at most 15"]),
    (dict(shape=np.ones((6, 5, 4))), TypeError, ["shape[0] is an array of float64 with the shape (5, 4)"]),
    (dict(kind="dct5"), ValueError, ["kind is 'dct5'", "'dct2'"]),
    (dict(kind=5), TypeError, ["kind is 5"]),
    (dict(kind=["c2c", "r2c"]), ValueError, ["kind", "of 2 values; it has 3, one for each axis"]),
    (dict(kind=["c2c", "r2c", 7]), ValueError, ["kind[2] is 7", "'dst4'"]),
    (dict(kind=["c2c", ["r2c"], None]), ValueError, ["kind[1] is ['r2c']"]),
    (dict(kind="dct2", dtype=complex), TypeError, ["dtype is complex128", "'dct2'", "real"]),
    (dict(kind=["dst1", "dct2", None], dtype="F"), TypeError, ["dtype is complex64", "real"]),
    (dict(dtype=int), TypeError, ["dtype is int64", "float32"]),
    (dict(dtype="float16"), TypeError, ["dtype is float16"]),
    (dict(dtype="no type"), TypeError, ["dtype is 'no type'"]),
    (dict(dtype=object), TypeError, ["dtype is object"]),
    (dict(grid="x"), TypeError, ["grid is 'x'; it is the number of processes"]),
    (dict(grid=1.5), TypeError, ["grid is 1.5"]),
    (dict(grid=(1.0, 1)), TypeError, ["grid[0] is 1.0"]),
    (dict(grid=17), ValueError, ["grid is 17; it is from 1 to 16"]),
    (dict(grid=(2**40,)), ValueError, [f"grid[0] is {2**40}"]),
    (dict(order=(0, 1)), ValueError, ["order is (0, 1), of 2 values; it has 3"]),
    (dict(order="012"), TypeError, ["order is '012'"]),
    (dict(by_node="yes"), TypeError, ["by_node is 'yes'; it is True or False"]),
    (dict(scaling="half"), ValueError, ["scaling is 'half'; it is one of 'none'"]),
    (dict(scaling=None), ValueError, ["scaling is None"]),
    (dict(alignment=["chain"]), ValueError, ["alignment is ['chain']"]),
    (dict(batch=2.0), TypeError, ["batch is 2.0"]),
    (dict(batch_position=0), ValueError, ["batch_position is 0; it is one of 'first'"]),
    (dict(retained_modes=(4, 4)), ValueError, ["retained_modes is (4, 4), of 2 values"]),
    (dict(filled=(4, 4)), ValueError, ["filled is (4, 4), of 2 values"]),
    (dict(filled=4), TypeError, ["filled is 4"]),
    (dict(retained_modes=4), TypeError, ["retained_modes is 4"]),
    (dict(halved_axis="last"), TypeError, ["halved_axis is 'last'"]),
    (dict(memory_order=(2, 1, 0)), TypeError, ["memory_order is (2, 1, 0); it is a pair (physical, spectral)"]),
    (dict(memory_order=((0, 1), None)), ValueError, ["memory_order[0] is (0, 1), of 2 values"]),
    (dict(padding=(None, (0, 0, 0.5))), TypeError, ["padding[1][2] is 0.5"]),
    (dict(offset=((0, 0), None)), ValueError, ["offset[0] is (0, 0), of 2 values"]),
    (dict(blocks="even"), ValueError, ["blocks[0] is 'even'; it is one of 'balanced'"]),
    (dict(blocks=3), TypeError, ["blocks is 3"]),
    (dict(split=((0,), None)), ValueError, ["split is given and grid is None"]),
    (dict(bounds=([[0, 6]], None)), ValueError, ["bounds is given and grid is None"]),
    (dict(grid=(P,), split=((0, 1), None)), ValueError, ["split[0] is (0, 1), of 2 values", "dimension of the grid"]),
    (dict(grid=(P,), bounds=([[0] * (P + 3)], None)), ValueError, ["bounds[0][0]", f"it has {P + 1}"]),
    (dict(box=((slice(0, 6), slice(0, 5), slice(0, 4)), None)), TypeError, ["box[0] is (slice(0, 6, None)", "redist.Box"]),
    (dict(box=redist.Box((0, 0, 0), SHAPE)), TypeError, ["box is Box(start=(0, 0, 0)", "pair (physical, spectral)"]),
    (dict(box=(redist.Box((0, 0), (6, 5)), None)), ValueError, ["box[0] is Box(", "of 2 axes; the array has 3"]),
    (dict(ghosts=1), TypeError, ["ghosts is 1; it is a redist.Halo"]),
    (dict(ghosts=redist.Halo(1.5)), TypeError, ["ghosts.low is 1.5; it is a sequence of values, or one for all"]),
    (dict(ghosts=redist.Halo((1, 1))), ValueError, ["ghosts.low is (1, 1), of 2 values; it has 3, one for each axis"]),
    (dict(ghosts=redist.Halo(1, (0, 0, "1"))), TypeError, ["ghosts.high[2] is '1'; it is an integer"]),
    (dict(ghosts=redist.Halo(1, periodic=(True, 2, False))), TypeError, ["ghosts.periodic[1] is 2"]),
    (dict(ghosts=redist.Halo(1, corners="all")), TypeError, ["ghosts.corners is 'all'"]),
    (dict(fill_ghosts="yes"), TypeError, ["fill_ghosts is 'yes'; it is True or False"]),
    (dict(accumulate_ghosts=2), TypeError, ["accumulate_ghosts is 2"]),
    (dict(in_place="no"), TypeError, ["in_place is 'no'"]),
    (dict(space="gpu"), ValueError, ["space is 'gpu'; it is one of 'auto', 'host', 'cuda'"]),
    (dict(device=0), ValueError, ["device is 0"]),
    (dict(stream="main"), TypeError, ["stream is 'main'"]),
    (dict(stream=-1), ValueError, ["stream is -1"]),
    (dict(effort="hard"), ValueError, ["effort is 'hard'"]),
    (dict(fusion=True), ValueError, ["fusion is True; it is one of 'auto', 'never', 'always'"]),
    (dict(method=3), TypeError, ["method is 3; it is a string"]),
    (dict(wisdom_file=3.5), TypeError, ["wisdom_file is 3.5"]),
    (dict(plan_seconds="1"), TypeError, ["plan_seconds is '1'"]),
    (dict(tile_bytes=-1), ValueError, ["tile_bytes is -1"]),
    (dict(threads=2.5), TypeError, ["threads is 2.5"]),
    (dict(threads=2**40), ValueError, [f"threads is {2**40}"]),
    (dict(verbose="loud"), TypeError, ["verbose is 'loud'"]),
    (dict(wait_seconds=None), TypeError, ["wait_seconds is None"]),
]


@pytest.mark.parametrize("wrong, kind, words", PLANS, ids=[str(row[0])[:60] for row in PLANS])
def test_plans_of_transforms(wrong, kind, words):
    refused(kind, words, lambda bad: fftnd.Plan(comm, **{"shape": SHAPE, **FAST, **(wrong if bad else {})}))


def test_arrays_of_transforms():
    with fftnd.Plan(comm, SHAPE, **FAST) as plan:
        a, b = plan.empty_physical(), plan.empty_spectral()
        a[...], b[...] = 3, 7
        wide = np.zeros(a.shape[:-1] + (9,))
        for wrong, kind, words in (
                (None, TypeError, "is None; it is an array"), ("abc", TypeError, "is 'abc'"), (5.0, TypeError, "is 5.0"),
                (a.tolist(), TypeError, "it is an array"), (a.astype(int), TypeError, "is of int64; this side"),
                (a.astype("f"), TypeError, "is of float32; this side of the plan is of float64"),
                (a.astype(complex), TypeError, "is of complex128"), (a.astype(">f8"), TypeError, "is of >f8"),
                (a.astype(object), TypeError, "is of object"),
                (wide, ValueError, f"has the shape {shape_at_fault(wide)}; this rank's part has {shape_at_fault(a)}"),
                (a[0] if len(a) else np.zeros(3), ValueError, f"this rank's part has {shape_at_fault(a)}"),
                (np.zeros(SHAPE + (1, 1)), ValueError, "has the shape (6, 5, 4, 1, 1)")):
            refused(kind, [f"physical {words}" if words.startswith(("is", "has")) else words],
                    lambda bad: plan.forward(wrong if bad else a, b))
            refused(kind, ["array ", words], lambda bad: plan.start("forward", wrong if bad else a, b))
        if comm.allreduce(a.size > 0 and a.shape[0] > 1, MPI.MIN):
            refused(ValueError, ["physical has strides of", "those of the plan are", "empty_physical"],
                    lambda bad: plan.forward(strided(a.shape) if bad else a, b))
            refused(ValueError, ["out has strides of"], lambda bad: plan.backward(b, strided(a.shape) if bad else a))
        refused(ValueError, ["out cannot be written: it is read-only"],
                lambda bad: plan.forward(a, read_only(b) if bad else b))
        refused(TypeError, ["out is of float64; this side of the plan is of complex128"],
                lambda bad: plan.forward(a, b.real.copy() if bad else b))
        refused(TypeError, ["spectral is of float64; this side of the plan is of complex128"],
                lambda bad: plan.backward(a if bad else b, a))
        for direction, kind in (("up", ValueError), (1, ValueError), (None, ValueError)):
            refused(kind, [f"direction is {direction!r}; it is one of 'forward', 'backward'"],
                    lambda bad: plan.start(direction if bad else "forward", a, b))
        assert (a == 3).all() and (b == 7).all()
        assert np.allclose(plan.backward(plan.forward(a, b)), 3)
    with fftnd.Plan(comm, SHAPE, in_place=True, **FAST) as plan:
        refused(ValueError, ["physical cannot be written: it is read-only"],
                lambda bad: plan.forward(read_only(plan.empty_physical()) if bad else plan.empty_physical()))


def test_more_ranks_than_rows():
    """A wrong array on a rank without elements is refused too, and so is one on the only rank that has some."""
    with fftnd.Plan(comm, (1, 1, 4), **FAST) as plan:
        a = plan.empty_physical()
        refused(ValueError, ["physical has the shape (3, 3, 3)"],
                lambda bad: plan.forward(np.zeros((3, 3, 3)) if bad else a))


@pytest.mark.parametrize("wrong, kind, words", [
    (dict(kind="grad"), ValueError, ["kind is 'grad'; it is one of 'derivative'"]),
    (dict(kind=None), ValueError, ["kind is None"]),
    (dict(lengths=1.0), TypeError, ["lengths is 1.0; it is a sequence of numbers, one for each axis"]),
    (dict(lengths=(1, 1)), ValueError, ["lengths is (1, 1), of 2 values; it has 3"]),
    (dict(lengths=(1, "L", 1)), TypeError, ["lengths[1] is 'L'; it is a real number"]),
    (dict(lengths=(1, 1j, 1)), TypeError, ["lengths[1] is 1j"]),
    (dict(axes=0), TypeError, ["axes is 0"]),
    (dict(axes=(0, 3)), ValueError, ["axes[1] is 3; it is from -3 to 2"]),
    (dict(axes=(0.0,)), TypeError, ["axes[0] is 0.0"]),
    (dict(kind="derivative", orders=(1, 0)), ValueError, ["orders is (1, 0)"]),
    (dict(kind="derivative", orders=(1, 0, 0.5)), TypeError, ["orders[2] is 0.5"]),
    (dict(kind="shift", shift=0.1), TypeError, ["shift is 0.1"]),
    (dict(zero_mode="none"), TypeError, ["zero_mode is 'none'"]),
    (dict(kind="helmholtz", coefficient=1j), TypeError, ["coefficient is 1j"]),
    (dict(kind="shell", shell=3), TypeError, ["shell is 3"]),
    (dict(kind="shell", shell=(0, 1, 2)), ValueError, ["shell is (0, 1, 2), of 3 values; it has 2"]),
    (dict(kind="symbols", symbols=np.ones(6)), ValueError, ["symbols", "it has 3"]),
    (dict(kind="symbols", symbols=[None, np.ones(4), None]), ValueError, ["symbols[1] has the shape (4,); it has 5"]),
    (dict(kind="symbols", symbols=[None, "abc", None]), TypeError, ["symbols[1] is 'abc'"]),
    (dict(kind="modes", function=3), TypeError, ["function is 3"]),
    (dict(kind="modes", function=print, inputs=1.5), TypeError, ["inputs is 1.5"]),
], ids=str)
def test_operators(wrong, kind, words):
    with fftnd.Plan(comm, SHAPE, **FAST) as plan:
        refused(kind, words, lambda bad: plan.operator(**{"kind": "laplacian", **(wrong if bad else {})}))


def test_arrays_of_operators():
    with fftnd.Plan(comm, SHAPE, **FAST) as plan:
        gradient = plan.operator("gradient")
        a, b = gradient.empty_input(), gradient.empty_output()
        a[...], b[...] = 1, 5
        for wrong, kind, words in ((None, TypeError, "array is None"), (a.astype("f"), TypeError, "array is of float32"),
                                   (np.zeros((9, 9, 9)), ValueError, "array has the shape (9, 9, 9)")):
            refused(kind, [words], lambda bad: gradient(wrong if bad else a, b))
        refused(ValueError, ["out has the shape", f"this rank's part has {b.shape}"] if P == 1 else ["out has the shape"],
                lambda bad: gradient(a, np.zeros((2, 2)) if bad else b))
        refused(ValueError, ["out cannot be written"], lambda bad: gradient(a, read_only(b) if bad else b))
        assert (b == 5).all() and (gradient(a, b) == 0).all()
    with pytest.raises(TypeError, match="plan"):
        fftnd.Operator("plan", "gradient")


def test_questions_of_plans():
    with fftnd.Plan(comm, SHAPE, user_workspace=True, grid=(P,), fusion="never", **FAST) as plan:
        for axis, kind, words in ((3, ValueError, "axis is 3; it is from -3 to 2"), (-4, ValueError, "axis is -4"),
                                  (1.0, TypeError, "axis is 1.0"), ("x", TypeError, "axis is 'x'")):
            with pytest.raises(kind, match=words):
                plan.wavenumbers(axis)
        size = max(64, plan.info["workspace_bytes"])
        for wrong, kind, words in ((None, TypeError, "workspace is None"), (size, TypeError, f"workspace is "),
                                   (np.zeros(2 * size, "u1")[::2], ValueError, "workspace has strides"),
                                   (read_only(np.zeros(size, "u1")), ValueError, "workspace cannot be written")):
            refused(kind, [words], lambda bad: plan.set_workspace(wrong if bad else redist.empty(size, "u1", MPI.COMM_SELF)))


def test_functions():
    count, start = redist.decompose(6, P, RANK)
    a = np.ones((count, 5, 4))
    for wrong, kind, words in (
            (dict(a="abc"), TypeError, "a is 'abc'; it is an array"), (dict(a=None), TypeError, "a is None"),
            (dict(a=[[1.0], [2.0, 3.0]]), ValueError, "a is [[1.0], [2.0, 3.0]]"),
            (dict(a=np.array(["x"])), TypeError, "a is an array of <U1"), (dict(a=3.0), ValueError, "at least one axis"),
            (dict(a=np.ones(a.shape, object)), TypeError, "a is an array of object"),
            (dict(a=a * 1j), TypeError, "real numbers"), (dict(shape=6), TypeError, "shape is 6"),
            (dict(shape=(6, 5.0, 4)), TypeError, "shape[1] is 5.0"), (dict(norm="half"), ValueError, "norm is 'half'"),
            (dict(norm=None), ValueError, "norm is None"), (dict(grid=2.5), TypeError, "grid is 2.5"),
            (dict(thread=2), TypeError, "thread is no keyword"), (dict(kind="c2c"), TypeError, "kind is no keyword"),
            (dict(threads="2"), TypeError, "threads is '2'"), (dict(effort="hard"), ValueError, "effort is 'hard'"),
            (dict(out=np.zeros((1, 1, 9), complex)), ValueError, "out has the shape (1, 1, 9)"),
            (dict(out="out"), TypeError, "out is 'out'")):
        refused(kind, [words], lambda bad: fftnd.rfftn(**{"a": a, "comm": comm, **(wrong if bad else {})}))
    for type, kind in ((5, ValueError), (2.0, TypeError), ("2", TypeError), (None, TypeError)):
        for function in (fftnd.dctn, fftnd.idctn, fftnd.dstn, fftnd.idstn):
            refused(kind, [f"type is {type!r}"], lambda bad: function(a, comm, type if bad else 2))
    with pytest.raises(TypeError, match="comm is 'world'; it is a communicator"):
        fftnd.fftn(a, "world")
    assert np.allclose(fftnd.irfftn(fftnd.rfftn(a, comm), comm), a)


def test_what_the_library_refuses():
    """Its messages name Python's arguments."""
    count, start = redist.decompose(6, P, RANK)
    for call, words in ((lambda: fftnd.Plan(comm, (6, 0, 4), **FAST), "shape[1] = 0 is below 1"),
                        (lambda: fftnd.Plan(comm, SHAPE, threads=0, **FAST), ": threads = 0 is not in 1.."),
                        (lambda: fftnd.Plan(comm, SHAPE, order=(0, 0, 1), **FAST), ": order[1] = 0 is no axis"),
                        (lambda: redist.exchange(comm, np.zeros((7, 7)), 1, np.zeros((7, 6)), 0), "shape[")):
        with pytest.raises(redist.ArgumentError, match=re.escape(words)):
            call()
    if P > 1:
        with pytest.raises((ValueError, redist.ArgumentError), match=r"a has the shape|shape\["):
            fftnd.rfftn(np.zeros((count + 2 * (RANK == 0), 5, 4)), comm)
        with pytest.raises(redist.ArgumentError, match="precision of dtype: .* on rank 0, .* on rank"):
            fftnd.Plan(comm, SHAPE, dtype="f" if RANK == P - 1 else "d", **FAST)
