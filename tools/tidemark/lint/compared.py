# SPDX-License-Identifier: GPL-2.0
"""What a tool says of the tree and does not say of the base."""

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
    """The base says the same each time that the parts are the same: it is asked once."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    kept = scratch.read_json(record)
    if kept.get("key") != key:
        rows = [[f.tool, f.file, f.line, f.text, source] for f, source in ask()]
        record.parent.mkdir(parents=True, exist_ok=True)
        kept = {"key": key, "messages": rows}
        scratch.write_json(record, kept)
    return [(Finding(*row[:4]), row[4]) for row in kept["messages"]]


def message(finding: Finding, top: Path) -> Message:
    """A finding with the line of source that it is about."""
    try:
        lines = (top / finding.file).read_text(errors="replace").splitlines()
        return finding, lines[finding.line - 1].strip() if finding.line else ""
    except (OSError, IndexError):
        return finding, ""


def _key(finding: Finding, source: str) -> tuple[str, str, str]:
    """A message is the same as on the base when it is about the same line, wherever that is."""
    return finding.file, finding.text, source
