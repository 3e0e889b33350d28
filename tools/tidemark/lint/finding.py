# SPDX-License-Identifier: GPL-2.0
"""The findings of a check, and the list of allowed findings with their reasons."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ..report import Failure

SEPARATOR = " | "


@dataclass(frozen=True, order=True)
class Finding:
    """Line 0 stands for the whole file."""

    tool: str
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.tool}: {self.text}"


@dataclass(frozen=True)
class Allowance:
    """Findings of one tool whose file matches a pattern and whose text matches an expression."""

    tool: str
    files: str
    text: re.Pattern[str]
    reason: str

    def covers(self, finding: Finding) -> bool:
        return (
            finding.tool == self.tool
            and fnmatchcase(finding.file, self.files)
            and self.text.search(finding.text) is not None
        )


def read_allowed(path: Path) -> list[Allowance]:
    """Lines of `tool | files | text | reason`."""
    allowed = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(SEPARATOR)]
        if len(parts) != 4 or not all(parts):
            raise Failure(f"{path.name}:{number}: expected `tool | files | text | reason`")
        tool, files, text, reason = parts
        try:
            allowed.append(Allowance(tool, files, re.compile(text), reason))
        except re.error as error:
            raise Failure(f"{path.name}:{number}: {text}: {error}") from error
    return allowed


def split(
    findings: Iterable[Finding], allowed: Sequence[Allowance]
) -> tuple[list[Finding], list[Finding]]:
    """The findings that are not allowed, and those that are."""
    refused: list[Finding] = []
    excused: list[Finding] = []
    for finding in sorted(set(findings)):
        covered = any(allowance.covers(finding) for allowance in allowed)
        (excused if covered else refused).append(finding)
    return refused, excused
