# SPDX-License-Identifier: GPL-2.0
"""The input of a suite, and its result: the outcomes of its tests on each kernel."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .. import kernel
from ..base import Base
from ..kernel import Image

UPSTREAM, OURS, LIMITED = "upstream", "ours", "ours, limited"
OK, FAIL, SKIP = "ok", "FAIL", "skip"
MISSING = "-"


@dataclass(frozen=True)
class Kernels:
    """Both kernels of a base, built alike, and not before a suite needs them."""

    base: Base
    flavour: str

    @cached_property
    def upstream(self) -> Image:
        return kernel.build(self.base, pristine=True, flavour=self.flavour)

    @cached_property
    def ours(self) -> Image:
        return kernel.build(self.base, flavour=self.flavour)

    def of(self, column: str) -> Image:
        return self.upstream if column == UPSTREAM else self.ours


@dataclass(frozen=True)
class Wish:
    """The user's wishes: how often or how long to try, and where the sources of suites are.

    With a pattern, only the tests of a list run in whose names it is found. A difference that has a
    reason, in the form `SUITE TEST`, needs no other run.
    """

    cuts: int = 30
    seconds: int = 5
    minutes: float = 120
    pattern: str = ""
    sources: Mapping[str, Path] = field(default_factory=dict)
    explained: Collection[str] = ()


@dataclass(frozen=True)
class Findings:
    """The outcome of each test in each column, with remarks that people read."""

    columns: list[str]
    outcomes: dict[str, dict[str, str]]
    remarks: list[str] = field(default_factory=list)


class Missing(Exception):
    """A suite cannot run here; the message tells how to provide for it."""
