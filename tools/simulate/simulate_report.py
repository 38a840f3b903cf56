#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables of the simulated exchanges.

usage: simulate_report.py FOLDER

Reads FOLDER/exchange-*.json, transform-*.json and, for their results only, check-*.json: one object a
line as redist-bench and fftnd-bench print it, with the platform and the ranks of each node. Writes times.md,
tables in Markdown, and for gnuplot, of one rank on each node, PLATFORM-RANKS.dat (time against bytes for each peer)
and PLATFORM-BYTES-bytes.dat (time against ranks); of eight, nodes-BYTES-bytes.dat; all in FOLDER. Fails if an element was wrong, or if what a plan keeps on a rank, as memory.txt
tells, grows faster than the number of ranks.
"""
import json
import sys
from pathlib import Path


def read(folder, kind):
    """The runs of one kind, each with the bytes for each peer."""
    runs = [json.loads(line) for path in sorted(folder.glob(f"{kind}-*.json"))
            for line in path.read_text(encoding="utf-8").splitlines() if line]
    runs = [run for run in runs if "ranks_per_node" in run]  # not those of an earlier version
    for run in runs:
        run["part"] = 16 * run["shape"][-1]
    return runs


def methods_of(runs):
    """The names of the methods: those of one stage by name, then kway by k."""
    names = {run["method"] for run in runs}
    return sorted(names, key=lambda name: (int("0" + name.removeprefix("kway:"))
                                           if name.startswith("kway:") else 0, name))


def rows(runs, key):
    """Microseconds by a key, then by method."""
    table = {}
    for run in runs:
        table.setdefault(run[key], {})[run["method"]] = 1e3 * run["ms_median"]
    return sorted(table.items())


def write_data(path, heading, table, methods):
    """One line for each row, NaN where a method was not run."""
    lines = [" ".join([heading] + [f'"{name}"' for name in methods])]
    for value, times in table:
        lines.append(" ".join([str(value)] + [f"{times.get(name, float('nan')):.3f}" for name in methods]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def row(cells):
    """A row of a table in Markdown."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table_lines(runs):
    """Every run, the fastest in bold."""
    methods = methods_of(runs)
    lines = [row(["platform", "ranks", "bytes"] + [f"`{name}`" for name in methods]),
             "|" + "---|" * (3 + len(methods))]
    for platform in dict.fromkeys(run["platform"] for run in runs):
        for ranks in sorted({run["ranks"] for run in runs}):
            here = [run for run in runs if run["platform"] == platform and run["ranks"] == ranks]
            for part, times in rows(here, "part"):
                best = min(times.values())
                cells = [("**{:.0f}**" if times[m] == best else "{:.0f}").format(times[m])
                         if m in times else "-" for m in methods]
                lines.append(row([platform, ranks, part] + cells))
    return lines


def transform_lines(runs):
    """Pairs of transforms, and what of them is spent in exchanges."""
    lines = ["", "milliseconds for a forward and a backward transform (in exchanges), simulated; computing takes no time",
             "", row(["platform", "ranks", "points", "grid", "method", "pair", "exchanges"]), "|" + "---|" * 7]
    for run in sorted(runs, key=lambda run: (run["platform"], run["shape"], run["ranks"], run["method"])):
        lines.append(row([run["platform"], run["ranks"], " x ".join(map(str, run["shape"])),
                          " x ".join(map(str, run["grid"])), f"`{run['method']}`", f"{run['pair_ms_median']:.3f}",
                          f"{run['exchange_ms_median']:.3f}"]))
    return lines


def write_tables(runs, transforms, path):
    """One table for each number of ranks on a node, and one of transforms."""
    lines = ["microseconds for one exchange, simulated; the fastest in bold"]
    for node in sorted({run["ranks_per_node"] for run in runs}):
        lines += ["", f"ranks on each node: {node}", ""]
        lines += table_lines([run for run in runs if run["ranks_per_node"] == node])
    lines += transform_lines(transforms)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_plots(runs, folder):
    """Times against bytes and against ranks, for each platform."""
    methods = methods_of(runs)
    for platform in {run["platform"] for run in runs}:
        mine = [run for run in runs if run["platform"] == platform]
        for ranks in {run["ranks"] for run in mine}:
            table = rows([run for run in mine if run["ranks"] == ranks], "part")
            write_data(folder / f"{platform}-{ranks}.dat", "bytes", table, methods)
        for part in {run["part"] for run in mine}:
            table = rows([run for run in mine if run["part"] == part], "ranks")
            write_data(folder / f"{platform}-{part}-bytes.dat", "ranks", table, methods)


def read_memory(path):
    """Bytes of buffers and of tables of a plan, by method and then by ranks."""
    methods = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        name, ranks, _, buffers, heap, _ = line.split()
        # buffers that peers map are not on the heap
        tables = int(heap) - int(buffers) if int(heap) >= int(buffers) > 0 else int(heap)
        methods.setdefault(name, {})[int(ranks)] = (int(buffers), tables)
    return methods


def too_much(by_ranks):
    """Whether buffers grow by more than half, or tables by half more than the ranks, from few to many."""
    few, many = min(by_ranks), max(by_ranks)
    return (by_ranks[many][0] > 1.5 * by_ranks[few][0] or
            by_ranks[many][1] > 1.5 * by_ranks[few][1] * many / few)


def main():
    """Writes all tables."""
    folder = Path(sys.argv[1])
    runs = read(folder, "exchange")
    transforms = read(folder, "transform")
    write_tables(runs, transforms, folder / "times.md")
    write_plots([run for run in runs if run["ranks_per_node"] == 1], folder)
    several = [run for run in runs if run["ranks_per_node"] == 8]
    for part in {run["part"] for run in several}:
        write_data(folder / f"nodes-{part}-bytes.dat", "ranks",
                   rows([run for run in several if run["part"] == part], "ranks"),
                   methods_of(several))
    runs += read(folder, "check")
    checked = [run for run in runs if run["wrong"] >= 0]
    wrong = [run for run in checked if run["wrong"] != 0]
    for run in wrong:
        print(f"wrong: {run['method']} on {run['ranks']} ranks, {run['wrong']} elements")
    inexact = [run for run in transforms if not run["max_error"] < 1e-12]
    for run in inexact:
        print(f"wrong: {run['shape']} by {run['method']} on {run['ranks']} ranks, error {run['max_error']}")
    print(f"{len(runs)} exchanges on {min(r['ranks'] for r in runs)} to "
          f"{max(r['ranks'] for r in runs)} ranks, {len(checked)} of them checked, "
          f"{len(wrong)} wrong")
    greedy = [name for name, by_ranks in read_memory(folder / "memory.txt").items()
              if too_much(by_ranks)]
    for name in greedy:
        print(f"{name}: the memory of a plan grows faster than the number of ranks")
    sys.exit(1 if wrong or inexact or greedy else 0)


main()
