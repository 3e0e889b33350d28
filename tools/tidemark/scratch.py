# SPDX-License-Identifier: GPL-2.0
"""Temporary directories and files that become visible only when they are complete."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PREFIX = ".tidemark-"


@contextmanager
def directory(parent: Path) -> Iterator[Path]:
    """A directory beside its destination, gone at the end; call with the build lock held.

    What a killed run left behind goes first.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for stale in parent.glob(f"{PREFIX}*"):
        shutil.rmtree(stale)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent) as path:
        yield Path(path)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(json.dumps(content, indent=2) + "\n")
    draft.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """The record, or an empty one when there is none or it was cut short."""
    try:
        content = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
