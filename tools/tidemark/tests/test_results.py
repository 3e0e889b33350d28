# SPDX-License-Identifier: GPL-2.0
"""Results in the repository: the texts made from them, and that no text quotes other figures."""

import json
import re
import unittest
from unittest import mock

from tidemark import base, results, run
from tidemark.layout import REPOSITORY
from tidemark.measure import headline, markdown, page, readme
from tidemark.measure import results as benchmarks
from tidemark.measure.dirty import LARGE, SMALL
from tidemark.measure.results import Result, Row
from tidemark.report import Failure

from . import fake

LONGEST_README = 120
README = "".join(
    f"<!-- {name}: by `make results` -->\nold\n<!-- end of {name} -->\n"
    for name in ("headline", "run", "cost")
)
COVER = "Subject: s\n\nUnpacking a tarball:\n\n@RESULTS@\n"


def faults() -> Result:
    rows = [
        Row("alone: child, page written, x", "ns", {"base": [100.0], "patched": [100.2]}),
        Row("alone: root, page written, x", "ns", {"base": [100.0], "patched": [99.0]}),
        Row("alone: root, read fault", "ns", {"base": [100.0], "patched": [300.0]}),
    ]
    for row, limited in zip(rows, (101.4, 101.0, 400.0), strict=True):
        row.values.update({LARGE: [limited], SMALL: [limited + 1]})
    variants = ["base", "patched", LARGE, SMALL]
    return Result("dirty-faults", "6.12.99", "x", 1, 1, variants, rows=rows)


def record(**seconds: float) -> str:
    """A record as `make run` leaves it."""
    return json.dumps(
        {
            "base": {"origin": "linux-x 1"},
            "release": "6.12.100",
            "limit_bytes": run.LIMIT_BYTES,
            "disk_bytes_per_second": 30_000_000,
            "measured": {name: [{}, {}] for name in seconds},
            "summary": {
                name: {"seconds": value, "sd_percent": 1.0, "writer_mb_per_second": 0}
                for name, value in seconds.items()
            },
        }
    )


