# SPDX-License-Identifier: GPL-2.0
import unittest

from tidemark import console
from tidemark.report import Failure

# As the kernel prints them.
REPORTS = (
    "[    1.0] WARNING: CPU: 0 PID: 1 at mm/memcontrol.c:1 f+0x1/0x2",
    "[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000000",
    "[    1.0] Oops: Oops: 0000 [#1] PREEMPT SMP",
    "[    1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[    1.0] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-...D }",
    "[    1.0] rcu: INFO: rcu_preempt detected expedited stalls, but suppressed full report.",
    "[    1.0] rcu: INFO: rcu_sched self-detected stall on CPU",
    "[    1.0] INFO: task dd:51 blocked for more than 120 seconds.",
    "[    1.0] INFO: task dd:51 blocked in I/O wait for more than 120 seconds.",
    "[    1.0] WARNING: possible circular locking dependency detected",
    "[    1.0] WARNING: suspicious RCU usage",
    "[    1.0] BUG: sleeping function called from invalid context at mm/x.c:1",
    "[    1.0] BUG: KASAN: slab-use-after-free in f+0x1/0x2",
    "[    1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [dd:51]",
    "[    1.0] Kernel panic - not syncing: Attempted to kill init!",
    "[    1.0] list_del corruption. prev->next should be 1, but was 2",
    "[    1.0] Out of memory: Killed process 51 (dd) total-vm:1kB",
    "[    1.0] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
)
ORDINARY = (
    "[    0.0] Linux version 6.12.117 (tidemark@tidemark)",
    "[    0.1] Spectre V2 : Mitigation: Retpolines",
    "[    0.2] rcu: 	RCU restricting CPUs from NR_CPUS=64 to nr_cpu_ids=2.",
    "[    0.3] EXT4-fs (vda): mounted filesystem with ordered data mode",
    "[    0.4] ok 1 memcg_dirty",
    "[    0.5] kmemleak: Kernel memory leak detector initialized",
)


class ConsoleTest(unittest.TestCase):
    def test_every_kind_of_report_is_found(self) -> None:
        for line in REPORTS:
            with self.subTest(line):
                self.assertEqual(console.complaints([*ORDINARY, line]), [line])

    def test_ordinary_lines_are_no_reports(self) -> None:
        self.assertEqual(console.complaints(ORDINARY), [])

    def test_a_report_fails_the_run_and_is_shown(self) -> None:
        outcome = console.Outcome(["ok 1 a"], [*ORDINARY, REPORTS[0], "Call Trace:"], 0)
        with self.assertRaises(Failure) as caught:
            console.require_quiet(outcome)
        self.assertEqual(caught.exception.detail, (REPORTS[0], "Call Trace:"))

    def test_a_guest_that_ended_early_fails_the_run(self) -> None:
        with self.assertRaises(Failure):
            console.require_quiet(console.Outcome([], list(ORDINARY), None))
        console.require_quiet(console.Outcome([], list(ORDINARY), 0))
