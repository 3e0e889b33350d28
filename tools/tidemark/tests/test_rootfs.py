# SPDX-License-Identifier: GPL-2.0
"""Root file systems of Debian: when they are made."""

from pathlib import Path
from unittest import mock

from tidemark import archive, rootfs

from . import fake


class RootTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.made = 0

    def root(self, sources: str, package: str = "bc") -> Path:
        def bootstrap(_system: rootfs.System, _sources: str, draft: Path, _log: Path) -> Path:
            self.made += 1
            return draft / "root.tar"

        def pack(_tarball: Path, image: Path, _mib: int) -> None:
            image.write_text(f"image {self.made}")

        setup = Path(self.write("setup", "#!/bin/sh\n"))
        system = rootfs.System("outside/debian", (package,), setup, 1)
        with (
            mock.patch.object(archive, "own_sources", return_value=sources),
            mock.patch.object(rootfs, "_bootstrap", bootstrap),
            mock.patch.object(rootfs, "_pack", pack),
        ):
            return rootfs.image(system, self.layout)

    def test_made_once_for_the_same_sources(self) -> None:
        self.root("a")
        self.assertEqual(self.root("a").read_text(), "image 1")
        self.assertEqual(self.root("b").read_text(), "image 2")

    def test_made_anew_with_other_packages(self) -> None:
        self.root("a")
        self.assertEqual(self.root("a", "perl").read_text(), "image 2")
