# SPDX-License-Identifier: GPL-2.0
"""The figures of `make run` that the README, the cover letter and commit messages quote.

`make results` stores the last ones in bases/<base>/run.json.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import base as bases
from .. import run, scratch
from ..layout import Layout
from ..report import Failure

CONDITIONS = tuple(run.CONDITIONS)
MESSAGE_WIDTH = 72
NUMBER = re.compile(r"\d+(?:\\?\.\d+)?")
SECONDS = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s+s\b")
SERIES_OF = "2010"
ABOUT_IT = re.compile(r"\bunpack", re.I)
PARAGRAPH = re.compile(r"(?:^.*\S.*$\n?)+", re.M)

Figures = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Headline:
    release: str
    origin: str
    repeats: int
    limit_bytes: int
    disk_bytes_per_second: int
    figures: Figures

    def seconds(self, condition: str) -> float:
        return self.figures[condition]["seconds"]

    @property
    def sentence(self) -> str:
        alone, unlimited, limited = map(self.time, CONDITIONS)
        return (
            f"Unpacking a tarball on a disk of {self.disk_bytes_per_second / 1e6:.0f} MB/s takes"
            f" {alone} alone, {unlimited} beside a dd that writes without an end, and {limited}"
            f" beside the same dd limited to {self.limit_bytes // run.MIB} MiB."
        )

    @property
    def block(self) -> str:
        """The table that `make run` prints, as an indented block."""
        text = (
            f"Unpacking a tarball, Linux {self.release} from {self.origin}\n"
            f"{self.repeats} repeats; disk of {self.disk_bytes_per_second / 1e6:.0f} MB/s\n\n"
            f"{run.table(self.figures)}"
        )
        return textwrap.indent(text, "    ")

    @property
    def chart(self) -> dict[str, Any]:
        return {"kind": "times", "title": "Unpacking a tarball", "bars": self.bars}

    @property
    def bars(self) -> list[dict[str, Any]]:
        return [
            {"label": label, "seconds": self.seconds(name), "time": self.time(name)}
            for name, label in run.CONDITIONS.items()
        ]

    def time(self, condition: str) -> str:
        return f"{self.seconds(condition):.2f} s"


def stored(name: str, layout: Layout) -> Path:
    return layout.bases / name / "run.json"


def picture(name: str, layout: Layout) -> Path:
    return layout.bases / name / "run.svg"


def taken(record: Mapping[str, Any]) -> Headline:
    """The part to keep of the record that `make run` writes."""
    measured = record["measured"]
    if absent := [name for name in CONDITIONS if name not in measured]:
        raise Failure(f"the last `make run` did not measure: {', '.join(absent)}")
    return Headline(
        record["release"],
        record["base"]["origin"],
        len(measured[CONDITIONS[0]]),
        record["limit_bytes"],
        record["disk_bytes_per_second"],
        record["summary"],
    )


def load(name: str, layout: Layout) -> Headline:
    file = stored(name, layout)
    try:
        return Headline(**scratch.read_json(file))
    except TypeError as error:
        text = f"{layout.relative(file)}: not a record of `make run`; `make results` writes one"
        raise Failure(text) from error


def store(name: str, headline: Headline, layout: Layout) -> None:
    scratch.write_json(stored(name, layout), asdict(headline))


def quoting(layout: Layout) -> list[Path]:
    """Texts that may quote the figures, except the README."""
    return [*layout.pages, *sorted(layout.patches.glob("*/message"))]


def rewritten(text: str, headline: Headline) -> str:
    """The text, with today's figures in each paragraph that is the sentence with other ones."""
    return PARAGRAPH.sub(lambda found: _brought_up_to_date(found[0], headline.sentence), text)


def wrong_times(text: str, headline: Headline) -> Iterator[tuple[int, str]]:
    """Line and number of each time, in paragraphs about unpacking, that was not measured."""
    measured = [headline.seconds(name) for name in CONDITIONS]
    stated = [figures["seconds"] for figures in run.FIGURES_2010.values()]
    for paragraph in PARAGRAPH.finditer(text):
        if not ABOUT_IT.search(paragraph[0]):
            continue
        known = measured + (stated if SERIES_OF in paragraph[0] else [])
        for found in SECONDS.finditer(paragraph[0]):
            digits = len(found[1].partition(".")[2])
            if not any(f"{seconds:.{digits}f}" == found[1] for seconds in known):
                at = paragraph.start() + found.start()
                yield text.count("\n", 0, at) + 1, found[1]


def problems(layout: Layout) -> Iterator[tuple[str, int, str]]:
    """File, line and complaint for each place that differs from the stored figures."""
    headline = load(bases.DEFAULT, layout)
    source = layout.relative(stored(bases.DEFAULT, layout))
    for path in (layout.root / "README.md", *quoting(layout)):
        for line, number in wrong_times(path.read_text(), headline):
            text = f"{number} s is not a time of unpacking in {source}; run `make results`"
            yield layout.relative(path), line, text
    drawn = picture(bases.DEFAULT, layout)
    if [bar for bar in headline.bars if f">{bar['time']}<" not in drawn.read_text()]:
        yield layout.relative(drawn), 0, f"not the times in {source}; run `make results`"


def _brought_up_to_date(paragraph: str, sentence: str) -> str:
    pattern = NUMBER.sub(lambda _: NUMBER.pattern, re.escape(sentence).replace(r"\ ", r"\s+"))
    if not re.fullmatch(pattern, paragraph.strip()):
        return paragraph
    end = paragraph[len(paragraph.rstrip()) :]
    return textwrap.fill(sentence, MESSAGE_WIDTH, break_on_hyphens=False) + end
