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
