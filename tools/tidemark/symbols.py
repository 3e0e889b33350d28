# SPDX-License-Identifier: GPL-2.0
"""Config options of ours: those of the fragments that Kconfig sources, and those in hooks."""

import re
from collections.abc import Collection, Sequence

from .hooks import Hook
from .layout import Layout
from .report import Failure

# With a prompt: no fragment can set an option that others select.
SYMBOL = re.compile(r'^(?:menu)?config\s+(\w+)\n\t(?:bool|tristate|int|hex|string) "', re.M)
SOURCE = re.compile(r'^source "([^"]+)"$', re.M)


def sourced(layout: Layout) -> list[str]:
    """The fragments that the top-level Kconfig names."""
    top = layout.kconfig
    found = SOURCE.findall(top.read_text()) if top.is_file() else []
    for path in found:
        if not (layout.root / path).is_file():
            raise Failure(f"{layout.relative(top)}: {path}: no such file")
    return found


def ours(layout: Layout, hooks: Sequence[Hook], paths: Collection[str] | None = None) -> set[str]:
    """Options that a pristine kernel cannot have.

    They are those of some hooks, with the fragments among some paths, or all of them.
    """
    found: set[str] = set()
    for path in sourced(layout):
        if paths is None or path in paths:
            found.update(SYMBOL.findall((layout.root / path).read_text()))
    for hook in hooks:
        found.update(SYMBOL.findall("\n".join(hook.added_lines())))
    return found
