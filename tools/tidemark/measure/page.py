# SPDX-License-Identifier: GPL-2.0
"""The report: one HTML file with all tables, and plots as SVG inside."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .. import process
from . import scenes, spread, table
from .benchmark import Benchmark
from .catalogue import BENCHMARKS
from .results import Result

TOOLS = ("matplotlib",)
# Debian's Python: this one may be another, without Debian's packages.
PYTHON = "/usr/bin/python3"
STYLE = (
    "body { font: 15px/1.5 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }"
    " pre { font-size: 12px; line-height: 1.35; overflow-x: auto }"
    " svg { max-width: 100%; height: auto; display: block }"
)
# Longer bars would leave no room for the others.
MOST_NOISE = 0.5

Chart = dict[str, Any]


def write(path: Path, results: Mapping[str, Result]) -> Path:
    shown = [benchmark for benchmark in BENCHMARKS if benchmark.name in results]
    charts = [list(_charts(benchmark, results[benchmark.name])) for benchmark in shown]
    drawn = iter(draw([chart for group in charts for chart in group]))
    parts = [
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>",
        f"<title>Tidemark: benchmarks</title><style>{STYLE}</style></head><body>",
        f"<h1>Tidemark: benchmarks</h1><p>{html.escape(table.LEGEND)}</p>",
    ]
    for benchmark, group in zip(shown, charts, strict=True):
        result = results[benchmark.name]
        parts.append(f"<h2>{html.escape(benchmark.name)}</h2>")
        text = f"{table.heading(benchmark, result)}\n\n{table.table(benchmark, result)}"
        parts.append(f"<pre>{html.escape(text)}</pre>")
        parts += [next(drawn) for _ in group]
    path.write_text("\n".join([*parts, "</body></html>\n"]))
    return path


def _charts(benchmark: Benchmark, result: Result) -> Iterator[Chart]:
    for name in dict.fromkeys(curve.name for curve in result.curves):
        curves = [curve for curve in result.curves if curve.name == name]
        yield {
            "kind": "curves",
            "title": name,
            "curves": [{"variant": curve.variant, "points": curve.points} for curve in curves],
        }
    if benchmark.by_scene and (chart := trade_off(benchmark, result))["panels"]:
        yield chart
    if bars := _bars(benchmark, result):
        yield {"kind": "ratios", "title": benchmark.name, "bars": bars}
    rows = [
        {
            "label": f"{row.name}, {row.unit}",
            "values": {name: spread.summary(values).median for name, values in row.values.items()},
        }
        for row in result.rows
        if row.name.endswith(benchmark.plotted) and row.unit != "ms"
    ]
    if benchmark.plotted and rows:
        yield {
            "kind": "counts",
            "title": f"{benchmark.name}: reclaim",
            "rows": rows,
            "variants": result.variants,
        }


def trade_off(benchmark: Benchmark, result: Result) -> Chart:
    """For each victim beside one writer, its p99 against the writer's rate: a point a variant."""
    kinds = {pristine: _named(benchmark, pristine) for pristine in (True, False)}
    panels = [
        {
            "title": name,
            "points": [
                {
                    "variant": variant,
                    "pristine": pristine,
                    "rank": rank,
                    "x": median(rows["writer"].values[variant]),
                    "y": median(rows["p99"].values[variant]),
                }
                for pristine, names in kinds.items()
                for rank, variant in enumerate(names)
                if variant in rows["p99"].values
            ],
        }
        for name, rows in scenes.of(result).items()
        if name.endswith(", 1 writer")
    ]
    return {"kind": "trade_off", "title": benchmark.title, "panels": panels}


def _named(benchmark: Benchmark, pristine: bool) -> list[str]:
    return [variant.name for variant in benchmark.variants if variant.pristine == pristine]


def _bars(benchmark: Benchmark, result: Result) -> list[Chart]:
    """Ratios of the most telling rows, but for those that say nothing of a ratio."""
    bars = []
    for row in result.rows:
        if not benchmark.is_telling(row.name):
            continue
        for variant in result.variants[1:]:
            if "base" not in row.values or variant not in row.values:
                continue
            base, ours = spread.summary(row.values["base"]), spread.summary(row.values[variant])
            noise = spread.noise(base, ours)
            if base.median and noise is not None and noise <= MOST_NOISE:
                bars.append(
                    {
                        "label": f"{row.name}: {variant}",
                        "variant": variant,
                        "ratio": ours.median / base.median,
                        "noise": noise,
                    }
                )
    return bars


def draw(charts: Sequence[Chart]) -> list[str]:
    program = Path(__file__).with_name("plot.py")
    drawn: list[str] = json.loads(process.answer([PYTHON, "-B", program], json.dumps(list(charts))))
    return drawn
