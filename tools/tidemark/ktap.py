# SPDX-License-Identifier: GPL-2.0
"""Reading KTAP, by the parser that comes with the kernel (kunit.py parse)."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import process

OUTCOMES = {"PASS": "ok", "SKIP": "skip"}
LAST_WORDS = 12
# A result line, and that of a suite; on the console, the time precedes it.
RESULT = re.compile(r"^(?:\[[ .\d]*\])? *(?P<failed>not )?ok \d+")
FAILED = re.compile(r"^(?:\[[ .\d]*\] )?not ok \d+ (?:- )?(?P<name>\S+)")
# That of a kselftest program, by guest/kselftests.
PROGRAM = re.compile(r"^(?:not )?ok \d+ (?:- )?(?P<name>test_\w+)(?: # SKIP)?$")


@dataclass(frozen=True)
class Case:
    """One test case: ok, skip or FAIL. The name tells its suite too."""

    name: str
    outcome: str


def parse(lines: Sequence[str], source: Path, place: Path, name: str) -> list[Case]:
    """All test cases of a log, by the prepared tree's parser. Its files go below a directory."""
    log = place / f"{name}.ktap"
    report = place / f"{name}.json"
    report.unlink(missing_ok=True)
    log.write_text("\n".join(lines) + "\n")
    kunit = source / "tools" / "testing" / "kunit" / "kunit.py"
    process.attempt([sys.executable, kunit, "parse", f"--json={report}", log], place)
    cases = list(_cases(json.loads(report.read_text()), ())) if report.exists() else []
    return [*cases, *_failed_suites(lines, cases)]


def _cases(group: dict[str, Any], path: tuple[str, ...]) -> Iterator[Case]:
    cases, inner = group.get("test_cases", []), group.get("sub_groups", [])
    # The parser invents results for announced tests without one: the last ones.
    number = len(inner) + sum(bool(case["name"]) for case in cases)
    for case in cases:
        number += not case["name"]
        name = case["name"] or f"result {number}, which is missing"
        yield Case(" ".join([*path, name]), OUTCOMES.get(case["status"], "FAIL"))
    for each in inner:
        yield from _cases(each, (*path, each["name"]))


def _failed_suites(lines: Sequence[str], cases: Sequence[Case]) -> Iterator[Case]:
    """The parser reports cases only, but a suite may fail although all of its cases pass."""
    explained = {case.name.partition(" ")[0] for case in cases if case.outcome == "FAIL"}
    for found in filter(None, map(FAILED.match, lines)):
        if found["name"] not in explained:
            yield Case(f"{found['name']} as a whole", "FAIL")


def programs(lines: Sequence[str]) -> set[str]:
    """The kselftests with a result of their own: passed, failed or skipped as a whole."""
    return {found["name"] for found in map(PROGRAM.match, lines) if found}


def last_words(lines: Sequence[str]) -> Iterator[str]:
    """The lines before each failure, and the failure itself."""
    said: list[str] = []
    for line in lines:
        said.append(line)
        if found := RESULT.match(line):
            if found["failed"]:
                yield from said[-LAST_WORDS:]
            said.clear()
