# SPDX-License-Identifier: GPL-2.0
"""Lets others' tests and power cuts judge the unpatched and the patched kernel.

Each suite is a step. A suite that Debian does not package is built from a path that the user
gives, as LINUX= is. `make results` takes the table over into bases/<base>/outside.md.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import base as bases
from . import guest, kbuild, kernel, packages, vm
from .layout import REPOSITORY
from .outside import blktests, ltp, power, record, stress, syzkaller, xfstests
from .outside.suite import Findings, Kernels, Missing, Wish
from .report import Failure, warning

SOURCES = ("BLKTESTS", "LTP", "SYZKALLER", "XFSTESTS")


@dataclass(frozen=True)
class Suite:
    """A suite by the name that --only takes."""

    name: str
    purpose: str
    run: Callable[[Kernels, Wish], Findings]


SUITES = (
    Suite("power", "QEMU killed while limited cgroups write to ext4, xfs and btrfs", power.run),
    Suite("ltp", "the Linux Test Project: memory, writeback and cgroups", ltp.run),
    Suite("memcontrol02", "LTP's test of memory.stat, on 48 CPUs", ltp.run_memcontrol02),
    Suite("blktests", "its tests of io.max and io.cost", blktests.run),
    *(
        Suite(
            xfstests.name(fs),
            f"xfstests on {fs}: {', '.join(sorted(groups))}, crashes",
            partial(xfstests.run, fs),
        )
        for fs, groups in xfstests.GROUPS.items()
    ),
    Suite("stress", "stress-ng: memory, vm, io, filesystem and os, in a cgroup", stress.run),
    Suite("syzkaller", "a fuzzer, on a kernel with KCOV, KASAN and lockdep", syzkaller.run),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ",".join(suite.name for suite in SUITES)
    parser.add_argument("--only", default="", help=f"some of: {names}")
    parser.add_argument("--cuts", type=int, default=Wish.cuts, help="power cuts of each kernel")
    parser.add_argument("--seconds", type=int, default=Wish.seconds, help="for each stressor")
    parser.add_argument("--minutes", type=float, default=Wish.minutes, help="for syzkaller")
    parser.add_argument("--tests", default=Wish.pattern, help="a regular expression of tests")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: this target always runs both kernels")
    suites = chosen(args.only)
    given = sources(os.environ)
    tools = (*kbuild.TOOLS, *guest.TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    reasons = record.known(args.base, REPOSITORY)
    wish = Wish(args.cuts, args.seconds, args.minutes, args.tests, given, reasons.keys())
    kernels = Kernels(base, args.flavour)
    file = record.path(base.label, REPOSITORY)
    flavour = "" if args.flavour == kernel.PLAIN else f", FLAVOUR={args.flavour}"
    unexplained = 0
    for suite in suites:
        try:
            findings = suite.run(kernels, wish)
        except Missing as missing:
            warning(f"{suite.name} does not run: {missing}")
            continue
        result = record.Result(suite.name, suite.purpose, kernels.ours.release + flavour, findings)
        record.store(file, record.load(file) | {suite.name: result})
        print("\n".join(record.text(result, reasons)))
        unexplained += len(result.unexplained(reasons))
    print(f"{unexplained} unexplained differences")
    return 1 if unexplained else 0


def chosen(only: str) -> list[Suite]:
    names = only.split(",") if only else [suite.name for suite in SUITES]
    if unknown := set(names) - {suite.name for suite in SUITES}:
        raise Failure(f"--only {min(unknown)}: no such suite")
    return [suite for suite in SUITES if suite.name in names]


def sources(environment: Mapping[str, str]) -> dict[str, Path]:
    """The sources of suites that the user gives by path."""
    found = {name: Path(environment[name]) for name in SOURCES if environment.get(name)}
    for name, path in found.items():
        if not path.exists():
            raise Failure(f"{name}={path}: no such file or directory")
    return {name: path.resolve() for name, path in found.items()}
