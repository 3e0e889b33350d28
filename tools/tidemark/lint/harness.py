# SPDX-License-Identifier: GPL-2.0
"""The harness itself: ruff, mypy --strict and shellcheck."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import packages
from ..layout import Layout
from ..report import warning
from . import tool
from .finding import Finding
from .subject import Subject

SHELL = ("#!/bin/sh", "#!/bin/busybox sh", "#!/usr/bin/env bash", "#!/bin/bash")


def check(subject: Subject) -> Iterator[Finding]:
    top = subject.layout.root / "tools"

    def named(file: str) -> str:
        return subject.layout.relative(top / file)

    yield from _ruff(top, named)
    argv = ["mypy", "--strict", "--no-color-output", "--no-error-summary", "tidemark"]
    yield from tool.findings("mypy", tool.run(argv, top), named)
    scripts = [str(path) for path in shell_scripts(subject.layout)]
    told = tool.run(["shellcheck", "--format=gcc", *scripts], subject.layout.root)
    yield from tool.findings("shellcheck", told, lambda f: subject.layout.relative(Path(f)))


def files(layout: Layout) -> list[Path]:
    places = [*(layout.root / "tools" / "tidemark").rglob("*"), *(layout.root / ".ci").glob("*")]
    return sorted(path for path in places if path.is_file() and "__pycache__" not in path.parts)


def shell_scripts(layout: Layout) -> list[Path]:
    """Files whose first line names a shell."""
    return [path for path in files(layout) if _is_shell(path)]


def _is_shell(path: Path) -> bool:
    with path.open(errors="replace") as stream:
        return stream.readline().strip() in SHELL


def _ruff(top: Path, named: Callable[[str], str]) -> Iterator[Finding]:
    """Debian 12 has no package of it, so it is optional."""
    if not packages.locate("ruff"):
        warning("ruff is not installed: the harness was not checked with it")
        return
    common = ["--config", "tidemark/ruff.toml", "--no-cache", "tidemark"]
    told = tool.run(["ruff", "check", "--output-format=json", "--quiet", *common], top)
    for found in json.loads(told):
        text = f"{found['code']} {found['message']}"
        yield Finding("ruff", named(found["filename"]), found["location"]["row"], text)
    told = tool.run(["ruff", "format", "--check", *common], top)
    for line in told.splitlines():
        if line.startswith("Would reformat: "):
            file = line.removeprefix("Would reformat: ")
            yield Finding("ruff", named(file), 0, "not as `ruff format` has it")
