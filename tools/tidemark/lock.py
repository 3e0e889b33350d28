# SPDX-License-Identifier: GPL-2.0
"""A lock that lets one process at a time change the files under build/."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .report import progress

NAME = ".lock"

_held: dict[Path, int] = {}


@contextmanager
def hold(build: Path) -> Iterator[int]:
    """Take the lock, or wait for it; a step that runs inside another shares its lock.

    Yields the descriptor: a child that inherits it keeps the lock until it exits.
    """
    path = build / NAME
    if path in _held:
        yield _held[path]
        return
    build.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another tidemark command that uses build/ ...")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _held[path] = descriptor
        try:
            yield descriptor
        finally:
            del _held[path]
    finally:
        os.close(descriptor)
