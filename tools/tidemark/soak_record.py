# SPDX-License-Identifier: GPL-2.0
"""A soak's lines, its verdict, and its table: kept below build/, taken over into bases/<base>."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from . import scratch
from .layout import Layout
from .report import Failure

FIGURE = re.compile(r"(\S+)=(\d+)")
# Memory of the kernel that nothing reclaims: statistics of cgroups, their files, tasks.
KERNEL = ("SUnreclaim", "Percpu", "KernelStack")
KIB = 1024
# Removed cgroups that may be there a minute after the loads.
MOST_DYING = 8
# In less time some loads do not get through.
LEAST_CHECKS = 40
# In half of a soak. A cgroup takes 10 KiB and more, and the loads remove thousands in an hour.
GROWTH_MIB = 10

Figures = Mapping[str, int]


@dataclass(frozen=True)
class Record:
    """A soak of one kernel: the guest's lines, and its console's reports of errors."""

    flavour: str
    release: str
    seconds: int
    lines: list[str]
    reports: list[str]

    def figures(self, word: str) -> list[Figures]:
        """The lines that begin with a word, each with its figures by their names."""
        return [
            {name: int(value) for name, value in FIGURE.findall(line)}
            for line in self.lines
            if line.startswith(f"{word} ")
        ]

    @property
    def checks(self) -> list[Figures]:
        return self.figures("check")

    @property
    def under_load(self) -> list[Figures]:
        """All checks but the last one, which follows the end of the loads."""
        return self.checks[:-1]

    @property
    def totals(self) -> Figures:
        """Of /proc/vmstat: they tell whether the loads had an effect."""
        return {name: n for line in self.figures("total") for name, n in line.items()}

    @property
    def rounds(self) -> Figures:
        """Rounds of each load; those of several tasks that do the same count together."""
        found: dict[str, int] = {}
        for name, count in (item for line in self.figures("load") for item in line.items()):
            kind = re.sub(r"-\d+$", "", name)
            found[kind] = found.get(kind, 0) + count
        return found


def growth_mib(checks: list[Figures]) -> float:
    """Growth of the kernel's memory from the second quarter of the checks to the last one.

    In the first quarter, KASAN's quarantine of freed objects fills, to a 32nd of memory.
    """
    quarter = max(len(checks) // 4, 1)
    used = [sum(check[name] for name in KERNEL) for check in checks]
    early = used[quarter : 2 * quarter] or used
    return (median(used[-quarter:]) - median(early)) / KIB


def faults(record: Record) -> list[str]:
    """The reasons for which a soak fails."""
    found = [line for line in record.lines if line.startswith("bad ")]
    found += record.reports
    checks = record.checks
    if len(checks) < 2:
        return [*found, "the guest did not check twice"]
    found += [f"check {number}: no cgroup was at rest" for number in _unchecked(checks)]
    found += [f"{name}: none" for name, count in record.totals.items() if not count]
    if not record.rounds:
        found.append("the loads did not report")
    if (left := checks[-1]["dying"]) > MOST_DYING:
        found.append(f"{left} removed cgroups are left")
    return found + (_long_faults(record) if len(checks) > LEAST_CHECKS else [])


def _long_faults(record: Record) -> list[str]:
    """Those that a short soak cannot tell."""
    found = [f"load {name}: no round" for name, count in record.rounds.items() if not count]
    if (growth := growth_mib(record.under_load)) > GROWTH_MIB:
        found.append(f"the kernel's memory grew by {growth:.1f} MiB")
    return found


def _unchecked(checks: list[Figures]) -> list[int]:
    """The last check has no load any more, and may find no cgroup at all."""
    return [number for number, check in enumerate(checks[:-1], 1) if not check["agree"]]


def path(label: str, layout: Layout) -> Path:
    return layout.build / "results" / f"soak-{label}.json"


def committed(name: str, layout: Layout) -> Path:
    return layout.bases / name / "soak.json"


def page(name: str, layout: Layout) -> Path:
    return layout.bases / name / "soak.md"


def load(file: Path) -> dict[str, Record]:
    try:
        return {name: Record(**entry) for name, entry in scratch.read_json(file).items()}
    except TypeError as error:
        raise Failure(f"{file}: not a soak of this harness; remove it") from error


def store(file: Path, records: Mapping[str, Record]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch.write_json(file, {name: asdict(each) for name, each in sorted(records.items())})


def text(record: Record) -> Iterator[str]:
    """The figures of a soak, and the reasons for which it failed."""
    yield f"Linux {record.release}, FLAVOUR={record.flavour}: {record.seconds / 3600:.2g} h"
    yield ""
    checks = record.checks
    if len(checks) > 1:
        yield from _rows(record)
    for name, count in record.rounds.items():
        yield f"{f'rounds of {name}':40}{count:10}"
    for name, count in record.totals.items():
        yield f"{name:40}{count:10}"
    yield ""
    found = faults(record)
    yield f"{len(checks)} checks, {len(found)} faults"
    yield from (f"- {fault}" for fault in found)


def _rows(record: Record) -> Iterator[str]:
    checks, loaded = record.checks, record.under_load
    rows: list[tuple[str, object]] = [
        ("counts compared with pages", sum(check["agree"] + check["bad"] for check in checks)),
        ("counts that are wrong", sum(check["bad"] for check in checks)),
        ("counts that moved", sum(check["moved"] for check in checks)),
        ("most pages of a cgroup", max(check["largest"] for check in checks)),
        ("most dying cgroups", max(check["dying"] for check in checks)),
        ("dying cgroups a minute after the loads", checks[-1]["dying"]),
        ("growth of the kernel's memory, MiB", f"{growth_mib(loaded):.1f}"),
    ]
    for name in ("MemFree", *KERNEL, "Slab"):
        first, last = loaded[0][name] / KIB, loaded[-1][name] / KIB
        rows.append((f"{name}, first and last, MiB", f"{first:.1f} {last:10.1f}"))
    for label, value in rows:
        yield f"{label:40}{value!s:>10}"


def document(name: str, records: Mapping[str, Record]) -> str:
    parts = [
        f"# Soaks on {name}",
        "`make results` makes this page of the last results of `make soak`. A count is wrong if it"
        "\ndiffers from the pages that a walk finds while the cgroups are frozen.",
    ]
    for record in records.values():
        command = f"make soak HOURS={record.seconds / 3600:g} FLAVOUR={record.flavour}"
        parts.append(f"## `{command}`")
        parts.append("\n".join(f"    {line}".rstrip() for line in text(record)))
    return "\n\n".join(parts) + "\n"
