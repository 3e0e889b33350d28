# SPDX-License-Identifier: GPL-2.0
"""Takes the last results of `make run`, `bench`, `outside-tests` and `soak` into bases/<base>,
with the screen of the monitor in the last `make test FLAVOUR=debian`.

From there they go into results.md, and for the default base into the README and its picture, and
into the commit messages that tell them. The cover letter gets them when it is made.
"""

import argparse
from pathlib import Path

from . import base as bases
from . import packages, run, scratch, screen, soak_record
from .layout import REPOSITORY, Layout
from .measure import headline, markdown, page, readme
from .measure import results as benchmarks
from .measure.catalogue import BENCHMARKS
from .outside import record
from .report import Failure, progress


def main(args: argparse.Namespace) -> int:
    packages.require(page.TOOLS)
    for path in take(args.base, REPOSITORY):
        progress(f"{REPOSITORY.relative(path)} is up to date")
    return 0


def take(name: str, layout: Layout) -> list[Path]:
    """Nothing is written unless all can be made."""
    kept = benchmarks.load(benchmarks.committed(name, layout))
    last = benchmarks.load(benchmarks.path(name, layout))
    kept |= {key: benchmarks.without_curves(result) for key, result in last.items()}
    scenario = _scenario(name, layout)
    judged = record.load(record.committed(name, layout)) | record.load(record.path(name, layout))
    soaks = soak_record.load(soak_record.committed(name, layout))
    soaks |= soak_record.load(soak_record.path(name, layout))
    if not kept and not scenario and not judged and not soaks:
        raise Failure(f"nothing was measured on {name} yet: run `make run` or `make bench`")
    texts = {markdown.path(name, layout): markdown.document(name, kept, scenario)}
    for benchmark in BENCHMARKS:
        if benchmark.by_scene and benchmark.name in kept:
            if not (chart := page.trade_off(benchmark, kept[benchmark.name]))["panels"]:
                continue
            texts[layout.bases / name / f"{benchmark.name}.svg"] = page.draw([chart])[0]
    if name == bases.DEFAULT and scenario:
        path = layout.root / "README.md"
        texts[path] = readme.filled(path.read_text(), readme.parts(scenario, kept))
        for path in headline.quoting(layout):
            texts[path] = headline.rewritten(path.read_text(), scenario)
        texts[headline.picture(name, layout)] = page.draw([scenario.chart])[0]
    if screen.path(name, layout).exists():
        shown = layout.bases / name / "memcg_dirty_top.svg"
        texts[shown] = screen.path(name, layout).read_text()
    if kept:
        benchmarks.store(benchmarks.committed(name, layout), kept)
    if scenario:
        headline.store(name, scenario, layout)
    if judged:
        record.store(record.committed(name, layout), judged)
        texts[record.page(name, layout)] = record.document(name, judged, record.known(name, layout))
    if soaks:
        soak_record.store(soak_record.committed(name, layout), soaks)
        texts[soak_record.page(name, layout)] = soak_record.document(name, soaks)
    for path, text in texts.items():
        path.write_text(text)
    return list(texts)


def _scenario(name: str, layout: Layout) -> headline.Headline | None:
    """The last run's figures, or those that are kept, if any are."""
    if record := scratch.read_json(run.record_path(name, layout)):
        return headline.taken(record)
    return headline.load(name, layout) if headline.stored(name, layout).exists() else None
