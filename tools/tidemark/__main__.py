# SPDX-License-Identifier: GPL-2.0
"""Dispatches a command to the module of the same name and loads no other."""

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from . import base, kernel, report

COMMANDS = (
    *("base", "tree", "kernel", "deb", "run", "test", "shell", "bench", "results", "series"),
    *("patch", "port", "check-series", "lint", "matrix"),
    *("upstream-tests", "mutants", "outside-tests", "soak"),
    *("check-all", "check-harness", "clean"),
)
PRISTINE = {"": False, "0": False, "1": True}
INTERRUPTED = 130
TERMINATED = 143


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise report.Failure(f"{self.prog}: {message}")


def dispatch(argv: Sequence[str]) -> int:
    """Check the common variables, then call main() of the command's module.

    A module that has options of its own adds them in add_arguments(parser).
    """
    name = argv[0] if argv else ""
    if name not in COMMANDS:
        raise report.Failure(f"no such command: {name!r}; there is: {', '.join(COMMANDS)}")
    module = importlib.import_module(f"{__package__}.{name.replace('-', '_')}")
    parser = _Parser(prog=f"tidemark {name}", description=module.__doc__, allow_abbrev=False)
    parser.add_argument("--base", default=base.DEFAULT, help="one of bases/")
    parser.add_argument("--linux", default="", help="kernel tree, git checkout or tarball")
    parser.add_argument("--pristine", default="", help="1: the unpatched kernel")
    parser.add_argument("--flavour", default="", help="configuration of the guest")
    if hasattr(module, "add_arguments"):
        module.add_arguments(parser)
    args = parser.parse_args(argv[1:])
    base.read_recipe(args.base)
    args.linux = _linux(args.linux)
    if args.pristine not in PRISTINE:
        raise report.Failure(f"PRISTINE={args.pristine}: expected 1, 0 or nothing")
    args.pristine = PRISTINE[args.pristine]
    args.flavour = args.flavour or getattr(module, "FLAVOUR", kernel.PLAIN)
    if args.flavour not in kernel.flavours():
        there = ", ".join(kernel.flavours())
        raise report.Failure(f"FLAVOUR={args.flavour}: no such flavour; there is: {there}")
    return int(module.main(args))


def _linux(value: str) -> Path | None:
    if not value:
        return None
    path = Path(value).expanduser()
    if not path.exists():
        raise report.Failure(
            f"LINUX={value}: no such file or directory; "
            "it takes a kernel tree, a git checkout or a tarball"
        )
    return path.resolve()


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Turn a request to stop into an exception, so that child processes are stopped too."""
    sys.exit(TERMINATED)


def main() -> int:
    for request in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(request, _terminate)
    try:
        return dispatch(sys.argv[1:])
    except report.Failure as error:
        report.failure(error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        report.failure(report.Failure(f"{where}{error.strerror or error}"))
    except KeyboardInterrupt:
        report.progress("interrupted")
        return INTERRUPTED
    return 1


if __name__ == "__main__":
    sys.exit(main())
