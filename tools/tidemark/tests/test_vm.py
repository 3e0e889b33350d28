# SPDX-License-Identifier: GPL-2.0
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path
from unittest import mock

from tidemark import console, kbuild, lock, packages, vm
from tidemark.report import Failure


class RunTest(unittest.TestCase):
    """A shell script stands in for QEMU: it writes the output of a guest."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.log = self.place / "console.log"
        self.heard: list[str] = []

    def run_guest(self, script: str, timeout: float = 20, silence: float = 20) -> console.Outcome:
        qemu = self.place / "qemu"
        paths = f"log={self.log}\nresults={self.log.with_suffix('.results')}\n"
        qemu.write_text("#!/bin/sh\n" + paths + textwrap.dedent(script))
        qemu.chmod(0o755)
        machine = vm.Machine(Path("bzImage"), Path("initramfs"), "test")
        with mock.patch.object(packages, "locate", return_value=str(qemu)):
            return vm.run(machine, self.log, timeout, self.heard.append, silence)

    def test_results_console_and_status(self) -> None:
        outcome = self.run_guest(
            'echo booting > "$log"; printf "ok 1 a\\r\\nok 2 b\\ndone 3\\n" > "$results"'
        )
        self.assertEqual(outcome.results, ["ok 1 a", "ok 2 b"])
        self.assertEqual(outcome.console, ["booting"])
        self.assertEqual(outcome.status, 3)
        self.assertEqual(self.heard, ["ok 1 a", "ok 2 b"])

    def test_a_read_may_end_within_an_end_of_line(self) -> None:
        pause = vm.POLL_SECONDS * 3
        outcome = self.run_guest(
            f'printf "ok 1 a\\r" > "$results"; sleep {pause}; printf "\\ndone 0\\n" >> "$results"'
        )
        self.assertEqual(outcome.results, ["ok 1 a"])

    def test_a_guest_that_stops_early_has_no_status(self) -> None:
        outcome = self.run_guest('echo panic > "$log"; echo "ok 1 a" > "$results"')
        self.assertEqual(outcome.results, ["ok 1 a"])
        self.assertIsNone(outcome.status)

    def test_timeout_shows_the_last_results_and_the_end_of_the_console(self) -> None:
        script = 'echo "ok 1 a" > "$results"; echo "the last words" > "$log"; exec sleep 60'
        with self.assertRaises(Failure) as caught:
            self.run_guest(script, timeout=0.5)
        self.assertIn("did not finish within", caught.exception.message)
        shown = ("its results end with", "ok 1 a", "its console ends with", "the last words")
        self.assertEqual(caught.exception.detail, shown)

    def test_timeout_shows_the_first_report_too(self) -> None:
        """Ten tasks that wait for each other fill the end: the first one may be the cause."""
        hung = "INFO: task a:1 blocked for more than 120 seconds."
        filler = f"for i in $(seq {vm.LAST_WORDS}); do echo $i; done"
        with self.assertRaises(Failure) as caught:
            self.run_guest(f'{{ echo "{hung}"; {filler}; }} > "$log"; exec sleep 60', timeout=0.5)
        self.assertEqual(caught.exception.detail.count(hung), 1)

    def test_silence(self) -> None:
        words = 'for i in 1 2 3 4; do echo "ok $i" >> "$results"; sleep 0.5; done; exec sleep 60'
        with self.assertRaises(Failure) as caught:
            self.run_guest(words, silence=1.5)
        self.assertIn("did not say anything for", caught.exception.message)
        self.assertEqual(len(self.heard), 4)

    def test_abandoned_from_another_thread(self) -> None:
        ender = threading.Timer(0.5, vm.abandon)
        ender.start()
        self.assertIsNone(self.run_guest("exec sleep 60").status)
        ender.join()

    def test_qemu_inherits_the_locks_that_are_kept(self) -> None:
        with tempfile.TemporaryFile() as stream:
            fd = stream.fileno()
            with mock.patch.object(lock, "kept", return_value=(fd,)):
                outcome = self.run_guest(f'test -e /proc/$$/fd/{fd} && echo "done 0" > "$results"')
        self.assertEqual(outcome.status, 0)

    def test_qemu_that_does_not_start_is_quoted(self) -> None:
        with self.assertRaises(Failure) as caught:
            self.run_guest('echo "qemu: no such machine" >&2; exit 1')
        self.assertEqual(caught.exception.detail, ("qemu: no such machine",))


class CommandTest(unittest.TestCase):
    def test_kvm_only_when_asked_for(self) -> None:
        machine = vm.Machine(Path("k"), Path("i"), "run")
        self.assertIn("tcg,thread=single", vm.command(machine))
        self.assertNotIn("kvm", vm.command(machine))

    def test_the_tsc_is_trusted_under_icount_alone(self) -> None:
        cases = ((False, False, vm.TSC), (False, True, vm.ICOUNT_TSC), (True, True, vm.ICOUNT_TSC))
        for kvm, icount, word in cases:
            machine = vm.Machine(Path("k"), Path("i"), "run", kvm=kvm, icount=icount)
            self.assertIn(word, " ".join(vm.command(machine)))
        machine = vm.Machine(Path("k"), Path("i"), "run", kvm=True)
        self.assertNotIn("tsc=", " ".join(vm.command(machine)))

    def test_firmware_that_lists_all_cpus(self) -> None:
        for cpus, listed in ((2, False), (vm.SEABIOS_CPUS, False), (48, True)):
            machine = vm.Machine(Path("k"), Path("i"), "test", cpus=cpus)
            self.assertEqual("qboot.rom" in vm.command(machine), listed)

    def test_disks_share_a_slot_with_that_firmware(self) -> None:
        disks = [vm.Disk(Path("slow.img")), vm.Disk(Path("list.img"))]
        for cpus, places in ((vm.SEABIOS_CPUS, 0), (48, 2)):
            machine = vm.Machine(Path("k"), Path("i"), "test", disks, cpus=cpus)
            devices = [word for word in vm.command(machine) if word.startswith("virtio-blk-pci")]
            shared = [word for word in devices if f",{vm.SHARED_SLOT}." in word]
            self.assertEqual((len(set(devices)), len(shared)), (2, places))

    def test_the_timer_is_not_checked_by_a_clock_that_it_does_not_follow(self) -> None:
        for kvm, icount, unchecked in ((False, False, 1), (False, True, 0), (True, False, 0)):
            machine = vm.Machine(Path("k"), Path("i"), "run", kvm=kvm, icount=icount)
            line = " ".join(vm.command(machine))
            self.assertEqual(line.count("no_timer_check"), unchecked, line)

    def test_a_disk_is_throttled_or_read_only_as_told(self) -> None:
        disks = (vm.Disk(Path("slow.img"), 30_000_000), vm.Disk(Path("a.tar"), read_only=True))
        line = " ".join(vm.command(vm.Machine(Path("k"), Path("i"), "run", disks)))
        self.assertRegex(line, r"file=slow\.img,\S*throttling\.bps-total=30000000")
        self.assertRegex(line, r"file=a\.tar,\S*readonly=on")
        self.assertNotRegex(line, r"file=a\.tar,\S*throttling")

    def test_icount_never_meets_kvm(self) -> None:
        machine = vm.Machine(Path("k"), Path("i"), "bench", kvm=True, icount=True)
        line = " ".join(vm.command(machine))
        self.assertIn("-icount shift=1,sleep=off", line)
        self.assertIn("-accel tcg -cpu max,-rdrand", line)
        self.assertNotIn("kvm", line)


class SideBySideTest(unittest.TestCase):
    def test_side_by_side(self) -> None:
        meeting = threading.Barrier(2, timeout=9)

        def boot(mode: str) -> str:
            meeting.wait()
            return f"{mode} is done"

        with mock.patch.object(kbuild, "jobs", return_value=2):
            found = vm.side_by_side(boot, ["test", "dirty"])
        self.assertEqual(found, ["test is done", "dirty is done"])

    def test_an_error_in_one_guest_ends_the_other(self) -> None:
        ended = threading.Event()

        def boot(mode: str) -> None:
            if mode == "test":
                raise Failure("it hangs")
            self.assertTrue(ended.wait(9))

        with (
            mock.patch.object(kbuild, "jobs", return_value=2),
            mock.patch.object(vm, "abandon", side_effect=ended.set),
            self.assertRaisesRegex(Failure, "it hangs"),
        ):
            vm.side_by_side(boot, ["test", "dirty"])
