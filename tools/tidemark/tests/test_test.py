# SPDX-License-Identifier: GPL-2.0
"""Which boots `make test` takes, with which parameters."""

import unittest
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from tidemark import console, guest, ktap, overlay, test, vm
from tidemark.report import Failure


class BootsTest(unittest.TestCase):
    def test_all(self) -> None:
        boots = test.boots("")
        self.assertEqual(boots["test"], (test.KUNIT,))
        self.assertEqual(boots["dirty"], (test.NO_KUNIT,))
        self.assertIn(test.KUNIT, boots["v1"])
        self.assertIn("numa=fake=4", boots["v1"])

    def test_some_kselftests_without_kunit(self) -> None:
        found = test.boots("test_memcg_knobs", test.environment(100, 0))
        words = ("kunit.enable=0", "tidemark.tests=test_memcg_knobs", "KNOB_WRITES=100")
        self.assertEqual(found, {"test": words})
        self.assertEqual(list(test.boots("test_memcg_dirty_v1")), ["v1"])

    def test_environment(self) -> None:
        self.assertEqual(test.environment(0, 0), ())
        self.assertEqual(test.environment(0, 300), ("PRESSURE_SECONDS=300",))

    def test_no_such_test(self) -> None:
        with self.assertRaises(Failure):
            test.boots("test_memcg_knob")

    def test_one_case(self) -> None:
        found = test.boots("test_memcg_dirty.test_pairs,test_memcg_dirty.test_valid")
        cases = "TEST_CASES=test_memcg_dirty.test_pairs,test_memcg_dirty.test_valid"
        words = ("kunit.enable=0", "tidemark.tests=test_memcg_dirty", cases)
        self.assertEqual(found, {"dirty": words})
        for word, says in (
            ("test_memcg_dirty.test_pair", "test_pairs"),
            ("test_watermark_wait.test_valid", "--only test_watermark_wait"),
            ("test_absent.test_x", "test_memcg_dirty"),
        ):
            with self.assertRaises(Failure) as caught:
                test.boots(word)
            self.assertIn(says, caught.exception.message)


class ExpectedTest(unittest.TestCase):
    def test_each_program_is_expected_in_one_boot(self) -> None:
        found = [name for mode in test.SUITES for name in test.expected("6.12", mode, "")]
        self.assertEqual(sorted(found), sorted(each["name"] for each in guest.selftests()))
        self.assertIn("test_memcg_dirty_v1", test.expected("6.12", "v1", ""))
        self.assertNotIn("test_memcg_dirty_v1", test.expected("6.12", "dirty", ""))

    def test_programs_of_only(self) -> None:
        only = "test_memcg_dirty.test_pairs,test_memcg_dirty.test_valid,test_memcg_dirty_v1"
        self.assertEqual(test.expected("6.12", "dirty", only), ["test_memcg_dirty"])
        self.assertEqual(test.expected("6.12", "v1", only), ["test_memcg_dirty_v1"])

    def test_programs_of_another_base(self) -> None:
        with mock.patch.object(overlay, "for_base", return_value={}):
            self.assertEqual(test.expected("6.12", "test", ""), [])

    def cases(self, *results: str, expected: Sequence[str] = ("test_a", "test_b")) -> list[str]:
        machine = vm.Machine(Path("k"), Path("guest/i"), "test")
        outcome = console.Outcome(list(results), [], 0)
        parsed = [ktap.Case("test_a test_x", "ok")]
        with (
            mock.patch.object(vm, "run", return_value=outcome),
            mock.patch.object(ktap, "parse", return_value=parsed),
        ):
            found = test._boot(machine, mock.Mock(), (), 9, expected)
        return [case.name for case in found if case.outcome == "FAIL"]

    def test_a_program_without_a_result_has_failed(self) -> None:
        lines = ("KTAP version 1", "1..2", "    ok 1 test_b", "ok 1 test_a")
        self.assertEqual(self.cases(*lines), ["test_b: no result"])
        self.assertEqual(self.cases(*lines, expected=()), [])

    def test_failed_or_skipped_as_a_whole_is_a_result(self) -> None:
        self.assertEqual(self.cases("not ok 1 test_a", "ok 2 test_b # SKIP"), [])
