#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A live view of the dirty pages and dirty limits of cgroups.

It reads the files of cgroupfs and nothing else, and shows an unprivileged user all
cgroups that the user can read.  The columns:

  DIRTY  WRITEB   pages of the cgroup and its descendants, in bytes
  LIMIT           the limit that binds, in bytes
  USED            the part of that limit that is in use, by all below it
  FLOOR           the effective memory.dirty_min, in bytes
  PAUSE/S  MS/S   pauses of writers for a limit, and the time that they took
  WRITE/S         bytes written, from io.stat; needs the io controller
  CGROUP          after it, the cgroup that the limit is set on, if another

On a terminal, a cgroup is red while its writers are paused, and yellow if three
quarters of its limit are in use.  Sizes are in units of 1024.

The files are described in Documentation/admin-guide/cgroup-v2.rst.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

STAT = "memory.dirty_stat"
NO_CGROUP = 1
NO_FILES = 2
# The limit of a cgroup that is out of sight: this is a cgroup namespace.
ABOVE = Path("above")
BOLD, RED, YELLOW, PLAIN, CLEAR = "\033[1m", "\033[31m", "\033[33m", "\033[0m", "\033[H\033[2J"
SETTINGS = (
    "memory.dirty_limit_in_bytes",
    "memory.dirty_ratio",
    "memory.dirty_background_limit_in_bytes",
    "memory.dirty_background_ratio",
)


class NoFilesError(Exception):
    """The kernel or the hierarchy has no dirty limits."""


class NoCgroupError(Exception):
    """The user has asked for a cgroup that is not there, or has no limit."""


@dataclass(frozen=True)
class Sample:
    """The counters of a cgroup at a moment; sizes in bytes, None where there is no limit.

    A cgroup that is removed and created again has another inode.
    """

    at: float
    inode: int
    dirty: int
    writeback: int
    limit: int | None
    background_limit: int | None
    limit_levels_up: int
    effective_min: int
    throttled: int
    throttled_usec: int
    written: int | None


@dataclass(frozen=True)
class Row:
    """A line of the table; rates are per second, and None without an earlier sample."""

    cgroup: str
    dirty: int
    writeback: int
    limit: int | None
    limit_from: str | None
    used_percent: float | None
    effective_min: int
    pauses: float | None
    paused_ms: float | None
    written: float | None


def read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return None


def number(text: str) -> int | None:
    return None if text == "max" else int(text)


def bytes_written(cgroup: Path) -> int | None:
    """Over all devices, buffered and direct."""
    text = read(cgroup / "io.stat")
    if text is None:
        return None
    fields = (field for line in text.splitlines() for field in line.split())
    return sum(int(field[7:]) for field in fields if field.startswith("wbytes="))


def inode_of(cgroup: Path) -> int | None:
    try:
        return cgroup.stat().st_ino
    except OSError:
        return None


def sample(cgroup: Path) -> Sample | None:
    """None if the cgroup is gone, is unreadable or has no such file."""
    text = read(cgroup / STAT)
    inode = inode_of(cgroup)
    if not text or not inode:
        return None
    values = {name: number(value) for name, value in map(str.split, text.splitlines())}

    def count(name: str) -> int:
        return values.get(name) or 0

    return Sample(
        at=time.monotonic(),
        inode=inode,
        dirty=count("dirty"),
        writeback=count("writeback"),
        limit=values.get("limit"),
        background_limit=values.get("background_limit"),
        limit_levels_up=count("limit_levels_up"),
        effective_min=count("effective_min"),
        throttled=count("throttled"),
        throttled_usec=count("throttled_usec"),
        written=bytes_written(cgroup),
    )


def hierarchy() -> Path:
    """Where the memory controller is mounted: cgroup v2 if that has it, else v1."""
    mounts = [line.split() for line in (read(Path("/proc/self/mounts")) or "").splitlines()]
    for _, place, kind, options, *_ in mounts:
        path = Path(place)
        if kind == "cgroup2" and "memory" in (read(path / "cgroup.controllers") or "").split():
            return path
        if kind == "cgroup" and "memory" in options.split(","):
            return path
    raise NoFilesError("no cgroup hierarchy with the memory controller is mounted")


def below(top: Path) -> Iterator[Path]:
    """The cgroup and all below it, parents first; those that vanish are left out.

    Without recursion: a user with a delegated cgroup may nest a thousand.
    """
    left = [top]
    while left:
        cgroup = left.pop()
        yield cgroup
        try:
            children = [entry.path for entry in os.scandir(cgroup) if entry.is_dir()]
        except OSError:
            continue
        left += map(Path, sorted(children, reverse=True))


