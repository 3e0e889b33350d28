# SPDX-License-Identifier: GPL-2.0
"""Builds a suite that Debian does not package, in a copy of the source that the user gives."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from .. import process, scratch, sources
from ..layout import REPOSITORY, Layout
from ..report import Failure, working
from .suite import Missing, Wish

Steps = Sequence[Sequence[str]]


def given(wish: Wish, variable: str, suite: str) -> Path:
    """The path of a suite's source, from the variable that the user sets."""
    if path := wish.sources.get(variable):
        return path
    raise Missing(f"{variable}=path names a checkout or a tarball of {suite}")


def obtain(variable: str, path: Path, steps: Steps, layout: Layout = REPOSITORY) -> Path:
    """The top of a built copy below build/outside, the same one until source or steps change.

    The steps are commands that run at the top, one after the other.
    """
    source = sources.at_path(path, variable)
    name = variable.lower()
    place = layout.build / "outside"
    stamp = place / f"{name}.json"
    wanted = {"key": source.key, "steps": [list(step) for step in steps]}
    record = scratch.read_json(stamp)
    top = place / str(record.pop("top", name))
    if record == wanted and top.is_dir():
        return top
    stamp.unlink(missing_ok=True)
    into = place / name
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    with working(f"building {variable}"):
        top = source.unpack(into)
        _build(top, steps, place / f"{name}.log", layout)
    scratch.write_json(stamp, wanted | {"top": str(top.relative_to(place))})
    return top


def _build(top: Path, steps: Steps, log: Path, layout: Layout) -> None:
    log.unlink(missing_ok=True)
    for step in steps:
        if process.logged(["env", "-C", str(top), *step], log, process.environment()):
            raise Failure(f"{layout.relative(log)}: `{' '.join(step)}` failed")
