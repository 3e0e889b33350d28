# SPDX-License-Identifier: GPL-2.0
"""Packages: their version, their configuration, and the messages if something is missing."""

import gzip
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tidemark import deb, packages
from tidemark.report import Failure

from . import fake


class VersionTest(fake.Case):
    def newer(self, first: str, second: str) -> bool:
        return not subprocess.run(["dpkg", "--compare-versions", first, "gt", second]).returncode

    def test_between_the_distributions_own(self) -> None:
        base = replace(self.obtain(), package_version="6.12.117-1~deb12u1", version="6.12.117")
        version = deb.version(base, self.layout)
        self.assertTrue(self.newer(version, "6.12.117-1~deb12u1"))
        self.assertTrue(self.newer("6.12.118-1~deb12u1", version))

    def test_a_source_that_is_no_package(self) -> None:
        base = replace(self.obtain(), package_version="", version="6.12.5-rc1")
        self.assertTrue(deb.version(base, self.layout).startswith("6.12.5~rc1-1+tidemark"))

    def git(self, *arguments: str) -> None:
        person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *person, *arguments], cwd=self.layout.root, check=True)

    def test_commits_and_changes(self) -> None:
        base = replace(self.obtain(), package_version="6.12.117-1~deb12u1")
        self.git("init", "-q")
        self.write("a", "")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "a")
        clean = deb.version(base, self.layout)
        self.assertRegex(clean, r"\+tidemark1\.g[0-9a-f]{10}$")
        self.write("a", "changed")
        self.assertEqual(deb.version(base, self.layout), f"{clean}.dirty")
        self.git("commit", "-q", "-a", "-m", "b")
        self.assertTrue(self.newer(deb.version(base, self.layout), f"{clean}.dirty"))
        with mock.patch.object(deb, "_git", return_value="true"):
            with self.assertRaises(Failure) as caught:
                deb.version(base, self.layout)
            self.assert_fails(caught.exception, "git fetch --unshallow")

    def test_changelog_names_base_and_commit(self) -> None:
        text = "linux (1) local\n\n  * Custom built Linux kernel.\n"
        changelog = self.write("debian/changelog", text)
        base = replace(self.obtain(), version="6.12.5", origin="a 'directory' & 100% of it")
        option = deb.changelog_hook(base, "6.12.5-1+tidemark7.g0123456789.dirty")
        (hook,) = shlex.split(option)
        command = hook.removeprefix("--hook-init=")
        self.assertNotIn("%", command)
        subprocess.run(["sh", "-c", command], cwd=self.layout.root, check=True)
        said = changelog.read_text()
        self.assertIn("  * Linux 6.12.5 from a _directory_ _ 100_ of it, with Tidemark at", said)
        self.assertIn("commit 0123456789.dirty.\n", said)
        self.assertNotIn("commit", deb.changelog_hook(base, "6.12.5-1+tidemark0"))


class ConfigTest(fake.Case):
    def test_btf_that_gets_lost_is_an_error(self) -> None:
        builder = mock.Mock()
        builder.adapt.return_value = {}
        self.write("kernel/configs/tidemark.config", "CONFIG_MEMCG=y\n")
        with mock.patch("tidemark.process.output", return_value="v1.24\n"):
            with self.assertRaises(Failure) as caught:
                deb.configure(builder, "CONFIG_DEBUG_INFO_BTF=y\n", self.layout)
            self.assert_fails(caught.exception, "pahole v1.24")
            deb.configure(builder, "CONFIG_DEBUG_INFO=y\n", self.layout)

    def test_the_series_is_turned_on(self) -> None:
        builder = mock.Mock()
        builder.adapt.return_value = {}
        self.write("kernel/configs/tidemark.config", "CONFIG_MEMCG_DIRTY_LIMIT=y\n")
        deb.configure(builder, "", self.layout)
        wishes = builder.adapt.call_args[0][1]
        self.assertEqual(wishes["MEMCG_DIRTY_LIMIT"].value, "y")
        self.assertEqual(wishes["LOCALVERSION"].value, '"-tidemark"')

    def test_lost_options_are_named(self) -> None:
        builder = mock.Mock()
        builder.adapt.return_value = {"A": "m", "B": "n"}
        self.write("kernel/configs/tidemark.config", "CONFIG_MEMCG=y\n")
        with mock.patch.object(deb, "progress") as told:
            deb.configure(builder, "CONFIG_A=y\nCONFIG_B=y\nCONFIG_RUST=y\n", self.layout)
        self.assertRegex(told.call_args.args[0], ": B, RUST$")

    def test_a_compressed_configuration(self) -> None:
        path = self.layout.root / "config.gz"
        path.write_bytes(gzip.compress(b"CONFIG_A=y\n"))
        with self.assertRaises(Failure) as caught:
            deb.read_config(path)
        self.assert_fails(caught.exception, "zcat")

    def test_no_space(self) -> None:
        with mock.patch("shutil.disk_usage") as usage:
            usage.return_value.free = 1 << 30
            with self.assertRaises(Failure) as caught:
                deb.require_space(self.layout)
            self.assert_fails(caught.exception, "1 GiB are free")
            with self.assertRaises(Failure) as caught:
                deb.require_space(self.layout, deb.FREE_GIB - 2)
            self.assert_fails(caught.exception, "up to 2 GiB")
            deb.require_space(self.layout, deb.FREE_GIB - 1)


