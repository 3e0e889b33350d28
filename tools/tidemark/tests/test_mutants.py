# SPDX-License-Identifier: GPL-2.0
"""Mutants: the data file, where they go in a source file, and what the guest's results mean."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tidemark import console, mutants, mutation, overlay, vm
from tidemark.layout import REPOSITORY
from tidemark.mutants import Result, Run
from tidemark.mutation import Data, Mutant, Without
from tidemark.report import Failure

from . import fake

SOURCE = """\
/* limit_of(): the limit */
static int limit_of(int pages);

static int
limit_of(int pages)
{
	if (pages < 0 ||
	    pages > 100)
		return -1;
	return pages;
}

int other(int pages)
{
	count(pages);
	return pages;
}
"""
DATA = """\
note = '''
Some.
'''

[mutant.negative]
file = "mm/a.c"
function = "limit_of"
old = "pages < 0 || pages > 100"
new = "pages > 100"
tests = ["test_a.test_limit", "a.a_test_limit", "test_b_v1.test_moves"]

[mutant.one-base]
base = "7.3"
file = "mm/a.c"
function = "other"
old = "count(pages);"
new = ""
tests = ["test_a.test_limit"]
seconds = 5

[[without]]
tests = ["test_a.test_slow"]
reason = "time"

[[without]]
base = "7.3"
tests = ["test_b_v1.test_moves"]
reason = "skipped there"
"""


MUTANT = Mutant(
    *(1, "m1", "mm/a.c", "limit_of", "pages < 0 || pages > 100", "0"),
    tests=("test_a.test_x",),
    seconds=9,
    survives="",
    numbers=(1,),
)


def mutant(
    number: int = 1,
    /,
    function: str = MUTANT.function,
    old: str = MUTANT.old,
    new: str = MUTANT.new,
) -> Mutant:
    changed = replace(MUTANT, function=function, old=old, new=new)
    return replace(changed, number=number, numbers=(number,), name=f"m{number}")


class DataTest(fake.Case):
    def test_bases(self) -> None:
        data = mutation.read(DATA, "6.12")
        self.assertEqual([each.name for each in data.mutants], ["negative"])
        self.assertEqual(data.without, [Without(("test_a.test_slow",), "time")])
        self.assertIn("test_b_v1.test_moves", data.mutants[0].tests)
        data = mutation.read(DATA, "7.3")
        self.assertEqual([each.seconds for each in data.mutants], [mutation.SECONDS, 5])
        self.assertNotIn("test_b_v1.test_moves", data.mutants[0].tests)
        self.assertEqual(len(data.without), 2)
        self.assertEqual(data.note, "Some.\n")

    def test_errors(self) -> None:
        for text, says in (
            ("[mutant.x]\nfile = 'a'\n", "x: no value for function"),
            (DATA.replace("seconds", "second"), "one-base: unknown: second"),
            ("[mutant", "mutants.toml"),
            (DATA.replace("seconds = 5", "also = ['x']"), "one-base: no such mutant: x"),
        ):
            with self.assertRaises(Failure) as caught:
                mutation.read(text, "7.3")
            self.assert_fails(caught.exception, says)

    def test_each_test_has_one(self) -> None:
        data = mutation.read(DATA, "6.12")
        every = ["test_a.test_limit", "test_a.test_slow", "test_b_v1.test_moves", "a"]
        mutation.require_all(data, every)
        with self.assertRaises(Failure) as caught:
            mutation.require_all(data, [*every, "b"])
        self.assert_fails(caught.exception, "no mutant for b")
        with self.assertRaises(Failure) as caught:
            mutation.require_all(data, every[:2])
        self.assert_fails(caught.exception, "no such test")

    def test_own_data(self) -> None:
        """Each test of the repository has a mutant in each base, or a reason."""
        for base in ("6.12", "7.3"):
            data = mutation.read(mutation.DATA.read_text(), base)
            mutation.require_all(data, mutation.every_test(REPOSITORY))

    def test_own_places(self) -> None:
        """Each mutant of a file of ours has its text there. Those of upstream's need a tree."""
        for base in ("6.12", "7.3"):
            found = mutation.read(mutation.DATA.read_text(), base).mutants
            for file in sorted({mutant.file for mutant in found}):
                if path := overlay.for_base(base, REPOSITORY).get(file):
                    here = [mutant for mutant in found if mutant.file == file]
                    self.assertIn("tidemark_mutant", mutation.mutate(path.read_text(), here))

    def test_choice(self) -> None:
        found = mutation.read(DATA, "7.3").mutants
        self.assertEqual(len(mutants.chosen(found, "")), 2)
        self.assertEqual([m.name for m in mutants.chosen(found, "one-base")], ["one-base"])
        self.assertEqual(len(mutants.chosen(found, "a.a_test_limit")), 1)
        with self.assertRaises(Failure):
            mutants.chosen(found, "two-base")

    def test_two_at_a_time(self) -> None:
        text = DATA.replace("seconds = 5", "also = ['negative']")
        first, second = mutation.read(text, "7.3").mutants
        self.assertEqual((first.numbers, second.numbers), ((1, 2), (2,)))
        broken = mutation.mutate(SOURCE, [first, second])
        self.assertIn("(tidemark_mutant == 1 || tidemark_mutant == 2 ? (pages > 100) : ", broken)
        page = mutants.markdown("7.3", Data([first, second], [], ""), [], {})
        self.assertIn("| `other()`; `limit_of()` | `count(pages);`; `pages < 0", page)


