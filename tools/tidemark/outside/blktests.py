# SPDX-License-Identifier: GPL-2.0
"""The tests of throttling of blktests, from a path that BLKTESTS= gives.

They measure the time of direct I/O in a cgroup with limits in io.max or io.cost, and make no pages
dirty. In the third column, their cgroup has a dirty limit as well, and a task in it that writes
another file all the time: direct I/O must not wait for that limit, nor io.max change. A test
without a pause of that task fails.

The disk is null_blk. Their other one, scsi_debug, is none for this guest: it takes a disk's size
as the parameter of a module, and the guest's kernel has no modules. All tests ask for both; the
copy that runs does not ask for scsi_debug.
"""

import shutil
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from .. import guest, packages, programs
from ..kernel import Image
from . import built, listed
from .suite import Findings, Kernels, Wish

TOOLS = (*listed.TOOLS, "bc", "bsdextrautils", "fio", "procps")
PROGRAMS = (
    *("bash", "bc", "column", "date", "dd", "find", "findmnt", "fio", "getconf", "getopt"),
    *("grep", "mkdir", "mktemp", "pgrep", "ps", "sort", "stat", "sync"),
)
# A script: it takes grep and gzip from /bin.
ZGREP = "zgrep"
SCRIPTS = ("blktests", "blktests.bash")
GROUP = "throtl"
# These tests need no program that is built from src.
COPIED = ("check", "common", "src", f"tests/{GROUP}")
STEPS = (("sed", "-i", r"/^\s*_have_scsi_debug$/d", f"tests/{GROUP}/rc"),)
# 250 GB, the size by default, are too much for a test that makes a file system in memory.
PARAMETERS = ("null_blk.nr_devices=0", "null_blk.gb=1")
# The exit code of the guest's script for a test that was not run
NOT_RUN = 32
MEMORY_MIB = 1024


def tests(names: Iterable[str]) -> list[listed.Test]:
    """Name and command of each test, from the names of the files in its group."""
    found = sorted(name for name in names if name.isdecimal())
    return [(f"{GROUP}/{name}", f"/tidemark/blktests {GROUP}/{name}") for name in found]


def run(kernels: Kernels, wish: Wish) -> Findings:
    source = built.given(wish, "BLKTESTS", "blktests")
    packages.require(TOOLS)
    top = built.obtain("BLKTESTS", source, STEPS)
    plan = listed.Plan(
        "blktests",
        tests(path.name for path in (top / "tests" / GROUP).iterdir()),
        frozenset({NOT_RUN}),
        MEMORY_MIB,
        PARAMETERS,
        fill_disk=partial(_copy_suite, top),
        fill_root=_copy_programs,
    )
    return listed.run(kernels, plan, wish)


def _copy_suite(top: Path, root: Path, _wanted: Sequence[listed.Test]) -> None:
    for name in COPIED:
        source, target = top / name, root / "blktests" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)


def _copy_programs(root: Path, image: Image) -> None:
    """Also the kernel's list of its own drivers, which modprobe reads."""
    programs.copy(PROGRAMS, root)
    shutil.copy(packages.locate(ZGREP) or ZGREP, root / "sbin")
    for script in SCRIPTS:
        shutil.copy(guest.HERE / "outside" / script, root / "tidemark")
    modules = root / "lib" / "modules" / image.release
    modules.mkdir(parents=True)
    shutil.copy(image.build / "modules.builtin", modules)
