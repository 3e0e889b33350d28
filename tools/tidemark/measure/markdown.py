# SPDX-License-Identifier: GPL-2.0
"""bases/<base>/results.md: made from results.json and run.json beside it, never by hand."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from ..layout import Layout
from . import spread, table
from .catalogue import BENCHMARKS
from .headline import Headline
from .results import Result, Row

WIDTH = 100


def path(name: str, layout: Layout) -> Path:
    return layout.bases / name / "results.md"


def document(name: str, results: Mapping[str, Result], headline: Headline | None) -> str:
    """One table for each benchmark, of the rows that say something."""
    parts = [
        f"# Results on {name}",
        "`make results` makes this page of the last results of `make run` and `make bench`."
        " A row is shown where a variant\ndiffers from the unpatched kernel (`base`) by more than"
        " the noise; `make bench` prints all.",
        _indented(table.LEGEND),
    ]
    if headline:
        parts += ["## The scenario of `make run`", headline.block]
    for benchmark in BENCHMARKS:
        result = results.get(benchmark.name)
        parts.append(f"## `make bench NAME={benchmark.name}`")
        if not result:
            parts.append("Not measured yet.")
            continue
        rows = [row for row in result.rows if table.says_something(row, result.variants)]
        if benchmark.by_scene:
            rows = result.rows
        parts.append(_indented(table.heading(benchmark, result)))
        if rows:
            parts.append(_indented(table.table(benchmark, result, rows)))
        if others := [row for row in result.rows if row not in rows]:
            parts.append(textwrap.fill(_summed_up(others, result.variants, bool(rows)), WIDTH))
    return "\n\n".join(parts) + "\n"


def _summed_up(rows: Sequence[Row], variants: Sequence[str], others: bool) -> str:
    """A sentence about rows in which there is no difference to be seen."""
    cells = [table.ratios_of(row, variants) for row in rows]
    unsure = [row for row, told in zip(rows, cells, strict=True) if "~" in told]
    same = sum("~" not in told and "1" in told for told in cells)
    parts = []
    if same:
        parts.append(f"{same} within 1 %")
    if unsure:
        noise = median(_noise(row, variants) for row in unsure)
        parts.append(f"{len(unsure)} within the noise (median {table.percent(noise)})")
    if nothing := len(rows) - same - len(unsure):
        parts.append(f"{nothing} without a ratio (0, or no value)")
    total = f"{len(rows)} {'other ' if others else ''}row{'s' if len(rows) != 1 else ''}"
    return f"{total}: {', '.join(parts)}."


def _noise(row: Row, variants: Sequence[str]) -> float:
    base = spread.summary(row.values["base"])
    ours = [spread.summary(row.values[name]) for name in variants[1:] if name in row.values]
    return max(spread.noise(base, summed) or 0.0 for summed in ours)


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")
