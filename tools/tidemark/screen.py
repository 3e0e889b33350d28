# SPDX-License-Identifier: GPL-2.0
"""A picture of a guest's terminal, from the text and the colours that tmux has captured."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from .layout import Layout

MARK = re.compile(r"^ *# screen: ?")
STYLE = re.compile(r"\x1b\[([\d;]*)m")
# Of the codes that programs of ours use; all others are without effect.
COLOURS = {"31": "#ff7b72", "33": "#e3b341"}
BACKGROUND, TEXT = "#161b22", "#e6edf3"
FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"
SIZE, WIDTH, HEIGHT, MARGIN = 13, 7.83, 18, 12


def captured(results: Sequence[str]) -> list[str]:
    """The lines of the screen among a guest's results, up to the last one with text."""
    lines = [line[found.end() :] for line in results if (found := MARK.match(line))]
    while lines and not plain(lines[-1]).strip():
        lines.pop()
    return lines


def plain(line: str) -> str:
    return STYLE.sub("", line)


def path(name: str, layout: Layout) -> Path:
    """Where the picture of the last guest is."""
    return layout.build / "results" / f"screen-{name}.svg"


def svg(lines: Sequence[str]) -> str:
    columns = max((len(plain(line).rstrip()) for line in lines), default=0)
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    rows = "".join(
        f'<text x="{MARGIN}" y="{MARGIN + HEIGHT * number + SIZE}">{"".join(_spans(line))}</text>\n'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">\n'
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>\n'
        f'<g font-family="{FONT}" font-size="{SIZE}" fill="{TEXT}" xml:space="preserve">\n'
        f"{rows}</g>\n</svg>\n"
    )


def _spans(line: str) -> Iterator[str]:
    """STYLE.split() gives texts and the codes between them, in turn."""
    text, *rest = STYLE.split(line.rstrip())
    yield escape(text)
    bold, colour = False, ""
    for codes, text in zip(rest[::2], rest[1::2], strict=True):
        for code in codes.split(";"):
            bold = code == "1" or (bold and code not in ("", "0", "22"))
            colour = COLOURS.get(code, "" if code in ("", "0", "39") else colour)
        style = (' font-weight="bold"' if bold else "") + (f' fill="{colour}"' if colour else "")
        if text:
            yield f"<tspan{style}>{escape(text)}</tspan>" if style else escape(text)
