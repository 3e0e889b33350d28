# SPDX-License-Identifier: GPL-2.0
"""Tells KCSAN reports about our accesses from those about upstream's own data races.

A report names the functions of two accesses. The debug information tells the functions that the
compiler inlined there, such as one of ours in an upstream function. The callers do not count: a
test of ours that sleeps has no part in a race between timers.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from . import process
from .report import progress

HEADER = "BUG: KCSAN: "
FOOTER = "=" * 66
ACCESS = re.compile(r" of \d+ bytes by .* on cpu \d+:$")
FRAME = re.compile(r"\s([\w.]+)\+0x([0-9a-f]+)/0x[0-9a-f]+")

Frame = tuple[str, int]


def without_others(console: Sequence[str], build: Path, ours: Collection[str]) -> list[str]:
    """The console without the first line of each report in which no access is from our files."""
    reports = {at: frames(console, at) for at, line in enumerate(console) if HEADER in line}
    if not reports:
        return list(console)
    named = files({frame for found in reports.values() for frame in found}, build)
    others = {
        at for at, found in reports.items() if _are_others([named[frame] for frame in found], ours)
    }
    progress(f"KCSAN: {len(reports)} reports, {len(reports) - len(others)} with a file of ours")
    return [line for at, line in enumerate(console) if at not in others]


def _are_others(accesses: Sequence[Collection[str]], ours: Collection[str]) -> bool:
    """An access of unknown origin may be ours."""
    return bool(accesses) and not any(
        not paths or any(path.endswith(f"/{file}") for path in paths for file in ours)
        for paths in accesses
    )


def frames(console: Sequence[str], header: int) -> list[Frame]:
    """The functions of a report's accesses, with the offset of the return address."""
    found: list[Frame] = []
    wanted = False
    for line in console[header:]:
        if FOOTER in line:
            break
        wanted = wanted or bool(ACCESS.search(line))
        if wanted and (frame := FRAME.search(line)):
            found.append((frame[1], int(frame[2], 16)))
            wanted = False
    return found


def files(wanted: Iterable[Frame], build: Path) -> dict[Frame, set[str]]:
    """The source files of each frame, for all functions of its name."""
    symbols = addresses(build / "System.map")
    # A call ends just before its return address.
    calls = {
        frame: [start + frame[1] - 1 for start in symbols.get(frame[0], ())] for frame in wanted
    }
    places = _places({address for found in calls.values() for address in found}, build / "vmlinux")
    return {
        frame: set().union(*(places.get(at, set()) for at in found))
        for frame, found in calls.items()
    }


def addresses(system_map: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for line in system_map.read_text().splitlines():
        address, _, name = line.split()
        found.setdefault(name, []).append(int(address, 16))
    return found


def _places(wanted: Collection[int], vmlinux: Path) -> Mapping[int, set[str]]:
    """The file of each address, and the files of the functions that it was inlined into."""
    argv = ["addr2line", "-a", "-i", "-e", str(vmlinux)]
    question = "".join(f"{address:#x}\n" for address in sorted(wanted))
    places: dict[int, set[str]] = {}
    address = 0
    for line in process.answer(argv, question).splitlines():
        if line.startswith("0x"):
            address = int(line, 16)
        elif not line.startswith("??"):
            places.setdefault(address, set()).add(line.rpartition(":")[0])
    return places
