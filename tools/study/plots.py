# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG text, drawn by gnuplot: lines with bands over names or over numbers, and stacked bars."""
import shutil
import subprocess

COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#e0a030", "#7b4fa3", "#4aa5a5", "#8c564b", "#555555"]
WIDTH, HEIGHT = 620, 320
MOST_LABELS = 8  # along the horizontal axis


def available():
    return shutil.which("gnuplot") is not None


def quote(words):
    return "'" + str(words).replace("'", "''").replace("\n", " ") + "'"


def colour(index):
    return f"linecolor rgb '{COLOURS[index % len(COLOURS)]}' dashtype {index // len(COLOURS) + 1}"


def block(name, rows):
    """A gnuplot data block."""
    return [f"${name} << EOD", *(" ".join(f"{value:.9g}" for value in row) for row in rows), "EOD"]


def draw(title, height, commands):
    """The SVG element that the commands draw; nothing without gnuplot."""
    if not available():
        return ""
    begin = [f"set terminal svg size {WIDTH},{height} font 'sans-serif,11' background 'white' noenhanced",
             f"set title {quote(title)}", "set tics nomirror", "set border 3",
             "set key below left Left reverse samplen 2"]
    done = subprocess.run(["gnuplot"], input="\n".join(begin + commands) + "\n", text=True,
                          capture_output=True, check=True)
    return done.stdout[done.stdout.index("<svg"):]


def ticks(pairs):
    """Of many labels every n-th."""
    step = -(-len(pairs) // MOST_LABELS)
    return "(" + ", ".join(f"{quote(words)} {place:.9g}" for place, words in pairs[::step]) + ")"


def lines(title, series, unit, places=None, names=None, logarithmic=True, across=""):
    """Series are pairs of a name and points (x, y, half band).

    With `names`, x counts these names from 0; else x is a number on a logarithmic axis.
    """
    series = [(name, points) for name, points in series if points]
    if not series:
        return ""
    least = min(y for _, points in series for _, y, _ in points)
    commands = ["set grid y", f"set ylabel {quote(unit)}", f"set xlabel {quote(across)}"]
    commands += ["set logscale y", f"set yrange [{0.7 * least:.9g}:*]"] if logarithmic else ["set yrange [*<1:*]"]
    if names:
        commands += [f"set xtics {ticks(list(enumerate(names)))}",
                     f"set xrange [-0.3:{len(names) - 0.7}]"]
    else:
        commands += ["set logscale x", "set offsets graph 0.03, graph 0.03",
                     f"set xtics {ticks([(place, f'{place:.3g}') for place in places])}"]
    plots = []
    for index, (name, points) in enumerate(series):
        commands += block(f"d{index}", [(x, y, max(y - half, 0.5 * least), y + half)
                                        for x, y, half in points])
        plots += [f"$d{index} using 1:3:4 with filledcurves fillstyle transparent solid 0.2 noborder "
                  f"{colour(index)} notitle",
                  f"$d{index} using 1:2 with linespoints pointtype 7 pointsize 0.4 linewidth 1.6 "
                  f"{colour(index)} title {quote(name)}"]
    return draw(title, HEIGHT + 18 * (len(series) // 4), commands + ["plot " + ", ".join(plots)])


def bars(title, rows, names, unit):
    """Stacked bars lying on their side: rows are pairs of a name and a value for each of `names`."""
    if not rows:
        return ""
    ends = [[sum(max(value, 0) for value in values[:i]) for i in range(len(names) + 1)]
            for _, values in rows]
    commands = [f"set ytics ({', '.join(f'{quote(name)} {i}' for i, (name, _) in enumerate(rows))})",
                f"set yrange [{len(rows) - 0.5}:-0.5]", f"set xlabel {quote(unit)}", "set grid x",
                f"set xrange [0:{1.15 * max(of_row[-1] for of_row in ends) or 1:.9g}]",
                "set style fill solid noborder"]
    plots = []
    for index, name in enumerate(names):
        commands += block(f"d{index}", [(of_row[index], of_row[index + 1]) for of_row in ends])
        plots.append(f"$d{index} using 1:0:1:2:($0 - 0.4):($0 + 0.4) with boxxyerror {colour(index)} "
                     f"title {quote(name)}")
    commands += block("sums", [(of_row[-1],) for of_row in ends])
    plots.append("$sums using 1:0:(sprintf(' %.3g', $1)) with labels left notitle")
    return draw(title, 130 + 22 * len(rows), commands + ["plot " + ", ".join(plots)])
