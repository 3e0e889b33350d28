# SPDX-License-Identifier: GPL-2.0
"""Results that the kernel's parser does not handle: without a name, and of failed suites."""

import json
from collections.abc import Sequence
from typing import Any

from tidemark import ktap

from . import fake

PARSER = """\
import shutil, sys
shutil.copy("parsed", sys.argv[2].removeprefix("--json="))
"""
GOOD = {"name": "good", "status": "PASS"}
# The parser's output for an announced result that is missing.
MISSING = {"name": "", "status": "ERROR"}


class KtapTest(fake.Case):
    def parse(self, report: dict[str, Any], lines: Sequence[str] = ()) -> list[str]:
        self.write("tools/testing/kunit/kunit.py", PARSER)
        self.write("parsed", json.dumps(report))
        place = self.layout.root
        return [f"{case.outcome} {case.name}" for case in ktap.parse(lines, place, place, "log")]

    def test_every_result_has_a_name(self) -> None:
        died = {"name": "test_b", "test_cases": [GOOD, MISSING, MISSING]}
        whole = {"name": "test_a", "test_cases": [GOOD], "sub_groups": []}
        report = {"test_cases": [MISSING, MISSING], "sub_groups": [whole, died]}
        expected = [
            "FAIL result 3, which is missing",
            "FAIL result 4, which is missing",
            "ok test_a good",
            "ok test_b good",
            "FAIL test_b result 2, which is missing",
            "FAIL test_b result 3, which is missing",
        ]
        self.assertEqual(self.parse(report), expected)

    def test_suite_that_fails_with_all_cases_passed(self) -> None:
        report = {"sub_groups": [{"name": "test_a", "test_cases": [GOOD]}]}
        expected = ["ok test_a good", "FAIL test_a as a whole"]
        for line in ("not ok 1 test_a", "[    1.25] not ok 1 test_a", "not ok 1 - test_a # why"):
            with self.subTest(line):
                self.assertEqual(self.parse(report, ["    ok 1 good", line]), expected)
        self.assertEqual(self.parse(report, ["    not ok 1 good", "ok 1 test_a"]), expected[:1])

    def test_suite_that_fails_for_a_case(self) -> None:
        bad = {"name": "bad", "status": "FAIL"}
        report = {"sub_groups": [{"name": "test_a", "test_cases": [GOOD, bad]}]}
        found = self.parse(report, ["not ok 1 test_a"])
        self.assertEqual(found, ["ok test_a good", "FAIL test_a bad"])

    def test_last_words(self) -> None:
        lines = ["    # 3 pages", "    ok 1 good", "    # 0 pages", "    not ok 2 bad", "not ok 1"]
        self.assertEqual(list(ktap.last_words(lines)), lines[2:])
        console = ["[ 1.5] # EXPECTATION FAILED", *map(str, range(20)), "[ 1.6] not ok 1 bad"]
        self.assertEqual(list(ktap.last_words(console)), console[-ktap.LAST_WORDS :])
        self.assertEqual(list(ktap.last_words([*lines[:2], "not okay"])), [])
