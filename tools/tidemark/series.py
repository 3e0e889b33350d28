# SPDX-License-Identifier: GPL-2.0
"""Exports the patch series: one mail per hook, with its new files, and a cover letter.

Prints how many lines of upstream's files it changes and, last, the directory with the mails.
The git history that it is exported from has only the files that the series is about: blobs
have the same names there as in a whole tree, so the mails do too.
"""

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import apply, cover, difference, hooks, lock, overlay, packages, scratch, tree
from . import base as bases
from .base import Base
from .gitrepo import NEUTRAL, Identity, Repository, identity_of_user
from .hooks import Hook
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

TOOLS = ("git", "patch", "tar", "xz")
ATTRIBUTES = ".gitattributes"
SWITCH = {"": False, "0": False, "1": True}


@dataclass(frozen=True)
class Series:
    """The exported mails, the cover letter first, and the hooks that they come from, in order."""

    path: Path
    cover: Path
    mails: tuple[Path, ...]
    hooks: tuple[Hook, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--signoff", default="", help="1: from git's user, with a Signed-off-by")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patches to export")
    if args.signoff not in SWITCH:
        raise Failure(f"SIGNOFF={args.signoff}: expected 1, 0 or nothing")
    packages.require(TOOLS, bases.required_packages(args.base, args.linux))
    series = export(bases.obtain(args.base, args.linux), SWITCH[args.signoff])
    print(upstream_lines(series.hooks))
    print(series.path)
    return 0


def export(base: Base, signoff: bool = False, layout: Layout = REPOSITORY) -> Series:
    """Make the mails, and keep them only if git am makes the prepared tree from them."""
    # lint exports the series elsewhere, so that signed mails stay.
    place = layout.build / "series" / (f"{base.label}-signed" if signoff else base.label)
    with lock.hold(layout.build, f"series/{place.name}"):
        prepared = tree.prepare(base, layout=layout)
        read = hooks.read_all(base.name, layout)
        identity = identity_of_user(layout.root) if signoff else NEUTRAL
        with scratch.directory(place.parent, place.name) as draft:
            with working(f"exporting the series for {base.name}"):
                repository, start = history(base, read, draft / "history", identity)
                options = ["--signoff"] if signoff else []
                mails = repository.export(start, draft / "mails", *options)
                cover.fill(mails[0], base, upstream_lines(read), layout)
            _check(base, read, mails[1:], prepared, draft)
            if place.exists():
                shutil.rmtree(place)
            mails[0].parent.rename(place)
    names = [mail.name for mail in mails]
    progress(f"series {base.label}: {len(read)} patches, which git am turns into the prepared tree")
    paths = tuple(place / name for name in names)
    return Series(place, paths[0], paths[1:], tuple(read))


def pristine_files(read: Sequence[Hook], base: Base) -> list[str]:
    """Upstream's files that the series is about."""
    paths = {diff.path for hook in read for diff in hook.diffs}
    if (base.path / ATTRIBUTES).is_file():
        paths.add(ATTRIBUTES)
    return sorted(paths)


def upstream_lines(read: Sequence[Hook]) -> str:
    """How much of upstream's files the hooks change: the part that a rebase has to redo."""
    diffs = [diff for hook in read for diff in hook.diffs]
    added = sum(diff.added for diff in diffs)
    removed = sum(diff.removed for diff in diffs)
    code = sum(diff.added + diff.removed for diff in diffs if diff.path.endswith((".c", ".h")))
    return f"upstream lines changed: {added + removed} (+{added} -{removed}), {code} in code"


def history(
    base: Base, read: Sequence[Hook], top: Path, identity: Identity = NEUTRAL
) -> tuple[Repository, str]:
    """A git repository with one commit per hook, and the commit before them."""
    repository = Repository(top, identity, int((base.path / "Makefile").stat().st_mtime))
    start = _commit_pristine(repository, read, base)
    for hook in read:
        apply.apply(hook, base.path, top)
        for path, source in hook.overlay.items():
            overlay.copy(path, source, top)
        repository.commit(hook.message)
    return repository, start


def copy_pristine(base: Base, read: Sequence[Hook], top: Path) -> None:
    """Copy upstream's files that the series is about."""
    for path in pristine_files(read, base):
        target = top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(base.path / path, target)


def require_same(base: Base, made: Path, prepared: Path) -> None:
    """Fail unless a tree of the files in question is as the prepared tree."""
    changed = set(difference.between(base.path, prepared))
    differing = [
        path
        for path in difference.between(made, prepared)
        if path in changed or (made / path).exists()
    ]
    if differing:
        raise Failure(
            f"the series does not give the prepared tree: {differing[0]} differs", differing[1:]
        )


def _commit_pristine(repository: Repository, read: Sequence[Hook], base: Base) -> str:
    copy_pristine(base, read, repository.top)
    return repository.commit(f"Linux {base.version}")


def _check(
    base: Base, read: Sequence[Hook], mails: Sequence[Path], prepared: Path, draft: Path
) -> None:
    """Apply the mails themselves: recipients have nothing else."""
    repository = Repository(draft / "applied")
    _commit_pristine(repository, read, base)
    repository.apply_mails(mails)
    require_same(base, repository.top, prepared)
