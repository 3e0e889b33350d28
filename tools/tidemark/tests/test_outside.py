# SPDX-License-Identifier: GPL-2.0
"""Others' tests: the disk that power cuts need, and what is read out of the guests' lines."""

import random
import re
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tidemark import console, guest, outside_tests, results, vm
from tidemark.layout import REPOSITORY
from tidemark.outside import (
    blktests,
    built,
    listed,
    ltp,
    power,
    record,
    stress,
    syzkaller,
    volatile,
    xfstests,
)
from tidemark.outside.suite import LIMITED, OURS, Findings, Missing, Wish
from tidemark.report import Failure

from . import fake

BLOCK = volatile.BLOCK


class VolatileTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.image = self.place / "disk.img"
        self.image.write_bytes(bytes(64 * BLOCK))
        self.disk = volatile.Disk(self.image)
        self.addCleanup(self.disk.close)

    def stored(self, block: int) -> bytes:
        return self.image.read_bytes()[block * BLOCK : (block + 1) * BLOCK]

    def test_what_is_written_is_read_but_not_yet_stored(self) -> None:
        self.disk.write(512, b"a" * BLOCK)
        self.assertEqual(self.disk.read(0, 3 * 512), bytes(512) + b"a" * 1024)
        self.assertEqual(self.disk.read(BLOCK, 1024), b"a" * 512 + bytes(512))
        self.assertEqual(self.stored(0), bytes(BLOCK))

    def test_a_flush_stores(self) -> None:
        self.disk.write(0, b"a" * BLOCK)
        self.disk.flush()
        self.assertEqual(self.stored(0), b"a" * BLOCK)
        self.assertEqual(self.disk.cut(random.Random(1)), 0)

    def test_a_cut_loses_some_blocks_and_keeps_what_was_flushed(self) -> None:
        self.disk.write(0, b"a" * 64 * BLOCK)
        self.disk.flush()
        self.disk.write(0, b"b" * 64 * BLOCK)
        lost = self.disk.cut(random.Random(1))
        found = [self.stored(block) for block in range(64)]
        self.assertEqual(found.count(b"a" * BLOCK), lost)
        self.assertEqual(found.count(b"b" * BLOCK), 64 - lost)
        self.assertTrue(16 < lost < 48)

    def test_a_client_reads_what_it_wrote(self) -> None:
        address = self.place / "socket"
        with volatile.served(self.disk, address), socket.socket(socket.AF_UNIX) as client:
            client.connect(str(address))
            volatile._receive(client, len(volatile.GREETING))
            client.sendall(bytes(4))
            # Another option than GO is not supported, and no error.
            for option, size in ((8, 20), (volatile.GO, 20 + 12 + 20)):
                client.sendall(volatile.OPTION.pack(b"IHAVEOPT", option, 6) + bytes(6))
                reply = volatile._receive(client, size)
            self.assertEqual(volatile.EXPORT.unpack(reply[20:32])[1], 64 * BLOCK)
            self.request(client, volatile.WRITE, 512, b"a" * 512)
            self.assertEqual(self.request(client, volatile.READ, 0, size=1024)[512:], b"a" * 512)
            self.assertEqual(self.stored(0), bytes(BLOCK))
            self.request(client, volatile.FLUSH)
            self.assertEqual(self.stored(0)[512:1024], b"a" * 512)

    def request(
        self, client: socket.socket, kind: int, at: int = 0, data: bytes = b"", size: int = 0
    ) -> bytes:
        length = size or len(data)
        client.sendall(volatile.REQUEST.pack(volatile.REQUEST_MAGIC, 0, kind, 5, at, length) + data)
        magic, error, handle = volatile.REPLY.unpack(volatile._receive(client, 16))
        self.assertEqual((magic, error, handle), (volatile.REPLY_MAGIC, 0, 5))
        return volatile._receive(client, size)


