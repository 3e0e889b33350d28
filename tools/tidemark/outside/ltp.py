# SPDX-License-Identifier: GPL-2.0
"""Tests of the Linux Test Project for memory, writeback and cgroups, from a path that LTP= gives.

They run on the unpatched kernel, on ours, and on ours in a cgroup with a dirty limit. LTP makes
its own cgroups below one that it calls ltp: that one has the limit as well.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from .. import guest, kbuild, packages, process, programs, scratch, sources, vm
from ..layout import REPOSITORY
from ..report import Failure, warning, working
from .suite import FAIL, LIMITED, OK, OURS, SKIP, UPSTREAM, Findings, Kernels, Missing, Wish

TOOLS = (
    *("autoconf", "automake", "busybox", "btrfs-progs", "cpio", "dosfstools", "e2fsprogs", "gcc"),
    *("libc-dev", "m4", "make", "pkgconf", "qemu", "xfsprogs"),
)
LISTS = ("controllers", "mm", "syscalls")
WANTED = re.compile(
    r"(memcontrol0\d|memcg_test_3|cgroup_core0\d|oom0[1-5]|io_control01|sync_file_range0\d"
    r"|syncfs01|fsync0[1-4]|readahead0\d|cachestat0\d|sendfile0\d|splice0\d|mmapstress\d+"
    r"|msync0\d|fallocate0\d|swapping01|ksm0\d|min_free_kbytes|overcommit_memory0\d)$"
)
BUILT = (
    *("lib", "libs", "testcases/kernel/controllers/cgroup", "testcases/kernel/controllers/memcg"),
    *("testcases/kernel/controllers/io", "testcases/kernel/mem"),
    *(
        f"testcases/kernel/syscalls/{name}"
        for name in ("cachestat", "fallocate", "fsync", "msync", "readahead", "sendfile")
    ),
    *(f"testcases/kernel/syscalls/{name}" for name in ("splice", "sync_file_range", "syncfs")),
)
LIMIT_BYTES = 4 << 20
MEMORY_MIB = 1024
DISK_BYTES = 1 << 30
TIMEOUT_SECONDS = 7200
ROUNDS = 3
# Exit codes: a test without a result that the machine cannot run, and one that ended well.
CONFIGURATION = 32
REMARK = "A test that did not end alike ran again on all kernels, and passed if it ever did."

Test = tuple[str, str]
Outcomes = dict[str, str]


def tests(lists: Iterable[str]) -> list[Test]:
    """Name and command of the tests that are wanted, from LTP's own lists."""
    rows = (line.split(None, 1) for text in lists for line in text.splitlines())
    return [(row[0], row[1].strip()) for row in rows if len(row) == 2 and WANTED.match(row[0])]


def outcomes(lines: Iterable[str]) -> Outcomes:
    """A test without a status ended with the guest."""
    found: Outcomes = {}
    name = ""
    for line in lines:
        if line.startswith("program "):
            name = line.removeprefix("program ")
            found[name] = FAIL
        elif line.startswith("status ") and name:
            status = int(line.removeprefix("status "))
            found[name] = {0: OK, CONFIGURATION: SKIP}.get(status, FAIL)
    return found


def run(kernels: Kernels, wish: Wish) -> Findings:
    source = wish.sources.get("LTP")
    if not source:
        raise Missing("LTP=path names a checkout or a tarball of the Linux Test Project")
    packages.require(TOOLS)
    top = _built(source)
    wanted = tests((top / "runtest" / name).read_text() for name in LISTS)
    place = guest.directory(f"{kernels.base.label}-ltp")
    machines = {
        column: _machine(kernels, column, place, top) for column in (UPSTREAM, OURS, LIMITED)
    }
    found: dict[str, Outcomes] = {name: {} for name, _ in wanted}
    for _ in range(ROUNDS):
        for column, machine in machines.items():
            for name, outcome in _column(column, machine, place, top, wanted).items():
                if found[name].get(column) != OK:
                    found[name][column] = outcome
        wanted = [test for test in wanted if len(set(found[test[0]].values())) > 1]
        if not wanted:
            break
    return Findings(list(machines), found, [REMARK])


