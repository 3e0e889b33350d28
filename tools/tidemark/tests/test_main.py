# SPDX-License-Identifier: GPL-2.0
"""The command line: bad values, and the message of a failure."""

import argparse
import contextlib
import fcntl
import importlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

from tidemark import __main__ as command
from tidemark import kernel, lock
from tidemark.report import Failure


class MainTest(unittest.TestCase):
    def dispatch(self, *argv: str) -> argparse.Namespace:
        module = types.ModuleType("tidemark.run")
        received = mock.Mock(return_value=0)
        module.main = received  # type: ignore[attr-defined]
        with mock.patch("importlib.import_module", return_value=module):
            self.assertEqual(command.dispatch(["run", *argv]), 0)
        args: argparse.Namespace = received.call_args.args[0]
        return args

    def test_values_are_checked_and_converted(self) -> None:
        args = self.dispatch("--base", "6.12", "--linux", "", "--pristine", "1")
        self.assertEqual((args.base, args.linux, args.pristine), ("6.12", None, True))
        self.assertFalse(self.dispatch("--pristine", "0").pristine)
        with tempfile.TemporaryDirectory() as path:
            self.assertEqual(self.dispatch("--linux", path).linux, Path(path).resolve())

    def test_bad_values(self) -> None:
        for option, value, hint in (
            ("--base", "9.9", "6.12"),
            ("--base", "../6.12", "6.12"),
            ("--linux", "/nonexistent", "tarball"),
            ("--pristine", "maybe", "1, 0"),
            ("--unknown", "1", "unrecognized"),
        ):
            with self.subTest(option=option), self.assertRaises(Failure) as caught:
                self.dispatch(option, value)
            self.assertIn(value, caught.exception.message)
            self.assertIn(hint, caught.exception.message)

    def test_every_command_has_a_flavour(self) -> None:
        for name in command.COMMANDS:
            module = importlib.import_module(f"tidemark.{name.replace('-', '_')}")
            self.assertIn(getattr(module, "FLAVOUR", kernel.PLAIN), kernel.flavours(), name)

    def test_unknown_command(self) -> None:
        with self.assertRaises(Failure) as caught:
            command.dispatch(["nonsense"])
        self.assertIn("nonsense", caught.exception.message)

    def test_failures_are_told_on_stderr_without_a_traceback(self) -> None:
        for error, text in (
            (Failure("x is wrong", ["detail"]), "tidemark: error: x is wrong\n  detail\n"),
            (PermissionError(13, "No permission", "x"), "tidemark: error: x: No permission\n"),
        ):
            told = io.StringIO()
            with (
                mock.patch.object(command, "dispatch", side_effect=error),
                contextlib.redirect_stderr(told),
            ):
                self.assertEqual(command.main(), 1)
            self.assertEqual(told.getvalue(), text)


