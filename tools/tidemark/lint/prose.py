# SPDX-License-Identifier: GPL-2.0
"""Plain English: constructions that upstream seldom uses are rare here as well.

lint/prose.patterns has the constructions and upstream's rates. A file may use each at twice
upstream's rate for its number of words, rounded up: a message of 200 words may have one `who`.
A construction that only this project uses has no rate and is not allowed.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..layout import Layout
from ..report import Failure
from . import prose_text
from .finding import SEPARATOR, Finding
from .subject import Subject

NAME = "prose"
PATTERNS = Path(__file__).with_name("prose.patterns")
PLACES = ("Documentation", "bases", "include", "kernel", "mm", "patches", "tools", ".ci")
TEXTS = ("README.md", "CONTRIBUTING.md", "Kconfig", "Makefile")
HARNESS = ("README.md", "CONTRIBUTING.md", "Makefile", "bases/", "tools/tidemark/", ".ci/")
KERNEL = "kernel"
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


def check(subject: Subject) -> Iterator[Finding]:
    yield from findings(subject.layout)


def findings(layout: Layout) -> Iterator[Finding]:
    for file, by_name in sorted(uses(layout).items()):
        for name, use in sorted(by_name.items()):
            if use.count > use.limit:
                where = ", ".join(map(str, use.lines))
                text = f"{name}: {use.count}, twice upstream's rate allows {use.limit}"
                text += f": lines {where}; write {'; '.join(use.instead)}"
                yield Finding(NAME, file, use.lines[0], text)


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
