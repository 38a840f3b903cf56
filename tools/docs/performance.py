# SPDX-License-Identifier: BSD-3-Clause
"""Draws tables of docs/performance.md: performance.py DOCUMENT FOLDER makes FOLDER/performance-host.svg and
FOLDER/performance-gpus.svg, the times of libfftnd over those of its peers. Ratios are the document's, and are refused
if they are not those of the times beside them."""
import pathlib
import re
import sys

from svg import COLOURS, FAINT, INK, Picture

PEER = "of the best peer"
PANEL = 330


def tables_of(text):
    """Pairs of the words before a table and its rows."""
    words, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            yield " ".join(words), [row for row in rows if not set("".join(row)) <= set("-")]
            words, rows = [line], []
        else:
            words.append(line)


def numbers(cell):
    return [float(word) for word in re.findall(r"\d+(?:\.\d+)?", cell.replace("**", ""))]


def check(ratio, ours, theirs, where):
    # both times are rounded to three digits, and the ratio to two
    if abs(ratio - ours / theirs) > 0.0051 + 0.006 * ours / theirs:
        sys.exit(f"{where}: {ours} over {theirs} is not {ratio}")


def host_ratios(rows):
    """The ratios of each transform of a table; some transforms were measured several times."""
    column = {name: place for place, name in enumerate(rows[0])}
    ratios = {}
    for row in rows[1:]:
        name = row[0].split(",")[0]
        values = numbers(row[column[PEER]])
        ours = numbers(row[column["libfftnd"]])
        theirs = [min(numbers(run)) for run in row[column["libfftnd"] + 1].split(";")]
        for value, mine, best in zip(values, ours, theirs, strict=True):
            check(value, mine, best, name)
        ratios[name] = values
    return ratios


def draw_host(machines, path):
    names = list(dict.fromkeys(name for ratios in machines.values() for name in ratios))
    left, top, row, width = 210, 62, 22, 500
    picture = Picture(left + width + 30, top + row * len(names) + 44)
    picture.text(left, 22, "Time of libfftnd over that of the better FFTW-MPI, 2 ranks", font_weight="bold")
    for place, name in enumerate(machines):
        picture.add("rect", x=left + 120 * place, y=33, width=13, height=13, fill=COLOURS[place])
        picture.text(left + 120 * place + 20, 45, name)
    bottom = top + row * len(names)
    for tenth in range(0, 11, 2):
        x = left + width * tenth / 10
        picture.line(x, top - 4, x, bottom, stroke=FAINT if tenth < 10 else INK)
        picture.text(x, bottom + 20, f"{tenth / 10:g}", text_anchor="middle")
    for i, name in enumerate(names):
        y = top + row * i
        picture.text(left - 10, y + 14, name, text_anchor="end", font_size="13")
        for place, ratios in enumerate(machines.values()):
            for value in ratios.get(name, []):
                picture.add("circle", cx=left + width * value, cy=y + 10.0, r=5, fill=COLOURS[place])
    picture.write(path)


def gpu_series(rows):
    """Points (size, ratio) of each kind of a table whose rows are a kind, its peer, their ratio, and more."""
    sizes = [re.fullmatch(r"(\d+)\^3", name) for name in rows[0]]
    series = {}
    for ours, theirs, ratio in zip(rows, rows[1:], rows[2:]):
        if ratio[0] != "ratio":
            continue
        points = []
        for size, mine, peer, value in zip(sizes, ours, theirs, ratio):
            if size and value != "-":
                if mine != "-" and peer != "-":
                    check(*numbers(value), *numbers(mine), *numbers(peer), f"{ours[0]} {size.group()}")
                points.append((int(size.group(1)), *numbers(value)))
        series[ours[0].replace(", double", "")] = sorted(points)
    return series


def draw_panel(picture, left, title, series, colours):
    width, top, height, last = PANEL - 60, 72, 240, 1120

    def x_of(size):
        return left + width * size / last

    def y_of(ratio):
        return top + height * (1 - ratio / 1.1)

    picture.text(left + width / 2, 58, title, text_anchor="middle", font_weight="bold")
    for ratio in (0, 0.2, 0.4, 0.6, 0.8, 1):
        picture.line(left, y_of(ratio), left + width, y_of(ratio), stroke=INK if ratio == 1 else FAINT)
        picture.text(left - 8, y_of(ratio) + 5, f"{ratio:g}", text_anchor="end", font_size="12")
    for size in (256, 512, 768, 1000):
        picture.line(x_of(size), y_of(0), x_of(size), y_of(0) + 5)
        picture.text(x_of(size), y_of(0) + 20, f"{size}^3", text_anchor="middle", font_size="12")
    for kind, points in series.items():
        places = [(x_of(size), y_of(ratio)) for size, ratio in points]
        picture.polyline(places, stroke=colours[kind], stroke_width="1.5", stroke_opacity="0.6")
        for x, y in places:
            picture.add("circle", cx=x, cy=y, r=4, fill=colours[kind])


def draw_gpus(machines, path):
    kinds = list(dict.fromkeys(kind for series in machines.values() for kind in series))
    colours = dict(zip(kinds, COLOURS, strict=False))
    picture = Picture(PANEL * len(machines) + 20, 350)
    picture.text(50, 24, "Time of libfftnd over that of cuFFTXt", font_weight="bold")
    for place, kind in enumerate(kinds):
        picture.add("circle", cx=400.0 + 130 * place, cy=19, r=5, fill=colours[kind])
        picture.text(412 + 130 * place, 24, kind if "float" in kind else kind + ", double")
    for place, (title, series) in enumerate(machines.items()):
        draw_panel(picture, 50 + PANEL * place, title, series, colours)
    picture.write(path)


def main(document, folder):
    tables = list(tables_of(document.read_text(encoding="utf-8")))
    hosts = [host_ratios(rows) for _, rows in tables if rows[0][-1] == PEER]
    # the first processor has a table of two dimensions too
    draw_host({"AMD EPYC": {**hosts[0], **hosts[1]}, "Intel Xeon": hosts[2]}, folder / "performance-host.svg")
    gpus = {}
    for words, rows in tables:
        machine = re.findall(r"(two|four) (H\d+)s", words, re.IGNORECASE)
        if machine and any(row[0] == "ratio" for row in rows):
            gpus[f"{machine[0][0].capitalize()} {machine[0][1]}s"] = gpu_series(rows)
    draw_gpus(gpus, folder / "performance-gpus.svg")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