def _column(
    column: str, machine: vm.Machine, place: Path, top: Path, wanted: Sequence[Test]
) -> Outcomes:
    """A test that ends the guest has failed; the next ones run in a new guest."""
    found: Outcomes = {}
    while wanted:
        ended, complete = _boot(column, machine, place, _programs_disk(place, top, wanted))
        found |= ended
        if complete:
            break
        last = list(ended)[-1]
        warning(f"{column}: {last} ended the guest")
        wanted = wanted[[name for name, _ in wanted].index(last) + 1 :]
    return found


def _boot(column: str, machine: vm.Machine, place: Path, disk: Path) -> tuple[Outcomes, bool]:
    slow = vm.Disk(guest.slow_disk(place / "disk.img"), guest.DISK_BYTES_PER_SECOND)
    machine = replace(machine, disks=[slow, vm.Disk(disk, read_only=True)])
    heard: list[str] = []
    log = place / f"{column.rpartition(' ')[2]}.log"
    with working(f"LTP, {column}", lambda: f"{len(outcomes(heard))} tests"):
        outcome = vm.run(machine, log, TIMEOUT_SECONDS, heard.append)
    ended = outcomes(outcome.results)
    if not ended:
        raise Failure(f"{log}: the guest ended before the first test", outcome.console[-10:])
    return ended, outcome.status is not None


def _built(path: Path) -> Path:
    """Build a copy of the source, without shared libraries."""
    source = sources.at_path(path, "LTP")
    place = REPOSITORY.build / "outside"
    stamp = place / "ltp.json"
    record = scratch.read_json(stamp)
    if record.get("key") == source.key and (place / record.get("top", "")).is_dir():
        return place / str(record["top"])
    into = place / "ltp"
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    with working("building LTP"):
        top = source.unpack(into)
        log = place / "ltp.log"
        log.unlink(missing_ok=True)
        steps = [] if (top / "configure").exists() else [["make", "-C", str(top), "autotools"]]
        steps += [["env", "-C", str(top), "./configure", "LDFLAGS=-static"]]
        steps += [["make", f"-j{kbuild.jobs()}", "-C", str(top / name)] for name in BUILT]
        for argv in steps:
            if process.logged(argv, log, process.environment()):
                raise Failure(f"{REPOSITORY.relative(log)}: `{' '.join(argv)}` failed")
    scratch.write_json(stamp, {"key": source.key, "top": str(top.relative_to(place))})
    return top


def _programs_disk(place: Path, top: Path, wanted: Sequence[Test]) -> Path:
    """A file system with the list of tests and their programs."""
    root = place / "disk"
    shutil.rmtree(root, ignore_errors=True)
    binaries = root / "testcases" / "bin"
    binaries.mkdir(parents=True)
    (root / "tests").write_text("".join(f"{name} {command}\n" for name, command in wanted))
    words = {word for _, command in wanted for word in command.split()}
    for path in (top / "testcases" / "kernel").rglob("*"):
        if path.name in words and path.is_file() and path.stat().st_mode & 0o100:
            process.output(["strip", "-o", binaries / path.name, path])
    image = place / "programs.img"
    image.unlink(missing_ok=True)
    with image.open("wb") as stream:
        stream.truncate(DISK_BYTES)
    mke2fs = packages.locate("mke2fs") or "mke2fs"
    process.output([mke2fs, "-q", "-t", "ext4", "-d", root, image])
    return image


def _machine(kernels: Kernels, column: str, place: Path, top: Path) -> vm.Machine:
    image = kernels.of(column)
    root = guest.new_root(place, ("outside/ltp",))
    programs.copy(guest.MKFS, root)
    shutil.copy(image.config, root / "tidemark" / "config")
    archive = guest.pack(root, place / f"{column.rpartition(' ')[2]}.cpio")
    parameters = ["kunit.enable=0"]
    parameters += [f"tidemark.limit={LIMIT_BYTES}"] if column == LIMITED else []
    return vm.Machine(image.path, archive, "ltp", (), parameters, MEMORY_MIB)
