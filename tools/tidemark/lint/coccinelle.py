# SPDX-License-Identifier: GPL-2.0
"""The kernel's own semantic patches, in report mode, on our own C files.

Upstream's files are left out: the large ones take minutes with each script.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from .. import kbuild
from ..report import Failure, warning
from . import tool
from .finding import Finding
from .subject import Subject

NAME = "coccinelle"
OPTIONS = re.compile(r"^// *Options: *(.*)$", re.M)
COMMAND = ("spatch", "--very-quiet", "--no-show-diff", "-D", "report", "--cocci-file")
OCAML = re.compile(r"^@\s*(?:script|initialize|finalize):ocaml", re.M)
REPORT = re.compile(r"^virtual report$", re.M)
SECONDS = 300


def check(subject: Subject) -> Iterator[Finding]:
    scripts = sorted((subject.tree.path / "scripts" / "coccinelle").rglob("*.cocci"))
    with ThreadPoolExecutor(kbuild.jobs()) as pool:
        for found in pool.map(lambda script: _run(subject, script), scripts):
            yield from found


def _run(subject: Subject, script: Path) -> list[Finding]:
    text = script.read_text(errors="replace")
    # Debian's coccinelle lacks the compiler that OCaml scripts need.
    if not REPORT.search(text) or OCAML.search(text):
        return []
    top = subject.tree.path
    options = [word for line in OPTIONS.findall(text) for word in line.split()]
    argv = [*COMMAND, str(script), *options, *subject.new_code()]
    try:
        told = tool.run(argv, top, timeout=SECONDS)
    except Failure as error:
        # A script may need a later coccinelle; the others still run.
        warning(f"coccinelle: {script.relative_to(top)} was not used: {error.message}")
        return []
    return [
        replace(finding, text=f"{finding.text} ({script.stem})")
        for finding in tool.findings(NAME, told, subject.in_tree)
    ]
