# SPDX-License-Identifier: BSD-3-Clause
"""Draws what layouts.c prints: parts.py LINES FOLDER makes FOLDER/parts-slab.svg, parts-pencil.svg, parts-r2c.svg,
parts-modes.svg and files.svg. All numbers are the library's."""
import collections
import itertools
import pathlib
import sys

from svg import COLOURS, INK, Picture, shade

GAP = 0.14  # between blocks, in elements
UNIT = 20.0  # of an element, in pixels
DEPTH = (0.52, -0.36)  # one element along axis 1, which leads away from the reader


def read(path):
    """layouts[name, side] = [(sizes, start, count) of each rank]; modes[name][rank][axis] = wavenumbers."""
    layouts, modes = collections.defaultdict(list), collections.defaultdict(lambda: collections.defaultdict(list))
    for line in path.read_text(encoding="utf-8").splitlines():
        name, kind, rank, *numbers = line.split()
        if kind == "modes":
            modes[name][int(rank)].append([float(k) for k in numbers[1:]])
        else:
            numbers = [int(word) for word in numbers]
            layouts[name, kind].append((numbers[:3], numbers[3:6], numbers[6:]))
    return layouts, modes


def project(origin, place):
    """Axis 0 leads down, axis 1 away, axis 2 (contiguous) to the right."""
    down, away, right = place
    return (origin[0] + UNIT * (right + DEPTH[0] * away), origin[1] + UNIT * (down + DEPTH[1] * away))


def draw_block(picture, origin, start, count, colour):
    low = [place + GAP / 2 for place in start]
    high = [place + extent - GAP / 2 for place, extent in zip(start, count)]

    def face(corners, factor):
        points = [project(origin, corner) for corner in corners]
        picture.polygon(points, fill=shade(colour, factor), stroke="white", stroke_width="1")

    face([(low[0], low[1], low[2]), (low[0], low[1], high[2]), (low[0], high[1], high[2]), (low[0], high[1], low[2])], 1.35)
    face([(low[0], low[1], high[2]), (low[0], high[1], high[2]), (high[0], high[1], high[2]), (high[0], low[1], high[2])], 0.8)
    face([(low[0], low[1], low[2]), (low[0], low[1], high[2]), (high[0], low[1], high[2]), (high[0], low[1], low[2])], 1.0)


def draw_axes(picture, origin, sizes):
    def label(place, name, extent, **attributes):
        x, y = project(origin, place)
        picture.text(x, y, f"axis {name}: {extent}", **attributes)

    label((sizes[0] / 2, 0, -0.5), 0, sizes[0], text_anchor="end")
    label((0, sizes[1] / 2, -0.7), 1, sizes[1], text_anchor="end")
    label((sizes[0] + 1.2, 0, sizes[2] / 2), 2, sizes[2], text_anchor="middle")


def draw_side(picture, origin, title, ranks):
    sizes = ranks[0][0]
    x, y = project(origin, (0, sizes[1], sizes[2] / 2))
    picture.text(x - 20, y - 14, title, text_anchor="middle", font_weight="bold")
    # blocks that are behind or below others come first
    order = sorted(range(len(ranks)), key=lambda rank: (-ranks[rank][1][1], -ranks[rank][1][0], ranks[rank][1][2]))
    for rank in order:
        _, start, count = ranks[rank]
        if all(count):
            draw_block(picture, origin, start, count, COLOURS[rank])
    draw_axes(picture, origin, sizes)


def draw_legend(picture, x, y):
    for rank, colour in enumerate(COLOURS):
        picture.add("rect", x=float(x + 95 * rank), y=float(y - 11), width=13, height=13, fill=colour)
        picture.text(x + 95 * rank + 20, y, f"rank {rank}")


def draw_transform(layouts, name, titles, path):
    tallest = max(sizes[0] for (owner, _), ranks in layouts.items() if owner == name for sizes, _, _ in ranks)
    bottom = round(105 + UNIT * tallest + 62)
    picture = Picture(720, bottom + 15)
    for side, x, title in (("physical", 100.0, titles[0]), ("spectral", 460.0, titles[1])):
        draw_side(picture, (x, 105.0), title, layouts[name, side])
    draw_legend(picture, 180, bottom)
    picture.write(path)


