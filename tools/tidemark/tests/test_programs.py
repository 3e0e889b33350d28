# SPDX-License-Identifier: GPL-2.0
import subprocess
import tempfile
import unittest
from pathlib import Path

from tidemark import packages, programs
from tidemark.report import Failure

LISTING = """\
\tlinux-vdso.so.1 (0x00007ffe8a5f2000)
\tlibuuid.so.1 => /lib/x86_64-linux-gnu/libuuid.so.1 (0x00007f3a1c2d8000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f3a1c0f7000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f3a1c4a1000)
"""


class ProgramsTest(unittest.TestCase):
    def test_libraries_and_loader_but_not_the_vdso(self) -> None:
        self.assertEqual(
            [str(path) for path in programs.libraries(LISTING)],
            [
                "/lib/x86_64-linux-gnu/libuuid.so.1",
                "/lib/x86_64-linux-gnu/libc.so.6",
                "/lib64/ld-linux-x86-64.so.2",
            ],
        )

    def test_missing_library_is_named(self) -> None:
        with self.assertRaises(Failure) as caught:
            programs.libraries(LISTING + "\tlibudev.so.1 => not found\n")
        self.assertIn("libudev.so.1", caught.exception.message)

    def test_missing_command_is_named(self) -> None:
        with self.assertRaises(Failure) as caught:
            programs.copy(["mkfs.nonsense"], Path("/nonexistent"))
        self.assertIn("mkfs.nonsense", caught.exception.message)

    def test_a_copy_runs_with_its_own_libraries(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            programs.copy(["xz"], root)
            needed = programs.libraries(
                subprocess.run(
                    ["ldd", str(packages.locate("xz"))], capture_output=True, text=True
                ).stdout
            )
            self.assertTrue(needed)
            loader = next(root.rglob("ld-linux*"))
            directories = {str((root / path.relative_to("/")).parent) for path in needed}
            done = subprocess.run(
                [loader, "--library-path", ":".join(directories), root / "sbin/xz", "--version"],
                capture_output=True,
                text=True,
            )
            self.assertIn("xz", done.stdout)
