# SPDX-License-Identifier: GPL-2.0
"""Runs sparse and W=1 on the files that the series touches, and drops the base's own findings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .. import affected, config, kbuild, kernel, lock, packages, process, scratch
from ..kbuild import Kbuild
from ..report import progress
from ..tree import Tree
from . import compared
from .compared import Message
from .finding import Finding
from .subject import Subject

MESSAGE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?:\d+:)? (?:warning|error): (?P<text>.*)$")
OF_GCC = re.compile(r"\[-W[\w=+-]+\]$")
OF_KERNEL_DOC = re.compile(r"Function parameter|Excess |cannot understand|expecting prototype")
SECONDS = 1800


def check(subject: Subject) -> Iterator[Finding]:
    yield from compared.beyond(_of_base(subject), _messages(subject, subject.tree, pristine=False))


def candidates(subject: Subject) -> list[str]:
    return affected.candidates([*subject.overlay, *subject.touched()])


def _fragments(subject: Subject) -> Mapping[str, config.Wish]:
    return config.read(kernel.fragments(subject.base.name, subject.layout), subject.layout)


def _of_base(subject: Subject) -> list[Message]:
    base = Tree(subject.base.path, subject.base.key, subject.base.key)
    asked = config.merged(_fragments(subject))
    parts = [base.key, asked, *candidates(subject)]
    parts += [process.output([program, "--version"]) for program in ("gcc", "sparse")]
    record = subject.layout.build / "lint" / f"{subject.base.label}.json"
    return compared.of_base(record, parts, lambda: _messages(subject, base, pristine=True))


def _messages(subject: Subject, tree: Tree, pristine: bool) -> list[Message]:
    name = f"{subject.base.label}-lint{'-pristine' if pristine else ''}"
    layout = subject.layout
    packages.require(kbuild.TOOLS)
    kbuild.check_place(layout)
    with lock.hold(layout.build, f"kernel/{name}") as descriptor:
        build = Kbuild(name, tree.path, layout, descriptor)
        stamp = build.out / "tidemark.json"
        build.start(scratch.read_json(stamp).get("lineage") != tree.lineage)
        scratch.write_json(stamp, {"lineage": tree.lineage})
        excepted = kernel.absent_symbols(subject.base, pristine, layout)
        options = build.configure(_fragments(subject), excepted)
        sources = affected.built(candidates(subject), tree.path, options)
        objects = [str(Path(path).with_suffix(".o")) for path in sources]
        for path in objects:
            (build.out / path).unlink(missing_ok=True)
        of_base = " of the base" if pristine else ""
        progress(f"sparse and W=1 on {len(objects)} files{of_base}")
        build.make(f"-j{kbuild.jobs()}", "prepare", timeout=SECONDS)
        build.log.write_bytes(b"")
        build.make(f"-kj{kbuild.jobs()}", "C=1", "W=1", *objects, timeout=SECONDS)
        return list(_read(build.lines(), tree.path))


def _read(lines: Iterable[str], top: Path) -> Iterator[Message]:
    for found in map(MESSAGE.match, lines):
        if not found:
            continue
        file = found["file"].removeprefix(f"{top}/")
        number = int(found["line"])
        finding = Finding(_tool(found["text"]), file, number, found["text"])
        yield compared.message(finding, top)


def _tool(text: str) -> str:
    if OF_GCC.search(text):
        return "W=1"
    return "kernel-doc" if OF_KERNEL_DOC.search(text) else "sparse"
