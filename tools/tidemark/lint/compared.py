# SPDX-License-Identifier: GPL-2.0
"""A tool's findings in the patched tree that it does not have in the unpatched one."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from .. import scratch
from .finding import Finding

Message = tuple[Finding, str]


def beyond(base: Iterable[Message], ours: Iterable[Message]) -> Iterator[Finding]:
    known = Counter(_key(finding, source) for finding, source in base)
    for finding, source in ours:
        key = _key(finding, source)
        if known[key]:
            known[key] -= 1
        else:
            yield finding


def of_base(
    record: Path, parts: Sequence[str], ask: Callable[[], Iterable[Message]]
) -> list[Message]:
    """The findings in the base depend on these parts only, so they are kept."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    kept = scratch.read_json(record)
    if kept.get("key") != key:
        rows = [[f.tool, f.file, f.line, f.text, source] for f, source in ask()]
        record.parent.mkdir(parents=True, exist_ok=True)
        kept = {"key": key, "messages": rows}
        scratch.write_json(record, kept)
    return [(Finding(*row[:4]), row[4]) for row in kept["messages"]]


def message(finding: Finding, top: Path) -> Message:
    """A finding with its source line."""
    try:
        lines = (top / finding.file).read_text(errors="replace").splitlines()
        return finding, lines[finding.line - 1].strip() if finding.line else ""
    except (OSError, IndexError):
        return finding, ""


def _key(finding: Finding, source: str) -> tuple[str, str, str]:
    """A finding is an old one if the base has it for the same text, at any line number."""
    return finding.file, finding.text, source
