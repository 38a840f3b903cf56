# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments, as newcomers give them, on one rank only: that rank gets a TypeError or ValueError, the others an
ArgumentError, and all of them read the same sentence, with the argument, its value, what is allowed, and the rank.
Nothing is touched, and the next call works."""
import re

import numpy as np
import pytest
from conftest import comm
from mpi4py import MPI

import fftnd
import redist
from fftnd.mpi4py_fft import DistArray, HDF5File, PFFT, fftw, generate_xdmf, newDistArray
from fftnd.mpi4py_fft.libfft import FFT
from fftnd.mpi4py_fft.pencil import Pencil, Subcomm

P, RANK = comm.size, comm.rank
FAST = dict(effort="estimate")
SHAPE = (6, 5, 4)


def shape_at_fault(array):
    """Stands for the shape that an array has on the rank whose argument is wrong."""
    return "<" + "|".join(map(str, comm.allgather(array.shape))) + ">"


def on_rank(text, place):
    """A text with the shapes of a rank."""
    return re.sub("<([^>]*)>", lambda shapes: shapes[1].split("|")[place], text)


def refused(kind, words, call):
    """call(wrong) is made with a wrong argument on the first rank, then on the last one."""
    for place in sorted({0, P - 1}):
        with pytest.raises((kind, redist.ArgumentError)) as error:
            call(RANK == place)
        text = str(error.value)
        assert type(error.value) is (kind if RANK == place else redist.ArgumentError), text
        assert all(on_rank(word, place) in text for word in words) and text.endswith(f"(rank {place})"), text
        assert len(set(comm.allgather(text))) == 1, text


def strided(shape):
    return np.zeros(shape[:-1] + (2 * shape[-1],))[..., ::2]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


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
    (dict(retained_modes=4), TypeError, ["retained_modes is 4"]),
    (dict(halved_axis="last"), TypeError, ["halved_axis is 'last'"]),
    (dict(memory_order=(2, 1, 0)), TypeError, ["memory_order is (2, 1, 0); it is a pair (physical, spectral)"]),
    (dict(memory_order=((0, 1), None)), ValueError, ["memory_order[0] is (0, 1), of 2 values"]),
    (dict(padding=(None, (0, 0, 0.5))), TypeError, ["padding[1][2] is 0.5"]),
    (dict(blocks="even"), ValueError, ["blocks[0] is 'even'; it is one of 'balanced'"]),
    (dict(blocks=3), TypeError, ["blocks is 3"]),
    (dict(split=((0,), None)), ValueError, ["split is given and grid is None"]),
    (dict(bounds=([[0, 6]], None)), ValueError, ["bounds is given and grid is None"]),
    (dict(grid=(P,), split=((0, 1), None)), ValueError, ["split[0] is (0, 1), of 2 values", "dimension of the grid"]),
    (dict(grid=(P,), bounds=([[0] * (P + 3)], None)), ValueError, ["bounds[0][0]", f"it has {P + 1}"]),
    (dict(box=((slice(0, 6), slice(0, 5), slice(0, 4)), None)), TypeError, ["box[0] is (slice(0, 6, None)", "redist.Box"]),
    (dict(box=redist.Box((0, 0, 0), SHAPE)), TypeError, ["box is Box(start=(0, 0, 0)", "pair (physical, spectral)"]),
    (dict(box=(redist.Box((0, 0), (6, 5)), None)), ValueError, ["box[0] is Box(", "of 2 axes; the array has 3"]),
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
        expected = (f"<fftnd.Plan of 2 fields of (6, 5, 4), 'r2c', float64 to complex128, on {P} ranks as grid ({P},); this "
                    f"rank: {plan.physical_shape} to {plan.spectral_shape}>")
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
    with redist.Grid(comm, (P, 1)) as grid:
        assert repr(grid) == f"<redist.Grid ({P}, 1), this rank at ({RANK}, 0)>"
    memory = redist.Memory(comm, 64)
    assert repr(memory) == "<redist.Memory of 64 bytes, host>"
    memory.free()
    assert repr(redist.Box((0,), (3,))) == "Box(start=(0,), count=(3,), extent=(3,), offset=(0,))"


PFFTS = [
    (dict(shape=None), TypeError, ["shape is None, and so is darray"]), (dict(shape=8), TypeError, ["shape is 8"]),
    (dict(shape=(8, 6.0, 4)), TypeError, ["shape[1] is 6.0"]), (dict(shape=(8, 0, 4)), ValueError, ["shape[1] is 0"]),
    (dict(shape=()), ValueError, ["shape is ()"]),
    (dict(axes=3), ValueError, ["axes[0][0] is 3"]), (dict(axes="xy"), TypeError, ["axes is 'xy'"]),
    (dict(axes=()), ValueError, ["axes is (); there is at least one"]), (dict(axes=((0, 0), 1)), ValueError, ["axes[0] is"]),
    (dict(dtype=int), TypeError, ["dtype is int64"]), (dict(dtype="x y"), TypeError, ["dtype is 'x y'"]),
    (dict(grid=2), TypeError, ["grid is 2"]), (dict(grid=(1, 1, 1, 1)), ValueError, ["grid is (1, 1, 1, 1)"]),
    (dict(grid=(0.5,)), TypeError, ["grid[0] is 0.5"]), (dict(grid=(0,), slab=True), ValueError, ["slab is True"]),
    (dict(slab=7), ValueError, ["slab is 7"]), (dict(padding=1.5), TypeError, ["padding is 1.5"]),
    (dict(padding=(1.5, 1.5)), ValueError, ["padding is (1.5, 1.5), of 2 values; it has 3"]),
    (dict(collapse="yes"), TypeError, ["collapse is 'yes'"]), (dict(backend="cufft"), ValueError, ["backend is 'cufft'"]),
    (dict(planner_effort="FAST"), ValueError, ["planner_effort is 'FAST'", "'FFTW_MEASURE'"]),
    (dict(threads=0), ValueError, ["threads is 0"]), (dict(transforms=3), TypeError, ["transforms is 3"]),
    (dict(darray=np.zeros((8, 6, 4))), TypeError, ["darray is an array"]),
]


@pytest.mark.parametrize("wrong, kind, words", PFFTS, ids=[str(row[0])[:60] for row in PFFTS])
def test_parallel_transforms(wrong, kind, words):
    refused(kind, words, lambda bad: PFFT(comm, **{"shape": (8, 6, 4), "planner_effort": "FFTW_ESTIMATE",
                                                   **(wrong if bad else {})}))


@pytest.mark.parametrize("name, usual, other", [("shape", (8, 6, 4), (8, 6, 5)), ("grid", (1, 0), (0, 1)),
                                                ("dtype", "D", "F"), ("backend", "fftw", "numpy")])
def test_arguments_that_differ(name, usual, other):
    """The first rank has what the others are compared with."""
    given = {"shape": (8, 6, 4), "planner_effort": "FFTW_ESTIMATE"}
    bad = RANK == P - 1 > 0
    if P > 1:
        with pytest.raises(ValueError, match=rf"{name} is .*; on the first rank it is .* \(rank {P - 1}\)"):
            PFFT(comm, **{**given, name: other if bad else usual})
    PFFT(comm, **given).destroy()


@pytest.mark.parametrize("backend", ["fftw", "numpy"])
def test_arrays_of_parallel_transforms(backend):
    """Of one plan, and of serial transforms with exchanges between them."""
    fft = PFFT(comm, (8, 6, 4), backend=backend, planner_effort="FFTW_ESTIMATE")
    assert repr(fft).startswith("<PFFT of (8, 6, 4) along ((0,), (1,), (2,)) on ")
    u, v = newDistArray(fft, False, val=3), newDistArray(fft, val=7)
    for wrong, kind, words in (("abc", ValueError, "input_array has the shape ()"),
                               (np.zeros((9, 9, 9)), ValueError, "input_array has the shape (9, 9, 9); that of the transform has"),
                               (u * 1j, TypeError, "input_array is of complex128; that of the transform is of float64")):
        refused(kind, [words], lambda bad: fft.forward(wrong if bad else u, v))
    for wrong, kind, words in ((np.zeros((2, 2)), ValueError, "output_array has the shape (2, 2)"),
                               (np.zeros(v.shape), TypeError, "output_array is of float64"),
                               (read_only(v.v), ValueError, "output_array cannot be written"),
                               ([1.0], TypeError, "output_array is [1.0]")):
        refused(kind, [words], lambda bad: fft.forward(u, wrong if bad else v))
    assert (u == 3).all() and (v == 7).all()
    assert np.allclose(fft.backward(fft.forward(u, v)), 3)
    for call in (lambda: newDistArray(fft, "physical"), lambda: newDistArray(fft, rank=1.5)):
        with pytest.raises(TypeError, match="forward_output is 'physical'|rank is 1.5"):
            call()
    fft.destroy()
    if backend == "fftw":
        with pytest.raises(redist.Error, match="the plan was freed"):
            fft.forward(u, v)


def test_distributed_arrays(tmp_path):
    for wrong, kind, words in (
            (dict(global_shape=8), TypeError, "global_shape is 8"), (dict(global_shape=(8, 6.5)), TypeError, "is 6.5"),
            (dict(rank=2), ValueError, "rank is 2"), (dict(dtype="x y"), TypeError, "dtype is 'x y'"),
            (dict(subcomm=3), TypeError, "subcomm is 3"), (dict(subcomm=(0, 1, 1)), ValueError, "subcomm is (0, 1, 1)"),
            (dict(alignment=2), ValueError, "alignment is 2"), (dict(alignment=0.0), TypeError, "alignment is 0.0")):
        refused(kind, [words], lambda bad: DistArray(**{"global_shape": (8, 6), **(wrong if bad else {})}))
    u = DistArray((8, 6), val=1)
    for axis, out, kind, words in ((2, None, ValueError, "axis is 2; it is from -2 to 1"), ("0", None, TypeError, "axis is '0'"),
                                   (None, None, TypeError, "axis is None, and so is out"),
                                   (None, np.zeros((8, 6)), TypeError, "out is an array"),
                                   (None, DistArray((8, 7), alignment=0), ValueError, "out is of float64 and the global shape")):
        fine = (0, None) if out is None else (None, DistArray((8, 6), alignment=0))
        refused(kind, [words], lambda bad: u.redistribute(*((axis, out) if bad else fine)))
    for index, kind, words in (((0,), ValueError, "gslice is (0,), of 1 values; it has 2"), (3, TypeError, "gslice is 3"),
                               ((8, 0), ValueError, "gslice[0] is 8; it is from -8 to 7"),
                               ((slice(0, 2), 0), TypeError, "gslice[0] is slice(0, 2, None)")):
        refused(kind, [words], lambda bad: u.get(index if bad else (slice(None), 0)))
    name = comm.bcast(str(tmp_path / "u.h5"))
    refused(TypeError, ["filename is 5"], lambda bad: u.write(5 if bad else name))
    refused(TypeError, ["name is 5"], lambda bad: u.read(name, 5 if bad else "u"))
    with pytest.raises(ValueError, match="order is 'gnuplot'; it is one of 'paraview', 'visit'"):
        generate_xdmf(name, order="gnuplot")


def test_files_of_arrays(tmp_path):
    pytest.importorskip("h5py")
    u, name = DistArray((8, 6), val=1), comm.bcast(str(tmp_path / "u.h5"))
    file = HDF5File(name, mode="w")
    for step, fields, kind, words in ((0.5, {"u": [u]}, TypeError, "step is 0.5"), (0, [u], TypeError, "fields is ["),
                                      (0, {"u": u}, TypeError, "fields['u'] is an array"), (0, {5: [u]}, TypeError, "is 5"),
                                      (0, {"u": [np.zeros(3)]}, TypeError, "fields['u'][0] is an array"),
                                      (0, {"u": [(u, (9, 0))]}, ValueError, "fields['u'][0][1][0] is 9")):
        refused(kind, [words], lambda bad: file.write(*((step, fields) if bad else (0, {"u": [u]}))))
    file.write(0, {"u": [u]})
    with pytest.raises(ValueError, match=r"u.h5 has no w/2D/0"):
        u.read(name, "w")
    u[...] = 0
    u.read(name, "u")
    assert (u == 1).all()


def test_distributions():
    for dims, kind, words in (("ab", TypeError, "dims is 'ab'"), ((), ValueError, "dims is ()"), (0.5, TypeError, "dims is 0.5"),
                              ((P + 1, 1), ValueError, f"dims is ({P + 1}, 1); the product of its values is the number")):
        refused(kind, [words], lambda bad: Subcomm(comm, dims if bad else 2))
    subcomm = Subcomm(comm, (0, 1))
    for arguments, kind, words in (((subcomm, 8), TypeError, "shape is 8"), ((subcomm, (8, 6), 2), ValueError, "axis is 2"),
                                   ((subcomm, (8,)), ValueError, "two axes or more"), ((3, (8, 6)), TypeError, "subcomm is 3"),
                                   (((), (8, 6)), ValueError, "subcomm has 0 communicators"),
                                   (((1, 2), (8, 6)), TypeError, "subcomm[0] is 1")):
        with pytest.raises(kind, match=re.escape(words)):
            Pencil(*arguments)
    pencil = Pencil(subcomm, (8, 6), 1)
    for other, kind in ((3, TypeError), (pencil, ValueError), (Pencil(subcomm, (8, 7), 1), ValueError)):
        with pytest.raises(kind, match="pencil is"):
            pencil.transfer(other, float)
    other = pencil.pencil(0)
    if P > 1:  # else there is nobody to agree with
        refused(TypeError, ["dtype is 'x y'"], lambda bad: pencil.transfer(other, "x y" if bad else float))
    transfer = pencil.transfer(other, float)
    a, b = np.ones(pencil.subshape), np.zeros(other.subshape)
    for wrong, kind, words in ((None, TypeError, "arrayA is None"), (a * 1j, TypeError, "arrayA is of complex128"),
                               (np.zeros((9, 9)), ValueError, "arrayA has the shape (9, 9); this rank's part has")):
        with pytest.raises((kind, redist.ArgumentError), match=re.escape(words)):
            transfer.forward(wrong if RANK == 0 else a, b)
    transfer.forward(a, b)
    assert (b == 1).all()


def test_serial_transforms():
    for arguments, kind, words in ((("abc",), TypeError, "shape is 'abc'"), (((8, 6.0),), TypeError, "shape[1] is 6.0"),
                                   (((8, 6), 2), ValueError, "axes[0] is 2"), (((8, 6), (0, 0)), ValueError, "axes is (0, 0)"),
                                   (((8, 6), (), float), ValueError, "axes is ()"), (((8, 6), 0, int), TypeError, "dtype is"),
                                   (((8, 6), (0, 1), float, 1.5), ValueError, "one axis at a time is padded"),
                                   (((8, 6), 0, float, False, "cufft"), ValueError, "backend is 'cufft'")):
        with pytest.raises(kind, match=re.escape(words)):
            FFT(*arguments)
    with pytest.raises(ValueError, match="overwrite_input is 'no'"):
        FFT((8, 6), overwrite_input="no")
    fft = FFT((8, 6))
    with pytest.raises(ValueError, match=re.escape("input_array has the shape (1, 6); that of the transform has (8, 6)")):
        fft.forward(np.zeros((1, 6)))
    real, complexes = np.zeros((8, 6)), np.zeros((8, 6), complex)
    for call, kind, words in (
            (lambda: fftw.fftn(real), TypeError, "input_array is of float64; this transform is of complex"),
            (lambda: fftw.rfftn(complexes), TypeError, "input_array is of complex128; this transform is of real"),
            (lambda: fftw.irfftn(real), TypeError, "input_array is of float64"),
            (lambda: fftw.dctn(complexes), TypeError, "input_array is of complex128"),
            (lambda: fftw.dctn(real.astype(int)), TypeError, "input_array is of int64"),
            (lambda: fftw.fftn(real.tolist()), TypeError, "input_array is [["),
            (lambda: fftw.fftn(read_only(complexes)), ValueError, "input_array cannot be written"),
            (lambda: fftw.fftn(complexes, axes=(2,)), ValueError, "axes[0] is 2"),
            (lambda: fftw.fftn(complexes, axes=(0, 0)), ValueError, "axes is (0, 0)"),
            (lambda: fftw.fftn(complexes, axes="x"), TypeError, "axes is 'x'"),
            (lambda: fftw.dctn(real, type=5), ValueError, "type is 5"), (lambda: fftw.dctn(real, type="2"), TypeError, "type is"),
            (lambda: fftw.fftn(complexes, output_array=complexes[:4].copy()), ValueError, "output_array has the shape (4, 6)"),
            (lambda: fftw.fftn(complexes, output_array=complexes.astype("F")), TypeError, "output_array is of complex64"),
            (lambda: fftw.rfftn(real, output_array=complexes), ValueError, "output_array has the shape (8, 6)"),
            (lambda: fftw.fftn(complexes, flags="FFTW_MEASURE"), TypeError, "flags is 'FFTW_MEASURE'"),
            (lambda: fftw.aligned((8, 6.5)), TypeError, "shape[1] is 6.5"), (lambda: fftw.aligned(8, 0), ValueError, "n is 0"),
            (lambda: fftw.set_timelimit("1"), TypeError, "limit is '1'")):
        with pytest.raises(kind, match=re.escape(words)):
            call()
    plan = fftw.fftn(complexes.copy())
    for given in ((np.zeros((4, 6), complex),), (None, np.zeros((4, 6), complex))):
        with pytest.raises(ValueError, match=r"array has the shape \(4, 6\)"):
            plan(*given)
    plan.destroy()
    with pytest.raises(RuntimeError, match="was destroyed"):
        plan()
