# SPDX-License-Identifier: GPL-2.0
"""The overlay: files of ours that go into the kernel tree at their own path, and nowhere else.

What only another base's hooks name stays out: it stands in for something that this base has.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from . import hooks as patches
from . import packages, sources
from .hooks import Hook
from .layout import Layout
from .report import Failure

TOPS = ("mm", "include", "kernel", "Documentation", "tools/cgroup", "tools/testing")
LEFTOVERS = ("__pycache__", "*.pyc", "*.o", "*.orig", "*.rej", "*~", ".*.swp")
SYMBOL = re.compile(r"^(?:menu)?config\s+(\w+)", re.M)


def files(layout: Layout) -> list[str]:
    """Paths of the overlay's files: those that git tracks, or would."""
    found = _tracked(layout) if (layout.root / ".git").exists() else _walked(layout)
    present = sorted({path for path in found if os.path.lexists(layout.root / path)})
    for path in present:
        if (layout.root / path).is_symlink() or not (layout.root / path).is_file():
            raise Failure(f"{path}: an overlay file has to be a regular file")
    return present


def for_base(name: str, hooks: Sequence[Hook], layout: Layout) -> list[str]:
    """The files that go with a base, and those that no hook of any base names."""
    own = {path for hook in hooks for path in hook.overlay}
    found = files(layout)
    if own.issuperset(found):
        return found
    others = {path for hook in _hooks_of_others(name, layout) for path in hook.overlay}
    return [path for path in found if path in own or path not in others]


def check(overlay: Sequence[str], hooks: Sequence[Hook], base: Path) -> None:
    """Each overlay file is new to the base, and goes with exactly one hook."""
    owners: dict[str, str] = {}
    for hook in hooks:
        for path in hook.overlay:
            if path in owners:
                raise Failure(f"{hook.name}: Overlay: {path}: already named by {owners[path]}")
            if path not in overlay:
                raise Failure(f"{hook.name}: Overlay: {path}: no such overlay file")
            owners[path] = hook.name
        for diff in hook.diffs:
            if diff.path in overlay:
                raise Failure(
                    f"{hook.name}: {diff.path}: hunk 1 changes an overlay file; change the file"
                )
    for path in overlay:
        if os.path.lexists(base / path):
            owner = f" ({owners[path]})" if path in owners else ""
            raise Failure(f"{path}: this overlay file exists in the base{owner}; it needs a hook")
        if path not in owners:
            raise Failure(f"{path}: no hook names this overlay file in an Overlay: line")


def copy(path: str, layout: Layout, stage: Path) -> None:
    """Copy with the modes that git knows, whatever the umask was at checkout."""
    source = layout.root / path
    target = stage / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def symbols(layout: Layout, hooks: Sequence[Hook], paths: Sequence[str] | None = None) -> set[str]:
    """Config options that are ours, which a pristine kernel cannot have.

    They are those of some hooks, with the files of ours among some paths, or all of them.
    """
    found: set[str] = set()
    for path in files(layout):
        if Path(path).name.startswith("Kconfig") and (paths is None or path in paths):
            found.update(SYMBOL.findall((layout.root / path).read_text()))
    for hook in hooks:
        found.update(SYMBOL.findall("\n".join(hook.added_lines())))
    return found


def _hooks_of_others(name: str, layout: Layout) -> Iterator[Hook]:
    for directory in sorted(layout.patches.iterdir()):
        if directory.name != name:
            yield from patches.read_all(directory.name, layout)


def _tracked(layout: Layout) -> list[str]:
    packages.require(["git"])
    options = ("-z", "--cached", "--others", "--exclude-standard")
    return sources.git(layout.root, "ls-files", *options, "--", *TOPS).split("\0")[:-1]


def _walked(layout: Layout) -> Iterator[str]:
    for top in TOPS:
        for parent, directories, names in os.walk(layout.root / top):
            directories[:] = [name for name in directories if not _is_leftover(name)]
            kept = (Path(parent, name) for name in names if not _is_leftover(name))
            yield from (str(path.relative_to(layout.root)) for path in kept)


def _is_leftover(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in LEFTOVERS)
