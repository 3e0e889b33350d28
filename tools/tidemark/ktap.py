# SPDX-License-Identifier: GPL-2.0
"""Reading KTAP, by the parser that comes with the kernel (kunit.py parse)."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import process

OUTCOMES = {"PASS": "ok", "SKIP": "skip"}


@dataclass(frozen=True)
class Case:
    """One test case: ok, skip or FAIL. The name tells its suite too."""

    name: str
    outcome: str


def parse(lines: Sequence[str], source: Path, place: Path, name: str) -> list[Case]:
    """All test cases of a log. The prepared tree's parser reads it; its files go to a place."""
    log = place / f"{name}.ktap"
    report = place / f"{name}.json"
    report.unlink(missing_ok=True)
    log.write_text("\n".join(lines) + "\n")
    kunit = source / "tools" / "testing" / "kunit" / "kunit.py"
    process.attempt([sys.executable, kunit, "parse", f"--json={report}", log], place)
    return list(_cases(json.loads(report.read_text()), ())) if report.exists() else []


def _cases(group: dict[str, Any], path: tuple[str, ...]) -> Iterator[Case]:
    for case in group.get("test_cases", []):
        name = " ".join([*path, case["name"]])
        yield Case(name, OUTCOMES.get(case["status"], "FAIL"))
    for inner in group.get("sub_groups", []):
        yield from _cases(inner, (*path, inner["name"]))
