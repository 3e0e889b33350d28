# SPDX-License-Identifier: GPL-2.0
"""Runs the kernel's htmldocs on the directories with documents that the series touches.

Documents in other directories are missing then; findings that the base has too are no findings.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from .. import lock, packages, process
from ..tree import Tree
from . import compared, tool
from .compared import Message
from .finding import Finding
from .subject import Subject

NAME = "htmldocs"
TOOLS = ("sphinx", "yaml")
TOP = "Documentation"
WARNING = re.compile(
    r"^(?P<file>/\S+?\.rst)(?::(?P<line>\d+))?: (?:WARNING|ERROR|CRITICAL|SEVERE): (?P<text>.+)$"
)
# Debian's packages, whose versions fit.
PROGRAMS = ("SPHINXBUILD=/usr/bin/sphinx-build", "PYTHON3=/usr/bin/python3")
SECONDS = 1200


def check(subject: Subject) -> Iterator[Finding]:
    names = directories([*subject.overlay, *subject.touched()])
    if not names:
        return
    packages.require(TOOLS)
    base = Tree(subject.base.path, subject.base.key, subject.base.key)
    record = subject.layout.build / "lint" / f"{subject.base.label}-docs.json"
    parts = [base.key, *names, process.output(["/usr/bin/sphinx-build", "--version"])]
    known = compared.of_base(record, parts, lambda: _messages(subject, base, names))
    yield from compared.beyond(known, _messages(subject, subject.tree, names))


def directories(paths: Iterable[str]) -> list[str]:
    """The directories below Documentation/ to pass to htmldocs."""
    found = (Path(path).parts for path in paths)
    return sorted({parts[1] for parts in found if parts[0] == TOP and len(parts) > 2})


def read(told: str, top: Path) -> Iterator[Message]:
    for found in map(WARNING.match, told.splitlines()):
        if found and Path(found["file"]).is_relative_to(top):
            file = str(Path(found["file"]).relative_to(top))
            text = found["text"].replace(f"{top}/", "")
            finding = Finding(NAME, file, int(found["line"] or 0), text)
            yield compared.message(finding, top)


def _messages(subject: Subject, tree: Tree, names: list[str]) -> list[Message]:
    """Sphinx does not check a document again that it has already built."""
    out = subject.layout.build / "docs"
    with lock.hold(subject.layout.build, "docs"):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        argv = ["make", f"O={out}", f"SPHINXDIRS={' '.join(names)}", *PROGRAMS, "htmldocs"]
        told = tool.run(argv, tree.path, expected=(0,), timeout=SECONDS)
    return list(read(told, tree.path))