class LockTest(unittest.TestCase):
    PROBE = (
        "import pathlib; from tidemark import lock\nwith lock.hold(pathlib.Path({!r}), 'a/b'): 0"
    )

    def test_one_process_at_a_time(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            build = Path(name)
            probe = [sys.executable, "-c", self.PROBE.format(name)]
            tools = Path(command.__file__).parents[1]
            with lock.hold(build, "a/b"), lock.hold(build, "a/b"):
                other = subprocess.Popen(probe, cwd=tools, stderr=subprocess.PIPE, text=True)
                assert other.stderr
                self.assertIn(
                    "waiting for build/a/b, which is in use by `", other.stderr.readline()
                )
                self.assertIsNone(other.poll())
            self.assertEqual(other.wait(10), 0)
            other.stderr.close()

    def test_readers_share_and_artifacts_are_apart(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            build = Path(name)
            tools = Path(command.__file__).parents[1]
            shared = self.PROBE.replace("'a/b'", "'a/b', shared=True").format(name)
            apart = self.PROBE.replace("'a/b'", "'a/c'").format(name)
            with lock.hold(build, "a/b", shared=True):
                for probe in (shared, apart):
                    done = subprocess.run([sys.executable, "-c", probe], cwd=tools, timeout=10)
                    self.assertEqual(done.returncode, 0)
                with self.assertRaises(Failure), lock.hold(build, "a/b"):
                    pass

    def test_message_names_the_readers_that_are_left(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            build = Path(name)
            tools = Path(command.__file__).parents[1]
            shared = self.PROBE.replace("'a/b'", "'a/b', shared=True")
            # Like a command that finds its tree out of date: it reads, and then has to write.
            probe = f"{shared}; print('read', flush=True)\n{self.PROBE}".format(name, name)
            with lock.hold(build, "a/b", shared=True):
                other = subprocess.Popen(
                    [sys.executable, "-c", probe],
                    cwd=tools,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                assert other.stdout and other.stderr
                self.assertEqual(other.stdout.readline(), "read\n")
                told = other.stderr.readline()
                self.assertIn(f"(process {os.getpid()}) ...", told)
                self.assertNotIn(str(other.pid), told)
            self.assertEqual(other.wait(10), 0)
            other.stdout.close()
            other.stderr.close()


class KeepTest(unittest.TestCase):
    """A child keeps a guest's directory; so do the programs that it starts."""

    KEEP = "import pathlib; from tidemark import lock\nlock.keep(pathlib.Path({!r}), 'guest/a')\n"
    WAIT = "print('kept', flush=True); input()"
    ORPHAN = """
import subprocess
quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
child = subprocess.Popen(["sleep", "60"], pass_fds=lock.kept(), **quiet)
print(child.pid, flush=True)
"""
    NESTED = """
with lock.hold(pathlib.Path({!r}), 'kernel/b'):
    lock.keep(pathlib.Path({!r}), 'guest/b')
lock.keep(pathlib.Path({!r}), 'guest/b')
"""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.build = Path(directory.name)

    def start(self, program: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", self.KEEP.format(str(self.build)) + program],
            cwd=Path(command.__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, child: subprocess.Popen[str]) -> str:
        """Let the child end, and return its errors."""
        return child.communicate("\n", timeout=20)[1]

    def is_free(self, artifact: str) -> bool:
        """Whether another process could take the lock, which it takes and gives back."""
        path = self.build / lock.PLACE / artifact
        with path.open("r+") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    def started(self, program: str) -> tuple[subprocess.Popen[str], str]:
        """A child, and the line with which it says that it has the lock."""
        child = self.start(program)
        assert child.stdout
        return child, child.stdout.readline().strip()

    def test_second_process_fails_with_the_name_of_the_first(self) -> None:
        first, _ = self.started(self.WAIT)
        told = self.end(self.start(""))
        self.assertIn(f"build/guest/a is in use by `-c` (process {first.pid})", told)
        self.assertIn("try again later", told)
        self.assertEqual(self.end(first), "")
        self.assertEqual(self.end(self.start("")), "")

    def test_kept_until_the_process_ends_and_clean_waits(self) -> None:
        nested = self.NESTED.replace("{!r}", repr(str(self.build)))
        first, _ = self.started(nested + self.WAIT)
        for artifact, free in (
            ("guest-a", False),
            ("guest-b", False),
            ("kernel-b", True),
            (lock.ALL, False),
        ):
            self.assertEqual(self.is_free(artifact), free, artifact)
        self.assertEqual(self.end(first), "")
        self.assertTrue(self.is_free(lock.ALL))

    def test_an_orphan_keeps_it(self) -> None:
        first, pid = self.started(self.ORPHAN)
        try:
            self.assertEqual(self.end(first), "")
            told = self.end(self.start(""))
            self.assertIn("guest/a is in use by a guest that outlived its command", told)
            self.assertFalse(self.is_free(lock.ALL))
        finally:
            os.kill(int(pid), signal.SIGKILL)

    def test_threads_of_a_process_share_it(self) -> None:
        threads = """
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    keep = lambda n: lock.keep(pathlib.Path({!r}), f"guest/{n % 2}")
    list(pool.map(keep, range(64)))
    print(len(lock.kept()), flush=True)
"""
        first, count = self.started(threads.replace("{!r}", repr(str(self.build))))
        self.assertEqual(self.end(first), "")
        self.assertEqual(count, "4")
