# SPDX-License-Identifier: GPL-2.0
"""The guest with Debian: its disks, and how it is booted."""

from pathlib import Path
from unittest import mock

from tidemark import deb, debian, kernel, vm
from tidemark.report import Failure

from . import fake


class MachineTest(fake.Case):
    def test_boots(self) -> None:
        self.assertEqual(debian.boots(False, ""), {"debian": (), "package": ()})
        self.assertEqual(debian.boots(False, "package"), {"package": ()})
        self.assertEqual(
            debian.boots(False, "lxc,package"),
            {"debian": ("tidemark.tests=lxc",), "package": ()},
        )
        self.assertEqual(debian.boots(True, ""), {"debian": ("tidemark.unpatched",)})
        self.assertEqual(
            debian.boots(True, "service,lxc"),
            {"debian": ("tidemark.unpatched", "tidemark.tests=service,lxc")},
        )
        with self.assertRaises(Failure) as caught:
            debian.boots(True, "package")
        self.assert_fails(caught.exception, "without PRISTINE=1")

    def test_disk_of_the_tests_has_the_package(self) -> None:
        package = Path(self.write("build/deb/linux-image-1_2_amd64.deb", "deb"))
        for path in (debian.PAGE, debian.PROGRAM):
            self.write(str(path), "")
        with mock.patch("tidemark.process.output"):
            debian._tests(self.layout.build / "guest", self.layout, package)
            copy = self.layout.build / "guest" / "tests" / package.name
            self.assertEqual(copy.read_text(), "deb")
            debian._tests(self.layout.build / "guest", self.layout, None)
            self.assertFalse(copy.exists())

    def test_package_is_of_the_guests_configuration(self) -> None:
        config = Path(self.write("build/kernel/6.12-debian/.config", "CONFIG_MODULES=y\n"))
        image = kernel.Image(Path("k"), config.parent, config, "6.12.99", Path("s"))
        place = self.layout.build / "deb" / "6.12-debian"
        for name in ("linux-headers-1_2_amd64.deb", "linux-image-1_2_amd64.deb"):
            self.write(str((place / name).relative_to(self.layout.root)), "")
        with mock.patch.object(deb, "build", return_value=place) as build:
            found = debian.package(self.obtain(), image, self.layout)
        self.assertEqual(found.name, "linux-image-1_2_amd64.deb")
        self.assertEqual(build.call_args[0][1:], ("CONFIG_MODULES=y\n", self.layout, "-debian"))

    def test_root_file_system_is_the_first_disk_and_keeps_nothing(self) -> None:
        disks = (vm.Disk(Path("root.img"), temporary=True), vm.Disk(Path("t.img"), read_only=True))
        line = " ".join(vm.command(vm.Machine(Path("k"), None, "debian", disks)))
        self.assertRegex(line, r"file=root\.img,\S*snapshot=on")
        self.assertNotRegex(line, r"file=t\.img,\S*snapshot=on")
        self.assertIn("root=/dev/vda rw", line)
        self.assertNotIn("-initrd", line)
