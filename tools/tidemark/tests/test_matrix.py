# SPDX-License-Identifier: GPL-2.0
"""The matrix of configurations."""

import unittest

from tidemark import kbuild, matrix
from tidemark.config import Wish

OURS = {"ACTIVE_RATIO", "ACTIVE_RATIO_KUNIT_TEST", "MEMCG_DIRTY_LIMIT", "MEMCG_FLUSH_THRESHOLD"}


class MatrixTest(unittest.TestCase):
    def test_each_option_off_and_alone(self) -> None:
        found = matrix.every(OURS)
        self.assertEqual(set(found["none"].options), OURS)
        self.assertEqual(found["all"].options, {})
        off = {"ACTIVE_RATIO": "n", "ACTIVE_RATIO_KUNIT_TEST": "n"}
        self.assertEqual(found["no-active-ratio"].options, off)
        alone = {"MEMCG_DIRTY_LIMIT": "n", "MEMCG_FLUSH_THRESHOLD": "n"}
        self.assertEqual(found["only-active-ratio"].options, alone)

    def test_options_outside_of_ours(self) -> None:
        found = matrix.every(OURS)
        for name in ("memcg-n", "smp-n", "preempt-rt", "i386", "arm64"):
            self.assertIn(name, found)
        self.assertEqual(found["arm64"].machine.cross, "aarch64-linux-gnu-")
        self.assertEqual(found["smp-n"].machine, kbuild.HERE)

    def wishes(self, name: str) -> tuple[dict[str, str], set[str]]:
        fragments = {o: Wish(o, "y", "f") for o in (*OURS, "MEMCG", "SMP")}
        wishes, required = matrix.wanted(matrix.every(OURS)[name], fragments, OURS)
        return {option: wish.value for option, wish in wishes.items()}, required

    def test_what_kconfig_has_to_grant(self) -> None:
        wishes, required = self.wishes("memcg-n")
        self.assertEqual((wishes["MEMCG"], wishes["MEMCG_DIRTY_LIMIT"]), ("n", "n"))
        self.assertEqual(wishes["ACTIVE_RATIO"], "y")
        self.assertEqual(required, {*OURS, "MEMCG"})

    def test_tests_go_with_their_option(self) -> None:
        wishes, _ = self.wishes("no-active-ratio")
        self.assertEqual(wishes["ACTIVE_RATIO_KUNIT_TEST"], "n")
        self.assertEqual(wishes["MEMCG_DIRTY_LIMIT"], "y")

    def test_divisions_that_do_not_link(self) -> None:
        listing = (
            "mm/a.o:         U __udivdi3\nmm/a.o:         U memset\nmm/b.o:         U __moddi3\n"
        )
        found = ["mm/a.o calls __udivdi3()", "mm/b.o calls __moddi3()"]
        self.assertEqual(matrix.divisions(listing), found)
        self.assertEqual(matrix.divisions("mm/a.o:         U my__udivdi3\n"), [])
