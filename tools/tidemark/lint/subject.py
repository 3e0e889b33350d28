# SPDX-License-Identifier: GPL-2.0
"""The subject of all checks: the series of one base, and its patched tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base import Base
from ..hooks import Hook, overlay_of
from ..layout import Layout
from ..series import Series
from ..tree import Tree

CODE = (".c", ".h")


@dataclass(frozen=True)
class Subject:
    base: Base
    tree: Tree
    series: Series
    layout: Layout

    @property
    def hooks(self) -> Sequence[Hook]:
        return self.series.hooks

    @property
    def overlay(self) -> list[str]:
        """Our files: the tree has those that its hooks name, and no others."""
        return sorted(overlay_of(self.hooks))

    def new_code(self) -> list[str]:
        """Our C files."""
        return [path for path in self.overlay if path.endswith(CODE)]

    def touched(self) -> list[str]:
        """Upstream's files with hooks in them."""
        return sorted({diff.path for hook in self.hooks for diff in hook.diffs})

    def in_tree(self, path: str) -> str:
        """A path from a tool's output, relative to the kernel tree."""
        absolute = Path(path)
        if absolute.is_absolute() and absolute.is_relative_to(self.tree.path):
            return str(absolute.relative_to(self.tree.path))
        return path.removeprefix("./")
