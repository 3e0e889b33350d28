# SPDX-License-Identifier: GPL-2.0
"""Dirty limits in the life of a service: restarts, files of others, siblings, and setting."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .benchmark import Benchmark, Reading


@dataclass(frozen=True)
class _Message:
    """A line that a kselftest prints, and the table rows of the numbers in it."""

    pattern: re.Pattern[str]
    unit: str
    rows: tuple[str, ...]
    scale: float = 1


def _rate(label: str, row: str) -> _Message:
    return _Message(re.compile(rf"# {label}: (\d+) KB/s"), "MB/s", (row,), 1e-3)


def _time(label: str, row: str, control: str) -> _Message:
    return _Message(re.compile(rf"# {label}: (\d+) ms, control (\d+) ms"), "ms", (row, control))


# In the order in which the tests print them: a label may come twice.
MESSAGES = (
    _rate("new_files", "restart: new files"),
    _rate("successor", "restart: files of the predecessor"),
    _rate("new_files", "six owners: new files"),
    _rate("writer", "six owners: their files"),
    _time("set", "400 limits by 8 tasks", "400 times memory.max by 8 tasks"),
    _time("mkdir", "mkdir beside these, p99", "mkdir beside memory.max, p99"),
    _time("mkdir", "mkdir beside 20 tasks that rewrite a limit, p99", "the same with memory.max"),
    _rate("limit on the slow one", "beside a slow sibling: limit on the sibling"),
    _rate("limit on both", "beside a slow sibling: limit on both"),
    _time(
        "write",
        "light writer beside 16 leaves: limit on both, p99",
        "light writer beside 16 leaves: limit on the leaves, p99",
    ),
)


def read_tests(variant: str, _: str, lines: Sequence[str]) -> Reading:
    """Read the messages of the kselftests; a kernel without limits has only the first."""
    reading = Reading()
    awaited = list(MESSAGES)
    for line in lines:
        for message in awaited:
            if found := message.pattern.fullmatch(line):
                for row, number in zip(message.rows, found.groups(), strict=True):
                    reading.add(variant, row, message.unit, int(number) * message.scale)
                awaited.remove(message)
                break
    return reading


LIFE = Benchmark(
    name="dirty-life",
    title="services that restart, write files of others, have slow siblings, and set limits",
    about="the kselftests of these, on a disk of 30 MB/s; restarts and owners with memory.max=200M",
    minutes=9,
    program="life",
    boots=2,
    icount=False,
    parameters=("kunit.enable=0",),
    headline=".*",
    read=read_tests,
)

BENCHMARKS = (LIFE,)
