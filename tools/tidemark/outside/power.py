# SPDX-License-Identifier: GPL-2.0
"""Power cuts: QEMU is killed at random moments while limited cgroups write to three file systems.

The disks lose writes that were not flushed. The next boot has to find clean file systems, and all
that was acknowledged. The unpatched kernel shows the file systems' own part in a failure.
"""

import random
import re
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from .. import console, guest, packages, process, programs, vm
from ..report import Failure, failure, working
from . import volatile
from .suite import FAIL, LIMITED, OK, UPSTREAM, Findings, Kernels, Wish

TOOLS = ("btrfs-progs", "busybox", "cpio", "e2fsprogs", "gcc", "libc-dev", "qemu", "xfsprogs")
MKFS = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-q", "-f"),
    "btrfs": ("mkfs.btrfs", "-q", "-f"),
}
CHECKERS = ("btrfs", "e2fsck", "xfs_repair")
DISK_BYTES = 1 << 30
BYTES_PER_SECOND = 20_000_000
LIMIT_BYTES = 8 << 20
SEED = 20261126
# The moment of a cut, after the writers have started.
SHORTEST_SECONDS, LONGEST_SECONDS = 0.5, 8.0
TIMEOUT_SECONDS = 300
STARTED = "writing"
LINE = re.compile(r"(?P<what>ack|found|paused) (?P<fs>\w+) (?P<kind>\w+ )?(?P<number>\d+)$")
WRONG = re.compile(r"broken |said |fsck \w+ (?!0$)")

Ledger = dict[tuple[str, str], int]


def ledger(lines: Iterable[str], what: str) -> Ledger:
    """The last number in each writer's lines: of the writes acknowledged or found, of pauses."""
    found = [line for line in map(LINE.match, lines) if line and line["what"] == what]
    return {(line["fs"], (line["kind"] or "").strip()): int(line["number"]) for line in found}


def problems(fs: str, before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The damage of a cut to a file system, by the lines of the writers and of the next boot."""
    said = [line for line in after if WRONG.match(line) and f" {fs} " in line]
    if not said and f"fsck {fs} 0" not in after:
        said.append(f"{fs}: the guest did not check it")
    there = ledger(after, "found")
    for key, number in ledger(before, "ack").items():
        if key[0] == fs and there.get(key, 0) < number:
            last = there.get(key, 0)
            said.append(f"{fs}: {key[1]}: write {number} was acknowledged, write {last} is there")
    return said


def run(kernels: Kernels, wish: Wish) -> Findings:
    packages.require(TOOLS)
    outcomes: dict[str, dict[str, str]] = {}
    remarks = []
    for column in (UPSTREAM, LIMITED):
        trial = _Trial(kernels, column)
        found = trial.run(wish.cuts)
        remarks.append(trial.remark)
        for test, outcome in found.items():
            outcomes.setdefault(test, {})[column] = outcome
    return Findings([UPSTREAM, LIMITED], outcomes, remarks)


class _Trial:
    """All cuts of one kernel. The disks live on from one cut to the next."""

    def __init__(self, kernels: Kernels, column: str) -> None:
        self.writes = self.lost = self.pauses = 0
        self._column = column
        self._place = guest.directory(f"{kernels.base.label}-power")
        parameters = ["kunit.enable=0"]
        parameters += [f"tidemark.limit={LIMIT_BYTES}"] if column == LIMITED else []
        initramfs = _initramfs(self._place)
        self._machine = vm.Machine(
            kernels.of(column).path, initramfs, "powercut", parameters=parameters
        )
        self._chance = random.Random(SEED)

    @property
    def remark(self) -> str:
        paused = f", {self.pauses} pauses for the limits" if self._column == LIMITED else ""
        return (
            f"{self._column}: {self.writes} acknowledged writes, "
            f"{self.lost} unflushed blocks lost{paused}"
        )

    def run(self, cuts: int) -> dict[str, str]:
        found: dict[str, str] = {}
        with ExitStack() as stack:
            sockets = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            disks = {fs: _new_disk(self._place, fs) for fs in MKFS}
            for fs, disk in disks.items():
                stack.enter_context(closing(disk))
                stack.enter_context(volatile.served(disk, sockets / fs))
            served = [vm.Disk(sockets / fs, BYTES_PER_SECOND, served=True) for fs in MKFS]
            self._machine = replace(self._machine, disks=served)
            label = f"power cuts, {self._column}"
            stack.enter_context(working(label, lambda: f"{len(found)} checks"))
            before = self._boot(0, False)
            for number in range(1, cuts + 1):
                self.lost += sum(disk.cut(self._chance) for disk in disks.values())
                after = self._boot(number, number == cuts)
                found |= self._judge(number, before, after)
                if FAIL in found.values():
                    break  # The disks stay as they are.
                before = after
        return found

    def _boot(self, number: int, last: bool) -> list[str]:
        """The lines of a boot, which ends with a cut unless it only has to check the last one."""
        parameters = [*self._machine.parameters, f"tidemark.cut={number}"]
        machine = replace(
            self._machine, parameters=[*parameters, "tidemark.last"] if last else parameters
        )
        log = self._place / f"{self._column.partition(' ')[2] or self._column}-{number}.log"
        delay = self._chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS)
        power = threading.Timer(delay, vm.abandon)
        outcome = vm.run(
            machine, log, TIMEOUT_SECONDS, lambda line: power.start() if line == STARTED else None
        )
        power.cancel()
        if console.complaints(outcome.console):
            raise Failure(f"{log}: the kernel reported an error", console.context(outcome.console))
        if last != (outcome.status == 0) or (not last and STARTED not in outcome.results):
            raise Failure(f"{log}: the guest ended early", [*outcome.results[-10:]])
        self.writes += sum(line.startswith("ack ") for line in outcome.results)
        self.pauses += sum(ledger(outcome.results, "paused").values())
        return outcome.results

    def _judge(self, number: int, before: list[str], after: list[str]) -> dict[str, str]:
        found = {}
        for fs in MKFS:
            said = problems(fs, before, after)
            found[f"cut {number} {fs}"] = FAIL if said else OK
            if said:
                failure(Failure(f"{self._column}, cut {number}: {fs}", said))
        return found


def _new_disk(place: Path, fs: str) -> volatile.Disk:
    path = place / f"{fs}.img"
    path.unlink(missing_ok=True)
    with path.open("wb") as stream:
        stream.truncate(DISK_BYTES)
    program, *options = MKFS[fs]
    process.output([packages.locate(program) or program, *options, path])
    return volatile.Disk(path)


def _initramfs(place: Path) -> Path:
    root = guest.new_root(place, ("outside/powercut",))
    programs.copy(CHECKERS, root)
    guest.build_program("outside/power", root)
    return guest.pack(root, place / "initramfs.cpio")
