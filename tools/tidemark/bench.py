# SPDX-License-Identifier: GPL-2.0
"""Benchmarks the unpatched and the patched kernel, and shows the figures of the old series too.

With PRISTINE=1 it compares the unpatched kernel with itself, which shows the error of the method.
"""

import argparse
import os

from . import base as bases
from . import guest, kbuild, kernel, packages, vm
from .layout import REPOSITORY
from .measure import catalogue, guests, page, results, table
from .report import Failure, progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="", help="one benchmark (default: all)")
    parser.add_argument("--list", action="store_true", help="list them and their durations instead")
    parser.add_argument(
        "--boots", type=int, help="boots of each variant (default: set by the benchmark)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="guests that run at a time if they do not disturb each other (default: one per CPU)",
    )


def list_all() -> None:
    for benchmark in catalogue.BENCHMARKS:
        clock = "guest time" if benchmark.icount else "slow disk"
        print(f"{benchmark.name:14}{benchmark.minutes:3} min  {clock}  {benchmark.title}")
        print(f"{'':32}{benchmark.about}")
    together = sum(benchmark.minutes for benchmark in catalogue.named(""))
    named = [each.name for each in catalogue.BENCHMARKS if each.by_name_only]
    print(f"{'all':14}{together:3} min  but for {', '.join(named)}")


def main(args: argparse.Namespace) -> int:
    if args.list:
        list_all()
        return 0
    chosen = catalogue.named(args.name)
    if args.flavour != kernel.PLAIN:
        raise Failure(f"FLAVOUR={args.flavour}: benchmarks of such a kernel say nothing about cost")
    if args.jobs < 1:
        raise Failure(f"--jobs {args.jobs}: at least one is needed")
    if args.boots is not None and args.boots < 2:
        raise Failure(f"--boots {args.boots}: a spread needs at least two")
    tools = [tool for benchmark in chosen for tool in benchmark.tools]
    packages.require(
        [*kbuild.TOOLS, *guest.TOOLS, *vm.TOOLS, *page.TOOLS, *tools],
        bases.required_packages(args.base, args.linux),
    )
    base = bases.obtain(args.base, args.linux)
    pristine = kernel.build(base, pristine=True)
    if args.pristine:
        compared = guests.Kernels(base, pristine)
        chosen = tuple(benchmark.of_base_alone() for benchmark in chosen)
    else:
        compared = guests.Kernels(base, pristine, kernel.build(base))
    label = f"{base.label}{'-pristine' if args.pristine else ''}"
    file = results.path(label, REPOSITORY)
    for benchmark in chosen:
        progress(f"{benchmark.name}: {benchmark.title}, about {benchmark.minutes} min")
        result = guests.run(benchmark, compared, args.boots or benchmark.boots, args.jobs)
        results.store(file, results.load(file) | {benchmark.name: result})
        print(f"\n{table.heading(benchmark, result)}\n")
        print(table.table(benchmark, result), flush=True)
    print(f"\n{table.LEGEND}")
    report = page.write(file.with_name("report.html"), results.load(file))
    names = (REPOSITORY.relative(file), REPOSITORY.relative(report))
    progress(f"the same figures are in {names[0]}, plots in {names[1]}")
    return 0
