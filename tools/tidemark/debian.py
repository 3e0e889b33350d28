# SPDX-License-Identifier: GPL-2.0
"""A guest with Debian, from the apt sources of this machine, for recipes of the documentation."""

import argparse
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import archive, deb, guest, kbuild, kernel, lock, packages, process, scratch, vm
from . import base as bases
from .base import Base
from .kernel import Image
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

FLAVOUR = "debian"
TOOLS = ("e2fsprogs", "fakeroot", "mmdebstrap", "tar")
PACKAGES = (
    *("dbus", "dbus-user-session", "initramfs-tools", "kexec-tools", "libpam-systemd"),
    *("systemd-sysv", "udev"),
    *("containerd", "crun", "lxc", "podman", "runc", "uidmap"),
    *("busybox-static", "jq", "procps", "python3", "tmux"),
)
HERE = Path(__file__).resolve().parent / "guest" / "debian"
SETUP = HERE / "setup"
SYSTEM = HERE / "system.rst"
# The disk of the tests: these, the pages with recipes, and the programs that they use.
TESTS = (*(HERE / name for name in ("start", "install", "recipes.py", "package.rst")), SYSTEM)
PAGE = Path("Documentation", "admin-guide", "mm", "memcg_dirty_containers.rst")
PROGRAM = Path("tools", "cgroup", "memcg_dirty_top.py")
# The recipe of package.rst, which has a boot of its own.
PACKAGE = "package"
ROOT_MIB = 3072
TESTS_MIB = 64
MEMORY_MIB = 2048
UNPACK = (
    'mkdir "$2" && tar -x --xattrs --xattrs-include="*" -f "$1" -C "$2" && '
    f'mke2fs -q -t ext4 -d "$2" "$3" {ROOT_MIB}m'
)


def built(args: argparse.Namespace, tools: Sequence[str] = ()) -> tuple[Base, Image]:
    """Prepare the packages of this machine and the kernel."""
    tools = (*kbuild.TOOLS, *TOOLS, *vm.TOOLS, *tools)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    return base, kernel.build(base, args.pristine, flavour=FLAVOUR)


def machine(
    args: argparse.Namespace,
    image: Image,
    mode: str,
    parameters: tuple[str, ...] = (),
    installed: Path | None = None,
) -> vm.Machine:
    """The root file system and the disk of the tests; what a guest changes is lost at its end.

    A guest that installs a package of a kernel has it on the disk of the tests.
    """
    place = guest.directory(image.build.name + (f"-{PACKAGE}" if installed else ""))
    tests = _tests(place, REPOSITORY, installed)
    disks = (vm.Disk(root(REPOSITORY), temporary=True), vm.Disk(tests, read_only=True))
    words = ("kunit.enable=0", *parameters)
    return vm.Machine(image.path, None, mode, disks, words, MEMORY_MIB, args.cpus, args.kvm)


def package(base: Base, image: Image, layout: Layout = REPOSITORY) -> Path:
    """The Debian package of the guest's kernel: as `make deb` builds it, but in minutes."""
    place = deb.build(base, image.config.read_text(), layout, f"-{FLAVOUR}")
    return next(place.glob("linux-image-*.deb"))


def boots(pristine: bool, only: str) -> dict[str, tuple[str, ...]]:
    """The guest's modes with the kernel parameters that choose recipes, for guest/debian/start."""
    names = only.split(",") if only else []
    others = [name for name in names if name != PACKAGE]
    if pristine and len(others) < len(names):
        raise Failure(f"--only {PACKAGE}: packages are of the patched kernel, without PRISTINE=1")
    unpatched = ("tidemark.unpatched",) if pristine else ()
    chosen: dict[str, tuple[str, ...]] = {}
    if others or not names:
        chosen[FLAVOUR] = (*unpatched, *([f"tidemark.tests={','.join(others)}"] if others else ()))
    if PACKAGE in names or not (names or pristine):
        chosen[PACKAGE] = ()
    return chosen


def root(layout: Layout) -> Path:
    """The image of the root file system, which is made anew when its sources or packages change."""
    place = layout.build / "debian"
    image = place / "root.img"
    stamp = place / "root.json"
    sources = archive.own_sources()
    key = _key(sources)
    with lock.hold(layout.build, "debian"):
        if scratch.read_json(stamp).get("key") == key and image.exists():
            progress("the root file system of Debian is up to date")
            return image
        with scratch.directory(place, "root") as draft:
            tarball = _bootstrap(sources, draft, place / "mmdebstrap.log")
            with working("packing the root file system of Debian"):
                _pack(tarball, draft / "root.img")
            (draft / "root.img").rename(image)
        scratch.write_json(stamp, {"key": key})
    return image


def _tests(place: Path, layout: Layout, installed: Path | None) -> Path:
    content = place / "tests"
    if content.exists():
        shutil.rmtree(content)
    content.mkdir(parents=True)
    more = (installed,) if installed else ()
    for path in (*TESTS, layout.root / PAGE, layout.root / PROGRAM, *more):
        shutil.copy(path, content)
    image = place / "tests.img"
    image.unlink(missing_ok=True)
    mke2fs = packages.locate("mke2fs") or "mke2fs"
    process.output([mke2fs, "-q", "-t", "ext4", "-d", content, image, f"{TESTS_MIB}m"])
    return image


def _pack(tarball: Path, image: Path) -> None:
    """An ext4 image of a tarball's files, with their owners, also for users other than root."""
    argv: list[str | Path] = ["fakeroot", "sh", "-c", UNPACK, "sh", tarball]
    process.output([*argv, image.with_suffix(""), image], env={"PATH": _search_path()})


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *packages.SYSTEM_PATHS])


def _key(sources: str) -> str:
    parts = (sources, *PACKAGES, SETUP.read_text(), UNPACK)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _bootstrap(sources: str, draft: Path, log: Path) -> Path:
    """Keeps the caller's environment, where a proxy may be set."""
    tarball = draft / "root.tar"
    included = f"--include={','.join(PACKAGES)}"
    argv = ["mmdebstrap", "--variant=minbase", included, f"--customize-hook={SETUP}"]
    given = draft / "debian.sources"
    given.write_text(sources)
    with working("making a root file system of Debian"), log.open("wb") as sink:
        done = subprocess.run(
            [*argv, "", str(tarball), str(given)],
            env={**os.environ, "PATH": _search_path(), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    if done.returncode:
        told = log.read_text(errors="replace").splitlines()[-20:]
        raise Failure("mmdebstrap failed:", told)
    return tarball
