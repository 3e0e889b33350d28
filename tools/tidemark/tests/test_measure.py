# SPDX-License-Identifier: GPL-2.0
"""Benchmarks: statistics, figures that the guest prints, tables, results files, the report."""

import dataclasses
import json
import os
import re
import sys
import tempfile
import threading
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from tidemark import console, guest, packages, process, vm
from tidemark.base import Base
from tidemark.kernel import Image
from tidemark.measure import (
    catalogue,
    dirty,
    guests,
    isolation,
    life,
    page,
    results,
    spread,
    table,
)
from tidemark.measure.benchmark import BASE, Benchmark, OldSeries, Reading, read_figures
from tidemark.report import Failure

TOY = Benchmark(
    name="toy",
    title="a toy",
    about="nothing",
    minutes=1,
    program="toy",
    headline="fast.*",
    old_series=OldSeries("a mail", {"fast": "1 -> 2"}),
)
ABOUT: dict[str, Any] = {"release": "6.12.99", "origin": "x", "boots": 3, "seconds": 1}


def result(**rows: tuple[list[float], list[float]]) -> results.Result:
    """Rows with the values of base and patched."""
    found = [
        results.Row(name, "ns", {"base": values[0], "patched": values[1]})
        for name, values in rows.items()
    ]
    return results.Result(name="toy", variants=["base", "patched"], rows=found, **ABOUT)


class SpreadTest(unittest.TestCase):
    def ratio(self, base: list[float], ours: list[float]) -> float | None:
        return spread.ratio(spread.summary(base), spread.summary(ours))

    def test_median_and_spread(self) -> None:
        self.assertEqual(spread.summary([90, 110, 100]), spread.Summary(100, 0.2, 3))
        self.assertEqual(spread.summary([0, 0]), spread.Summary(0, 0.0, 2))

    def test_no_spread_where_there_is_none(self) -> None:
        self.assertIsNone(spread.summary([5]).spread)
        self.assertIsNone(spread.summary([0, 0, 3]).spread)

    def test_few_boots_see_part_of_the_spread(self) -> None:
        noise = [spread.summary([100, 101] * count).noise or 0 for count in (1, 2, 10)]
        self.assertAlmostEqual(noise[0], 3 * 1 / 100.5)
        self.assertGreater(noise[1], noise[2])
        self.assertIsNone(self.ratio([100, 101], [102, 103]))
        self.assertIsNotNone(self.ratio([100, 101] * 10, [102, 103] * 10))

    def test_a_difference_above_the_spread_is_told(self) -> None:
        self.assertAlmostEqual(self.ratio([100, 100.1], [101, 101.1]) or 0, 1.01, places=3)

    def test_a_difference_within_either_spread_is_not(self) -> None:
        self.assertEqual(self.ratio([100, 100.3], [100.2, 100.3]), 1.0)
        self.assertEqual(self.ratio([100.2, 100.3], [100, 100.3]), 1.0)
        self.assertIsNone(self.ratio([100, 130], [110, 120]))

    def test_a_fraction_is_far_from_1(self) -> None:
        self.assertAlmostEqual(self.ratio([30, 40], [1, 1]) or 0, 1 / 35)

    def test_no_ratio_without_a_spread_or_to_nothing(self) -> None:
        self.assertIsNone(self.ratio([100], [200]))
        self.assertIsNone(self.ratio([0, 0], [5, 5]))
        self.assertIsNone(self.ratio([5, 5], [0, 0]))

    def test_the_same_twice_is_1(self) -> None:
        self.assertEqual(self.ratio([7, 7, 7], [7, 7, 7]), 1.0)


