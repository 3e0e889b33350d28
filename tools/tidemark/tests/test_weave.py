# SPDX-License-Identifier: GPL-2.0
"""The weave of a file: each choice of patches gives the file that those would have made."""

import unittest

from tidemark.weave import Change, Conflict, Weave


def text(letters: str) -> str:
    """A file with a letter in each line."""
    return "".join(f"{letter}\n" for letter in letters)


BASE = text("abcdefghi")


def woven(*patches: tuple[str, list[Change]], base: str = BASE) -> Weave:
    weave = Weave(base)
    for name, changes in patches:
        weave.add(name, changes)
    return weave


def change(start: int, body: str) -> Change:
    """A hunk, with its lines separated by bars."""
    return Change(start, tuple(body.split("|")))


FIRST = ("first", [change(0, " a|+1| b"), change(6, " g|-h|+H| i")])
SECOND = ("second", [change(1, " 1|+2| b"), change(8, "-H|+X")])
THIRD = ("third", [change(3, " b|+3| c"), change(10, " i|+j")])


class VersionTest(unittest.TestCase):
    def test_none_is_the_base_and_all_is_the_series(self) -> None:
        weave = woven(FIRST, SECOND, THIRD)
        self.assertEqual(weave.version(()), BASE)
        self.assertEqual(weave.version({"first", "second", "third"}), text("a12b3cdefgXij"))

    def test_a_patch_alone(self) -> None:
        weave = woven(FIRST, SECOND, THIRD)
        self.assertEqual(weave.version({"first"}), text("a1bcdefgHi"))
        self.assertEqual(weave.version({"third"}), text("ab3cdefghij"))

    def test_line_that_a_later_patch_removes(self) -> None:
        weave = woven(FIRST, SECOND)
        self.assertEqual(weave.version({"first", "second"}), text("a12bcdefgXi"))
        with self.assertRaisesRegex(Conflict, "removes a line of first: 'H'"):
            weave.version({"second"})

    def test_line_beside_one_that_another_patch_replaces(self) -> None:
        """The new line has its neighbours of the base, whether or not they were replaced."""
        replaced = ("x", [change(2, "-c|+C")])
        weave = woven(
            *(replaced, ("before", [change(1, " b|+<| C")]), ("after", [change(3, " C|+>| d")]))
        )
        self.assertEqual(weave.version({"before", "after"}), text("ab<c>defghi"))
        self.assertEqual(weave.version({"x", "after"}), text("abC>defghi"))

    def test_hunk_without_context(self) -> None:
        weave = woven(("end", [change(9, "+z")]), ("start", [change(0, "+0")]))
        self.assertEqual(weave.version({"end"}), BASE + text("z"))
        self.assertEqual(weave.version({"start", "end"}), text("0abcdefghiz"))


class ChangesTest(unittest.TestCase):
    def test_hunks_on_the_patches_before(self) -> None:
        weave = woven(FIRST, SECOND, THIRD)
        self.assertEqual(
            weave.changes((), "third"), [change(0, " a| b|+3| c| d| e"), change(6, " g| h| i|+j")]
        )
        self.assertEqual(weave.changes({"third"}, "first")[0], change(0, " a|+1| b| 3| c"))

    def test_they_make_the_version(self) -> None:
        made = woven(FIRST, SECOND, THIRD)
        again = Weave(BASE)
        before: set[str] = set()
        for name in ("first", "third"):
            again.add(name, made.changes(before, name))
            before.add(name)
            self.assertEqual(again.version(before), made.version(before))

    def test_close_changes_are_one_hunk(self) -> None:
        base = "".join(f"{number}\n" for number in range(20))
        for distance, hunks in ((7, 1), (8, 2)):
            changes = [change(3, "-3"), change(3 + distance, f"-{3 + distance}")]
            weave = woven(("x", changes), base=base)
            self.assertEqual(len(weave.changes((), "x")), hunks)
