# SPDX-License-Identifier: GPL-2.0
"""Checking a series: whole trees, each commit, each variant."""

from unittest import mock

from tidemark import affected, check_series, difference, packages, series, variants
from tidemark.config import Wish
from tidemark.report import Failure

from . import fake

BREAK = fake.HUNK_10.replace("hook 10", "broken")
MEND = """\
@@ -7,7 +7,7 @@
 line 7
 line 8
 line 9
-broken
+hook 10
 line 10
 line 11
 line 12
"""
KCONFIG = """\
config A
\tbool "a"
\tselect HIDDEN

config A_KUNIT_TEST
\tbool "a" if !KUNIT_ALL_TESTS

config HIDDEN
\tbool
"""


class CheckSeriesTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        for target in (
            mock.patch.object(packages, "require"),
            mock.patch.object(packages, "locate", return_value=None),
        ):
            target.start()
            self.addCleanup(target.stop)
        self.write("bases/6.12/run.json", fake.RUN)
        self.write("patches/cover.txt", "Subject: s\n\n@RESULTS@\n@BASE@\n")
        self.write("Kconfig", 'source "mm/Kconfig.ours"\n')
        self.write("mm/Kconfig.ours", KCONFIG)
        self.write("kernel/configs/tidemark.config", "CONFIG_A=y\nCONFIG_A_KUNIT_TEST=y\n")
        self.write("kernel/configs/tidemark-lean.config", "CONFIG_B=y\n")
        self.write("kernel/configs/tidemark-vm.config", "")
        self.hook("0001-x", fake.HUNK_10)
        fragments = (*(f"kernel/configs/tidemark{name}.config" for name in ("", "-lean", "-vm")),)
        self.write_hook("0003-z", overlay=("mm/Kconfig.ours", *fragments))
        self.base = self.obtain()

    def hook(self, name: str, hunk: str) -> None:
        self.write_hook(name, fake.diff("mm/pages.c", hunk))

    def build(self) -> None:
        exported = series.export(self.base, layout=self.layout)
        check_series.build_commits(self.base, exported.hooks, self.layout)

    def objects(self, variant: str) -> list[str]:
        path = self.layout.build / "kernel" / f"6.12-linux-series-{variant}" / "objects"
        return path.read_text().splitlines()

    def test_each_variant_of_each_commit(self) -> None:
        self.build()
        self.assertEqual(self.objects("none"), ["mm/pages.o 1 -Werror", "mm/pages.o 1 -Werror"])
        self.assertEqual(self.objects("all"), ["mm/pages.o 3 -Werror"])

    def test_commit_that_a_later_one_mends(self) -> None:
        self.hook("0001-x", BREAK)
        self.hook("0002-y", MEND)
        with self.assertRaises(Failure) as caught:
            self.build()
        self.assert_fails(caught.exception, "0001-x", "none", "mm/pages.o")
        self.assertIn("error: broken", "\n".join(caught.exception.detail))

    def test_second_run_starts_at_the_base(self) -> None:
        self.hook("0002-y", fake.HUNK_10_AGAIN)
        self.build()
        self.build()
        tree = self.layout.build / "check-series" / "6.12-linux"
        expected = fake.PAGES.replace("line 10\n", "hook 10\nhook 10 again\nline 10\n")
        self.assertEqual((tree / "mm" / "pages.c").read_text(), expected)
        self.assertEqual((self.base.path / "mm" / "pages.c").read_text(), fake.PAGES)

    def test_whole_tree(self) -> None:
        exported = series.export(self.base, layout=self.layout)
        check_series.apply_to_whole_tree(self.base, exported, self.layout)
        self.assertEqual((self.base.path / "mm" / "pages.c").read_text(), fake.PAGES)
        mail = exported.mails[0]
        mail.write_text(mail.read_text().replace("+hook 10", "+hook 11"))
        with self.assertRaises(Failure) as caught:
            check_series.apply_to_whole_tree(self.base, exported, self.layout)
        self.assert_fails(caught.exception, "another tree", "mm/pages.c")


class VariantsTest(fake.Case):
    def test_off_alone_and_all(self) -> None:
        self.assertEqual(
            variants.of({"A", "A_KUNIT_TEST", "B"}),
            {
                "none": frozenset(),
                "all": frozenset({"A", "A_KUNIT_TEST", "B"}),
                "only-a": frozenset({"A", "A_KUNIT_TEST"}),
                "only-b": frozenset({"B"}),
            },
        )
        self.assertEqual(list(variants.of({"A"})), ["none", "all"])
        self.assertEqual(list(variants.of(set())), ["none"])

    def test_what_is_asked_for(self) -> None:
        fragments = {name: Wish(name, "y", "x.config") for name in ("A", "C")}
        asked = variants.wishes(fragments, {"A", "B"}, {"B"})
        self.assertEqual(
            {name: wish.value for name, wish in asked.items()}, {"A": "n", "B": "y", "C": "y"}
        )


class AffectedTest(fake.Case):
    def test_objects_that_a_makefile_has(self) -> None:
        (self.linux / "mm" / "Makefile").write_text(
            "obj-y := pages.o \\\n\tother.o\nobj-$(CONFIG_A) += a.o\nab-y := b.o\n"
        )
        for name in ("pages", "other", "a", "b", "included"):
            (self.linux / "mm" / f"{name}.c").write_text("")
        paths = [f"mm/{name}.c" for name in ("a", "b", "absent", "included", "other", "pages")]
        always = ["mm/b.c", "mm/other.c", "mm/pages.c"]
        self.assertEqual(affected.built(paths, self.linux, {}), always)
        self.assertEqual(affected.built(paths, self.linux, {"A": "y"}), ["mm/a.c", *always])

    def test_what_the_kernel_is_made_of(self) -> None:
        self.assertTrue(affected.matters("include/linux/x.h"))
        for path in ("kernel/configs/x.config", "Documentation/x.rst", "tools/testing/x.c"):
            self.assertFalse(affected.matters(path))
        self.assertIn("mm/x.c", affected.candidates(["mm/x.c", "mm/x.h", "tools/x.c"]))


class DifferenceTest(fake.Case):
    def test_what_counts(self) -> None:
        other = self.scratch / "other"
        fake.write_kernel(other)
        self.assertEqual(difference.between(self.linux, other), [])
        (other / ".git").mkdir()
        (other / ".git" / "x").write_text("")
        (other / "mm" / "new.c").write_text("")
        (other / "mm" / "pages.c").write_text("x\n")
        (other / "Makefile").chmod(0o755)
        (other / "mm" / "Makefile").unlink()
        (other / "mm" / "Makefile").symlink_to("pages.c")
        self.assertEqual(
            difference.between(self.linux, other),
            ["Makefile", "mm/Makefile", "mm/new.c", "mm/pages.c"],
        )
