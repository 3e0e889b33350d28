# SPDX-License-Identifier: GPL-2.0
"""Parts of the series that can be applied alone. PART= names one of patches/parts/<part>.txt.

The diffs of a part's patches have lines of other patches around them, so they do not apply to
the base. They are made anew, from files into which the patches of the whole series are woven.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path, PurePosixPath

from . import apply, hooks
from .apply import Outcome
from .base import Base
from .hooks import FileDiff, Hook, Hunk
from .layout import REPOSITORY, Layout
from .report import Failure
from .weave import Change, Conflict, Weave

HEADER = re.compile(r"Subject: (.+)\n(?:Patches: (.+)\n)?\n")
OLD_LINES = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


@dataclass(frozen=True)
class Page:
    """A cover page: its name in messages, and the numbers of the patches, which a part has."""

    name: str
    subject: str
    patches: tuple[str, ...]
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", default="", help="a part of the series that can be applied alone")


def chosen(args: argparse.Namespace) -> str:
    """The part that a command's options name; nothing for the whole series."""
    part: str = args.part
    if part and args.pristine:
        raise Failure(f"PART={part}: PRISTINE=1 is the kernel without any part of the series")
    path(part, REPOSITORY)
    return part


def label(base: Base, part: str) -> str:
    """The name of a place below build/. All parts share one, as they share most objects."""
    return f"{base.label}-part" if part else base.label


def names(layout: Layout) -> list[str]:
    return [path.stem for path in layout.pages if path != layout.cover]


def path(part: str, layout: Layout) -> Path:
    """The file with the cover page of a part, or of the whole series."""
    if not part:
        return layout.cover
    if part not in names(layout):
        raise Failure(f"PART={part}: no such part; there is: {', '.join(names(layout))}")
    return layout.parts / f"{part}.txt"


def page(part: str, layout: Layout) -> Page:
    file = path(part, layout)
    name = layout.relative(file)
    content = file.read_text()
    header = HEADER.match(content)
    if not header or bool(part) != bool(header[2]):
        head = "`Subject: ` and `Patches: `" if part else "`Subject: `"
        raise Failure(f"{name}:1: expected {head}, and an empty line")
    text = content[header.end() :].strip("\n")
    return Page(name, header[1], tuple((header[2] or "").split()), text)


def read(part: str, base: Base, layout: Layout) -> list[Hook]:
    """The hooks of a part, which apply to the base one after the other, or those of the series."""
    series = hooks.read_all(base.name, layout)
    if not part:
        return series
    cover = page(part, layout)
    taken = [hook for hook in series if _number(hook) in cover.patches]
    if absent := sorted(set(cover.patches) - {_number(hook) for hook in taken}):
        raise Failure(f"{cover.name}: Patches: {absent[0]}: no such patch")
    if gap := next(_absent_files(taken, series), None):
        raise Failure(f"{cover.name}: {gap}")
    return list(_alone(part, taken, _weaves(base, series)))


def _number(hook: Hook) -> str:
    return PurePosixPath(hook.name).name.partition("-")[0]


def _weaves(base: Base, series: Sequence[Hook]) -> dict[str, Weave]:
    """The files of the base that the series changes, with all its patches."""
    weaves: dict[str, Weave] = {}
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        for hook in series:
            outcomes = apply.attempt(hook, base.path, stage)
            for file, found in groupby(outcomes, lambda outcome: outcome.diff.path):
                changes = [_change(outcome) for outcome in found]
                if file not in weaves:
                    weaves[file] = Weave(_text(base.path / file))
                weaves[file].add(hook.name, changes)
        every = {hook.name for hook in series}
        for file, weave in weaves.items():
            if weave.version(every) != _text(stage / file):
                raise Failure(f"{file}: the weave of the series is not what its patches make")
    return weaves


def _change(outcome: Outcome) -> Change:
    """A hunk at the place where it applies."""
    hunk = outcome.diff.hunks[outcome.number - 1]
    header = OLD_LINES.match(hunk.header)
    if outcome.failure or not header:
        where = f"{outcome.hook.source}: {outcome.diff.path}: hunk {outcome.number}"
        raise Failure(f"{where} {outcome.failure or 'has a malformed header'}")
    # Where a hunk has no old lines, its number is that of the line before.
    start = int(header[1]) + outcome.offset - (header[2] != "0")
    return Change(start, tuple(line or " " for line in hunk.body))


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="surrogateescape")


def _alone(part: str, taken: Sequence[Hook], weaves: dict[str, Weave]) -> Iterator[Hook]:
    before: set[str] = set()
    for hook in taken:
        try:
            diffs = [
                _diff(diff.path, weaves[diff.path].changes(before, hook.name))
                for diff in hook.diffs
            ]
        except Conflict as conflict:
            raise Failure(f"PART={part}: {hook.source}: {conflict}") from conflict
        yield replace(hook, diffs=tuple(diffs))
        before.add(hook.name)


def _diff(path: str, changes: Sequence[Change]) -> FileDiff:
    hunks = []
    grown = 0
    for number, change in enumerate(changes, 1):
        added, removed = change.count("+"), change.count("-")
        old = len(change.body) - added
        start = change.start + (old > 0)
        new = f"{start + grown},{old + added - removed}"
        hunks.append(Hunk(number, f"@@ -{start},{old} +{new} @@", change.body))
        grown += added - removed
    sums = [sum(change.count(mark) for change in changes) for mark in "+-"]
    return FileDiff(path, tuple(hunks), *sums)


def _absent_files(taken: Sequence[Hook], series: Sequence[Hook]) -> Iterator[str]:
    """Files of ours that a part names, or includes, and does not have."""
    present = hooks.overlay_of(taken).keys()
    owners = {path: hook.name for hook in series for path in hook.overlay}
    for hook in taken:
        texts = {path: _text(source) for path, source in hook.overlay.items()}
        texts |= {diff.path: "\n".join(diff.added_lines()) for diff in hook.diffs}
        for path, text in texts.items():
            for absent in sorted(owners.keys() - present):
                if _names(text, path, absent):
                    yield f"{path} names {absent}, which comes with {owners[absent]}"


def _names(text: str, path: str, other: str) -> bool:
    """Whether a file names another one: by its path, as a header, or in the same directory."""
    if re.search(rf"(?<![\w/-]){re.escape(other)}(?!\w)", text):
        return True
    if other.startswith("include/"):
        return f"<{other.removeprefix('include/')}>" in text
    target = PurePosixPath(other)
    beside = target.parent == PurePosixPath(path).parent
    return beside and bool(re.search(rf"(?<![\w./-]){re.escape(target.name)}(?!\w)", text))
