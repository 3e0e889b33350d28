# SPDX-License-Identifier: GPL-2.0
"""Preparing the tree: every way in which it can fail, and the files that it leaves alone."""

import os
from pathlib import Path

from tidemark import tree
from tidemark.report import Failure

from . import fake

OLD = 1_000_000_000


def contents(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()
    }


class TreeTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.base = self.obtain()
        self.before = contents(self.base.path)

    def tearDown(self) -> None:
        self.assertEqual(contents(self.base.path), self.before, "the base was changed")

    def prepare(self) -> Path:
        return tree.prepare(self.base, layout=self.layout)

    def prepare_good(self) -> Path:
        self.write("mm/new.c", "new\n")
        self.write_hook("0001-good", fake.diff("mm/pages.c", fake.HUNK_10), overlay=("mm/new.c",))
        return self.prepare()

    def assert_refused(self, *parts: str) -> Failure:
        """Preparing fails with these words, and leaves the directory of trees as it was."""
        trees = self.layout.build / "tree"
        before = contents(trees)
        with self.assertRaises(Failure) as caught:
            self.prepare()
        self.assert_fails(caught.exception, *parts)
        self.assertEqual(contents(trees), before)
        self.assertEqual(list(trees.glob(".*")), [])
        return caught.exception

    def test_overlay_and_hooks_are_in(self) -> None:
        self.write("tools/tidemark/inner.py", "never copied\n")
        self.write("README.md", "never copied\n")
        path = self.prepare_good()
        expected = self.before | {
            "mm/new.c": b"new\n",
            "mm/pages.c": fake.PAGES.replace("line 10\n", "hook 10\nline 10\n").encode(),
        }
        self.assertEqual(contents(path), expected)

    def test_pristine_is_the_base(self) -> None:
        self.prepare_good()
        path = tree.prepare(self.base, pristine=True, layout=self.layout)
        self.assertEqual(contents(path), self.before)

    def test_overlay_path_in_base(self) -> None:
        self.prepare_good()
        self.write("mm/Makefile", "ours\n")
        self.write_hook("0002-x", overlay=("mm/Makefile",))
        self.assert_refused("mm/Makefile", "exists in the base", "0002-x")

    def test_hunk_does_not_apply(self) -> None:
        self.prepare_good()
        broken = fake.HUNK_30.replace("line 29", "other").replace("line 30", "other")
        broken = broken.replace("line 28", "other").replace("line 31", "other")
        path = self.write_hook("0002-bad", fake.diff("mm/pages.c", fake.HUNK_10_AGAIN, broken))
        failure = self.assert_refused("0002-bad", "mm/pages.c", "hunk 2", "does not apply")
        number = path.read_text().splitlines().index("@@ -27,6 +28,7 @@ function") + 1
        self.assertEqual(
            failure.detail,
            (f"hunk 2, patches/0002-bad/6.12.diff:{number}: @@ -27,6 +28,7 @@ function",),
        )

    def test_hunk_with_fuzz(self) -> None:
        self.prepare_good()
        fuzzy = fake.HUNK_30.replace("line 27", "other")
        self.write_hook("0002-fuzzy", fake.diff("mm/pages.c", fuzzy))
        self.assert_refused("0002-fuzzy", "mm/pages.c", "hunk 1", "fuzz 1")

    def test_hunk_in_base_already(self) -> None:
        self.prepare_good()
        self.write_hook("0002-again", fake.diff("mm/pages.c", fake.HUNK_10))
        self.assert_refused("0002-again", "mm/pages.c", "hunk 1", "already")

    def test_file_not_in_base(self) -> None:
        self.write_hook("0001-x", fake.diff("mm/absent.c", fake.HUNK_10))
        self.assert_refused("0001-x", "mm/absent.c", "no such file")

    def test_hook_names_absent_overlay_file(self) -> None:
        self.write_hook("0001-x", overlay=("mm/absent.c",))
        self.assert_refused("0001-x", "mm/absent.c", "no such overlay file")

    def test_overlay_outside_of_the_allowed_paths(self) -> None:
        self.write("tools/tidemark/inner.py", "ours\n")
        self.write_hook("0001-x", overlay=("tools/tidemark/inner.py",))
        self.assert_refused("0001-x", "tools/tidemark/inner.py", "no such overlay file")

    def test_overlay_file_without_hook(self) -> None:
        self.prepare_good()
        self.write("kernel/configs/x.config", "CONFIG_X=y\n")
        self.assert_refused("kernel/configs/x.config", "no hook names")

    def test_overlay_file_of_one_base(self) -> None:
        self.write("bases/7.3/mm/other.c", "other\n")
        self.write("bases/7.3/mm/pages.c", "in this base already\n")
        self.write("bases/6.12/mm/own.c", "own\n")
        self.write_hook("0002-x", overlay=("mm/other.c", "mm/pages.c", "mm/own.c"))
        path = self.prepare_good()
        self.assertEqual((path / "mm" / "own.c").read_text(), "own\n")
        self.assertFalse((path / "mm" / "other.c").exists())
        self.assertIn("hook 10\n", (path / "mm" / "pages.c").read_text())

    def test_overlay_file_for_all_bases_and_one(self) -> None:
        self.prepare_good()
        self.write("bases/6.12/mm/new.c", "own\n")
        self.assert_refused("bases/6.12/mm/new.c", "mm/new.c is for the same place")

    def test_diff_for_every_base(self) -> None:
        self.write("patches/0001-x/message", fake.message())
        diff = self.write("patches/0001-x/any.diff", fake.diff("mm/pages.c", fake.HUNK_30))
        self.assertIn("hook 30\n", (self.prepare() / "mm" / "pages.c").read_text())
        diff.rename(diff.with_name("7.3.diff"))
        self.assert_refused("patches/0001-x/6.12.diff", "make port BASE=6.12")

    def test_overlay_file_with_two_hooks(self) -> None:
        self.prepare_good()
        self.write_hook("0002-x", overlay=("mm/new.c",))
        self.assert_refused("0002-x", "mm/new.c", "0001-good")

    def test_hook_changes_overlay_file(self) -> None:
        self.prepare_good()
        self.write_hook("0002-x", fake.diff("mm/new.c", "@@ -1 +1 @@\n-new\n+newer\n"))
        self.assert_refused("0002-x", "mm/new.c", "hunk 1")

    def test_malformed_patch(self) -> None:
        self.prepare_good()
        self.write_hook("0002-x", "no patch\n")
        self.assert_refused("0002-x", "malformed")

    def test_offset_is_fine(self) -> None:
        moved = fake.HUNK_30.replace("-27,6 +28,7", "-25,6 +25,7")
        self.write_hook("0001-moved", fake.diff("mm/pages.c", moved))
        path = self.prepare()
        self.assertIn("hook 30\nline 30\n", (path / "mm" / "pages.c").read_text())

    def test_hooks_build_on_each_other(self) -> None:
        self.prepare_good()
        self.write_hook("0002-next", fake.diff("mm/pages.c", fake.HUNK_10_AGAIN, fake.HUNK_30))
        text = (self.prepare() / "mm" / "pages.c").read_text()
        self.assertIn("hook 10\nhook 10 again\nline 10\n", text)
        self.assertIn("hook 30\nline 30\n", text)

    def test_nothing_is_done_twice(self) -> None:
        path = self.prepare_good()
        before = path.stat().st_ino
        self.assertEqual(self.prepare().stat().st_ino, before)

    def test_key_follows_from_content_alone(self) -> None:
        self.prepare_good()
        keys = [tree.ensure(self.base, False, self.layout).key]
        new = self.layout.root / "mm" / "new.c"
        os.utime(new, (OLD, OLD))
        self.assertEqual(tree.ensure(self.base, False, self.layout).key, keys[0])
        for text in ("newer\n", "new\n"):
            new.write_text(text)
            keys.append(tree.ensure(self.base, False, self.layout).key)
        new.chmod(0o755)
        keys.append(tree.ensure(self.base, False, self.layout).key)
        self.write_hook("0002-next", fake.diff("mm/pages.c", fake.HUNK_30))
        keys.append(tree.ensure(self.base, False, self.layout).key)
        self.assertEqual(keys[2], keys[0])
        self.assertEqual(len(set(keys)), 4)

    def test_unchanged_files_keep_their_time(self) -> None:
        path = self.prepare_good()
        for name in ("mm/new.c", "mm/pages.c"):
            os.utime(path / name, (OLD, OLD))
        self.write("mm/new.c", "newer\n")
        path = self.prepare()
        self.assertEqual((path / "mm" / "pages.c").stat().st_mtime, OLD)
        self.assertGreater((path / "mm" / "new.c").stat().st_mtime, OLD)

    def test_file_that_is_no_longer_changed_looks_new(self) -> None:
        os.utime(self.base.path / "mm" / "pages.c", (OLD, OLD))
        path = self.prepare_good()
        self.remove_hook("0001-good")
        self.write_hook("0001-less", overlay=("mm/new.c",))
        pages = self.prepare() / "mm" / "pages.c"
        self.assertEqual(pages.read_text(), fake.PAGES)
        reverted = pages.stat().st_mtime
        self.assertGreater(reverted, OLD)
        self.write("mm/new.c", "newer\n")
        self.prepare()
        self.assertEqual((path / "mm" / "pages.c").stat().st_mtime, reverted)

    def test_lineage_ends_with_the_tree(self) -> None:
        self.prepare_good()
        first = tree.ensure(self.base, False, self.layout).lineage
        self.write("mm/new.c", "newer\n")
        self.assertEqual(tree.ensure(self.base, False, self.layout).lineage, first)
        (self.layout.build / "tree" / f"{self.base.label}.json").unlink()
        self.assertNotEqual(tree.ensure(self.base, False, self.layout).lineage, first)

    def test_files_that_git_ignores_stay_out(self) -> None:
        fake.git(self.layout.root, "init", "-q")
        self.write(".gitignore", "*.o\n/build/\n")
        self.write("mm/new.o", "ignored\n")
        path = self.prepare_good()
        self.assertTrue((path / "mm" / "new.c").exists())
        self.assertFalse((path / "mm" / "new.o").exists())
