# SPDX-License-Identifier: GPL-2.0
"""Times of the unpacking in README, cover letter and messages: those in bases/<base>/run.json."""

from collections.abc import Iterator

from ..measure import headline
from .finding import Finding
from .subject import Subject


def check(subject: Subject) -> Iterator[Finding]:
    for file, line, text in headline.problems(subject.layout):
        yield Finding("figures", file, line, text)
