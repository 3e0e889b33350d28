# SPDX-License-Identifier: GPL-2.0
"""The fuzzer syzkaller, from a path that SYZKALLER= gives, with descriptions of our files.

It runs on a kernel with KCOV, KASAN and lockdep (FLAVOUR=syzkaller), in a small Debian system. Each
of its reports is a failure, and so is one of our files that it never reached.
"""

import csv
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import guest, kbuild, kernel, overlay, packages, process, rootfs, scratch, vm
from ..kernel import Image
from ..layout import REPOSITORY
from ..report import Failure, working
from . import built
from .suite import FAIL, OK, OURS, Findings, Kernels, Missing, Wish

FLAVOUR = "syzkaller"
TOOLS = (*rootfs.TOOLS, *vm.TOOLS, "g++", "make", "openssh-client")
DESCRIPTIONS = Path(__file__).with_name("tidemark.txt")
SEEDS = Path(__file__).with_name("tidemark.seeds")
# A copy has no history; a manager and an executor without a revision refuse to run.
REVISION = ("REV=tidemark", "GITREVDATE=20260101-000000")
SYSTEM = rootfs.System(
    "outside/syzkaller-system",
    ("iproute2", "openssh-server"),
    guest.HERE / "outside" / "syzkaller-setup",
    512,
)
# Our files, tasks that write, and shortage of memory. "openat" would be all devices.
SYSCALLS = (
    *("openat$memcg*", "openat$vm_*", "openat$cgroup*", "openat$dir", "mkdirat$memcg"),
    *("mkdirat$cgroup*", "unlinkat$memcg", "write$memcg_*", "write$cgroup*", "close"),
    *("write$vm_*", "dup", "creat", "open", "read", "pread64", "write", "pwrite64", "pwritev2"),
    *("lseek*", "unlink", "rename", "truncate", "ftruncate", "fallocate", "fsync", "fdatasync"),
    *("sync", "syncfs", "sync_file_range", "fadvise64", "readahead", "cachestat"),
    *("copy_file_range", "sendfile", "splice", "vmsplice", "tee", "pipe2", "mmap", "munmap"),
    *("msync", "madvise", "mlock", "mremap", "memfd_create", "poll", "io_setup", "io_submit"),
    *("getpid", "clock_gettime"),
)
# So little that a few programs bring the machine to direct reclaim.
MEMORY_MIB = 448
# Any number of nanoseconds below a second is a place in it.
DISK_BYTES = 1 << 30
# Writers have to be faster than the disk, also in emulation.
DISK_BYTES_PER_SECOND = 1 << 20
CPUS = 2
TASKS = 4
READY_SECONDS = 300
SOURCE = re.compile(r"mm/\w+\.c")
BROKEN = re.compile(r"seed \S+/tidemark_(\d+) is broken: (.+)")


@dataclass(frozen=True)
class Coverage:
    """The places of a source file at which KCOV looks, and those that were reached."""

    reached: int
    places: int


def run(kernels: Kernels, wish: Wish) -> Findings:
    source = built.given(wish, "SYZKALLER", "syzkaller")
    if not shutil.which("go"):
        raise Missing("`go` is not installed; the go.mod of syzkaller names the version")
    packages.require(TOOLS)
    image = kernel.build(kernels.base, flavour=FLAVOUR)
    place = guest.directory(f"{kernels.base.label}-syzkaller")
    top = built.obtain("SYZKALLER", source, steps())
    reports, table, bench = _fuzz(place, configuration(top, image, place), wish.minutes)
    return findings(reports, coverage(table, _sources()), bench)


def steps() -> list[tuple[str, ...]]:
    """The commands that build it; descriptions and seeds are in them, as they are in the key."""
    added = {"tidemark.txt": DESCRIPTIONS.read_text()}
    for number, text in enumerate(seeds()):
        added[f"test/tidemark_{number}"] = text
    write = ("sh", "-c", 'printf "%s\\n" "$1" > "sys/linux/$2"', "sh")
    make = ("make", f"-j{kbuild.jobs()}", *REVISION, "manager", "execprog", "executor")
    return [*((*write, text, name) for name, text in added.items()), make]


def seeds() -> list[str]:
    """The paragraphs of the file of seeds that have a program."""
    paragraphs = SEEDS.read_text().split("\n\n")
    return [
        text
        for text in paragraphs
        if any("(" in line for line in text.split("\n") if line[:1] != "#")
    ]


