# SPDX-License-Identifier: GPL-2.0
"""Each artifact under build/ has a lock: one process changes it, or several read it.

A process that needs more than one takes them in the order archive, base, tree, kernel, others.
"""

import fcntl
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .report import Failure, progress

PLACE = ".locks"
ALL = "build"

_held: dict[Path, tuple[int, bool]] = {}


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


@contextmanager
def _hold(build: Path, artifact: str, shared: bool) -> Iterator[int]:
    path = build / PLACE / artifact.replace("/", "-")
    if path in _held:
        descriptor, weak = _held[path]
        if weak and not shared:
            raise Failure(f"build/{artifact} has to change while this command uses it; try again")
        yield descriptor
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _wait(descriptor, artifact, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        _write(descriptor, [*(_holders(descriptor) if shared else []), _command()])
        _held[path] = (descriptor, shared)
        try:
            yield descriptor
        finally:
            del _held[path]
            _write(descriptor, _holders(descriptor))
    finally:
        os.close(descriptor)


def _wait(descriptor: int, artifact: str, operation: int) -> None:
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
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
