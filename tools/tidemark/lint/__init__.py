# SPDX-License-Identifier: GPL-2.0
"""Runs the checks that a maintainer would run. Each finding has a file, a line and a tool.

The exceptions are in lint/allowed.txt, each with its reason.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import base as bases
from .. import packages, series, tree
from ..layout import REPOSITORY
from ..measure import headline
from ..report import Failure, progress, working
from . import (
    coccinelle,
    finding,
    harness,
    htmldocs,
    kconfig,
    objects,
    patches,
    prose,
    scripts,
    spelling,
)
from .finding import Finding
from .subject import Subject

TOOLS = ("coccinelle", "codespell", "mypy", "perl", "shellcheck", "sparse")
ALLOWED = Path(__file__).with_name("allowed.txt")


def figures(subject: Subject) -> Iterator[Finding]:
    """Times of unpacking in README, cover letter and messages: those in bases/<base>/run.json."""
    for file, line, text in headline.problems(subject.layout):
        yield Finding("figures", file, line, text)


CHECKS: dict[str, Callable[[Subject], Iterator[Finding]]] = {
    "patches": patches.check,
    "kconfig": kconfig.check,
    "checkpatch": scripts.checkpatch,
    "kernel-doc": scripts.kernel_doc,
    "spelling": spelling.check,
    "figures": figures,
    "prose": prose.check,
    "harness": harness.check,
    "htmldocs": htmldocs.check,
    "coccinelle": coccinelle.check,
    "objects": objects.check,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", help=f"some of: {','.join(CHECKS)}")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patches to check")
    names = args.only.split(",") if args.only else list(CHECKS)
    if unknown := [name for name in names if name not in CHECKS]:
        raise Failure(f"--only {unknown[0]}: no such check; there is: {', '.join(CHECKS)}")
    packages.require((*series.TOOLS, *TOOLS), bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    exported = series.export(base)
    subject = Subject(base, tree.ensure(base, False, REPOSITORY), exported, REPOSITORY)
    found: list[Finding] = []
    for name in names:
        with working(f"lint: {name}"):
            found += CHECKS[name](subject)
    return report_findings(found)


def report_findings(found: list[Finding]) -> int:
    refused, excused = finding.split(found, finding.read_allowed(ALLOWED))
    for complaint in refused:
        print(complaint)
    progress(f"{len(excused)} findings are allowed, for the reasons in {ALLOWED.name}")
    print(f"{len(refused)} findings" if len(refused) != 1 else "1 finding")
    return 1 if refused else 0