class PowerTest(unittest.TestCase):
    BEFORE = ("ack xfs append 1", "ack xfs append 2", "ack ext4 append 9", "ack xfs rename")

    def problems(self, *after: str) -> list[str]:
        return power.problems("xfs", self.BEFORE, after)

    def test_all_that_was_acknowledged(self) -> None:
        self.assertEqual(self.problems("found xfs append 2", "fsck xfs 0"), [])
        self.assertEqual(self.problems("found xfs append 3", "fsck xfs 0"), [])

    def test_a_write_that_is_gone(self) -> None:
        (said,) = self.problems("found xfs append 1", "fsck xfs 0")
        self.assertIn("write 2 was acknowledged, write 1 is there", said)
        self.assertEqual(len(self.problems("fsck xfs 0")), 1)

    def test_a_file_system_that_is_not_clean(self) -> None:
        self.assertEqual(
            self.problems("found xfs append 2", "fsck xfs 1", "said xfs bad inode"),
            ["fsck xfs 1", "said xfs bad inode"],
        )
        self.assertEqual(self.problems("found xfs append 2", "fsck xfs mount"), ["fsck xfs mount"])
        self.assertIn("did not check", self.problems("found xfs append 2", "fsck ext4 0")[0])

    def test_pauses(self) -> None:
        lines = ["paused xfs 3", "paused xfs 5", "paused ext4 1", "paused btr"]
        self.assertEqual(sum(power.ledger(lines, "paused").values()), 6)

    def test_files_that_cannot_have_come_about(self) -> None:
        line = "broken xfs dsync lacks write 7"
        self.assertEqual(self.problems("found xfs append 2", line, "fsck xfs 0"), [line])


class BuiltTest(fake.Case):
    STEPS = (("sh", "-c", "cat test.c >> ../../steps"), ("touch", "done"))

    def setUp(self) -> None:
        super().setUp()
        self.write("suite/Makefile", "all:\n")
        self.write("suite/test.c", "1\n")

    def build(self, steps: built.Steps = STEPS) -> Path:
        return built.obtain("SUITE", self.layout.root / "suite", steps, self.layout)

    def test_a_copy_is_built_once(self) -> None:
        top = self.build()
        self.assertTrue((top / "done").exists())
        self.assertEqual(self.build(), top)
        self.assertEqual((self.layout.build / "outside" / "steps").read_text(), "1\n")
        self.assertFalse((self.layout.root / "suite" / "done").exists())

    def test_a_go_module_is_copied(self) -> None:
        self.write("suite/go.mod", "module suite\n")
        self.assertTrue((self.build() / "go.mod").exists())

    def test_another_source_and_other_steps_are_built(self) -> None:
        self.build()
        self.write("suite/test.c", "two\n")
        self.build()
        self.assertFalse((self.build(self.STEPS[:1]) / "done").exists())
        steps = self.layout.build / "outside" / "steps"
        self.assertEqual(steps.read_text(), "1\ntwo\ntwo\n")

    def test_a_step_that_fails_is_no_build(self) -> None:
        for _ in range(2):
            with self.assertRaises(Failure) as caught:
                self.build((("false",),))
            self.assert_fails(caught.exception, "build/outside/suite.log: `false` failed")


