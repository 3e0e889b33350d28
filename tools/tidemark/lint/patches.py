# SPDX-License-Identifier: GPL-2.0
"""The hook patches themselves: complete, the same for all bases, and in MAINTAINERS.

A hunk that gets lost leaves a patch that still applies, and often a kernel that still builds.
So each patch says in a diffstat how many lines it changes in each file, and how many there are
in the config files that it carries.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from .. import hooks, overlay
from ..hooks import Hook
from ..layout import Layout
from .finding import Finding
from .subject import Subject

NAME = "patches"
PATTERN = re.compile(r"^F:\t(\S+)$", re.M)
HEADING = re.compile(r"^[A-Z][A-Z0-9 ()/-]+\n(?=[A-Z]:\t)", re.M)
GRAPH = 40


def check(subject: Subject) -> Iterator[Finding]:
    for hook in subject.hooks:
        yield from _complete(hook, subject.layout)
    yield from _agreement(subject)
    yield from _maintainers(subject)


def diffstat(hook: Hook, layout: Layout) -> dict[str, tuple[int, int]]:
    """Lines that come and go, by file."""
    stat = {diff.path: (diff.added, diff.removed) for diff in hook.diffs}
    for path in hook.overlay:
        if path.endswith(".config") or Path(path).name.startswith("Kconfig"):
            stat[path] = (len((layout.root / path).read_text().splitlines()), 0)
    return stat


def write_diffstats(base_name: str, layout: Layout) -> None:
    """Bring the diffstats of all patches for a base up to date."""
    for path in hooks.paths(base_name, layout):
        stat = diffstat(hooks.read(path, layout), layout)
        head, mark, rest = path.read_text().partition("\n---\n")
        notes, diff, changes = rest.partition("\ndiff --git ")
        kept = [line for line in notes.splitlines() if line and not hooks.STAT.fullmatch(line)]
        notes = "\n".join([*kept, *([""] if kept else []), *_stat_lines(stat)])
        path.write_text(f"{head}{mark}{notes}\n{diff}{changes}")


def _stat_lines(stat: dict[str, tuple[int, int]]) -> Iterator[str]:
    width = max(map(len, stat), default=0)
    most = max((added + removed for added, removed in stat.values()), default=0)
    for path, (added, removed) in stat.items():
        scale = min(1.0, GRAPH / most)
        graph = "+" * round(added * scale) + "-" * round(removed * scale)
        yield f" {path:{width}} | {added + removed:4} {graph}".rstrip()


def _complete(hook: Hook, layout: Layout) -> Iterator[Finding]:
    stat = {path: sum(lines) for path, lines in diffstat(hook, layout).items()}
    for path in sorted(stat.keys() | hook.diffstat.keys()):
        stated, found = hook.diffstat.get(path), stat.get(path)
        if stated is None:
            yield Finding(NAME, hook.name, 0, f"{path}: the diffstat lacks it")
        elif found is None:
            yield Finding(NAME, hook.name, 0, f"{path}: in the diffstat, but nothing changes it")
        elif stated != found:
            text = f"{path}: {found} lines, but the diffstat says {stated}: is a hunk missing?"
            yield Finding(NAME, hook.name, 0, text)


def _agreement(subject: Subject) -> Iterator[Finding]:
    """One series, whatever the base: the same patches, messages and files of ours."""
    mine = {Path(hook.name).name: hook for hook in subject.hooks}
    for other in sorted(path for path in subject.layout.patches.iterdir() if path.is_dir()):
        if other.name == subject.base.name:
            continue
        theirs = {Path(hook.name).name: hook for hook in hooks.read_all(other.name, subject.layout)}
        for name in sorted(mine.keys() - theirs.keys()):
            yield Finding(NAME, mine[name].name, 0, f"not among the patches for {other.name}")
        for name in sorted(theirs.keys() - mine.keys()):
            text = f"not among the patches for {subject.base.name}"
            yield Finding(NAME, theirs[name].name, 0, text)
        for name in sorted(mine.keys() & theirs.keys()):
            yield from _difference(mine[name], theirs[name])


def _difference(mine: Hook, theirs: Hook) -> Iterator[Finding]:
    if mine.message != theirs.message:
        yield Finding(NAME, mine.name, 0, f"the message differs from that of {theirs.name}")
    for here, there in ((mine, theirs), (theirs, mine)):
        for path in sorted(set(here.overlay) - set(there.overlay)):
            yield Finding(NAME, there.name, 0, f"Overlay: {path}: named in {here.name}, not here")


def _maintainers(subject: Subject) -> Iterator[Finding]:
    """Our MAINTAINERS has each file of ours, and a hook has what is in it."""
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
