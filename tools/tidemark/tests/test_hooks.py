# SPDX-License-Identifier: GPL-2.0
"""Reading of patches."""

from tidemark import hooks
from tidemark.report import Failure

from . import fake


class HooksTest(fake.Case):
    def read(self, text: str) -> hooks.Hook:
        return hooks.read(self.write("patches/6.12/0001-x.patch", text), self.layout)

    def assert_malformed(self, text: str, *parts: str) -> None:
        with self.assertRaises(Failure) as caught:
            self.read(text)
        self.assert_fails(caught.exception, "patches/6.12/0001-x.patch:", "malformed", *parts)

    def test_reads_files_hunks_and_overlay(self) -> None:
        text = fake.hook(
            fake.diff("mm/pages.c", fake.HUNK_10, fake.HUNK_30),
            fake.diff("mm/Makefile", "@@ -1 +1,2 @@\n obj-y += pages.o\n+obj-y += new.o\n"),
            overlay=("mm/new.c", "include/new.h"),
        )
        hook = self.read(text)
        self.assertEqual(hook.name, "patches/6.12/0001-x.patch")
        self.assertEqual(hook.overlay, ("mm/new.c", "include/new.h"))
        self.assertEqual([diff.path for diff in hook.diffs], ["mm/pages.c", "mm/Makefile"])
        self.assertEqual([len(diff.hunks) for diff in hook.diffs], [2, 1])
        self.assertEqual(list(hook.added_lines()), ["hook 10", "hook 30", "obj-y += new.o"])
        second = hook.diffs[0].hunks[1]
        self.assertEqual(text.splitlines()[second.line - 1], second.header)

    def test_takes_a_diffstat_and_no_newline_at_end(self) -> None:
        change = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"
        text = fake.hook(fake.diff("mm/x", change))
        hook = self.read(text.replace("---\n", "---\n mm/x | 2 +-\n 1 file changed\n", 1))
        self.assertEqual(len(hook.diffs[0].hunks[0].body), 3)

    def test_needs_a_message(self) -> None:
        good = fake.hook(fake.diff("mm/pages.c", fake.HUNK_10))
        self.assert_malformed(good.replace("Subject: ", "About: "), "Subject")
        self.assert_malformed(good.replace("Why.\n---\n", "Why.\n"), "`---`")
        self.assert_malformed("Subject: x\n---\n", "neither")
        self.assert_malformed(good.replace("Why.", "Overlay: mm/x.c"), "below")

    def test_counts_the_lines_of_hunks(self) -> None:
        def with_hunk(hunk: str) -> str:
            return fake.hook(fake.diff("mm/pages.c", hunk))

        where = "mm/pages.c: hunk 1"
        self.assert_malformed(with_hunk(fake.HUNK_10.replace("+7,7", "+7,6")), where)
        self.assert_malformed(with_hunk(fake.HUNK_10.replace("+7,7", "+7,9")), where)
        self.assert_malformed(with_hunk(fake.HUNK_10 + "+one more\n"), where, "more lines")
        self.assert_malformed(with_hunk(fake.HUNK_10 + "-one more\n"), where, "more lines")
        self.assert_malformed(with_hunk(fake.HUNK_10.replace("@@ -7", "@@ 7")), where, "header")
        self.assert_malformed(with_hunk(""), "no hunks")
        cut = with_hunk(fake.HUNK_10).split(" line 12")[0]
        self.assert_malformed(cut, where)

    def test_hooks_only_change_files(self) -> None:
        added = "--- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+x\n"
        self.assert_malformed(fake.hook(added), "overlay")
        renamed = "diff --git a/x b/y\nrename from x\nrename to y\n"
        self.assert_malformed(fake.hook(renamed), "rename from x")
        mode = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
        self.assert_malformed(fake.hook(mode), "old mode")

    def test_paths_stay_inside_the_tree(self) -> None:
        self.assert_malformed(fake.hook(fake.diff("../x", fake.HUNK_10)), "../x")
        self.assert_malformed(fake.hook(overlay=("/etc/x",)), "/etc/x")
