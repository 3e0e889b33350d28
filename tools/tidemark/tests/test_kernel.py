# SPDX-License-Identifier: GPL-2.0
"""When a kernel is built, when it is not, and the message of a failed build."""

import time
from unittest import mock

from tidemark import kbuild, kernel, packages
from tidemark.report import Failure

from . import fake


class KernelTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        for target in (
            mock.patch.object(packages, "require"),
            mock.patch.object(packages, "locate", return_value=None),
        ):
            target.start()
            self.addCleanup(target.stop)
        self.write("Kconfig", 'source "mm/Kconfig.ours"\n')
        self.write("mm/Kconfig.ours", 'config OURS\n\tbool "o"\n')
        self.fragment = self.write("kernel/configs/x.config", "CONFIG_A=y\n")
        overlay = ("mm/Kconfig.ours", "kernel/configs/x.config")
        self.write_hook("0001-x", fake.diff("mm/pages.c", fake.HUNK_10), overlay=overlay)

    def build(self, pristine: bool = False, flavour: str = "vm") -> kernel.Image:
        return kernel.build(self.obtain(), pristine, [self.fragment], flavour, self.layout)

    def builds(self, image: kernel.Image) -> int:
        return len((image.build / "builds").read_text().splitlines())

    def refused(self, pristine: bool = False) -> Failure:
        with self.assertRaises(Failure) as caught:
            self.build(pristine)
        return caught.exception

    def test_image(self) -> None:
        image = self.build()
        self.assertIn("hook 10", image.path.read_text())
        self.assertEqual(image.release, "6.12.99")
        self.assertEqual(image.config.read_text(), "CONFIG_A=y\n")
        self.assertEqual(image.build.name, "6.12-linux-vm")

    def test_pristine_image(self) -> None:
        image = self.build(pristine=True)
        self.assertEqual(image.path.read_text(), fake.PAGES)
        self.assertEqual(image.build.name, "6.12-linux-vm-pristine")
        self.assertNotEqual(self.build(flavour="debug").build, image.build)

    def test_is_not_built_twice(self) -> None:
        self.build()
        self.assertEqual(self.builds(self.build()), 1)
        self.fragment.write_text("CONFIG_A=y\nCONFIG_B=y\n")
        self.assertEqual(self.builds(self.build()), 2)

    def test_interrupted_build_goes_on(self) -> None:
        with (
            mock.patch.object(kernel._Build, "_show_warnings", side_effect=KeyboardInterrupt),
            self.assertRaises(KeyboardInterrupt),
        ):
            self.build()
        self.assertEqual(self.builds(self.build()), 2)

    def test_other_source_starts_afresh(self) -> None:
        self.build()
        (self.linux / "mm" / "other.c").write_text("")
        self.assertEqual(self.builds(self.build()), 1)

    def test_dropped_option(self) -> None:
        self.fragment.write_text("CONFIG_A=y\nCONFIG_DROPPED=y\n")
        self.assert_fails(self.refused(), "CONFIG_DROPPED", "asked for y", "x.config")
        self.fragment.write_text("CONFIG_FORCED=y\n")
        self.assert_fails(self.refused(), "CONFIG_FORCED", "asked for y, got m", "x.config")

    def test_pristine_has_no_options_of_ours(self) -> None:
        self.fragment.write_text("CONFIG_DROPPED=y\n")
        self.assert_fails(self.refused(pristine=True), "CONFIG_DROPPED")
        self.write("mm/Kconfig.ours", 'menuconfig DROPPED\n\tbool "d"\n')
        self.build(pristine=True)
        self.assert_fails(self.refused(), "CONFIG_DROPPED")

    def test_pristine_has_no_options_of_hooks(self) -> None:
        self.fragment.write_text("CONFIG_DROPPED=y\n")
        added = '@@ -1 +1,3 @@\n obj-y += pages.o\n+config DROPPED\n+\tbool "d"\n'
        self.write_hook("0002-x", fake.diff("mm/Makefile", added))
        self.build(pristine=True)

    def test_fragment_of_a_base(self) -> None:
        names = ("tidemark.config", "tidemark-lean.config", "tidemark-vm.config")
        common = [self.layout.fragments / name for name in names]
        self.assertEqual(kernel.fragments("6.12", self.layout), common)
        self.assertEqual(kernel.fragments("6.12", self.layout, kernel.LEAN), common[:2])
        own = "bases/6.12/kernel/configs/tidemark-lean-base.config"
        path = self.write(own, "CONFIG_C=y\n")
        self.assertEqual(kernel.fragments("6.12", self.layout, kernel.LEAN), [*common[:2], path])
        self.assertEqual(kernel.fragments("7.3", self.layout), common)

    def test_failed_build(self) -> None:
        text = self.layout.patches / "0001-x" / "6.12.diff"
        text.write_text(text.read_text().replace("hook 10", "broken"))
        failure = self.refused()
        self.assert_fails(failure, "bzImage", "build/kernel/6.12-linux-vm/build.log")
        self.assertIn("mm/pages.c:2:1: error: broken", failure.detail[0])
        text.write_text(text.read_text().replace("broken", "hook 10"))
        self.build()

    def test_warnings_are_shown(self) -> None:
        with mock.patch.object(kernel, "warning") as warning:
            self.build()
        warning.assert_called_once_with("mm/pages.c:3:1: warning: suspicious")

    def test_steps_are_counted_before_the_build(self) -> None:
        with mock.patch.object(kbuild, "StepCount", wraps=kbuild.StepCount) as steps:
            image = self.build()
        steps.assert_called_once_with(image.build / "build.log", 1)

    def test_progress(self) -> None:
        log = self.write("build.log", "  CC      before.o\n")
        with mock.patch.object(time, "monotonic", side_effect=[100, 130, 160]):
            steps = kbuild.StepCount(log, 4)
            self.assertEqual(steps(), "0 files")
            with log.open("a") as file:
                file.write("  CC      a.o\nwarning\n  AR      lib.a\n  CC      c")
            self.assertEqual(steps(), "2 of about 4 files, 0:30 left")
            with log.open("a") as file:
                file.write(".o\n")
            self.assertEqual(steps(), "3 of about 4 files, 0:20 left")
            with log.open("a") as file:
                file.write("  CC      d.o\n  LD      more\n")
            self.assertEqual(steps(), "5 files")

    def test_path_that_kbuild_refuses(self) -> None:
        layout = type(self.layout)(self.scratch / "with space")
        with self.assertRaises(Failure) as caught:
            kernel.build(self.obtain(), layout=layout)
        self.assert_fails(caught.exception, "with space")
