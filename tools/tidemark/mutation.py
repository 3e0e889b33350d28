# SPDX-License-Identifier: GPL-2.0
"""Mutants: the data file, and the source files into which all of them are compiled."""

import hashlib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from . import guest, test
from .layout import Layout
from .report import Failure
from .tree import Edit

DATA = Path(__file__).with_name("mutants.toml")
KEYS = {"file", "function", "old", "new", "tests"}
OPTIONAL_KEYS = {"base", "seconds", "survives", "also"}
SECONDS = 120
# The names of kselftests begin with this; those of KUnit suites do not.
PROGRAM = "test_"
SUITE = re.compile(r'^\t\.name = "(\w+)"', re.M)
SWITCH_FILE = "mm/memcontrol.c"
DECLARATION = "extern unsigned int tidemark_mutant;\n"
SWITCH = """
#include <linux/moduleparam.h>
unsigned int tidemark_mutant;
core_param(mutant, tidemark_mutant, uint, 0644);
"""


@dataclass(frozen=True)
class Mutant:
    """In a function, the old text becomes the new one: an expression, or statements.

    Each of the tests has to fail, unless there is a reason why the mutant survives. Other mutants,
    given by name, are switched on along with this one: where two mechanisms have the same effect,
    a test only fails without both. The numbers are those that switch this one on.
    """

    number: int
    name: str
    file: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...]
    seconds: int
    survives: str
    also: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Without:
    """Tests that no mutant fits, and the reason."""

    tests: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Data:
    """The data file: the mutants for a base, and the tests that have none there."""

    mutants: Sequence[Mutant]
    without: Sequence[Without]
    note: str


def read(text: str, base: str) -> Data:
    """A test without a mutant in a base is not taken there, though a mutant may name it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Failure(f"{DATA.name}: {error}") from error
    without = [
        Without(tuple(each["tests"]), each["reason"])
        for each in data.get("without", [])
        if each.get("base", base) == base
    ]
    never = {name for each in without for name in each.tests}
    mutants = [
        _mutant(number, name, entry, never)
        for number, (name, entry) in enumerate(data.get("mutant", {}).items(), 1)
        if entry.get("base", base) == base
    ]
    mutants = [*_with_numbers(mutants)]
    return Data(mutants, without, data.get("note", "").lstrip())


def _mutant(number: int, title: str, entry: Mapping[str, Any], never: Collection[str]) -> Mutant:
    if absent := sorted(KEYS - entry.keys()):
        raise Failure(f"{DATA.name}: {title}: no value for {', '.join(absent)}")
    if unknown := sorted(entry.keys() - KEYS - OPTIONAL_KEYS):
        raise Failure(f"{DATA.name}: {title}: unknown: {', '.join(unknown)}")
    return Mutant(
        number,
        title,
        entry["file"],
        entry["function"],
        entry["old"].strip(),
        entry["new"].strip(),
        tuple(name for name in entry["tests"] if name not in never),
        entry.get("seconds", SECONDS),
        entry.get("survives", ""),
        tuple(entry.get("also", ())),
    )


def _with_numbers(mutants: Sequence[Mutant]) -> Iterable[Mutant]:
    names = {mutant.name for mutant in mutants}
    for mutant in mutants:
        if unknown := sorted({*mutant.also} - names):
            raise Failure(f"{DATA.name}: {mutant.name}: no such mutant: {unknown[0]}")
        others = [each.number for each in mutants if mutant.name in each.also]
        yield replace(mutant, numbers=(mutant.number, *others))


def every_test(layout: Layout) -> list[str]:
    """All cases of the kselftests, programs whose cases run together, and KUnit suites."""
    found = []
    for match in guest.selftests(layout):
        cases = test.CASE.findall((layout.root / match.string).read_text())
        found += [f"{match['name']}.{case}" for case in cases] or [match["name"]]
    for path in sorted(layout.root.glob("mm/tests/*_kunit.c")):
        found += SUITE.findall(path.read_text())
    return found


def require_all(data: Data, every: Sequence[str]) -> None:
    """Each test has a mutant or a reason, and each name is that of a test."""
    named = {name for mutant in data.mutants for name in mutant.tests}
    named |= {name for each in data.without for name in each.tests}
    covered = named | {name.partition(".")[0] for name in named if not name.startswith(PROGRAM)}
    if absent := [name for name in every if name not in covered]:
        raise Failure(f"{DATA.name}: no mutant for {absent[0]}", absent[1:])
    suites = {name for name in every if not name.startswith(PROGRAM)}
    for name in sorted(named.difference(every)):
        if name.partition(".")[0] not in suites:
            raise Failure(f"{DATA.name}: no such test: {name}")


def edit(mutants: Sequence[Mutant]) -> Edit:
    """The change of the tree that compiles all mutants in."""

    def make(stage: Path) -> None:
        for file in sorted({mutant.file for mutant in mutants}):
            path = stage / file
            if not path.is_file():
                raise Failure(f"{DATA.name}: {file}: the series neither has nor hooks such a file")
            here = [mutant for mutant in mutants if mutant.file == file]
            path.write_text(DECLARATION + mutate(path.read_text(), here))
        with (stage / SWITCH_FILE).open("a") as stream:
            stream.write(SWITCH)

    key = hashlib.sha256(repr((SWITCH, DECLARATION, mutants)).encode()).hexdigest()
    return Edit(key, make)


def mutate(text: str, mutants: Sequence[Mutant]) -> str:
    """A file with its mutants, each behind its number."""
    places = sorted((*place(text, mutant), mutant.number, mutant) for mutant in mutants)
    end_before = 0
    pieces = []
    for (start, end), group in groupby(places, lambda each: each[:2]):
        alternatives = [each[-1] for each in group]
        if start < end_before:
            raise Failure(f"{DATA.name}: {alternatives[0].name}: overlaps with another mutant")
        pieces += [text[end_before:start], _switch(text[start:end], alternatives)]
        end_before = end
    return "".join([*pieces, text[end_before:]])


def place(text: str, mutant: Mutant) -> tuple[int, int]:
    """Where a mutant's old text is. Both the function and the text in it occur once."""
    head = rf"^\w[^;{{}}]*?\b{re.escape(mutant.function)}\([^;{{}}]*\)\s*\n\{{\n(.*?)^\}}"
    bodies = [*re.finditer(head, text, re.M | re.S)]
    where = f"{DATA.name}: {mutant.name}: {mutant.file}"
    if len(bodies) != 1:
        raise Failure(f"{where}: {mutant.function}() is there {len(bodies)} times, not once")
    start, end = bodies[0].span(1)
    words = [re.escape(word) for word in mutant.old.split()]
    found = [*re.compile(r"\s+".join(words)).finditer(text, start, end)]
    if len(found) != 1:
        raise Failure(
            f"{where}: {mutant.function}() has {mutant.old!r} {len(found)} times, not once"
        )
    return found[0].span()


def _switch(old: str, mutants: Iterable[Mutant]) -> str:
    if old.endswith((";", "}")):
        branches = "".join(f"if ({_is_on(mutant)}) {{ {mutant.new} }} else " for mutant in mutants)
        return f"{{ {branches}{{ {old} }} }}"
    branches = "".join(f"{_is_on(mutant)} ? ({mutant.new}) : " for mutant in mutants)
    return f"({branches}({old}))"


def _is_on(mutant: Mutant) -> str:
    return " || ".join(f"tidemark_mutant == {number}" for number in mutant.numbers)
