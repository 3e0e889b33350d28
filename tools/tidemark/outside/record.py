# SPDX-License-Identifier: GPL-2.0
"""The suites' results: kept below build/, and taken over into bases/<base> by `make results`."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import scratch
from ..layout import Layout
from ..report import Failure
from .suite import FAIL, MISSING, OK, SKIP, Findings

WIDTH = 100
KNOWN = re.compile(r"(?P<test>[^#:]+): (?P<reason>\S.*)")

Reasons = Mapping[str, str]


@dataclass(frozen=True)
class Result:
    """A suite's findings, and the kernel that they are about."""

    suite: str
    purpose: str
    release: str
    findings: Findings

    def row(self, test: str) -> list[str]:
        return [self.findings.outcomes[test].get(c, MISSING) for c in self.findings.columns]

    @property
    def differing(self) -> list[str]:
        """The tests that do not end alike; in a single column, those that fail."""
        single = len(self.findings.columns) == 1
        outcomes = self.findings.outcomes
        return [t for t in outcomes if len(set(self.row(t))) > 1 or (single and self._fails(t))]

    @property
    def failing_alike(self) -> list[str]:
        rows = [] if len(self.findings.columns) == 1 else self.findings.outcomes
        return [test for test in rows if self._fails(test)]

    def _fails(self, test: str) -> bool:
        return set(self.row(test)) == {FAIL}

    def unexplained(self, reasons: Reasons) -> list[str]:
        return [test for test in self.differing if f"{self.suite} {test}" not in reasons]


def known(name: str, layout: Layout) -> Reasons:
    """Differences and failures that have a reason: lines `SUITE TEST: reason` of a base."""
    path = layout.bases / name / "outside.known"
    lines = path.read_text().splitlines() if path.exists() else []
    found = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        match = KNOWN.fullmatch(line)
        if not match:
            raise Failure(f"{layout.relative(path)}:{number}: expected `SUITE TEST: reason`")
        found[match["test"]] = match["reason"]
    return found


def path(label: str, layout: Layout) -> Path:
    return layout.build / "results" / f"outside-{label}.json"


def committed(name: str, layout: Layout) -> Path:
    return layout.bases / name / "outside.json"


def page(name: str, layout: Layout) -> Path:
    return layout.bases / name / "outside.md"


def load(file: Path) -> dict[str, Result]:
    try:
        return {
            name: Result(name, entry.pop("purpose"), entry.pop("release"), Findings(**entry))
            for name, entry in scratch.read_json(file).items()
        }
    except (KeyError, TypeError) as error:
        raise Failure(f"{file}: not a results file of this harness; remove it") from error


def store(file: Path, results: Mapping[str, Result]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {
        name: {
            "purpose": result.purpose,
            "release": result.release,
            **asdict(result.findings),
        }
        for name, result in sorted(results.items())
    }
    scratch.write_json(file, record)


def text(result: Result, reasons: Reasons) -> Iterator[str]:
    """A row for each kernel, and a line for each test that failed or that differs."""
    yield f"{result.suite}: {result.purpose}"
    yield f"Linux {result.release}"
    yield ""
    yield f"{'':16}{'tests':>8}{'passed':>8}{'failed':>8}{'skipped':>8}"
    rows = [result.row(test) for test in result.findings.outcomes]
    for number, column in enumerate(result.findings.columns):
        ended = [row[number] for row in rows]
        counts = [ended.count(each) for each in (OK, FAIL, SKIP)]
        yield f"{column:16}{len(rows):8}" + "".join(f"{count:8}" for count in counts)
    yield ""
    yield f"differences: {len(result.differing)}"
    for test in result.differing:
        columns = zip(result.findings.columns, result.row(test), strict=True)
        outcomes = ", ".join(f"{column}: {outcome}" for column, outcome in columns)
        yield from _point(f"{test}: {outcomes}", reasons.get(f"{result.suite} {test}"))
    if result.failing_alike:
        yield "fail on all kernels:"
    for test in result.failing_alike:
        yield from _point(test, reasons.get(f"{result.suite} {test}"))
    yield from result.findings.remarks


def document(name: str, results: Mapping[str, Result], reasons: Reasons) -> str:
    parts = [
        f"# Others' tests on {name}",
        "`make results` makes this page of the last results of `make outside-tests`. A test"
        " differs\nif it does not end alike on the unpatched kernel (`upstream`) and on ours.",
    ]
    for result in results.values():
        parts.append(f'## `make outside-tests ARGS="--only {result.suite}"`')
        parts.append(textwrap.indent("\n".join(text(result, reasons)), "    "))
    return "\n\n".join(parts) + "\n"


def _point(what: str, reason: str | None) -> list[str]:
    return textwrap.wrap(
        f"{what}; {reason or 'without a known reason'}",
        WIDTH - 4,
        initial_indent="- ",
        subsequent_indent="  ",
    )
