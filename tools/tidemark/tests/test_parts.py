# SPDX-License-Identifier: GPL-2.0
"""Parts of the series: they apply to the base alone, and have all that they need."""

import argparse

from tidemark import cover, hooks, kernel, parts, series, tree
from tidemark.hooks import Hook
from tidemark.layout import REPOSITORY
from tidemark.report import Failure

from . import fake

WHOLE = "Subject: mm: a series\n\nWhy.\n\n@RESULTS@\n\n@BASE@\n"
PART = "Subject: mm: a part\nPatches: {}\n\nWhy a part.\n\n@BASE@\n"
# It has a line of the first patch before it, and one of the second after it.
HUNK_BETWEEN = """\
@@ -8,6 +8,7 @@
 line 8
 line 9
 hook 10
+hook 10 between
 hook 10 again
 line 10
 line 11
"""
HUNK_REPLACING = """\
@@ -8,7 +8,7 @@
 line 8
 line 9
 hook 10
-hook 10 between
+hook 10 replaced
 hook 10 again
 line 10
 line 11
"""


class PartCase(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.write("bases/6.12/run.json", fake.RUN)
        self.write("patches/cover.txt", WHOLE)
        self.write("Kconfig", 'source "mm/Kconfig.first"\nsource "mm/Kconfig.third"\n')
        self.write("mm/Kconfig.first", 'config FIRST\n\tbool "f"\n')
        self.write("mm/Kconfig.third", 'config THIRD\n\tbool "t"\n')
        self.write("mm/third.c", "third\n")
        self.hook("0001-first", fake.HUNK_10, overlay=("mm/Kconfig.first",))
        self.hook("0002-second", fake.HUNK_10_AGAIN)
        self.hook("0003-third", HUNK_BETWEEN, overlay=("mm/Kconfig.third", "mm/third.c"))
        self.hook("0004-fourth", HUNK_REPLACING)
        self.base = self.obtain()
        self.part("alone", "0003")

    def hook(self, name: str, hunk: str, overlay: tuple[str, ...] = ()) -> None:
        self.write_hook(name, fake.diff("mm/pages.c", hunk), overlay=overlay)

    def part(self, name: str, numbers: str) -> None:
        self.write(f"patches/parts/{name}.txt", PART.format(numbers))

    def read(self, part: str) -> list[Hook]:
        return parts.read(part, self.base, self.layout)

    def assert_refused(self, part: str, *words: str) -> None:
        with self.assertRaises(Failure) as caught:
            self.read(part)
        self.assert_fails(caught.exception, *words)


class ReadTest(PartCase):
    def test_nothing_is_the_whole_series(self) -> None:
        self.assertEqual(self.read(""), hooks.read_all("6.12", self.layout))

    def test_hunks_apply_to_the_base(self) -> None:
        (hook,) = self.read("alone")
        self.assertEqual(hook.subject, "mm: x")
        self.assertEqual(sorted(hook.overlay), ["mm/Kconfig.third", "mm/third.c"])
        (diff,) = hook.diffs
        self.assertEqual((diff.added, diff.removed), (1, 0))
        self.assertEqual(diff.hunks[0].header, "@@ -7,6 +7,7 @@")
        body = (" line 7", " line 8", " line 9", "+hook 10 between", " line 10", " line 11")
        self.assertEqual(diff.hunks[0].body[:6], body)

    def test_patches_are_in_the_order_of_the_series(self) -> None:
        self.part("more", "0004 0003 0001")
        self.assertEqual(
            [hook.name[-5:] for hook in self.read("more")], ["first", "third", "ourth"]
        )

    def test_bad_lists(self) -> None:
        self.part("unknown", "0003 0009")
        self.assert_refused("unknown", "patches/parts/unknown.txt", "0009", "no such patch")
        self.write("patches/parts/none.txt", PART.replace("Patches: {}\n", ""))
        self.assert_refused("none", "patches/parts/none.txt", "Patches:")
        self.write("patches/parts/none.txt", "Why.\n")
        self.assert_refused("none", "patches/parts/none.txt:1", "Subject:")

    def test_line_of_a_patch_that_is_left_out(self) -> None:
        self.part("cut", "0001 0004")
        self.assert_refused(
            "cut", "PART=cut", "0004-fourth", "a line of patches/0003-third", "hook 10 between"
        )

    def test_file_of_a_patch_that_is_left_out(self) -> None:
        self.write("include/linux/fifth.h", "")
        self.write_hook("0005-fifth", overlay=("include/linux/fifth.h",))
        for text, named in (
            ("/* See mm/Kconfig.first. */\n", "mm/Kconfig.first, which comes with patches/0001"),
            ("#include <linux/fifth.h>\n", "linux/fifth.h, which comes with patches/0005-fifth"),
            ('#include "Kconfig.first"\n', "mm/Kconfig.first"),
        ):
            self.write("mm/third.c", text)
            self.assert_refused("alone", "alone.txt: mm/third.c names", named)
        self.write("mm/third.c", "/* x/mm/Kconfig.first, mm/Kconfig.first_x, Kconfig.first_x */\n")
        self.assertEqual(len(self.read("alone")), 1)

    def test_hunk_that_does_not_apply(self) -> None:
        self.hook("0005-fifth", fake.HUNK_30.replace("line 30", "other"))
        self.assert_refused("alone", "0005-fifth/6.12.diff: mm/pages.c: hunk 1", "not apply")

    def test_name_of_a_part(self) -> None:
        self.assert_refused("absent", "PART=absent", "there is: alone")
        args = argparse.Namespace(part="splice", pristine=True)
        with self.assertRaises(Failure) as caught:
            parts.chosen(args)
        self.assert_fails(caught.exception, "PART=splice", "PRISTINE=1")


class UseTest(PartCase):
    def content(self, part: str) -> str:
        path = tree.prepare(self.base, layout=self.layout, part=part)
        self.assertEqual(path.name, "6.12-linux-part" if part else "6.12-linux")
        return (path / "mm" / "pages.c").read_text()

    def test_trees(self) -> None:
        self.part("first", "0001")
        whole = self.content("")
        self.assertEqual(
            self.content("alone"), fake.PAGES.replace("line 10\n", "hook 10 between\nline 10\n")
        )
        self.assertFalse((self.layout.build / "tree/6.12-linux-part/mm/Kconfig.first").exists())
        self.assertEqual(
            self.content("first"), fake.PAGES.replace("line 10\n", "hook 10\nline 10\n")
        )
        self.assertFalse((self.layout.build / "tree/6.12-linux-part/mm/third.c").exists())
        self.assertEqual(self.content(""), whole)

    def test_options_that_a_kernel_lacks(self) -> None:
        for part, pristine, absent in (
            ("", False, set[str]()),
            ("alone", False, {"FIRST"}),
            ("", True, {"FIRST", "THIRD"}),
        ):
            found = kernel.absent_symbols(self.base, pristine, self.layout, part)
            self.assertEqual(found, absent)

    def test_mails(self) -> None:
        made = series.export(self.base, layout=self.layout, part="alone")
        self.assertEqual(made.path.name, "6.12-linux-alone")
        letter = made.cover.read_text()
        self.assertIn("Subject: [PATCH 0/1] mm: a part\n\nWhy a part.\n\nbase: Linux", letter)
        self.assertIn("upstream lines changed: 1 (+1 -0), 1 in code", letter)
        self.assertNotIn("Patches:", letter)
        (mail,) = made.mails
        fake.git(self.linux, "init", "-q")
        fake.git(self.linux, "add", "-f", ".")
        fake.git(self.linux, "commit", "-q", "-m", "base")
        fake.git(self.linux, "am", "-q", str(mail))
        self.assertEqual((self.linux / "mm" / "pages.c").read_text(), self.content("alone"))

    def test_page_of_more_than_a_page(self) -> None:
        lines = cover.MOST_LINES - len("base: ...\nupstream lines: ...\n".splitlines())
        for more, fits in ((0, True), (1, False)):
            text = PART.format("0003").replace("Why a part.\n\n", "x\n" * (lines + more))
            self.write("patches/parts/alone.txt", text)
            if fits:
                series.export(self.base, layout=self.layout, part="alone")
                continue
            with self.assertRaises(Failure) as caught:
                series.export(self.base, layout=self.layout, part="alone")
            self.assert_fails(caught.exception, "patches/parts/alone.txt: 61 lines", "at most 60")


class PagesTest(fake.Case):
    """The pages of this repository."""

    def test_each_is_one_page(self) -> None:
        base = self.obtain()
        for part in ("", *parts.names(REPOSITORY)):
            with self.subTest(part=part):
                page = parts.page(part, REPOSITORY)
                letter = self.write("letter", f"{cover.SUBJECT}\n{cover.BLURB}")
                cover.fill(letter, page, base, "upstream lines changed: 1", REPOSITORY)
                self.assertNotIn("\n@", letter.read_text())

    def test_each_part_has_patches(self) -> None:
        numbers = {path.name.partition("-")[0] for path in hooks.directories(REPOSITORY)}
        self.assertTrue(parts.names(REPOSITORY))
        for name in parts.names(REPOSITORY):
            self.assertLessEqual(set(parts.page(name, REPOSITORY).patches), numbers, name)
