# SPDX-License-Identifier: GPL-2.0
"""Breaks one condition of the series at a time, and requires that the tests named for it fail.

All mutants of mutants.toml are compiled into one throwaway kernel. A parameter of that kernel
switches one of them on, so that one boot goes through all: each test first runs without a mutant.
A test that fails now and then must not count as one that finds a mutant: it has to fail each time
that it runs with the mutant.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from . import guest, kernel, mutation, test, vm
from .layout import REPOSITORY
from .mutation import PROGRAM, Data, Mutant
from .report import Failure, progress, working

TABLE = "mutants.md"
BOOT_SECONDS = 300
TIMEOUT_SECONDS = 8 * 3600
# In a row, and all of them have to fail.
RUNS_OF_A_MUTANT = 2
PANIC = "Kernel panic"
# A shell's statuses for a program that cannot be run.
NOT_RUN = (126, 127)
# By default, each run of test_memcg_knobs would take a minute.
KNOB_WRITES = 4000
MODES = ("mutants", "mutantsv1")
RUN = re.compile(r"run (?P<mutant>\d+) (?P<test>\S+)")
STATUS = re.compile(r"status (?P<status>\d+) from (?P<start>[\d.]+) to (?P<end>[\d.]+)")
RESULT = re.compile(r"^\s*(?P<bad>not )?ok \d+ (?:- )?(?P<name>\S+)(?P<skipped>.*# SKIP)?")
HEADER = """\
# Mutants on Linux {base}

`make mutants BASE={base}` writes this table, and a run of some mutants their rows. Each row breaks
one condition of the series: in the function, the first text becomes the second one. The test passes
without the mutant, and with it has this result, which is to be `killed`: the test fails.

