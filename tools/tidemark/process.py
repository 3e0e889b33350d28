# SPDX-License-Identifier: GPL-2.0
"""Runs other programs so that they behave the same for every caller."""

import os
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from .report import Failure

KEPT = ("PATH", "HOME", "TMPDIR")
KEPT_PREFIXES = ("CCACHE_",)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Keep the variables that programs need, and drop those that steer them, such as MAKEFLAGS.

    The kernel's Python tools must not leave their byte code in the prepared tree.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or name.startswith(KEPT_PREFIXES)
    }
    return {**kept, "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}


def output(
    argv: Sequence[str | Path], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Return the program's output; a failure has its error messages."""
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
    except FileNotFoundError as error:
        raise Failure(f"{argv[0]}: command not found") from error
    if done.returncode:
        raise Failure(
            f"`{_line(argv)}` failed with status {done.returncode}", done.stderr.splitlines()[-20:]
        )
    return done.stdout


def answer(argv: Sequence[str | Path], question: str) -> str:
    """Return the program's output for this input."""
    done = subprocess.run(argv, env=environment(), input=question, capture_output=True, text=True)
    if done.returncode:
        raise Failure(
            f"`{_line(argv)}` failed with status {done.returncode}", done.stderr.splitlines()[-20:]
        )
    return done.stdout


def attempt(argv: Sequence[str | Path], cwd: Path) -> int:
    """Run a program that writes files, and return its status."""
    return subprocess.run(
        argv, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, capture_output=True
    ).returncode


def pipe(first: Sequence[str | Path], second: Sequence[str | Path]) -> None:
    """Run `first | second`, and fail when either does."""
    with (
        subprocess.Popen(first, env=environment(), stdout=subprocess.PIPE) as producer,
        subprocess.Popen(second, env=environment(), stdin=producer.stdout) as consumer,
    ):
        if producer.stdout:
            producer.stdout.close()
        results = ((first, producer.wait()), (second, consumer.wait()))
    for argv, status in results:
        if status:
            raise Failure(f"`{_line(argv)}` failed with status {status}")


def filtered(argv: Sequence[str | Path], source: BinaryIO, sink: BinaryIO, cwd: Path) -> None:
    """Run `argv < source > sink` in a directory."""
    done = subprocess.run(
        argv, cwd=cwd, env=environment(), stdin=source, stdout=sink, stderr=subprocess.PIPE
    )
    if done.returncode:
        complaint = done.stderr.decode(errors="replace").splitlines()[-20:]
        raise Failure(f"`{_line(argv)}` failed with status {done.returncode}", complaint)


def logged(
    argv: Sequence[str | Path],
    log: Path,
    env: Mapping[str, str],
    keep_open: Collection[int] = (),
    timeout: float | None = None,
) -> int:
    """Append the program's output to a log and return its status.

    Kill it if this process ends, or at the timeout (subprocess.TimeoutExpired).

    It runs in a process group of its own, so that a whole tree of sub-makes can be stopped.
    """
    with log.open("ab") as sink:
        child = subprocess.Popen(
            argv,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            process_group=0,
            pass_fds=tuple(keep_open),
        )
        try:
            return child.wait(timeout)
        except BaseException:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait()
            raise


def _line(argv: Sequence[str | Path]) -> str:
    return " ".join(str(word) for word in argv)
