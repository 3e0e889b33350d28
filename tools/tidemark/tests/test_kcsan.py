# SPDX-License-Identifier: GPL-2.0
import subprocess
import tempfile
import unittest
from pathlib import Path

from tidemark import console, kcsan

OURS = "mm/memcg_dirty.h"
INLINE = "static inline int ours(const int *p) { return *p + 1; }\n"
BASE = '#include "mm/memcg_dirty.h"\nint with_ours(int *p) { return ours(p); }\n'
BASE += "int without(int *p) { return *p + 2; }\n"
GCC = ("gcc", "-g", "-O2", "-fcf-protection=none", "-static", "-nostdlib", "-Wl,-e,without")


def report(*functions: str) -> list[str]:
    """A report as the kernel prints it, except for the time stamps."""
    names = " / ".join(functions)
    return [
        "[   12.1] " + "=" * 66,
        f"[   12.1] BUG: KCSAN: data-race in {names}",
        "[   12.1]",
        *(
            line
            for name in functions
            for line in (
                "[   12.1] read to 0xffff888004b5f4c0 of 8 bytes by task 52 on cpu 1:",
                f"[   12.1]  {name}+0x1/0x10",
                "[   12.1]  with_ours+0x1/0x10",
            )
        ),
        "[   12.1] Reported by Kernel Concurrency Sanitizer on:",
        "[   12.1] " + "=" * 66,
    ]


class KcsanTest(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.build = Path(place.name)
        (self.build / "mm").mkdir()
        (self.build / OURS).write_text(INLINE)
        (self.build / "base.c").write_text(BASE)
        subprocess.run([*GCC, "-o", "vmlinux", "base.c"], cwd=self.build, check=True)
        symbols = subprocess.run(
            ["nm", "vmlinux"], cwd=self.build, check=True, capture_output=True, text=True
        ).stdout
        (self.build / "System.map").write_text(symbols)

    def complaints(self, lines: list[str]) -> list[str]:
        return console.complaints(kcsan.without_others(lines, self.build, [OURS]))

    def test_a_report_about_the_base_alone_is_no_complaint(self) -> None:
        self.assertEqual(self.complaints(report("without", "without")), [])

    def test_an_inline_of_ours_is_found_in_either_function(self) -> None:
        for pair in (("without", "with_ours"), ("with_ours", "without")):
            self.assertEqual(len(self.complaints(report(*pair))), 1)

    def test_each_report_counts_by_itself(self) -> None:
        lines = [*report("without"), *report("with_ours"), *report("without", "without")]
        self.assertEqual(self.complaints(lines), ["[   12.1] BUG: KCSAN: data-race in with_ours"])

    def test_a_report_of_which_something_is_not_known_counts(self) -> None:
        for functions in (("nowhere",), ("without", "nowhere"), ()):
            self.assertEqual(len(self.complaints(report(*functions))), 1)

    def test_other_trouble_within_a_report_counts(self) -> None:
        lines = report("without")
        lines.insert(3, "[   12.1] WARNING: CPU: 0 PID: 1 at mm/memcontrol.c:1 f+0x1/0x2")
        self.assertEqual(self.complaints(lines), [lines[3]])
