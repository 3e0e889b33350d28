# SPDX-License-Identifier: GPL-2.0
"""Results: one file per base, with the last figures of each benchmark."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

from .. import scratch
from ..layout import Layout
from ..report import Failure
from .benchmark import Benchmark, Reading

DIGITS = 6


@dataclass(frozen=True)
class Row:
    """For each variant, the values of its boots."""

    name: str
    unit: str
    values: dict[str, list[float]]


@dataclass(frozen=True)
class Curve:
    name: str
    variant: str
    points: list[list[float]]


@dataclass(frozen=True)
class Result:
    """The figures of a benchmark, and by how much a boot differed when it was repeated."""

    name: str
    release: str
    origin: str
    boots: int
    seconds: int
    variants: list[str]
    repeated: float | None = None
    rows: list[Row] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.name == name), None)


def gather(benchmark: Benchmark, readings: Iterable[Reading], about: Mapping[str, Any]) -> Result:
    """A row's value in a boot is the median of the figures of the guest.

    Of the curves, those of the first boot are kept.
    """
    rows: dict[str, Row] = {}
    curves: dict[tuple[str, str], Curve] = {}
    for reading in readings:
        for (variant, name), (unit, values) in reading.rows.items():
            row = rows.setdefault(name, Row(name, unit, {}))
            row.values.setdefault(variant, []).append(_rounded(median(values)))
        for (variant, name), points in reading.curves.items():
            kept = [[_rounded(x), _rounded(y)] for x, y in points]
            curves.setdefault((variant, name), Curve(name, variant, kept))
    if not rows:
        raise Failure(f"{benchmark.name}: the guests measured nothing")
    return Result(
        name=benchmark.name,
        variants=benchmark.column_names,
        rows=list(rows.values()),
        curves=list(curves.values()),
        **about,
    )


def difference(first: Reading, again: Reading) -> float:
    """The largest between any two values, as a share of the larger one."""
    pairs = [
        pair
        for row in first.rows.keys() | again.rows.keys()
        for pair in zip_longest(_values(first, row), _values(again, row), fillvalue=0.0)
    ]
    return max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a != b), default=0.0)


def path(label: str, layout: Layout) -> Path:
    return layout.build / "results" / f"bench-{label}.json"


def committed(name: str, layout: Layout) -> Path:
    """Those that results.md is made from."""
    return layout.bases / name / "results.json"


def load(file: Path) -> dict[str, Result]:
    record = scratch.read_json(file)
    try:
        return {name: _result(name, entry) for name, entry in record.items()}
    except (KeyError, TypeError) as error:
        raise Failure(f"{file}: not a results file of this harness; remove it") from error


def store(file: Path, results: Mapping[str, Result]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch.write_json(file, {name: asdict(result) for name, result in results.items()})


def without_curves(result: Result) -> Result:
    """For a file that people read, and that is kept in the repository."""
    return replace(result, curves=[])


def _result(name: str, entry: Mapping[str, Any]) -> Result:
    rows = [Row(**row) for row in entry["rows"]]
    curves = [Curve(**curve) for curve in entry["curves"]]
    fields: dict[str, Any] = {**entry, "name": name, "rows": rows, "curves": curves}
    return Result(**fields)


def _values(reading: Reading, row: tuple[str, str]) -> list[float]:
    return reading.rows[row][1] if row in reading.rows else []


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
