# SPDX-License-Identifier: GPL-2.0
"""Tests that a guest runs one after the other: from a list, on each kernel, in a cgroup.

A test that did not end alike on all kernels may run again on all of them, unless the reason is
known, and passes if it ever did. A kernel's reports on the console are the outcome of a test that
is called `console`. A limit that pauses no test is an error: the tests ran somewhere else.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import console, guest, packages, process, programs, vm
from ..kernel import Image
from ..report import Failure, failure, warning, working
from .suite import FAIL, LIMITED, OK, OURS, SKIP, UPSTREAM, Findings, Kernels, Wish

TOOLS = (
    *("busybox", "btrfs-progs", "cpio", "dosfstools", "e2fsprogs", "gcc", "libc-dev", "qemu"),
    "xfsprogs",
)
COLUMNS = (UPSTREAM, OURS, LIMITED)
CONSOLE = "console"
ROUNDS = 3
LIMIT_BYTES = 4 << 20
RATIO = 50
DISK_BYTES = 1 << 30
TIMEOUT_SECONDS = 14400
# The guest kills a test after its seconds. But it may hang: the host waits for a line of it, too.
TEST_SECONDS = 300
SILENCE_SECONDS = 900
# Tests of memory kill tasks, which is no error here.
KILL = "Out of memory: Killed"
REMARK = "A test that did not end alike ran again unless that is known, and passed if it ever did."

Test = tuple[str, str]
Outcomes = dict[str, str]


def _nothing(*_: object) -> None:
    pass


def _no_disks(_place: Path) -> Sequence[vm.Disk]:
    return ()


@dataclass(frozen=True)
class Plan:
    """Tests by name and command.

    The exit codes in skipped mean that the machine cannot run a test. One function adds programs to
    the disk of the tests, which is mounted at /list, one to the root of a kernel's guest, and one
    makes more disks. The guest kills a test after some seconds. The tests that did not end alike
    run again, for so many rounds at most.
    """

    name: str
    tests: Sequence[Test]
    skipped: frozenset[int]
    memory_mib: int
    parameters: Sequence[str] = ()
    limited_parameters: Sequence[str] = ()
    fill_disk: Callable[[Path, Sequence[Test]], None] = _nothing
    fill_root: Callable[[Path, Image], None] = _nothing
    more_disks: Callable[[Path], Sequence[vm.Disk]] = _no_disks
    cpus: int = 2
    seconds: int = TEST_SECONDS
    rounds: int = ROUNDS


def outcomes(lines: Iterable[str], skipped: frozenset[int]) -> Outcomes:
    """A test without a status ended with the guest."""
    found: Outcomes = {}
    name = ""
    for line in lines:
        if line.startswith("program "):
            name = line.removeprefix("program ")
            found[name] = FAIL
        elif line.startswith("status ") and name:
            status = int(line.removeprefix("status "))
            found[name] = OK if not status else SKIP if status in skipped else FAIL
    return found


def reports(lines: Iterable[str]) -> list[str]:
    """The kernel's reports of errors on a console."""
    return [line for line in console.complaints(lines) if KILL not in line]


def pauses(lines: Iterable[str]) -> int:
    """The limits' count of pauses at the end of a guest's lines."""
    counts = [line for line in lines if line.startswith("paused ")]
    return int(counts[-1].removeprefix("paused ")) if counts else 0


def matching(tests: Sequence[Test], pattern: str) -> list[Test]:
    found = [test for test in tests if re.search(pattern, test[0])]
    if not found:
        raise Failure(f"--tests {pattern}: no such test")
    return found


def run(kernels: Kernels, plan: Plan, wish: Wish) -> Findings:
    place = guest.directory(f"{kernels.base.label}-{plan.name}")
    plan = replace(plan, tests=matching(plan.tests, wish.pattern))
    trials = [_Trial(kernels, plan, place, column) for column in COLUMNS]
    found: dict[str, Outcomes] = {name: {} for name, _ in plan.tests}
    tests = list(plan.tests)
    for _ in range(plan.rounds):
        for trial in trials:
            for name, outcome in trial.run(tests).items():
                if found[name].get(trial.column) != OK:
                    found[name][trial.column] = outcome
        tests = [
            (name, command)
            for name, command in tests
            if len(set(found[name].values())) > 1 and f"{plan.name} {name}" not in wish.explained
        ]
        if not tests:
            break
    found[CONSOLE] = {trial.column: FAIL if trial.complained else OK for trial in trials}
    remarks = [REMARK] if plan.rounds > 1 else []
    remarks += [f"Only tests whose names have `{wish.pattern}` ran."] if wish.pattern else []
    paused = sum(trial.pauses for trial in trials)
    return Findings(list(COLUMNS), found, [*remarks, f"{LIMITED}: {paused} pauses for the limit"])


