#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Merges the JSON lines of the benchmarks in a folder: prints tables, writes data for the plots.

Rounds of several runs of the same case are put together before the median is taken. Reads
redist.json, fft.json and threads.json, writes redist.dat, fft.dat and summary.txt; standard library only.
"""
import json
import statistics
import sys
from pathlib import Path


def read_lines(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def group(lines, key):
    """Lists of the lines with the same key, in the order in which the keys first appear."""
    groups = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return groups


def pooled(lines, key):
    """The median over all rounds of some lines; None without any."""
    samples = [sample for line in lines for sample in line.get(key) or []]
    return statistics.median(samples) if samples else None


def shape_text(shape):
    if len(set(shape)) == 1 and len(shape) > 1:
        return f"{shape[0]}^{len(shape)}"
    return "x".join(str(size) for size in shape)


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(value, reference):
    return None if value is None or not reference else value / reference


def format_table(heading, rows):
    widths = [max(len(row[i]) for row in [heading] + rows) for i in range(len(heading))]
    lines = []
    for row in [heading] + rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def write_data(path, heading, rows):
    """Columns for gnuplot; what was not measured is NaN."""
    lines = [" ".join(f'"{name}"' for name in heading)]
    for label, values in rows:
        numbers = " ".join("NaN" if value is None else f"{value:.6g}" for value in values)
        lines.append(f'"{label}" {numbers}')
    path.write_text("\n".join(lines) + "\n")


def machine_text(line):
    """The processor, its caches, and what FFTW was built with."""
    caches = [line[key] / 2 ** 20 for key in ("second_cache_bytes", "last_cache_bytes")]
    fftw = f", {line['fftw']}" if "fftw" in line else ""
    return f"{line['processor']}, caches of {caches[0]:g} and {caches[1]:g} MiB{fftw}\n"


def report_exchanges(folder, lines):
    methods = list(group(lines, lambda line: line["method"]))
    rows, data, wrong = [], [], 0
    cases = group(lines, lambda line: (tuple(line["shape"]), line["type"], tuple(line["axes"])))
    for (shape, element, axes), case in cases.items():
        by_method = group(case, lambda line: line["method"])
        times = {name: pooled(by_method.get(name, []), "ms_samples") for name in methods}
        copy = pooled(case[:1], "memcpy_ms_samples")
        label = f"{axes[0]}:{axes[1]}"
        rows.append([f"{shape_text(shape)} {element} {label}"]
                    + [number(times[name]) for name in methods]
                    + [number(copy), number(ratio(times.get("direct"), copy)),
                       number(ratio(times.get("alltoallw"), times.get("direct")))])
        data.append((label, [times[name] for name in methods] + [copy]))
        wrong += sum(line["wrong"] for line in case)
    write_data(folder / "redist.dat", ["axes"] + methods + ["memcpy"], data)
    heading = ["exchange"] + methods + ["memcpy", "direct/memcpy", "alltoallw/direct"]
    return (machine_text(lines[0]) + f"Exchanges, {lines[0]['ranks']} ranks, {lines[0]['iters']} rounds: median ms\n"
            + format_table(heading, rows) + f"wrong elements: {wrong}\n")


# The columns of the transforms: heading, and which lines belong there.
LIBRARIES = [
    ("fftnd", lambda line: line["library"] == "fftnd"),
    ("fftw-mpi natural", lambda line: line["library"] == "fftw-mpi" and line["ordering"] == "natural"),
    ("fftw-mpi transposed",
     lambda line: line["library"] == "fftw-mpi" and line["ordering"] == "transposed"),
    ("mpi4py-fft", lambda line: line["library"] == "mpi4py-fft" and line["method"] == "default"),
    ("mpi4py-fft collapse",
     lambda line: line["library"] == "mpi4py-fft" and line["method"] == "collapse"),
]
# Those whose spectral side lies elsewhere than ours may do less work; shown, but compared apart.
NATURAL = ("fftw-mpi natural", "mpi4py-fft", "mpi4py-fft collapse")


def ours_of(lines):
    return next(line for line in lines if line["library"] == "fftnd")


def transform_row(case):
    times = {name: pooled([line for line in case if belongs(line)], "pair_ms_samples")
             for name, belongs in LIBRARIES}
    ours = [line for line in case if line["library"] == "fftnd"]
    serial = pooled(ours, "serial_ms_samples")
    peers = {name: time for name, time in times.items() if name != "fftnd" and time is not None}
    natural = [time for name, time in peers.items() if name in NATURAL]
    ratios = [ratio(times["fftnd"], min(natural, default=None)),
              ratio(times["fftnd"], min(peers.values(), default=None)),
              ratio(times["fftnd"], serial)]
    error = max(line["max_error"] for line in ours)
    return times, serial, ratios, error


def report_transforms(folder, lines):
    rows, data = [], []
    cases = group(lines, lambda line: (tuple(line["shape"]), line["kind"], line["precision"]))
    for (shape, kind, precision), case in cases.items():
        times, serial, ratios, error = transform_row(case)
        label = f"{shape_text(shape)} {kind} {precision}"
        rows.append([label] + [number(times[name]) for name, _ in LIBRARIES] + [number(serial)]
                    + [number(value) for value in ratios] + [f"{error:.1e}"])
        data.append((label.replace(" ", "\\n", 1), list(times.values()) + [serial]))
    names = [name for name, _ in LIBRARIES]
    write_data(folder / "fft.dat", ["transform"] + names + ["serial"], data)
    heading = ["transform"] + names + ["serial", "of natural or mpi4py", "of best peer",
                                       "of serial", "max error"]
    rounds = sum(line["iters"] for line in next(iter(cases.values())) if line["library"] == "fftnd")
    return (machine_text(ours_of(lines)) + f"Forward and backward pairs, {lines[0]['ranks']} ranks, {rounds} rounds: median ms\n"
            + format_table(heading, rows))


def report_threads(folder, lines):
    """One rank with several threads beside several ranks with one each."""
    cases = group(lines, lambda line: (tuple(line["shape"]), line["kind"], line["precision"]))
    ways = list(group(lines, lambda line: (line["ranks"], line["threads"])))
    rows = []
    for (shape, kind, precision), case in cases.items():
        by_way = group(case, lambda line: (line["ranks"], line["threads"]))
        times = [pooled(by_way.get(way, []), "pair_ms_samples") for way in ways]
        serial = [pooled(by_way.get(way, []), "serial_ms_samples") for way in ways]
        rows.append([f"{shape_text(shape)} {kind} {precision}"] + [number(time) for time in times]
                    + [number(time) for time in serial] + [number(ratio(times[0], times[-1]))])
    names = [f"{ranks} x {threads}" for ranks, threads in ways]
    heading = (["ranks x threads"] + names + [f"serial {name}" for name in names]
               + ["first/last"])
    return ("Forward and backward pairs of fftnd, threads beside ranks: median ms\n"
            + format_table(heading, rows))


def report_interface(folder, lines):
    """The same plans of FFTW's interface on libfftnd and on FFTW-MPI."""
    cases = group(lines, lambda line: (tuple(line["shape"]), line["kind"], line["precision"],
                                       line["ordering"], line["in_place"], line["effort"]))
    rows = []
    for (shape, kind, precision, ordering, in_place, effort), case in cases.items():
        by_library = group(case, lambda line: line["library"])
        times = [pooled(by_library.get(name, []), "pair_ms") for name in ("fftnd", "fftw-mpi")]
        plans = [max(line["plan_ms"] for line in by_library[name]) for name in ("fftnd", "fftw-mpi")]
        place = "in place" if in_place else "out of place"
        rows.append([f"{shape_text(shape)} {kind} {precision} {ordering} {place} {effort}"]
                    + [number(time) for time in times] + [number(ratio(*times))]
                    + [number(plan, 0) for plan in plans])
    heading = ["plans of FFTW's interface", "fftnd", "fftw-mpi", "ratio", "planning fftnd", "planning fftw-mpi"]
    return "Pairs of plans of FFTW's MPI interface: median ms\n" + format_table(heading, rows)


def main():
    folder = Path(sys.argv[1])
    sections = []
    for name, report in (("redist.json", report_exchanges), ("fft.json", report_transforms),
                         ("threads.json", report_threads), ("interface.json", report_interface)):
        lines = read_lines(folder / name)
        if lines:
            sections.append(report(folder, lines))
    summary = "\n".join(sections)
    (folder / "summary.txt").write_text(summary)
    print(summary)


if __name__ == "__main__":
    main()