| function | condition | broken | test | result |
|---|---|---|---|---|
"""
WITHOUT = "\n## Without a mutant\n\n"


@dataclass(frozen=True)
class Run:
    """A test with a mutant switched on; 0 is none."""

    mutant: int
    test: str
    seconds: int


@dataclass(frozen=True)
class Result:
    """The outcome of a run: ok, FAIL or skip."""

    run: Run
    outcome: str
    took: float = 0


@dataclass
class Share:
    """Runs for one of the guests that run side by side."""

    mode: str
    turn: int
    runs: list[Run] = field(default_factory=list)

    def seconds(self) -> int:
        return sum(run.seconds for run in self.runs)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)
    parser.add_argument("--only", default="", help="only these mutants or tests, with commas")


def main(args: argparse.Namespace) -> int:
    if args.pristine or args.flavour != kernel.PLAIN:
        raise Failure("PRISTINE and FLAVOUR: the mutants are those of one kernel")
    data = mutation.read(mutation.DATA.read_text(), args.base)
    mutants = data.mutants
    mutation.require_all(data, mutation.every_test(REPOSITORY))
    picked = chosen(mutants, args.only)
    base, image = guest.built(args, mutation.edit(mutants))

    def boot(share: Share) -> list[Result]:
        def add(root: Path) -> None:
            (root / "tidemark" / "runs").write_text(text_of(share.runs))

        parameters = (test.KUNIT, *test.environment(KNOB_WRITES, 0))
        machine = guest.machine(args, image, base, share.mode, parameters, add, share.turn)
        return _all_boots(machine, share.runs)

    wanted = shares(runs(picked, args.only))
    found = [result for results in vm.side_by_side(boot, wanted) for result in results]
    rows = [*table(picked, found)]
    for line in (*timings(found), *rows):
        print(line)
    page = REPOSITORY.bases / args.base / TABLE
    before = recorded(page.read_text()) if page.exists() else {}
    page.write_text(markdown(args.base, data, found, before))
    return summary(picked, found)


def chosen(mutants: Sequence[Mutant], only: str) -> list[Mutant]:
    words = set(only.split(",")) if only else set()
    picked = [each for each in mutants if not words or words.intersection((each.name, *each.tests))]
    if unknown := words - {word for each in picked for word in (each.name, *each.tests)}:
        raise Failure(f"--only {min(unknown)}: no such mutant, and no test that a mutant names")
    return picked


def runs(mutants: Sequence[Mutant], only: str = "") -> dict[str, list[Run]]:
    """The runs of each boot: a test without a mutant, then twice with each one that names it."""
    words = set(only.split(","))
    pairs = [
        (name, mutant)
        for mutant in mutants
        for name in mutant.tests
        if not only or mutant.name in words or name in words
    ]
    found: dict[str, list[Run]] = {}
    for name in dict.fromkeys(name for name, _ in pairs):
        here = [mutant for other, mutant in pairs if other == name]
        seconds = max(mutant.seconds for mutant in here)
        mode = MODES[name.partition(".")[0].endswith("_v1")]
        found.setdefault(mode, []).append(Run(0, name, seconds))
        found[mode] += [
            Run(mutant.number, name, mutant.seconds)
            for mutant in here
            for _ in range(RUNS_OF_A_MUTANT)
        ]
    return found


def shares(planned: Mapping[str, Sequence[Run]]) -> list[Share]:
    """The runs of a test stay together, behind the one without a mutant."""
    found: list[Share] = []
    for mode, every in planned.items():
        parts = [Share(mode, turn) for turn in range(vm.GUESTS)]
        for _, group in groupby(every, key=lambda run: run.test):
            min(parts, key=Share.seconds).runs.extend(group)
        found += [part for part in parts if part.runs]
    return found


def text_of(lines: Iterable[Run]) -> str:
    return "".join(f"{run.mutant} {run.seconds} {run.test}\n" for run in lines)


def _all_boots(machine: vm.Machine, planned: Sequence[Run]) -> list[Result]:
    """A run that ends the guest has failed; the next ones are made in a new guest."""
    found: list[Result] = []
    while len(found) < len(planned):
        found += _boot(machine, planned[len(found) :], len(found))
    return found


def _boot(machine: vm.Machine, planned: Sequence[Run], before: int) -> list[Result]:
    machine = replace(machine, parameters=(*machine.parameters, f"tidemark.from={before + 1}"))
    log = guest.log(machine).with_name(f"console-{before}.log")
    heard: list[str] = []

    def done() -> str:
        names = [line for line in heard if RUN.fullmatch(line)]
        return f"{before + len(names)} of {before + len(planned)}: {' '.join(names[-1:])}"

    silence = BOOT_SECONDS + max(run.seconds for run in planned)
    with working(f"guest {machine.place.name}", done):
        outcome = vm.run(machine, log, TIMEOUT_SECONDS, heard.append, silence)
    found = results(outcome.results, planned)
    if len(found) == len(planned) or (found and found[-1].outcome == "FAIL"):
        return found
    if found and outcome.status is not None:
        raise Failure(f"{found[-1].run.test}: the guest took no other test after it")
    if not any(PANIC in line for line in outcome.console):
        raise Failure("the guest ended early; its console ends with", outcome.console[-20:])
    return [*found, Result(planned[len(found)], "FAIL")]


def results(lines: Iterable[str], planned: Sequence[Run]) -> list[Result]:
    """The outcomes of the runs that came to an end; without a mutant, the last try counts."""
    found: list[Result] = []
    said: list[str] = []
    run: Run | None = None
    for line in lines:
        if begun := RUN.fullmatch(line):
            at = int(begun["mutant"]), begun["test"]
            again = found and at == (0, found[-1].run.test)
            run = found.pop().run if again else planned[len(found)]
            said = []
        elif run and (ended := STATUS.fullmatch(line)):
            took = float(ended["end"]) - float(ended["start"])
            found.append(Result(run, outcome_of(run.test, said, int(ended["status"])), took))
            run = None
        else:
            said.append(line)
    return found


def outcome_of(name: str, lines: Iterable[str], status: int) -> str:
    """A kselftest's lines are those of the case alone; a KUnit suite always runs all of its own."""
    suite, _, case = name.partition(".")
    every = [found for line in lines if (found := RESULT.match(line))]
    if not name.startswith(PROGRAM):
        every = [found for found in every if found["name"] == (case or suite)]
    if status in NOT_RUN or (not every and not status):
        raise Failure(f"{name}: the guest has no result of it")
    if status or any(found["bad"] for found in every):
        return "FAIL"
    return "skip" if all(found["skipped"] for found in every) else "ok"


