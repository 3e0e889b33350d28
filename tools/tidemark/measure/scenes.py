# SPDX-License-Identifier: GPL-2.0
"""Tables of a benchmark with many variants: one for each scene, with a line for each variant.

The name of a row is "SCENE: FIGURE".
"""

from collections.abc import Mapping, Sequence
from statistics import median

from .results import Result, Row

Scenes = Mapping[str, Mapping[str, Row]]

LEGEND = "medians of the boots, and in parentheses the smallest and the largest value"
# Their range is shown.
RANGED = ("p99", "worst", "writer")
GAP = "  "


def of(result: Result) -> Scenes:
    """The rows by scene and figure."""
    scenes: dict[str, dict[str, Row]] = {}
    for row in result.rows:
        scene, _, figure = row.name.rpartition(": ")
        scenes.setdefault(scene, {})[figure] = row
    return scenes


def table(result: Result) -> str:
    parts = [_table(scene, rows, result.variants) for scene, rows in of(result).items()]
    return "\n\n".join([LEGEND, *parts])


def _table(scene: str, rows: Mapping[str, Row], variants: Sequence[str]) -> str:
    known = [name for name in variants if any(name in row.values for row in rows.values())]
    lines = [[scene, *(f"{figure}, {row.unit}" for figure, row in rows.items())]]
    lines += [[name, *(_cell(figure, row, name) for figure, row in rows.items())] for name in known]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    numbers = [f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return GAP.join([f"{cells[0]:{widths[0]}}", *numbers]).rstrip()


def _cell(figure: str, row: Row, variant: str) -> str:
    values = row.values.get(variant)
    if not values:
        return ""
    text = _number(median(values))
    if figure in RANGED:
        text += f" ({_number(min(values))}-{_number(max(values))})"
    return text


def _number(value: float) -> str:
    """Three significant digits, and all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
