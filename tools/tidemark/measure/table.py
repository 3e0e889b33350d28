# SPDX-License-Identifier: GPL-2.0
"""Results as text: for each row the medians of the variants, their spread and ratios."""

from collections.abc import Mapping, Sequence

from . import scenes, spread
from .benchmark import Benchmark
from .results import Result, Row

VALUE = 11
SPREAD = 8
RATIO = 8
LEGEND = (
    "base: the unpatched kernel. spread: (largest - smallest) / median of the boots. noise: the\n"
    "spread times 1.5 for 5 boots, 1.7 for 4. ratio: to the unpatched kernel. A difference within\n"
    "the noise has none: 1 stands there where the noise is up to 1 %, ~ where it is more."
)
# A ratio this near to 1 is printed as its difference from 1.
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


def table(benchmark: Benchmark, result: Result, chosen: Sequence[Row] | None = None) -> str:
    """All rows, or those that were chosen."""
    if benchmark.by_scene:
        return scenes.table(result)
    rows = result.rows if chosen is None else chosen
    series = benchmark.old_series
    old = series.figures if series and any(row.name in series.figures for row in rows) else {}
    width = max([len(row.name) + len(row.unit) + 3 for row in rows], default=0)
    lines = [f"{'':{width}}{_head(result)}{'  posted' if old else ''}".rstrip()]
    lines += [_line(row, result.variants, width, old) for row in rows]
    if series:
        lines.append(f"posted: {series.source}")
    return "\n".join(lines)


def number(value: float) -> str:
    """Four significant digits, and all digits before the point."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def percent(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.2f}%" if value < CLOSE else f"{100 * value:.0f}%"


def ratio_of(row: Row, variant: str) -> str:
    """The ratio column of a variant."""
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


def ratios_of(row: Row, variants: Sequence[str]) -> list[str]:
    if "base" not in row.values:
        return []
    return [ratio_of(row, name) for name in variants[1:] if name in row.values]


def says_something(row: Row, variants: Sequence[str]) -> bool:
    """A ratio other than 1, or a count that is always 0 on the base, and never in a variant."""
    if any(told not in ("1", "~", "-") for told in ratios_of(row, variants)):
        return True
    counted = [row.values[name] for name in variants[1:] if name in row.values]
    never = "base" in row.values and not any(row.values["base"])
    return never and any(min(boots) > 0 for boots in counted)


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