class PlaceTest(fake.Case):
    def test_expression(self) -> None:
        text = mutation.mutate(SOURCE, [mutant(), mutant(2, new="pages < 0")])
        self.assertIn(
            "if ((tidemark_mutant == 1 ? (0) : tidemark_mutant == 2 ? (pages < 0) : "
            "(pages < 0 ||\n\t    pages > 100)))",
            text,
        )

    def test_statement(self) -> None:
        wanted = mutant(3, function="other", old="count(pages);", new=";")
        text = mutation.mutate(SOURCE, [wanted])
        self.assertIn("{ if (tidemark_mutant == 3) { ; } else { count(pages); } }", text)

    def test_not_once(self) -> None:
        for changed, says in (
            ({"function": "limit"}, "limit() is there 0 times"),
            ({"old": "pages == 7"}, "limit_of() has 'pages == 7' 0 times"),
            ({"old": "pages"}, "limit_of() has 'pages' 3 times"),
        ):
            with self.assertRaises(Failure) as caught:
                mutation.mutate(SOURCE, [mutant(**changed)])
            self.assert_fails(caught.exception, "mutants.toml: m1: mm/a.c", says)

    def test_overlap(self) -> None:
        with self.assertRaises(Failure) as caught:
            mutation.mutate(SOURCE, [mutant(), mutant(2, old="pages > 100")])
        self.assert_fails(caught.exception, "m2", "overlaps")

    def test_files(self) -> None:
        stage = self.layout.root
        self.write("mm/a.c", SOURCE)
        self.write("mm/memcontrol.c", "int x;\n")
        mutation.edit([mutant()]).make(stage)
        self.assertTrue((stage / "mm/a.c").read_text().startswith(mutation.DECLARATION))
        self.assertIn("core_param(mutant", (stage / "mm/memcontrol.c").read_text())
        self.assertNotEqual(mutation.edit([mutant()]).key, mutation.edit([mutant(2)]).key)
        (stage / "mm/a.c").unlink()
        with self.assertRaises(Failure) as caught:
            mutation.edit([mutant()]).make(stage)
        self.assert_fails(caught.exception, "mm/a.c")


class RunsTest(fake.Case):
    def test_order(self) -> None:
        found = mutation.read(DATA, "6.12").mutants
        second = mutant(2)
        planned = mutants.runs([*found, second, mutant(3)])
        names = [(run.mutant, run.test) for run in planned["mutants"]]
        self.assertEqual(
            names,
            [
                *((mutant, "test_a.test_limit") for mutant in (0, 1, 1)),
                *((mutant, "a.a_test_limit") for mutant in (0, 1, 1)),
                *((mutant, "test_a.test_x") for mutant in (0, 2, 2, 3, 3)),
            ],
        )
        self.assertEqual([run.mutant for run in planned["mutantsv1"]], [0, 1, 1])
        self.assertEqual(mutants.text_of([Run(2, "test_a.test_x", 9)]), "2 9 test_a.test_x\n")
        shares = mutants.shares(planned)
        self.assertEqual(
            [(share.mode, share.turn, [run.test for run in share.runs]) for share in shares],
            [
                ("mutants", 0, [*["test_a.test_limit"] * 3, *["test_a.test_x"] * 5]),
                ("mutants", 1, ["a.a_test_limit"] * 3),
                ("mutantsv1", 0, ["test_b_v1.test_moves"] * 3),
            ],
        )
        some = mutants.runs(found, "a.a_test_limit")
        self.assertEqual([run.test for run in some["mutants"]], ["a.a_test_limit"] * 3)


def outcome(name: str, status: int, *lines: str) -> str:
    return mutants.outcome_of(name, lines, status)


