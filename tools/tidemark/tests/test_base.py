# SPDX-License-Identifier: GPL-2.0
"""Forms of LINUX=, and the Debian package."""

import json
import os
import subprocess
from pathlib import Path
from unittest import mock

from tidemark import base, packages, process
from tidemark.report import Failure

from . import fake


class BaseTest(fake.Case):
    def assert_is_kernel(self, found: base.Base) -> None:
        self.assertEqual(found.version, "6.12.99")
        self.assertEqual((found.path / "mm" / "pages.c").read_text(), fake.PAGES)
        self.assertTrue(found.path.is_relative_to(self.layout.build / "base"))

    def assert_refused(self, *parts: str) -> None:
        with self.assertRaises(Failure) as caught:
            self.obtain()
        self.assert_fails(caught.exception, *parts)
        unpacked = self.layout.build / "base"
        self.assertEqual(list(unpacked.iterdir()) if unpacked.exists() else [], [])

    def pack(self, *tops: str, name: str = "linux.tar.xz") -> Path:
        path = self.scratch / name
        subprocess.run(["tar", "-C", self.scratch, "-caf", path, *tops], check=True)
        return path

    def test_tree(self) -> None:
        (self.linux / "link").symlink_to("Makefile")
        (self.linux / "mm" / "stray.o").write_text("product")
        first = self.obtain()
        self.assert_is_kernel(first)
        self.assertEqual(first.label, "6.12-linux")
        self.assertTrue((first.path / "link").is_symlink())
        self.assertFalse((first.path / "mm" / "stray.o").exists())
        self.assertEqual(self.obtain(), first)
        os.utime(self.linux / "mm" / "pages.c", (1, 1))
        self.assertNotEqual(self.obtain().key, first.key)

    def test_tree_that_was_built_in(self) -> None:
        (self.linux / ".config").write_text("")
        self.assert_refused(".config", "mrproper")

    def test_no_tree(self) -> None:
        (self.linux / "Makefile").unlink()
        self.assert_refused(str(self.linux), "neither")

    def test_other_version(self) -> None:
        (self.linux / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 9\nSUBLEVEL = 3\n")
        self.assert_refused("6.9.3", "BASE=6.12")

    def test_makefile_of_something_else(self) -> None:
        (self.linux / "Makefile").write_text("all:\n")
        self.assert_refused("no kernel tree")

    def test_git_checkout(self) -> None:
        fake.git(self.linux, "init", "-q")
        fake.git(self.linux, "add", ".")
        fake.git(self.linux, "commit", "-q", "-m", "x")
        first = self.obtain()
        self.assert_is_kernel(first)
        (self.linux / "mm" / "pages.c").write_text("uncommitted\n")
        self.assertEqual(self.obtain(), first)
        fake.git(self.linux, "commit", "-q", "-a", "-m", "y")
        self.assertNotEqual(self.obtain().key, first.key)

    def test_tarballs(self) -> None:
        keys = set()
        for suffix in ("xz", "gz", "bz2"):
            self.linux = self.scratch / "linux"
            self.linux = self.pack("linux", name=f"linux.tar.{suffix}")
            found = self.obtain()
            self.assert_is_kernel(found)
            keys.add(found.key)
        self.assertEqual(len(keys), 3)

    def test_tarball_of_other_version(self) -> None:
        (self.linux / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 0\n")
        self.linux = self.pack("linux")
        self.assert_refused("7.3.0", "BASE=6.12")

    def test_tarball_with_two_tops(self) -> None:
        fake.write_kernel(self.scratch / "other")
        self.linux = self.pack("linux", "other")
        self.assert_refused("one top directory")

    def test_damaged_tarball(self) -> None:
        self.linux = self.pack("linux")
        self.linux.write_bytes(self.linux.read_bytes()[:100])
        self.assert_refused("tar", "failed")

    def test_unknown_file(self) -> None:
        self.linux = self.linux / "mm" / "pages.c"
        self.assert_refused("pages.c", "not a tarball")

    def test_package(self) -> None:
        tarball = self.pack("linux")
        self.write("bases/6.12/recipe", f"package = linux-fake\ntarball = {tarball}\nchecked = 1\n")
        versions = {"linux-fake": "6.12.99-1~x"}
        with (
            mock.patch.object(packages, "require"),
            mock.patch.object(packages, "installed_version", versions.get),
        ):
            found = base.obtain("6.12", layout=self.layout)
            self.assert_is_kernel(found)
            self.assertEqual(found.path.name, "6.12-6.12.99-1~x")
            tarball.unlink()
            tarball.touch()
            self.assertEqual(base.obtain("6.12", layout=self.layout), found)
        record = json.loads(found.path.with_name(f"{found.path.name}.json").read_text())
        self.assertEqual(record["package_version"], "6.12.99-1~x")
        self.assertEqual(record["version"], "6.12.99")

    def test_cut_short_unpacking_is_done_again(self) -> None:
        first = self.obtain()
        (first.path / "mm" / "pages.c").unlink()
        first.path.with_name(f"{first.path.name}.json").unlink()
        self.assert_is_kernel(self.obtain())

    def test_unknown_base(self) -> None:
        with self.assertRaises(Failure) as caught:
            base.read_recipe("9.9", self.layout)
        self.assert_fails(caught.exception, "BASE=9.9", "6.12")

    def test_recipe_with_a_slip(self) -> None:
        for text in ("package = x\n", "package\n", "pakage = x\n"):
            self.write("bases/6.12/recipe", text)
            with self.assertRaises(Failure) as caught:
                base.read_recipe("6.12", self.layout)
            self.assert_fails(caught.exception, "bases/6.12/recipe")


class EnvironmentTest(fake.Case):
    def test_what_steers_other_programs_is_dropped(self) -> None:
        with mock.patch.dict(os.environ, {"MAKEFLAGS": "s", "GIT_DIR": "x", "O": "x"}):
            kept = process.environment({"A": "b"})
        self.assertFalse({"MAKEFLAGS", "GIT_DIR", "O"} & kept.keys())
        self.assertEqual((kept["A"], kept["LC_ALL"]), ("b", "C"))
