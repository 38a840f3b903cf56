# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind a study's report, and a report of rows with known times."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools" / "study"))
import comparisons  # noqa: E402
import fit_job  # noqa: E402
import numbers_of_study as numbers  # noqa: E402
import overview  # noqa: E402
import plots  # noqa: E402
import report  # noqa: E402
import rows_of_study as rows  # noqa: E402
import scaling  # noqa: E402

HEADING = ("job,ranks,nodes,size,decomposition,grid,layout,space,staging,fusion,method,direction,"
           "kind,precision,threads,run,chosen_method,chosen_grid,total_ms,transform_ms,pack_ms,"
           "first_message_ms,communicate_ms,unpack_ms,own_part_ms,rest_ms,validation_error,"
           "predicted_ms")
GRIDS = {"slab-2d-1d": "{0}", "slab-1d-2d": "1x{0}", "pencil": "2x{1}"}


def row(ranks, size, decomposition, method, direction, run, total):
    """Half of the time is communication; pencils are predicted to be slower."""
    grid = GRIDS[decomposition].format(ranks, ranks // 2)
    predicted = 0.5 if decomposition == "pencil" else 0.4
    return (f"known,{ranks},1,{size},{decomposition},{grid},default,host,none,never,{method},"
            f"{direction},r2c,double,1,{run},{method},{grid},{total},{0.3 * total},{0.1 * total},"
            f"{0.2 * total},{0.3 * total},{0.05 * total},{0.05 * total},0,1e-15,{predicted}")


def write_study(folder):
    """Times of 1000 points / ranks, of 10 % more for p2p, 20 % more for pencils, with some noise."""
    for ranks in (4, 8, 16):
        lines = [HEADING]
        for size, points in (("10x10x10", 1000), ("10x10x20", 2000)):
            for decomposition in GRIDS:
                for method, factor in (("direct", 1.0), ("p2p", 1.1)):
                    for direction in ("forward", "backward"):
                        slower = 1.2 if decomposition == "pencil" else 1.0
                        slower *= 1.01 if decomposition == "slab-1d-2d" else 1.0
                        for run, noise in enumerate((0.99, 1.0, 1.01)):
                            lines.append(row(ranks, size, decomposition, method, direction, run,
                                             points / ranks * factor * slower * noise))
        (folder / f"known-{ranks}.csv").write_text("\n".join(lines) + "\nknown,16,cut o")


class Numbers(unittest.TestCase):
    def test_student(self):
        # from any table of the distribution, two-sided 99 %
        for freedom, t in ((1, 63.657), (2, 9.925), (3, 5.841), (4, 4.604), (9, 3.250), (19, 2.861),
                           (120, 2.617)):
            self.assertAlmostEqual(numbers.student_quantile(0.99, freedom), t, delta=6e-4)
        self.assertAlmostEqual(numbers.student_quantile(0.95, 10), 2.228, delta=6e-4)

    def test_band(self):
        self.assertAlmostEqual(numbers.band([1.0, 2.0, 3.0]), 9.925 / 3 ** 0.5, delta=1e-3)
        self.assertEqual(numbers.band([5.0]), 0.0)

    def test_power_law(self):
        exponent, error, constant = numbers.power_law([1, 2, 4, 8], [6, 3, 1.5, 0.75])
        self.assertAlmostEqual(exponent, 1.0)
        self.assertAlmostEqual(error, 0.0, delta=1e-7)
        self.assertAlmostEqual(constant, 6.0)
        self.assertIsNone(numbers.power_law([4, 4], [1, 2]))
        self.assertIsNone(numbers.power_law([1, 2], [4, 2])[1])

    def test_operations(self):
        # Verma's formula for N = 8: 10 N^3 log2 N^3
        self.assertEqual(numbers.operations_of_pair((8, 8, 8)), 10 * 512 * 9)
        self.assertEqual(numbers.operations_of_pair((1,)), 0)


@unittest.skipUnless(plots.available(), "no gnuplot")
class Plots(unittest.TestCase):
    def test_lines(self):
        drawing = plots.lines("a < b", [("x & y's", [(0, 1.0, 0.1), (1, 2.0, 3.0)])], "ms",
                              names=["8^3", "16^3"])
        for words in ("a &lt; b", "x &amp; y's", "8^3"):
            self.assertIn(words, drawing)
        self.assertTrue(drawing.startswith("<svg") and drawing.rstrip().endswith("</svg>"))

    def test_numbers(self):
        drawing = plots.lines("t", [("one", [(4, 1.0, 0), (16, 0.5, 0)])], "ms", places=[4, 16])
        self.assertRegex(drawing, ">16</")

    def test_bars(self):
        drawing = plots.bars("t", [("first", [1.0, 0.5]), ("second", [0.0, 2.0])], ["p", "q"], "ms")
        self.assertRegex(drawing, "> *1.5</")

    def test_nothing(self):
        self.assertEqual(plots.lines("t", [("empty", [])], "ms", names=[]), "")
        self.assertEqual(plots.bars("t", [], [], "ms"), "")


class Jobs(unittest.TestCase):
    def test_fit(self):
        job = {"stagings": ["staged", "aware"], "spaces": ["cuda"]}
        self.assertEqual(fit_job.fit(dict(job), "aware", "cuda"), job)
        self.assertEqual(fit_job.fit(dict(job), "usual", "cuda")["stagings"], ["staged"])
        self.assertEqual(fit_job.fit({"stagings": ["aware"]}, "usual", "host"),
                         {"stagings": ["staged"], "spaces": ["host"]})


class Report(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        write_study(self.folder)
        self.results = rows.read_results(self.folder)

    def tearDown(self):
        self.temporary.cleanup()

    def test_results(self):
        self.assertEqual(len(self.results), 3 * 2 * 3 * 2 * 2)
        fastest = rows.best([r for r in self.results if r.ranks == 4 and r.points == 1000])
        self.assertEqual((fastest.configuration, fastest.key["method"]), ("slab-2d-1d", "direct"))
        self.assertAlmostEqual(fastest.total, 250)
        self.assertAlmostEqual(fastest.band, 9.925 * 2.5 / 3 ** 0.5, delta=0.01)
        self.assertEqual(rows.size_text((128, 128, 256)), "128^2 x 256")

    def test_models(self):
        heading = "space,staging,method,link,start_s,latency_s,bytes_per_second\n"
        (self.folder / "known-4.model.csv").write_text(
            heading + "host,auto,p2p,node,0,1e-6,1e9\nhost,auto,p2p,node,0,2e-6,1e9\nhost,auto,cu")
        models = rows.read_models(self.folder)
        self.assertEqual([(m["file"], m["latency_s"]) for m in models], [("known-4", "2e-6")])
        self.assertIn("<td>2.00</td>", report.models_section(models))

    def test_scaling(self):
        pairs = scaling.find_pairs(self.results)
        self.assertEqual(len(pairs), 6)
        table = scaling.exponent_table(pairs)
        self.assertEqual(table.count("1.00 ± 0.00"), 6)
        self.assertAlmostEqual(pairs[0].communication / pairs[0].total, 0.5)
        self.assertIn("<td>0.50</td>", scaling.share_tables(pairs))
        rate = 1e-9 * 10 * 1000 * numbers.math.log2(1000) / 0.5  # 2 x 250 ms on 4 ranks
        self.assertIn(f"<td>{rate:.3g}</td>", scaling.share_tables(pairs))
        self.assertIn("<td>1.00</td>", scaling.weak_table(pairs))

    def test_predictions(self):
        of_ranks = [r for r in self.results if r.ranks == 8 and r.key["direction"] == "forward"]
        groups = comparisons.prediction_groups(of_ranks)
        self.assertEqual(len(groups), 4)  # 2 sizes x 2 methods
        for of_grids in groups:
            in_exchange, in_total, named = comparisons.names_best(of_grids)
            self.assertTrue(in_exchange and in_total)
            self.assertEqual(len(named), 2)  # both slabs alike
        self.assertIn("in 4 of 4 comparisons (100 %)", comparisons.prediction_section(of_ranks))

    def test_one_rank_alone(self):
        alone = [r for r in self.results if r.ranks == 4 and r.key["direction"] == "forward"]
        others = [r for r in self.results if r.ranks == 8 and r.key["direction"] == "forward"]
        self.assertIn("one rank", comparisons.section(others, alone))
        self.assertNotIn("one rank", comparisons.section(others, []))

    def test_overview(self):
        table = overview.rows(self.results)
        self.assertEqual(len(table), 3 * 2 * 2)
        self.assertEqual(table[0], ["r2c double host", "4", "10^3", "backward", "none",
                                    "slab-2d-1d direct", "250.000 ± 14.325", "1.00", "75.000",
                                    "125.000", "330.000"])
        lines = overview.text(self.results).splitlines()
        self.assertEqual(len(lines), 1 + len(table))
        self.assertEqual(len({line.index("slab") for line in lines[1:]}), 1)

    def test_stagings(self):
        for result in self.results:
            result.key["staging"] = "staged"  # which direct does not ask for
        table = overview.rows(self.results)
        self.assertEqual(len(table), 2 * 3 * 2 * 2)
        self.assertEqual([cells[4:8] for cells in table[:2]], [
            ["none", "slab-2d-1d direct", "250.000 ± 14.325", "1.00"],
            ["staged", "slab-2d-1d staged p2p", "275.000 ± 15.758", "1.10"]])
        page = report.report(self.folder, self.results)
        self.assertEqual(page.count("<h2>r2c double, host memory</h2>"), 1)

    def test_page(self):
        page = report.report(self.folder, self.results)
        self.assertEqual(page.count("<svg"), page.count("</svg>"))
        if plots.available():
            self.assertGreaterEqual(page.count("<svg"), 3 * 2 * 4 + 3)
        self.assertEqual("gnuplot is not installed" in page, not plots.available())
        self.assertIn("72 configurations, 216 runs", page)
        self.assertIsNone(re.search(r"""(src|href)=["'](?!#)""", page))  # nothing but itself
        self.assertNotIn("nan", re.sub(r"<[^>]*>", "", page))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"on 1 rank: {result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped"
          + (": plots (no gnuplot)" if skipped else ""))
    sys.exit(failed > 0)
