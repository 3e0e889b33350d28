# SPDX-License-Identifier: GPL-2.0
"""A guest with Debian, from the apt sources of this machine, for recipes of the documentation."""

import argparse
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from . import archive, guest, kbuild, kernel, lock, packages, process, scratch, vm
from . import base as bases
from .kernel import Image
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

FLAVOUR = "debian"
TOOLS = ("e2fsprogs", "fakeroot", "mmdebstrap", "tar")
PACKAGES = (
    *("dbus", "dbus-user-session", "libpam-systemd", "systemd-sysv", "udev"),
    *("containerd", "crun", "lxc", "podman", "runc", "uidmap"),
    *("busybox-static", "jq", "procps", "python3", "tmux"),
)
HERE = Path(__file__).resolve().parent / "guest" / "debian"
SETUP = HERE / "setup"
# The disk of the tests: these, the pages with recipes, and the programs that they use.
TESTS = (HERE / "start", HERE / "recipes.py", HERE / "system.rst")
PAGE = Path("Documentation", "admin-guide", "mm", "memcg_dirty_containers.rst")
PROGRAM = Path("tools", "cgroup", "memcg_dirty_top.py")
ROOT_MIB = 3072
TESTS_MIB = 8
MEMORY_MIB = 2048
UNPACK = (
    'mkdir "$2" && tar -x --xattrs --xattrs-include="*" -f "$1" -C "$2" && '
    f'mke2fs -q -t ext4 -d "$2" "$3" {ROOT_MIB}m'
)


def built(args: argparse.Namespace) -> Image:
    """Prepare the packages and the kernel."""
    tools = (*kbuild.TOOLS, *TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    return kernel.build(base, args.pristine, flavour=FLAVOUR)


def machine(
    args: argparse.Namespace, image: Image, mode: str, parameters: tuple[str, ...] = ()
) -> vm.Machine:
    """The root file system and the disk of the tests; what a guest changes is lost at its end."""
    place = guest.directory(image.build.name)
    disks = (
        vm.Disk(root(REPOSITORY), temporary=True),
        vm.Disk(_tests(place, REPOSITORY), read_only=True),
    )
    words = ("kunit.enable=0", *parameters)
    return vm.Machine(image.path, None, mode, disks, words, MEMORY_MIB, args.cpus, args.kvm)


def words(pristine: bool, only: str) -> tuple[str, ...]:
    """The kernel parameters that choose recipes, for guest/debian/start."""
    unpatched = ("tidemark.unpatched",) if pristine else ()
    return (*unpatched, *([f"tidemark.tests={only}"] if only else ()))


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


def _tests(place: Path, layout: Layout) -> Path:
    content = place / "tests"
    if content.exists():
        shutil.rmtree(content)
    content.mkdir(parents=True)
    for path in (*TESTS, layout.root / PAGE, layout.root / PROGRAM):
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
