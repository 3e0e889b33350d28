# SPDX-License-Identifier: GPL-2.0
"""Builds Debian packages of the patched kernel. Prints the directory that has them.

The configuration is Debian's own for the release, or that of DEB_CONFIG=, with the options of the
series turned on.
"""

import argparse
import contextlib
import lzma
import os
import re
import shutil
from pathlib import Path

from . import archive, config, kbuild, kernel, lock, packages, process, scratch, sources, tree
from . import base as bases
from .base import Base
from .kbuild import Kbuild
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

# dpkg-buildpackage stops without build-essential; openssl makes the key that signs modules.
TOOLS = (
    *(*kbuild.TOOLS, "build-essential", "debhelper", "dpkg-dev", "dwarves", "git", "libdw-dev"),
    *("openssl", "rsync", "zstd"),
)
FRAGMENT = Path(__file__).with_name("deb.config")
CONFIG = Path("usr", "src")
CONFIG_NAME = "config.amd64_none_amd64.xz"
# A package of debug symbols would be larger than all others together.
PROFILES = "pkg.linux-upstream.nokerneldbg"
KINDS = ("linux-image", "linux-headers")
# Of a build with DEB_CONFIG=: the distribution's configuration is hours of work to keep.
VARIANT = "-config"
FREE_GIB = 25
# Of one processor, for one file: a rough mean over a distribution's configuration.
SECONDS_PER_FILE = 0.7
# The last steps of a module take as long as one more file: its description is compiled, it is
# linked, and BTF is added; then it is installed, stripped, signed and compressed.
MODULE_STEPS = 7
BTF = "DEBUG_INFO_BTF"
# Names in a message.
SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deb-config", default="", help="a .config in place of Debian's")


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the distribution has packages of the unpatched kernel")
    given = Path(args.deb_config).expanduser() if args.deb_config else None
    if given and not given.is_file():
        raise Failure(f"DEB_CONFIG={args.deb_config}: no such file")
    wanted = bases.required_packages(args.base, args.linux)
    if not given and not later_suite(args.base, REPOSITORY):
        wanted = [*wanted, config_package(args.base)]
    packages.require(TOOLS, wanted)
    base = bases.obtain(args.base, args.linux)
    text = read_config(given) if given else distribution_config(args.base, REPOSITORY)
    variant = VARIANT if given else ""
    objects = REPOSITORY.build / "kernel" / _objects(base.label + variant)
    require_space(REPOSITORY, _gib(objects))
    print(build(base, text, variant=variant))
    return 0


