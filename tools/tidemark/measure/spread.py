# SPDX-License-Identifier: GPL-2.0
"""Medians, their spread, and ratios that are printed only if the spread allows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# If the noise is larger than this, "no difference" would claim too much.
FINE = 0.01


@dataclass(frozen=True)
class Summary:
    """The median of several boots, and (largest - smallest) / median."""

    median: float
    spread: float | None
    count: int

    @property
    def noise(self) -> float | None:
        """The error bound of the median: fewer boots show less of the spread."""
        if self.spread is None:
            return None
        return self.spread * (1 + 2 / (self.count - 1))


def summary(values: Sequence[float]) -> Summary:
    """One boot has no spread, and a median of 0 has none unless all are 0."""
    middle = median(values)
    width = max(values) - min(values)
    count = len(values)
    if count < 2 or (middle == 0 and width):
        return Summary(middle, None, count)
    return Summary(middle, width / abs(middle) if width else 0.0, count)


def noise(base: Summary, ours: Summary) -> float | None:
    """The error bound of a ratio."""
    if base.noise is None or ours.noise is None:
        return None
    return max(base.noise, ours.noise)


def ratio(base: Summary, ours: Summary) -> float | None:
    """Patched to unpatched: 1 if the two do not differ, None if the noise hides the ratio.

    A difference no larger than the noise is not printed. The ratios 0.5 and 2 differ from 1
    equally.
    """
    limit = noise(base, ours)
    if limit is None or base.median == 0 or ours.median == 0:
        return None
    value = ours.median / base.median
    if max(value, 1 / value) - 1 > limit:
        return value
    return 1.0 if limit <= FINE else None
