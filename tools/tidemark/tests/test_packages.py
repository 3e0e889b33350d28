# SPDX-License-Identifier: GPL-2.0
"""Missing packages, for root and for others."""

import unittest
from collections.abc import Collection
from unittest import mock

from tidemark import packages
from tidemark.report import Failure


class PackagesTest(unittest.TestCase):
    def machine(self, root: bool, commands: Collection[str] = (), unknown: str = "") -> mock.Mock:
        """Stand in for a machine that has these commands, one package and apt-get."""
        apt = mock.Mock(return_value=0)
        for name, stand_in in (
            ("_is_root", lambda: root),
            ("locate", lambda command: command if command in commands else None),
            ("_installed", lambda names: {"libelf-dev": "1"} if "libelf-dev" in names else {}),
            ("_unknown", lambda names: [unknown] if unknown in names else []),
            ("_apt_get", apt),
        ):
            patch = mock.patch.object(packages, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)
        return apt

    def test_nothing_missing(self) -> None:
        apt = self.machine(root=True, commands=["make", "ccache"])
        packages.require(["make", "libelf-dev", "ccache"])
        apt.assert_not_called()

    def test_others_are_told_in_one_line(self) -> None:
        apt = self.machine(root=False, commands=["make"])
        with self.assertRaises(Failure) as caught:
            packages.require(["make", "xz", "ccache", "libssl-dev", "libelf-dev"], ["linux-x"])
        self.assertEqual(
            caught.exception.message,
            "missing packages: xz-utils, libssl-dev, linux-x; as root, run: "
            "apt-get install --no-install-recommends xz-utils libssl-dev linux-x",
        )
        self.assertEqual(caught.exception.detail, ())
        apt.assert_not_called()

    def test_others_do_without_optional_tools(self) -> None:
        self.machine(root=False)
        packages.require(["ccache"])

    def test_root_gets_all_in_one_go(self) -> None:
        apt = self.machine(root=True, commands=["apt-get"])
        packages.require(["xz", "ccache"], ["linux-x"])
        self.assertEqual(apt.call_count, 1)
        self.assertEqual(apt.call_args.args[-3:], ("xz-utils", "linux-x", "ccache"))

    def test_lists_are_updated_when_they_are_old(self) -> None:
        apt = self.machine(root=True, commands=["apt-get"])
        apt.side_effect = [100, 0, 0]
        packages.require(["xz"])
        self.assertEqual(
            [call.args[1] for call in apt.call_args_list], ["install", "update", "install"]
        )

    def test_unknown_package(self) -> None:
        apt = self.machine(root=True, commands=["apt-get"], unknown="linux-x")
        with self.assertRaises(Failure) as caught:
            packages.require([], ["linux-x"])
        self.assertIn("linux-x", caught.exception.message)
        apt.assert_called_once_with("-qq", "update")

    def test_failed_install(self) -> None:
        apt = self.machine(root=True, commands=["apt-get"])
        apt.side_effect = [100, 0, 100]
        with self.assertRaises(Failure) as caught:
            packages.require(["xz"])
        self.assertIn("xz-utils", caught.exception.message)
