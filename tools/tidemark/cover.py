# SPDX-License-Identifier: GPL-2.0
"""Fills git's cover letter with a cover page of ours, the figures of `make run` and the base."""

import re
from pathlib import Path

from . import base as bases
from .base import Base
from .layout import Layout
from .measure import headline
from .parts import Page
from .report import Failure

SUBJECT = "*** SUBJECT HERE ***"
BLURB = "*** BLURB HERE ***"
PLACE = re.compile(r"^@(\w+)@$", re.M)
# A maintainer reads one page first.
MOST_LINES = 60


def fill(letter: Path, page: Page, base: Base, lines: str, layout: Layout) -> None:
    """Replace the places that git leaves open by a page."""
    content = letter.read_text().replace(SUBJECT, page.subject)
    letter.write_text(content.replace(BLURB, _filled(page, base, lines, layout)))


def _filled(page: Page, base: Base, lines: str, layout: Layout) -> str:
    values = {
        "RESULTS": headline.load(bases.DEFAULT, layout).block,
        "BASE": f"base: Linux {base.version} ({base.origin})\n{lines}",
    }
    places = set(PLACE.findall(page.text))
    # The figures are those of a dirty limit, which most parts are not about.
    needed = {"BASE"} if page.patches else values.keys()
    if absent := sorted(needed - places):
        raise Failure(f"{page.name}: the line @{absent[0]}@ is missing")
    if unknown := sorted(places - values.keys()):
        raise Failure(f"{page.name}: nothing goes to @{unknown[0]}@")
    text = PLACE.sub(lambda found: values[found[1]], page.text)
    if (count := text.count("\n") + 1) > MOST_LINES:
        limit = f"a cover page has at most {MOST_LINES}"
        raise Failure(f"{page.name}: {count} lines in the mail; {limit}")
    return text
