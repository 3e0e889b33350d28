# SPDX-License-Identifier: GPL-2.0
"""Compiles the affected objects in many configurations, where a warning is an error.

With --boot, the variants that can run in the guest are linked and booted too: a kernel build each.
"""

import argparse
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import (
    affected,
    boot,
    config,
    guest,
    kbuild,
    kernel,
    lock,
    overlay,
    packages,
    process,
    symbols,
    tree,
    variants,
    vm,
)
from . import base as bases
from .base import Base
from .hooks import read_all
from .kbuild import Kbuild
from .kernel import Image
from .layout import REPOSITORY, Layout
from .report import Failure, failure, working

COMPILE_SECONDS = 3600
# A call to libgcc in nm's output: no kernel has that library.
DIVISION = re.compile(r"^(\S+): +U (__u?(?:div|mod|divmod)di[34])$", re.M)
LIMIT = "MEMCG_DIRTY_LIMIT"
THRESHOLD = "MEMCG_FLUSH_THRESHOLD"
HIGH = "MEMCG_HIGH_WAIT"
MAX = "MEMCG_MAX_WAIT"
OOM = "MEMCG_OOM_WAIT"
# Its suite makes up a node.
NODES = "WATERMARK_WAIT_KUNIT_TEST"


@dataclass(frozen=True)
class Variant:
    """The changes to the guest's configuration, and our options in it."""

    options: Mapping[str, str]
    lost: Collection[str] = ()
    machine: kbuild.Machine = kbuild.HERE


