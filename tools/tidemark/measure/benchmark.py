# SPDX-License-Identifier: GPL-2.0
"""The definition of a benchmark: its guests, their kernels, and the reader of their output."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..report import Failure

FIGURE = re.compile(r"figure (\S+) (\S+) (.+)")
SAMPLE = re.compile(r"sample (\S+) (\S+) (.+)")


@dataclass(frozen=True)
class Variant:
    """A column of the tables: one of the two kernels, and its settings."""

    name: str
    pristine: bool = False
    parameters: tuple[str, ...] = ()


BASE = Variant("base", pristine=True)
PATCHED = Variant("patched")
# The unpatched kernel once more: a difference to it is noise.
AGAIN = Variant("again", pristine=True)


@dataclass(frozen=True)
class Setting:
    """A boot. Its name begins the names of its rows."""

    name: str = ""
    parameters: tuple[str, ...] = ()
    memory_mib: int = 1024
    cpus: int = 2


@dataclass(frozen=True)
class OldSeries:
    """The source of the old series' figures, and these figures by row."""

    source: str
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """The results of one boot: for each row of a variant its unit and values, and its curves."""

    rows: dict[tuple[str, str], tuple[str, list[float]]] = field(default_factory=dict)
    curves: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, variant: str, row: str, unit: str, value: float) -> None:
        self.rows.setdefault((variant, row), (unit, []))[1].append(value)

    def add_point(self, variant: str, curve: str, x: float, y: float) -> None:
        self.curves.setdefault((variant, curve), []).append((x, y))


def read_figures(variant: str, setting: str, lines: Sequence[str]) -> Reading:
    """`figure VALUE UNIT ROW` and `sample X Y CURVE`; any other line is an error of the guest."""
    reading = Reading()
    prefix = f"{setting}: " if setting else ""
    for line in lines:
        try:
            if found := FIGURE.fullmatch(line):
                reading.add(variant, prefix + found[3], found[2], float(found[1]))
            elif found := SAMPLE.fullmatch(line):
                point = float(found[1]), float(found[2])
                reading.add_point(variant, prefix + found[3], *point)
            else:
                raise ValueError
        except ValueError as error:
            text = f"the guest printed a line that is no result: {line}"
            raise Failure(text) from error
    return reading


@dataclass(frozen=True)
class Benchmark:
    """Boots each variant in each setting several times, and collects the results in one table.

    Under icount, guest time counts instructions; otherwise the guest has a slow disk, and time
    is the host's. Then guests run one at a time, but for those that mostly wait for the disk. The
    headline is a pattern for the rows that the report plots. The reader of the results may add
    columns to those of the variants. With many variants there is a table for each scene, and one
    plot of all. One that is for NAME= only is left out when all run.
    """

    name: str
    title: str
    about: str
    minutes: int
    program: str
    headline: str
    variants: tuple[Variant, ...] = (BASE, PATCHED)
    further_columns: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = (Setting(),)
    boots: int = 5
    icount: bool = True
    parameters: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    old_series: OldSeries | None = None
    plotted: tuple[str, ...] = ()
    by_scene: bool = False
    by_name_only: bool = False
    parallel: bool = False
    read: Callable[[str, str, Sequence[str]], Reading] = read_figures

    def of_base_alone(self) -> "Benchmark":
        return replace(self, variants=(BASE, AGAIN), further_columns=())

    def is_telling(self, row: str) -> bool:
        return bool(re.fullmatch(self.headline, row))

    @property
    def column_names(self) -> list[str]:
        return [*(variant.name for variant in self.variants), *self.further_columns]


def null_blk(disks: int = 1, *more: str) -> tuple[str, ...]:
    """Kernel parameters for disks whose time is the guest's."""
    words = (f"nr_devices={disks}", "bs=4096", "queue_mode=2", "submit_queues=1", *more)
    return tuple(f"null_blk.{word}" for word in words)


def _memory_disk(*more: str) -> tuple[str, ...]:
    return (*null_blk(1, "gb=2", "memory_backed=1", "no_sched=1", *more), "bench.disk=ext4")


MEMORY_DISK = _memory_disk("irqmode=0")


def slow_memory_disk(mbps: int) -> tuple[str, ...]:
    """Kernel parameters for a disk with ext4 that stores some MB/s of the guest's time."""
    return _memory_disk("irqmode=2", f"mbps={mbps}")
