# SPDX-License-Identifier: GPL-2.0
"""The overlay: our own files, each of which goes to its path in the kernel tree, and nowhere else.

A file that only one base needs lies below bases/<base>/, at its path in the kernel tree.
"""

import os
import shutil
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from . import packages, sources
from .layout import Layout
from .report import Failure

TOPS = ("mm", "include", "kernel", "Documentation", "tools/cgroup", "tools/testing")
LEFTOVERS = ("__pycache__", "*.pyc", "*.o", "*.orig", "*.rej", "*~", ".*.swp")


def files(layout: Layout) -> list[str]:
    """Paths in the kernel tree of all our files, for any base."""
    return sorted({path for path, _, _ in _found(layout)})


def for_base(name: str, layout: Layout) -> dict[str, Path]:
    """The files that go with a base, and where each of them is in the repository."""
    chosen: dict[str, Path] = {}
    for path, base_name, source in _found(layout):
        if base_name not in ("", name):
            continue
        if path in chosen:
            there = layout.relative(chosen[path])
            raise Failure(f"{layout.relative(source)}: {there} is for the same place in the tree")
        chosen[path] = source
    return dict(sorted(chosen.items()))


def of_base(name: str, layout: Layout) -> list[Path]:
    """The files in the repository that only this base has."""
    return [source for _, base_name, source in _found(layout) if base_name == name]


def copy(path: str, source: Path, stage: Path) -> None:
    """Copy with the modes that git knows, independent of the umask at checkout."""
    target = stage / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def _found(layout: Layout) -> Iterator[tuple[str, str, Path]]:
    """Path in the tree, name of the base (empty: every base) and file, for all that git knows."""
    in_git = (layout.root / ".git").exists()
    names = set(_tracked(layout) if in_git else _walked(layout))
    for name in sorted(name for name in names if os.path.lexists(layout.root / name)):
        source = layout.root / name
        base_name = ""
        path = Path(name)
        if source.is_relative_to(layout.bases):
            base_name, *rest = source.relative_to(layout.bases).parts
            path = Path(*rest)
            if not any(path.is_relative_to(top) for top in TOPS):
                continue
        if source.is_symlink() or not source.is_file():
            raise Failure(f"{name}: an overlay file has to be a regular file")
        yield str(path), base_name, source


def _tracked(layout: Layout) -> list[str]:
    """The files that git tracks, or would track."""
    packages.require(["git"])
    options = ("-z", "--cached", "--others", "--exclude-standard")
    tops = (*TOPS, layout.relative(layout.bases))
    return sources.git(layout.root, "ls-files", *options, "--", *tops).split("\0")[:-1]


def _walked(layout: Layout) -> Iterator[str]:
    for top in (*TOPS, layout.relative(layout.bases)):
        for parent, directories, names in os.walk(layout.root / top):
            directories[:] = [name for name in directories if not _is_leftover(name)]
            kept = (Path(parent, name) for name in names if not _is_leftover(name))
            yield from (str(path.relative_to(layout.root)) for path in kept)


def _is_leftover(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in LEFTOVERS)
