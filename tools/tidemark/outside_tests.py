# SPDX-License-Identifier: GPL-2.0
"""Lets others' tests, faults and hostile users judge the unpatched and the patched kernel.

Each suite is a step. `make results` takes the table over into bases/<base>/outside.md.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from . import base as bases
from . import guest, kbuild, kernel, packages, vm
from .layout import REPOSITORY
from .outside import power, record
from .outside.suite import Findings, Kernels, Wish
from .report import Failure


@dataclass(frozen=True)
class Suite:
    """A suite by the name that --only takes."""

    name: str
    purpose: str
    run: Callable[[Kernels, Wish], Findings]


SUITES = (
    Suite("power", "QEMU killed while limited cgroups write to ext4, xfs and btrfs", power.run),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ",".join(suite.name for suite in SUITES)
    parser.add_argument("--only", default="", help=f"some of: {names}")
    parser.add_argument("--cuts", type=int, default=Wish.cuts, help="power cuts of each kernel")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: this target always runs both kernels")
    suites = chosen(args.only)
    wish = Wish(args.cuts)
    tools = (*kbuild.TOOLS, *guest.TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    upstream, ours = (kernel.build(base, each, flavour=args.flavour) for each in (True, False))
    reasons = record.known(args.base, REPOSITORY)
    kernels = Kernels(base, upstream, ours)
    file = record.path(base.label, REPOSITORY)
    unexplained = 0
    for suite in suites:
        findings = suite.run(kernels, wish)
        result = record.Result(suite.name, suite.purpose, ours.release, findings)
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
