# SPDX-License-Identifier: GPL-2.0
"""Each artifact under build/ has a lock: one process changes it, or several read it.

A process that needs more than one takes them in the order archive, base, tree, kernel, others.
A guest's directory is another matter: a process keeps it, with whatever guests it starts.
"""

import fcntl
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .report import Failure, progress

PLACE = ".locks"
ALL = "build"


@dataclass
class _Lock:
    """A lock of this process, and the number of its steps that use it."""

    descriptor: int
    shared: bool
    users: int = 0
    kept: bool = False


_held: dict[Path, _Lock] = {}
_guard = threading.RLock()


@contextmanager
def hold(build: Path, artifact: str, shared: bool = False) -> Iterator[int]:
    """Take the lock of an artifact, named by its path below build/, or wait for it.

    A step that runs inside another one of this process shares its lock. Yields the descriptor: a
    child that inherits it keeps the lock for as long as it lives.
    """
    with _hold(build, ALL, True), _hold(build, artifact, shared) as descriptor:
        yield descriptor


@contextmanager
def hold_all(build: Path) -> Iterator[int]:
    """Wait until no other process uses anything under build/, and keep it so."""
    with _hold(build, ALL, False) as descriptor:
        yield descriptor


def keep(build: Path, artifact: str) -> None:
    """Take the lock of an artifact until this process ends, or fail if another one has it.

    All threads of this process share it. `make clean` waits for that end too.
    """
    with (
        _guard,
        _hold(build, ALL, True),
        _hold(build, artifact, False, wait=False),
    ):
        for name in (ALL, artifact):
            _held[_path(build, name)].kept = True


def kept() -> tuple[int, ...]:
    """The descriptors of keep(): a child that inherits them has the locks as long as it lives."""
    with _guard:
        return tuple(lock.descriptor for lock in _held.values() if lock.kept)


@contextmanager
def _hold(build: Path, artifact: str, shared: bool, wait: bool = True) -> Iterator[int]:
    path = _path(build, artifact)
    with _guard:
        if path not in _held:
            _held[path] = _Lock(_take(path, artifact, shared, wait), shared)
        lock = _held[path]
        if lock.shared and not shared:
            raise Failure(f"build/{artifact} has to change while this command uses it; try again")
        lock.users += 1
    try:
        yield lock.descriptor
    finally:
        _leave(path)


def _path(build: Path, artifact: str) -> Path:
    return build / PLACE / artifact.replace("/", "-")


def _take(path: Path, artifact: str, shared: bool, wait: bool) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _wait(descriptor, artifact, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, wait)
        _write(descriptor, [*(_holders(descriptor) if shared else []), _command()])
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _leave(path: Path) -> None:
    """The last step to leave gives the lock back, unless it is kept."""
    with _guard:
        lock = _held[path]
        lock.users -= 1
        if lock.users or lock.kept:
            return
        del _held[path]
        try:
            _write(lock.descriptor, _holders(lock.descriptor))
        finally:
            os.close(lock.descriptor)


def _wait(descriptor: int, artifact: str, operation: int, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError as error:
        if not wait:
            holders = " and ".join(_holders(descriptor)) or "a guest that outlived its command"
            raise Failure(f"build/{artifact} is in use by {holders}; try again later") from error
        holders = " and ".join(_holders(descriptor)) or "another command"
        name = artifact if artifact == ALL else f"build/{artifact}"
        progress(f"waiting for {name}, which is in use by {holders} ...")
        fcntl.flock(descriptor, operation)


def _holders(descriptor: int) -> list[str]:
    """Other processes that have the lock, as they wrote into its file."""
    lines = os.pread(descriptor, 4096, 0).decode(errors="replace").splitlines()
    found = [(line, re.search(r"process (\d+)", line)) for line in lines]
    return [
        line
        for line, process in found
        if process and int(process[1]) != os.getpid() and Path("/proc", process[1]).exists()
    ]


def _write(descriptor: int, holders: list[str]) -> None:
    """Readers write side by side: at worst, a message lacks one of them."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, "\n".join(holders).encode(), 0)


def _command() -> str:
    """The command as its user knows it: `make kernel` is `tidemark kernel` here."""
    name = sys.argv[1] if len(sys.argv) > 1 else Path(sys.argv[0]).name
    return f"`{name}` (process {os.getpid()})"
