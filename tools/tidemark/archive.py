# SPDX-License-Identifier: GPL-2.0
"""A package from another suite of the Debian archive that this machine already uses.

apt runs in its own directory: the machine's sources, lists and packages are not changed.
The address of the archive and its keyring come from the machine's configuration.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import lock, packages, process, scratch
from .layout import Layout
from .report import Failure, progress, working

FORMAT = "$(SITE)|$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(CREATED_BY)|$(SOURCESENTRY)|$(RELEASE)"
DEBIAN = ["Debian", "Debian", "main", "Packages"]
SECURITY = ["Debian", "Debian-Security", "main", "Packages"]
SIGNED_BY = re.compile(r"^Signed-By:[ \t]*(.*(?:\n[ \t].*)*)", re.M | re.I)
SIGNED_BY_OPTION = re.compile(r"^deb\s+\[[^\]]*\bsigned-by=([^\s\]]+)")
# Apt's own words for a suite that the archive does not have (any more).
NO_SUITE = re.compile(r"does not have a Release file|no longer has a Release file|\b404\b")
OPTIONS = {
    "APT::Get::AllowUnauthenticated": "false",
    "APT::Sandbox::User": "root",
    "APT::Update::Error-Mode": "any",
    "Acquire::AllowDowngradeToInsecureRepositories": "false",
    "Acquire::AllowInsecureRepositories": "false",
    "Acquire::AllowWeakRepositories": "false",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "30",
    "Acquire::https::Timeout": "30",
    "Dir::Etc::preferences": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::status": "/dev/null",
}
RECORD = "record.json"
LAST_LINES = 10


@dataclass(frozen=True)
class Wanted:
    """A package, its suite, and advice for the user if it is not available."""

    package: str
    suite: str
    otherwise: str


@dataclass(frozen=True)
class Unpacked:
    """The package's files below a root directory under build/."""

    version: str
    root: Path


@dataclass(frozen=True)
class Mirror:
    """A Debian archive that this machine uses; without a keyring, apt's trusted keys apply."""

    site: str
    signed_by: str


@dataclass(frozen=True)
class _Target:
    """A package list of apt; the entry is the source, as `file:number`."""

    site: str
    entry: str
    suite: str


def kept(package: str, layout: Layout) -> Unpacked | None:
    """The record of an earlier obtain()."""
    place = _place(package, layout)
    version = scratch.read_json(place / RECORD).get("version")
    return Unpacked(version, place / "root") if version else None


def obtain(wanted: Wanted, layout: Layout) -> Unpacked:
    """Unpack the package without installing it; only the first time needs the network."""
    with lock.hold(layout.build, f"archive/{wanted.package}"):
        found = kept(wanted.package, layout)
        if found is None:
            _fetch(wanted, layout)
            found = kept(wanted.package, layout)
    if found is None:
        raise Failure(f"package {wanted.package} was unpacked, but its record is missing")
    return found


def mirror() -> Mirror:
    """The Debian archive of the machine's own package lists."""
    if not packages.locate("apt-get"):
        raise Failure("this machine has no apt-get")
    row = _targets()[0]
    return Mirror(row.site, signed_by(row.entry))


def own_sources() -> str:
    """The machine's own sources of Debian, updates and security too, in deb822 form."""
    if not packages.locate("apt-get"):
        raise Failure("this machine has no apt-get")
    return "\n".join(
        _stanza(Mirror(row.site, signed_by(row.entry)), row.suite) for row in _targets()
    )


def signed_by(entry: str) -> str:
    """The keyring, or the key itself, that a source in `file:number` wants signatures by.

    The number counts paragraphs in the one form that apt knows, and lines in the other.
    """
    name, _, number = entry.rpartition(":")
    text = Path(name).read_text()
    if name.endswith(".sources"):
        paragraphs = re.split(r"\n(?:[ \t]*\n)+", text.strip("\n"))
        uncommented = ["\n".join(_uncommented(paragraph)) for paragraph in paragraphs]
        present = [paragraph for paragraph in uncommented if paragraph]
        found = SIGNED_BY.search(present[int(number) - 1])
    else:
        found = SIGNED_BY_OPTION.search(text.splitlines()[int(number) - 1].strip())
    return found[1].rstrip() if found else ""


def _place(package: str, layout: Layout) -> Path:
    return layout.build / "archive" / package