def collect(top: Path) -> dict[Path, Sample]:
    found = ((cgroup, sample(cgroup)) for cgroup in below(top))
    return {cgroup: counters for cgroup, counters in found if counters}


def printable(text: str) -> str:
    """Any user with a delegated cgroup chooses names; a terminal would obey some of them."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def name(cgroup: Path, root: Path) -> str:
    if cgroup in (root, ABOVE):
        return "/" if cgroup == root else str(ABOVE)
    return "/" + str(cgroup.relative_to(root))


def rate(now: float | None, before: float | None, seconds: float) -> float | None:
    """None if the count is smaller than before: a disk that is gone leaves io.stat."""
    if now is None or before is None or seconds <= 0 or now < before:
        return None
    return (now - before) / seconds


def binding(cgroup: Path, root: Path, counters: Sample) -> Path | None:
    """The cgroup whose limit is in force, or None."""
    if counters.limit is None:
        return None
    for _ in range(counters.limit_levels_up):
        if cgroup == root:
            return ABOVE
        cgroup = cgroup.parent
    return cgroup


def used_percent(
    origin: Path | None, samples: dict[Path, Sample], limit: int | None
) -> float | None:
    """A limit is compared with the pages of the cgroup that it is set on."""
    if limit is None or origin in (None, ABOVE):
        return None
    counters = samples.get(origin) or sample(origin)
    if not counters:
        return None
    return 100 * (counters.dirty + counters.writeback) / limit if limit else 100


def row(cgroup: Path, root: Path, now: dict[Path, Sample], before: dict[Path, Sample]) -> Row:
    counters = now[cgroup]
    old = before.get(cgroup, counters)
    if old.inode != counters.inode:
        old = counters
    origin = binding(cgroup, root, counters)
    seconds = counters.at - old.at
    usec = rate(counters.throttled_usec, old.throttled_usec, seconds)
    return Row(
        cgroup=name(cgroup, root),
        dirty=counters.dirty,
        writeback=counters.writeback,
        limit=counters.limit,
        limit_from=name(origin, root) if origin else None,
        used_percent=used_percent(origin, now, counters.limit),
        effective_min=counters.effective_min,
        pauses=rate(counters.throttled, old.throttled, seconds),
        paused_ms=None if usec is None else usec / 1000,
        written=rate(counters.written, old.written, seconds),
    )


def size(value: float | None, absent: str = "-") -> str:
    if value is None:
        return absent
    for unit in ("", "K", "M", "G", "T"):
        if value < 1024 or unit == "T":
            break
        value /= 1024
    return f"{value:.0f}{unit}" if value >= 100 or not unit else f"{value:.1f}{unit}"


def plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


COLUMNS: tuple[tuple[str, int, Callable[[Row], str]], ...] = (
    ("DIRTY", 7, lambda row: size(row.dirty)),
    ("WRITEB", 7, lambda row: size(row.writeback)),
    ("LIMIT", 7, lambda row: size(row.limit, "max")),
    ("USED", 5, lambda row: "-" if row.used_percent is None else f"{row.used_percent:.0f}%"),
    ("FLOOR", 7, lambda row: size(row.effective_min)),
    ("PAUSE/S", 7, lambda row: plain(row.pauses)),
    ("MS/S", 6, lambda row: plain(row.paused_ms)),
    ("WRITE/S", 7, lambda row: size(row.written)),
)

SORT_KEYS: dict[str, Callable[[Row], float]] = {
    "dirty": lambda row: row.dirty + row.writeback,
    "used": lambda row: row.used_percent or 0,
    "pauses": lambda row: row.pauses or 0,
    "paused": lambda row: row.paused_ms or 0,
    "written": lambda row: row.written or 0,
}


def colour(row: Row) -> str:
    if row.pauses:
        return RED
    return YELLOW if (row.used_percent or 0) >= 75 else ""


def label(row: Row, tree: bool) -> str:
    """In the tree, the last component, indented; the limit's origin if that is elsewhere."""
    text, origin = row.cgroup, row.limit_from
    if tree and text != "/":
        depth = text.count("/") - 1
        text = "  " * depth + text.rsplit("/", 1)[1]
    if origin == str(ABOVE):
        text += "  (limit above)"
    elif origin and origin != row.cgroup:
        text += f"  (limit of {(tree and origin.rsplit('/', 1)[-1]) or origin})"
    return printable(text)


