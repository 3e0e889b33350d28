# SPDX-License-Identifier: GPL-2.0
"""Exports the series as one flat patch, for people who build their own kernel. Prints its path."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import base as bases
from . import hooks, lock, packages, process, scratch, series, tree
from .base import Base
from .hooks import Hook
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

# The command with which users apply the patch.
COMMAND = ("patch", "--batch", "--silent", "--fuzz=0", "-p1", "-i")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patch to export")
    packages.require(series.TOOLS, bases.required_packages(args.base, args.linux))
    print(export(bases.obtain(args.base, args.linux)))
    return 0


def export(base: Base, layout: Layout = REPOSITORY) -> Path:
    """Make the patch, and keep it only if GNU patch makes the prepared tree from it."""
    path = layout.build / "patch" / f"tidemark-{base.label}.patch"
    with lock.hold(layout.build, f"patch/{base.label}"):
        prepared = tree.prepare(base, layout=layout)
        read = hooks.read_all(base.name, layout)
        with scratch.directory(path.parent, base.label) as draft:
            with working(f"exporting the patch for {base.name}"):
                repository, start = series.history(base, read, draft / "history")
                made = draft / path.name
                made.write_text(_text(base, repository.git("diff", "--stat=78,60", "-p", start)))
            _check(base, read, made, prepared, draft)
            made.replace(path)
    progress(f"patch {base.label}: apply it to Linux {base.version} with: patch -p1 -i {path}")
    return path


def _text(base: Base, diff: str) -> str:
    return f"Tidemark for Linux {base.version}, from {base.origin}\n\n{diff}"


def _check(base: Base, read: Sequence[Hook], patch: Path, prepared: Path, draft: Path) -> None:
    applied = draft / "applied"
    series.copy_pristine(base, read, applied)
    process.output([*COMMAND, patch], applied)
    series.require_same(base, applied, prepared)
