# SPDX-License-Identifier: GPL-2.0
"""The cover letter: our text, the figures of `make run` and the base, in the mail from git."""

import re
from pathlib import Path

from . import base as bases
from .base import Base
from .layout import Layout
from .measure import headline
from .report import Failure

TEXT = "cover.txt"
SUBJECT = "*** SUBJECT HERE ***"
BLURB = "*** BLURB HERE ***"
PLACE = re.compile(r"^@(\w+)@$", re.M)


def fill(letter: Path, base: Base, lines: str, layout: Layout) -> None:
    """Replace the places that git leaves open. Subject and text are in patches/cover.txt."""
    path = layout.patches / TEXT
    name = layout.relative(path)
    subject, _, text = path.read_text().partition("\n\n")
    if not subject.startswith("Subject: "):
        raise Failure(f"{name}:1: expected a `Subject: ` line and an empty one")
    values = {
        "RESULTS": headline.load(bases.DEFAULT, layout).block,
        "BASE": f"base: Linux {base.version} ({base.origin})\n{lines}",
    }
    if absent := sorted(values.keys() - set(PLACE.findall(text))):
        raise Failure(f"{name}: the line @{absent[0]}@ is missing")
    if unknown := sorted(set(PLACE.findall(text)) - values.keys()):
        raise Failure(f"{name}: nothing goes to @{unknown[0]}@")
    filled = PLACE.sub(lambda found: values[found[1]], text).strip("\n")
    content = letter.read_text()
    content = content.replace(SUBJECT, subject.removeprefix("Subject: "))
    letter.write_text(content.replace(BLURB, filled))
