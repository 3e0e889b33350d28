# SPDX-License-Identifier: GPL-2.0
"""Tries each hunk on a base, and prints whether it applied, moved or failed.

With FROM=, the base first gets the diffs and the files below bases/ that it lacks from another one.
The line numbers of hunks that moved are corrected in their diffs.
"""

import argparse
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import apply, hooks, overlay, packages, scratch
from . import base as bases
from .apply import Outcome
from .base import Base
from .layout import REPOSITORY, Layout
from .report import Failure, progress

HEADER = re.compile(r"@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@(.*)")
STATES = ("applied", "moved", "failed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="origin", default="", help="the base to copy from")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no hooks to port")
    packages.require(["git", "patch"], bases.required_packages(args.base, args.linux))
    if args.origin:
        copy(args.origin, args.base, REPOSITORY)
    outcomes = attempt(bases.obtain(args.base, args.linux), REPOSITORY)
    for outcome in outcomes:
        print(line(outcome))
    renumber(outcomes, REPOSITORY)
    counts = Counter(state(outcome) for outcome in outcomes)
    print(", ".join(f"{counts[name]} {name}" for name in STATES))
    return 1 if counts["failed"] else 0


def copy(origin: str, name: str, layout: Layout) -> None:
    """Copy the files that a base lacks and another base has. Nothing is overwritten."""
    bases.read_recipe(origin, layout)
    if origin == name:
        raise Failure(f"FROM={origin}: a base does not copy from itself")
    wanted = [(layout.root / path, origin) for path in hooks.missing(name, layout)]
    pairs = [
        (target.with_name(f"{source}{hooks.SUFFIX}"), target)
        for target, source in wanted
        if target.with_name(f"{source}{hooks.SUFFIX}").is_file()
    ]
    top = layout.bases / origin
    for source in overlay.of_base(origin, layout):
        target = layout.bases / name / source.relative_to(top)
        pairs += [] if target.exists() else [(source, target)]
    for source, target in pairs:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    progress(f"{len(pairs)} files copied from base {origin} to base {name}")


def attempt(base: Base, layout: Layout) -> list[Outcome]:
    """Apply all hooks in a scratch directory, and go on after failures."""
    read = hooks.read_all(base.name, layout)
    with scratch.directory(layout.build / "port", base.label) as stage:
        return [outcome for hook in read for outcome in apply.attempt(hook, base.path, stage)]


def state(outcome: Outcome) -> str:
    return STATES[2] if outcome.failure else STATES[1] if outcome.offset else STATES[0]


def line(outcome: Outcome) -> str:
    """The verdict, the place of the hunk in the repository, and the reason or the offset."""
    hunk = outcome.diff.hunks[outcome.number - 1]
    note = outcome.failure or (f"by {outcome.offset} lines" if outcome.offset else "")
    place = f"{outcome.hook.source}:{hunk.line}: {outcome.diff.path}"
    return f"{state(outcome):8}{place}{f': {note}' if note else ''}"


def renumber(outcomes: Sequence[Outcome], layout: Layout) -> None:
    """Correct the headers of hunks that moved. A diff for every base has no one right number."""
    own = [outcome for outcome in outcomes if not outcome.hook.shared]
    for source in dict.fromkeys(outcome.hook.source for outcome in own):
        moved = [outcome for outcome in own if outcome.hook.source == source]
        _rewrite(layout.root / source, [each for each in moved if state(each) == "moved"])


def _rewrite(path: Path, moved: Iterable[Outcome]) -> None:
    # Read as bytes: a context line may have any encoding.
    lines = path.read_bytes().decode(errors="surrogateescape").split("\n")
    before = list(lines)
    for outcome in moved:
        at = outcome.diff.hunks[outcome.number - 1].line - 1
        if found := HEADER.fullmatch(lines[at]):
            old, new = (int(found[group]) + outcome.offset for group in (1, 3))
            lines[at] = f"@@ -{old}{found[2]} +{new}{found[4]} @@{found[5]}"
    if lines != before:
        path.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
