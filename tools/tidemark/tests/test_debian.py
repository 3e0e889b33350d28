# SPDX-License-Identifier: GPL-2.0
"""The guest with Debian: its disks, and how it is booted."""

from pathlib import Path
from unittest import mock

from tidemark import config, deb, debian, kernel, vm
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
        for pristine, name in ((False, "typo"), (False, "probe"), (True, "slice,monitr")):
            with self.assertRaises(Failure) as caught:
                debian.boots(pristine, name)
            self.assert_fails(caught.exception, "no such recipe; there is: is-system-running")

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

    def test_package_is_of_the_guests_configuration_with_a_module(self) -> None:
        text = "CONFIG_VETH=y\n# CONFIG_MODULES is not set\n"
        place = self.write("build/kernel/6.12-debian/.config", text)
        image = kernel.Image(Path("k"), place.parent, place, "6.12.99", Path("s"))
        made = self.layout.build / "deb" / "6.12-debian"
        for name in ("linux-headers-1_2_amd64.deb", "linux-image-1_2_amd64.deb"):
            self.write(str((made / name).relative_to(self.layout.root)), "")
        with mock.patch.object(deb, "build", return_value=made) as build:
            found = debian.package(self.obtain(), image, self.layout)
        self.assertEqual(found.name, "linux-image-1_2_amd64.deb")
        text, *others = build.call_args[0][1:]
        self.assertEqual(others, [self.layout, "-debian"])
        options = config.parse(text)
        self.assertEqual((options["VETH"], options["MODULES"], options["DUMMY"]), ("y", "y", "m"))

    def test_given_package(self) -> None:
        given = self.write("linux-image-1_2_amd64.deb", "")
        self.assertEqual(debian.given_package(str(given), {"package"}), given)
        other = self.write("linux-headers-1_2_amd64.deb", "")
        absent = given.with_name("linux-image-2_2_amd64.deb")
        for path, modes, reason in (
            (other, {"package"}, "not a linux-image"),
            (absent, {"package"}, "no such file"),
            (given, {"debian"}, "not to run"),
        ):
            with self.subTest(reason), self.assertRaises(Failure) as caught:
                debian.given_package(str(path), modes)
            self.assert_fails(caught.exception, reason)

    def test_root_file_system_is_the_first_disk_and_keeps_nothing(self) -> None:
        disks = (vm.Disk(Path("root.img"), temporary=True), vm.Disk(Path("t.img"), read_only=True))
        line = " ".join(vm.command(vm.Machine(Path("k"), None, "debian", disks)))
        self.assertRegex(line, r"file=root\.img,\S*snapshot=on")
        self.assertNotRegex(line, r"file=t\.img,\S*snapshot=on")
        self.assertIn("root=/dev/vda rw", line)
        self.assertNotIn("-initrd", line)