class Case(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.write("bases/6.12/run.json", fake.RUN)
        self.readme = self.write("README.md", README)
        self.write("patches/cover.txt", COVER)
        self.message = self.write("patches/0002-x/message", "mm: x\n\nWhy.\n")
        self.headline = headline.load("6.12", self.layout)
        self.write("bases/6.12/run.svg", ">1.00 s<>9.00 s<>1.25 s<")


class HeadlineTest(Case):
    def problems(self) -> list[tuple[str, int, str]]:
        return list(headline.problems(self.layout))

    def test_measured_times_are_quoted_to_any_digit(self) -> None:
        self.message.write_text("Unpacking takes 9.0 s, and with a limit 1.25 s.\n")
        self.assertEqual(self.problems(), [])

    def test_other_times_are_told_with_their_place(self) -> None:
        self.message.write_text("mm: x\n\nIt unpacks 72 MB in\n8.9 s, not in 1 s.\n")
        source = "8.9 s is not a time of unpacking in bases/6.12/run.json; run `make results`"
        self.assertEqual(self.problems(), [("patches/0002-x/message", 4, source)])
        self.message.write_text("")
        self.readme.write_text("Unpacking: 2 s\n")
        self.assertEqual([file for file, _, _ in self.problems()], ["README.md"])
        self.readme.write_text("")
        self.write("patches/cover.txt", "It unpacked in 2.51 s\n")
        self.assertEqual([file for file, _, _ in self.problems()], ["patches/cover.txt"])

    def test_posted_times_are_quoted_as_such(self) -> None:
        self.message.write_text("Unpacking took 12.2 s in 2010.\n")
        self.assertEqual(self.problems(), [])
        self.message.write_text("Unpacking takes 12.2 s.\n")
        self.assertEqual(len(self.problems()), 1)

    def test_times_of_other_things_are_not_concerned(self) -> None:
        self.message.write_text("Unpacking is fast.\n\nA commit is made every 5 s.\n")
        self.assertEqual(self.problems(), [])

    def test_a_stale_picture_is_told(self) -> None:
        self.write("bases/6.12/run.svg", ">1.00 s<>9.00 s<>1.26 s<")
        self.assertEqual([file for file, _, _ in self.problems()], ["bases/6.12/run.svg"])

    def test_the_sentence_is_brought_up_to_date_wherever_it_breaks(self) -> None:
        stale = self.headline.sentence.replace("9.00", "13.5").replace(" beside", "\nbeside")
        text = f"mm: x\n\n{stale}\n\nUnpacking a tarball is another matter.\n"
        made = headline.rewritten(text, self.headline)
        self.assertIn(self.headline.sentence, " ".join(made.split()))
        self.assertNotIn("13.5", made)
        self.assertTrue(made.endswith("s another matter.\n"))
        self.assertLessEqual(max(map(len, made.splitlines())), 75)
        self.assertEqual(headline.rewritten(made, self.headline), made)


class TakeTest(Case):
    def setUp(self) -> None:
        super().setUp()
        benchmarks.store(benchmarks.path("6.12", self.layout), {"dirty-faults": faults()})
        patch = mock.patch.object(page, "draw", lambda charts: [json.dumps(charts)])
        patch.start()
        self.addCleanup(patch.stop)

    def measured(self, text: str) -> None:
        self.write("build/results/run-6.12.json", text)

    def test_everything_follows_the_last_run(self) -> None:
        self.message.write_text(f"mm: x\n\n{self.headline.sentence}\n")
        self.measured(record(alone=2.0, unlimited=20.0, limited=2.2))
        results.take("6.12", self.layout)
        for path in (self.readme, self.message):
            self.assertIn("20.00 s beside a dd", " ".join(path.read_text().split()))
        self.assertIn("linux-x 1", self.readme.read_text())
        text = " ".join(self.readme.read_text().split())
        self.assertIn("0.2 % more instructions at the", text)
        self.assertIn("1.4 % under a limit of 512M", text)
        self.assertIn("2.4 % under one of 64M", text)
        self.assertIn("20.00 s", headline.picture("6.12", self.layout).read_text())
        self.assertEqual(headline.load("6.12", self.layout).repeats, 2)
        kept = benchmarks.load(benchmarks.committed("6.12", self.layout))
        self.assertEqual(kept.keys(), {"dirty-faults"})
        self.assertIn("20.00 s", markdown.path("6.12", self.layout).read_text())

    def test_kept_figures_serve_without_a_run(self) -> None:
        results.take("6.12", self.layout)
        self.assertIn("9.00 s", self.readme.read_text())

    def test_another_base_leaves_the_readme_alone(self) -> None:
        self.write("bases/7.3/recipe", "")
        self.write("build/results/run-7.3.json", record(alone=2.0, unlimited=20.0, limited=2.2))
        results.take("7.3", self.layout)
        self.assertEqual(self.readme.read_text(), README)
        self.assertIn("20.00 s", markdown.path("7.3", self.layout).read_text())

    def test_a_failure_changes_nothing(self) -> None:
        self.measured(record(alone=2.0, limited=2.2))
        with self.assertRaises(Failure) as caught:
            results.take("6.12", self.layout)
        self.assert_fails(caught.exception, "unlimited")
        self.measured(record(alone=2.0, unlimited=20.0, limited=2.2))
        self.readme.write_text("# No places\n")
        with self.assertRaises(Failure) as caught:
            results.take("6.12", self.layout)
        self.assert_fails(caught.exception, "README.md", "headline")
        self.assertEqual(headline.load("6.12", self.layout), self.headline)
        self.assertFalse(markdown.path("6.12", self.layout).exists())

    def test_nothing_measured(self) -> None:
        with self.assertRaises(Failure) as caught:
            results.take("7.3", self.layout)
        self.assert_fails(caught.exception, "7.3", "make run")


class DocumentTest(unittest.TestCase):
    def test_a_row_that_says_nothing_is_summed_up(self) -> None:
        rows = [
            Row("tells", "ns", {"base": [1, 1], "patched": [2, 2], "limited": [1, 1]}),
            Row("same", "ns", {"base": [1, 1], "patched": [1, 1], "limited": [1, 1]}),
            Row("noisy", "ns", {"base": [1, 2], "patched": [1, 2], "limited": [1, 1]}),
            Row("none", "kills", {"base": [0, 0], "patched": [0, 0]}),
        ]
        found = Result("dirty-faults", "6", "x", 2, 1, ["base", "patched", "limited"], rows=rows)
        text = markdown.document("6.12", {"dirty-faults": found}, None)
        self.assertIn("tells, ns", text)
        for name in ("same", "noisy", "none"):
            self.assertNotIn(f"{name}, ", text)
        self.assertIn("3 other rows: 1 within 1 %, 1 within the noise (median 200%), 1", text)
        self.assertIn("NAME=dirty-unpack`\n\nNot measured yet.", text)


class CommittedTest(unittest.TestCase):
    def test_pages_are_those_of_the_results(self) -> None:
        for name in base.names():
            found = benchmarks.load(benchmarks.committed(name, REPOSITORY))
            kept = headline.stored(name, REPOSITORY).exists()
            scenario = headline.load(name, REPOSITORY) if kept else None
            if found or scenario:
                made = markdown.document(name, found, scenario)
                shown = markdown.path(name, REPOSITORY).read_text()
                self.assertEqual(made, shown, "run `make results`")

    def test_readme_quotes_the_results(self) -> None:
        text = (REPOSITORY.root / "README.md").read_text()
        found = benchmarks.load(benchmarks.committed(base.DEFAULT, REPOSITORY))
        parts = readme.parts(headline.load(base.DEFAULT, REPOSITORY), found)
        self.assertEqual(readme.filled(text, parts), text, "run `make results`")

    def test_no_text_quotes_other_figures(self) -> None:
        self.assertEqual(list(headline.problems(REPOSITORY)), [])

    def test_readme_is_one_page_and_its_links_lead_somewhere(self) -> None:
        text = (REPOSITORY.root / "README.md").read_text()
        self.assertLessEqual(len(text.splitlines()), LONGEST_README)
        for link in re.findall(r"\]\(([^)#]+)", text):
            self.assertTrue((REPOSITORY.root / link).exists(), link)
