# SPDX-License-Identifier: GPL-2.0
"""Results as text: for each row the medians of the variants, their spread and ratios."""

from collections.abc import Mapping, Sequence

from . import spread
from .benchmark import Benchmark
from .results import Result, Row

VALUE = 11
SPREAD = 8
RATIO = 8
LEGEND = (
    "spread: (largest - smallest) / median of the boots. ratio: to the base. A difference that is\n"
    "no larger than the spread (1.7 times that for 4 boots, 1.5 times for 5) has none: 1 stands\n"
    "there where this is up to 1 %, ~ where it is more."
)
# At a ratio this near to 1, its difference from 1 is what matters.
CLOSE = 0.1
NOTHING = 0.00005


def heading(benchmark: Benchmark, result: Result) -> str:
    clock = "guest time under icount" if benchmark.icount else "time"
    lines = [
        f"{benchmark.name}: {benchmark.title}",
        f"Linux {result.release} from {result.origin}; {result.boots} boots of each, {clock}",
    ]
    if result.repeated is not None:
        lines.append(f"a boot that was repeated: every figure within {result.repeated:.2%}")
    return "\n".join(lines)


def table(benchmark: Benchmark, result: Result, headline: bool = False) -> str:
    """All rows, or those that the README shows."""
    rows = [row for row in result.rows if not headline or benchmark.is_telling(row.name)]
    posting = benchmark.posting
    old = posting.figures if posting and any(row.name in posting.figures for row in rows) else {}
    width = max([len(row.name) + len(row.unit) + 3 for row in rows], default=0)
    lines = [f"{'':{width}}{_head(result)}{'  posting' if old else ''}".rstrip()]
    lines += [_line(row, result.variants, width, old) for row in rows]
    if posting:
        lines.append(f"posting: {posting.source}")
    return "\n".join(lines)


def number(value: float) -> str:
    """Four digits tell enough, and all those before the point are shown."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.2f}%" if value < CLOSE else f"{100 * value:.0f}%"


def ratio_of(row: Row, variant: str) -> str:
    """What the table says about a variant against the base."""
    base = spread.summary(row.values["base"])
    ours = spread.summary(row.values[variant])
    if base.spread is None or ours.spread is None or base.median == 0 or ours.median == 0:
        return "-"
    value = spread.ratio(base, ours)
    if value is None:
        return "~"
    if abs(value - 1) < NOTHING:
        return "1"
    return f"{value:.4f}" if abs(value - 1) < CLOSE else f"{value:.2f}"


def _head(result: Result) -> str:
    columns = []
    for variant in result.variants:
        columns.append(f"{variant:>{VALUE}}{'spread':>{SPREAD}}")
        if variant != "base":
            columns.append(f"{'ratio':>{RATIO}}")
    return "".join(columns)


def _line(row: Row, variants: Sequence[str], width: int, old: Mapping[str, str]) -> str:
    cells = []
    for variant in variants:
        values = row.values.get(variant)
        summed = spread.summary(values) if values else None
        cells.append(f"{number(summed.median) if summed else '':>{VALUE}}")
        cells.append(f"{percent(summed.spread) if summed else '':>{SPREAD}}")
        if variant != "base":
            known = summed and "base" in row.values
            cells.append(f"{ratio_of(row, variant) if known else '':>{RATIO}}")
    return f"{f'{row.name}, {row.unit}':{width}}{''.join(cells)}  {old.get(row.name, '')}".rstrip()
