# SPDX-License-Identifier: GPL-2.0
import unittest

from tidemark import base, console, lockdep
from tidemark.report import Failure

KNOWN = lockdep.parse("&q->mutex by activate, &q->counter(io) by alloc_queue, fs_reclaim by prep")
Cycle = dict[str, tuple[str, ...]]
HEADER = f"[   57.780605] {lockdep.HEADER}"
CYCLE: Cycle = {
    "&q->mutex": ("__mutex_lock", "activate"),
    "&q->counter(io)#9": ("alloc_queue", "probe"),
    "fs_reclaim": ("lock_acquire", "prep", "set_limit.isra.0"),
}


def report(cycle: Cycle) -> list[str]:
    """As the kernel prints one, as far as it matters."""
    lines = [HEADER, "[   57.780950] 7.3.4 #1 Not tainted"]
    for number, (lock, functions) in reversed(list(enumerate(reversed(cycle.items())))):
        lines.append(f"[   57.783272] -> #{number} ({lock}){{+.+.}}-{{4:4}}:")
        lines += [f"[   57.783628]        {function}+0x18d/0x1e60" for function in functions]
    lines += [f"[   57.791619] {lockdep.END_OF_CYCLE}", "[   57.791783] Chain exists of:"]
    return [*lines, "[   57.793971] stack backtrace:", "[   57.796037]  write+0x1c0/0x730"]


def complaints(lines: list[str]) -> list[str]:
    return console.complaints(lockdep.without_known(lines, KNOWN))


class LockdepTest(unittest.TestCase):
    def test_the_known_cycle_is_no_complaint(self) -> None:
        self.assertEqual(complaints(report(CYCLE)), [])

    def test_it_is_one_where_nothing_is_known(self) -> None:
        self.assertEqual(lockdep.parse(""), ())
        self.assertIn(HEADER, lockdep.without_known(report(CYCLE), ()))
        self.assertIn(HEADER, lockdep.without_known([HEADER], ()))

    def test_another_cycle_is_a_complaint(self) -> None:
        others: tuple[Cycle, ...] = (
            {**CYCLE, "fs_reclaim": ("lock_acquire", "balance_dirty_pages")},
            {**CYCLE, "memcg_dirty_lock": ("memcg_dirty_set",)},
            {"memcg_dirty_lock": ("memcg_dirty_set",), **CYCLE},
            {lock: CYCLE[lock] for lock in ("&q->mutex", "fs_reclaim")},
            dict(reversed(CYCLE.items())),
        )
        for cycle in others:
            with self.subTest(cycle):
                self.assertEqual(complaints(report(cycle)), [HEADER])

    def test_each_report_counts_by_itself(self) -> None:
        other = report({"a": ("f",), "b": ("g",)})
        self.assertEqual(complaints([*report(CYCLE), *other]), [HEADER])
        self.assertEqual(complaints([*other, *report(CYCLE)]), [HEADER])

    def test_a_report_that_is_cut_off_counts(self) -> None:
        self.assertEqual(complaints(report(CYCLE)[:6]), [HEADER])
        self.assertEqual(complaints([*report(CYCLE)[:6], *report(CYCLE)]), [HEADER])

    def test_other_trouble_within_a_report_counts(self) -> None:
        lines = report(CYCLE)
        lines.insert(3, "[   57.783272] BUG: KASAN: slab-use-after-free in f+0x1/0x2")
        self.assertEqual(complaints(lines), [lines[3]])

    def test_what_bases_say(self) -> None:
        for name in base.names():
            lockdep.parse(base.read_recipe(name).lockdep)
        for text in ("fs_reclaim", "by prep", "a by b c", "a by b; c by d"):
            with self.subTest(text), self.assertRaises(Failure):
                lockdep.parse(text)
