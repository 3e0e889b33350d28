# SPDX-License-Identifier: GPL-2.0
"""Runs codespell on our text: files, messages, and the lines that hooks add."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from .. import hooks
from . import harness, tool
from .finding import Finding
from .subject import Subject

NAME = "codespell"
TEXTS = ("README.md", "CONTRIBUTING.md", "Makefile", "MAINTAINERS")


def check(subject: Subject) -> Iterator[Finding]:
    root = subject.layout.root
    files = [path for path in TEXTS if (root / path).exists()]
    files += [subject.layout.relative(path) for path in subject.layout.pages]
    files += [
        subject.layout.relative(path) for hook in subject.hooks for path in hook.overlay.values()
    ]
    files += [subject.layout.relative(path) for path in harness.files(subject.layout)]
    yield from _spell(files, root)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for path in hooks.paths(subject.base.name, subject.layout):
            target = scratch / subject.layout.relative(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(ours(path.read_text(errors="replace")))
        yield from _spell(["patches"], scratch)


def ours(patch: str) -> str:
    """A patch with upstream's lines blanked, so that all lines keep their number."""
    lines = []
    in_diff = False
    for line in patch.splitlines():
        in_diff = in_diff or line.startswith("diff --git")
        lines.append(line if not in_diff or line.startswith("+") else "")
    return "\n".join([*lines, ""])


def _spell(files: list[str], cwd: Path) -> Iterator[Finding]:
    told = tool.run(["codespell", "--quiet-level=2", *files], cwd, (0, 65))
    yield from tool.findings(NAME, told, lambda file: file.removeprefix("./"))
