# SPDX-License-Identifier: GPL-2.0
"""Builds the kernel outside of its source, configured from fragments. Prints the image's path."""

import argparse
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import base as bases
from . import config, hooks, kbuild, lock, packages, parts, process, scratch, symbols, tree
from .base import Base
from .kbuild import TOOLS, Kbuild
from .layout import REPOSITORY, Layout
from .report import progress, warning, working

SERIES = "tidemark.config"
FRAGMENTS = "tidemark-*.config"
PLAIN = "vm"
LEAN = "lean"
BASE = "-base"
WARNING = re.compile(r"\bwarning: ")


@dataclass(frozen=True)
class Image:
    path: Path
    build: Path
    config: Path
    release: str
    source: Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parts.add_arguments(parser)


def build(
    base: Base,
    pristine: bool = False,
    wanted: Sequence[Path] = (),
    flavour: str = PLAIN,
    layout: Layout = REPOSITORY,
    part: str = "",
    edit: tree.Edit | None = None,
) -> Image:
    """Build incrementally, in one directory per base and flavour."""
    kbuild.check_place(layout)
    packages.require(TOOLS)
    name = f"{base.label}-{flavour}{'-pristine' if pristine else '-part' if part else ''}"
    with (
        tree.use(base, pristine, layout, part, edit) as source,
        lock.hold(layout.build, f"kernel/{name}") as descriptor,
    ):
        wishes = config.read(wanted or fragments(base.name, layout, flavour), layout)
        excepted = absent_symbols(base, pristine, layout, part)
        return _Build(name, source, layout, descriptor).image(wishes, excepted)


def main(args: argparse.Namespace) -> int:
    packages.require(TOOLS, bases.required_packages(args.base, args.linux))
    part = parts.chosen(args)
    base = bases.obtain(args.base, args.linux)
    print(build(base, args.pristine, flavour=args.flavour, part=part).path)
    return 0


def fragments(base_name: str, layout: Layout, flavour: str = PLAIN) -> list[Path]:
    """The fragments to configure from, each before those that add to it.

    A base may have one of its own beside each that is for all bases.
    """
    found = [layout.fragments / SERIES]
    for name in dict.fromkeys((LEAN, *([] if flavour == LEAN else [PLAIN]), flavour)):
        found.append(_fragment(name, layout))
        own = layout.bases / base_name / "kernel" / "configs" / f"tidemark-{name}{BASE}.config"
        found += [own] if own.exists() else []
    return found


def flavours(layout: Layout = REPOSITORY) -> list[str]:
    """Lean: the guest shows the series at work. Plain: it runs all tests. Others add to that."""
    return sorted(path.stem.removeprefix("tidemark-") for path in layout.fragments.glob(FRAGMENTS))


def _fragment(flavour: str, layout: Layout) -> Path:
    return layout.fragments / f"tidemark-{flavour}.config"


def absent_symbols(base: Base, pristine: bool, layout: Layout, part: str = "") -> set[str]:
    """Options that the fragments may ask for in vain: a pristine kernel has none of ours."""
    if not pristine and not part:
        return set()
    every = symbols.ours(layout, hooks.read_all(base.name, layout))
    present = parts.read(part, base, layout) if part else []
    return every - symbols.ours(layout, present, hooks.overlay_of(present))


class _Build:
    def __init__(self, name: str, source: tree.Tree, layout: Layout, descriptor: int) -> None:
        self._name = name
        self._source = source
        self._kbuild = Kbuild(name, source.path, layout, descriptor)
        self._out = self._kbuild.out
        self._stamp = self._out / "tidemark.json"
        self._image = self._out / "arch" / "x86" / "boot" / "bzImage"

    def image(self, wishes: Mapping[str, config.Wish], excepted: set[str]) -> Image:
        key = self._key(config.merged(wishes))
        last = scratch.read_json(self._stamp)
        if last.get("key") == key and self._image.exists():
            progress(f"kernel {self._name} is up to date")
            return self._result()
        afresh = last.get("lineage") != self._source.lineage and self._out.exists()
        if afresh:
            progress(f"kernel {self._name}: the source has changed, rebuilding all files")
        self._kbuild.start(afresh)
        scratch.write_json(self._stamp, {"lineage": self._source.lineage})
        self._kbuild.configure(wishes, excepted)
        with working(f"preparing the build of kernel {self._name}"):
            self._kbuild.make(f"-j{kbuild.jobs()}", "prepare")
            planned = self._kbuild.planned("bzImage")
        steps = kbuild.StepCount(self._kbuild.log, planned)
        with working(f"building kernel {self._name}", steps):
            self._kbuild.make(f"-j{kbuild.jobs()}", "bzImage")
        self._show_warnings()
        scratch.write_json(self._stamp, {"lineage": self._source.lineage, "key": key})
        return self._result()

    def _key(self, asked: str) -> str:
        compiler = process.output(["gcc", "--version"]).splitlines()[0]
        parts = [self._source.key, asked, compiler, repr(sorted(kbuild.REPRODUCIBLE.items()))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _show_warnings(self) -> None:
        for line in dict.fromkeys(line for line in self._kbuild.lines() if WARNING.search(line)):
            warning(line)

    def _result(self) -> Image:
        release = (self._out / "include" / "config" / "kernel.release").read_text().strip()
        return Image(self._image, self._out, self._kbuild.config, release, self._source.path)