# Where an option can be off, the guest's configuration covers the other case.
VARIANTS = {
    "memcg-n": Variant({"MEMCG": "n"}, (LIMIT, THRESHOLD, HIGH, MAX, OOM)),
    "cgroup-writeback-n": Variant({"BLK_CGROUP": "n"}, (LIMIT,)),
    "memcg-v1-n": Variant({"MEMCG_V1": "n"}),
    "smp-n": Variant({"SMP": "n"}, (NODES,)),
    "numa-n": Variant({"NUMA": "n"}, (NODES,)),
    "lru-gen-n": Variant({"LRU_GEN": "n"}),
    "preempt-rt": Variant({"EXPERT": "y", "PREEMPT_RT": "y"}),
    "i386": Variant({"64BIT": "n"}, (NODES,), machine=kbuild.Machine("i386")),
    "arm64": Variant({}, machine=kbuild.Machine("arm64", "aarch64-linux-gnu-")),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)
    parser.add_argument(
        "--boot", action="store_true", help="also link and boot the variants that the guest can run"
    )
    parser.add_argument("--only", default="", help="some of the variants, separated by commas")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patches to compile")
    tools = (*kbuild.TOOLS, "gcc-arm64", *(guest.TOOLS if args.boot else ()), *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    kbuild.check_place(REPOSITORY)
    with lock.hold(REPOSITORY.build, f"kernel/{base.label}-matrix") as descriptor:
        return _Matrix(args, base, REPOSITORY, descriptor).run()


def every(ours: Collection[str]) -> dict[str, Variant]:
    """Each option of ours off and alone, none of them, all of them, and then the others."""
    chosen = dict(variants.of(ours))
    for feature in sorted(option for option in ours if not option.endswith(variants.TEST)):
        rest = {option for option in ours if not option.startswith(feature)}
        chosen[f"no-{feature.lower().replace('_', '-')}"] = frozenset(rest)
    found = {
        name: Variant(dict.fromkeys(set(ours) - options, "n"), set(ours) - options)
        for name, options in chosen.items()
    }
    return {**found, **VARIANTS}


def wanted(
    variant: Variant, fragments: Mapping[str, config.Wish], ours: Collection[str]
) -> tuple[dict[str, config.Wish], set[str]]:
    """The options to set, and those that Kconfig has to accept."""
    lost = {option for option in ours if option.startswith(tuple(variant.lost))}
    wishes = variants.wishes(fragments, ours, set(ours) - lost)
    for option, value in variant.options.items():
        wishes[option] = config.Wish(option, value, variants.NOBODY)
    return wishes, {*variant.options, *ours}


def divisions(listing: str) -> list[str]:
    """Objects that divide 64-bit numbers without div64_u64() or the like, by nm's output."""
    return [f"{path} calls {function}()" for path, function in DIVISION.findall(listing)]


class _Matrix:
    def __init__(
        self, args: argparse.Namespace, base: Base, layout: Layout, descriptor: int
    ) -> None:
        self._args = args
        self._base = base
        self._layout = layout
        self._lock = descriptor
        self._tree = tree.ensure(base, False, layout).path
        self._hooks = read_all(base.name, layout)
        paths = overlay.for_base(base.name, layout)
        self._ours = symbols.ours(layout, self._hooks, paths)
        self._paths = [*paths, *(diff.path for hook in self._hooks for diff in hook.diffs)]
        self._fragments = config.read(kernel.fragments(base.name, layout), layout)

    def run(self) -> int:
        known = every(self._ours)
        names = self._args.only.split(",") if self._args.only else list(known)
        if unknown := [name for name in names if name not in known]:
            raise Failure(f"--only {unknown[0]}: no such variant; there is: {', '.join(known)}")
        rows = [(name, self._try(name, known[name])) for name in names]
        for name, how in rows:
            print(f"{name:28} {how}")
        failed = sum(how == "FAIL" for _, how in rows)
        print(f"{len(rows)} configurations, {failed} failed")
        return 1 if failed else 0

    def _try(self, name: str, variant: Variant) -> str:
        """Check one variant; its failure does not prevent the next ones."""
        # One directory per architecture: only objects that an option affects are rebuilt.
        place = f"{self._base.label}-matrix-{variant.machine.arch}"
        build = Kbuild(place, self._tree, self._layout, self._lock, variant.machine)
        try:
            options = self._configure(build, variant)
            how = self._compile(build, name, options)
            if self._args.boot and variant.machine == kbuild.HERE:
                self._boot(build, name)
                how += ", boots"
        except Failure as error:
            failure(Failure(f"{name}: {error.message}", error.detail))
            return "FAIL"
        return how

    def _configure(self, build: Kbuild, variant: Variant) -> dict[str, str]:
        """Kconfig accepted the variant's options, and our options that it does not set."""
        build.start()
        wishes, required = wanted(variant, self._fragments, self._ours)
        return build.configure(wishes, set(wishes) - required)

    def _compile(self, build: Kbuild, name: str, options: Mapping[str, str]) -> str:
        found = affected.built(affected.candidates(self._paths), self._tree, options)
        objects = [str(Path(path).with_suffix(".o")) for path in found]
        with working(f"{len(objects)} objects, {name}", kbuild.StepCount(build.log)):
            build.make(f"-kj{kbuild.jobs()}", "KCFLAGS=-Werror", *objects, timeout=COMPILE_SECONDS)
        if options.get("64BIT") != "y":
            self._require_linkable(build.out, objects)
        return f"{len(objects)} objects"

    def _require_linkable(self, out: Path, objects: Collection[str]) -> None:
        """The 32-bit objects are not linked, and only the linker would find these calls."""
        if found := divisions(process.output(["nm", "-A", "-u", *objects], out)):
            raise Failure("64-bit divisions that a 32-bit kernel does not link", found)

    def _boot(self, build: Kbuild, name: str) -> None:
        with working(f"building kernel {name}", kbuild.StepCount(build.log)):
            build.make(f"-j{kbuild.jobs()}", "KCFLAGS=-Werror", "bzImage")
        path = build.out / "arch" / "x86" / "boot" / "bzImage"
        image = Image(path, build.out, build.config, "", self._tree)
        boot.boot(self._args, image, self._base)
