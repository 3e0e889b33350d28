# SPDX-License-Identifier: GPL-2.0
"""Config fragments: the options that they set, and whether Kconfig accepted them."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .layout import Layout
from .report import Failure

SET = re.compile(r"CONFIG_(\w+)=(.+)")
UNSET = re.compile(r"# CONFIG_(\w+) is not set")


@dataclass(frozen=True)
class Wish:
    option: str
    value: str
    fragment: str


def read(fragments: Iterable[Path], layout: Layout) -> dict[str, Wish]:
    """The options of all fragments: a later fragment overrides an earlier one."""
    wishes: dict[str, Wish] = {}
    for path in fragments:
        name = layout.relative(path)
        if not path.is_file():
            raise Failure(f"{name}: no such config fragment")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.strip()
            if found := _option(line):
                wishes[found[0]] = Wish(*found, name)
            elif line and (not line.startswith("#") or line.startswith("# CONFIG_")):
                raise Failure(f"{name}:{number}: not a config option: {line}")
    return wishes


def merged(wishes: Mapping[str, Wish]) -> str:
    """One file for KCONFIG_ALLCONFIG."""
    return "".join(f"CONFIG_{wish.option}={wish.value}\n" for wish in wishes.values())


def parse(text: str) -> dict[str, str]:
    """The options of a .config."""
    found = (_option(line) for line in text.splitlines())
    return dict(option for option in found if option)


def verify(
    wishes: Mapping[str, Wish], config: Mapping[str, str], excepted: Collection[str] = ()
) -> None:
    """Kconfig silently drops options that it does not know or whose dependencies are not met."""
    refused = [
        f"CONFIG_{wish.option}: asked for {wish.value}, got {config.get(wish.option, 'nothing')}"
        f" ({wish.fragment})"
        for wish in wishes.values()
        if config.get(wish.option, "n") != wish.value and wish.option not in excepted
    ]
    if refused:
        what = "1 config option is" if len(refused) == 1 else f"{len(refused)} config options are"
        raise Failure(f"{what} not as the fragments set them: {refused[0]}", refused[1:])


def _option(line: str) -> tuple[str, str] | None:
    if found := SET.fullmatch(line):
        return found[1], found[2]
    if found := UNSET.fullmatch(line):
        return found[1], "n"
    return None
