# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of fftnd.mpi4py_fft (refusals.py)."""
import re

import numpy as np
import pytest
from conftest import comm
from refusals import P, RANK, read_only, refused

import redist
from fftnd.mpi4py_fft import DistArray, HDF5File, PFFT, fftw, generate_xdmf, newDistArray
from fftnd.mpi4py_fft.libfft import FFT
from fftnd.mpi4py_fft.pencil import Pencil, Subcomm

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