class PlaceTest(fake.Case):
    def test_the_estimate_counts_modules(self) -> None:
        builder = mock.Mock()
        builder.planned.return_value = 5000
        builder.config = self.write("config", "CONFIG_A=m\nCONFIG_B=m\nCONFIG_C=y\n")
        builder.log = self.write("log", "")
        with mock.patch.object(deb, "progress") as told, mock.patch("tidemark.kbuild.jobs") as jobs:
            jobs.return_value = 2
            deb._make(builder, "1", "")
        self.assertEqual(
            told.call_args.args[0], "about 5000 files and 2 modules will take 29 minutes"
        )

    def test_packages_of_an_interrupted_build_are_not_collected(self) -> None:
        base = self.obtain()
        old = Path(self.write(f"build/kernel/deb-{base.label}/linux-image-1_1_amd64.deb", ""))

        def make(builder: mock.Mock, version: str, hook: str) -> None:
            self.assertFalse(old.exists())
            self.write(f"build/kernel/deb-{base.label}/linux-image-1_2_amd64.deb", version)

        with (
            mock.patch("tidemark.tree.use"),
            mock.patch("tidemark.scratch.write_json"),
            mock.patch.object(deb, "Kbuild") as builder,
            mock.patch.object(deb, "configure"),
            mock.patch.object(deb, "_make", make),
        ):
            builder.return_value.out = old.parent / "objects"
            place = deb.build(base, "", self.layout)
        self.assertEqual([path.name for path in place.iterdir()], ["linux-image-1_2_amd64.deb"])

    def test_a_variant_keeps_off_the_packages_of_hours(self) -> None:
        base = self.obtain()
        with (
            mock.patch("tidemark.tree.use"),
            mock.patch("tidemark.scratch.write_json"),
            mock.patch.object(deb, "Kbuild") as builder,
            mock.patch.object(deb, "configure"),
            mock.patch.object(deb, "_make"),
            mock.patch.object(deb, "_collect") as collect,
        ):
            builder.return_value.out = self.layout.build / "kernel" / "x" / "objects"
            deb.build(base, "", self.layout, "-debian")
            deb.build(base, "", self.layout)
        names = [call.args[0] for call in builder.call_args_list]
        label = base.label
        self.assertEqual(names, [f"deb-{label}-debian/objects", f"deb-{label}/objects"])
        places = [call.args[1].name for call in collect.call_args_list]
        self.assertEqual(places, [f"{label}-debian", label])


class MissingTest(fake.Case):
    def test_all_missing_packages_in_one_message(self) -> None:
        with (
            mock.patch.object(packages, "locate", return_value=None),
            mock.patch.object(packages, "_is_root", return_value=False),
            self.assertRaises(Failure) as caught,
        ):
            packages.require(deb.TOOLS, [deb.config_package("6.12")])
        names = ("build-essential", "debhelper", "dwarves", "git", "openssl", "linux-config-6.12")
        for name in (*names, "apt-get install"):
            self.assert_fails(caught.exception, name)

    def test_packages_are_collected_afresh(self) -> None:
        made = Path(self.write("build/kernel/deb-6.12/linux-image-1_2_amd64.deb", "")).parent
        self.write("build/kernel/deb-6.12/linux-libc-dev_2_amd64.deb", "")
        self.write("build/kernel/deb-6.12/linux-upstream_2_amd64.changes", "")
        self.write("build/deb/6.12/linux-image-0_1_amd64.deb", "")
        place = deb._collect(made, self.layout.build / "deb" / "6.12")
        self.assertEqual([path.name for path in place.iterdir()], ["linux-image-1_2_amd64.deb"])
        self.assertEqual(list(made.iterdir()), [])
        with self.assertRaises(Failure):
            deb._collect(made, place)
