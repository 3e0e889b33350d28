# SPDX-License-Identifier: GPL-2.0
"""The mails: their content and author, and that applying them gives the prepared tree."""

import subprocess
from pathlib import Path
from unittest import mock

from tidemark import difference, gitrepo, overlay, patch, series, tree
from tidemark.report import Failure

from . import fake

COVER = "Subject: mm: a series\n\nWhy.\n\n@RESULTS@\n\n@BASE@\n"


class SeriesTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.write("bases/6.12/run.json", fake.RUN)
        self.write("patches/cover.txt", COVER)
        self.write("mm/new.c", "new\n").chmod(0o755)
        self.write("mm/.hidden.c", "late\n")
        self.write_hook("0001-x", fake.diff("mm/pages.c", fake.HUNK_10), overlay=("mm/new.c",))
        second = fake.diff("mm/pages.c", fake.HUNK_10_AGAIN, fake.HUNK_30)
        self.write_hook("0002-y", second, overlay=("mm/.hidden.c",))
        (self.linux / ".gitattributes").write_text("*.c diff=cpp\n")
        (self.linux / ".gitignore").write_text(".*\n")
        self.base = self.obtain()

    def export(self, signoff: bool = False) -> series.Series:
        return series.export(self.base, signoff, self.layout)

    def test_git_am_gives_the_tree_from_a_whole_kernel(self) -> None:
        made = self.export()
        fake.git(self.linux, "init", "-q")
        fake.git(self.linux, "add", "-f", ".")
        fake.git(self.linux, "commit", "-q", "-m", "base")
        fake.git(self.linux, "am", "-q", "--3way", *map(str, made.mails))
        prepared = tree.prepare(self.base, layout=self.layout)
        for path in ("mm/new.c", "mm/.hidden.c", "mm/pages.c"):
            self.assertEqual((self.linux / path).read_bytes(), (prepared / path).read_bytes())
        self.assertTrue((self.linux / "mm" / "new.c").stat().st_mode & 0o100)

    def test_one_patch_gives_the_tree_too(self) -> None:
        path = patch.export(self.base, self.layout)
        self.assertEqual(path, self.layout.build / "patch" / "tidemark-6.12-linux.patch")
        subprocess.run(["patch", "-s", "-p1", "-i", path], cwd=self.linux, check=True)
        prepared = tree.prepare(self.base, layout=self.layout)
        self.assertEqual(difference.between(self.linux, prepared), [])

    def test_mails(self) -> None:
        made = self.export()
        self.assertEqual(made.path, self.layout.build / "series" / "6.12-linux")
        self.assertEqual(
            sorted(path.name for path in made.path.iterdir()),
            ["0000-cover-letter.patch", "0001-mm-x.patch", "0002-mm-x.patch"],
        )
        text = made.mails[0].read_text()
        self.assertIn("Subject: [PATCH 1/2] mm: x\n\nWhy.\n---\n", text)
        self.assertIn("From: Tidemark <tidemark@localhost>\n", text)
        self.assertNotIn("Overlay", text)
        self.assertNotIn("Signed-off-by", text)

    def test_cover_letter(self) -> None:
        text = self.export().cover.read_text()
        self.assertIn("Subject: [PATCH 0/2] mm: a series\n\nWhy.\n\n    Unpacking a", text)
        self.assertRegex(text, r"\n    alone +1\.00 s .*\n")
        self.assertIn("\n\nbase: Linux 6.12.99 (", text)
        self.assertIn("upstream lines changed: 3 (+3 -0), 3 in code", text)
        self.assertIn(" mm/pages.c   | 3 +++", text)
        self.assertNotIn("***", text)

    def test_cover_letter_without_a_place(self) -> None:
        for text, missed in (
            (COVER.replace("@RESULTS@", ""), "@RESULTS@"),
            (COVER.replace("@BASE@", "@BASE@\n@MORE@"), "@MORE@"),
            ("Why.\n\n@BASE@\n", "Subject"),
        ):
            self.write("patches/cover.txt", text)
            with self.assertRaises(Failure) as caught:
                self.export()
            self.assert_fails(caught.exception, "patches/cover.txt", missed)

    def test_cover_letter_without_figures(self) -> None:
        self.write("bases/6.12/run.json", "{}")
        with self.assertRaises(Failure) as caught:
            self.export()
        self.assert_fails(caught.exception, "bases/6.12/run.json", "make results")

    def test_is_the_same_every_time(self) -> None:
        first = [mail.read_bytes() for mail in sorted(self.export().path.iterdir())]
        self.assertEqual(
            [mail.read_bytes() for mail in sorted(self.export().path.iterdir())], first
        )

    def test_signed_off(self) -> None:
        who = gitrepo.Identity("A B", "a@b.c")
        with mock.patch.object(series, "identity_of_user", return_value=who):
            text = self.export(signoff=True).mails[0].read_text()
        self.assertIn("From: A B <a@b.c>\n", text)
        self.assertIn("\nSigned-off-by: A B <a@b.c>\n---\n", text)

    def test_identity_of_nobody(self) -> None:
        nowhere = {"HOME": str(self.scratch), "PATH": "/usr/bin:/bin"}
        with (
            mock.patch.dict("os.environ", nowhere, clear=True),
            self.assertRaises(Failure) as caught,
        ):
            gitrepo.identity_of_user(self.scratch)
        self.assert_fails(caught.exception, "SIGNOFF=1", "user.name")
        fake.git(self.linux, "init", "-q")
        fake.git(self.linux, "config", "user.name", "A B")
        fake.git(self.linux, "config", "user.email", "a@b.c")
        self.assertEqual(gitrepo.identity_of_user(self.linux), gitrepo.Identity("A B", "a@b.c"))

    def test_mails_that_give_another_tree(self) -> None:
        tree.prepare(self.base, layout=self.layout)

        def left_out(path: str, source: Path, stage: Path) -> None:
            if path != "mm/new.c":
                copy(path, source, stage)

        copy = overlay.copy
        with (
            mock.patch.object(overlay, "copy", left_out),
            self.assertRaises(Failure) as caught,
        ):
            self.export()
        self.assert_fails(caught.exception, "mm/new.c", "differs")
        self.assertFalse((self.layout.build / "series" / "6.12-linux").exists())

    def test_white_space_that_git_am_warns_of(self) -> None:
        self.write("mm/new.c", "new \n")
        with self.assertRaises(Failure) as caught:
            self.export()
        self.assert_fails(caught.exception, "git am", "mm/new.c: trailing whitespace")

    def test_user_configuration_has_no_say(self) -> None:
        home = self.scratch / "home"
        home.mkdir()
        (home / ".gitconfig").write_text("[format]\n\tsubjectPrefix = MINE\n\tsignoff = true\n")
        with mock.patch.dict("os.environ", {"HOME": str(home)}):
            self.assertIn("[PATCH 1/2]", self.export().mails[0].read_text())


class BoundaryTest(fake.Case):
    def test_what_is_deleted_has_a_name(self) -> None:
        """A deleted file or Overlay: line stops the series before anything is exported."""
        self.write("bases/6.12/run.json", fake.RUN)
        self.write("patches/cover.txt", COVER)
        file = self.write("mm/new.c", "new\n")
        self.write_hook("0001-x", overlay=("mm/new.c",))
        found = self.obtain()
        file.unlink()
        with self.assertRaises(Failure) as caught:
            series.export(found, layout=self.layout)
        self.assert_fails(caught.exception, "0001-x", "mm/new.c")
        file.write_text("new\n")
        self.remove_hook("0001-x")
        with self.assertRaises(Failure) as caught:
            series.export(found, layout=self.layout)
        self.assert_fails(caught.exception, "mm/new.c", "no hook names")