def timings(found: Sequence[Result]) -> Iterator[str]:
    for result in found:
        if not result.run.mutant:
            yield f"{result.outcome:4} {result.took:6.1f} s  {result.run.test} without a mutant"


def verdicts(
    mutants: Sequence[Mutant], found: Sequence[Result]
) -> Iterator[tuple[Mutant, str, str]]:
    """Mutant, test and result. A test that does not pass without a mutant tells nothing."""
    sound = {each.run.test for each in found if not each.run.mutant and each.outcome == "ok"}
    by_number = {mutant.number: mutant for mutant in mutants}
    outcomes: dict[tuple[int, str], set[str]] = {}
    for each in sorted(found, key=lambda result: result.run.mutant):
        if each.run.mutant:
            outcomes.setdefault((each.run.mutant, each.run.test), set()).add(each.outcome)
    for (number, name), seen in outcomes.items():
        verdict = "killed" if seen == {"FAIL"} else "survived"
        yield by_number[number], name, verdict if name in sound else "no control"


def table(mutants: Sequence[Mutant], found: Sequence[Result]) -> Iterator[str]:
    width = max((len(mutant.name) for mutant in mutants), default=0)
    for mutant, name, verdict in verdicts(mutants, found):
        yield f"{verdict:10} {mutant.name:{width}}  {mutant.function}()  {name}"


def recorded(page: str) -> dict[str, str]:
    """The results of a page, by the rest of their rows."""
    rows = (line.removesuffix(" |").rpartition(" | ") for line in page.splitlines())
    return {row: verdict for row, _, verdict in rows if row.startswith("| `")}


def markdown(base: str, data: Data, found: Sequence[Result], before: Mapping[str, str]) -> str:
    """The page for reviewers. Rows of mutants that did not run keep their results."""
    now = {(mutant.name, name): said for mutant, name, said in verdicts(data.mutants, found)}
    lines = [HEADER.format(base=base)]
    by_name = {mutant.name: mutant for mutant in data.mutants}
    for mutant in data.mutants:
        others = [by_name[name] for name in mutant.also]
        texts = (
            "; ".join(f"`{each.function}()`" for each in (mutant, *others)),
            "; ".join(_code(each.old) for each in (mutant, *others)),
            "; ".join(_code(each.new) for each in (mutant, *others)),
        )
        for name in mutant.tests:
            row = f"| {' | '.join(texts)} | {name}"
            verdict = now.get((mutant.name, name)) or before.get(row, "not run")
            if verdict == "survived" and mutant.survives:
                verdict = f"survived: {mutant.survives}"
            lines.append(f"{row} | {verdict} |\n")
    lines += [WITHOUT, data.note, "\n"]
    lines += [f"- {', '.join(each.tests)}: {each.reason}\n" for each in data.without]
    return "".join(lines)


def _code(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return f"`{line}`" if line else "nothing"


def summary(mutants: Sequence[Mutant], found: Sequence[Result]) -> int:
    rows = [*verdicts(mutants, found)]
    wrong = [mutant for mutant, _, verdict in rows if verdict != "killed" and not mutant.survives]
    killed = sum(verdict == "killed" for _, _, verdict in rows)
    if wrong:
        progress(f"survived, or without a test that passes: {', '.join(m.name for m in wrong)}")
    print(f"{len(rows)} runs of {len(mutants)} mutants: {killed} killed, {len(wrong)} not")
    return 1 if wrong else 0
