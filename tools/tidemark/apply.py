# SPDX-License-Identifier: GPL-2.0
"""Applies hooks with GNU patch, without fuzz, and names the hunks that fail."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import process
from .hooks import FileDiff, Hook
from .report import Failure, progress

COMMAND = ("patch", "--forward", "--batch", "--no-backup-if-mismatch", "-r", "-", "-p1")
# The fuzz that patch itself would accept.
USUAL_FUZZ = 2
FAILED = re.compile(r"^Hunk #(\d+) FAILED", re.M)
MOVED = re.compile(r"^Hunk #(\d+) succeeded at (\d+) \(offset (-?\d+) lines?\)", re.M)
FUZZY = re.compile(r"^Hunk #(\d+) succeeded at \d+ with fuzz (\d+)", re.M)


@dataclass(frozen=True)
class Outcome:
    """One hunk of a hook on a base: the lines that it is off by, or the reason why it failed."""

    hook: Hook
    diff: FileDiff
    number: int
    offset: int = 0
    failure: str = ""


def apply(hook: Hook, origin: Path, stage: Path) -> None:
    """Apply a hook in a stage that holds only changed files; others come from the origin."""
    for diff in hook.diffs:
        if not _copied(diff, origin, stage):
            raise Failure(f"{hook.source}: {diff.path}: no such file in the base")
        _apply(hook, diff, stage)


def attempt(hook: Hook, origin: Path, stage: Path) -> Iterator[Outcome]:
    """Apply as much of a hook as applies, with an outcome for each hunk.

    A hunk that needs fuzz has failed, but is applied, so that later hooks find its lines.
    """
    for diff in hook.diffs:
        numbers = range(1, len(diff.hunks) + 1)
        if not _copied(diff, origin, stage):
            for number in numbers:
                yield Outcome(hook, diff, number, failure="no such file in the base")
            continue
        _, told = _patch(diff, stage, f"--fuzz={USUAL_FUZZ}")
        ignored = "previously applied" in told
        failed = set(numbers) if ignored else {int(number) for number in FAILED.findall(told)}
        offsets = {int(number): int(offset) for number, _, offset in MOVED.findall(told)}
        fuzz = {int(number): f"needs fuzz {needed}" for number, needed in FUZZY.findall(told)}
        for number in numbers:
            failure = fuzz.get(number, "")
            if number in failed:
                failure = "already in the base" if ignored else "does not apply"
            yield Outcome(hook, diff, number, offsets.get(number, 0), failure)


def _copied(diff: FileDiff, origin: Path, stage: Path) -> bool:
    """Have the file in the stage, unless the base lacks it."""
    target = stage / diff.path
    if not target.exists():
        if not (origin / diff.path).is_file():
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(origin / diff.path, target)
    return True


def _apply(hook: Hook, diff: FileDiff, stage: Path) -> None:
    target = stage / diff.path
    before = target.read_bytes()
    status, told = _patch(diff, stage, "--fuzz=0")
    if status:
        target.write_bytes(before)
        raise _failure(hook, diff, stage, told)
    # A diff for every base has the line numbers of one of them.
    for number, line, offset in [] if hook.shared else MOVED.findall(told):
        progress(
            f"{hook.source}: {diff.path}: hunk {number} applies at line {line}, off by {offset}"
        )


def _patch(diff: FileDiff, stage: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, *options, "--", diff.path],
        cwd=stage,
        env=process.environment(),
        input=diff.text.encode(errors="surrogateescape"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout.decode(errors="replace")


def _failure(hook: Hook, diff: FileDiff, stage: Path, told: str) -> Failure:
    """Name each hunk that failed, and the fuzz that it would need."""
    where = f"{hook.source}: {diff.path}"
    failed = [int(number) for number in FAILED.findall(told)]
    if not failed:
        if "previously applied" in told:
            return Failure(f"{where}: hunk 1 is already in the base", [_at(hook, diff, 1)])
        return Failure(f"{where}: patch gives up", told.splitlines())
    _, retried = _patch(diff, stage, f"--fuzz={USUAL_FUZZ}", "--dry-run")
    needed = {int(number): fuzz for number, fuzz in FUZZY.findall(retried)}
    first = failed[0]
    problem = f"hunk {first} does not apply"
    if first in needed:
        problem = f"hunk {first} needs fuzz {needed[first]}, and hooks apply with none"
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return Failure(f"{where}: {problem}{more}", [_at(hook, diff, number) for number in failed])


def _at(hook: Hook, diff: FileDiff, number: int) -> str:
    hunk = diff.hunks[number - 1]
    return f"hunk {number}, {hook.source}:{hunk.line}: {hunk.header}"
