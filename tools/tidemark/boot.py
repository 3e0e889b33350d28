# SPDX-License-Identifier: GPL-2.0
"""Boots a kernel, which has to be quiet and to have the files of those options that it has."""

import argparse
from collections.abc import Mapping

from . import config, console, guest, vm
from .base import Base
from .kernel import Image
from .report import Failure, progress

SECONDS = 300
# Files that prove that an option works: those of a cgroup, which need the memory controller,
# and others by their path.
CGROUP_FILES = {
    "ACTIVE_RATIO": "memory.active_inactive_ratio",
    "MEMCG_DIRTY_LIMIT": "memory.dirty_limit_in_bytes",
    "MEMCG_FLUSH_THRESHOLD": "memory.stat_flush_threshold",
}
FILES = {"WATERMARK_WAIT": "/proc/sys/vm/watermark_wait_timeout_ms"}


def boot(args: argparse.Namespace, image: Image, base: Base) -> None:
    options = config.parse(image.config.read_text())
    parameters = ("kunit.enable=0", f"tidemark.files={','.join(files(options))}")
    machine = guest.machine(args, image, base, "boot", parameters)
    outcome = vm.run(machine, guest.log(machine), SECONDS, progress)
    console.require_quiet(outcome)
    if outcome.status:
        raise Failure("the guest booted, but lacks a feature of the series", outcome.results)


def files(options: Mapping[str, str]) -> list[str]:
    known = {**FILES, **(CGROUP_FILES if options.get("MEMCG") == "y" else {})}
    return [known[option] for option in sorted(known) if options.get(option) == "y"]
