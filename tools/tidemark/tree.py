# SPDX-License-Identifier: GPL-2.0
"""Prepares the patched tree from base, hooks and overlay, atomically. Prints its path.

There is one for the whole series, and one for the part that was asked for last. An edit of the
tree stays until the next command that uses the tree without it.
"""

import argparse
import filecmp
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import apply, hooks, lock, overlay, packages, parts, process, scratch
from . import base as bases
from .base import Base
from .hooks import Hook
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working


@dataclass(frozen=True)
class Tree:
    """A source tree to build from.

    The key identifies its content. Two contents have the same lineage if every file that differs
    has a newer time stamp in the later one: make may go on in the same build directory then.
    """

    path: Path
    key: str
    lineage: str


@dataclass(frozen=True)
class Edit:
    """A change to the series' files, which the key identifies.

    The function gets the directory that these files are in, at their paths in the tree.
    """

    key: str
    make: Callable[[Path], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parts.add_arguments(parser)


def prepare(
    base: Base, pristine: bool = False, layout: Layout = REPOSITORY, part: str = ""
) -> Path:
    return ensure(base, pristine, layout, part).path


def ensure(base: Base, pristine: bool, layout: Layout, part: str = "") -> Tree:
    """Bring the prepared tree up to date. A pristine one is the base itself: builds are O=."""
    with use(base, pristine, layout, part) as tree:
        return tree


@contextmanager
def use(
    base: Base, pristine: bool, layout: Layout, part: str = "", edit: Edit | None = None
) -> Iterator[Tree]:
    """Yield the tree, up to date, and keep others from changing it while it is in use."""
    if pristine:
        yield Tree(base.path, base.key, base.key)
        return
    packages.require(["git", "patch"])
    artifact = f"tree/{parts.label(base, part)}"
    while True:
        with lock.hold(layout.build, artifact, shared=True):
            if tree := _Preparation(base, layout, part, edit).current():
                yield tree
                return
        with lock.hold(layout.build, artifact):
            _Preparation(base, layout, part, edit).make()


def main(args: argparse.Namespace) -> int:
    part = parts.chosen(args)
    print(prepare(bases.obtain(args.base, args.linux), args.pristine, part=part))
    return 0


def _check(files: Collection[str], read: Sequence[Hook], base: Path) -> None:
    """Each file of ours is new to the base, and goes with exactly one hook."""
    owners: dict[str, str] = {}
    for hook in read:
        for path in hook.overlay:
            if path in owners:
                raise Failure(f"{hook.name}: Overlay: {path}: already named by {owners[path]}")
            owners[path] = hook.name
        for diff in hook.diffs:
            if diff.path in files:
                raise Failure(
                    f"{hook.source}: {diff.path}: hunk 1 changes an overlay file; change the file"
                )
    for path in files:
        if os.path.lexists(base / path):
            owner = f" ({owners[path]})" if path in owners else ""
            raise Failure(f"{path}: this overlay file exists in the base{owner}; it needs a hook")
        if path not in owners:
            raise Failure(f"{path}: no hook names this overlay file in an Overlay: line")


class _Preparation:
    def __init__(self, base: Base, layout: Layout, part: str, edit: Edit | None) -> None:
        self._base = base
        self._layout = layout
        self._part = part
        self._edit = edit
        self._path = layout.build / "tree" / parts.label(base, part)
        self._stamp = self._path.with_name(f"{self._path.name}.json")
        self._last = scratch.read_json(self._stamp) if self._path.is_dir() else {}
        self._hooks = parts.read(part, base, layout)
        # Of the whole series, this finds files that no hook names.
        every = overlay.for_base(base.name, layout)
        self._overlay = hooks.overlay_of(self._hooks) if part else every

    def current(self) -> Tree | None:
        """The tree, if it is up to date."""
        key = self._key()
        return (
            Tree(self._path, key, self._last["lineage"]) if self._last.get("key") == key else None
        )

    def make(self) -> None:
        if self.current():
            return
        key = self._key()
        _check(self._overlay, self._hooks, self._base.path)
        with scratch.directory(self._path.parent, self._path.name) as draft:
            stage = draft / "changed"
            stage.mkdir()
            self._fill(stage)
            changed = self._changed(stage)
            progress(
                f"tree {self._path.name}: {len(self._hooks)} hook(s), "
                f"{len(self._overlay)} file(s) of ours"
            )
            with working("linking the prepared tree"):
                process.output(["cp", "-al", self._base.path, draft / "tree"])
            self._put(changed, stage, draft / "tree")
            self._swap(key, changed, draft)

    def _key(self) -> str:
        digest = hashlib.sha256(self._base.key.encode())
        inputs = [*hooks.paths(self._base.name, self._layout)]
        inputs += [parts.path(self._part, self._layout)] if self._part else []
        inputs += self._overlay.values()
        for path in inputs:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            mode = path.stat().st_mode & 0o100
            digest.update(f"{self._layout.relative(path)}\0{mode}\0{content}\n".encode())
        digest.update(self._edit.key.encode() if self._edit else b"")
        return digest.hexdigest()

    def _fill(self, stage: Path) -> None:
        """Make the changed files in the stage: a failure here leaves the tree unchanged."""
        for hook in self._hooks:
            apply.apply(hook, self._base.path, stage)
        for path, source in self._overlay.items():
            overlay.copy(path, source, stage)
        if self._edit:
            self._edit.make(stage)

    def _changed(self, stage: Path) -> list[str]:
        """Files that need a time stamp of their own.

        A file that was changed once stays in this list: when it goes back to the base's content,
        it must look new to make, and the base's own time stamp is old.
        """
        changed = {str(path.relative_to(stage)) for path in stage.rglob("*") if path.is_file()}
        for path in self._last.get("changed", []):
            origin = self._base.path / path
            if path not in changed and origin.is_file():
                (stage / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(origin, stage / path)
                changed.add(path)
        return sorted(changed)

    def _put(self, changed: Sequence[str], stage: Path, tree: Path) -> None:
        """Replace the links to the base, and keep the time stamps of unchanged files."""
        for path in changed:
            last = self._path / path
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            (stage / path).replace(target)
            if last.is_file() and filecmp.cmp(last, target, shallow=False):
                times = last.stat()
                os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
            else:
                os.utime(target)

    def _swap(self, key: str, changed: Sequence[str], draft: Path) -> None:
        """Without a stamp a tree counts as absent, so being killed in here is harmless."""
        lineage = self._last.get("lineage") if self._last.get("base") == self._base.key else None
        lineage = lineage or uuid.uuid4().hex
        self._stamp.unlink(missing_ok=True)
        if self._path.exists():
            self._path.rename(draft / "last")
        (draft / "tree").rename(self._path)
        scratch.write_json(
            self._stamp,
            {"key": key, "base": self._base.key, "lineage": lineage, "changed": changed},
        )
