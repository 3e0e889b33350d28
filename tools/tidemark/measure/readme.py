# SPDX-License-Identifier: GPL-2.0
"""The README's section of results: made from bases/*/results.json, never by hand."""

import re
from collections.abc import Mapping

from ..report import Failure
from . import table
from .catalogue import BENCHMARKS
from .results import Result

BEGIN = "<!-- results: made by `make readme-results` -->\n"
END = "<!-- end of results -->\n"
SECTION = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.S)


def section(results: Mapping[str, Result]) -> str:
    """One table for each benchmark, of its most telling rows."""
    parts = []
    for benchmark in BENCHMARKS:
        result = results.get(benchmark.name)
        text = "not measured yet"
        if result:
            text = f"{table.heading(benchmark, result)}\n\n{table.table(benchmark, result, True)}"
        parts.append(f"`make bench NAME={benchmark.name}`\n\n{_indented(text)}\n")
    return f"{BEGIN}\n{_indented(table.LEGEND)}\n\n" + "\n".join(parts) + f"\n{END}"


def replaced(readme: str, results: Mapping[str, Result]) -> str:
    if len(SECTION.findall(readme)) != 1:
        raise Failure("README.md has no section of results: its two comment lines are missing")
    return SECTION.sub(lambda _: section(results), readme)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
