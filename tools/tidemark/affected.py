# SPDX-License-Identifier: GPL-2.0
"""The kernel objects that a set of files affects."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

# These files include our headers, directly or through others. In 7.3, mm/swap.c is mm/folio.c.
USERS = ("fs/fs-writeback.c", "mm/filemap.c", "mm/folio.c", "mm/swap.c", "mm/workingset.c")
KERNEL = ("Kconfig", "arch/", "block/", "fs/", "include/", "kernel/", "lib/", "mm/")
FRAGMENTS = "kernel/configs/"


def matters(path: str) -> bool:
    """Whether a file can affect the kernel itself."""
    return path.startswith(KERNEL) and not path.startswith(FRAGMENTS)


def candidates(paths: Iterable[str]) -> list[str]:
    """The kernel's C files among these paths, and those that use our headers."""
    return sorted({path for path in (*paths, *USERS) if path.endswith(".c") and matters(path)})


def built(paths: Iterable[str], tree: Path, options: Mapping[str, str]) -> list[str]:
    """The C files that a makefile builds an object from, with these options."""
    return [path for path in paths if _is_built(tree / path, options)]


def _is_built(file: Path, options: Mapping[str, str]) -> bool:
    makefile = file.with_name("Makefile")
    if not file.is_file() or not makefile.is_file():
        return False
    text = makefile.read_text().replace("\\\n", " ")
    rule = rf"^[\w-]+-(\S+?)\s*[:+]?=(?:.*\s)?{re.escape(file.stem)}\.o(?:\s|$)"
    for found in re.finditer(rule, text, re.M):
        option = re.fullmatch(r"\$\(CONFIG_(\w+)\)", found[1])
        if found[1] in ("y", "objs") or (option and options.get(option[1]) in ("y", "m")):
            return True
    return False
