# SPDX-License-Identifier: GPL-2.0
"""Reading hooks. Each patch of the series has a directory:

patches/0040-mm-watermark-wait/message     subject, body and Overlay: trailers, for all bases
patches/0040-mm-watermark-wait/6.12.diff   the lines that it changes in that base
patches/0043-docs-watermark-wait/any.diff  the same for every base

A patch that only adds files of the overlay has no diff at all.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from . import overlay, process
from .layout import Layout
from .report import Failure

MESSAGE = "message"
ANY = "any.diff"
SUFFIX = ".diff"
KEY = "Overlay:"
START = "diff --git "


@dataclass(frozen=True)
class Hunk:
    line: int
    header: str
    body: tuple[str, ...]


@dataclass(frozen=True)
class FileDiff:
    """The change of one file; added and removed count lines."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int

    def added_lines(self) -> Iterator[str]:
        for hunk in self.hunks:
            yield from (line[1:] for line in hunk.body if line.startswith("+"))

    @property
    def text(self) -> str:
        lines = [f"--- a/{self.path}", f"+++ b/{self.path}"]
        for hunk in self.hunks:
            lines += [hunk.header, *hunk.body]
        return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Hook:
    """One patch as a base has it.

    The name is its directory in the repository, the source is the diff there; both are for
    messages. Shared says that the diff serves every base. The overlay has the files of ours that
    the patch adds in this base: their paths in the kernel tree, and where they are.
    """

    name: str
    source: str
    subject: str
    body: str
    overlay: Mapping[str, Path]
    diffs: tuple[FileDiff, ...]

    @property
    def message(self) -> str:
        return f"{self.subject}\n\n{self.body}\n"

    @property
    def shared(self) -> bool:
        return self.source.endswith(f"/{ANY}")

    def added_lines(self) -> Iterator[str]:
        for diff in self.diffs:
            yield from diff.added_lines()


def directories(layout: Layout) -> list[Path]:
    """The patches in the order of the series."""
    found = (path for path in layout.patches.iterdir() if path != layout.parts)
    return sorted(path for path in found if path.is_dir())


def diff_for(base_name: str, directory: Path) -> Path | None:
    """The diff that a base takes from a patch, if it has one."""
    candidates = (directory / f"{base_name}{SUFFIX}", directory / ANY)
    return next((path for path in candidates if path.is_file()), None)


def missing(base_name: str, layout: Layout) -> list[str]:
    """Diffs that a base lacks: one for each patch that has diffs, but none for this base."""
    return [
        layout.relative(directory / f"{base_name}{SUFFIX}")
        for directory in directories(layout)
        if any(directory.glob(f"*{SUFFIX}")) and not diff_for(base_name, directory)
    ]


def paths(base_name: str, layout: Layout) -> list[Path]:
    """The source files of a base's hooks."""
    found = []
    for directory in directories(layout):
        found.append(directory / MESSAGE)
        if diff := diff_for(base_name, directory):
            found.append(diff)
    return found


def read_all(base_name: str, layout: Layout) -> list[Hook]:
    if absent := missing(base_name, layout):
        raise Failure(
            f"{absent[0]}: not there, and no {ANY} beside it"
            f" (make port BASE={base_name} FROM=... copies the diffs of another base)",
            [f"{path}: not there" for path in absent[1:]],
        )
    known = overlay.files(layout)
    chosen = overlay.for_base(base_name, layout)
    return [read(path, base_name, layout, known, chosen) for path in directories(layout)]


def overlay_of(read: Iterable[Hook]) -> dict[str, Path]:
    """All files of ours that some hooks add."""
    return {path: source for hook in read for path, source in hook.overlay.items()}


