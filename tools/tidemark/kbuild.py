# SPDX-License-Identifier: GPL-2.0
"""Runs the kernel's makefiles outside of its source. Their output goes to a log."""

import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import config, packages, process, report
from .layout import Layout
from .report import Failure

MACHINE = "x86_64"
TOOLS = (
    *("bc", "bison", "ccache", "cpio", "flex", "gcc", "kmod", "make", "patch", "perl", "tar", "xz"),
    *("libc-dev", "libelf-dev", "libssl-dev"),
)
# With these fixed, the same source gives the same image.
REPRODUCIBLE = {
    "KBUILD_BUILD_HOST": "tidemark",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "tidemark",
    "KBUILD_BUILD_VERSION": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
STEP = re.compile(rb"^  [A-Z]+ +\S", re.M)
# A step as `make -n` prints it: the command that would announce it.
PLANNED = re.compile(rb"echo [\"']  [A-Z]+ +\S")
COMPLAINT = re.compile(r"\berror: |\*\*\* |undefined reference|multiple definition")
FIRST_COMPLAINTS = 10
LAST_LINES = 20


@dataclass(frozen=True)
class Machine:
    """The architecture of a kernel, and the compiler's prefix if this machine is of another one."""

    arch: str = MACHINE
    cross: str = ""


HERE = Machine()


def jobs() -> int:
    return len(os.sched_getaffinity(0))


def check_place(layout: Layout) -> None:
    if platform.machine() != MACHINE:
        raise Failure(f"the guest kernel is for {MACHINE}; this machine is {platform.machine()}")
    if re.search(r"[\s:]", str(layout.build)):
        raise Failure(f"a kernel does not build below a path with a space or colon: {layout.build}")


class Kbuild:
    """One build directory of one source. The processes that make starts inherit the lock."""

    def __init__(
        self, name: str, source: Path, layout: Layout, lock: int, machine: Machine = HERE
    ) -> None:
        self.name = name
        self.out = layout.build / "kernel" / name
        self.log = self.out / "build.log"
        self.config = self.out / ".config"
        self._source = source
        self._layout = layout
        self._lock = lock
        self._machine = machine

    def start(self, afresh: bool = False) -> None:
        """Begin a new log, and with `afresh` a new build directory."""
        if afresh and self.out.exists():
            shutil.rmtree(self.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")

    def configure(
        self, wishes: Mapping[str, config.Wish], excepted: Sequence[str] | set[str] = ()
    ) -> dict[str, str]:
        """Write a .config with the given options and no others, and return it."""
        fragment = self.out / "tidemark.config"
        fragment.write_text(config.merged(wishes))
        self.make(f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")
        granted = config.parse(self.config.read_text())
        config.verify(wishes, granted, excepted)
        return granted

    def adapt(
        self, text: str, wishes: Mapping[str, config.Wish], excepted: set[str]
    ) -> dict[str, str]:
        """Write a .config from a whole one, with these options changed, and return it."""
        self.config.write_text(f"{text}\n{config.merged(wishes)}")
        self.make("olddefconfig")
        granted = config.parse(self.config.read_text())
        config.verify(wishes, granted, excepted)
        return granted

    def make(self, *arguments: str, timeout: float | None = None) -> None:
        try:
            status = self._run(arguments, self.log, timeout)
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"took more than {timeout:.0f} s", arguments[-1]) from error
        if status:
            raise self._failure("failed", arguments[-1])

    def planned(self, target: str) -> int:
        """About how many steps make will take for a target, after `make prepare`.

        Make has to keep going: steps of the dry run lack the results of those before them.
        """
        plan = self.out / "plan.log"
        plan.write_bytes(b"")
        self._run(("--dry-run", "--keep-going", target), plan)
        return len(PLANNED.findall(plan.read_bytes()))

    def _run(self, arguments: Sequence[str], log: Path, timeout: float | None = None) -> int:
        arch, cross = self._machine.arch, self._machine.cross
        argv = ["make", "-C", str(self._source), f"O={self.out}", f"ARCH={arch}"]
        if cross:
            argv.append(f"CROSS_COMPILE={cross}")
        if packages.locate("ccache"):
            argv += [f"CC=ccache {cross}gcc", "HOSTCC=ccache gcc"]
        env = process.environment(REPRODUCIBLE)
        env.setdefault("CCACHE_DIR", str(self._layout.build / "ccache"))
        return process.logged([*argv, *arguments], log, env, [self._lock], timeout)

    def lines(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()

    def _failure(self, how: str, target: str) -> Failure:
        """The first errors are the cause; the last lines show where make stopped."""
        lines = self.lines()
        complaints = [line for line in lines if COMPLAINT.search(line)]
        detail = complaints[:FIRST_COMPLAINTS]
        detail += ["", "the last lines of the log:", *lines[-LAST_LINES:]]
        name = self._layout.relative(self.log)
        return Failure(f"kernel {self.name}: make {target} {how}, see {name}", detail)


class StepCount:
    """The progress of a build, from the new lines of its log.

    With the number of steps that make has planned, it says how long the rest takes.
    """

    def __init__(self, log: Path, planned: int = 0) -> None:
        self._log = log
        self._planned = planned
        self._start = time.monotonic()
        self._offset = log.stat().st_size
        self._count = 0

    def __call__(self) -> str:
        with self._log.open("rb") as stream:
            stream.seek(self._offset)
            gained = stream.read()
        complete = gained[: gained.rfind(b"\n") + 1]
        self._offset += len(complete)
        self._count += len(STEP.findall(complete))
        if not 0 < self._count < self._planned:
            return f"{self._count} files"
        rest = (time.monotonic() - self._start) * (self._planned - self._count) / self._count
        return f"{self._count} of about {self._planned} files, {report.elapsed(rest)} left"
