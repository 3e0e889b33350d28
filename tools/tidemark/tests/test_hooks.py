# SPDX-License-Identifier: GPL-2.0
"""Reading of patches."""

from tidemark import hooks
from tidemark.report import Failure

from . import fake


class HooksTest(fake.Case):
    def read(self, diff: str, message: str | None = None) -> hooks.Hook:
        self.write("patches/0001-x/message", fake.message() if message is None else message)
        self.write("patches/0001-x/6.12.diff", diff)
        return hooks.read_all("6.12", self.layout)[0]

    def assert_malformed(self, diff: str, *parts: str, message: str | None = None) -> None:
        with self.assertRaises(Failure) as caught:
            self.read(diff, message)
        self.assert_fails(caught.exception, "patches/0001-x", "malformed", *parts)

    def test_reads_files_hunks_and_overlay(self) -> None:
        for path in ("mm/new.c", "include/new.h", "bases/7.3/mm/other.h"):
            self.write(path, "")
        text = fake.diff("mm/pages.c", fake.HUNK_10, fake.HUNK_30)
        text += fake.diff("mm/Makefile", "@@ -1 +1,2 @@\n obj-y += pages.o\n+obj-y += new.o\n")
        hook = self.read(text, fake.message("mm/new.c", "mm/other.h", "include/new.h"))
        self.assertEqual(hook.name, "patches/0001-x")
        self.assertEqual(hook.source, "patches/0001-x/6.12.diff")
        self.assertEqual((hook.subject, hook.body), ("mm: x", "Why."))
        self.assertEqual(list(hook.overlay), ["mm/new.c", "include/new.h"])
        self.assertEqual([diff.path for diff in hook.diffs], ["mm/pages.c", "mm/Makefile"])
        self.assertEqual([len(diff.hunks) for diff in hook.diffs], [2, 1])
        self.assertEqual([(diff.added, diff.removed) for diff in hook.diffs], [(2, 0), (1, 0)])
        self.assertEqual(list(hook.added_lines()), ["hook 10", "hook 30", "obj-y += new.o"])
        second = hook.diffs[0].hunks[1]
        self.assertEqual(text.splitlines()[second.line - 1], second.header)

    def test_takes_no_newline_at_end(self) -> None:
        change = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"
        hook = self.read(fake.diff("mm/x", change))
        self.assertEqual(len(hook.diffs[0].hunks[0].body), 3)

    def test_a_removed_line_that_looks_like_a_header(self) -> None:
        hook = self.read(fake.diff("mm/x", "@@ -1,2 +1 @@\n a\n--- a/mm/y\n"))
        self.assertEqual([diff.path for diff in hook.diffs], ["mm/x"])

    def test_needs_a_message(self) -> None:
        good = fake.diff("mm/pages.c", fake.HUNK_10)
        self.assert_malformed(good, "subject", message="mm: x\nWhy.\n")
        self.assert_malformed(good, "subject", message="")
        self.assert_malformed(good, "last paragraph", message="mm: x\n\nOverlay: y\n\nWhy.\n")
        (self.layout.patches / "0001-x" / "6.12.diff").unlink()
        with self.assertRaises(Failure) as caught:
            hooks.read_all("6.12", self.layout)
        self.write("patches/0001-x/message", fake.message())
        with self.assertRaises(Failure) as caught:
            hooks.read_all("6.12", self.layout)
        self.assert_fails(caught.exception, "patches/0001-x", "neither")

    def test_counts_the_lines_of_hunks(self) -> None:
        def with_hunk(hunk: str) -> str:
            return fake.diff("mm/pages.c", hunk)

        where = "6.12.diff"
        for hunk in (
            fake.HUNK_10.replace("+7,7", "+7,6"),
            fake.HUNK_10.replace("+7,7", "+7,9"),
            fake.HUNK_10 + "+one more\n",
            fake.HUNK_10 + "-one more\n",
            fake.HUNK_10.replace("@@ -7", "@@ 7"),
            fake.HUNK_10.split(" line 12")[0],
            "",
        ):
            with self.subTest(hunk):
                self.assert_malformed(with_hunk(hunk), where)

    def test_hooks_only_change_files(self) -> None:
        added = "--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+x\n"
        self.assert_malformed(added, "overlay")
        renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
        self.assert_malformed(renamed, "rename x => y")
        mode = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
        self.assert_malformed(mode, "mode change")

    def test_paths_stay_inside_the_tree(self) -> None:
        self.assert_malformed(fake.diff("../x", fake.HUNK_10), "../x")
        self.assert_malformed("", "/etc/x", message=fake.message("/etc/x"))

    def test_a_base_without_a_diff(self) -> None:
        self.read(fake.diff("mm/pages.c", fake.HUNK_10))
        self.assertEqual(hooks.missing("7.3", self.layout), ["patches/0001-x/7.3.diff"])
        with self.assertRaises(Failure) as caught:
            hooks.read_all("7.3", self.layout)
        self.assert_fails(caught.exception, "patches/0001-x/7.3.diff", "make port BASE=7.3")
