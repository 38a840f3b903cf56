# SPDX-License-Identifier: BSD-3-Clause
"""Operators between transforms, against the same by NumPy on the gathered array."""
import gc
import sys
import threading
import time

import numpy as np
import pytest
from conftest import comm
from test_fftnd import close, field

import fftnd
import redist

P, RANK = comm.size, comm.rank
LAST = RANK == P - 1
FAST = dict(effort="estimate")


def waves(shape, lengths):
    """Wavenumbers of all modes of a complex transform along each axis, and those for derivatives of odd order."""
    k, odd = [], []
    for axis, (n, length) in enumerate(zip(shape, lengths)):
        numbers = np.fft.fftfreq(n, length / (2 * np.pi * n))
        place = [1] * len(shape)
        place[axis] = n
        k.append(numbers.reshape(place))
        odd.append(np.where(2 * np.arange(n) == n, 0, numbers).reshape(place))
    return k, odd


def inverse(symbol, zero):
    return np.where(symbol == 0, zero, 1 / np.where(symbol == 0, 1, symbol))


def definition(kind, shape, lengths, options):
    """What each input is multiplied by on its way to each output: rows of the operator's matrix."""
    k, odd = waves(shape, lengths)
    q = sum(one ** 2 for one in k)
    d, zero, c = range(len(shape)), options.get("zero_mode", 0), options.get("coefficient", 0)
    if kind == "gradient":
        return [[1j * odd[i]] for i in d]
    if kind == "divergence":
        return [[1j * odd[i] for i in d]]
    if kind == "curl" and len(shape) == 2:
        return [[-1j * odd[1], 1j * odd[0]]]
    if kind == "curl":
        return [[0 * q, -1j * odd[2], 1j * odd[1]], [1j * odd[2], 0 * q, -1j * odd[0]],
                [-1j * odd[1], 1j * odd[0], 0 * q]]
    if kind == "leray":
        square = inverse(sum(one ** 2 for one in odd), 0)
        return [[(i == j) - odd[i] * odd[j] * square for j in d] for i in d]
    if kind == "derivative":
        return [[np.prod(np.array([(1j * (odd[i] if n % 2 else k[i])) ** n + 0 * q
                                   for i, n in enumerate(options["orders"])]), 0)]]
    if kind == "shift":
        return [[np.prod(np.array([np.cos(k[i] * s) + 1j * np.sin(odd[i] * s) + 0 * q
                                   for i, s in enumerate(options["shift"])]), 0)]]
    if kind == "symbols":
        product = np.ones(shape)
        for i, table in enumerate(options["symbols"]):
            product = product if table is None else product * table.reshape(k[i].shape)
        return [[product]]
    return [[{"laplacian": lambda: -q, "inverse_laplacian": lambda: inverse(-q, zero), "helmholtz": lambda: c - q,
              "inverse_helmholtz": lambda: inverse(c - q, zero), "biharmonic": lambda: q * q,
              "inverse_biharmonic": lambda: inverse(q * q, zero),
              "shell": lambda: (q >= options["shell"][0] ** 2) & (q < options["shell"][1] ** 2)}[kind]()]]


def applied(matrix, fields):
    modes = [np.fft.fftn(one) for one in fields]
    return [np.fft.ifftn(sum(symbol * one for symbol, one in zip(row, modes))) for row in matrix]


KINDS = ("derivative gradient divergence curl leray laplacian inverse_laplacian helmholtz inverse_helmholtz "
         "biharmonic inverse_biharmonic shell shift symbols").split()


