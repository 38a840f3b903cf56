# SPDX-License-Identifier: BSD-3-Clause
"""How pairs of transforms scale with the number of ranks (Verma et al., section 4, Tables 1 to 3)."""
import page
import plots
from numbers_of_study import operations_of_pair, power_law
from rows_of_study import best, group, size_key, size_text


class Pair:
    """The best forward and the best backward transform of one size on one number of ranks."""

    def __init__(self, forward, backward):
        self.size, self.points, self.ranks = forward.size, forward.points, forward.ranks
        self.total = forward.total + backward.total
        self.band = (forward.band ** 2 + backward.band ** 2) ** 0.5
        self.communication = forward.communication + backward.communication
        self.computation = self.total - self.communication
        self.rate = operations_of_pair(self.size) / (1e-3 * self.total)


def find_pairs(results):
    pairs = []
    for of_point in group(results, lambda result: (result.points, result.size, result.ranks)).values():
        directions = group(of_point, lambda result: result.key["direction"])
        if len(directions) == 2:
            pairs.append(Pair(best(directions["forward"]), best(directions["backward"])))
    return pairs


def exponent(xs, ys):
    fit = power_law(xs, ys)
    if fit is None:
        return ""
    return f"{fit[0]:.2f}" + (f" ± {fit[1]:.2f}" if fit[1] is not None else "")


def exponent_table(pairs):
    rows = []
    for (_, size), of_size in group(pairs, size_key).items():
        ranks = [pair.ranks for pair in of_size]
        if len(set(ranks)) > 1:
            rows.append([size_text(size), ", ".join(str(n) for n in ranks),
                         exponent(ranks, [pair.computation for pair in of_size]),
                         exponent(ranks, [pair.communication for pair in of_size]),
                         exponent(ranks, [pair.total for pair in of_size])])
    if not rows:
        return ""
    return (page.paragraph("Strong scaling: exponents of T = C p^-γ over p ranks, with their "
                           "standard errors, of computation (all that is no communication), "
                           "communication and the total of a pair (Verma et al., Table 1).")
            + page.table(["size", "ranks", "γ computation", "γ communication", "γ total"], rows))


def weak_table(pairs):
    """Sizes with as many points on each rank, and the rate that all pairs together follow."""
    rows = []
    for points, of_load in group(pairs, lambda pair: pair.points / pair.ranks).items():
        if len({pair.ranks for pair in of_load}) < 2:
            continue
        of_load.sort(key=lambda pair: pair.ranks)
        first = min(pair.total for pair in of_load if pair.ranks == of_load[0].ranks)
        for pair in of_load:
            rows.append([f"{points:.4g}", pair.ranks, size_text(pair.size), f"{pair.total:.3f}",
                         f"{first / pair.total:.2f}"])
    loads = [pair.ranks / pair.points for pair in pairs]
    fit = exponent(loads, [pair.total for pair in pairs])
    if not rows:
        return ""
    return (page.paragraph("Weak scaling: as many points on each rank. Efficiency is the time on the "
                           "fewest ranks over the time. An approximate fit of T = C (p / N)^-γ, for N "
                           f"points in all, to all pairs has γ = {fit} (Verma et al., Fig. 4)."
                           )
            + page.table(["points a rank", "ranks", "size", "pair, ms", "efficiency"], rows))


def share_tables(pairs):
    ranks = sorted({pair.ranks for pair in pairs})
    shares, rates = [], []
    for (_, size), of_size in group(pairs, size_key).items():
        by_ranks = {pair.ranks: pair for pair in of_size}
        shares.append([size_text(size)] + [
            f"{by_ranks[n].communication / by_ranks[n].total:.2f}" if n in by_ranks else "-"
            for n in ranks])
        rates.append([size_text(size)] + [
            f"{1e-9 * by_ranks[n].rate:.3g}" if n in by_ranks else "-" for n in ranks])
    names = ["size"] + [f"{n} ranks" for n in ranks]
    return (page.paragraph("Communication (until and after the first message) over the total of a "
                           "pair (Verma et al., Table 2).") + page.table(names, shares)
            + page.paragraph("GFLOP/s: 10 N log2 N operations of a pair with N points, over its "
                             "time (Verma et al., Table 3).") + page.table(names, rates))


def scaling_plots(pairs):
    ranks = sorted({pair.ranks for pair in pairs})
    if len(ranks) < 2:
        return ""
    strong, communication = [], []
    for (_, size), of_size in group(pairs, size_key).items():
        ordered = sorted(of_size, key=lambda pair: pair.ranks)
        if len(ordered) > 1:
            strong.append((size_text(size), [(p.ranks, p.total, p.band) for p in ordered]))
            communication.append((size_text(size), [(p.ranks, p.communication, 0) for p in ordered
                                                    if p.communication > 0]))
    loads = sorted({pair.ranks / pair.points for pair in pairs})
    weak = [(f"on {n}", sorted((pair.ranks / pair.points, 1e3 / pair.total, 0.0)
                                  for pair in pairs if pair.ranks == n)) for n in ranks]
    return page.plots([
        plots.lines("Strong scaling: a pair", strong, "ms", places=ranks, across="ranks"),
        plots.lines("Strong scaling: its communication", communication, "ms", places=ranks,
                  across="ranks"),
        plots.lines("Weak scaling: pairs a second", weak, "1/s", places=loads,
                  across="ranks over points")])


def section(results):
    pairs = find_pairs(results)
    if not pairs:
        return ""
    return (page.heading(3, "Pairs of forward and backward transforms, the best of each")
            + scaling_plots(pairs) + exponent_table(pairs) + weak_table(pairs)
            + share_tables(pairs))