def _uncommented(paragraph: str) -> Iterator[str]:
    return (line for line in paragraph.splitlines() if not line.startswith("#"))


def _targets() -> list[_Target]:
    """Debian's own package lists of this machine; the archive itself is before security."""
    found = _read_targets()
    if not found:
        packages.refresh()
        found = _read_targets()
    if not found:
        raise Failure("apt's configuration on this machine names no Debian archive")
    return found


def _read_targets() -> list[_Target]:
    shown = process.output(["apt-get", "indextargets", "--format", FORMAT])
    rows = [line.split("|") for line in shown.splitlines()]
    return [
        _Target(row[0], row[5], row[6])
        for label in (DEBIAN, SECURITY)
        for row in rows
        if len(row) == 7 and row[1:5] == label
    ]


def _stanza(origin: Mirror, suite: str) -> str:
    fields = {
        "Types": "deb",
        "URIs": origin.site,
        "Suites": suite,
        "Components": "main",
        "Targets": "Packages",
        "Languages": "none",
    }
    if origin.signed_by:
        fields["Signed-By"] = origin.signed_by
    return "".join(f"{key}: {value}\n" for key, value in fields.items())


def _fetch(wanted: Wanted, layout: Layout) -> None:
    place = _place(wanted.package, layout)
    try:
        origin = mirror()
    except Failure as error:
        raise _failure(wanted, error.message, error.detail) from error
    with scratch.directory(place.parent, place.name) as draft:
        apt = _Apt(wanted, origin, draft)
        what = f"fetching {wanted.package} from {wanted.suite}"
        with working(what, lambda: f"{_size(draft) >> 20} MiB"):
            package = apt.download()
        with working(f"unpacking {package.name}"):
            content = draft / "content"
            content.mkdir()
            process.output(["dpkg-deb", "-x", package, content / "root"])
            version = process.output(["dpkg-deb", "-f", package, "Version"]).strip()
        scratch.write_json(
            content / RECORD, {"package": wanted.package, "suite": wanted.suite, "version": version}
        )
        if place.exists():
            shutil.rmtree(place)
        content.rename(place)
    progress(f"package {wanted.package} {version} is from {wanted.suite}; it is not installed")


def _size(top: Path) -> int:
    return sum(path.stat().st_size for path in top.rglob("*.deb") if path.is_file())


def _failure(wanted: Wanted, problem: str, detail: Sequence[str] = ()) -> Failure:
    what = f"package {wanted.package} from {wanted.suite}"
    return Failure(f"{what}: {problem}; {wanted.otherwise}", detail)


class _Apt:
    """An apt that knows one suite and no installed package."""

    def __init__(self, wanted: Wanted, origin: Mirror, place: Path) -> None:
        self._wanted = wanted
        self._place = place / "apt"
        for name in ("state/lists/partial", "cache/archives/partial", "packages"):
            (self._place / name).mkdir(parents=True)
        (self._place / "later.sources").write_text(_stanza(origin, wanted.suite))

    def download(self) -> Path:
        """The package's file; apt has checked the suite's signature and the file's hash."""
        status, told = self._run("update")
        if status:
            gone = NO_SUITE.search("\n".join(told))
            problem = "the archive has no such suite" if gone else "the suite cannot be read"
            raise _failure(self._wanted, problem, told)
        # The lists were read a moment ago, so the archive does not have the package.
        status, told = self._run("download", "--print-uris", self._wanted.package)
        if status:
            raise _failure(self._wanted, "it is not in the archive (any more)", told)
        status, told = self._run("download", self._wanted.package)
        found = list((self._place / "packages").glob("*.deb"))
        if status or len(found) != 1:
            raise _failure(self._wanted, "the download failed", told)
        return found[0]

    def _run(self, *arguments: str) -> tuple[int, list[str]]:
        """Keeps the caller's environment, where a proxy may be set."""
        places = {
            "Dir::Cache": self._place / "cache",
            "Dir::Etc::sourcelist": self._place / "later.sources",
            "Dir::State": self._place / "state",
        }
        options = [f"-o{key}={value}" for key, value in (*OPTIONS.items(), *places.items())]
        done = subprocess.run(
            ["apt-get", "-q", *options, *arguments],
            cwd=self._place / "packages",
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        complaints = [line for line in done.stdout.splitlines() if line.startswith(("E:", "W:"))]
        return done.returncode, complaints[-LAST_LINES:]
