# SPDX-License-Identifier: GPL-2.0
"""The recorded counts of lint's `prose`: lines of `file name=count ...`, sorted by file."""

import re
from collections.abc import Mapping
from pathlib import Path

from ..report import Failure

LINE = re.compile(r"(\S+)((?: \w+=[1-9]\d*)+)")
HEADER = """\
# Constructions that lint's `prose` counts, by file. This list may only shrink: rewrite the text,
# then `make lint ARGS=--write-prose-counts`.
"""


def read(path: Path) -> dict[str, dict[str, int]]:
    """No list is an empty one."""
    recorded: dict[str, dict[str, int]] = {}
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if line.startswith("#"):
            continue
        found = LINE.fullmatch(line)
        if not found or found[1] in recorded:
            raise Failure(f"{path.name}:{number}: expected `file name=count ...`, each file once")
        pairs = (pair.split("=") for pair in found[2].split())
        recorded[found[1]] = {name: int(count) for name, count in pairs}
    return recorded


def write(path: Path, counts: Mapping[str, Mapping[str, int]]) -> None:
    lines = [
        " ".join([file, *(f"{name}={count}" for name, count in sorted(by_name.items()))])
        for file, by_name in sorted(counts.items())
        if by_name
    ]
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines))