@pytest.mark.parametrize("kind", KINDS)
def test_against_numpy(random, kind):
    for case in range(2):
        d = int(random.integers(2, 4))
        shape = tuple(int(n) for n in random.integers(2, 9, d))
        lengths = tuple(random.uniform(1, 9, d)) if case else (2 * np.pi,) * d
        dtype = "dDfF"[int(random.integers(4))]
        options = {"derivative": dict(orders=[int(n) for n in random.integers(0, 3, d)]), "shift": dict(shift=[0.3] * d),
                   "helmholtz": dict(coefficient=-0.7), "inverse_helmholtz": dict(coefficient=-0.7),
                   "inverse_laplacian": dict(zero_mode=2.5), "shell": dict(shell=(0.9, 2.6)),
                   "symbols": dict(symbols=[None] + [random.random(n) for n in shape[1:]])}.get(kind, {})
        if kind == "symbols":
            dtype = "DF"[case]  # of both k and -k
        matrix = definition(kind, shape, lengths, options)
        with fftnd.Plan(comm, shape, dtype=dtype, **FAST) as plan:
            op = plan.operator(kind, lengths=lengths if case else None, **options)
            a, out = op.empty_input(), op.empty_output()
            full = random.random((len(matrix[0]),) + shape).astype(dtype)
            there = (slice(None),) + plan.physical_slices
            a[...] = full[there].reshape(a.shape)
            expected = np.array(applied(matrix, full))[there]
            expected = (expected if dtype in "DF" else expected.real).astype(dtype)
            assert op.kind == kind and op.plan is plan and op.dtype == np.dtype(dtype)
            assert op.apply(a, out) is out and close(out.reshape(expected.shape), expected, dtype)
            assert close(op(a), out, dtype) and close(plan.apply(kind, a, lengths=lengths, **options), out, dtype)


def test_convolutions(random):
    shape = (6, 5, 8)
    for dtype, conjugated in (("d", False), ("D", True), ("f", True)):
        with fftnd.Plan(comm, shape, dtype=dtype, **FAST) as plan:
            kernel, full = random.random(shape).astype(dtype), random.random(shape).astype(dtype)
            a, b = plan.empty_physical(), plan.empty_physical()
            a[...], b[...] = kernel[plan.physical_slices], full[plan.physical_slices]
            modes = np.fft.fftn(kernel)
            modes = modes.conj() if conjugated else modes
            expected = np.fft.ifftn(modes * np.fft.fftn(full))[plan.physical_slices]
            expected = (expected if dtype == "D" else expected.real).astype(dtype)
            op = plan.convolution(a, conjugated=conjugated)
            assert op.kind == "multiply" and close(op(b), expected, dtype)
            factors = plan.forward(a)
            assert close(plan.apply("multiply", b, multiplier=factors, conjugated=conjugated), expected, dtype)
            with pytest.raises((ValueError, redist.Error) if LAST else redist.Error):
                plan.convolution(np.zeros((3, 3, 3), dtype) if LAST else a)
            with pytest.raises((TypeError, redist.Error) if LAST else redist.Error):
                plan.operator("multiply", multiplier="all" if LAST else factors)


def test_kernels_of_another_plan(random):
    """A kernel with negative offsets, for half-filled axes."""
    shape, filled = (6, 8), (3, 4)
    with fftnd.Plan(comm, shape, dtype="d", filled=filled, **FAST) as plan, fftnd.Plan(comm, shape, **FAST) as whole:
        kernel, full = random.random(shape), np.zeros(shape)
        full[:3, :4] = random.random(filled)
        a, b = whole.empty_physical(), plan.empty_physical()
        a[...], b[...] = kernel[whole.physical_slices], full[plan.physical_slices]
        expected = np.fft.ifft2(np.fft.fft2(kernel) * np.fft.fft2(full)).real[plan.physical_slices]
        assert close(plan.convolution(a, kernel_plan=whole)(b), expected, "d")
        with pytest.raises((TypeError, redist.Error) if LAST else redist.Error):
            plan.convolution(a, kernel_plan="whole" if LAST else whole)


