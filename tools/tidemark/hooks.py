# SPDX-License-Identifier: GPL-2.0
"""Reading hooks: patches in the form of `git format-patch` that name the overlay files they carry.

Subject: [PATCH] mm/memcg: ...

Why.
---
Overlay: mm/memcg_dirty.c

diff --git a/mm/Makefile b/mm/Makefile
...
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .layout import Layout
from .report import Failure

HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
UNWANTED = re.compile(
    r"new file|deleted file|rename |copy |old mode|new mode|GIT binary|Binary files"
)
SUBJECT = re.compile(r"^Subject: (?:\[[^\]]*\] *)?(.*(?:\n[ \t].*)*)", re.M)
STAT = re.compile(r" (\S+) +\| +(\d+)(?: [+-]*)?")
SIGNATURE = re.compile(r"-- ?")


@dataclass(frozen=True)
class Hunk:
    line: int
    header: str
    body: tuple[str, ...]


@dataclass(frozen=True)
class FileDiff:
    path: str
    hunks: tuple[Hunk, ...]

    @property
    def added(self) -> int:
        return self._count("+")

    @property
    def removed(self) -> int:
        return self._count("-")

    def added_lines(self) -> Iterator[str]:
        for hunk in self.hunks:
            yield from (line[1:] for line in hunk.body if line.startswith("+"))

    def _count(self, mark: str) -> int:
        return sum(line.startswith(mark) for hunk in self.hunks for line in hunk.body)

    @property
    def text(self) -> str:
        lines = [f"--- a/{self.path}", f"+++ b/{self.path}"]
        for hunk in self.hunks:
            lines += [hunk.header, *hunk.body]
        return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Hook:
    """One patch. The name is its path in the repository, for messages.

    The diffstat has the lines that each file gains and loses, as far as the patch tells them.
    """

    name: str
    subject: str
    body: str
    overlay: tuple[str, ...]
    diffstat: Mapping[str, int]
    diffs: tuple[FileDiff, ...]

    @property
    def message(self) -> str:
        return f"{self.subject}\n\n{self.body}\n"

    def added_lines(self) -> Iterator[str]:
        for diff in self.diffs:
            yield from diff.added_lines()


def paths(base_name: str, layout: Layout) -> list[Path]:
    return sorted((layout.patches / base_name).glob("*.patch"))


def read_all(base_name: str, layout: Layout) -> list[Hook]:
    return [read(path, layout) for path in paths(base_name, layout)]


def read(path: Path, layout: Layout) -> Hook:
    text = path.read_bytes().decode(errors="surrogateescape")
    return _Reader(layout.relative(path), text.removesuffix("\n").split("\n")).hook()


class _Reader:
    """Walks through a patch line by line, to be able to say where it is malformed."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self._name = name
        self._lines = lines
        self._at = 0

    def hook(self) -> Hook:
        subject, body = self._message()
        overlay, diffstat = self._notes()
        diffs = tuple(self._diffs())
        if not diffs and not overlay:
            raise self._malformed("neither a diff nor an Overlay: line")
        if twice := [diff.path for diff in diffs if [d.path for d in diffs].count(diff.path) > 1]:
            raise self._malformed(f"two diffs for {twice[0]}")
        return Hook(self._name, subject, body, overlay, diffstat, diffs)

    def _line(self) -> str | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _malformed(self, problem: str) -> Failure:
        return Failure(f"{self._name}:{self._at + 1}: malformed patch: {problem}")

    def _message(self) -> tuple[str, str]:
        start = self._at
        while (line := self._line()) != "---":
            if line is None or self._at_diff():
                raise self._malformed("no `---` line between the message and the diff")
            if line.startswith("Overlay:"):
                raise self._malformed("Overlay: lines belong below the `---` line")
            self._at += 1
        header, _, body = "\n".join(self._lines[start : self._at]).partition("\n\n")
        found = SUBJECT.search(header)
        if not found:
            raise self._malformed("no Subject: line")
        self._at += 1
        return " ".join(found[1].split()), body.strip("\n")

    def _at_diff(self) -> bool:
        line = self._line() or ""
        return line.startswith(("diff --git ", "--- a/", "--- /dev/null"))

    def _notes(self) -> tuple[tuple[str, ...], dict[str, int]]:
        """What stands between the message and the diff, and is no part of the commit."""
        overlay: list[str] = []
        diffstat: dict[str, int] = {}
        while self._line() is not None and not self._at_diff() and not self._at_signature():
            line = self._line() or ""
            if line.startswith("Overlay:"):
                path = line.removeprefix("Overlay:").strip()
                if not _is_plain(path):
                    raise self._malformed(f"no path of an overlay file: {path!r}")
                overlay.append(path)
            elif found := STAT.fullmatch(line):
                diffstat[found[1]] = int(found[2])
            self._at += 1
        return tuple(overlay), diffstat

    def _diffs(self) -> Iterator[FileDiff]:
        while (line := self._line()) is not None and not self._at_signature():
            if line == "":
                self._at += 1
            elif self._at_diff():
                yield self._diff()
            else:
                raise self._malformed(f"this is not part of a diff: {line!r}")

    def _diff(self) -> FileDiff:
        while not (line := self._line() or "").startswith("--- "):
            if UNWANTED.match(line):
                raise self._malformed(f"hooks only change lines of files in the base: {line!r}")
            if not line or line.startswith("@@"):
                raise self._malformed("no `--- a/` line before the hunks")
            self._at += 1
        old = line.removeprefix("--- ").split("\t")[0]
        self._at += 1
        new = (self._line() or "").removeprefix("+++ ").split("\t")[0]
        path = new.removeprefix("b/")
        if "/dev/null" in (old, new):
            raise self._malformed("hooks change files; new ones go into the overlay")
        if old != f"a/{path}" or new != f"b/{path}" or not _is_plain(path):
            raise self._malformed(f"not `--- a/path` and `+++ b/path`: {old!r}, {new!r}")
        self._at += 1
        hunks = tuple(self._hunks(path))
        if not hunks:
            raise self._malformed(f"{path}: no hunks")
        return FileDiff(path, hunks)

    def _hunks(self, path: str) -> Iterator[Hunk]:
        number = 0
        while (header := self._line() or "").startswith("@@"):
            number += 1
            if not (counts := HUNK.match(header)):
                raise self._malformed(f"{path}: hunk {number}: bad header {header!r}")
            self._at += 1
            line = self._at
            what = f"{path}: hunk {number}"
            body = self._body(what, int(counts[1] or 1), int(counts[2] or 1))
            yield Hunk(line, header, tuple(body))

    def _body(self, what: str, old: int, new: int) -> Iterator[str]:
        """As many lines as the header says: a patch edited by hand is off here first."""
        while old or new or (self._line() or "").startswith("\\"):
            line = self._line()
            mark = (line or " ")[0]
            if line is None or mark not in " -+\\":
                raise self._malformed(f"{what} ends before all lines that its header counts")
            old -= mark in " -"
            new -= mark in " +"
            if old < 0 or new < 0:
                raise self._malformed(f"{what} does not have the lines that its header counts")
            self._at += 1
            yield line
        if (self._line() or "@").startswith((" ", "+")) or self._at_removed_line():
            raise self._malformed(f"{what} has more lines than its header counts")

    def _at_removed_line(self) -> bool:
        line = self._line() or ""
        return line.startswith("-") and not self._at_diff() and not self._at_signature()

    def _at_signature(self) -> bool:
        """What format-patch puts at the end: two dashes, then git's version."""
        return SIGNATURE.fullmatch(self._line() or "") is not None


def _is_plain(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and path == "/".join(parts) and ".." not in parts and parts[0] != "/"
