# SPDX-License-Identifier: GPL-2.0
"""A soak: how long, and the verdict on the guest's lines."""

from dataclasses import replace

from tidemark import console, results, soak, soak_record
from tidemark.report import Failure
from tidemark.soak_record import LEAST_CHECKS, Record

from . import fake
from .test_lockdep import CYCLE, HEADER, KNOWN, report

BAD = "bad 77 10 10 0 0 9 9 0 0"
LOADS = "load restart=12 rewrite-1=3 rewrite-2=4 oom=2 "


def check(number: int = 1, **changed: int) -> str:
    figures = {"seconds": 60 * number, "agree": 40, "moved": 1, "bad": 0, "dirty": 900}
    figures |= {"largest": 800, "tries": 1, "dying": 3, "MemFree": 900000, "Slab": 90000}
    figures |= {"SUnreclaim": 50000, "Percpu": 3000, "KernelStack": 2000, **changed}
    return "check " + " ".join(f"{name}={value}" for name, value in figures.items())


def record(*checks: str, loads: str = LOADS) -> Record:
    return Record("vm", "6.12.99", 360, [*checks, loads, "total oom_kill=5", check(9)], [])


class VerdictTest(fake.Case):
    def faults(self, *checks: str, loads: str = LOADS) -> list[str]:
        return soak_record.faults(record(*checks, loads=loads))

    def test_good(self) -> None:
        self.assertEqual(self.faults(check(), check(2)), [])

    def test_count_that_is_wrong(self) -> None:
        self.assertEqual(self.faults(BAD, check(bad=1)), [BAD])

    def test_report_on_the_console(self) -> None:
        told = replace(record(check()), reports=["BUG: x"])
        self.assertEqual(soak_record.faults(told), ["BUG: x"])

    def test_the_known_cycle_of_lockdep_is_no_fault(self) -> None:
        outcome = console.Outcome(["check"], report(CYCLE), 0)
        self.assertEqual(soak.judged(outcome, KNOWN), (["check"], []))
        self.assertEqual(soak.judged(outcome, ()), (["check"], [HEADER]))

    def test_nothing_was_checked(self) -> None:
        self.assertIn("check 2: no cgroup", self.faults(check(), check(2, agree=0))[0])
        self.assertIn("did not check", self.faults()[0])

    def test_load_that_does_not_run(self) -> None:
        many = [check()] * LEAST_CHECKS
        self.assertIn("load oom", self.faults(*many, loads="load restart=1 oom=0 ")[0])
        self.assertEqual(self.faults(check(), loads="load restart=1 oom=0 "), [])
        self.assertIn("pswpout", self.faults(check(), "total pswpout=0")[0])
        self.assertIn("did not report", self.faults(check(), loads="")[0])

    def test_cgroups_that_stay(self) -> None:
        lines = [check(), LOADS, check(2, dying=soak_record.MOST_DYING + 1)]
        left = replace(record(), lines=lines)
        self.assertIn("9 removed cgroups", soak_record.faults(left)[0])

    def test_memory_that_grows(self) -> None:
        def grown(count: int, kib: int) -> list[str]:
            return self.faults(*(check(n, SUnreclaim=50000 + n * kib) for n in range(count)))

        limit = soak_record.GROWTH_MIB * 1024 // (LEAST_CHECKS // 2)
        self.assertEqual(grown(LEAST_CHECKS, limit - 1), [])
        self.assertIn("memory grew by 10.", grown(LEAST_CHECKS, limit + 1)[0])
        self.assertEqual(grown(LEAST_CHECKS - 1, 10 * limit), [])

    def test_the_first_quarter_fills_a_quarantine(self) -> None:
        def after(quiet: int, kib: int) -> list[str]:
            used = [50000] * quiet + [50000 + kib] * (LEAST_CHECKS - quiet)
            return self.faults(*(check(n, SUnreclaim=kib) for n, kib in enumerate(used)))

        self.assertEqual(after(LEAST_CHECKS // 4, 64 << 10), [])
        self.assertIn("memory grew by 64.", after(LEAST_CHECKS // 2, 64 << 10)[0])


class TextTest(fake.Case):
    def test_figures(self) -> None:
        text = "\n".join(soak_record.text(record(BAD, check(bad=1), check(2, dying=44))))
        for label, value in (
            ("counts compared with pages", "121"),
            ("counts that are wrong", "1"),
            ("most dying cgroups", "44"),
            ("dying cgroups a minute after the loads", "3"),
            ("growth of the kernel's memory, MiB", "0.0"),
            ("rounds of rewrite", "7"),
            ("oom_kill", "5"),
        ):
            self.assertRegex(text, rf"{label} +{value}\n")
        self.assertIn("3 checks, 1 faults", text)

    def test_page(self) -> None:
        self.write("README.md", "")
        soak_record.store(soak_record.path("6.12", self.layout), {"vm": record(check())})
        results.take("6.12", self.layout)
        soak_record.path("6.12", self.layout).unlink()
        debug = replace(record(check()), flavour="debug")
        soak_record.store(soak_record.path("6.12", self.layout), {"debug": debug})
        results.take("6.12", self.layout)
        page = soak_record.page("6.12", self.layout).read_text()
        self.assertIn("## `make soak HOURS=0.1 FLAVOUR=vm`", page)
        self.assertIn("## `make soak HOURS=0.1 FLAVOUR=debug`", page)

    def test_file_of_another_kind(self) -> None:
        file = self.write("build/results/soak-6.12.json", '{"vm": {"x": 1}}')
        with self.assertRaises(Failure) as caught:
            soak_record.load(file)
        self.assert_fails(caught.exception, "not a soak")


class HoursTest(fake.Case):
    def test_hours(self) -> None:
        self.assertEqual(soak.seconds("0.1"), 360)
        self.assertEqual(soak.seconds("4"), 14400)

    def test_bad_hours(self) -> None:
        for value in ("", "x", "0", "-1", "nan", "inf", "4h", "1000"):
            with self.subTest(value), self.assertRaises(Failure) as caught:
                soak.seconds(value)
            self.assert_fails(caught.exception, f"HOURS={value}")