def configuration(top: Path, image: Image, place: Path) -> dict[str, object]:
    """The manager's configuration. In emulation, a reproducer would take longer than the rest."""
    machine = vm.Machine(image.path, None, "fuzz", cpus=CPUS)
    return {
        "target": "linux/amd64",
        "http": f"127.0.0.1:{_free_port()}",
        "workdir": str(place / "work"),
        "kernel_obj": str(image.build),
        "kernel_src": str(image.source),
        "kernel_build_src": str(image.source),
        "image": str(rootfs.image(SYSTEM, REPOSITORY)),
        "syzkaller": str(top),
        "procs": TASKS,
        "reproduce": False,
        "sandbox": "none",
        "enable_syscalls": list(SYSCALLS),
        "type": "qemu",
        "vm": {
            "count": 1,
            "cpu": CPUS,
            "mem": MEMORY_MIB,
            "kernel": str(image.path),
            "cmdline": f"{vm.ROOT} init=/tidemark/init kunit.enable=0 {vm.TSC} {vm.TIMER}",
            "qemu_args": " ".join(["-machine q35", *vm.processor(machine), *_disk(place)]),
            "image_device": "drive if=virtio,format=raw,cache=unsafe,file=",
            "network_device": "virtio-net-pci",
        },
    }


def _disk(place: Path) -> list[str]:
    """An empty, slow disk for programs to write to: in a high slot, it comes after the system's."""
    image = place / "disk.img"
    with image.open("wb") as stream:
        stream.truncate(DISK_BYTES)
    drive = f"-drive if=none,id=scratch,format=raw,cache=unsafe,file={image}"
    slow = f"throttling.bps-write={DISK_BYTES_PER_SECOND}"
    return [f"{drive},{slow}", "-device virtio-blk-pci,drive=scratch,addr=1e"]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _fuzz(place: Path, config: dict[str, object], minutes: float) -> tuple[list[str], str, str]:
    """The titles of the reports, the table of covered files, and the last statistics."""
    work = place / "work"
    shutil.rmtree(work, ignore_errors=True)
    scratch.write_json(place / "manager.json", config)
    bench, log = place / "bench.json", place / "manager.log"
    bench.unlink(missing_ok=True)
    manager = Path(str(config["syzkaller"])) / "bin" / "syz-manager"
    argv: list[str | Path] = [manager, f"-config={place / 'manager.json'}", f"-bench={bench}"]
    with (
        log.open("wb") as sink,
        subprocess.Popen(argv, stdout=sink, stderr=sink, env=process.environment()) as running,
        working(f"fuzzing for {minutes:g} minutes", lambda: f"{len(titles(work))} reports"),
    ):
        try:
            _wait(running, log, minutes)
            table = _get(f"http://{config['http']}/filecover")
        finally:
            running.terminate()
    return titles(work), table, bench.read_text() if bench.exists() else ""


def _wait(running: subprocess.Popen[bytes], log: Path, minutes: float) -> None:
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        time.sleep(1)
        ended = running.poll() is not None
        text = log.read_text(errors="replace")
        if ended:
            raise Failure(f"{log}: syz-manager ended", text.splitlines()[-20:])
        check_seeds(text)


def check_seeds(log: str) -> None:
    """The manager goes on without a seed that it cannot use."""
    if found := BROKEN.search(log):
        first = seeds()[int(found[1])].splitlines()[0]
        raise Failure(f"{SEEDS}: {first}: {found[2]}")


def _get(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=READY_SECONDS) as answer:
            return str(answer.read().decode())
    except urllib.error.URLError as error:
        raise Failure(f"{address}: {error}") from error


def titles(work: Path) -> list[str]:
    return sorted(path.read_text().strip() for path in work.glob("crashes/*/description"))


def coverage(table: str, files: Iterable[str]) -> dict[str, Coverage]:
    """The coverage of some source files, by the manager's table of all."""
    wanted = set(files)
    return {
        row["Filename"]: Coverage(int(row["CoveredPCs"]), int(row["TotalPCs"]))
        for row in csv.DictReader(table.splitlines())
        if row["Filename"] in wanted
    }


def programs(bench: str) -> int:
    """The number of programs that ran, by the manager's last statistics, a JSON object each."""
    ran = re.findall(r'"exec total": (\d+)', bench)
    return int(ran[-1]) if ran else 0


def _sources() -> Iterator[str]:
    """Our C files of the kernel, without tests and the check of counts, which has no knob."""
    for file in overlay.files(REPOSITORY):
        if SOURCE.fullmatch(file) and not file.endswith("_debug.c"):
            yield file


def findings(reports: list[str], covered: Mapping[str, Coverage], bench: str) -> Findings:
    outcomes = {file: {OURS: OK if each.reached else FAIL} for file, each in covered.items()}
    outcomes |= {title: {OURS: FAIL} for title in reports}
    remarks = [f"{programs(bench)} programs ran; places of ours that KCOV saw reached:"]
    for file, each in covered.items():
        part = 100 * each.reached // max(each.places, 1)
        remarks.append(f"{file:32}{each.reached:5} of {each.places:4}{part:5} %")
    return Findings([OURS], outcomes, remarks)
