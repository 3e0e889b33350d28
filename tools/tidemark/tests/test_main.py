# SPDX-License-Identifier: GPL-2.0
"""The command line: bad values, and the message of a failure."""

import argparse
import contextlib
import importlib
import io
import os
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
