# SPDX-License-Identifier: GPL-2.0
"""Dirty limits: their cost and their effect (Greg Thelen's series of 2010 and 2011)."""

from collections.abc import Sequence

from .. import run
from .benchmark import (
    BASE,
    MEMORY_DISK,
    PATCHED,
    Benchmark,
    OldSeries,
    Reading,
    Setting,
    Variant,
    slow_memory_disk,
)

MIB = 1 << 20
LIMITED = "limited"
# CPUs hold back 64 pages under the one, and none under the other.
LARGE, SMALL = "512M", "64M"

FAULTS_OLD = OldSeries(
    "[PATCH v5 0/9] memcg: per cgroup dirty page accounting, 2011-02-25;\n"
    "  million faults per second on 16 CPUs, without -> with the patches",
    {
        "alone: root, read fault": "0.366 -> 0.347",
        "alone: root, write fault": "0.316 -> 0.322",
        "alone: child, read fault": "0.368 -> 0.342",
        "alone: child, write fault": "0.309 -> 0.323",
        "parallel: root, read fault": "0.342 -> 0.327",
        "parallel: root, write fault": "0.301 -> 0.303",
        "parallel: child, read fault": "0.347 -> 0.327",
        "parallel: child, write fault": "0.301 -> 0.305",
    },
)
UNPACK_OLD = OldSeries(
    "Greg Thelen, memcg: per cgroup dirty page accounting, 2010; without -> with a limit",
    {
        "beside dd: unpacking": "12.2 -> 3.8",
        "beside dd: dd's rate": "59.7 -> 55.4",
    },
)

FAULTS = Benchmark(
    name="dirty-faults",
    title="faults on file pages and writes, with and without dirty limits (2010)",
    about="map a page of a file, touch it, unmap it; write pages and cut them off",
    minutes=4,
    program="faults",
    boots=4,
    variants=(
        BASE,
        PATCHED,
        *(Variant(limit, parameters=(f"bench.limit={limit}",)) for limit in (LARGE, SMALL)),
    ),
    settings=(Setting("alone", cpus=1), Setting("parallel", ("bench.parallel=1",))),
    parameters=MEMORY_DISK,
    commands=("mkfs.ext4",),
    headline=".*",
    old_series=FAULTS_OLD,
)


def read_scenario(variant: str, _: str, lines: Sequence[str]) -> Reading:
    """Read the output of the scenario of `make run`; its limited writer has a separate column."""
    reading = Reading()
    for condition, rows in run.parse(lines).items():
        column = variant
        place = "alone" if condition == "alone" else "beside dd"
        if condition == "limited":
            column = LIMITED
        for row in rows:
            reading.add(column, f"{place}: unpacking", "s", row["seconds"])
            if condition != "alone":
                _add_writer(reading, column, place, row)
    return reading


def _add_writer(reading: Reading, column: str, place: str, row: run.Row) -> None:
    reading.add(column, f"{place}: dd's rate", "MB/s", row["writer_bytes_per_second"] / 1e6)
    peak = row["peak_dirty_bytes"] / MIB
    reading.add(column, f"{place}: peak of dirty and writeback", "MiB", peak)
    for at, dirty in row["dirty_bytes"]:
        reading.add_point(column, "dirty and writeback of dd's cgroup, MiB", at, dirty / MIB)


UNPACK = Benchmark(
    name="dirty-unpack",
    title="unpacking a tarball beside an endless writer, with and without a dirty limit (2010)",
    about="the scenario of `make run`, on a disk of 30 MB/s",
    minutes=6,
    program="run",
    further_columns=(LIMITED,),
    boots=4,
    icount=False,
    parameters=("tidemark.repeats=1", f"tidemark.limit={run.LIMIT_BYTES}", "kunit.enable=0"),
    headline=".*",
    old_series=UNPACK_OLD,
    read=read_scenario,
)

SET = Benchmark(
    name="dirty-set",
    title="10 000 cgroups: their creation, and their memory.max or, in `limits`, their limit",
    about="set on each for the first time, to smaller and to larger values, and below a limit",
    minutes=2,
    program="scale",
    boots=2,
    variants=(BASE, PATCHED, Variant("limits", parameters=("bench.file=limit",))),
    settings=(Setting("10000 cgroups", ("bench.part=set",), memory_mib=3072),),
    parameters=slow_memory_disk(20),
    commands=("mkfs.ext4",),
    headline=".*",
    by_scene=True,
)

CPUS = Benchmark(
    name="dirty-cpus",
    title="a limit for a writer on each of 48 and 64 CPUs, and for 1000 writers",
    about="what a disk of 20 MB/s stores; the peak, divided by the limit; base: vm.dirty_ratio",
    minutes=30,
    program="scale",
    boots=2,
    settings=(
        *(
            Setting(f"{cpus} CPUs, 4 MiB", (f"bench.limit={4 * MIB}",), memory_mib=2048, cpus=cpus)
            for cpus in (48, 64)
        ),
        Setting("1000 writers, 16 MiB", (f"bench.limit={16 * MIB}", "bench.writers=1000")),
    ),
    parameters=slow_memory_disk(20),
    commands=("mkfs.ext4",),
    headline=".*",
    by_scene=True,
    by_name_only=True,
)

BENCHMARKS = (FAULTS, UNPACK, SET, CPUS)
