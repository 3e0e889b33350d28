# SPDX-License-Identifier: GPL-2.0
"""Tells a known lockdep report of the unpatched kernel from all others.

bases/<name>/recipe describes that cycle: each lock, and a function that is on the stack when it is
taken. A report is the known one if it has these locks and no other, each with its function.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .report import Failure, warning

HEADER = "WARNING: possible circular locking dependency detected"
END_OF_CYCLE = "other info that might help us debug this:"
# Classes that share a name have a number, which depends on the classes registered before.
LOCK = re.compile(r"-> #\d+ \((?P<lock>\S+?)(?:#\d+)?\)\{")
FRAME = re.compile(r"\s(?P<function>[\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+$")
WANTED = re.compile(r"(?P<lock>\S+) by (?P<function>\w+)")


@dataclass(frozen=True)
class Link:
    """A lock of a cycle, and a function in the stack of the task that takes it."""

    lock: str
    function: str


def parse(text: str) -> tuple[Link, ...]:
    """Links as `lock by function`, with commas, in the order of a report."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = WANTED.fullmatch(part)
        if not match:
            raise Failure(f"lockdep = {text}: expected `lock by function, ...`")
        found.append(Link(match["lock"], match["function"]))
    return tuple(found)


def without_known(console: Sequence[str], known: Sequence[Link]) -> list[str]:
    """The console without the first line of each report of the known cycle."""
    reports = [at for at, line in enumerate(console) if HEADER in line]
    excused = {at for at in reports if known and _is(cycle(console[at:]), known)}
    if excused:
        warning("lockdep: known report of the unpatched kernel; lockdep is off from there on")
    return [line for at, line in enumerate(console) if at not in excused]


def cycle(report: Sequence[str]) -> list[tuple[str, set[str]]]:
    """The locks of a report, with all functions in the stack that takes each."""
    found: list[tuple[str, set[str]]] = []
    for line in report:
        if END_OF_CYCLE in line:
            break
        if match := LOCK.search(line):
            found.append((match["lock"], set()))
        elif found and (match := FRAME.search(line)):
            found[-1][1].add(match["function"])
    return found


def _is(found: Sequence[tuple[str, set[str]]], known: Sequence[Link]) -> bool:
    return [lock for lock, _ in found] == [link.lock for link in known] and all(
        link.function in functions for link, (_, functions) in zip(known, found, strict=True)
    )
