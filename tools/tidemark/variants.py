# SPDX-License-Identifier: GPL-2.0
"""Configurations of the guest kernel: each option of ours off and alone, and all on."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from .config import Wish

TEST = "_KUNIT_TEST"
NOBODY = "a variant"


def of(options: Collection[str]) -> dict[str, frozenset[str]]:
    """The options that each variant turns on, with their KUnit tests."""
    features = sorted(option for option in options if not option.endswith(TEST))
    wanted = {"none": frozenset[str](), "all": frozenset(options)}
    for feature in features:
        tests = {feature, f"{feature}{TEST}"}.intersection(options)
        wanted[f"only-{feature.lower().replace('_', '-')}"] = frozenset(tests)
    distinct: dict[str, frozenset[str]] = {}
    for name, chosen in wanted.items():
        if chosen not in distinct.values():
            distinct[name] = chosen
    return distinct


def wishes(
    fragments: Mapping[str, Wish], ours: Collection[str], chosen: Collection[str]
) -> dict[str, Wish]:
    """The options of the fragments, with only the chosen ones of ours.

    Options of ours that the kernel does not have yet must not be among `ours`.
    """
    asked = dict(fragments)
    for option in ours:
        known = asked.get(option, Wish(option, "n", NOBODY))
        asked[option] = replace(known, value="y" if option in chosen else "n")
    return asked
