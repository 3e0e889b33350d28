# SPDX-License-Identifier: GPL-2.0
"""checkpatch --strict on each mail of the series."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from .. import kbuild
from . import tool
from .finding import Finding
from .subject import Subject

NAME = "checkpatch"
# The sender adds the Signed-off-by later, and the mails are in no git repository.
OPTIONS = ("--strict", "--no-signoff", "--terse", "--show-types", "--showfile", "--no-summary")
LINE = re.compile(r"^(?P<file>[^:]*):(?P<line>\d+): (?P<text>(?:ERROR|WARNING|CHECK):.*)$")


def check(subject: Subject) -> Iterator[Finding]:
    with ThreadPoolExecutor(kbuild.jobs()) as pool:
        for found in pool.map(lambda mail: _run(subject, mail), subject.series.mails):
            yield from found


def _run(subject: Subject, mail: Path) -> list[Finding]:
    script = subject.tree.path / "scripts" / "checkpatch.pl"
    argv = ["perl", str(script), *OPTIONS, "--color=never", str(mail)]
    told = tool.run(argv, subject.tree.path)
    # A finding about the message has no file.
    return [
        replace(finding, file=finding.file or mail.name)
        for finding in tool.findings(NAME, told, line=LINE)
    ]
