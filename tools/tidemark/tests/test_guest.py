# SPDX-License-Identifier: GPL-2.0
import os
import tarfile
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tidemark import guest, lock, process
from tidemark.report import Failure

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


class SourceTarballTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.base = self.obtain()
        (self.layout.build / "guest").mkdir(parents=True)
        packed = mock.patch.object(guest, "SOURCE_DIRECTORIES", ("mm",))
        packed.start()
        self.addCleanup(packed.stop)

    def pack(self, key: str) -> Path:
        return guest._source_tarball(replace(self.base, key=key), self.layout)

    def test_packed_once_for_a_source(self) -> None:
        first = self.pack("a").stat().st_ino
        self.assertEqual(self.pack("a").stat().st_ino, first)
        with tarfile.open(self.pack("b")) as tarball:
            self.assertIn("mm/pages.c", tarball.getnames())
        self.assertNotEqual(self.pack("b").stat().st_ino, first)

    def test_a_guest_keeps_the_file_that_it_has(self) -> None:
        with self.pack("a").open("rb") as disk:
            whole = disk.read()
            (self.base.path / "mm" / "pages.c").write_text("x\n" * 100_000)
            self.pack("b")
            disk.seek(0)
            self.assertEqual(disk.read(), whole)

    def test_a_tarball_that_is_not_complete_is_never_there(self) -> None:
        whole = self.pack("a").read_bytes()

        def broken(argv: list[str], *_: object) -> str:
            Path(argv[4]).write_text("half of it")
            raise Failure("no space left")

        with mock.patch.object(process, "output", broken), self.assertRaises(Failure):
            self.pack("b")
        self.assertEqual(self.pack("a").read_bytes(), whole)

    def test_threads_pack_it_once(self) -> None:
        with (
            mock.patch.object(process, "output", side_effect=process.output) as output,
            ThreadPoolExecutor(4) as pool,
        ):
            list(pool.map(self.pack, ["a"] * 4))
        output.assert_called_once()
