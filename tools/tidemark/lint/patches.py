# SPDX-License-Identifier: GPL-2.0
"""The patches themselves: complete for each base, none twice, short messages, in MAINTAINERS."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from .. import base as bases
from .. import hooks, overlay, symbols
from ..layout import Layout
from .finding import Finding
from .subject import Subject

Change = tuple[str, tuple[str, ...]]

NAME = "patches"
BODY_LINES = 25
PATTERN = re.compile(r"^F:\t(\S+)$", re.M)
HEADING = re.compile(r"^[A-Z][A-Z0-9 ()/-]+\n(?=[A-Z]:\t)", re.M)


def check(subject: Subject) -> Iterator[Finding]:
    for directory in hooks.directories(subject.layout):
        yield from _message(directory, subject.layout)
        yield from _twins(directory, subject)
    for base_name in bases.names(subject.layout):
        for path in hooks.missing(base_name, subject.layout):
            yield Finding(NAME, path, 0, f"not there, and no {hooks.ANY} beside it")
    yield from _fragments(subject)
    yield from _maintainers(subject)


def _message(directory: Path, layout: Layout) -> Iterator[Finding]:
    path = directory / hooks.MESSAGE
    lines = [line for line in path.read_text().splitlines() if not line.startswith(hooks.KEY)]
    body = "\n".join(lines[2:]).strip("\n").splitlines()
    if len(body) > BODY_LINES:
        text = f"{len(body)} lines; a commit message has at most {BODY_LINES}"
        yield Finding(NAME, layout.relative(path), BODY_LINES + 2, text)


def _twins(directory: Path, subject: Subject) -> Iterator[Finding]:
    """Two diffs that one could stand for: the same lines change, in places that look the same."""
    layout = subject.layout
    seen: dict[tuple[Change, ...], Path] = {}
    for path in sorted(directory.glob(f"*{hooks.SUFFIX}")):
        changes = tuple(
            change
            for diff in hooks.read_diffs(path, layout)
            for hunk in diff.hunks
            for change in _changes(diff.path, hunk)
        )
        if changes in seen and all(_has_one_place(change, subject.base.path) for change in changes):
            other = layout.relative(seen[changes])
            text = f"changes the same lines as {other}: make one {hooks.ANY} of them"
            yield Finding(NAME, layout.relative(path), 0, text)
        seen[changes] = path


def _changes(path: str, hunk: hooks.Hunk) -> Iterator[Change]:
    """Lines that change together, between one line of context on either side."""
    body = [line or " " for line in hunk.body]
    for changed, lines in groupby(enumerate(body), lambda item: item[1][0] in "+-"):
        numbers = [number for number, _ in lines]
        if changed:
            near = slice(max(0, numbers[0] - 1), numbers[-1] + 2)
            yield path, tuple(body[near])


def _has_one_place(change: Change, base: Path) -> bool:
    """Where a file repeats the lines around a change, a diff needs the context of its own base."""
    file, lines = change
    path = base / file
    text = path.read_text(errors="replace") if path.is_file() else ""
    old = "".join(f"\n{line[1:]}" for line in lines if line[0] != "+")
    return text.count(f"{old}\n") < 2


def _fragments(subject: Subject) -> Iterator[Finding]:
    """Kconfig sources the fragments that the series carries."""
    named = set(symbols.sourced(subject.layout))
    carried = {path for path in subject.overlay if Path(path).name.startswith("Kconfig")}
    for path in sorted(carried - named):
        yield Finding(NAME, path, 0, "the top-level Kconfig does not source it")
    for path in sorted(named - carried):
        yield Finding(NAME, path, 0, "the top-level Kconfig sources it, but no patch adds it")


def _maintainers(subject: Subject) -> Iterator[Finding]:
    """Our MAINTAINERS has each file of ours, and a hook adds its lines."""
    path = subject.layout.root / "MAINTAINERS"
    if not path.is_file():
        yield Finding(NAME, path.name, 0, "not there, and files of ours need an entry")
        return
    text = path.read_text()
    patterns = PATTERN.findall(text)
    # Those of other bases as well: there is one MAINTAINERS for all.
    files = overlay.files(subject.layout)
    for file in files:
        if not any(_matches(file, pattern) for pattern in patterns):
            yield Finding(NAME, file, 0, "in no entry of MAINTAINERS")
    found = HEADING.search(text)
    first = text[: found.start()].count("\n") + 1 if found else 0
    added = {
        line
        for hook in subject.hooks
        for diff in hook.diffs
        if diff.path == path.name
        for line in diff.added_lines()
    }
    for number, line in enumerate(text.splitlines()[first - 1 :] if found else [], first):
        pattern = line.removeprefix("F:\t") if line.startswith("F:") else ""
        if pattern and not any(_matches(file, pattern) for file in files):
            yield Finding(NAME, path.name, number, f"{pattern}: no file of ours is called so")
        elif pattern and not any(_matches(file, pattern) for file in subject.overlay):
            if line in added:
                problem = f"{pattern}: a hook adds it, but this base has no such file"
                yield Finding(NAME, path.name, number, problem)
        elif line not in added:
            yield Finding(NAME, path.name, number, f"no hook adds this line: {line!r}")


def _matches(file: str, pattern: str) -> bool:
    """As get_maintainer has it: a trailing slash takes a whole directory, `*` stays in one."""
    if pattern.endswith("/"):
        return file.startswith(pattern)
    return file.count("/") == pattern.count("/") and fnmatchcase(file, pattern)
