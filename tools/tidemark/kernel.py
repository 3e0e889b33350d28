# SPDX-License-Identifier: GPL-2.0
"""The kernel: configured from fragments, built outside of its source. Prints the image's path."""

import argparse
import hashlib
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import base as bases
from . import config, hooks, lock, overlay, packages, process, scratch, tree
from .base import Base
from .layout import REPOSITORY, Layout
from .report import Failure, progress, warning, working

MACHINE = "x86_64"
TOOLS = (
    *("bc", "bison", "ccache", "cpio", "flex", "gcc", "kmod", "make", "patch", "perl", "tar", "xz"),
    *("libc-dev", "libelf-dev", "libssl-dev"),
)
FRAGMENTS = ("tidemark.config", "tidemark-vm.config")
# With these fixed, the same source gives the same image.
REPRODUCIBLE = {
    "KBUILD_BUILD_HOST": "tidemark",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "tidemark",
    "KBUILD_BUILD_VERSION": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
STEP = re.compile(rb"^  [A-Z]+ +\S", re.M)
COMPLAINT = re.compile(r"\berror: |\*\*\* |undefined reference|multiple definition")
WARNING = re.compile(r"\bwarning: ")
FIRST_COMPLAINTS = 10
LAST_LINES = 20


@dataclass(frozen=True)
class Image:
    path: Path
    build: Path
    config: Path
    release: str
    source: Path


def build(
    base: Base,
    pristine: bool = False,
    fragments: Sequence[str] = FRAGMENTS,
    flavour: str = "vm",
    layout: Layout = REPOSITORY,
) -> Image:
    """Build what changed since the last time, in one directory per base and flavour."""
    if platform.machine() != MACHINE:
        raise Failure(f"the guest kernel is for {MACHINE}; this machine is {platform.machine()}")
    if re.search(r"[\s:]", str(layout.build)):
        raise Failure(f"a kernel does not build below a path with a space or colon: {layout.build}")
    packages.require(TOOLS)
    with lock.hold(layout.build) as descriptor:
        source = tree.ensure(base, pristine, layout)
        wishes = config.read(fragments, layout)
        excepted = _own_symbols(base, layout) if pristine else set()
        name = f"{base.label}-{flavour}{'-pristine' if pristine else ''}"
        return _Build(name, source, layout, descriptor).image(wishes, excepted)


def main(args: argparse.Namespace) -> int:
    packages.require(TOOLS, bases.required_packages(args.base, args.linux))
    print(build(bases.obtain(args.base, args.linux), args.pristine).path)
    return 0


def _own_symbols(base: Base, layout: Layout) -> set[str]:
    return overlay.symbols(layout, hooks.read_all(base.name, layout))


class _Build:
    def __init__(self, name: str, source: tree.Tree, layout: Layout, descriptor: int) -> None:
        self._name = name
        self._source = source
        self._layout = layout
        self._lock = descriptor
        self._out = layout.build / "kernel" / name
        self._stamp = self._out / "tidemark.json"
        self._log = self._out / "build.log"
        self._image = self._out / "arch" / "x86" / "boot" / "bzImage"
        self._config = self._out / ".config"

    def image(self, wishes: Mapping[str, config.Wish], excepted: set[str]) -> Image:
        asked = config.merged(wishes)
        key = self._key(asked)
        last = scratch.read_json(self._stamp)
        if last.get("key") == key and self._image.exists():
            progress(f"kernel {self._name} is up to date")
            return self._result()
        if last.get("lineage") != self._source.lineage and self._out.exists():
            progress(f"kernel {self._name}: another source than last time, so all is built anew")
            shutil.rmtree(self._out)
        self._out.mkdir(parents=True, exist_ok=True)
        scratch.write_json(self._stamp, {"lineage": self._source.lineage})
        self._log.write_bytes(b"")
        self._configure(asked)
        config.verify(wishes, config.parse(self._config.read_text()), excepted)
        jobs = len(os.sched_getaffinity(0))
        with working(f"building kernel {self._name}", _StepCount(self._log)):
            self._make(f"-j{jobs}", "bzImage")
        self._show_warnings()
        scratch.write_json(self._stamp, {"lineage": self._source.lineage, "key": key})
        return self._result()

    def _key(self, asked: str) -> str:
        compiler = process.output(["gcc", "--version"]).splitlines()[0]
        parts = [self._source.key, asked, compiler, repr(sorted(REPRODUCIBLE.items()))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _configure(self, asked: str) -> None:
        fragment = self._out / "tidemark.config"
        fragment.write_text(asked)
        self._make(f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")

    def _make(self, *arguments: str) -> None:
        argv = ["make", "-C", str(self._source.path), f"O={self._out}", f"ARCH={MACHINE}"]
        if packages.locate("ccache"):
            argv += ["CC=ccache gcc", "HOSTCC=ccache gcc"]
        env = process.environment(REPRODUCIBLE)
        env.setdefault("CCACHE_DIR", str(self._layout.build / "ccache"))
        if process.logged([*argv, *arguments], self._log, env, [self._lock]):
            raise self._failure(arguments[-1])

    def _failure(self, target: str) -> Failure:
        """The first errors say what is wrong; the last lines say where make gave up."""
        lines = self._lines()
        complaints = [line for line in lines if COMPLAINT.search(line)]
        detail = complaints[:FIRST_COMPLAINTS]
        detail += ["", "the last lines of the log:", *lines[-LAST_LINES:]]
        name = self._layout.relative(self._log)
        return Failure(f"kernel {self._name}: make {target} failed, see {name}", detail)

    def _show_warnings(self) -> None:
        for line in dict.fromkeys(line for line in self._lines() if WARNING.search(line)):
            warning(line)

    def _lines(self) -> list[str]:
        return self._log.read_text(errors="replace").splitlines()

    def _result(self) -> Image:
        release = (self._out / "include" / "config" / "kernel.release").read_text().strip()
        return Image(self._image, self._out, self._config, release, self._source.path)


class _StepCount:
    """How far a build is, from what its log has gained since the last look."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = 0
        self._count = 0

    def __call__(self) -> str:
        with self._log.open("rb") as stream:
            stream.seek(self._offset)
            gained = stream.read()
        complete = gained[: gained.rfind(b"\n") + 1]
        self._offset += len(complete)
        self._count += len(STEP.findall(complete))
        return f"{self._count} files"
