# SPDX-License-Identifier: GPL-2.0
"""Tests of the Linux Test Project for memory, writeback and cgroups, from a path that LTP= gives.

They run on the unpatched kernel, on ours, and on ours in a cgroup with a dirty limit. LTP makes
its own cgroups below one that it calls ltp: that one has the limit as well.

memcontrol02 compares memory.stat with memory.current, and fails sporadically on machines with many
CPUs. So it is a suite of its own as well: it runs a hundred times on 48 CPUs, in the third column
with "auto" flush thresholds.
"""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from .. import kbuild, packages, process
from . import built, listed
from .suite import FAIL, OK, SKIP, Findings, Kernels, Wish

TOOLS = (*listed.TOOLS, "autoconf", "automake", "m4", "make", "pkgconf")
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
MEMORY_MIB = 1024
# memcontrol02 allows for an error of a tenth on xfs, and of a half on ext4.
STAT_COMMAND = "LTP_SINGLE_FS_TYPE=xfs memcontrol02"
STAT_RUNS = 100
STAT_CPUS = 48
# The exit code of a test without a result, as the machine cannot run it.
CONFIGURATION = 32


def tests(lists: Iterable[str]) -> list[listed.Test]:
    """Name and command of the tests that are wanted, from LTP's own lists."""
    rows = (line.split(None, 1) for text in lists for line in text.splitlines())
    return [(row[0], row[1].strip()) for row in rows if len(row) == 2 and WANTED.match(row[0])]


def repeated() -> list[listed.Test]:
    """All runs of memcontrol02, each with a name of its own."""
    return [(f"memcontrol02_{number}", STAT_COMMAND) for number in range(1, STAT_RUNS + 1)]


def run(kernels: Kernels, wish: Wish) -> Findings:
    top = _obtain(wish)
    plan = listed.Plan(
        "ltp",
        tests((top / "runtest" / name).read_text() for name in LISTS),
        frozenset({CONFIGURATION}),
        MEMORY_MIB,
        fill_disk=partial(_copy_programs, top),
    )
    return listed.run(kernels, plan, wish)


def run_memcontrol02(kernels: Kernels, wish: Wish) -> Findings:
    plan = listed.Plan(
        "memcontrol02",
        repeated(),
        frozenset({CONFIGURATION}),
        MEMORY_MIB,
        limited_parameters=[f"tidemark.auto={listed.RATIO}"],
        fill_disk=partial(_copy_programs, _obtain(wish)),
        cpus=STAT_CPUS,
        rounds=1,
    )
    return together(listed.run(kernels, plan, wish))


def together(found: Findings) -> Findings:
    """The runs of memcontrol02 as one test, which fails if one of them does."""
    runs = [run for name, run in found.outcomes.items() if name != listed.CONSOLE]
    one: dict[str, str] = {}
    remarks = list(found.remarks)
    for column in found.columns:
        here = [run.get(column, FAIL) for run in runs]
        one[column] = FAIL if FAIL in here else OK if OK in here else SKIP
        remarks.append(f"{column}: {here.count(FAIL)} of {len(here)} runs failed.")
    console = found.outcomes[listed.CONSOLE]
    return Findings(found.columns, {"memcontrol02": one, listed.CONSOLE: console}, remarks)


def _obtain(wish: Wish) -> Path:
    """The top of LTP, built without shared libraries."""
    source = built.given(wish, "LTP", "the Linux Test Project")
    packages.require(TOOLS)
    steps = [
        ["sh", "-c", "test -e configure || make autotools"],
        ["./configure", "LDFLAGS=-static"],
        *(["make", f"-j{kbuild.jobs()}", "-C", name] for name in BUILT),
    ]
    return built.obtain("LTP", source, steps)


def _copy_programs(top: Path, root: Path, wanted: Sequence[listed.Test]) -> None:
    binaries = root / "testcases" / "bin"
    binaries.mkdir(parents=True)
    words = {word for _, command in wanted for word in command.split()}
    for path in (top / "testcases" / "kernel").rglob("*"):
        if path.name in words and path.is_file() and path.stat().st_mode & 0o100:
            process.output(["strip", "-o", binaries / path.name, path])
