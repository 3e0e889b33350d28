# SPDX-License-Identifier: GPL-2.0
"""A guest with Debian, from the apt sources of this machine, for recipes of the documentation."""

import argparse
import re
import shutil
from collections.abc import Container, Sequence
from pathlib import Path

from . import base as bases
from . import deb, guest, kbuild, kernel, packages, process, rootfs, vm
from .base import Base
from .kernel import Image
from .layout import REPOSITORY, Layout
from .report import Failure

FLAVOUR = "debian"
PACKAGES = (
    *("dbus", "dbus-user-session", "initramfs-tools", "kexec-tools", "libpam-systemd"),
    *("systemd-sysv", "udev"),
    *("containerd", "crun", "lxc", "podman", "runc", "uidmap"),
    *("busybox-static", "jq", "procps", "python3", "tmux"),
)
HERE = Path(__file__).resolve().parent / "guest" / "debian"
SETUP = HERE / "setup"
SYSTEM = HERE / "system.rst"
PACKAGE_CONFIG = HERE / "package.config"
# The disk of the tests: these, the pages with recipes, and the programs that they use.
TESTS = (*(HERE / name for name in ("start", "install", "recipes.py", "package.rst")), SYSTEM)
PAGE = Path("Documentation", "admin-guide", "mm", "memcg_dirty_containers.rst")
PROGRAM = Path("tools", "cgroup", "memcg_dirty_top.py")
# The recipe of package.rst, which has a boot of its own.
PACKAGE = "package"
# See guest/debian/recipes.py.
RECIPE = re.compile(r"^\.\. (?P<kind>tested|without|always): (?P<name>[\w-]+)", re.M)
ROOT_MIB = 3072
# Beside the package.
TESTS_MIB = 16
MEMORY_MIB = 2048


def built(args: argparse.Namespace, tools: Sequence[str] = ()) -> tuple[Base, Image]:
    """Prepare the packages of this machine and the kernel."""
    tools = (*kbuild.TOOLS, *rootfs.TOOLS, *vm.TOOLS, *tools)
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
    text = image.config.read_text() + PACKAGE_CONFIG.read_text()
    place = deb.build(base, text, layout, f"-{FLAVOUR}")
    return next(place.glob("linux-image-*.deb"))


def given_package(path: str, modes: Container[str]) -> Path:
    """A package such as `make deb` has made, for a boot in one of these modes."""
    package = Path(path).expanduser()
    if not package.match("linux-image-*.deb"):
        raise Failure(f"--package {path}: not a linux-image-*.deb")
    if not package.is_file():
        raise Failure(f"--package {path}: no such file")
    if PACKAGE not in modes:
        raise Failure(f"--package {path}: the recipe {PACKAGE}, which installs it, is not to run")
    return package


def boots(pristine: bool, only: str) -> dict[str, tuple[str, ...]]:
    """The guest's modes with the kernel parameters that choose recipes, for guest/debian/start."""
    names = only.split(",") if only else []
    others = [name for name in names if name != PACKAGE]
    if pristine and len(others) < len(names):
        raise Failure(f"--only {PACKAGE}: packages are of the patched kernel, without PRISTINE=1")
    _require(others, "without" if pristine else "tested")
    unpatched = ("tidemark.unpatched",) if pristine else ()
    chosen: dict[str, tuple[str, ...]] = {}
    if others or not names:
        chosen[FLAVOUR] = (*unpatched, *([f"tidemark.tests={','.join(others)}"] if others else ()))
    if PACKAGE in names or not (names or pristine):
        chosen[PACKAGE] = ()
    return chosen


def _require(names: Sequence[str], kind: str) -> None:
    pages = (SYSTEM, REPOSITORY.root / PAGE)
    found = [recipe for page in pages for recipe in RECIPE.finditer(page.read_text())]
    known = [recipe["name"] for recipe in found if recipe["kind"] in (kind, "always")]
    for name in names:
        if name not in known:
            raise Failure(f"--only {name}: no such recipe; there is: {', '.join(known)}")


def root(layout: Layout) -> Path:
    return rootfs.image(rootfs.System(FLAVOUR, PACKAGES, SETUP, ROOT_MIB), layout)


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
    mib = TESTS_MIB + sum(path.stat().st_size for path in more) // 2**20 * 5 // 4
    process.output([mke2fs, "-q", "-t", "ext4", "-d", content, image, f"{mib}m"])
    return image
