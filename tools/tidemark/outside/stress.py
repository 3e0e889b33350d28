# SPDX-License-Identifier: GPL-2.0
"""stress-ng's stressors of memory, virtual memory, I/O, file systems and the system's calls.

Each runs for some seconds in a cgroup with memory.max: on the unpatched kernel, on ours, and on
ours with a dirty limit, an active ratio and "auto" flush thresholds.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from .. import guest, packages, process, programs
from ..kernel import Image
from . import listed
from .suite import Findings, Kernels, Wish

TOOLS = (*listed.TOOLS, "stress-ng")
CLASSES = ("memory", "vm", "io", "filesystem", "os")
LISTING = re.compile(r"class '[\w-]+' stressors: (?P<names>.*)")
# They stall a CPU on purpose, ask for a reboot, or set the clock that results depend on.
LEFT_OUT = frozenset({"softlockup", "reboot", "clock", "timerfd-settime"})
WORKERS = 2
MAX_BYTES = 512 << 20
# Exit codes: no resources, not implemented, no result because of an OOM kill.
SKIPPED = frozenset({3, 4, 7})


def names(listings: Iterable[str]) -> list[str]:
    """The stressors of several classes, each once, from stress-ng's own lists."""
    found = (LISTING.search(text) for text in listings)
    every = {name for match in found if match for name in match["names"].split()}
    return sorted(every - LEFT_OUT)


def run(kernels: Kernels, wish: Wish) -> Findings:
    packages.require(TOOLS)
    program = packages.locate("stress-ng") or "stress-ng"
    listings = [process.output([program, "--class", f"{each}?"]) for each in CLASSES]
    options = f"--timeout {wish.seconds} --verify --oomable --temp-path /disk/tmp"
    plan = listed.Plan(
        "stress",
        [(name, f"stress-ng --{name} {WORKERS} {options}") for name in names(listings)],
        SKIPPED,
        guest.DEBUG_MEMORY_MIB,
        [f"tidemark.max={MAX_BYTES}"],
        [f"tidemark.auto={listed.RATIO}"],
        fill_root=_copy_program,
    )
    return listed.run(kernels, plan, wish)


def _copy_program(root: Path, _image: Image) -> None:
    programs.copy(["stress-ng"], root)
