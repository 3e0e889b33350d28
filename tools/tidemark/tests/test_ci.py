# SPDX-License-Identifier: GPL-2.0
"""The sum of .ci/run, with a Makefile that stands in for ours."""

import shutil
import subprocess

from tidemark import process
from tidemark.layout import REPOSITORY

from . import fake

MAKEFILE = """\
.PHONY: check-harness base series lint kernel test
check-harness base series lint:
kernel:
\t@test "$$(cat $(BASE))" != "no kernel"
test:
\t@cat $(BASE)
\t@grep -q ' 0 failed' $(BASE)
"""
PASSED = "ok   a\n3 passed, 0 failed, 1 skipped\n"
FAILED = "FAIL a\n2 passed, 1 failed\n"
NO_SUM = "ok   a\n"


class SumTest(fake.Case):
    def last_line(self, of_first: str, of_second: str) -> str:
        self.write("Makefile", MAKEFILE)
        script = self.write(".ci/run", "")
        shutil.copy(REPOSITORY.root / ".ci" / "run", script)
        for base, output in (("6.12", of_first), ("7.3", of_second)):
            self.write(f"bases/{base}/recipe", "")
            self.write(base, output)
        done = subprocess.run([script], env=process.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode == 0, of_first == of_second == PASSED)
        return done.stdout.splitlines()[-1]

    def test_all_bases_are_in_the_sum(self) -> None:
        self.assertEqual(self.last_line(PASSED, PASSED), "6 passed, 0 failed")
        self.assertEqual(self.last_line(PASSED, FAILED), "5 passed, 1 failed")

    def test_base_that_comes_to_no_sum(self) -> None:
        self.assertEqual(self.last_line(PASSED, NO_SUM), "3 passed, 1 failed")
        self.assertEqual(self.last_line(NO_SUM, FAILED), "2 passed, 2 failed")
        self.assertEqual(self.last_line("", NO_SUM), "0 passed, 2 failed")

    def test_kernel_that_does_not_build(self) -> None:
        self.assertEqual(self.last_line(PASSED, "no kernel\n"), "3 passed, 1 failed")
