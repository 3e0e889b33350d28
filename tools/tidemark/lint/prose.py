# SPDX-License-Identifier: GPL-2.0
"""Plain English: constructions that upstream seldom uses are rare here as well.

lint/prose.patterns has the constructions and upstream's rates. A file may use each at twice
upstream's rate for its number of words, rounded up: a message of 200 words may have one `who`.
A construction that only this project uses has no rate and is not allowed.

lint/prose.counts has the counts of the day when it was written, and may only shrink. A file in
it is held to its counts instead: a higher count is a finding, and so is a lower one, until
`--write-prose-counts` has lowered the list, so that the constructions cannot come back.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..layout import Layout
from ..report import Failure
from . import prose_counts, prose_text
from .finding import SEPARATOR, Finding
from .subject import Subject

NAME = "prose"
PATTERNS = Path(__file__).with_name("prose.patterns")
COUNTS = Path("tools/tidemark/lint/prose.counts")
PLACES = ("Documentation", "bases", "include", "kernel", "mm", "patches", "tools", ".ci")
TEXTS = ("README.md", "CONTRIBUTING.md", "Kconfig", "Makefile")
HARNESS = ("README.md", "CONTRIBUTING.md", "Makefile", "bases/", "tools/tidemark/", ".ci/")
KERNEL = "kernel"
LOWER = "make lint ARGS=--write-prose-counts"
WORD = re.compile(r"[A-Za-z][\w'-]*")


@dataclass(frozen=True)
class Pattern:
    name: str
    rate: float
    expression: re.Pattern[str]
    instead: str

    def limit(self, words: int) -> int:
        """Twice upstream's rate, as a number of occurrences."""
        return math.ceil(2 * self.rate * words / 10_000)


@dataclass(frozen=True)
class Use:
    """One construction in one file."""

    count: int
    limit: int
    lines: tuple[int, ...]
    instead: tuple[str, ...]


Uses = Mapping[str, Mapping[str, Use]]
Counts = Mapping[str, Mapping[str, int]]


def check(subject: Subject) -> Iterator[Finding]:
    yield from findings(subject.layout)


def findings(layout: Layout) -> Iterator[Finding]:
    found, recorded = uses(layout), prose_counts.read(layout.root / COUNTS)
    yield from above(found, recorded)
    yield from below(found, recorded)


def above(found: Uses, recorded: Counts) -> Iterator[Finding]:
    """Files with more constructions than they may have."""
    for file, by_name in sorted(found.items()):
        counts = recorded.get(file)
        for name, use in sorted(by_name.items()):
            bound = use.limit if counts is None else counts.get(name, 0)
            if use.count > bound:
                source = "twice upstream's rate" if counts is None else COUNTS.name
                where = ", ".join(map(str, use.lines))
                text = f"{name}: {use.count}, {source} allows {bound}: lines {where}"
                yield Finding(NAME, file, use.lines[0], f"{text}; write {'; '.join(use.instead)}")


def below(found: Uses, recorded: Counts) -> Iterator[Finding]:
    """Recorded counts that are higher than today's."""
    for file, counts in sorted(recorded.items()):
        for name, count in sorted(counts.items()):
            use = found.get(file, {}).get(name)
            if use is None or use.count < count:
                today = use.count if use else "no such text"
                text = f"{name}: {COUNTS.name} has {count}, today {today}: lower it ({LOWER})"
                yield Finding(NAME, file, 0, text)


def write_counts(layout: Layout) -> None:
    """Lower the recorded counts to today's. Without a list, record all of them."""
    path = layout.root / COUNTS
    found = uses(layout)
    today = {
        file: {name: use.count for name, use in by_name.items() if use.count}
        for file, by_name in found.items()
    }
    if path.exists():
        recorded = prose_counts.read(path)
        if worse := [str(finding) for finding in above(found, recorded)]:
            raise Failure(f"{path.name} may only shrink: rewrite these first", worse)
        today = {file: counts for file, counts in today.items() if file in recorded}
    prose_counts.write(path, today)


def uses(layout: Layout) -> dict[str, dict[str, Use]]:
    """Each file that has prose, and each construction in it."""
    patterns = read_patterns(PATTERNS)
    found = {}
    for path in _files(layout.root):
        file = layout.relative(path)
        text = prose_text.read(file, path.read_text(errors="replace"))
        if words := len(WORD.findall(text)):
            kernel = not file.startswith(HARNESS)
            chosen = [p for p in patterns if kernel or p.name != KERNEL]
            found[file] = _uses(text, words, chosen)
    return found


def _uses(text: str, words: int, patterns: list[Pattern]) -> dict[str, Use]:
    lines: dict[str, list[int]] = {pattern.name: [] for pattern in patterns}
    instead: dict[str, list[str]] = {pattern.name: [] for pattern in patterns}
    for pattern in patterns:
        if hits := [
            text.count("\n", 0, hit.start()) + 1 for hit in pattern.expression.finditer(text)
        ]:
            lines[pattern.name] += hits
            instead[pattern.name].append(pattern.instead)
    limits = {pattern.name: pattern.limit(words) for pattern in patterns}
    return {
        name: Use(len(lines[name]), limits[name], tuple(sorted(lines[name])), tuple(instead[name]))
        for name in lines
    }


def _files(root: Path) -> Iterator[Path]:
    for name in TEXTS:
        if (root / name).is_file():
            yield root / name
    for place in PLACES:
        paths = (root / place).rglob("*")
        yield from sorted(p for p in paths if p.is_file() and "__pycache__" not in p.parts)


def read_patterns(path: Path) -> list[Pattern]:
    """Lines of `name | rate | expression | write instead`."""
    patterns = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split(SEPARATOR)
        if len(parts) != 4:
            raise Failure(f"{path.name}:{number}: expected `name | rate | expression | instead`")
        name, rate, expression, instead = parts
        try:
            spaced = expression.replace(" ", r"\s+")
            compiled = re.compile(rf"\b(?:{spaced})(?!\w)", re.I)
            patterns.append(Pattern(name, float(rate), compiled, instead))
        except (re.error, ValueError) as error:
            raise Failure(f"{path.name}:{number}: {error}") from error
    return patterns
