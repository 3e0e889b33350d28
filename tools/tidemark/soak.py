# SPDX-License-Identifier: GPL-2.0
"""Runs all loads at once for hours in one guest, and checks the counts of dirty pages every minute.

The loads are scripts (guest/soak/load) and kselftests that run over and over. The kernel compares
the counts of each cgroup with a walk over its pages (mm/memcg_dirty_debug.c) while the cgroups are
frozen. `make results` takes the table over into bases/<base>/soak.md.
"""

import argparse
import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from . import base as bases
from . import console, guest, kernel, lockdep, soak_record, vm
from .base import Base
from .kernel import Image
from .layout import REPOSITORY
from .report import Failure, failure, progress, working

FLAVOUR = "debug"
# The others lack the check of the counts, or have no such guest.
FLAVOURS = (FLAVOUR, "kcsan", kernel.PLAIN)
LONGEST_HOURS = 100
MEMORY_MIB = 2048
SWAP_BYTES = 512 << 20
SCRIPTS = ("soak", "load")
# Boot and the loads' last rounds. On a busy host, the guest's clock is several times too slow.
SPARE_SECONDS = 1800
SLOWEST_CLOCK = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)
    parser.add_argument("--hours", default="", help="how long the loads run, such as 4 or 0.1")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no counts to check")
    if args.flavour not in FLAVOURS:
        raise Failure(f"FLAVOUR={args.flavour}: a soak takes one of: {', '.join(FLAVOURS)}")
    length = seconds(args.hours)
    known = lockdep.parse(bases.read_recipe(args.base).lockdep)
    base, image = guest.built(args)
    outcome = _run(_machine(args, base, image, length), length)
    record = soak_record.Record(args.flavour, image.release, length, *judged(outcome, known))
    file = soak_record.path(base.label, REPOSITORY)
    soak_record.store(file, soak_record.load(file) | {record.flavour: record})
    print("\n".join(soak_record.text(record)))
    return 1 if soak_record.faults(record) else 0


def seconds(hours: str) -> int:
    """The length of a soak that HOURS= asks for."""
    try:
        value = float(hours)
    except ValueError:
        value = math.nan
    if not 0 < value <= LONGEST_HOURS:
        raise Failure(f"HOURS={hours}: expected hours, such as 4 or 0.1; {LONGEST_HOURS} at most")
    return round(value * 3600)


def _add_scripts(root: Path) -> None:
    for name in SCRIPTS:
        shutil.copy(guest.HERE / "soak" / name, root / "tidemark" / name)


def _machine(args: argparse.Namespace, base: Base, image: Image, length: int) -> vm.Machine:
    """The tests' guest with more memory and a disk to swap to."""
    parameters = ("kunit.enable=0", f"tidemark.seconds={length}")
    plain = guest.machine(args, image, base, "soak", parameters, _add_scripts)
    disks = (*plain.disks, vm.Disk(_swap(plain.place / "swap.img")))
    return replace(plain, disks=disks, memory_mib=max(plain.memory_mib, MEMORY_MIB))


def _swap(path: Path) -> Path:
    with path.open("wb") as stream:
        stream.truncate(SWAP_BYTES)
    return path


def _run(machine: vm.Machine, length: int) -> console.Outcome:
    timeout = SLOWEST_CLOCK * (length + SPARE_SECONDS)
    with working(f"soak of {length // 60} minutes"):
        return vm.run(machine, guest.log(machine), timeout, progress)


def judged(outcome: console.Outcome, known: Sequence[lockdep.Link]) -> tuple[list[str], list[str]]:
    """The guest's lines, and the console's reports: an early end of the guest is one too."""
    lines = lockdep.without_known(outcome.console, known)
    try:
        console.require_quiet(replace(outcome, console=lines))
    except Failure as error:
        failure(error)
        return outcome.results, console.complaints(lines) or [error.message]
    return outcome.results, []