def draw_modes(layouts, modes, name, path):
    """The plane of modes along axes 1 and 2, which are split, with the wavenumbers of each element."""
    sizes = layouts[name, "spectral"][0][0]
    cell, left, top = 58.0, 100.0, 70.0
    picture = Picture(round(left + cell * sizes[2] + 30), round(top + cell * sizes[1] + 50))
    picture.text(left, 24, "Modes (k1, k2) of each rank", font_weight="bold")
    picture.text(left + cell * sizes[2] / 2, 54, "axis 2, halved: k2", text_anchor="middle")
    picture.text(left - 12, top + cell * sizes[1] / 2, "axis 1: k1", text_anchor="end")
    for rank, (_, start, count) in enumerate(layouts[name, "spectral"]):
        for i, k1 in enumerate(modes[name][rank][1]):
            for j, k2 in enumerate(modes[name][rank][2]):
                x, y = left + cell * (start[2] + j), top + cell * (start[1] + i)
                picture.add("rect", x=x + 1, y=y + 1, width=cell - 2, height=cell - 2, rx=4,
                            fill=shade(COLOURS[rank], 1.45))
                picture.text(x + cell / 2, y + cell / 2 + 5, f"{k1:g}, {k2:g}", text_anchor="middle", fill=INK)
        assert len(modes[name][rank][1]) == count[1] and len(modes[name][rank][2]) == count[2]
    draw_legend(picture, left, top + cell * sizes[1] + 32)
    picture.write(path)


def owner(ranks, place):
    return next(rank for rank, (_, start, count) in enumerate(ranks)
                if all(low <= at < low + extent for low, at, extent in zip(start, place, count)))


def draw_stripe(picture, x, top, bottom, words):
    """A bracket beside the rows of a file that one rank writes."""
    picture.polyline([(x - 5, top), (x, top), (x, bottom), (x - 5, bottom)], stroke=INK)
    picture.text(x + 8, (top + bottom) / 2 + 5, words)


def draw_file(picture, left, top, ranks):
    """The elements of a file in its order, those of each index along axis 0 in a row."""
    sizes = ranks[0][0]
    cell, row = 4.0, 20.0
    picture.text(left + cell * sizes[1] * sizes[2] / 2, top - 14, "the file, in C order", text_anchor="middle",
                 font_weight="bold")
    for i in range(sizes[0]):
        x = left
        owners = (owner(ranks, (i, j, k)) for j in range(sizes[1]) for k in range(sizes[2]))
        for rank, run in itertools.groupby(owners):
            width = cell * len(list(run))
            picture.add("rect", x=x, y=top + row * i + 2, width=width, height=row - 4, fill=COLOURS[rank])
            x += width
    picture.text(left - 8, top + 15, "0", text_anchor="end")
    picture.text(left - 8, top + row * (sizes[0] - 1) + 15, f"{sizes[0] - 1}", text_anchor="end")
    middle, right, end = top + row * sizes[0] / 2, left + cell * sizes[1] * sizes[2] + 14, top + row * sizes[0]
    draw_stripe(picture, right, top + 2, middle - 2, "a writer")
    draw_stripe(picture, right, middle + 2, end - 2, "another")


def draw_exchange(layouts, path):
    """What four ranks have, the file that two of them write, and what three ranks read of it."""
    picture = Picture(1010, 350)
    draw_side(picture, (80.0, 105.0), "four ranks write", layouts["pencil", "spectral"])
    draw_file(picture, 375.0, 105.0, layouts["pencil", "spectral"])
    draw_side(picture, (755.0, 105.0), "three ranks read", layouts["slabs", "physical"])
    draw_legend(picture, 330, 335)
    picture.write(path)


def main(lines, folder):
    layouts, modes = read(lines)
    draw_transform(layouts, "slab", ("physical: points", "spectral: modes"), folder / "parts-slab.svg")
    draw_transform(layouts, "pencil", ("physical: points", "spectral: modes"), folder / "parts-pencil.svg")
    draw_transform(layouts, "r2c", ("physical: real", "spectral: complex"), folder / "parts-r2c.svg")
    draw_modes(layouts, modes, "r2c", folder / "parts-modes.svg")
    draw_exchange(layouts, folder / "files.svg")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
