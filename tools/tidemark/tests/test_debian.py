# SPDX-License-Identifier: GPL-2.0
"""The guest with Debian: when its root file system is made, and how it is booted."""

from pathlib import Path
from unittest import mock

from tidemark import archive, debian, vm

from . import fake


class RootTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.made = 0

    def root(self, sources: str) -> Path:
        def bootstrap(_sources: str, draft: Path, _log: Path) -> Path:
            self.made += 1
            return draft / "root.tar"

        def pack(_tarball: Path, image: Path) -> None:
            image.write_text(f"image {self.made}")

        with (
            mock.patch.object(archive, "own_sources", return_value=sources),
            mock.patch.object(debian, "_bootstrap", bootstrap),
            mock.patch.object(debian, "_pack", pack),
        ):
            return debian.root(self.layout)

    def test_made_once_for_the_same_sources(self) -> None:
        self.root("a")
        self.assertEqual(self.root("a").read_text(), "image 1")
        self.assertEqual(self.root("b").read_text(), "image 2")

    def test_made_anew_with_other_packages(self) -> None:
        self.root("a")
        with mock.patch.object(debian, "PACKAGES", ("x",)):
            self.assertEqual(self.root("a").read_text(), "image 2")


class MachineTest(fake.Case):
    def test_words(self) -> None:
        self.assertEqual(debian.words(False, ""), ())
        self.assertEqual(
            debian.words(True, "service,lxc"), ("tidemark.unpatched", "tidemark.tests=service,lxc")
        )

    def test_root_file_system_is_the_first_disk_and_keeps_nothing(self) -> None:
        disks = (vm.Disk(Path("root.img"), temporary=True), vm.Disk(Path("t.img"), read_only=True))
        line = " ".join(vm.command(vm.Machine(Path("k"), None, "debian", disks)))
        self.assertRegex(line, r"file=root\.img,\S*snapshot=on")
        self.assertNotRegex(line, r"file=t\.img,\S*snapshot=on")
        self.assertIn("root=/dev/vda rw", line)
        self.assertNotIn("-initrd", line)
