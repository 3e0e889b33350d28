# SPDX-License-Identifier: GPL-2.0
"""Finds the kernel's error reports on a guest's console."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .report import Failure

CONTEXT_LINES = 25
TROUBLE = re.compile(
    r"\bWARNING: |\bBUG: |\bBUG at |kernel BUG|\bOops\b|general protection fault|Kernel panic"
    r"|INFO: task .* blocked (?:in I/O wait )?for more than|self-detected stall"
    r"|detected (?:expedited )?stalls?(?: on|,)"
    r"|possible (?:circular locking|recursive locking|irq lock inversion)|inconsistent lock state"
    r"|suspicious RCU usage|INFO: trying to register non-static key|\bKASAN: |\bUBSAN: |\bKCSAN: "
    r"|kmemleak: \d+ new|unreferenced object|sleeping function called|scheduling while atomic"
    r"|list_(?:add|del) corruption|page_counter underflow|Out of memory: Killed"
)


@dataclass(frozen=True)
class Outcome:
    """The guest's output. Without a status, it did not finish its mode."""

    results: list[str]
    console: list[str]
    status: int | None


def complaints(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if TROUBLE.search(line)]


def context(lines: list[str]) -> list[str]:
    """The first report and the lines after it, which have its stack trace."""
    first = next((at for at, line in enumerate(lines) if TROUBLE.search(line)), len(lines))
    return lines[first : first + CONTEXT_LINES]


def require_quiet(outcome: Outcome) -> None:
    """Fail if the kernel reported an error, or if the guest ended early."""
    if complaints(outcome.console):
        raise Failure("the kernel reported an error on its console:", context(outcome.console))
    if outcome.status is None:
        raise Failure("the guest ended early; its console ends with", outcome.console[-40:])
