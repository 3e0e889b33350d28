# SPDX-License-Identifier: GPL-2.0
"""Runs a kernel in QEMU: its console goes to a log, results come through a second serial port.

A virtio port would be faster, but QEMU serves it in a thread of its own, whose timing depends on
the host: under icount, boots would differ.
"""

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from . import console, kbuild, lock, packages, process
from .report import Failure

TOOLS = ("qemu",)
POLL_SECONDS = 0.2
DONE = "done "
LAST_RESULTS = 5
LAST_WORDS = 40
# Guest time counts instructions, and jumps to the next timer when all CPUs are idle. Without "erms"
# and "fsrm", memory is copied a word at a time: the instructions are nearer to the cost of a copy.
ICOUNT = ("-icount", "shift=1,sleep=off", "-rtc", "base=2024-01-01,clock=vm")
ICOUNT_CPU = "max,-rdrand,-rdseed,-erms,-fsrm"
# With five levels of page tables, the kernel forgets their number for a moment at boot, while it
# checks its CPU's features again: KASAN reports an interrupt at that moment as a wild access.
TCG_CPU = "max,-la57"
# Emulated CPUs' TSCs agree. But on a busy host, the kernel may measure their frequency wrongly: its
# clock then runs several times too fast. It may also find them unstable later, as a CPU did not get
# to run, and the scheduler may starve tasks once its clock has changed. So it is to count ticks
# from the start; under icount, the TSC is exact.
TSC = "tsc=unstable"
ICOUNT_TSC = "tsc=reliable"
# On a busy host, ticks may also come too late for the kernel's check of the timer: it panics.
TIMER = "no_timer_check"
ROOT = "root=/dev/vda rw"
# SeaBIOS makes no table of more CPUs. qboot does, but the kernel needs PCI_MSI to use disks then.
SEABIOS_CPUS = 16
# With qboot, the guest hears of no interrupt of a disk in a second slot. So the disks share one.
SHARED_SLOT = "multifunction=on,addr=02"
# Tests sleep more than they compute.
GUESTS = 2

Wanted = TypeVar("Wanted")
Found = TypeVar("Found")

_running: set[subprocess.Popen[str]] = set()


@dataclass(frozen=True)
class Disk:
    """A raw image, throttled to bytes_per_second unless that is 0.

    A served one is the socket of an NBD server, which gets the guest's flushes too.
    What a guest writes to a temporary disk is lost at its end.
    """

    path: Path
    bytes_per_second: int = 0
    read_only: bool = False
    served: bool = False
    temporary: bool = False


@dataclass(frozen=True)
class Machine:
    """The parameters of a boot. The mode names a script in the guest's /tidemark.

    Without an initramfs, the first disk has the root file system.
    With icount the guest's clock counts its instructions, and not the host's time. With threads
    each emulated CPU has one of its own; only a kernel without static keys survives that.
    """

    kernel: Path
    initramfs: Path | None
    mode: str
    disks: Sequence[Disk] = ()
    parameters: Sequence[str] = ()
    memory_mib: int = 1024
    cpus: int = 2
    kvm: bool = False
    icount: bool = False
    threads: bool = False

    @property
    def place(self) -> Path:
        """The directory of the files that were made for this machine."""
        return (self.initramfs or self.disks[-1].path).parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cpus", type=int, default=2, help="virtual CPUs (default: 2)")
    parser.add_argument("--kvm", action="store_true", help="use KVM instead of emulation")


def command(machine: Machine, *io: str) -> list[str]:
    """The QEMU command line. Emulation unless KVM is asked for: /dev/kvm may exist and hang."""
    qemu = packages.locate("qemu-system-x86_64") or "qemu-system-x86_64"
    qboot = machine.cpus > SEABIOS_CPUS
    argv = [qemu, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]
    argv += ["-machine", "q35", *processor(machine)]
    # SeaBIOS lists one CPU of each socket in the table for kernels without ACPI.
    argv += ["-smp", f"{machine.cpus},sockets={machine.cpus}", "-m", str(machine.memory_mib)]
    argv += ["-bios", "qboot.rom"] if qboot else []
    argv += ["-kernel", str(machine.kernel)]
    argv += ["-initrd", str(machine.initramfs)] if machine.initramfs else []
    words = ["console=ttyS0", "panic=-1", f"tidemark.mode={machine.mode}"]
    words += [f"tidemark.cpus={machine.cpus}", *machine.parameters]
    if not machine.initramfs:
        words.append(ROOT)
    if machine.icount:
        words.append(ICOUNT_TSC)
    elif not machine.kvm:
        words += [TSC, TIMER]
    argv += ["-append", " ".join(words)]
    for number, disk in enumerate(machine.disks):
        argv += _drive(number, disk, f",{SHARED_SLOT}.{number}" if qboot else "")
    return [*argv, *io]


