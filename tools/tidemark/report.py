# SPDX-License-Identifier: GPL-2.0
"""Messages to the user. They go to stderr: stdout carries only a command's result."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

LOG_INTERVAL = 10.0
TTY_INTERVAL = 1.0
WORTH_A_CLOSING_LINE = 3.0
CLEAR_LINE = "\r\x1b[K"


class Failure(Exception):
    """An expected failure: one line with the reason, and detail where it helps."""

    def __init__(self, message: str, detail: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.detail = tuple(detail)


def progress(text: str) -> None:
    print(f"tidemark: {text}", file=sys.stderr, flush=True)


def warning(text: str) -> None:
    progress(f"warning: {text}")


def failure(error: Failure) -> None:
    progress(f"error: {error.message}")
    for line in error.detail:
        print(f"  {line}", file=sys.stderr)
    sys.stderr.flush()


def elapsed(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _tick(text: str) -> None:
    if sys.stderr.isatty():
        print(f"{CLEAR_LINE}tidemark: {text}", end="", file=sys.stderr, flush=True)
    else:
        progress(text)


@contextmanager
def working(what: str, measure: Callable[[], str] | None = None) -> Iterator[None]:
    """Announce a long step and show that it is alive: in place on a terminal, else line by line."""
    start = time.monotonic()
    finished = threading.Event()

    def state() -> str:
        parts = [measure()] if measure else []
        return ", ".join([*parts, elapsed(time.monotonic() - start)])

    def watch() -> None:
        interval = TTY_INTERVAL if sys.stderr.isatty() else LOG_INTERVAL
        while not finished.wait(interval):
            _tick(f"{what}: {state()}")

    progress(f"{what} ...")
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
        if sys.stderr.isatty():
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
    if time.monotonic() - start >= WORTH_A_CLOSING_LINE:
        progress(f"{what}: done, {elapsed(time.monotonic() - start)}")
