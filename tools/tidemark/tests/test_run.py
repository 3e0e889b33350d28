# SPDX-License-Identifier: GPL-2.0
import contextlib
import io
import unittest

from tidemark import console, ktap, run, test
from tidemark.report import Failure

ROW = '{"seconds": %s, "writer_bytes_per_second": 28000000, "peak_dirty_bytes": %d}'


class ScenarioTest(unittest.TestCase):
    def test_rows_are_summed_up_by_condition(self) -> None:
        lines = [f"limited {ROW % (2.0, 40 << 20)}", f"limited {ROW % (4.0, 41 << 20)}"]
        measured = run.parse([*lines, f"limited {ROW % (2.1, 1 << 20)}"])
        figures = run.summary(measured["limited"])
        self.assertEqual(figures["seconds"], 2.1)
        self.assertEqual(figures["writer_mb_per_second"], 28.0)
        self.assertEqual(figures["peak_dirty_mib"], 41.0)
        self.assertEqual(figures["sd_percent"], 34.1)

    def test_anything_else_from_the_guest_is_an_error(self) -> None:
        with self.assertRaises(Failure):
            run.parse(["sh: tar: not found"])

    def test_table_has_what_was_measured_and_the_series_of_2010(self) -> None:
        text = run.table({"alone": run.summary(run.parse([f"alone {ROW % (1.5, 0)}"])["alone"])})
        self.assertIn("1.50 s", text)
        self.assertIn("12.20 s", text)
        self.assertNotIn("beside dd", text)

    def test_conclusion(self) -> None:
        figures = {name: {"seconds": seconds} for name, seconds in (("alone", 2), ("unlimited", 9))}
        self.assertEqual(
            run.conclusion(figures),
            "Beside dd, unpacking took 4.5 times as long as alone. "
            "Next: `make run`, the same with a dirty limit.",
        )
        text = run.conclusion({**figures, "limited": {"seconds": 2.4}})
        self.assertIn("4.5 times as long as alone; with a dirty limit of 40 MiB", text)
        self.assertIn("on dd's cgroup, 1.2 times.", text)


class SummaryTest(unittest.TestCase):
    def summary(self, *cases: ktap.Case) -> tuple[int, str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = test._summary(list(cases))
        return status, output.getvalue().splitlines()[-1]

    def test_last_line_counts(self) -> None:
        passed = ktap.Case("a", "ok")
        self.assertEqual(self.summary(passed, passed), (0, "2 passed, 0 failed"))
        self.assertEqual(
            self.summary(passed, ktap.Case("b", "FAIL"), ktap.Case("c", "skip")),
            (1, "1 passed, 1 failed, 1 skipped"),
        )

    def test_no_result_is_a_failure(self) -> None:
        self.assertEqual(test._suite([], "KUnit")[0].outcome, "FAIL")

    def test_a_complaint_on_the_console_is_a_failure(self) -> None:
        quiet = console.Outcome([], ["ok"], 0)
        noisy = console.Outcome([], ["BUG: KASAN: slab-out-of-bounds in f"], 0)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(test._console_case("v1", quiet).outcome, "ok")
            self.assertEqual(test._console_case("v1", noisy).outcome, "FAIL")
