# SPDX-License-Identifier: GPL-2.0
"""Draws charts as SVG. A separate program, because only Debian's Python has matplotlib.

Reads a list of charts (JSON) from stdin, writes a list of SVG documents (JSON) to stdout.
"""

import importlib
import io
import json
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Protocol

COLOURS = {"base": "#777777", "patched": "#1f6fb4"}
OTHER_COLOUR = "#d1662a"
WIDTH = 8.0

Chart = dict[str, Any]


class Sheet(Protocol):
    def savefig(self, sink: io.StringIO, *, format: str, metadata: Mapping[str, None]) -> None: ...


def main() -> None:
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9})
    figure = importlib.import_module("matplotlib.figure")
    drawn = []
    for number, chart in enumerate(json.load(sys.stdin)):
        # The names inside the documents must differ.
        matplotlib.rcParams["svg.hashsalt"] = str(number)
        drawn.append(_svg(DRAW[chart["kind"]](figure, chart)))
    json.dump(drawn, sys.stdout)


def _colour(variant: str) -> str:
    return COLOURS.get(variant, OTHER_COLOUR)


def _curves(figure: ModuleType, chart: Chart) -> Sheet:
    sheet: Any = figure.Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = sheet.add_subplot()
    for curve in chart["curves"]:
        x, y = zip(*curve["points"], strict=True)
        axes.plot(x, y, label=curve["variant"], color=_colour(curve["variant"]))
    axes.set(title=chart["title"], xlabel="seconds", ylim=(0, None))
    axes.legend()
    drawn: Sheet = sheet
    return drawn


def _ratios(figure: ModuleType, chart: Chart) -> Sheet:
    bars = chart["bars"]
    sheet = figure.Figure(figsize=(WIDTH, 1.2 + 0.22 * len(bars)), layout="constrained")
    axes = sheet.add_subplot()
    for place, bar in enumerate(reversed(bars)):
        axes.errorbar(
            bar["ratio"],
            place,
            xerr=bar["noise"],
            fmt="o",
            markersize=4,
            capsize=3,
            color=_colour(bar["variant"]),
        )
    axes.axvline(1, color="#bbbbbb", linewidth=1, zorder=0)
    axes.set_yticks(range(len(bars)), [bar["label"] for bar in reversed(bars)])
    axes.set(title=chart["title"], xlabel="ratio to the base, and how far off it may be")
    drawn: Sheet = sheet
    return drawn


def _counts(figure: ModuleType, chart: Chart) -> Sheet:
    rows, variants = chart["rows"], chart["variants"]
    sheet = figure.Figure(
        figsize=(WIDTH, 1.2 + 0.2 * len(rows) * len(variants)), layout="constrained"
    )
    axes = sheet.add_subplot()
    height = 0.8 / len(variants)
    for rank, variant in enumerate(variants):
        places = [at + rank * height for at in range(len(rows))]
        values = [row["values"].get(variant, 0) for row in rows]
        axes.barh(places, values, height, label=variant, color=_colour(variant))
    middle = 0.4 - height / 2
    axes.set_yticks([at + middle for at in range(len(rows))], [row["label"] for row in rows])
    axes.invert_yaxis()
    axes.set(title=chart["title"])
    axes.legend()
    drawn: Sheet = sheet
    return drawn


def _times(figure: ModuleType, chart: Chart) -> Sheet:
    bars = chart["bars"]
    sheet = figure.Figure(figsize=(WIDTH, 0.5 + 0.4 * len(bars)), layout="constrained")
    axes = sheet.add_subplot()
    drawn_bars = axes.barh(
        [bar["label"] for bar in bars], [bar["seconds"] for bar in bars], color=COLOURS["patched"]
    )
    axes.bar_label(drawn_bars, [bar["time"] for bar in bars], padding=4)
    axes.invert_yaxis()
    axes.set(title=chart["title"], xticks=())
    axes.margins(x=0.12)
    axes.spines[:].set_visible(False)
    drawn: Sheet = sheet
    return drawn


PANELS = 3


def _trade_off(figure: ModuleType, chart: Chart) -> Sheet:
    """The panels, and the legend of all in the place after the last."""
    panels = chart["panels"]
    lines = len(panels) // PANELS + 1
    sheet = figure.Figure(figsize=(WIDTH, 3 * lines), layout="constrained")
    places = list(sheet.subplots(lines, PANELS).flat)
    for panel, axes in zip(panels, places, strict=False):
        for point in panel["points"]:
            axes.plot(
                point["x"],
                point["y"],
                "o" if point["pristine"] else "s",
                color=f"C{point['rank']}",
                label=point["variant"],
            )
        axes.set(title=panel["title"], yscale="log", ylabel="p99, ms", xlabel="writer, MB/s")
        axes.set_xlim(left=0)
    for axes in places[len(panels) :]:
        axes.axis("off")
    if panels:
        handles, labels = places[0].get_legend_handles_labels()
        places[len(panels)].legend(handles, labels, loc="center", fontsize=7)
    sheet.suptitle(chart["title"])
    drawn: Sheet = sheet
    return drawn


DRAW = {
    "curves": _curves,
    "ratios": _ratios,
    "counts": _counts,
    "times": _times,
    "trade_off": _trade_off,
}


def _svg(sheet: Sheet) -> str:
    sink = io.StringIO()
    sheet.savefig(sink, format="svg", metadata={"Date": None, "Creator": None})
    text = sink.getvalue()
    return "".join(f"{line.rstrip()}\n" for line in text[text.index("<svg") :].splitlines())


if __name__ == "__main__":
    main()
