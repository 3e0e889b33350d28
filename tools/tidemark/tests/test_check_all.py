# SPDX-License-Identifier: GPL-2.0
"""A step after the other, each summed up in a line."""

import os
from unittest import mock

from tidemark import check_all
from tidemark.check_all import Step
from tidemark.report import Failure

from . import fake

MAKEFILE = """\
good:
\t@echo working on $(BASE); echo "told to stderr" >&2; echo "3 passed $(ARGS)"
bad:
\t@echo "1 failed"; exit 1
"""


class CheckAllTest(fake.Case):
    def result(self, target: str, **variables: str) -> list[str]:
        self.write("Makefile", MAKEFILE)
        step = Step("a-step", target, variables)
        place = self.layout.root
        return check_all.run(step, {"BASE": "6.12"}, place, place).split()

    def test_line_of_a_step(self) -> None:
        line = self.result("good", ARGS="--some")
        self.assertEqual([line[0], line[1], *line[3:]], ["ok", "a-step", "3", "passed", "--some"])
        log = (self.layout.root / "a-step.log").read_text()
        self.assertIn("told to stderr", log)
        self.assertIn("working on 6.12", log)

    def test_step_that_fails(self) -> None:
        self.assertEqual(self.result("bad")[0], "FAIL")

    def test_flags_of_our_own_make(self) -> None:
        with mock.patch.dict(os.environ, {"MAKEFLAGS": "-- ARGS=wrong"}):
            self.assertEqual(self.result("good")[-1], "passed")

    def test_choice(self) -> None:
        names = [step.name for step in check_all.chosen("fuzz,lint")]
        self.assertEqual(names, ["lint", "fuzz"])
        with self.assertRaises(Failure):
            check_all.chosen("lynt")