def read(
    directory: Path,
    base_name: str,
    layout: Layout,
    known: Collection[str],
    chosen: Mapping[str, Path],
) -> Hook:
    """Read one patch, with the files of ours that are known, and those chosen for this base."""
    name = layout.relative(directory)
    subject, body, named = _message(directory / MESSAGE, layout)
    if absent := [file for file in named if file not in known]:
        raise Failure(f"{name}: {KEY} {absent[0]}: no such overlay file")
    files = {file: chosen[file] for file in named if file in chosen}
    path = diff_for(base_name, directory)
    if not path and not named:
        raise Failure(f"{name}: malformed patch: neither a diff nor an {KEY} line")
    source = layout.relative(path) if path else ""
    diffs = tuple(read_diffs(path, layout)) if path else ()
    return Hook(name, source, subject, body, files, diffs)


def read_diffs(path: Path, layout: Layout) -> Iterator[FileDiff]:
    """The files that a diff changes. Git says whether it is well-formed, and counts its lines."""
    source = layout.relative(path)
    counts = _counted(path, layout)
    found = list(_split(path))
    if sorted(diff.path for diff in found) != sorted(counts):
        raise Failure(
            f"{source}: malformed patch: expected one `{START}` line for each file with hunks"
        )
    for diff in found:
        added, removed = counts[diff.path]
        marks = [line[0] for hunk in diff.hunks for line in hunk.body if line]
        if not marks or (marks.count("+"), marks.count("-")) != (added, removed):
            raise Failure(
                f"{source}: malformed patch: {diff.path}: its hunks do not have the lines that"
                " their headers count"
            )
        yield FileDiff(diff.path, diff.hunks, added, removed)


def _message(path: Path, layout: Layout) -> tuple[str, str, tuple[str, ...]]:
    name = layout.relative(path)
    if not path.is_file():
        raise Failure(f"{name}: not there; every patch has a subject and a body")
    text = path.read_text()
    subject, empty, rest = text.partition("\n\n")
    if not subject or "\n" in subject or not empty:
        raise Failure(f"{name}:1: malformed patch: expected a subject and an empty line")
    told = process.answer(["git", "interpret-trailers", "--parse"], text).splitlines()
    files = tuple(line.removeprefix(KEY).strip() for line in told if line.startswith(KEY))
    lines = rest.splitlines()
    kept = [line for line in lines if not line.startswith(KEY)]
    if len(kept) + len(files) != len(lines):
        raise Failure(f"{name}: malformed patch: {KEY} lines belong in the last paragraph")
    for file in files:
        if not _is_plain(file):
            raise Failure(f"{name}: malformed patch: no path of an overlay file: {file!r}")
    return subject, "\n".join(kept).strip("\n"), files


def _counted(path: Path, layout: Layout) -> dict[str, tuple[int, int]]:
    """Lines added and removed by file; a diff may do nothing but change lines."""
    source = layout.relative(path)
    command: list[str | Path] = ["git", "apply", "--numstat", "--summary", path]
    try:
        told = process.output(command, layout.root).splitlines()
    except Failure as error:
        complaint = error.detail[0] if error.detail else error.message
        raise Failure(f"{source}: malformed patch: {complaint}") from error
    counts = {}
    for line in told:
        if line.startswith(" "):
            raise Failure(
                f"{source}: malformed patch: hooks only change lines of files in the base"
                f" (new files go into the overlay): {line.strip()!r}"
            )
        added, removed, file = line.split("\t", 2)
        if not _is_plain(file):
            raise Failure(f"{source}: malformed patch: no path in the tree: {file!r}")
        counts[file] = (int(added), int(removed))
    return counts


def _split(path: Path) -> Iterator[FileDiff]:
    """The hunks of a diff that git has found well-formed, each with its line in the file."""
    lines = path.read_bytes().decode(errors="surrogateescape").removesuffix("\n").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith(START)]
    for start, end in pairwise([*starts, len(lines)]):
        heads = [number for number in range(start, end) if lines[number].startswith("@@ ")]
        header = lines[start : heads[0] if heads else end]
        file = next((line[6:] for line in header if line.startswith("+++ b/")), "")
        hunks = (
            Hunk(head + 1, lines[head], tuple(lines[head + 1 : after]))
            for head, after in pairwise([*heads, end])
        )
        yield FileDiff(file.split("\t")[0], tuple(hunks), 0, 0)


def _is_plain(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and path == "/".join(parts) and ".." not in parts and parts[0] != "/"