class ReadTest(unittest.TestCase):
    def test_figures_and_samples(self) -> None:
        lines = ["figure 2.5 ns a, b", "figure 3 ns a, b", "sample 0.5 7 dirty, MiB"]
        reading = read_figures("base", "16 CPUs", lines)
        self.assertEqual(reading.rows, {("base", "16 CPUs: a, b"): ("ns", [2.5, 3.0])})
        self.assertEqual(reading.curves, {("base", "16 CPUs: dirty, MiB"): [(0.5, 7.0)]})
        self.assertIn(("base", "a, b"), read_figures("base", "", lines).rows)

    def test_anything_else_is_an_error(self) -> None:
        for line in ("bench: mmap: no", "figure x ns a", "figure 1 ns", ""):
            with self.subTest(line), self.assertRaises(Failure):
                read_figures("base", "", [line])

    def test_scenario_of_run(self) -> None:
        row = {
            "seconds": 2.5,
            "writer_bytes_per_second": 30_000_000,
            "peak_dirty_bytes": 1 << 20,
            "dirty_bytes": [[0.2, 1 << 20]],
        }
        lines = [f"{name} {json.dumps(row)}" for name in ("alone", "unlimited", "limited")]
        reading = dirty.read_scenario("patched", "", lines)
        self.assertEqual(reading.rows["patched", "alone: unpacking"], ("s", [2.5]))
        self.assertEqual(reading.rows["limited", "beside dd: dd's rate"], ("MB/s", [30.0]))
        self.assertEqual({variant for variant, _ in reading.curves}, {"patched", "limited"})
        self.assertTrue(all(points == [(0.2, 1.0)] for points in reading.curves.values()))

        gathered = results.gather(dirty.UNPACK, [reading], ABOUT)
        text = table.table(dirty.UNPACK, gathered)
        self.assertRegex(text, r"limited.*ratio")
        self.assertRegex(text, r"beside dd: unpacking, s .*2\.5 .*2\.5 ")

    def test_messages_of_kselftests(self) -> None:
        lines = [
            *("TAP version 13", "# new_files: 30000 KB/s", "# successor: 29000 KB/s"),
            *("ok 1 test_restart", "# new_files: 28000 KB/s", "# writer: 2000 KB/s"),
            *("# set: 30 ms, control 25 ms", "# mkdir: 4 ms, control 5 ms"),
            "# mkdir: 1 ms, control 2 ms",
        ]
        rows = life.read_tests("patched", "", lines).rows
        self.assertEqual(rows["patched", "restart: files of the predecessor"], ("MB/s", [29.0]))
        self.assertEqual(rows["patched", "six owners: new files"], ("MB/s", [28.0]))
        self.assertEqual(rows["patched", "400 limits by 8 tasks"], ("ms", [30]))
        self.assertEqual(rows["patched", "the same with memory.max"], ("ms", [2]))
        self.assertEqual(len(rows), 10)
        # The unpatched kernel has no limits.
        self.assertEqual(len(life.read_tests("base", "", lines[:6]).rows), 4)

    def test_a_boot_counts_with_its_median(self) -> None:
        readings = []
        for values in ([1.0, 9.0, 2.0], [3.0]):
            reading = Reading()
            for value in values:
                reading.add("base", "a", "ns", value)
            readings.append(reading)
        gathered = results.gather(TOY, readings, ABOUT)
        self.assertEqual(gathered.rows, [results.Row("a", "ns", {"base": [2.0, 3.0]})])
        with self.assertRaises(Failure):
            results.gather(TOY, [], ABOUT)


class TableTest(unittest.TestCase):
    def test_ratio_spread_and_old_series(self) -> None:
        text = table.table(TOY, result(fast=([100, 100, 100], [150, 150, 151])))
        self.assertRegex(text, r"fast, ns +100 +0\.00% +150 +0\.67% +1\.50  1 -> 2")
        self.assertIn("posted: a mail", text)

    def test_refused_ratios(self) -> None:
        rows = result(close=([100, 100.2], [100.1, 100.2]), wide=([100, 140], [110, 120]))
        ratios = [line.split()[-1] for line in table.table(TOY, rows).splitlines()[1:3]]
        self.assertEqual(ratios, ["1", "~"])

    def test_small_differences_keep_their_digits(self) -> None:
        row = result(fast=([10000, 10000], [10074, 10074])).rows[0]
        self.assertEqual(table.ratio_of(row, "patched"), "1.0074")
        row = result(fast=([100000, 100000], [100001, 100001])).rows[0]
        self.assertEqual(table.ratio_of(row, "patched"), "1")

    def test_a_variant_without_a_value(self) -> None:
        rows = result(fast=([1, 1], [1, 1]))
        del rows.rows[0].values["base"]
        self.assertNotIn("posted", table.table(dataclasses.replace(TOY, old_series=None), rows))

    def test_chosen_rows_only(self) -> None:
        rows = result(fast=([1, 1], [1, 1]), slow=([1, 1], [1, 1]))
        self.assertIn("slow", table.table(TOY, rows))
        self.assertNotIn("slow", table.table(TOY, rows, rows.rows[:1]))

    def test_rows_that_say_something(self) -> None:
        cases: tuple[tuple[list[float], list[float], bool], ...] = (
            ([1, 1], [2, 2], True),
            ([1, 1], [1, 1], False),
            ([1, 9], [4, 5], False),
            ([0, 0], [0, 0], False),
            ([0, 0], [3, 9], True),
            ([0, 0], [0, 9], False),
            ([0, 0, 5], [3, 3, 9], False),
        )
        for base, ours, expected in cases:
            with self.subTest(f"{base} {ours}"):
                row = result(x=(base, ours)).rows[0]
                self.assertIs(table.says_something(row, ["base", "patched"]), expected)


