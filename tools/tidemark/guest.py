# SPDX-License-Identifier: GPL-2.0
"""The guest's user space: static busybox, our scripts, programs and tests, in an initramfs."""

import argparse
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from . import base as bases
from . import kbuild, kernel, lock, overlay, packages, process, programs, scratch, tree, vm
from .base import Base
from .kernel import Image
from .layout import REPOSITORY, Layout
from .report import Failure, working

TOOLS = (
    *("btrfs-progs", "busybox", "cpio", "dosfstools", "e2fsprogs", "gcc", "libc-dev", "make"),
    *("tar", "xfsprogs"),
)
HERE = Path(__file__).resolve().parent / "guest"
SELFTEST = re.compile(r"tools/testing/selftests/(?P<suite>[^/]+)/(?P<name>test_\w+)\.c")
# Owner, device and inode numbers do not depend on the machine.
ARCHIVE = ("--format=newc", "--owner=0:0", "--reproducible")
BUSYBOX = Path("/bin/busybox")
SCRIPTS = (
    *("boot", "dirty", "kselftests", "life", "mutants", "mutantsv1", "run", "shell", "test"),
    *("upstream", "v1"),
)
# busybox has some of these, but not the file systems' own options.
MKFS = ("mkfs.btrfs", "mkfs.ext4", "mkfs.vfat", "mkfs.xfs")
MEMORY_MIB = 1024
DEBUG_MEMORY_MIB = 3072
DISK_BYTES = 4 << 30
DISK_BYTES_PER_SECOND = 30_000_000
# Some 5000 source files, 72 MB: on the disk at hand they take seconds rather than moments.
SOURCE_DIRECTORIES = ("block", "fs", "init", "ipc", "kernel", "mm")

# A lock of lock.py keeps out other processes, but not the threads of this one.
_packing = threading.Lock()


