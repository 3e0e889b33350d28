# SPDX-License-Identifier: GPL-2.0
"""Tests of xfstests, from a path that XFSTESTS= gives: buffered writes, aio, mmap, log, crashes.

They run on the unpatched kernel, on ours, and on ours in a cgroup with a dirty limit and a floor;
in a small Debian system, as they need many of its programs. The guest's kernel lacks quotas. Each
file system is a suite, as it takes an hour or more.
"""

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from .. import guest, kbuild, packages, rootfs, vm
from ..kernel import Image
from ..layout import REPOSITORY
from . import built, listed
from .suite import Findings, Kernels, Wish

TOOLS = (
    *(*listed.TOOLS, *rootfs.TOOLS, "autoconf", "automake", "libacl1-dev", "libaio-dev"),
    *("libattr1-dev", "libtool", "m4", "make", "pkgconf", "uuid-dev", "xfslibs-dev"),
)
STEPS = (("make", "configure"), ("./configure",), ("make", f"-j{kbuild.jobs()}"))
SETUP = guest.HERE / "outside" / "xfstests-setup"
# On Debian 13, libaio1 is provided by a package of another name.
SYSTEM = rootfs.System(
    "outside/debian",
    (
        *("acl", "attr", "bc", "btrfs-progs", "dmsetup", "e2fsprogs", "gawk", "libaio1", "libcap2"),
        *("libuuid1", "perl", "procps", "psmisc", "python3-minimal", "quota"),
        *("thin-provisioning-tools", "uuid-runtime", "xfsprogs", "xxd"),
    ),
    SETUP,
    1024,
)
DISKS = ("test", "scratch", "log")
DISK_BYTES = 1 << 30
MEMORY_MIB = 1024
FLOOR_BYTES = listed.LIMIT_BYTES // 2
SKIPPED = 77
TEST_SECONDS = 3600
# Groups whose tests run if they are in the group "quick" too, on each file system.
GROUPS = {
    "ext4": frozenset({"aio", "freeze", "log", "mmap", "quota", "rw"}),
    "xfs": frozenset({"aio", "freeze", "log", "mmap", "quota", "rw"}),
    "btrfs": frozenset({"aio", "freeze"}),
}
# The one test of cgroup writeback, and tests of crashes, which are not quick.
OTHERS = frozenset({"388", "455", "475", "482", "563"})
UNWANTED = ("*.c", "*.lo", "*.o", "autom4te.cache")


def tests(groups: str, fs: str) -> Iterator[listed.Test]:
    """Name and command of the tests that are wanted, by the file group.list of xfstests."""
    lines = (line.partition("#")[0].split() for line in groups.splitlines())
    for number, *among in filter(None, lines):
        if number in OTHERS or ("quick" in among and GROUPS[fs] & set(among)):
            test = f"generic/{number}"
            yield f"{test} {fs}", f"/tidemark/xfstests {fs} {test}"


def name(fs: str) -> str:
    return f"xfstests-{fs}"


def run(fs: str, kernels: Kernels, wish: Wish) -> Findings:
    source = built.given(wish, "XFSTESTS", "xfstests")
    packages.require(TOOLS)
    top = built.obtain("XFSTESTS", source, STEPS)
    plan = listed.Plan(
        name(fs),
        list(tests((top / "tests" / "generic" / "group.list").read_text(), fs)),
        frozenset({SKIPPED}),
        MEMORY_MIB,
        limited_parameters=[f"tidemark.min={FLOOR_BYTES}"],
        fill_disk=partial(_copy_tests, top),
        fill_root=_copy_scripts,
        more_disks=_disks,
        seconds=TEST_SECONDS,
    )
    return listed.run(kernels, plan, wish)


def _copy_tests(top: Path, root: Path, _tests: Sequence[listed.Test]) -> None:
    ignored = shutil.ignore_patterns(*UNWANTED)
    shutil.copytree(top, root / "xfstests", symlinks=True, ignore=ignored)


def _copy_scripts(root: Path, _image: Image) -> None:
    for name in ("xfstests", "xfstests-check"):
        shutil.copy(guest.HERE / "outside" / name, root / "tidemark")


def _disks(place: Path) -> list[vm.Disk]:
    """The Debian system, of which changes are lost, and empty disks for the tests."""
    images = [place / f"{name}.img" for name in DISKS]
    for image in images:
        image.unlink(missing_ok=True)
        with image.open("wb") as stream:
            stream.truncate(DISK_BYTES)
    system = vm.Disk(rootfs.image(SYSTEM, REPOSITORY), temporary=True)
    return [system, *(vm.Disk(image) for image in images)]
