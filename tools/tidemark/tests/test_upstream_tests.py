# SPDX-License-Identifier: GPL-2.0
"""Comparing upstream's own tests on two kernels."""

import unittest
from unittest import mock

from tidemark import upstream_tests

OUTPUT = """\
program cgroup/test_core
TAP version 13
1..5
ok 1 test_a
not ok 2 test_b
  ok 3 - test_c # SKIP no controller
ok 4 # SKIP test_e
# not ok 4 in a comment
not ok 5 test_d # XFAIL known
status 1

program mm/mkdirty
status 0
program mm/ksm
status 4
""".splitlines()


class UpstreamTestsTest(unittest.TestCase):
    def test_outcomes(self) -> None:
        expected = {
            ("cgroup/test_core", "test_a"): "ok",
            ("cgroup/test_core", "test_b"): "FAIL",
            ("cgroup/test_core", "test_c"): "skip",
            ("cgroup/test_core", "test_d"): "skip",
            ("cgroup/test_core", "test_e"): "skip",
            ("cgroup/test_core", "exit status"): "FAIL",
            ("mm/mkdirty", "exit status"): "ok",
            ("mm/ksm", "exit status"): "skip",
        }
        self.assertEqual(upstream_tests.outcomes(OUTPUT), expected)

    def test_guest_that_goes_down(self) -> None:
        runs = [(["program a/a", "status 0", "program b/b"], False), (["program c/c"], False)]
        with mock.patch.object(upstream_tests, "_boot", side_effect=runs) as boot:
            found = upstream_tests._run("base", mock.Mock(), ["a/a", "b/b", "c/c"])
        self.assertEqual(boot.call_args.args[2], ["c/c"])
        expected = {"a/a": "ok", "b/b": "FAIL", "c/c": "FAIL"}
        self.assertEqual({key[0]: outcome for key, outcome in found.items()}, expected)

    def worse(self, *rounds: tuple[str, str]) -> bool:
        key = ("cgroup/t", "case")
        found = [{"base": {key: b}, "patched": {key: p}} for b, p in rounds]
        (row,) = upstream_tests.compare(found)
        return row.is_worse

    def test_worse_is_what_only_ever_passes_on_the_base(self) -> None:
        self.assertTrue(self.worse(("ok", "FAIL")))
        self.assertTrue(self.worse(("ok", "FAIL"), ("FAIL", "FAIL")))
        self.assertTrue(self.worse(("ok", "skip")))
        self.assertFalse(self.worse(("ok", "FAIL"), ("ok", "ok")))
        self.assertFalse(self.worse(("FAIL", "FAIL")))
        self.assertFalse(self.worse(("FAIL", "ok")))

    def test_case_that_is_missing_on_ours(self) -> None:
        key = ("cgroup/t", "case")
        (row,) = upstream_tests.compare([{"base": {key: "ok"}, "patched": {}}])
        self.assertEqual((row.patched, row.is_worse), (["-"], True))
        self.assertIn("<---", "\n".join(upstream_tests.table([row])))

    def test_only_some_run_again(self) -> None:
        a, b = ("a/a", "case"), ("b/b", "case")
        rounds = [
            {"base": {a: "ok", b: "ok"}, "patched": {a: "FAIL", b: "ok"}},
            {"base": {a: "ok"}, "patched": {a: "ok"}},
        ]
        rows = {row.key: row for row in upstream_tests.compare(rounds)}
        self.assertEqual(rows[a].patched, ["FAIL", "ok"])
        self.assertEqual(rows[b].patched, ["ok"])

    def test_programs_of_a_makefile(self) -> None:
        text = "TEST_GEN_PROGS  = test_a\nTEST_GEN_PROGS += test_b test_c\nTEST_PROGS := x.sh\n"
        self.assertEqual(upstream_tests.generated(text), ["test_a", "test_b", "test_c"])
