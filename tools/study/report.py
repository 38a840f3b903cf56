#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes FOLDER/report.html of the rows that fftnd-study wrote there; gnuplot draws the plots."""
import sys
from pathlib import Path

import comparisons
import overview
import page
import plots
import scaling
from rows_of_study import case_key, group, read_models, read_results, study_files

INTRODUCTION = (
    "A time is the mean of all runs of a configuration, where the slowest rank of each run counts. "
    "Bands and ± are 99 % confidence intervals of that mean (Student's distribution). A relative "
    "time is divided by the least one of the same size. The phases are those of the slowest rank; "
    "together they are its total. docs/study.md says what each of them is.")


def models_section(models):
    rows = [[model["file"], model["space"], model["staging"], model["method"], model["link"],
             f"{1e6 * float(model['start_s']):.2f}", f"{1e6 * float(model['latency_s']):.2f}",
             f"{1e-9 * float(model['bytes_per_second']):.3f}"] for model in models]
    if not rows:
        return ""
    return (page.heading(2, "The communication model")
            + page.paragraph("An exchange takes start, and each message of d bytes latency + d / "
                             "bandwidth, fitted to a short run of each method while all ranks "
                             "exchange.")
            + page.table(["study", "space", "staging", "method", "link", "start, µs", "latency, µs",
                          "bandwidth, GB/s"], rows))


def case_section(key, results):
    kind, precision, space, threads = key
    title = f"{kind} {precision}, {space} memory"
    title += "" if threads == "1" else f", {threads} threads a rank"
    contents = page.heading(2, title)
    for ranks, of_ranks in group(results, lambda result: result.ranks).items():
        for direction, of_direction in group(of_ranks, lambda r: r.key["direction"]).items():
            contents += page.heading(3, f"{ranks} rank{'s' if ranks > 1 else ''}, {direction}")
            alone = [result for result in results if result.ranks == 1 < ranks
                     and result.key["direction"] == direction]
            contents += comparisons.section(of_direction, alone)
    return contents + scaling.section(results)


def report(folder, results):
    worst = max(results, key=lambda result: result.error)
    runs = sum(result.runs for result in results)
    contents = page.heading(1, "Study of distributed transforms") + page.paragraph(INTRODUCTION)
    contents += page.paragraph(
        f"{len(results)} configurations, {runs} runs, from "
        + ", ".join(path.name for path in study_files(folder)) + ". The largest error of the "
        f"Laplacian of a known function is {worst.error:.2g} ({worst.key['kind']} "
        f"{worst.key['precision']}, {worst.key['size']}).")
    if not plots.available():
        contents += page.paragraph("gnuplot is not installed: this report has no plots.")
    contents += page.heading(2, "The best in short") + page.table(
        overview.COLUMNS, overview.rows(results))
    for key, of_case in group(results, case_key).items():
        contents += case_section(key, of_case)
    return page.document("Study of distributed transforms",
                         contents + models_section(read_models(folder)))


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: ./dev report FOLDER, with the CSV files of fftnd-study")
    folder = Path(sys.argv[1])
    results = read_results(folder)
    if not results:
        raise SystemExit(f"report: there are no rows of fftnd-study in {folder}")
    path = folder / "report.html"
    path.write_text(report(folder, results), encoding="utf-8")
    print(path)
    print(overview.text(results))


if __name__ == "__main__":
    main()