def built(args: argparse.Namespace, edit: tree.Edit | None = None) -> tuple[Base, Image]:
    """Prepare the packages, the base and the kernel that a command with a guest needs."""
    tools = (*kbuild.TOOLS, *TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    return base, kernel.build(base, args.pristine, flavour=args.flavour, edit=edit)


def _nothing(_root: Path) -> None:
    pass


def machine(
    args: argparse.Namespace,
    image: Image,
    base: Base,
    mode: str,
    parameters: tuple[str, ...] = (),
    add: Callable[[Path], None] = _nothing,
    turn: int = 0,
) -> vm.Machine:
    """The machine that a command's options ask for. See slow_machine()."""
    if args.cpus > vm.SEABIOS_CPUS and args.flavour != "debug":
        raise Failure(f"--cpus {args.cpus}: more than {vm.SEABIOS_CPUS} need FLAVOUR=debug")
    plain = slow_machine(base, image, mode, parameters, add, args.flavour, turn=turn)
    return replace(plain, cpus=args.cpus, kvm=args.kvm, threads=args.flavour == kernel.LEAN)


def slow_machine(
    base: Base,
    image: Image,
    mode: str,
    parameters: tuple[str, ...] = (),
    add: Callable[[Path], None] = _nothing,
    flavour: str = kernel.PLAIN,
    source: Path | None = None,
    turn: int = 0,
) -> vm.Machine:
    """A machine with the guest's user space, a fresh slow disk and a disk that is a tarball.

    Others add files of their own to the user space. The kselftests are those of the kernel's
    source, if no other is given. Machines that run at a time have distinct turns.
    """
    layout = REPOSITORY
    heavy = flavour not in (kernel.LEAN, kernel.PLAIN)
    name = f"{base.label}-{flavour}-{mode}" + (f"-{turn}" if turn else "")
    place = directory(name, layout)
    disks = (
        vm.Disk(slow_disk(place / "disk.img"), DISK_BYTES_PER_SECOND),
        vm.Disk(_source_tarball(base, layout), read_only=True),
    )
    initramfs = _initramfs(place, source or image.source, layout, add)
    memory = DEBUG_MEMORY_MIB if heavy else MEMORY_MIB
    return vm.Machine(image.path, initramfs, mode, disks, parameters, memory)


def directory(name: str, layout: Layout = REPOSITORY) -> Path:
    """The directory of a guest's files. No other process gets it until this one ends."""
    lock.keep(layout.build, f"guest/{name}")
    place = layout.build / "guest" / name
    place.mkdir(parents=True, exist_ok=True)
    return place


def log(guest: vm.Machine) -> Path:
    return guest.place / "console.log"


def selftests(layout: Layout = REPOSITORY) -> list[re.Match[str]]:
    """Our own kselftest programs, from the overlay."""
    found = (SELFTEST.fullmatch(path) for path in overlay.files(layout))
    return [match for match in found if match]


def build_selftest(source: Path, suite: str, name: str, destination: Path) -> None:
    """kselftest's own makefile builds it, outside of the source and without shared libraries."""
    makefile = source / "tools" / "testing" / "selftests" / suite
    if not (makefile / f"{name}.c").exists():
        return
    target = destination / name
    process.output(
        ["make", "-C", makefile, f"OUTPUT={destination}", "LDFLAGS=-static", str(target)]
    )


def new_root(place: Path, scripts: Iterable[str]) -> Path:
    """A root directory with busybox, init and the programs that init runs."""
    root = place / "root"
    if root.exists():
        shutil.rmtree(root)
    for name in ("bin", "tests", "tidemark"):
        (root / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, root / "bin")
    shutil.copy(HERE / "init", root / "init")
    for script in scripts:
        shutil.copy(HERE / script, root / "tidemark" / Path(script).name)
    return root


def build_program(name: str, root: Path, libraries: Sequence[str] = ()) -> None:
    """Compile one of the guest's programs, named by its path below guest/."""
    target = root / "tidemark" / Path(name).name
    argv: list[str | Path] = ["gcc", "-O2", "-Wall", "-Wextra", "-static", "-o", target]
    argv += [HERE / f"{name}.c", *(f"-l{library}" for library in (*libraries, "m"))]
    process.output(argv)


def _initramfs(place: Path, source: Path, layout: Layout, add: Callable[[Path], None]) -> Path:
    root = new_root(place, SCRIPTS)
    programs.copy(MKFS, root)
    build_program("antagonist", root)
    for test in selftests(layout):
        build_selftest(source, test["suite"], test["name"], root / "tests")
    add(root)
    return pack(root, place / "initramfs.cpio")


def pack(root: Path, archive: Path) -> Path:
    """The same files give the same archive: under icount, a different archive changes the boot."""
    found = sorted(root.rglob("*"))
    for path in found:
        os.utime(path, (0, 0), follow_symlinks=False)
    members = [str(path.relative_to(root)) for path in found]
    listing = archive.with_suffix(".list")
    listing.write_text("\n".join(members) + "\n")
    with listing.open("rb") as names, archive.open("wb") as sink:
        process.filtered(["cpio", "--quiet", "--create", *ARCHIVE], names, sink, root)
    return archive


def slow_disk(path: Path) -> Path:
    path.unlink(missing_ok=True)
    with path.open("wb") as stream:
        stream.truncate(DISK_BYTES)
    mke2fs = packages.locate("mke2fs") or "mke2fs"
    process.output(
        [mke2fs, "-q", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0", path]
    )
    return path


def _source_tarball(base: Base, layout: Layout) -> Path:
    """Part of the base's own source. The guest unpacks it from a disk without a file system.

    A guest that has the tarball of another source keeps that file: a new one replaces its name.
    """
    name = f"{base.label}-source.tar"
    archive = layout.build / "guest" / name
    stamp = archive.with_suffix(".json")
    with _packing, lock.hold(layout.build, f"guest/{name}"):
        if scratch.read_json(stamp).get("key") == base.key and archive.exists():
            return archive
        with working("packing the tarball that the guest unpacks"):
            draft = archive.with_name(f"{name}.new")
            process.output(
                ["tar", "-c", "--sort=name", "-f", draft, "-C", base.path, *SOURCE_DIRECTORIES]
            )
            stamp.unlink(missing_ok=True)
            draft.replace(archive)
        scratch.write_json(stamp, {"key": base.key})
    return archive
