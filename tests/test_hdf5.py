#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the files of 11_series by h5py, and those that their description in XDMF names as a reader of XDMF would."""
import math
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy

SIZES, STEPS = (12, 10, 16), 5


def wave(step):
    """What the program has written."""
    i, j, k = numpy.meshgrid(*(2 * math.pi * numpy.arange(n) / n for n in SIZES), indexing="ij")
    return numpy.sin(i + j - 0.1 * step) * numpy.cos(2 * k)


def check_file(file):
    """Datasets, attributes and dimension scales."""
    assert file.attrs["title"] == "a wave in a periodic box"
    data = file["wave"]
    assert data.shape == (STEPS, *SIZES) and data.dtype == numpy.float64 and data.maxshape[0] is None
    assert [scale.keys()[0] for scale in data.dims] == ["time", "x", "y", "z"]
    assert numpy.allclose(file["time"], 0.1 * numpy.arange(STEPS))
    assert numpy.allclose(data.dims[2][0], 2 * math.pi * numpy.arange(SIZES[1]) / SIZES[1])
    assert numpy.allclose(data.attrs["spacing"], [2 * math.pi / n for n in SIZES])
    for step in range(STEPS):
        assert numpy.allclose(data[step], wave(step), atol=1e-14)
        assert numpy.allclose(file["planes/y0"][step], wave(step)[:, :1], atol=1e-14)


def read_item(item, folder):
    """A DataItem: numbers of the description, a dataset, or a part of one."""
    extents = tuple(map(int, item.get("Dimensions").split()))
    if item.get("Format") == "XML":
        return numpy.array(item.text.split(), float).reshape(extents)
    place, _, part = item.text.partition("|")
    name, dataset = place.split(":")
    with h5py.File(folder / name, "r") as file:
        values = file[dataset][()]
    assert values.dtype.itemsize == int(item.get("Precision"))
    if part:
        start, stride, count, whole = (tuple(map(int, numbers.split())) for numbers in part.split(":"))
        assert values.shape == whole
        values = values[tuple(slice(a, a + s * n, s) for a, s, n in zip(start, stride, count))]
    return values.reshape(extents)


def check_description(folder):
    """The grids of all steps, and what they say."""
    grids = {grid.get("Name"): grid for grid in xml.parse(folder / "series.xdmf").getroot().find("Domain")}
    assert list(grids) == ["planes/y0", "wave"]
    steps = grids["wave"].findall("Grid")
    assert len(steps) == STEPS and len(grids["planes/y0"]) == STEPS
    for step, grid in enumerate(steps):
        assert math.isclose(float(grid.find("Time").get("Value")), 0.1 * step, abs_tol=1e-12)
        assert tuple(map(int, grid.find("Topology").get("Dimensions").split())) == SIZES
        origin, spacing = (read_item(item, folder) for item in grid.find("Geometry"))
        assert not origin.any() and numpy.allclose(spacing, [2 * math.pi / n for n in SIZES])
        assert numpy.allclose(read_item(grid.find("Attribute")[0], folder), wave(step), atol=1e-14)


def main():
    """Exits with an AssertionError where something differs."""
    folder = Path(sys.argv[1])
    with h5py.File(folder / "series.h5", "r") as file:
        check_file(file)
    check_description(folder)


main()
