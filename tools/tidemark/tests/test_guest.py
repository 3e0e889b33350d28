# SPDX-License-Identifier: GPL-2.0
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tidemark import guest, lock

from . import fake


class PackTest(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def packed(self, name: str, when: int) -> bytes:
        root = self.place / name
        (root / "bin").mkdir(parents=True)
        (root / "bin" / "program").write_text("program")
        (root / "init").symlink_to("bin/program")
        os.utime(root / "bin" / "program", (when, when))
        return guest.pack(root, self.place / f"{name}.cpio").read_bytes()

    def test_the_same_files_give_the_same_archive(self) -> None:
        first = self.packed("first", 1)
        self.assertIn(b"bin/program", first)
        self.assertEqual(first, self.packed("second", 2))


class DirectoryTest(fake.Case):
    def test_it_is_kept_by_this_process(self) -> None:
        with mock.patch.object(lock, "keep") as keep:
            place = guest.directory("6.12-vm-test", self.layout)
        keep.assert_called_once_with(self.layout.build, "guest/6.12-vm-test")
        self.assertEqual(place, self.layout.build / "guest" / "6.12-vm-test")
        self.assertTrue(place.is_dir())
