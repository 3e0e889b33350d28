# SPDX-License-Identifier: GPL-2.0
"""The cover letter: our text, the README's figures and the base in what git has laid out."""

import re
from collections.abc import Iterator
from pathlib import Path

from .base import Base
from .layout import Layout
from .report import Failure

TEXT = "cover.txt"
FIGURES = "    Unpacking a tarball"
SUBJECT = "*** SUBJECT HERE ***"
BLURB = "*** BLURB HERE ***"
PLACE = re.compile(r"^@(\w+)@$", re.M)


def fill(letter: Path, base: Base, lines: str, layout: Layout) -> None:
    """Replace what git leaves to be written. Subject and text are in patches/cover.txt."""
    path = layout.patches / TEXT
    name = layout.relative(path)
    subject, _, text = path.read_text().partition("\n\n")
    if not subject.startswith("Subject: "):
        raise Failure(f"{name}:1: expected a `Subject: ` line and an empty one")
    values = {
        "RESULTS": "\n".join(figures((layout.root / "README.md").read_text())),
        "BASE": f"base: Linux {base.version} ({base.origin})\n{lines}",
    }
    if absent := sorted(values.keys() - set(PLACE.findall(text))):
        raise Failure(f"{name}: no line @{absent[0]}@ for what goes there")
    if unknown := sorted(set(PLACE.findall(text)) - values.keys()):
        raise Failure(f"{name}: nothing goes to @{unknown[0]}@")
    filled = PLACE.sub(lambda found: values[found[1]], text).strip("\n")
    content = letter.read_text()
    content = content.replace(SUBJECT, subject.removeprefix("Subject: "))
    letter.write_text(content.replace(BLURB, filled))


def figures(readme: str) -> Iterator[str]:
    """The README's first table of figures."""
    found = False
    block: list[str] = []
    for line in readme.splitlines():
        found = found or line.startswith(FIGURES)
        if found and line and not line.startswith("    "):
            break
        if found:
            block.append(line)
    if not block:
        raise Failure(f"README.md: no table that starts with `{FIGURES.strip()}`")
    while not block[-1]:
        block.pop()
    return iter(block)
