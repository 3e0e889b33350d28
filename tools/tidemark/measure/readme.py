# SPDX-License-Identifier: GPL-2.0
"""The parts of the README that are made from results, between comment lines that name them."""

import re
import textwrap
from collections.abc import Mapping
from statistics import median

from ..report import Failure
from .dirty import LARGE, SMALL
from .headline import Headline
from .results import Result

WIDTH = 110
COST_BENCHMARK = "dirty-faults"
COST_ROWS = re.compile(r".* page written, .*")


def parts(headline: Headline, results: Mapping[str, Result]) -> dict[str, str]:
    return {
        "headline": textwrap.fill(headline.sentence, WIDTH),
        "run": headline.block,
        "cost": textwrap.fill(cost(results), WIDTH),
    }


def filled(readme: str, content: Mapping[str, str]) -> str:
    """The README with these parts in their places."""
    for name, text in content.items():
        begin, end = f"<!-- {name}: by `make results` -->\n", f"<!-- end of {name} -->\n"
        place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
        if len(place.findall(readme)) != 1:
            raise Failure(f"README.md has no place for the {name}: {begin.strip()} and its end")
        made = f"{begin}\n{text}\n\n{end}"
        readme = place.sub(lambda _, made=made: made, readme)  # type: ignore[misc]
    return readme


def cost(results: Mapping[str, Result]) -> str:
    """A sentence on the most that the knobs add in the benchmark's rows on buffered writes."""
    result = results.get(COST_BENCHMARK)
    if not result or not any(COST_ROWS.fullmatch(row.name) for row in result.rows):
        raise Failure(f"no results of {COST_BENCHMARK}: run `make bench NAME={COST_BENCHMARK}`")
    variants = ("patched", LARGE, SMALL)
    default, large, small = (100 * _most_added(result, variant) for variant in variants)
    return (
        f"A page that is written to a file takes at most {default:.1f} % more instructions at the"
        f" defaults, {large:.1f} % under a limit of {LARGE}, and {small:.1f} % under one of"
        f" {SMALL}, which counts each page at once (`make bench NAME={COST_BENCHMARK}`)."
    )


def _most_added(result: Result, variant: str) -> float:
    rows = [row for row in result.rows if COST_ROWS.fullmatch(row.name)]
    added = [median(row.values[variant]) / median(row.values["base"]) - 1 for row in rows]
    return max(0.0, max(added))
