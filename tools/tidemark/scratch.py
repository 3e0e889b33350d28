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
LEVELS = 3


@contextmanager
def directory(parent: Path, name: str) -> Iterator[Path]:
    """A directory beside its destination, removed at the end; hold the destination's lock.

    Remove the files of a killed run first.
    """
    parent.mkdir(parents=True, exist_ok=True)
    prefix = f"{PREFIX}{name}@"
    for stale in parent.glob(f"{prefix}*"):
        shutil.rmtree(stale)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as path:
        yield Path(path)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(_lines(content, LEVELS) + "\n")
    draft.replace(path)


def _lines(value: object, levels: int, indent: str = "") -> str:
    """A line for each element of the outer levels; below them, an element is one line."""
    if not levels or not isinstance(value, dict | list) or not _is_nested(value):
        return json.dumps(value)
    inner = f"{indent}  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}: {_lines(v, levels - 1, inner)}" for k, v in value.items()]
        brackets = ("{", "}")
    else:
        parts = [_lines(element, levels - 1, inner) for element in value]
        brackets = ("[", "]")
    body = ",\n".join(f"{inner}{part}" for part in parts)
    return f"\n{body}\n{indent}".join(brackets)


def _is_nested(value: dict[str, Any] | list[Any]) -> bool:
    """Lists of numbers and strings stay on their line."""
    if isinstance(value, dict):
        return bool(value)
    return any(isinstance(element, dict | list) for element in value)


def read_json(path: Path) -> dict[str, Any]:
    """The record, or an empty one if there is none or it is truncated."""
    try:
        content = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
