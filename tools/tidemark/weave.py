# SPDX-License-Identifier: GPL-2.0
"""A file of the base with all patches of the series woven in, from which some can be left out.

The weave has the lines of all versions of the file in one order. Each line knows the patch that
brought it and the one that removed it. The version with some patches is the lines that the base
or one of those brought, and none of those removed.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 3


class Conflict(Exception):
    """A chosen patch removes a line of one that is left out."""


@dataclass(frozen=True)
class Change:
    """A hunk: its place in the version before, from 0, and its lines, which begin with a mark."""

    start: int
    body: tuple[str, ...]

    def count(self, mark: str) -> int:
        return sum(line[0] == mark for line in self.body)


@dataclass
class _Line:
    """A line, and the patches that brought and removed it; the base is an empty name."""

    text: str
    owner: str = ""
    remover: str = ""


class Weave:
    def __init__(self, text: str) -> None:
        self._lines = [_Line(line) for line in text.split("\n")]

    def add(self, patch: str, changes: Sequence[Change]) -> None:
        """Weave the next patch in. Its places are those in the version with all before it."""
        visible = [at for at, line in enumerate(self._lines) if not line.remover]
        # From the end, so that the places of earlier hunks stay.
        for change in reversed(changes):
            self._change(patch, change, visible[change.start :])

    def _change(self, patch: str, change: Change, visible: Sequence[int]) -> None:
        at, passed = visible[0], 0
        added: list[tuple[int, _Line]] = []
        for line in change.body:
            if line.startswith("+"):
                added.append((at, _Line(line[1:], patch)))
                continue
            at = visible[passed]
            if line.startswith("-"):
                self._lines[at].remover = patch
            at, passed = at + 1, passed + 1
        for at, new in reversed(added):
            self._lines.insert(at, new)

    def version(self, patches: Collection[str]) -> str:
        """The file with these patches alone."""
        return "\n".join(line.text for line in self._lines if _has(line, patches))

    def changes(self, before: Collection[str], patch: str) -> list[Change]:
        """The hunks of a patch on the version with those before it."""
        after = {*before, patch}
        marked = []
        for line in self._lines:
            old, new = _has(line, before), _has(line, after)
            if old or new:
                marked.append(f"{' ' if old and new else '-' if old else '+'}{line.text}")
        return list(_hunks(marked))


def _has(line: _Line, patches: Collection[str]) -> bool:
    owned = not line.owner or line.owner in patches
    removed = line.remover in patches
    if removed and not owned:
        raise Conflict(f"it removes a line of {line.owner}: {line.text!r}")
    return owned and not removed


def _hunks(marked: Sequence[str]) -> Iterator[Change]:
    """Cut a whole file with marks into hunks with context."""
    changed = [at for at, line in enumerate(marked) if line[0] != " "]
    groups: list[list[int]] = []
    for at in changed:
        if groups and at - groups[-1][-1] <= 2 * CONTEXT + 1:
            groups[-1].append(at)
        else:
            groups.append([at])
    for group in groups:
        start = max(0, group[0] - CONTEXT)
        # The last element is what follows the last line feed.
        end = min(len(marked) - 1, group[-1] + CONTEXT + 1)
        before = sum(line[0] != "+" for line in marked[:start])
        yield Change(before, tuple(marked[start:end]))
