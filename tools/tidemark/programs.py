# SPDX-License-Identifier: GPL-2.0
"""Copies programs of this machine into the guest, with the shared libraries that they load."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from . import packages, process
from .report import Failure

LIBRARY = re.compile(r"^\s(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.M)
MISSING = re.compile(r"^\s(\S+) => not found$", re.M)


def copy(commands: Iterable[str], root: Path) -> None:
    """Copy commands, or programs by their path, into /sbin of a root directory.

    Their libraries keep their paths.
    """
    for command in commands:
        program = packages.locate(command)
        if not program:
            raise Failure(f"{command}: command not found")
        _copy_file(Path(program), root / "sbin" / Path(command).name)
        for library in libraries(process.output(["ldd", program])):
            _copy_file(library, root / library.relative_to("/"))


def libraries(listing: str) -> list[Path]:
    """The files, the loader among them, that ldd names."""
    if missing := MISSING.findall(listing):
        raise Failure(f"shared libraries that this machine lacks: {', '.join(missing)}")
    return [Path(path) for path in LIBRARY.findall(listing)]


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