def test_factors(random):
    """Complex and real ones, for modes of which an array has padding, in memory without the room that steps need."""
    shape = (4, 6, 10)
    for dtype, real in (("f", "f"), ("D", "d")):
        for options in (dict(overwrite_input=True, filled=(2, 3, 5)), dict(padding=(None, (1, 0, 2))), dict(batch=2)):
            with fftnd.Plan(comm, shape, dtype=dtype, **options, **FAST) as plan:
                modes = plan.empty_spectral()
                factors = [np.ndarray(modes.shape, kind, np.zeros(plan.spectral.nbytes, np.uint8), 0,
                                      [step * np.dtype(kind).itemsize // modes.itemsize for step in modes.strides])
                           for kind in (real, modes.dtype)]
                values = random.random(tuple(n // 2 + 1 if dtype == "f" and n == 10 else n for n in shape))
                results = []
                for one in factors:
                    one[...] = values[plan.spectral_slices]
                    op = plan.operator("multiply", multiplier=one)
                    a, out = op.empty_input(), op.empty_output()
                    a[...] = np.arange(a.size).reshape(a.shape)
                    results.append(op(a, out).copy())
                assert np.array_equal(*results) and (results[0].size == 0 or abs(results[0]).max() > 0)
                kernel = np.ones(plan.physical_shape, dtype)
                expected = np.prod([n for n in options.get("filled", shape)])
                with plan.convolution(kernel) as sums:
                    a = sums.empty_input()
                    a[...] = 1
                    total = sums(a, sums.empty_output())
                    assert "filled" in options or close(total, np.full_like(total, expected), dtype)
                with pytest.raises((TypeError, redist.Error) if LAST else redist.Error):
                    plan.operator("multiply", multiplier=np.zeros(modes.shape, int) if LAST else factors[0])


def test_open_poisson():
    """A sheet of constant charge: of 4 points, 1/2 apart."""
    with fftnd.Plan(comm, (8, 5, 6), **FAST) as plan:
        op = plan.operator("open_poisson", lengths=(4, 1, 1), free_axes=(0,), green="integrated")
        a, i = op.empty_input(), np.arange(8)[plan.physical_slices[0]]
        a[...] = np.where(i < 4, 1, 0).reshape(-1, 1, 1)
        expected = sum(np.where(i == j, 0.125 / 4, 0.125 * abs(i - j)) for j in range(4)).reshape(-1, 1, 1)
        assert close(op(a)[i < 4], (expected + 0 * a)[i < 4], "d")
        with pytest.raises((ValueError, redist.Error)):
            plan.operator("open_poisson", green="none")


def test_shapes_of_fields(random):
    """Fields take the place of the batch, and come before it."""
    with fftnd.Plan(comm, (6, 5, 4), batch=2, batch_position="last", **FAST) as plan:
        a, whole = plan.empty_physical(), random.random((6, 5, 4, 2))
        a[...] = whole[plan.physical_slices]
        gradient = plan.apply("gradient", a)
        assert gradient.shape == plan.physical_shape[:3] + (6,)
        for field_number in range(3):
            for number in range(2):
                matrix = definition("gradient", (6, 5, 4), (2 * np.pi,) * 3, {})[field_number:field_number + 1]
                expected = applied(matrix, [whole[..., number]])[0].real[plan.physical_slices]
                assert close(gradient[..., field_number * 2 + number], expected, "d")
    with fftnd.Plan(comm, (6, 5, 4), in_place=True, **FAST) as plan:
        op = plan.operator("gradient", axes=(0, -1))
        assert op.input_shape == plan.physical_shape and op.output_shape == (2,) + plan.physical_shape
        a, whole = op.empty_input(), random.random((6, 5, 4))
        a[...] = whole[plan.physical_slices]
        out = op(a)
        matrix = definition("gradient", (6, 5, 4), (2 * np.pi,) * 3, {})
        expected = np.array(applied([matrix[0], matrix[2]], [whole])).real[(slice(None),) + plan.physical_slices]
        assert close(out, expected, "d")


def test_functions_of_modes(random):
    """The boxes of all calls cover the modes of this rank, with their wavenumbers."""
    with fftnd.Plan(comm, (7, 6, 8), threads=2, **FAST) as plan:
        counts, lock = [], threading.Lock()

        def smooth(box):
            assert box.inputs[0].shape == box.shape and len(box.start) == 3 and box.odd[1].shape == (1, box.shape[1], 1)
            with lock:
                counts.append(np.prod(box.shape))
            weight = np.exp(-0.1 * (box.k[0] ** 2 + box.k[1] ** 2 + box.k[2] ** 2))
            box.outputs[0][...] = weight * box.inputs[0]
            box.outputs[1][...] = 1j * box.odd[2] * box.inputs[0]

        a, full = field(plan, random)
        op = plan.operator("modes", function=smooth, outputs=2)
        out = op(a)
        k, odd = waves((7, 6, 8), (2 * np.pi,) * 3)
        expected = applied([[np.exp(-0.1 * sum(one ** 2 for one in k))], [1j * odd[2]]], [full])
        assert close(out, np.array(expected).real[(slice(None),) + plan.physical_slices], "d")
        assert comm.allreduce(sum(counts)) == 7 * 6 * 5


@pytest.mark.parametrize("dtype", "fdgFDG")
def test_functions_may_fill_in_any_order(random, dtype):
    """Outputs lie where inputs do, which the function does not see; the numbers are those of the plan."""
    def swap(box):
        assert box.inputs[0].dtype == np.dtype(dtype.upper()) and box.k[1] is None
        for i in range(2):
            box.outputs[i][...] = box.inputs[1 - i] * (box.k[0] ** 2 + 2)

    with fftnd.Plan(comm, (6, 5, 4), dtype=dtype, batch=2, batch_position="last", **FAST) as plan:
        op = plan.operator("modes", function=swap, inputs=2, outputs=2, axes=[0])
        full = random.random((6, 5, 4, 4)).astype(dtype)
        k = np.fft.fftfreq(6, 1 / 6).reshape(6, 1, 1)
        out = op(np.ascontiguousarray(full[plan.physical_slices]))
        for i in range(4):
            expected = np.fft.ifftn(np.fft.fftn(full[..., (i + 2) % 4]) * (k ** 2 + 2))[plan.physical_slices]
            assert close(out[..., i], expected if dtype in "FDG" else expected.real, dtype)


def test_functions_of_points(random):
    """The product of two fields, from spectra to spectra."""
    kept = []

    def product(box):
        assert box.k == box.odd == (None, None) and box.inputs[0].dtype == float
        with pytest.raises(ValueError):
            box.inputs[0][0] = 1
        box.outputs[0][...] = box.inputs[0] * box.inputs[1]
        kept.append(box)

    with fftnd.Plan(comm, (6, 9), **FAST) as plan:
        with plan.operator("points", function=product, inputs=2) as op:
            a, b = random.random((6, 9)), random.random((6, 9))
            spectra = op.empty_input()
            assert spectra.shape == (2,) + plan.spectral_shape and op.dtype == complex
            spectra[0], spectra[1] = np.fft.rfftn(a)[plan.spectral_slices], np.fft.rfftn(b)[plan.spectral_slices]
            assert close(op(spectra), np.fft.rfftn(a * b)[plan.spectral_slices], "d")
            for box in kept:
                with pytest.raises(ValueError, match="valid only"):
                    box.inputs


def test_functions_that_raise(random):
    """What the function raises comes out on its rank, and an error on the others, now or in the next call."""
    with fftnd.Plan(comm, (4 * P, 6, 5), **FAST) as plan:
        def fail(box):
            box.outputs[0][...] = box.inputs[0]
            if LAST:
                raise KeyError("no such mode")

        a, _ = field(plan, random)
        op = plan.operator("modes", function=fail)
        out, raised = op.empty_output(), []
        for _ in range(2):
            try:
                op(a, out)
            except (KeyError, redist.Error) as error:
                raised.append(type(error))
        assert raised[0] is KeyError if LAST else raised and raised[-1] is not KeyError
        with pytest.raises(redist.Error):
            op(a, out)
        assert close(plan.backward(plan.forward(a)), a, "d")


def test_wrong_arrays_on_a_rank_without_elements():
    """They are refused on all ranks, and the operator goes on working."""
    def slow(box):
        time.sleep(0.001)
        box.outputs[0][...] = box.inputs[0]

    with fftnd.Plan(comm, (max(1, P - 1), 16, 16), grid=(P,), threads=2, **FAST) as plan:
        op, a = plan.operator("modes", function=slow), plan.empty_physical()
        a[...] = 1
        with pytest.raises(TypeError if LAST else redist.ArgumentError, match=rf"array is None.*\(rank {P - 1}\)"):
            op(None if LAST else a)
        assert close(op(a), np.ones(plan.physical_shape), "d")


def test_memory_of_arrays_in_place():
    with fftnd.Plan(comm, (8, 8, 8), "c2c", complex, in_place=True, **FAST) as plan:
        with pytest.raises(ValueError, match="bytes of memory"):
            plan.apply("gradient", plan.empty_physical())
        with pytest.raises(ValueError, match="bytes of memory"):
            plan.apply("gradient", np.empty(plan.physical_shape, complex))
        ones = np.ones(8, complex)
        ones.flags.writeable = False
        op = plan.operator("symbols", symbols=[ones, None, ones])
        a = op.empty_input()
        a[...] = 1
        assert close(op(a), np.ones(op.output_shape), "d")
        op = plan.operator("gradient")
        a = op.empty_input()
        a[...] = 1
        assert close(op(a), np.zeros(op.output_shape), "d")
    with fftnd.Plan(comm, (8, 8, 8), overwrite_input=True, **FAST) as plan:
        op = plan.operator("laplacian")
        a = op.empty_input()
        if min(comm.allgather(a.base.nbytes - a.nbytes)) > 0:  # it stores more than the fields
            with pytest.raises(ValueError, match="bytes of memory"):
                op(np.ones(op.input_shape))
            with pytest.raises(ValueError, match="bytes of memory"):
                op(a, np.ones(op.output_shape))
        a[...] = 1
        assert close(op(a), np.zeros(op.output_shape), "d")


def test_errors_come_on_all_ranks(random):
    with fftnd.Plan(comm, (8, 7, 6), **FAST) as plan:
        a, _ = field(plan, random)
        for error, right, wrong in (
                (ValueError, ("laplacian", {}), ("Laplace", {})),
                (ValueError, ("derivative", dict(orders=(1, 0, 0))), ("derivative", dict(orders=(1, 0)))),
                (ValueError, ("laplacian", dict(lengths=(1, 1, 1))), ("laplacian", dict(lengths=(1, 1)))),
                (ValueError, ("laplacian", dict(axes=(0, 1))), ("laplacian", dict(axes=(0, 3)))),
                (ValueError, ("symbols", dict(symbols=[np.ones(8), None, None])),
                 ("symbols", dict(symbols=[np.ones(7), None, None]))),
                (ValueError, ("shell", dict(shell=(1, 2))), ("shell", dict(shell=3))),
                (TypeError, ("modes", dict(function=print)), ("modes", dict(function=3)))):
            kind, options = wrong if LAST else right
            with pytest.raises((redist.ArgumentError, ValueError, TypeError)) as caught:
                plan.operator(kind, **options)
            assert isinstance(caught.value, (error, TypeError) if LAST else redist.ArgumentError)
        for kind, options in (("derivative", {}), ("symbols", {}), ("modes", {}), ("curl", dict(axes=[0])),
                              ("laplacian", dict(lengths=(1, -1, 1)))):
            with pytest.raises(redist.Error):
                plan.operator(kind, **options)
        op = plan.operator("laplacian")
        for wrong, kind in ((a[..., :-1], ValueError), (a.astype("f"), TypeError), (None, TypeError)):
            with pytest.raises((kind, redist.ArgumentError)) as caught:
                op(wrong if LAST else a)
            assert isinstance(caught.value, kind if LAST else redist.ArgumentError)
        other = fftnd.Plan(comm, (8, 7, 6), "dct1", **FAST)
        with pytest.raises(redist.Error, match="cannot represent"):
            other.apply("gradient", a)
        assert close(plan.apply("inverse_laplacian", op(a)), a - comm.allreduce(a.sum()) / (8 * 7 * 6), "d")


def test_who_frees_operators(monkeypatch):
    private = comm.Dup()
    plan = fftnd.Plan(private, (6, 5, 4), **FAST)
    op = plan.operator("laplacian")
    assert redist.collect(private) == 2
    del op
    gc.collect()
    assert redist.collect(private) == 1
    op = plan.operator("laplacian")
    a = plan.empty_physical()
    plan.free()  # frees its operators
    assert redist.collect(private) == 1
    with pytest.raises(redist.Error):
        op(a)
    op.free()
    plan = fftnd.Plan(private, (6, 5, 4), **FAST)
    op, a = plan.operator("laplacian"), plan.empty_physical()
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda failed: reported.append(failed.exc_type))
    out = plan.start("forward", a)
    del op  # while its plan is at work
    gc.collect()
    redist.collect(private)
    plan.wait()
    plan.free()
    assert out.shape == plan.spectral_shape and reported == [redist.Error]
    del out
    plan = fftnd.Plan(private, (6, 5, 4), **FAST)
    op = plan.operator("laplacian")
    loop = [op]
    loop.append(loop)
    del plan, op, loop, a  # the operator keeps its plan, and goes before it
    gc.collect()
    assert redist.collect(private) == 0
    private.Free()
