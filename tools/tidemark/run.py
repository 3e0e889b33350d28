# SPDX-License-Identifier: GPL-2.0
"""Shows the effect of a dirty limit, in the scenario of the per-memcg dirty series of 2010."""

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import mean, median, pstdev
from typing import Any

from . import console, guest, kernel, scratch, vm
from .base import Base
from .kernel import Image
from .layout import REPOSITORY, Layout
from .report import Failure, progress, working

# Its CPUs run side by side, so that its figures repeat.
FLAVOUR = kernel.LEAN
TIMEOUT_SECONDS = 1200
LIMIT_BYTES = 40 << 20
MIB = 1 << 20
CONDITIONS = {
    "alone": "alone",
    "unlimited": "beside dd, no limit",
    "limited": f"beside dd, limited to {LIMIT_BYTES // MIB} MiB",
}
# Greg Thelen, "memcg: per cgroup dirty page accounting", 2010: figures for its own machine.
SERIES_2010 = {
    "unlimited": "2010 series, no limit",
    "limited": "2010 series, with a limit",
}
FIGURES_2010 = {
    "unlimited": {"seconds": 12.2, "sd_percent": 25.7, "writer_mb_per_second": 59.7},
    "limited": {"seconds": 3.8, "sd_percent": 0.25, "writer_mb_per_second": 55.4},
}

# Numbers, and under "dirty_bytes" a list of [seconds, bytes].
Row = Mapping[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each case (default: 5)")


def main(args: argparse.Namespace) -> int:
    if args.repeats < 1:
        raise Failure(f"--repeats {args.repeats}: at least one is needed")
    base, image = guest.built(args)
    parameters = (f"tidemark.repeats={args.repeats}", f"tidemark.limit={LIMIT_BYTES}")
    machine = guest.machine(args, image, base, "run", parameters)

    with working("measuring in the guest"):
        outcome = vm.run(machine, guest.log(machine), TIMEOUT_SECONDS, _show)
    console.require_quiet(outcome)
    if outcome.status:
        raise Failure("the scenario failed in the guest; its console ends with", outcome.console)
    measured = parse(outcome.results)
    figures = {name: summary(rows) for name, rows in measured.items()}
    print(f"\nUnpacking a tarball, Linux {image.release} from {base.origin}")
    print(f"{args.repeats} repeats; guest of {machine.memory_mib} MiB, disk of 30 MB/s\n")
    print(table(figures))
    print(f"\n{conclusion(figures)}")
    path = _store(base, image, args.pristine, measured, figures)
    progress(f"the same figures are in {path}")
    return 0


def record_path(label: str, layout: Layout = REPOSITORY) -> Path:
    return layout.build / "results" / f"run-{label}.json"


def parse(lines: Iterable[str]) -> dict[str, list[Row]]:
    """The times that the guest measured, by condition: `condition {json}` on each line."""
    measured: dict[str, list[Row]] = {}
    for line in lines:
        condition, _, row = line.partition(" ")
        if condition not in CONDITIONS:
            raise Failure(f"the guest printed a line that is no result: {line}")
        measured.setdefault(condition, []).append(json.loads(row))
    return measured


def _show(line: str) -> None:
    for condition, rows in parse([line]).items():
        progress(f"{CONDITIONS[condition]}: {rows[0]['seconds']:.2f} s")


def summary(rows: list[Row]) -> dict[str, float]:
    seconds = [row["seconds"] for row in rows]
    return {
        "seconds": round(median(seconds), 2),
        "sd_percent": round(100 * pstdev(seconds) / mean(seconds), 1),
        "writer_mb_per_second": round(
            median(row["writer_bytes_per_second"] for row in rows) / 1e6, 1
        ),
        "peak_dirty_mib": round(max(row["peak_dirty_bytes"] for row in rows) / MIB, 1),
    }


def table(figures: Mapping[str, Mapping[str, float]]) -> str:
    lines = [
        f"{'':32}{'unpacking':>16}{'dd':>12}{'peak of dirty':>18}",
        f"{'':32}{'median':>9}{'sd':>7}{'':12}{'and writeback':>18}",
    ]
    for name, label in CONDITIONS.items():
        if name in figures:
            lines.append(_line(label, figures[name]))
    for name, label in SERIES_2010.items():
        lines.append(_line(label, FIGURES_2010[name]))
    return "\n".join(lines)


def conclusion(figures: Mapping[str, Mapping[str, float]]) -> str:
    """The effect that the table shows, and the next command to try."""
    alone = figures["alone"]["seconds"]
    slower = (
        f"Beside dd, unpacking took {figures['unlimited']['seconds'] / alone:.1f} times as long"
    )
    if "limited" not in figures:
        return f"{slower} as alone. Next: `make run`, the same with a dirty limit."
    limit = f"a dirty limit of {LIMIT_BYTES // MIB} MiB"
    return (
        f"{slower} as alone; with {limit} on dd's cgroup, "
        f"{figures['limited']['seconds'] / alone:.1f} times.\n"
        "Next: `make shell`, to set limits by hand in this guest."
    )


def _line(label: str, figures: Mapping[str, float]) -> str:
    rate = figures["writer_mb_per_second"]
    peak = figures.get("peak_dirty_mib")
    return (
        f"{label:32}{figures['seconds']:7.2f} s{figures['sd_percent']:6.1f}%"
        f"{f'{rate:.1f} MB/s' if rate else '-':>12}{f'{peak:.1f} MiB' if peak else '-':>18}"
    )


def _store(
    base: Base,
    image: Image,
    pristine: bool,
    measured: Mapping[str, list[Row]],
    figures: Mapping[str, Any],
) -> str:
    path = record_path(f"{base.label}{'-pristine' if pristine else ''}")
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "base": {key: str(value) for key, value in asdict(base).items() if key != "path"},
        "release": image.release,
        "limit_bytes": LIMIT_BYTES,
        "disk_bytes_per_second": guest.DISK_BYTES_PER_SECOND,
        "measured": measured,
        "summary": figures,
        "series_2010": FIGURES_2010,
    }
    scratch.write_json(path, record)
    return REPOSITORY.relative(path)
