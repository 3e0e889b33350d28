# SPDX-License-Identifier: GPL-2.0
"""Packages: their version, their configuration, and the messages if something is missing."""

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

    def test_no_space(self) -> None:
        with mock.patch("shutil.disk_usage") as usage:
            usage.return_value.free = 1 << 30
            with self.assertRaises(Failure) as caught:
                deb.require_space(self.layout, continued=False)
            self.assert_fails(caught.exception, "1 GiB are free")
            deb.require_space(self.layout, continued=True)


class PlaceTest(fake.Case):
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
        for name in ("debhelper", "dwarves", "rsync", "linux-config-6.12", "apt-get install"):
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
