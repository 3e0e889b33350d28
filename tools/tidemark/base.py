# SPDX-License-Identifier: GPL-2.0
"""Unpacks the base, the kernel source that the patches are for. Prints its path."""

import argparse
import hashlib
import re
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from . import archive, lock, packages, scratch, sources
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

KEYS = {"package", "tarball", "checked"}
OPTIONAL_KEYS = {"suite", "lockdep"}
RECIPE = "recipe"
DEFAULT = "6.12"


@dataclass(frozen=True)
class Recipe:
    """The content of bases/<name>/recipe.

    The package comes from the suite if the machine's own sources do not have it. A cycle of locks
    that lockdep reports on the unpatched base is in the format of lockdep.parse().
    """

    name: str
    package: str
    tarball: Path
    checked: str
    suite: str = ""
    lockdep: str = ""


@dataclass(frozen=True)
class Base:
    """An unpacked base.

    The label names its directories under build/: a source given by LINUX= has its own ones.
    Package and package version are empty for such a source; the origin describes any source.
    """

    name: str
    label: str
    version: str
    package: str
    package_version: str
    origin: str
    key: str
    path: Path


def names(layout: Layout = REPOSITORY) -> list[str]:
    return sorted(path.parent.name for path in layout.bases.glob(f"*/{RECIPE}"))


def read_recipe(name: str, layout: Layout = REPOSITORY) -> Recipe:
    if name not in names(layout):
        raise Failure(f"BASE={name}: no such base; there is: {', '.join(names(layout))}")
    path = layout.bases / name / RECIPE
    entries = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not value or key not in KEYS | OPTIONAL_KEYS:
            known = ", ".join(sorted(KEYS | OPTIONAL_KEYS))
            raise Failure(f"{layout.relative(path)}:{number}: expected `key = value` ({known})")
        entries[key] = value
    if absent := sorted(KEYS - entries.keys()):
        raise Failure(f"{layout.relative(path)}: no value for {', '.join(absent)}")
    tarball = Path("/", entries["tarball"])
    others = {key: entries.get(key, "") for key in OPTIONAL_KEYS}
    return Recipe(name, entries["package"], tarball, entries["checked"], **others)


def required_packages(name: str, linux: Path | None, layout: Layout = REPOSITORY) -> list[str]:
    """The packages that obtain() needs, so that a command can name all missing ones at once."""
    if linux:
        return []
    recipe = read_recipe(name, layout)
    return [] if _from_later_suite(recipe, layout) else [recipe.package]


def obtain(name: str, linux: Path | None = None, layout: Layout = REPOSITORY) -> Base:
    """Have the base unpacked under build/base, from its Debian package or from LINUX=."""
    recipe = read_recipe(name, layout)
    wanted, source = _given(name, linux) if linux else _packaged(recipe, layout)
    wanted = replace(wanted, path=layout.build / "base" / wanted.path)
    with lock.hold(layout.build, f"base/{wanted.path.name}"):
        base = _recorded(wanted) or _unpack(wanted, source)
    progress(f"base {name}: Linux {base.version} from {base.origin}")
    if base.package_version not in ("", recipe.checked):
        progress(f"base {name} was last checked with {recipe.package} {recipe.checked}")
    return base


def main(args: argparse.Namespace) -> int:
    print(obtain(args.base, args.linux).path)
    return 0


def _given(name: str, linux: Path) -> tuple[Base, sources.Source]:
    source = sources.at_path(linux)
    label = f"{name}-linux"
    directory = f"{label}-{hashlib.sha256(source.key.encode()).hexdigest()[:12]}"
    return Base(name, label, "", "", "", source.origin, source.key, Path(directory)), source


def _from_later_suite(recipe: Recipe, layout: Layout) -> bool:
    """The machine's own package has precedence, installed or not."""
    if not recipe.suite or packages.installed_version(recipe.package):
        return False
    return bool(archive.kept(recipe.package, layout)) or not packages.known(recipe.package)


def _packaged(recipe: Recipe, layout: Layout) -> tuple[Base, sources.Source]:
    """Use any point release that is installed; otherwise the archive's current one."""
    if _from_later_suite(recipe, layout):
        otherwise = f"LINUX= takes a kernel tree, git checkout or tarball of {recipe.name}.y"
        wanted = archive.Wanted(recipe.package, recipe.suite, otherwise)
        unpacked = archive.obtain(wanted, layout)
        version = unpacked.version
        tarball = unpacked.root / recipe.tarball.relative_to("/")
    else:
        packages.require([], [recipe.package])
        version = packages.installed_version(recipe.package) or ""
        tarball = recipe.tarball
    if not version:
        raise Failure(f"package {recipe.package} is still not installed")
    source = sources.of_package(recipe.package, version, tarball)
    name = recipe.name
    # A kernel's build fails in a path with a colon, and sed interprets a plus sign.
    directory = f"{name}-{re.sub('[^A-Za-z0-9.~-]', '_', version)}"
    base = Base(name, name, "", recipe.package, version, source.origin, source.key, Path(directory))
    return base, source


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _recorded(wanted: Base) -> Base | None:
    record = scratch.read_json(_record_of(wanted.path))
    if record.get("key") != wanted.key or not wanted.path.is_dir():
        return None
    return replace(wanted, version=record["version"])


def _unpack(wanted: Base, source: sources.Source) -> Base:
    makefile = source.makefile()
    if makefile is not None:
        _kernel_version(makefile, wanted)
    if wanted.path.exists():
        shutil.rmtree(wanted.path)
    with scratch.directory(wanted.path.parent, wanted.path.name) as draft:
        with working(f"unpacking {source.origin}"):
            tree = source.unpack(draft)
        top = tree / "Makefile"
        base = replace(
            wanted, version=_kernel_version(top.read_text() if top.is_file() else "", wanted)
        )
        tree.rename(wanted.path)
    scratch.write_json(_record_of(base.path), asdict(base) | {"path": base.path.name})
    return base


def _kernel_version(makefile: str, wanted: Base) -> str:
    """Refuse another release's tree before anything is made from it: hooks fit one base only."""
    values = dict(
        re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)[ \t]*=[ \t]*(\S*)", makefile, re.M)
    )
    if not values.get("VERSION") or not values.get("PATCHLEVEL"):
        raise Failure(f"{wanted.origin}: no kernel tree (its Makefile gives no VERSION)")
    series = f"{values['VERSION']}.{values['PATCHLEVEL']}"
    version = f"{series}.{values.get('SUBLEVEL', '0')}{values.get('EXTRAVERSION', '')}"
    if series != wanted.name:
        raise Failure(
            f"{wanted.origin} is Linux {version}, but BASE={wanted.name} takes a {wanted.name}.y"
        )
    return version