class _Trial:
    """The guests of one column."""

    def __init__(self, kernels: Kernels, plan: Plan, place: Path, column: str) -> None:
        self.column = column
        self.complained = False
        self.pauses = 0
        self._plan = plan
        self._place = place
        self._label = column.rpartition(" ")[2]
        image = kernels.of(column)
        root = guest.new_root(place, ("outside/listed",))
        programs.copy(guest.MKFS, root)
        plan.fill_root(root, image)
        shutil.copy(image.config, root / "tidemark" / "config")
        archive = guest.pack(root, place / f"{self._label}.cpio")
        parameters = ["kunit.enable=0", f"tidemark.seconds={plan.seconds}", *plan.parameters]
        if column == LIMITED:
            parameters += [f"tidemark.limit={LIMIT_BYTES}", *plan.limited_parameters]
        self._machine = vm.Machine(
            image.path, archive, "listed", (), parameters, plan.memory_mib, plan.cpus
        )

    def run(self, tests: Sequence[Test]) -> Outcomes:
        """A test that ends the guest has failed; the next ones run in a new guest."""
        found: Outcomes = {}
        while tests:
            ended, complete = self._boot(tests)
            found |= ended
            if complete:
                break
            last = list(ended)[-1]
            warning(f"{self.column}: {last} ended the guest")
            tests = tests[[name for name, _ in tests].index(last) + 1 :]
        if self.column == LIMITED and not self.pauses:
            raise Failure(f"{self.column}: the limit paused no test")
        return found

    def _boot(self, tests: Sequence[Test]) -> tuple[Outcomes, bool]:
        slow = vm.Disk(guest.slow_disk(self._place / "disk.img"), guest.DISK_BYTES_PER_SECOND)
        listed = vm.Disk(self._list_disk(tests), read_only=True)
        disks = [slow, listed, *self._plan.more_disks(self._place)]
        machine = replace(self._machine, disks=disks)
        log = self._place / f"{self._label}.log"
        heard: list[str] = []
        with working(f"{self._plan.name}, {self.column}", lambda: self._progress(heard)):
            outcome = self._listen(machine, log, heard)
        self.pauses += pauses(outcome.results)
        if said := reports(outcome.console):
            self.complained = True
            failure(Failure(f"{self.column}: the kernel reported errors", said))
        self.pauses += pauses(outcome.results)
        ended = outcomes(outcome.results, self._plan.skipped)
        if not ended:
            raise Failure(f"{log}: the guest ended before the first test", outcome.console[-10:])
        return ended, outcome.status is not None

    def _listen(self, machine: vm.Machine, log: Path, heard: list[str]) -> console.Outcome:
        """A guest that says nothing for long has failed its last test."""
        try:
            return vm.run(machine, log, TIMEOUT_SECONDS, heard.append, SILENCE_SECONDS)
        except Failure as hang:
            failure(hang)
            return console.Outcome(heard, vm.console_lines(log), None)

    def _progress(self, heard: Iterable[str]) -> str:
        return f"{len(outcomes(heard, self._plan.skipped))} of {len(self._plan.tests)} tests"

    def _list_disk(self, tests: Sequence[Test]) -> Path:
        """A file system with the list of tests and their programs."""
        root = self._place / "disk"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        (root / "tests").write_text("".join(f"{name}\t{command}\n" for name, command in tests))
        self._plan.fill_disk(root, tests)
        image = self._place / "list.img"
        image.unlink(missing_ok=True)
        with image.open("wb") as stream:
            stream.truncate(DISK_BYTES)
        mke2fs = packages.locate("mke2fs") or "mke2fs"
        process.output([mke2fs, "-q", "-t", "ext4", "-d", root, image])
        return image
