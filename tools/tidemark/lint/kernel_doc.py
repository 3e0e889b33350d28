# SPDX-License-Identifier: GPL-2.0
"""Checks the kernel-doc comments of our own files."""

from collections.abc import Iterator

from . import tool
from .finding import Finding
from .subject import Subject

NAME = "kernel-doc"


def check(subject: Subject) -> Iterator[Finding]:
    script = subject.tree.path / "scripts" / "kernel-doc"
    files = [path for path in subject.new_code() if not path.startswith("tools/")]
    if files:
        argv = [str(script), "-none", "-Wall", "-Werror", *files]
        told = tool.run(argv, subject.tree.path, range(256))
        yield from tool.findings(NAME, told, subject.in_tree)