class ResultsTest(fake.Case):
    control, again = Run(0, "test_a.test_x", 9), Run(4, "test_a.test_x", 9)
    planned: Sequence[Run] = [control, again, again]

    def test_outcomes(self) -> None:
        self.assertEqual(outcome("test_a.test_x", 0, "ok 1 test_x"), "ok")
        self.assertEqual(outcome("test_a.test_x", 0, "ok 1 test_x # SKIP"), "skip")
        self.assertEqual(outcome("test_a.test_x", 1, "not ok 1 test_x"), "FAIL")
        self.assertEqual(outcome("test_a.test_x", 0, "ok 1 test_x a", "not ok 2 test_x b"), "FAIL")
        self.assertEqual(outcome("test_a.test_x", 137, "# begun"), "FAIL")
        with self.assertRaises(Failure):
            outcome("test_a.test_x", 0, "# nothing")
        with self.assertRaises(Failure):
            outcome("test_a.test_x", 127, "/tests/test_a: not found")

    def test_kunit(self) -> None:
        lines = ("    not ok 1 a_test_y", "    ok 2 a_test_x", "not ok 1 a")
        self.assertEqual(outcome("a.a_test_x", 0, *lines), "ok")
        self.assertEqual(outcome("a.a_test_y", 0, *lines), "FAIL")
        self.assertEqual(outcome("a", 0, *lines), "FAIL")

    def test_lines(self) -> None:
        lines = [
            *("run 0 test_a.test_x", "not ok 1 test_x", "status 1 from 1.5 to 2.0"),
            *("run 0 test_a.test_x", "ok 1 test_x", "status 0 from 2.0 to 2.5"),
            *("run 4 test_a.test_x", "# begun"),
        ]
        found = mutants.results(lines, self.planned)
        self.assertEqual(found, [Result(self.planned[0], "ok", 0.5)])
        lines += ["not ok 1 test_x", "status 1 from 3.0 to 4.0"]
        found = mutants.results(lines, self.planned)
        self.assertEqual([each.outcome for each in found], ["ok", "FAIL"])
        lines += ["run 4 test_a.test_x", "ok 1 test_x", "status 0 from 4.0 to 5.0"]
        found = mutants.results(lines, self.planned)
        self.assertEqual([each.outcome for each in found], ["ok", "FAIL", "ok"])

    def test_a_run_that_kills_the_guest_is_repeated_in_the_next(self) -> None:
        panic = ["Kernel panic - not syncing"]
        passed = ["run 0 test_a.test_x", "ok 1 test_x", "status 0 from 1.0 to 2.0"]
        broken = ["run 4 test_a.test_x", "# begun"]
        outcomes = [console.Outcome(lines, panic, None) for lines in (passed + broken, broken)]
        machine = vm.Machine(Path("k"), Path("guest/i"), "mutants")
        with mock.patch.object(vm, "run", side_effect=outcomes) as run:
            found = mutants._all_boots(machine, self.planned)
        self.assertEqual([each.outcome for each in found], ["ok", "FAIL", "FAIL"])
        starts = [call.args[0].parameters[-1] for call in run.call_args_list]
        self.assertEqual(starts, ["tidemark.from=1", "tidemark.from=3"])

    def table(self, *outcomes: str) -> str:
        found = [Result(run, each) for run, each in zip(self.planned, outcomes, strict=True)]
        return "\n".join(mutants.table([mutant(4)], found))

    def test_table(self) -> None:
        killed = "killed     m4  limit_of()  test_a.test_x"
        self.assertEqual(self.table("ok", "FAIL", "FAIL"), killed)
        for once in (("ok", "ok"), ("FAIL", "ok"), ("ok", "FAIL")):
            self.assertTrue(self.table("ok", *once).startswith("survived "), once)
        self.assertTrue(self.table("FAIL", "FAIL", "FAIL").startswith("no control "))
        self.assertTrue(self.table("skip", "skip", "skip").startswith("no control "))

    def test_page(self) -> None:
        found = [Result(self.planned[0], "ok"), Result(self.planned[1], "FAIL")]
        changed = mutant(4, old="a ||\n\tb", new="")
        data = Data([changed], [Without(("test_a.test_y",), "time")], "Some.\n")
        page = mutants.markdown("6.12", data, found, {})
        row = r"| `limit_of()` | `a \|\| b` | nothing | test_a.test_x | killed |"
        self.assertEqual(re.findall(r"^\| `.*", page, re.M), [row])
        self.assertIn("- test_a.test_y: time\n", page)
        page = mutants.markdown("6.12", data, [], mutants.recorded(page))
        self.assertEqual(re.findall(r"^\| `.*", page, re.M), [row])
        page = mutants.markdown("6.12", data, [], {})
        self.assertIn("| test_a.test_x | not run |", page)

    def test_status(self) -> None:
        found = [Result(self.planned[0], "ok"), Result(self.planned[1], "ok")]
        self.assertEqual(mutants.summary([mutant(4)], found), 1)
        found[1] = Result(self.planned[1], "FAIL")
        self.assertEqual(mutants.summary([mutant(4)], found), 0)
