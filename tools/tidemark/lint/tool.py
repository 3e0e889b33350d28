# SPDX-License-Identifier: GPL-2.0
"""Running a tool that prints findings, and reading `file:line: text` from its output."""

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .. import process
from ..report import Failure
from .finding import Finding

LINE = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:[\d-]+:)? ?(?P<text>.+)$")


def run(
    argv: Iterable[str | Path],
    cwd: Path,
    expected: Sequence[int] = (0, 1),
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> str:
    """The tool's output, on both streams; an unexpected status is a failure."""
    argv = list(argv)
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=process.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except FileNotFoundError as error:
        raise Failure(f"{argv[0]}: command not found") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{argv[0]} took more than {timeout:.0f} s") from error
    if done.returncode not in expected:
        raise Failure(
            f"{argv[0]} failed with status {done.returncode}", done.stdout.splitlines()[-20:]
        )
    return done.stdout


def findings(
    name: str, told: str, named: Callable[[str], str] = str, line: re.Pattern[str] = LINE
) -> Iterator[Finding]:
    for found in map(line.match, told.splitlines()):
        if found:
            yield Finding(name, named(found["file"]), int(found["line"]), found["text"].strip())
