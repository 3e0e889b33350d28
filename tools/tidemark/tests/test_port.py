# SPDX-License-Identifier: GPL-2.0
"""Porting: what a new base copies, and the verdict on each hunk."""

from pathlib import Path

from tidemark import hooks, port, tree
from tidemark.report import Failure

from . import fake


class PortTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.write("bases/5.4/recipe", "package = linux-older\ntarball = x.tar.xz\nchecked = 1\n")

    def verdicts(self) -> list[str]:
        return [port.line(each) for each in port.attempt(self.obtain(), self.layout)]

    def test_copies_what_is_missing_and_overwrites_nothing(self) -> None:
        copied = self.write_hook("0001-x", fake.diff("mm/pages.c", fake.HUNK_10), base="5.4")
        self.write_hook("0002-y", fake.diff("mm/pages.c", fake.HUNK_30), base="5.4")
        kept = self.write("patches/0002-y/6.12.diff", "own\n")
        self.write_hook("0003-z", fake.diff("mm/pages.c", fake.HUNK_30), base="any")
        header = self.write("bases/5.4/mm/only.h", "older\n")
        port.copy("5.4", "6.12", self.layout)
        self.assertEqual(copied.with_name("6.12.diff").read_text(), copied.read_text())
        self.assertEqual(kept.read_text(), "own\n")
        self.assertFalse((self.layout.patches / "0003-z" / "6.12.diff").exists())
        self.assertEqual((self.layout.bases / "6.12/mm/only.h").read_text(), header.read_text())

    def test_bad_origin(self) -> None:
        for origin in ("6.12", "9.9"):
            with self.assertRaises(Failure) as caught:
                port.copy(origin, "6.12", self.layout)
            self.assert_fails(caught.exception, origin)

    def test_a_verdict_for_each_hunk(self) -> None:
        moved = fake.HUNK_30.replace("-27,6 +28,7", "-25,6 +26,7")
        self.write_hook("0001-x", fake.diff("mm/pages.c", fake.HUNK_10, moved))
        broken = fake.HUNK_30.replace("line 29", "other").replace("line 30", "other")
        fuzzy = fake.HUNK_10_AGAIN.replace("line 8", "other")
        self.write_hook(
            "0002-y", fake.diff("mm/pages.c", fuzzy, broken), fake.diff("mm/no.c", fake.HUNK_10)
        )
        self.write_hook("0003-z", fake.diff("mm/pages.c", fake.HUNK_30))
        first, second, third = (
            f"patches/{name}/6.12.diff" for name in ("0001-x", "0002-y", "0003-z")
        )
        self.assertEqual(
            self.verdicts(),
            [
                f"applied {first}:4: mm/pages.c",
                f"moved   {first}:12: mm/pages.c: by 2 lines",
                f"failed  {second}:4: mm/pages.c: needs fuzz 1",
                f"failed  {second}:12: mm/pages.c: does not apply",
                f"failed  {second}:23: mm/no.c: no such file in the base",
                f"failed  {third}:4: mm/pages.c: already in the base",
            ],
        )

    def test_a_hunk_that_needs_fuzz_fails_alone(self) -> None:
        fuzzy = fake.HUNK_10.replace("line 7", "other")
        self.write_hook("0001-x", fake.diff("mm/pages.c", fuzzy))
        self.write_hook("0002-y", fake.diff("mm/pages.c", fake.HUNK_10_AGAIN))
        self.assertEqual([line.split()[0] for line in self.verdicts()], ["failed", "applied"])

    def test_moved_hunks_get_their_lines(self) -> None:
        moved = fake.HUNK_30.replace("-27,6 +28,7", "-25,6 +26,7")
        own = self.write_hook("0001-x", fake.diff("mm/pages.c", fake.HUNK_10, moved))
        shared = self.write("patches/0002-y/message", fake.message()).with_name(hooks.ANY)
        again = fake.HUNK_10_AGAIN.replace("-8,6 +8,7", "-4,6 +4,7")
        shared.write_text(fake.diff("mm/pages.c", again))
        port.renumber(port.attempt(self.obtain(), self.layout), self.layout)
        self.assertEqual(own.read_text(), fake.diff("mm/pages.c", fake.HUNK_10, fake.HUNK_30))
        self.assertEqual(shared.read_text(), fake.diff("mm/pages.c", again))
        self.assertTrue(Path(tree.prepare(self.obtain(), layout=self.layout)).is_dir())
