# SPDX-License-Identifier: GPL-2.0
"""checkpatch --strict on each mail of the series."""

import re
from collections.abc import Iterator
from dataclasses import replace

from . import tool
from .finding import Finding
from .subject import Subject

NAME = "checkpatch"
# Nobody has signed the series off yet, and the mails are in no git repository.
OPTIONS = ("--strict", "--no-signoff", "--terse", "--show-types", "--showfile", "--no-summary")
LINE = re.compile(r"^(?P<file>[^:]*):(?P<line>\d+): (?P<text>(?:ERROR|WARNING|CHECK):.*)$")


def check(subject: Subject) -> Iterator[Finding]:
    script = subject.tree.path / "scripts" / "checkpatch.pl"
    for mail in subject.series.mails:
        argv = ["perl", str(script), *OPTIONS, "--color=never", str(mail)]
        for finding in tool.findings(NAME, tool.run(argv, subject.tree.path), line=LINE):
            # What is about the message has no file.
            yield replace(finding, file=finding.file or mail.name)
