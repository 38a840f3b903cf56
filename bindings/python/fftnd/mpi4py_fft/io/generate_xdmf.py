# SPDX-License-Identifier: BSD-3-Clause
"""XDMF descriptions of HDF5 files, for ParaView and VisIt."""
import xml.etree.ElementTree as xml

import numpy as np

from redist import _arguments


def _scalar_fields(file):
    """The real 2-D and 3-D datasets of scalar fields, as {(which part, dimensions): {step: [names]}}."""
    import h5py
    found = {}

    def visit(name, item):
        words = name.split("/")
        if not isinstance(item, h5py.Dataset) or words[1] in ("mesh", "domain") or file[words[0]].attrs["rank"] > 0:
            return
        ndims = int(words[1][0])
        if ndims in (2, 3):
            part = words[2] if len(words) == 4 else "whole"
            found.setdefault((part, ndims), {}).setdefault(int(words[-1]), []).append(name)

    file.visititems(visit)
    return found


class _Mesh:
    """The mesh of one part of the fields: axes, of which one of a slice in space has a single point.

    Args:
        file: the HDF5 file
        name: a dataset
        part: "whole", or as in "slice_4_slice"
        ends: for each axis 0 if it is periodic, else 1: how many fewer intervals than points
    """

    def __init__(self, file, name, part, ends):
        self.group = file[name.split("/")[0]]
        self.filename = file.filename
        self.precision = 4 if file[name].dtype == np.float32 else 8
        full = [int(n) for n in self.group.attrs["shape"]]
        indices = [None] * len(full) if part == "whole" else [
            None if word == "slice" else int(word) for word in part.split("_")]
        self.axes = [axis for axis, index in enumerate(indices) if index is None]
        if len(self.axes) == 2 and len(full) == 3:  # a plane in space
            self.axes = [0, 1, 2]
        self.counts = [full[axis] if indices[axis] is None else 1 for axis in self.axes]
        self.places = [indices[axis] for axis in self.axes]
        self.full, self.ends = full, ends

    def dimensions(self):
        counts = self.counts if len(self.counts) == 3 else [1] + self.counts
        return " ".join(str(n) for n in counts)

    def _uniform(self):
        """Origin and distance of the points along each axis."""
        result = []
        for axis, place in zip(self.axes, self.places):
            origin, length = self.group[f"domain/x{axis}"][:]
            step = length / max(1, self.full[axis] - self.ends[axis])
            result.append((origin if place is None else origin + step * place, step))
        return result

    def add_uniform(self, grid, reverse):
        kind = "ORIGIN_DXDY" if len(self.axes) == 2 else "ORIGIN_DXDYDZ"
        geometry = xml.SubElement(grid, "Geometry", Type=kind)
        pairs = self._uniform()
        for values in zip(*(reversed(pairs) if reverse else pairs)):
            item = xml.SubElement(geometry, "DataItem", Format="XML", NumberType="Float",
                                  Dimensions=str(len(values)))
            item.text = " ".join(repr(float(value)) for value in values)

    def add_points(self, grid, reverse):
        geometry = xml.SubElement(grid, "Geometry", Type="VXVYVZ")
        axes = list(zip(self.axes, self.places, self.counts))
        if len(axes) == 3 or reverse:  # XDMF counts from the fastest axis
            axes.reverse()
        for axis, place, count in axes:
            name = f"mesh/x{axis}"
            self._add_coordinates(geometry, name, place, count)
        if len(axes) == 2:
            self._add_values(geometry, "0")

    def _add_coordinates(self, geometry, name, place, count):
        if place is not None:
            self._add_values(geometry, repr(float(self.group[name][place])))
            return
        item = xml.SubElement(geometry, "DataItem", Format="HDF", NumberType="Float",
                              Precision=str(self.group[name].dtype.itemsize), Dimensions=str(count))
        item.text = f"{self.filename}:{self.group.name}/{name}"

    @staticmethod
    def _add_values(geometry, text):
        item = xml.SubElement(geometry, "DataItem", Format="XML", NumberType="Float", Precision="8", Dimensions="1")
        item.text = text


def _add_step(collection, mesh, names, order):
    grid = xml.SubElement(collection, "Grid", GridType="Uniform")
    uniform = "domain" in mesh.group
    reverse = order == "visit" and len(mesh.axes) == 2
    (mesh.add_uniform if uniform else mesh.add_points)(grid, reverse)
    xml.SubElement(grid, "Topology", Dimensions=mesh.dimensions(), Type="3DCoRectMesh" if uniform else "3DRectMesh")
    for name in names:
        attribute = xml.SubElement(grid, "Attribute", Name=name.split("/")[0], Center="Node")
        item = xml.SubElement(attribute, "DataItem", Format="HDF", NumberType="Float",
                              Precision=str(mesh.precision), Dimensions=mesh.dimensions())
        item.text = f"{mesh.filename}:/{name}"


def _ends(periodic):
    if isinstance(periodic, (tuple, list)):
        return [0 if one else 1 for one in periodic]
    return [0 if periodic else 1] * 16


def generate_xdmf(h5filename, periodic=True, order="paraview"):
    """Writes XDMF files beside an HDF5 file: NAME.xdmf for whole fields, NAME_slice_4_slice.xdmf for slices.

    Args:
        h5filename: name of the HDF5 file
        periodic: whether the axes are periodic, for all or for each; it matters for domains of (origin, length)
        order: "paraview" or "visit", which want the axes of plane meshes in opposite order
    Not collective: one rank calls it.
    """
    import h5py
    order = _arguments.one_of("order", order.lower() if isinstance(order, str) else order, ("paraview", "visit"))
    with h5py.File(h5filename, "r") as file:
        for (part, _), steps in _scalar_fields(file).items():
            root = xml.Element("Xdmf", {"xmlns:xi": "http://www.w3.org/2001/XInclude", "Version": "2.1"})
            collection = xml.SubElement(xml.SubElement(root, "Domain"), "Grid", Name="Structured Grid",
                                        GridType="Collection", CollectionType="Temporal")
            times = xml.SubElement(xml.SubElement(collection, "Time", TimeType="List"), "DataItem", Format="XML",
                                   Dimensions=str(len(steps)))
            times.text = " ".join(str(step) for step in sorted(steps))
            for step in sorted(steps):
                first = steps[step][0]
                if file[first].dtype.kind == "c":
                    raise TypeError(f"{first} in {h5filename} is of {file[first].dtype}; XDMF has no complex numbers")
                _add_step(collection, _Mesh(file, first, part, _ends(periodic)), steps[step], order)
            name = h5filename[:-3] + ("" if part == "whole" else "_" + part) + ".xdmf"
            xml.indent(root)
            xml.ElementTree(root).write(name, encoding="utf-8", xml_declaration=True)
