# SPDX-License-Identifier: GPL-2.0
"""The forms of a kernel's source: a tree, a git checkout or a tarball, and how to unpack each.

They are only read.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Protocol

from . import packages, process
from .report import Failure, warning, working

BUILT = (".config", "include/config", "include/generated", "arch/x86/include/generated")
LEFT_OUT = (".git", "*.o", "*.ko", ".*.cmd", "*.pyc", "__pycache__")
TARBALLS = {".xz": "xz", ".gz": "tar", ".tgz": "tar", ".zst": "zstd", ".bz2": "bzip2"}
CHUNK = 1 << 20


class Source(Protocol):
    """The source of a base. The key identifies its content."""

    @property
    def key(self) -> str: ...

    @property
    def origin(self) -> str:
        """The name of the source in messages and records."""

    def makefile(self) -> str | None:
        """The top Makefile, if it can be read without unpacking."""

    def unpack(self, into: Path) -> Path:
        """Unpack below an empty directory, and return the top of the kernel tree."""


@dataclass(frozen=True)
class Tarball:
    path: Path
    key: str
    origin: str

    def makefile(self) -> None:
        return None

    def unpack(self, into: Path) -> Path:
        program = TARBALLS[self.path.suffix]
        packages.require(["tar", program])
        # xz uses all CPUs if the archive allows it.
        decompress = "xz -T0" if program == "xz" else program
        options = [] if program == "tar" else ["--use-compress-program", decompress]
        process.output(
            ["tar", "-x", "--no-same-owner", *options, "-f", self.path.resolve(), "-C", into]
        )
        tops = list(into.iterdir())
        if len(tops) != 1 or not tops[0].is_dir():
            raise Failure(f"{self.path}: a kernel tarball has one top directory, not {len(tops)}")
        return tops[0]


@dataclass(frozen=True)
class Checkout:
    """The checked-out commit of a git checkout, without uncommitted changes."""

    path: Path
    commit: str

    @property
    def key(self) -> str:
        return f"git:{self.commit}"

    @property
    def origin(self) -> str:
        return f"{self.path} at {self.commit[:12]}"

    def makefile(self) -> str:
        return git(self.path, "show", "HEAD:Makefile")

    def unpack(self, into: Path) -> Path:
        if git(self.path, "status", "--porcelain", "--untracked-files=no"):
            warning(f"{self.path} has uncommitted changes: they are left out")
        top = into / "linux"
        top.mkdir()
        archive = [*git_command(self.path), "archive", "--format=tar", self.commit]
        process.pipe(archive, ["tar", "-x", "-C", top])
        return top


@dataclass(frozen=True)
class Directory:
    path: Path
    key: str

    @property
    def origin(self) -> str:
        return str(self.path)

    def makefile(self) -> str:
        return (self.path / "Makefile").read_text()

    def unpack(self, into: Path) -> Path:
        top = into / "linux"
        shutil.copytree(self.path, top, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        return top


def of_package(package: str, version: str, tarball: Path) -> Source:
    """The tarball of a package, whose version identifies its content."""
    if not tarball.is_file():
        raise Failure(f"package {package} {version} is there, but {tarball} is not")
    return Tarball(tarball, f"{package}={version}", f"{package} {version}")


def at_path(path: Path, variable: str = "LINUX") -> Source:
    """The source that a variable gives: a kernel's, or that of a suite of tests."""
    if path.is_file():
        if path.suffix not in TARBALLS:
            known = " ".join(TARBALLS)
            raise Failure(f"{variable}={path}: not a tarball of a known kind ({known})")
        return Tarball(path, f"tar:{_digest(path)}", str(path))
    if (path / ".git").exists():
        packages.require(["git", "tar"])
        return Checkout(path, git(path, "rev-parse", "--verify", "HEAD").strip())
    if not (path / "Makefile").is_file():
        raise Failure(
            f"{variable}={path}: neither a source tree, nor a git checkout, nor a tarball"
        )
    for product in BUILT:
        if (path / product).exists():
            raise Failure(
                f"{variable}={path}: not clean (it has {product}): run `make mrproper` there"
            )
    with working(f"checking {path}"):
        return Directory(path, f"dir:{_fingerprint(path)}")


def git_command(path: Path) -> list[str | Path]:
    """Git on a checkout that may be another user's; it runs no command that is configured there."""
    trust = ["-c", "safe.directory=*", "-c", "core.fsmonitor=false"]
    return ["git", *trust, "-C", path]


def git(path: Path, *arguments: str) -> str:
    return process.output([*git_command(path), *arguments])


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _fingerprint(top: Path) -> str:
    """A key of a tree's state, from the metadata of its files."""
    digest = hashlib.sha256()
    for path in sorted(_files(top)):
        state = path.lstat()
        line = f"{path.relative_to(top)}\0{state.st_size}\0{state.st_mtime_ns}\n"
        digest.update(os.fsencode(line))
    return digest.hexdigest()


def _files(top: Path) -> Iterator[Path]:
    for parent, directories, files in os.walk(top):
        directories[:] = [name for name in directories if not _left_out(name)]
        yield from (Path(parent, name) for name in files if not _left_out(name))


def _left_out(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in LEFT_OUT)
