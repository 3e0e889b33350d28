# SPDX-License-Identifier: GPL-2.0
"""Which boots `make test` takes, with which parameters."""

import unittest

from tidemark import test
from tidemark.report import Failure


class BootsTest(unittest.TestCase):
    def test_all(self) -> None:
        boots = test.boots("")
        self.assertEqual(boots["test"], (test.KUNIT,))
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
        self.assertEqual(found, {"test": words})
        for word, says in (
            ("test_memcg_dirty.test_pair", "test_pairs"),
            ("test_watermark_wait.test_valid", "--only test_watermark_wait"),
            ("test_absent.test_x", "test_memcg_dirty"),
        ):
            with self.assertRaises(Failure) as caught:
                test.boots(word)
            self.assertIn(says, caught.exception.message)
