# SPDX-License-Identifier: GPL-2.0
"""I/O limits that reach buffered writes (Andrea Righi's io-throttle, 2009)."""

from .benchmark import BASE, MEMORY_DISK, PATCHED, Benchmark, OldSeries, Variant

SUMS = {"four": "20", "three": "18", "two": "14", "one": "8"}
MODES = tuple(
    f"{how}, {streams}"
    for how in ("direct", "buffered")
    for streams in ("1 stream each", "2 streams each", "4 streams each")
)

THROTTLE = Benchmark(
    name="io-throttle",
    title="four cgroups with an io.max of 2, 4, 6 and 8 MB/s on one disk (2009)",
    about="1, 2, 4 streams each, direct and buffered; `limited`: dirty limits of a quarter second",
    minutes=3,
    program="throttle",
    variants=(BASE, PATCHED, Variant("limited", parameters=("bench.limit=250",))),
    parameters=MEMORY_DISK,
    commands=("mkfs.ext4",),
    headline=(
        "(direct|buffered), 1 stream each: disk, .*|buffered, .* above its limit|"
        "f?sync of .*|48 MB .*|OOM kills"
    ),
    old_series=OldSeries(
        "io-throttle, 2009: the sum as cgroups finish; how far buffered writers exceeded it",
        {
            **{
                f"{mode}: disk, while {left} write": total
                for mode in MODES
                for left, total in SUMS.items()
            },
            **{
                f"{mode}, application above its limit": "2 to 6"
                for mode in MODES
                if mode.startswith("buffered")
            },
        },
    ),
)

BENCHMARKS = (THROTTLE,)
