# SPDX-License-Identifier: GPL-2.0
"""Images of small Debian systems, from the apt sources of this machine, as guests' disks."""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import archive, lock, packages, process, scratch
from .layout import Layout
from .report import Failure, progress, working

# mmdebstrap needs newuidmap for users other than root.
TOOLS = ("e2fsprogs", "fakeroot", "mmdebstrap", "tar", "uidmap")
UNPACK = (
    'mkdir "$2" && tar -x --xattrs --xattrs-include="*" -f "$1" -C "$2" && '
    'mke2fs -q -t ext4 -d "$2" "$3" "$4"m'
)


@dataclass(frozen=True)
class System:
    """A system by the directory of its image below build/. A script sets it up."""

    name: str
    packages: Sequence[str]
    setup: Path
    mib: int

    def key(self, sources: str) -> str:
        parts = (sources, *self.packages, self.setup.read_text(), UNPACK, str(self.mib))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def image(system: System, layout: Layout) -> Path:
    """The image of the root file system, which is made anew when its sources or packages change."""
    place = layout.build / system.name
    root = place / "root.img"
    stamp = place / "root.json"
    sources = archive.own_sources()
    key = system.key(sources)
    with lock.hold(layout.build, system.name):
        if scratch.read_json(stamp).get("key") == key and root.exists():
            progress(f"the root file system of Debian in {layout.relative(place)} is up to date")
            return root
        with scratch.directory(place, "root") as draft:
            tarball = _bootstrap(system, sources, draft, place / "mmdebstrap.log")
            with working("packing the root file system of Debian"):
                _pack(tarball, draft / "root.img", system.mib)
            (draft / "root.img").rename(root)
        scratch.write_json(stamp, {"key": key})
    return root


def _bootstrap(system: System, sources: str, draft: Path, log: Path) -> Path:
    """Keeps the caller's environment, where a proxy may be set."""
    tarball = draft / "root.tar"
    included = f"--include={','.join(system.packages)}"
    argv = ["mmdebstrap", "--variant=minbase", included, f"--customize-hook={system.setup}"]
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


def _pack(tarball: Path, image: Path, mib: int) -> None:
    """An ext4 image of a tarball's files, with their owners, also for users other than root."""
    argv: list[str | Path] = ["fakeroot", "sh", "-c", UNPACK, "sh", tarball]
    process.output([*argv, image.with_suffix(""), image, str(mib)], env={"PATH": _search_path()})


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *packages.SYSTEM_PATHS])