def table(rows: list[Row], tree: bool, colours: bool, width: int | None = None) -> Iterator[str]:
    """Lines of at most that width; None for any."""
    head = " ".join(f"{title:>{wide}}" for title, wide, _ in COLUMNS) + "  CGROUP"
    yield painted(head[:width], BOLD if colours else "")
    for line in rows:
        text = " ".join(f"{show(line):>{wide}}" for _, wide, show in COLUMNS)
        whole = f"{text}  {label(line, tree)}"[:width]
        start = colour(line) if colours else ""
        yield painted(whole[: len(text)], start) + whole[len(text) :]


def painted(text: str, start: str) -> str:
    return start + text + PLAIN if start else text


def levels(cgroup: Path, root: Path) -> Iterator[Path]:
    """From the cgroup up to the one below the root."""
    while cgroup != root and root in cgroup.parents:
        yield cgroup
        cgroup = cgroup.parent


def settings(cgroup: Path) -> str:
    pairs = ((file.removeprefix("memory."), read(cgroup / file)) for file in SETTINGS)
    return ", ".join(f"{file} {value}" for file, value in pairs if value not in (None, "max"))


def follows_memory(cgroup: Path, limit: int) -> bool:
    """Whether memory.max or memory.high sets the limit in force, and no file for dirty limits."""
    text = read(cgroup / "memory.dirty_limit_in_bytes")
    if text == "max":
        return read(cgroup / "memory.dirty_ratio") == "max"
    return text is not None and int(text) > limit