def run(
    machine: Machine,
    log: Path,
    timeout: float,
    heard: Callable[[str], None],
    silence: float = math.inf,
) -> console.Outcome:
    """Boot the machine and pass on each line of results as it comes, until it powers off.

    Give up after the timeout, or without a line for too long. QEMU inherits the locks that this
    process keeps: if it outlives this process, its files stay its own.
    """
    results = results_path(log)
    results.write_bytes(b"")
    argv = command(machine, "-serial", f"file:{log}", "-serial", f"file:{results}")
    qemu = subprocess.Popen(
        argv,
        env=process.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=lock.kept(),
    )
    _running.add(qemu)
    try:
        lines = _follow(qemu, results, timeout, heard, silence)
    except _OutOfTime as error:
        raise Failure(f"the guest did not {error}", _traces(results, log)) from error
    finally:
        _running.discard(qemu)
        qemu.kill()
        complaint = qemu.communicate()[1].strip()
    if not lines and complaint:
        raise Failure("QEMU failed", complaint.splitlines())
    return _outcome(lines, log)


def results_path(log: Path) -> Path:
    return log.with_suffix(".results")


def abandon() -> None:
    """End all machines, also those that other threads run."""
    for qemu in list(_running):
        qemu.kill()


def side_by_side(boot: Callable[[Wanted], Found], wanted: Sequence[Wanted]) -> list[Found]:
    """The results of all boots, in their order. An error in one ends the others."""
    with ThreadPoolExecutor(min(GUESTS, kbuild.jobs())) as pool:
        try:
            return list(pool.map(boot, wanted))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            abandon()
            raise


def attach(machine: Machine) -> int:
    """Boot the machine with its console on the terminal; Ctrl-A X leaves it."""
    argv = command(machine, "-serial", "mon:stdio")
    done = subprocess.run(argv, env=process.environment(), stdin=sys.stdin, pass_fds=lock.kept())
    return done.returncode


def console_lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines() if log.exists() else []


def _traces(results: Path, log: Path) -> list[str]:
    """The last results, the kernel's first report, and its last words."""
    told = console_lines(log)
    shown = ["its results end with", *console_lines(results)[-LAST_RESULTS:]]
    if report := console.context(told):
        shown += ["the first report on its console is", *report]
    return [*shown, "its console ends with", *told[-LAST_WORDS:]]


class _OutOfTime(Exception):
    pass


def processor(machine: Machine) -> list[str]:
    """One thread emulates all CPUs, unless the machine asks for more.

    The kernel switches a static key by way of a breakpoint. With a thread for each CPU, QEMU 7.2
    lets a CPU run into it after it is gone ("Oops: int3"): switching vm.numa_stat beside page
    faults kills the pristine 6.12 within a second.
    """
    if machine.icount:
        return ["-accel", "tcg", "-cpu", ICOUNT_CPU, *ICOUNT]
    if machine.kvm:
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", f"tcg,thread={'multi' if machine.threads else 'single'}", "-cpu", TCG_CPU]


def _drive(number: int, disk: Disk, place: str) -> list[str]:
    file, cache = (f"nbd:unix:{disk.path}", "writeback") if disk.served else (disk.path, "unsafe")
    drive = f"if=none,id=disk{number},file={file},format=raw,cache={cache}"
    if disk.read_only:
        drive += ",readonly=on"
    if disk.temporary:
        drive += ",snapshot=on"
    if disk.bytes_per_second:
        drive += f",throttling.bps-total={disk.bytes_per_second}"
    device = f"virtio-blk-pci,drive=disk{number},num-queues=1,queue-size=128{place}"
    return ["-drive", drive, "-device", device]


def _follow(
    qemu: subprocess.Popen[str],
    results: Path,
    timeout: float,
    heard: Callable[[str], None],
    silence: float,
) -> list[str]:
    start = last = time.monotonic()
    lines: list[str] = []
    partial = ""
    # Without translation: a read may end between the two characters of an end of line.
    with results.open(errors="replace", newline="") as stream:
        while True:
            ended = qemu.poll() is not None
            *complete, partial = (partial + stream.read()).split("\n")
            for line in (text.rstrip("\r") for text in complete):
                lines.append(line)
                if not line.startswith(DONE):
                    heard(line)
            if ended:
                return lines
            now = time.monotonic()
            last = now if complete else last
            if now > start + timeout:
                raise _OutOfTime(f"finish within {timeout:.0f} s")
            if now > last + silence:
                raise _OutOfTime(f"say anything for {silence:.0f} s")
            time.sleep(POLL_SECONDS)


def _outcome(lines: list[str], log: Path) -> console.Outcome:
    status = None
    if lines and lines[-1].startswith(DONE):
        status = int(lines.pop().removeprefix(DONE))
    return console.Outcome(lines, console_lines(log), status)