class ScenesTest(unittest.TestCase):
    """Tables and plots with a line or a point for each variant."""

    def setUp(self) -> None:
        p99 = {"base": [30.0, 10.0, 20.0], "limit-8M": [2.0, 1.0, 3.0]}
        writer = {"base": [29.0, 30.0, 31.0], "limit-8M": [29.0, 29.0, 29.0]}
        rows = [
            results.Row("append, 0 writers: p99", "ms", {"base": [1.0, 1.0, 1.0]}),
            results.Row("append, 1 writer: p99", "ms", p99),
            results.Row("append, 1 writer: writer", "MB/s", writer),
        ]
        variants = [variant.name for variant in isolation.VARIANTS]
        self.result = results.Result(name="isolation", variants=variants, rows=rows, **ABOUT)

    def test_a_table_for_each_scene(self) -> None:
        alone, beside = table.table(isolation.EXT4, self.result).split("\n\n")[1:]
        self.assertEqual(alone.split("\n")[1].split(), ["base", "1", "(1-1)"])
        self.assertEqual(len(alone.split("\n")), 2)
        lines = beside.split("\n")
        self.assertRegex(lines[0], r"^append, 1 writer +p99, ms +writer, MB/s$")
        self.assertEqual(lines[1].split(), ["base", "20", "(10-30)", "30", "(29-31)"])
        self.assertTrue(lines[2].startswith("limit-8M "))
        self.assertEqual(len({len(line) for line in lines}), 1)

    def test_a_point_for_each_variant_that_has_figures(self) -> None:
        (panel,) = page.trade_off(isolation.EXT4, self.result)["panels"]
        self.assertEqual(panel["title"], "append, 1 writer")
        found = [(point["variant"], point["x"], point["y"]) for point in panel["points"]]
        self.assertEqual(found, [("base", 30.0, 20.0), ("limit-8M", 29.0, 2.0)])

    @unittest.skipUnless(packages.installed_version("python3-matplotlib"), "no matplotlib")
    def test_the_plot_names_all_of_them(self) -> None:
        (drawn,) = page.draw([page.trade_off(isolation.EXT4, self.result)])
        for name in ("append, 1 writer", "base", "limit-8M"):
            self.assertIn(name, drawn)

    def test_mechanisms_of_upstream_run_on_upstream(self) -> None:
        kinds = {variant.name: variant.pristine for variant in isolation.VARIANTS}
        self.assertTrue(kinds["io.cost"])
        self.assertFalse(kinds["limit-8M + io.cost"])
        words = [word for variant in isolation.VARIANTS for word in variant.parameters]
        self.assertIn("bench.mechanisms=limit-8M,io.cost", words)


