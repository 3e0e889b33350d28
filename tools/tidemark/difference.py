# SPDX-License-Identifier: GPL-2.0
"""The files in which two kernel trees differ, also if the trees share most files by hard links."""

import filecmp
import os
import stat
from pathlib import Path


def between(first: Path, second: Path) -> list[str]:
    """Files that only one of the trees has, or that differ in content, kind or x bit."""
    files = _files(first), _files(second)
    return sorted(
        path
        for path in files[0].keys() | files[1].keys()
        if not _same(files[0].get(path), files[1].get(path), first / path, second / path)
    )


def _files(top: Path) -> dict[str, os.stat_result]:
    found = {}
    for parent, directories, names in os.walk(top):
        directories[:] = [name for name in directories if name != ".git"]
        links = [name for name in directories if (Path(parent) / name).is_symlink()]
        for name in (*names, *links):
            path = f"{parent}/{name}"
            found[path[len(str(top)) + 1 :]] = os.lstat(path)
    return found


def _same(a: os.stat_result | None, b: os.stat_result | None, first: Path, second: Path) -> bool:
    if a is None or b is None:
        return False
    if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino):
        return True
    if stat.S_IFMT(a.st_mode) != stat.S_IFMT(b.st_mode):
        return False
    if stat.S_ISLNK(a.st_mode):
        return first.readlink() == second.readlink()
    return (a.st_mode ^ b.st_mode) & 0o100 == 0 and filecmp.cmp(first, second, shallow=False)
