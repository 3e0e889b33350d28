# SPDX-License-Identifier: GPL-2.0
"""Exports the patch series, or a part of it: one mail per hook, with its new files, and a cover.

Prints how many lines of upstream's files it changes and, last, the directory with the mails.
The git history that it is exported from has only the files that the series is about: blobs
have the same names there as in a whole tree, so the mails do too.
"""

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import apply, cover, difference, lock, overlay, packages, parts, scratch, tree
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
    parts.add_arguments(parser)
    parser.add_argument("--signoff", default="", help="1: from git's user, with a Signed-off-by")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patches to export")
    if args.signoff not in SWITCH:
        raise Failure(f"SIGNOFF={args.signoff}: expected 1, 0 or nothing")
    part = parts.chosen(args)
    packages.require(TOOLS, bases.required_packages(args.base, args.linux))
    series = export(bases.obtain(args.base, args.linux), SWITCH[args.signoff], part=part)
    print(upstream_lines(series.hooks))
    print(series.path)
    return 0


def export(
    base: Base, signoff: bool = False, layout: Layout = REPOSITORY, part: str = ""
) -> Series:
    """Make the mails, and keep them only if git am makes the prepared tree from them."""
    # lint exports the series elsewhere, so that signed mails stay.
    name = "-".join(filter(None, (base.label, part, "signed" if signoff else "")))
    place = layout.build / "series" / name
    with (
        lock.hold(layout.build, f"series/{name}"),
        tree.use(base, False, layout, part) as prepared,
    ):
        read = parts.read(part, base, layout)
        identity = identity_of_user(layout.root) if signoff else NEUTRAL
        with scratch.directory(place.parent, place.name) as draft:
            with working(f"exporting {part or 'the series'} for {base.name}"):
                repository, start = history(base, read, draft / "history", identity)
                options = ["--signoff"] if signoff else []
                mails = repository.export(start, draft / "mails", *options)
                page = parts.page(part, layout)
                cover.fill(mails[0], page, base, upstream_lines(read), layout)
            _check(base, read, mails[1:], prepared.path, draft)
            if place.exists():
                shutil.rmtree(place)
            mails[0].parent.rename(place)
    names = [mail.name for mail in mails]
    progress(f"series {name}: {len(read)} patches, which git am turns into the prepared tree")
    paths = tuple(place / file for file in names)
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