def read_config(path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError as error:
        raise Failure(f"DEB_CONFIG={path}: not a text; use zcat or xzcat first") from error


def config_package(base_name: str) -> str:
    return f"linux-config-{base_name}"


def later_suite(base_name: str, layout: Layout) -> str:
    """The suite to have the configuration from, if the machine's own suites lack it."""
    suite = bases.read_recipe(base_name, layout).suite
    return "" if packages.known(config_package(base_name)) else suite


def distribution_config(base_name: str, layout: Layout) -> str:
    """Debian's configuration of amd64, from a package that may be in a later suite."""
    package = config_package(base_name)
    root = Path("/")
    if suite := later_suite(base_name, layout):
        advice = "DEB_CONFIG= takes a configuration, such as /boot/config-VERSION"
        root = archive.obtain(archive.Wanted(package, suite, advice), layout).root
    path = root / CONFIG / package / CONFIG_NAME
    if not path.is_file():
        raise Failure(f"package {package} has no {path.relative_to(root)}")
    return lzma.decompress(path.read_bytes()).decode()


def version(base: Base, layout: Layout) -> str:
    """After the distribution's of the same release, before its next, and rising with commits.

    Changes that are not committed show in its end.
    """
    distribution = base.package_version or f"{base.version.replace('-', '~')}-1"
    if not (layout.root / ".git").exists():
        return f"{distribution}+tidemark0"
    if _git(layout, "rev-parse", "--is-shallow-repository") == "true":
        raise Failure("a shallow clone has too few commits to count; run: git fetch --unshallow")
    count = _git(layout, "rev-list", "--count", "HEAD")
    commit = _git(layout, "rev-parse", "--short=10", "HEAD")
    changes = _git(layout, "status", "--porcelain")
    return f"{distribution}+tidemark{count}.g{commit}{'.dirty' if changes else ''}"


def changelog_hook(base: Base, package_version: str) -> str:
    """An option of dpkg-buildpackage: the kernel's makefiles have a fixed text for changelogs."""
    text = f"Linux {base.version} from {base.origin}, with Tidemark"
    if commit := package_version.partition("+tidemark")[2].partition(".g")[2]:
        text += f" at commit {commit}"
    # dpkg takes % for its own, sed | and &.
    text = re.sub(r"[^\w .,:/~+()-]", "_", text)
    return f"--hook-init='sed -i \"s|Custom built Linux kernel|{text}|\" debian/changelog'"


def _git(layout: Layout, *arguments: str) -> str:
    """Root leaves no file of its own in a user's repository."""
    return sources.git(layout.root, "--no-optional-locks", *arguments).strip()


def build(base: Base, text: str, layout: Layout = REPOSITORY, variant: str = "") -> Path:
    """Build incrementally in a directory of its own; an interrupted build goes on where it was.

    Each variant has such a directory, and one for its packages.
    """
    kbuild.check_place(layout)
    package_version = version(base, layout)
    label = base.label + variant
    objects = _objects(label)
    with (
        tree.use(base, False, layout) as source,
        lock.hold(layout.build, f"kernel/{objects.parent}") as descriptor,
    ):
        builder = Kbuild(str(objects), source.path, layout, descriptor)
        stamp = builder.out / "tidemark.json"
        lineage = scratch.read_json(stamp).get("lineage")
        builder.start(afresh=lineage != source.lineage)
        scratch.write_json(stamp, {"lineage": source.lineage})
        configure(builder, text, layout)
        _remove_files(builder.out.parent)
        _make(builder, package_version, changelog_hook(base, package_version))
        return _collect(builder.out.parent, layout.build / "deb" / label)


def _objects(label: str) -> Path:
    """The kernel's makefiles put packages into the parent of their build directory."""
    return Path(f"deb-{label}", "objects")


def _gib(place: Path) -> int:
    """Files may come and go: another build may run there."""
    blocks = 0
    for directory, _, names in os.walk(place):
        for name in names:
            with contextlib.suppress(OSError):
                blocks += Path(directory, name).lstat().st_blocks
    return blocks >> 21


def require_space(layout: Layout, taken: int = 0) -> None:
    """An interrupted build has taken some GiB already."""
    place = layout.build if layout.build.exists() else layout.root
    free = shutil.disk_usage(place).free >> 30
    more = max(FREE_GIB - taken, 1)
    if free < more:
        raise Failure(f"packages take up to {more} GiB below build/, and {free} GiB are free")
    progress(f"packages take up to {more} GiB below build/")


def configure(builder: Kbuild, text: str, layout: Layout) -> None:
    wishes = config.read([layout.fragments / kernel.SERIES, FRAGMENT], layout)
    keys = {name for name in wishes if name.startswith("SYSTEM_")}
    granted = builder.adapt(text, wishes, keys)
    told = config.parse(text)
    lost = [
        name
        for name, value in told.items()
        if value in ("m", "y") and granted.get(name, "n") == "n" and name not in wishes
    ]
    if lost:
        progress(f"options of the configuration that this source or compiler lacks: {_few(lost)}")
    if told.get(BTF) == "y" and granted.get(BTF) != "y":
        found = process.output(["pahole", "--version"]).strip()
        raise Failure(
            f"CONFIG_{BTF} is lost: pahole {found} is too old for this kernel; install a later "
            "dwarves, or use DEB_CONFIG= with a configuration that does not ask for BTF"
        )


def _few(names: list[str]) -> str:
    some = ", ".join(sorted(names)[:SHOWN])
    return some if len(names) <= SHOWN else f"{some} and {len(names) - SHOWN} more"


def _make(builder: Kbuild, package_version: str, hook: str) -> None:
    with working(f"preparing the build of {builder.name}"):
        builder.make(f"-j{kbuild.jobs()}", "prepare")
        planned = builder.planned("all")
        modules = list(config.parse(builder.config.read_text()).values()).count("m")
    minutes = (planned + modules) * SECONDS_PER_FILE / kbuild.jobs() / 60
    progress(f"about {planned} files and {modules} modules will take {minutes:.0f} minutes")
    steps = kbuild.StepCount(builder.log, planned + MODULE_STEPS * modules)
    variables = {
        "DEB_BUILD_PROFILES": PROFILES,
        "DPKG_FLAGS": hook,
        "INSTALL_MOD_STRIP": "1",
        "KDEB_CHANGELOG_DIST": "local",
        "KDEB_PKGVERSION": package_version,
    }
    with working(f"building packages {package_version}", steps):
        settings = (f"{name}={value}" for name, value in variables.items())
        builder.make(f"-j{kbuild.jobs()}", *settings, "bindeb-pkg")


def _collect(made: Path, place: Path) -> Path:
    """Keep the packages to install: headers for programs are the distribution's matter."""
    if place.exists():
        shutil.rmtree(place)
    place.mkdir(parents=True)
    for path in made.glob("*.deb"):
        if path.name.startswith(KINDS):
            path.rename(place / path.name)
    _remove_files(made)
    if not any(place.iterdir()):
        raise Failure(f"the kernel's makefiles have left no package in {made}")
    return place


def _remove_files(made: Path) -> None:
    """An interrupted build may have left a package of an older version."""
    for path in made.glob("*.*"):
        if path.is_file():
            path.unlink()