class BlktestsTest(unittest.TestCase):
    def test_tests_have_a_number(self) -> None:
        found = blktests.tests(["rc", "002.out", "002", "001"])
        self.assertEqual(
            found,
            [
                ("throtl/001", "/tidemark/blktests throtl/001"),
                ("throtl/002", "/tidemark/blktests throtl/002"),
            ],
        )

    def test_without_a_source_it_says_what_to_give_it(self) -> None:
        with self.assertRaises(Missing) as caught:
            blktests.run(mock.Mock(), Wish())
        self.assertIn("BLKTESTS=path", str(caught.exception))

    def test_the_copy_does_not_ask_for_the_other_disk(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        script = Path(directory.name, "tests", "throtl", "rc")
        script.parent.mkdir(parents=True)
        script.write_text("\t_have_null_blk\n\t_have_scsi_debug\n_have_scsi_debug_x\n")
        for step in blktests.STEPS:
            subprocess.run(step, cwd=directory.name, check=True)
        self.assertEqual(script.read_text(), "\t_have_null_blk\n_have_scsi_debug_x\n")


class LtpTest(unittest.TestCase):
    def test_wanted_tests_are_found_in_the_lists(self) -> None:
        lists = ["#x\nfsync01 fsync01\nfork01 fork01\nksm01_1 ksm01 -u 128\n", "oom01 oom01\n\n"]
        self.assertEqual(ltp.tests(lists), [("fsync01", "fsync01"), ("oom01", "oom01")])

    def test_runs_are_one_test(self) -> None:
        runs = {
            "memcontrol02_1": {"upstream": "ok", "ours": "skip"},
            "memcontrol02_2": {"upstream": "FAIL", "ours": "skip"},
            "console": {"upstream": "ok", "ours": "ok"},
        }
        found = ltp.together(Findings(["upstream", "ours"], runs, ["7 pauses"]))
        self.assertEqual(found.outcomes["memcontrol02"], {"upstream": "FAIL", "ours": "skip"})
        self.assertIn("upstream: 1 of 2 runs failed.", found.remarks)
        self.assertIn("7 pauses", found.remarks)
        self.assertEqual(len({name for name, _ in ltp.repeated()}), 100)


class ListedTest(unittest.TestCase):
    def test_outcomes(self) -> None:
        lines = ["program a", "TPASS", "", "status 0", "program b", "status 32", "program c"]
        skipped = frozenset({32})
        found = listed.outcomes(lines, skipped)
        self.assertEqual(found, {"a": "ok", "b": "skip", "c": "FAIL"})
        self.assertEqual(listed.outcomes(["program a", "status 4"], skipped), {"a": "FAIL"})

    def test_names_may_have_spaces(self) -> None:
        lines = ["program generic/1 ext4", "paused 0", "status 0"]
        self.assertEqual(listed.outcomes(lines, frozenset()), {"generic/1 ext4": "ok"})

    def test_some_tests_by_a_pattern(self) -> None:
        tests = [("generic/1 ext4", "x"), ("generic/1 xfs", "y")]
        self.assertEqual(listed.matching(tests, ""), tests)
        self.assertEqual(listed.matching(tests, "1 xfs$"), tests[1:])
        with self.assertRaises(Failure):
            listed.matching(tests, "btrfs")

    def test_the_last_count_of_pauses(self) -> None:
        self.assertEqual(listed.pauses(["paused 2", "status 0", "paused 5", "status 1"]), 5)
        self.assertEqual(listed.pauses(["status 0"]), 0)

    def trial(self, column: str, *lines: str) -> listed._Trial:
        trial = mock.Mock(listed._Trial, column=column, pauses=0)
        trial._boot.return_value = listed.outcomes(lines, frozenset()), True
        return trial

    def test_a_limit_that_pauses_no_test_is_an_error(self) -> None:
        trial = self.trial(LIMITED, "program a", "status 0")
        with self.assertRaises(Failure):
            listed._Trial.run(trial, [("a", "")])
        trial.pauses = 1
        self.assertEqual(listed._Trial.run(trial, [("a", "")]), {"a": "ok"})
        free = self.trial(OURS, "program a", "status 0")
        self.assertEqual(listed._Trial.run(free, [("a", "")]), {"a": "ok"})

    def test_a_guest_that_hangs_has_failed_its_last_test(self) -> None:
        heard = ["program a", "status 0", "program b"]
        trial = mock.Mock(listed._Trial)
        with (
            mock.patch.object(vm, "run", side_effect=Failure("it said nothing")),
            mock.patch.object(vm, "console_lines", return_value=["BUG: x"]),
        ):
            outcome = listed._Trial._listen(trial, mock.Mock(), Path("log"), heard)
        self.assertEqual(outcome, console.Outcome(heard, ["BUG: x"], None))

    def runs(self, *explained: str) -> list[list[str]]:
        """The names of the tests in each run of the third column."""
        runs = []

        def trial(_kernels: object, _plan: object, _place: object, column: str) -> mock.Mock:
            def run(tests: list[listed.Test]) -> dict[str, str]:
                if column == LIMITED:
                    runs.append([name for name, _ in tests])
                return {name: "FAIL" if column == LIMITED else "ok" for name, _ in tests}

            return mock.Mock(column=column, run=run, complained=False, pauses=1)

        plan = listed.Plan("suite", [("a", ""), ("b", "")], frozenset(), 512, rounds=2)
        with mock.patch.object(listed, "_Trial", trial), mock.patch.object(guest, "directory"):
            found = listed.run(mock.Mock(), plan, Wish(explained=explained))
        self.assertEqual(found.outcomes["a"], {"upstream": "ok", "ours": "ok", LIMITED: "FAIL"})
        return runs

    def test_a_difference_runs_again_unless_the_reason_is_known(self) -> None:
        self.assertEqual(self.runs(), [["a", "b"], ["a", "b"]])
        self.assertEqual(self.runs("suite a", "other b"), [["a", "b"], ["b"]])

    def test_a_kill_is_no_report_of_an_error(self) -> None:
        bug = "[ 1.0] BUG: KASAN: slab-use-after-free"
        kill = "[ 1.0] Out of memory: Killed process 70 (oom01)"
        self.assertEqual(listed.reports(["[ 0.9] ok", kill, bug]), [bug])


class XfstestsTest(unittest.TestCase):
    LISTING = """# QA groups

001 rw dir auto quick
002 metadata auto quick
013 rw auto
207 auto aio quick
388 shutdown auto log
563 auto quick
"""

    def test_quick_tests_of_some_groups_and_others_by_number(self) -> None:
        for fs, numbers in {
            "ext4": ("001", "207", "388", "563"),
            "xfs": ("001", "207", "388", "563"),
            "btrfs": ("207", "388", "563"),
        }.items():
            found = dict(xfstests.tests(self.LISTING, fs))
            self.assertEqual(list(found), [f"generic/{number} {fs}" for number in numbers])
            test = f"generic/207 {fs}"
            self.assertEqual(found[test], f"/tidemark/xfstests {fs} generic/207")


class StressTest(unittest.TestCase):
    def test_stressors_of_several_classes(self) -> None:
        listings = ["class 'vm' stressors: mmap brk\n", "class 'os' stressors: reboot brk"]
        self.assertEqual(stress.names(listings), ["brk", "mmap"])


class SyzkallerTest(fake.Case):
    TABLE = (
        "Module,Filename,CoveredLines,TotalLines,CoveredPCs,TotalPCs,TotalFunctions\n"
        ",mm/memcg_dirty.c,3,600,10,40,9\n,mm/vmscan.c,1,2,3,4,5\n,mm/memcg_oom.c,0,300,0,20,7\n"
    )

    def test_coverage_is_that_of_our_files(self) -> None:
        found = syzkaller.coverage(self.TABLE, ["mm/memcg_dirty.c", "mm/memcg_oom.c", "mm/none.c"])
        self.assertEqual(
            found,
            {
                "mm/memcg_dirty.c": syzkaller.Coverage(10, 40),
                "mm/memcg_oom.c": syzkaller.Coverage(0, 20),
            },
        )

    def test_files_that_no_program_reached_and_reports_fail(self) -> None:
        files = ["mm/memcg_dirty.c", "mm/memcg_oom.c"]
        bench = '{\n "exec total": 7\n}\n{\n "exec total": 120\n}\n'
        found = syzkaller.findings(["KASAN: bad"], syzkaller.coverage(self.TABLE, files), bench)
        result = record.Result("syzkaller", "a fuzzer", "6.12.99", found)
        self.assertEqual(result.unexplained({}), ["mm/memcg_oom.c", "KASAN: bad"])
        self.assertIn("120 programs", found.remarks[0])
        self.assertRegex(found.remarks[1], r"mm/memcg_dirty.c +10 of +40 +25 %")

    def test_titles_of_reports(self) -> None:
        self.write("work/crashes/a/description", "WARNING in b\n")
        self.assertEqual(syzkaller.titles(self.layout.root / "work"), ["WARNING in b"])

    def test_descriptions_are_a_part_of_the_build(self) -> None:
        self.assertIn("openat$memcg_bytes", syzkaller.steps()[0][-2])
        self.assertEqual(syzkaller.steps()[1][-1], "test/tidemark_0")
        self.assertEqual(len(syzkaller.seeds()), len(syzkaller.steps()) - 2)

    def test_a_seed_that_the_manager_refuses_is_named(self) -> None:
        log = "2026/11/28 22:12:39 seed sys/linux/test/tidemark_0 is broken: longer than 40 calls\n"
        with self.assertRaisesRegex(Failure, "A writer under a limit.*: longer than 40 calls"):
            syzkaller.check_seeds(log)
        syzkaller.check_seeds(log.replace("tidemark_0", "pipe"))

    def test_each_knob_is_described(self) -> None:
        text = syzkaller.DESCRIPTIONS.read_text()
        for row in (REPOSITORY.root / "README.md").read_text().splitlines():
            if knob := re.match(r"\| `((?:memory|vm)\.[a-z_.]+)`", row):
                name = knob[1].removeprefix("vm.")
                if name not in ("memory.high", "memory.max"):
                    self.assertIn(name, text)


class RecordTest(fake.Case):
    RESULT = record.Result(
        "ltp",
        "a suite",
        "6.12.99",
        Findings(
            ["upstream", "ours"],
            {
                "a": {"upstream": "ok", "ours": "ok"},
                "b": {"upstream": "ok", "ours": "FAIL"},
                "c": {"upstream": "FAIL", "ours": "FAIL"},
                "d": {"upstream": "ok"},
            },
        ),
    )

    def test_differences_and_their_reasons(self) -> None:
        self.assertEqual(self.RESULT.differing, ["b", "d"])
        self.assertEqual(self.RESULT.failing_alike, ["c"])
        self.write("bases/6.12/outside.known", "# why\n\nltp b: it is slow\n")
        reasons = record.known("6.12", self.layout)
        self.assertEqual(self.RESULT.unexplained(reasons), ["d"])
        text = "\n".join(record.text(self.RESULT, reasons))
        self.assertRegex(text, r"upstream +4 +3 +1 +0\nours +4 +1 +2 +0\n")
        self.assertIn("- b: upstream: ok, ours: FAIL; it is slow\n", text)
        self.assertIn("- d: upstream: ok, ours: -; without a known reason\n", text)

    def test_a_reason_has_a_test(self) -> None:
        self.write("bases/6.12/outside.known", "no colon\n")
        with self.assertRaises(Failure) as caught:
            record.known("6.12", self.layout)
        self.assert_fails(caught.exception, "outside.known:1")

    def test_results_take_it_over(self) -> None:
        record.store(record.path("6.12", self.layout), {"ltp": self.RESULT})
        results.take("6.12", self.layout)
        self.assertEqual(record.load(record.committed("6.12", self.layout)), {"ltp": self.RESULT})
        self.assertIn("--only ltp", record.page("6.12", self.layout).read_text())


class CommandTest(unittest.TestCase):
    def test_an_unknown_suite_is_refused(self) -> None:
        self.assertEqual([suite.name for suite in outside_tests.chosen("power")], ["power"])
        with self.assertRaises(Failure):
            outside_tests.chosen("power,nothing")

    def test_a_source_has_to_be_there(self) -> None:
        for name in outside_tests.SOURCES:
            self.assertEqual(outside_tests.sources({name: ""}), {})
            with self.assertRaises(Failure):
                outside_tests.sources({name: "/nowhere/source"})
        found = outside_tests.sources({"BLKTESTS": "/", "OTHER": "/"})
        self.assertEqual(found, {"BLKTESTS": Path("/")})