def pause_start(held: Sample, above: int | None) -> tuple[int, str]:
    """Where pauses begin, in bytes, and as text.

    The file has the lowest background limit of the path. If that is the one of the cgroups above,
    pauses begin later.
    """
    limit = held.limit or 0
    background = held.background_limit
    start = (limit + (limit // 2 if background is None else background)) // 2
    exact = above is None or (background is not None and background < above)
    return start, size(start) if exact else f"{size(start)} or more"


def why_paused(held: Sample, above: int | None, pauses: float) -> str:
    """The state of the writers, by the cgroup with the limit and the background limit above."""
    start, text = pause_start(held, above)
    if held.dirty + held.writeback < start:
        return f"Writers pass freely: pauses begin at {text}."
    if not pauses:
        return f"Above {text}, writers may be paused; none was while this watched."
    return (
        f"Above {text}, writers sleep in __memcg_dirty_sleep(), for as long as it takes\n"
        f"to keep them at the speed of the disk."
    )


def explain(cgroup: Path, root: Path, interval: float) -> Iterator[str]:
    first = collect_one(cgroup)
    time.sleep(interval)
    counters = collect_one(cgroup)
    line = row(cgroup, root, {cgroup: counters}, {cgroup: first})
    yield f"{line.cgroup}: {size(line.dirty)} dirty, {size(line.writeback)} under writeback."
    for level in levels(cgroup, root):
        own = settings(level)
        yield f"  {name(level, root)}: {own or 'no dirty limit of its own'}"
    if line.effective_min:
        state = "above that."
        if line.dirty + line.writeback < line.effective_min:
            state = "below that: limits above it do not pause its writers."
        yield f"Its floor is {size(line.effective_min)}; it is {state}"
    yield from explain_limit(cgroup, root, counters, line)
    if line.pauses:
        yield (
            f"In the last {interval:g} s: {line.pauses:.0f} pauses per second, "
            f"{line.paused_ms:.0f} ms asleep per second, all its tasks together."
        )


def explain_limit(cgroup: Path, root: Path, counters: Sample, line: Row) -> Iterator[str]:
    origin = binding(cgroup, root, counters)
    if origin == ABOVE:
        yield f"A limit of {size(counters.limit)} binds, of a cgroup above those that are visible here."
        return
    held = sample(origin) if origin else None
    if not held:
        yield "No limit on its path is in force: the system-wide vm.dirty_* limits decide."
        return
    total = held.dirty + held.writeback
    cause = " by memory.max or memory.high" if follows_memory(origin, counters.limit or 0) else ""
    yield (
        f"The limit of {line.limit_from}{cause} binds: {size(total)} of {size(counters.limit)} "
        f"are in use ({line.used_percent or 0:.0f} %), {size(held.writeback)} under writeback."
    )
    outer = sample(origin.parent)
    above = outer.background_limit if outer else None
    # The root has the files only if it is that of a cgroup namespace.
    yield why_paused(held, 0 if origin == root else above, line.pauses or 0)
    if held.writeback > held.dirty:
        yield "Most of it is on its way to the disk: writers wait for the disk, or for io.max."


def require_limit(cgroup: Path, root: Path) -> None:
    """The root cgroup has no files, also on a kernel that has them."""
    if cgroup == root and not sample(root) and collect(root):
        raise NoCgroupError("the root cgroup has no dirty limit: vm.dirty_* limit the system")


def collect_one(cgroup: Path) -> Sample:
    counters = sample(cgroup)
    if counters is None:
        raise NoFilesError(f"{cgroup / STAT} cannot be read")
    return counters


def parse(argv: list[str]) -> argparse.Namespace:
    about, columns = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=about,
        epilog=columns,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--cgroup", metavar="PATH", default="/", help="show this one and all below it")
    add("--explain", metavar="PATH", help="say which limit binds a cgroup, and why it waits")
    add("--sort", choices=SORT_KEYS, help="a list in that order, instead of the tree")
    add("--all", action="store_true", help="also cgroups with nothing dirty and no limit of their own")
    add("--interval", type=seconds, default=1.0, metavar="SECONDS", help="1 by default")
    add("--once", action="store_true", help="print one table and end")
    add("--json", action="store_true", help="one JSON array for each interval")
    add("--mount", type=Path, metavar="PATH", help="mount point of the cgroup hierarchy, if it is not found")
    return parser.parse_args(argv)


def seconds(text: str) -> float:
    value = float(text)
    if not 0.01 <= value <= 3600:
        raise argparse.ArgumentTypeError("from 0.01 to 3600 seconds")
    return value


def find(root: Path, path: str) -> Path:
    """A cgroup by its path in the hierarchy or in the file system."""
    given = Path(path)
    if given != root and root not in given.parents:
        given = root / path.lstrip("/") if path.strip("/") else root
    if inode_of(given) is None:
        raise NoCgroupError(f"{path}: there is no such cgroup in {root}")
    return given


def interesting(line: Row) -> bool:
    """Has it anything dirty, or a setting of its own?"""
    limited = line.limit_from == line.cgroup
    return bool(line.dirty or line.writeback or limited or line.effective_min)


def parents(names: set[str]) -> set[str]:
    found: set[str] = set()
    for cgroup in names:
        for parent in map(str, PurePosixPath(cgroup).parents):
            if parent in found:
                break
            found.add(parent)
    return found


def choose(options: argparse.Namespace, rows: list[Row]) -> list[Row]:
    """In the tree, with the parents: the names of many cgroups say little without those."""
    chosen = [line for line in rows if options.all or interesting(line)]
    if options.sort:
        return sorted(chosen, key=SORT_KEYS[options.sort], reverse=True)
    names = {line.cgroup for line in chosen}
    names |= parents(names)
    return [line for line in rows if line.cgroup in names]


def show(options: argparse.Namespace, rows: list[Row]) -> None:
    terminal = sys.stdout.isatty()
    live = terminal and not options.once
    if options.json:
        print(json.dumps([asdict(line) for line in rows]), flush=True)
        return
    # A serial console has no size, and gets 80 columns and 24 lines.
    screen = shutil.get_terminal_size() if live else None
    lines = list(table(rows, not options.sort, terminal, screen.columns if screen else None))
    if screen:
        print(CLEAR, end="")
        lines = lines[: max(screen.lines - 1, 2)]
    print("\n".join(lines), flush=True)


def watch(options: argparse.Namespace, root: Path, top: Path) -> None:
    before = collect(top)
    if not before:
        raise NoFilesError(
            f"no readable {STAT} in or below {top}: the kernel has no dirty limits\n"
            "(CONFIG_MEMCG_DIRTY_LIMIT), or the memory controller is not enabled there"
        )
    while True:
        time.sleep(options.interval)
        now = collect(top)
        if inode_of(top) is None:
            raise NoCgroupError(f"{top} was removed")
        show(options, choose(options, [row(cgroup, root, now, before) for cgroup in now]))
        if options.once:
            return
        before = now


def main(argv: list[str]) -> int:
    options = parse(argv)
    try:
        root = options.mount or hierarchy()
        if options.explain:
            cgroup = find(root, options.explain)
            require_limit(cgroup, root)
            text = "\n".join(explain(cgroup, root, options.interval))
            print("\n".join(map(printable, text.split("\n"))))
        else:
            watch(options, root, find(root, options.cgroup))
    except (NoCgroupError, NoFilesError) as error:
        print(f"memcg_dirty_top: {error}", file=sys.stderr)
        return NO_FILES if isinstance(error, NoFilesError) else NO_CGROUP
    except (KeyboardInterrupt, BrokenPipeError):
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
