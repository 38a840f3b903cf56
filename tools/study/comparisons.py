# SPDX-License-Identifier: BSD-3-Clause
"""What differs between grids, layouts and methods for one number of ranks and one direction."""
import page
import plots
from rows_of_study import PHASES, best, group, size_key, size_text

PHASE_NAMES = ["transforms", "packing", "first message in", "communication", "unpacking",
               "own part", "rest"]
MOST_BARS = 14


def pair_of_plots(title, curves, alone=()):
    """Total and relative times over sizes; `curves` maps a name to one result for each size.

    `alone` are results of a single rank, which the totals show for comparison.
    """
    sizes = sorted({size_key(result) for results in curves.values() for result in results})
    names = [size_text(size) for _, size in sizes]
    least = {key: min(result.total for results in curves.values() for result in results
                      if size_key(result) == key) for key in sizes}
    total, relative = [], []
    for name, results in curves.items():
        ordered = sorted(results, key=size_key)
        places = [sizes.index(size_key(result)) for result in ordered]
        total.append((name, [(x, r.total, r.band) for x, r in zip(places, ordered)]))
        relative.append((name, [(x, r.total / least[size_key(r)], r.band / least[size_key(r)])
                                for x, r in zip(places, ordered)]))
    reference = [(sizes.index(size_key(result)), result.total, result.band)
                 for result in sorted(alone, key=size_key) if size_key(result) in sizes]
    total += [("one rank", reference)] if reference else []
    return page.plots([plots.lines(f"{title}: total", total, "ms", names=names),
                       plots.lines(f"{title}: relative", relative, "", names=names,
                                 logarithmic=False)])


def best_of_each(results, key):
    """The best result of each size, for each key."""
    return {name: [best(of_size) for of_size in group(of_key, size_key).values()]
            for name, of_key in group(results, key).items()}


def best_table(results):
    rows = []
    for (_, size), of_size in group(results, size_key).items():
        first = best(of_size)
        others = [result for result in of_size if result is not first]
        second = best(others) if others else None
        rows.append([size_text(size), f"{first.configuration} {first.key['method']}",
                     f"{first.total:.3f} ± {first.band:.3f}",
                     f"{second.configuration} {second.key['method']}" if second else "",
                     f"{second.total / first.total:.2f}" if second else "",
                     f"{max(result.total for result in of_size) / first.total:.1f}"])
    return page.table(["size", "best", "total, ms", "second", "of best", "worst of best"], rows)


def phase_bars(results):
    """Of the largest size: the best method of each grid, and all methods on the best grid."""
    largest = max(size_key(result) for result in results)
    of_size = [result for result in results if size_key(result) == largest]
    grids = [best(of_configuration) for of_configuration in group(of_size, lambda result: result.configuration).values()]
    methods = [result for result in of_size if result.configuration == best(of_size).configuration]
    drawings = []
    for title, chosen, name in (
            ("Phases, best method of each grid", grids,
             lambda result: f"{result.configuration} {result.key['method']}"),
            (f"Phases on {best(of_size).configuration}", methods, lambda result: result.key["method"])):
        chosen = sorted(chosen, key=lambda result: result.total)[:MOST_BARS]
        rows = [(name(result), [result.phases[phase] for phase in PHASES]) for result in chosen]
        drawings.append(plots.bars(f"{title}, {size_text(largest[1])}", rows, PHASE_NAMES, "ms"))
    return page.plots(drawings)


def names_best(group_of_grids):
    """Whether a grid with the least prediction is the one with the least measured exchange, and total.

    Grids whose prediction is within a thousandth count as predicted alike.
    """
    least = min(result.predicted for result in group_of_grids)
    named = [result for result in group_of_grids if result.predicted <= 1.001 * least]
    fastest = min(group_of_grids, key=lambda result: result.exchange)
    return fastest in named, best(group_of_grids) in named, named


def prediction_groups(results):
    """Results that differ in their grid only, where the model distinguishes the grids."""
    known = [result for result in results
             if result.predicted == result.predicted and result.key["decomposition"] != "auto"]
    groups = group(known, lambda r: (r.points, r.size, r.key["method"], r.key["layout"],
                                     r.key["fusion"], r.key["staging"]))
    return [of for of in groups.values()
            if max(r.predicted for r in of) > 1.001 * min(r.predicted for r in of)]


def prediction_section(results):
    groups = prediction_groups(results)
    if not groups:
        return ""
    rows, hits_exchange, hits_total, by_chance = [], 0, 0, 0.0
    for of_grids in groups:
        right_exchange, right_total, named = names_best(of_grids)
        hits_exchange += right_exchange
        hits_total += right_total
        by_chance += len(named) / len(of_grids)
        loss = min(result.total for result in named) / best(of_grids).total
        for result in sorted(of_grids, key=lambda result: result.predicted):
            rows.append([size_text(result.size), result.key["method"], result.configuration,
                         f"{result.predicted:.3f}", f"{result.communication:.3f}",
                         f"{result.exchange:.3f}", f"{result.total:.3f}",
                         "yes" if result in named else "",
                         "yes" if result is best(of_grids) else "", f"{loss:.2f}"])
    n = len(groups)
    return (page.paragraph(
        f"The communication model named the grid with the fastest exchanges in {hits_exchange} of "
        f"{n} comparisons ({100 * hits_exchange / n:.0f} %), and the one with the least total in "
        f"{hits_total} ({100 * hits_total / n:.0f} %). A comparison is one size and method on all "
        f"grids that were measured. Grids with the same prediction are named together; naming as many "
        f"at random would have been right in {by_chance:.1f}.")
        + page.folded("predicted beside measured", page.table(
            ["size", "method", "grid", "predicted, ms", "communication, ms", "exchange, ms",
             "total, ms", "named", "best total", "named of best"], rows)))


def methods_section(results):
    contents = ""
    for name, of_configuration in group(results, lambda result: result.configuration).items():
        curves = best_of_each(of_configuration, lambda result: result.key["method"])
        if len(curves) > 1:
            contents += page.folded(f"methods on {name}", pair_of_plots(name, curves))
    return contents


def section(results, alone):
    """`alone` are results of a single rank in the same direction, if there are other ranks' results."""
    curves = best_of_each(results, lambda result: result.configuration)
    best_alone = [best(of_size) for of_size in group(alone, size_key).values()]
    return (pair_of_plots("Best method of each grid", curves, best_alone) + best_table(results)
            + phase_bars(results) + methods_section(results) + prediction_section(results))
