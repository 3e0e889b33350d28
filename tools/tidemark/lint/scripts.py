# SPDX-License-Identifier: GPL-2.0
"""The kernel's own scripts: checkpatch --strict on each mail, and kernel-doc on our files."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from .. import kbuild
from . import tool
from .finding import Finding
from .subject import Subject

# The sender adds the Signed-off-by later, and the mails are in no git repository.
OPTIONS = ("--strict", "--no-signoff", "--terse", "--show-types", "--showfile", "--no-summary")
LINE = re.compile(r"^(?P<file>[^:]*):(?P<line>\d+): (?P<text>(?:ERROR|WARNING|CHECK):.*)$")


def checkpatch(subject: Subject) -> Iterator[Finding]:
    with ThreadPoolExecutor(kbuild.jobs()) as pool:
        for found in pool.map(lambda mail: _checkpatch(subject, mail), subject.series.mails):
            yield from found


def _checkpatch(subject: Subject, mail: Path) -> list[Finding]:
    script = subject.tree.path / "scripts" / "checkpatch.pl"
    argv = ["perl", str(script), *OPTIONS, "--color=never", str(mail)]
    told = tool.run(argv, subject.tree.path)
    # A finding about the message has no file.
    return [
        replace(finding, file=finding.file or mail.name)
        for finding in tool.findings("checkpatch", told, line=LINE)
    ]


def kernel_doc(subject: Subject) -> Iterator[Finding]:
    script = subject.tree.path / "scripts" / "kernel-doc"
    files = [path for path in subject.new_code() if not path.startswith("tools/")]
    if files:
        argv = [str(script), "-none", "-Wall", "-Werror", *files]
        told = tool.run(argv, subject.tree.path, range(256))
        yield from tool.findings("kernel-doc", told, subject.in_tree)