class ResultsTest(unittest.TestCase):
    def test_file_comes_back_as_it_was(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "results" / "x.json"
            kept = {"toy": result(fast=([1.5, 2], [3, 4]))}
            kept["toy"].curves.append(results.Curve("c", "base", [[0.5, 1]]))
            results.store(file, kept)
            self.assertEqual(results.load(file), kept)
            self.assertEqual(results.without_curves(kept["toy"]).curves, [])

    def test_file_has_a_line_for_each_row(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "x.json"
            results.store(file, {"toy": result(fast=([1.5, 2], [3, 4]), slow=([1], [2]))})
            lines = file.read_text().splitlines()
        row = '{"name": "slow", "unit": "ns", "values": {"base": [1], "patched": [2]}}'
        self.assertIn(row, [line.strip() for line in lines])
        self.assertIn('"variants": ["base", "patched"],', [line.strip() for line in lines])
        self.assertEqual(len(lines), 16)

    def test_no_file_is_no_results(self) -> None:
        self.assertEqual(results.load(Path("/nonexistent")), {})

    def test_another_file_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "x.json"
            file.write_text('{"toy": {"figures": []}}')
            with self.assertRaises(Failure):
                results.load(file)


class ReportTest(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch.object(page, "BENCHMARKS", (TOY,))
        patch.start()
        self.addCleanup(patch.stop)

    def test_report_is_one_file_with_its_plots(self) -> None:
        shown = result(fast=([1, 1], [2, 2]))
        shown.curves.append(results.Curve("dirty & done", "base", [[0, 1], [1, 2]]))
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch.object(page, "draw", lambda charts: ["<svg/>"] * len(charts)),
        ):
            text = page.write(Path(name) / "r.html", {"toy": shown}).read_text()
        self.assertEqual(text.count("<svg/>"), 2)
        self.assertIn("1 -&gt; 2", text)
        self.assertNotIn("http", text)


class CatalogueTest(unittest.TestCase):
    def test_names_are_found(self) -> None:
        names = [b.name for b in catalogue.named("")]
        self.assertEqual(len(names), len(catalogue.BENCHMARKS) - 4)
        self.assertNotIn("kubelet-48", names)
        self.assertEqual([b.name for b in catalogue.named("kubelet-48")], ["kubelet-48"])
        self.assertEqual([b.name for b in catalogue.named("ratio")], ["ratio"])
        with self.assertRaises(Failure) as caught:
            catalogue.named("nonsense")
        self.assertIn("dirty-faults", caught.exception.message)

    def test_every_benchmark_has_its_program_and_compares(self) -> None:
        names = [benchmark.name for benchmark in catalogue.BENCHMARKS]
        self.assertEqual(len(set(names)), len(names))
        for benchmark in catalogue.BENCHMARKS:
            with self.subTest(benchmark.name):
                self.assertEqual(benchmark.variants[0].name, BASE.name)
                self.assertTrue(benchmark.variants[0].pristine)
                self.assertFalse(benchmark.variants[-1].pristine)
                re.compile(benchmark.headline)
                self.assertGreaterEqual(benchmark.boots, 2)
                script = benchmark.program in guest.SCRIPTS
                source = benchmark.program if script else f"bench/{benchmark.program}.c"
                self.assertTrue((guest.HERE / source).exists())
        short = [b for b in catalogue.named("") if not b.by_scene]
        self.assertLessEqual(max(b.minutes for b in short), 10)
        self.assertLessEqual(sum(b.minutes for b in short), 60)


class DifferenceTest(unittest.TestCase):
    def difference(self, *values: Sequence[str]) -> float:
        first, again = (
            read_figures("base", "", [f"figure {value} ns a" for value in boot]) for boot in values
        )
        return results.difference(first, again)

    def test_the_largest_counts(self) -> None:
        self.assertEqual(self.difference(["4", "0", "100"], ["4", "0", "100"]), 0)
        self.assertEqual(self.difference(["4", "100"], ["3", "101"]), 0.25)
        self.assertEqual(self.difference(["0", "1"], ["5", "1"]), 1)

    def test_what_is_missing_counts(self) -> None:
        self.assertEqual(self.difference(["4", "4"], ["4"]), 1)
        self.assertEqual(self.difference([], ["4"]), 1)


class GuestsTest(unittest.TestCase):
    def setUp(self) -> None:
        place = Path("x")
        self.base, self.ours = (
            Image(Path(name), place, place, "6.12.99", place) for name in ("base", "ours")
        )
        unpacked = Base("6.12", "6.12", "6.12.99", "", "", "x", "k", place)
        self.kernels = guests.Kernels(unpacked, self.base, self.ours)

    def test_base_and_patched_take_turns(self) -> None:
        boots = list(guests._boots(TOY, 2))
        self.assertEqual(
            [(boot.variant.name, boot.seed) for boot in boots],
            [("base", 1), ("patched", 1), ("base", 2), ("patched", 2)],
        )
        images = [self.kernels.of(boot.variant) for boot in boots]
        self.assertEqual(images, [self.base, self.ours] * 2)

    def test_base_against_base_has_other_seeds_and_no_knobs(self) -> None:
        boots = list(guests._boots(dirty.FAULTS.of_base_alone(), 2))
        self.assertEqual({boot.variant.name for boot in boots}, {"base", "again"})
        self.assertEqual({boot.seed for boot in boots}, {1, 2, 3, 4})
        self.assertEqual({self.kernels.of(boot.variant) for boot in boots}, {self.base})
        self.assertFalse(any(boot.variant.parameters for boot in boots))

    def test_the_first_boot_is_repeated_and_compared(self) -> None:
        names: list[str] = []

        def measure(_: object, boot: guests._Boot, *rest: object) -> Reading:
            names.append(boot.log)
            return read_figures(boot.variant.name, "", [f"figure {3 if boot.repeated else 4} ns a"])

        with (
            mock.patch.object(guests, "_measure", measure),
            mock.patch.object(guests, "_initramfs"),
            mock.patch.object(guest, "directory"),
        ):
            found = guests.run(TOY, self.kernels, 2, 1)
        self.assertEqual(found.repeated, 0.25)
        self.assertEqual(found.rows[0].values, {"base": [4, 4], "patched": [4, 4]})
        self.assertEqual(names[-1], names[0].replace(".log", "-repeated.log"))

    def test_what_counts_instructions_keeps_to_one_cpu(self) -> None:
        mine = os.sched_getaffinity(0)
        ask = [sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"]
        for benchmark, expected in ((TOY, 1), (dataclasses.replace(TOY, icount=False), len(mine))):
            with guests._workers(benchmark, len(mine) + 1) as pool:
                self.assertEqual(int(pool.submit(process.output, ask).result()), expected)
        self.assertEqual(os.sched_getaffinity(0), mine)

    def test_guests_that_wait_for_the_disk_run_side_by_side(self) -> None:
        meeting = threading.Barrier(2)

        def turn() -> int:
            meeting.wait(10)
            return guests._turn()

        with guests._workers(isolation.EXT4, 2) as pool:
            turns = [future.result() for future in (pool.submit(turn), pool.submit(turn))]
        self.assertEqual(sorted(turns), [0, 1])
        with guests._workers(life.LIFE, 2) as pool:
            self.assertEqual(pool._max_workers, 1)
        self.assertEqual(guests._turn(), 0)

    def test_a_seed_changes_memory_and_the_program_knows_it(self) -> None:
        boots = list(guests._boots(TOY, 2))
        made = [guests._steady_machine(TOY, boot, self.base, Path("i")) for boot in boots]
        self.assertNotEqual(made[0].memory_mib, made[2].memory_mib)
        self.assertIn("bench.seed=2", made[2].parameters)
        line = " ".join(vm.command(made[0]))
        self.assertIn("-icount shift=1,sleep=off", line)
        self.assertNotIn("kvm", line)

    def test_a_failure_in_the_guest_is_told_with_its_console(self) -> None:
        boot = next(guests._boots(TOY, 1))
        outcome = console.Outcome([], ["bench: mmap: Cannot allocate memory"], 1)
        with (
            mock.patch.object(vm, "run", return_value=outcome),
            self.assertRaises(Failure) as caught,
        ):
            guests._measure(TOY, boot, self.kernels, Path("i"))
        self.assertIn("toy: base", caught.exception.message)
        self.assertEqual(caught.exception.detail, tuple(outcome.console))


class PlotTest(unittest.TestCase):
    @unittest.skipUnless(packages.installed_version("python3-matplotlib"), "no matplotlib")
    def test_every_kind_of_chart_is_drawn(self) -> None:
        shown = result(fast=([1, 1], [2, 2]))
        shown.rows.append(results.Row("by kswapd", "pages", {"base": [1, 2], "patched": [3, 4]}))
        shown.curves.append(results.Curve("dirty", "base", [[0, 1], [1, 2]]))
        charts = list(page._charts(dataclasses.replace(TOY, plotted=("by kswapd",)), shown))
        self.assertEqual([chart["kind"] for chart in charts], ["curves", "ratios", "counts"])
        bars = [{"label": "alone", "seconds": 1, "time": "1.00 s"}]
        charts.append({"kind": "times", "title": "t", "bars": bars})
        drawn = page.draw(charts)
        self.assertTrue(all(text.startswith("<svg") for text in drawn))
        self.assertIn("by kswapd", drawn[2])
        self.assertIn(">1.00 s<", drawn[3])
