# SPDX-License-Identifier: GPL-2.0
"""Runs the checks that take too long for CI, one after the other, and prints a line for each."""

import argparse
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import debian, kernel, parts
from .layout import REPOSITORY
from .report import Failure, elapsed, working

FUZZ_WRITES = 100_000
# A kernel that checks every memory access makes each test about ten times as long.
DEBUG_WRITES = 8_000
# On each of two LRUs.
PRESSURE_SECONDS = 300


@dataclass(frozen=True)
class Step:
    """A target of the Makefile, with variables; the last line that it prints is its result."""

    name: str
    target: str
    variables: Mapping[str, str]


STEPS = (
    Step("check-series", "check-series", {}),
    *(
        Step(f"part-{part}", "check-series", {"PART": part, "FLAVOUR": kernel.LEAN})
        for part in parts.names(REPOSITORY)
    ),
    Step("lint", "lint", {}),
    Step("matrix", "matrix", {"ARGS": "--boot"}),
    Step("upstream-tests", "upstream-tests", {}),
    Step("mutants", "mutants", {}),
    Step("test-debug", "test", {"FLAVOUR": "debug", "ARGS": f"--writes {DEBUG_WRITES}"}),
    Step("test-kcsan", "test", {"FLAVOUR": "kcsan", "ARGS": f"--writes {DEBUG_WRITES}"}),
    Step(
        "pressure",
        "test",
        {
            "FLAVOUR": "debug",
            "ARGS": f"--only test_watermark_wait --seconds {PRESSURE_SECONDS}",
        },
    ),
    Step("debian", "test", {"FLAVOUR": debian.FLAVOUR}),
    Step("debian-unpatched", "test", {"FLAVOUR": debian.FLAVOUR, "PRISTINE": "1"}),
    Step("fuzz", "test", {"ARGS": f"--only test_memcg_knobs --writes {FUZZ_WRITES}"}),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ",".join(step.name for step in STEPS)
    parser.add_argument("--only", default="", help=f"some of: {names}")


def main(args: argparse.Namespace) -> int:
    if args.pristine or args.flavour != kernel.PLAIN:
        raise Failure("PRISTINE and FLAVOUR: each step sets these itself")
    common = {"BASE": args.base, "LINUX": str(args.linux or "")}
    place = REPOSITORY.build / "check-all"
    place.mkdir(parents=True, exist_ok=True)
    rows = [run(step, common, REPOSITORY.root, place) for step in chosen(args.only)]
    for row in rows:
        print(row)
    failed = sum(row.startswith("FAIL") for row in rows)
    print(f"{len(rows)} steps, {failed} failed")
    return 1 if failed else 0


def chosen(only: str) -> Sequence[Step]:
    names = only.split(",") if only else [step.name for step in STEPS]
    if unknown := set(names) - {step.name for step in STEPS}:
        raise Failure(f"--only {min(unknown)}: no such step")
    return [step for step in STEPS if step.name in names]


def environment() -> dict[str, str]:
    """The environment without the variables that our own make exports to its sub-makes."""
    names = ("MFLAGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    return {name: value for name, value in os.environ.items() if name not in names}


def run(step: Step, common: Mapping[str, str], root: Path, place: Path) -> str:
    """Run a step; its failure does not prevent the next ones from running."""
    # make passes its own ARGS on in the environment.
    given = {"ARGS": "", **common, **step.variables}
    variables = [f"{name}={value}" for name, value in given.items()]
    log = place / f"{step.name}.log"
    start = time.monotonic()
    with working(f"{step.name} (see {REPOSITORY.relative(log)})"), log.open("wb") as sink:
        done = subprocess.run(
            ["make", "-s", step.target, *variables],
            cwd=root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            errors="replace",
        )
        sink.write(done.stdout.encode())
    lines = done.stdout.splitlines()
    result = lines[-1] if lines else "no result"
    took = elapsed(time.monotonic() - start)
    return f"{'FAIL' if done.returncode else 'ok':4} {step.name:22} {took:>7}  {result}"
