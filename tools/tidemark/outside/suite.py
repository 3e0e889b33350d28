# SPDX-License-Identifier: GPL-2.0
"""The input of a suite, and its result: the outcomes of its tests on each kernel."""

from dataclasses import dataclass, field

from ..base import Base
from ..kernel import Image

UPSTREAM, OURS, LIMITED = "upstream", "ours", "ours, limited"
OK, FAIL, SKIP = "ok", "FAIL", "skip"
MISSING = "-"


@dataclass(frozen=True)
class Kernels:
    """Both kernels of a base, built alike."""

    base: Base
    upstream: Image
    ours: Image

    def of(self, column: str) -> Image:
        return self.upstream if column == UPSTREAM else self.ours


@dataclass(frozen=True)
class Wish:
    """What the user asks of the suites."""

    cuts: int = 30


@dataclass(frozen=True)
class Findings:
    """The outcome of each test in each column, with remarks that people read."""

    columns: list[str]
    outcomes: dict[str, dict[str, str]]
    remarks: list[str] = field(default_factory=list)
