# SPDX-License-Identifier: BSD-3-Clause
"""A short table of a study: the best of each size, direction and staging."""
from rows_of_study import best, case_key, group, size_key, size_text

COLUMNS = ["what", "ranks", "size", "direction", "staging", "best", "ms", "of best", "transforms",
           "communication", "worst"]


def case_text(result):
    words = [result.key["kind"], result.key["precision"], result.key["space"]]
    return " ".join(words + [f"{result.key['threads']} threads"] * (result.key["threads"] != "1"))


def point_key(result):
    """What has to be alike for two results to compete."""
    return (case_key(result), result.ranks, size_key(result), result.key["direction"])


def row(results, least):
    first = best(results)
    worst = max(result.total for result in results)
    return [case_text(first), str(first.ranks), size_text(first.size), first.key["direction"],
            first.staging, f"{first.configuration} {first.key['method']}",
            f"{first.total:.3f} ± {first.band:.3f}",
            f"{first.total / least:.2f}", f"{first.phases['transform']:.3f}",
            f"{first.communication:.3f}", f"{worst:.3f}"]


def rows(results):
    """Cells in the order of COLUMNS; times in milliseconds."""
    table = []
    for of_point in group(results, point_key).values():
        least = best(of_point).total
        table += [row(of_staging, least) for of_staging in
                  group(of_point, lambda result: result.staging).values()]
    return table


def text(results):
    """The same as aligned lines."""
    table = [COLUMNS] + rows(results)
    widths = [max(len(cells[i]) for cells in table) for i in range(len(COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
                     for cells in table)
