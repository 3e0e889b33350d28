# SPDX-License-Identifier: GPL-2.0
"""Checks the series or a part as its recipients see it: it applies, and each commit builds.

For each commit, the affected objects are compiled with each of our options off and alone, and
with all of them on; a warning is an error. The kernel of the last commit is linked and booted.
"""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import (
    affected,
    apply,
    boot,
    config,
    difference,
    guest,
    hooks,
    kbuild,
    kernel,
    lock,
    overlay,
    packages,
    parts,
    process,
    scratch,
    series,
    symbols,
    tree,
    variants,
    vm,
)
from . import base as bases
from .base import Base
from .gitrepo import Repository
from .hooks import Hook
from .kbuild import Kbuild
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working
from .series import Series

COMPILE_SECONDS = 1800


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parts.add_arguments(parser)
    vm.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patches to check")
    part = parts.chosen(args)
    tools = (*series.TOOLS, *kbuild.TOOLS, *guest.TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    exported = series.export(base, part=part)
    apply_to_whole_tree(base, exported, REPOSITORY, part)
    build_commits(base, exported.hooks, REPOSITORY)
    image = kernel.build(base, flavour=args.flavour, part=part)
    with working("booting"):
        boot.boot(args, image, base)
    print(f"{len(exported.mails)} commits apply, build and boot on Linux {base.version}")
    return 0


def apply_to_whole_tree(base: Base, exported: Series, layout: Layout, part: str = "") -> None:
    """The result of git am for the mails, in a git repository of the whole base."""
    place = layout.build / "check-series"
    name = f"{base.label}-whole"
    with (
        tree.use(base, False, layout, part) as prepared,
        lock.hold(layout.build, f"check-series/{name}"),
        scratch.directory(place, name) as draft,
    ):
        top = draft / "linux"
        with working(f"putting Linux {base.version} into git"):
            process.output(["cp", "-al", base.path, top])
            for path in series.pristine_files(exported.hooks, base):
                _replace(base.path / path, top / path)
            repository = Repository(top)
            repository.commit(f"Linux {base.version}")
        with working("git am"):
            repository.apply_mails(exported.mails)
        if differing := difference.between(top, prepared.path):
            raise Failure(f"git am gives another tree: {differing[0]} differs", differing[1:])


def build_commits(base: Base, read: Sequence[Hook], layout: Layout) -> None:
    kbuild.check_place(layout)
    with lock.hold(layout.build, f"check-series/{base.label}") as descriptor:
        steps = _Steps(base, read, layout, descriptor)
        for number, hook in enumerate(read, 1):
            progress(f"commit {number}/{len(read)}: {hook.subject}")
            steps.take(hook)


class _Steps:
    """A tree that moves from the base to the end of the series, one commit at a time."""

    def __init__(self, base: Base, read: Sequence[Hook], layout: Layout, descriptor: int) -> None:
        self._base = base
        self._hooks = read
        self._layout = layout
        self._lock = descriptor
        self._place = layout.build / "check-series"
        self._tree = self._place / base.label
        self._fragments = config.read(kernel.fragments(base.name, layout), layout)
        self._symbols = symbols.ours(layout, hooks.read_all(base.name, layout))
        self._taken: list[Hook] = []
        self._begin()

    def take(self, hook: Hook) -> None:
        with scratch.directory(self._place, self._base.label) as draft:
            for path in {diff.path for diff in hook.diffs}:
                _replace(self._tree / path, draft / path)
            apply.apply(hook, self._base.path, draft)
            for path, source in hook.overlay.items():
                overlay.copy(path, source, draft)
            for path in self._of(hook):
                _replace(draft / path, self._tree / path)
        self._taken.append(hook)
        if any(affected.matters(path) for path in self._of(hook)):
            self._compile(hook)
        for test in guest.selftests(self._layout):
            if test[0] in hook.overlay:
                with working(f"{hook.name}: {test['name']}"):
                    self._build_test(test["suite"], test["name"])

    def _begin(self) -> None:
        """Return to the base; make rebuilds the files that this changes."""
        stamp = self._place / f"{self._base.label}.json"
        if scratch.read_json(stamp).get("base") != self._base.key or not self._tree.is_dir():
            stamp.unlink(missing_ok=True)
            shutil.rmtree(self._tree, ignore_errors=True)
            for out in (self._layout.build / "kernel").glob(f"{self._base.label}-series-*"):
                shutil.rmtree(out)
            self._place.mkdir(parents=True, exist_ok=True)
            with working("linking a tree for the commits"):
                process.output(["cp", "-al", self._base.path, self._tree])
            scratch.write_json(stamp, {"base": self._base.key})
        for path in difference.between(self._base.path, self._tree):
            if (self._base.path / path).exists():
                _replace(self._base.path / path, self._tree / path)
            else:
                (self._tree / path).unlink()

    def _of(self, hook: Hook) -> list[str]:
        return [*(diff.path for diff in hook.diffs), *hook.overlay]

    def _compile(self, hook: Hook) -> None:
        ours = self._symbols_so_far()
        absent = self._symbols - ours
        asked = {name: wish for name, wish in self._fragments.items() if name not in absent}
        for name, chosen in variants.of(ours).items():
            build = Kbuild(
                f"{self._base.label}-series-{name}", self._tree, self._layout, self._lock
            )
            build.start()
            options = build.configure(variants.wishes(asked, ours, chosen))
            objects = self._objects(options)
            with working(f"{len(objects)} objects, {name}", kbuild.StepCount(build.log)):
                self._make(build, objects, hook, name)

    def _make(self, build: Kbuild, objects: Sequence[str], hook: Hook, variant: str) -> None:
        try:
            build.make(f"-j{kbuild.jobs()}", "KCFLAGS=-Werror", *objects, timeout=COMPILE_SECONDS)
        except Failure as error:
            raise Failure(f"{hook.name}, {variant}: {error.message}", error.detail) from error

    def _symbols_so_far(self) -> set[str]:
        return symbols.ours(self._layout, self._taken, self._paths(self._taken))

    def _objects(self, options: Mapping[str, str]) -> list[str]:
        """The existing files that any commit changes, and the users of our headers."""
        paths = self._paths(self._hooks)
        found = affected.built(affected.candidates(paths), self._tree, options)
        return [str(Path(path).with_suffix(".o")) for path in found]

    def _paths(self, read: Sequence[Hook]) -> list[str]:
        return [path for hook in read for path in self._of(hook)]

    def _build_test(self, suite: str, name: str) -> None:
        with scratch.directory(self._place, self._base.label) as draft:
            guest.build_selftest(self._tree, suite, name, draft)


def _replace(source: Path, target: Path) -> None:
    """Write a separate file in place of a possible link to the base."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(source, target)
