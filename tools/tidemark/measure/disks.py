# SPDX-License-Identifier: GPL-2.0
"""Waiting for memory, and the working set: many disks and 256 MiB (two series of 2010)."""

from .benchmark import BASE, Benchmark, OldSeries, Setting, Variant, null_blk

# With the queue, which is off by default.
WAITS = Variant("waits 20 ms", parameters=("sysctl.vm.watermark_wait_timeout_ms=20",))

# More data than memory, in equal amounts for few and for many disks.
TOTAL_MIB = 320
LRUS = {"classic": 0, "MGLRU": 1}
DISK = ("gb=1", "irqmode=2", "completion_nsec=10000")


def _setting(name: str, disks: int, speed: int, *words: str, memory_mib: int = 256) -> Setting:
    parameters = (*null_blk(disks, *DISK, f"mbps={speed}"), f"bench.disks={disks}", *words)
    return Setting(name, parameters, memory_mib=memory_mib)


def _waiting(disks: int, lru: str) -> Setting:
    words = (f"bench.mib={TOTAL_MIB // disks}", "bench.phases=wdr", f"bench.lru={LRUS[lru]}")
    return _setting(f"{disks} disks, {lru}", disks, 50, *words)


# Where no page is reclaimed: the rate that reclaim has to come near.
def _ample(disks: int) -> Setting:
    words = (f"bench.mib={TOTAL_MIB // disks}", "bench.phases=wdr", "bench.lru=1")
    return _setting(f"{disks} disks, 2 GiB", disks, 50, *words, memory_mib=2048)


# The case in which writers lose more pages to each other than readers do.
def _writers(lru: str) -> Setting:
    words = ("bench.mib=32", "bench.phases=w", f"bench.lru={LRUS[lru]}")
    return _setting(f"8 disks, 128 MiB, {lru}", 8, 50, *words, memory_mib=128)


WAITING = Benchmark(
    name="waiting",
    title="parallel sequential writers and readers, one a disk, 256 MiB of memory (2010)",
    about="8 and 16 disks of 50 MB/s, also with 2 GiB; stalls in direct reclaim, pages reclaimed",
    minutes=5,
    boots=3,
    program="disks",
    variants=(BASE, WAITS),
    settings=(
        *(_waiting(disks, lru) for lru in LRUS for disks in (8, 16)),
        *(_ample(disks) for disks in (8, 16)),
        *(_writers(lru) for lru in LRUS),
    ),
    headline=r".*: (writers|readers, caches dropped)(, direct reclaim|, for memory)?",
    plotted=("by direct reclaim", "by kswapd"),
    old_series=OldSeries(
        "throughput +40 %, +58 % and +42 %, in 2010, against a kernel that slept in\n"
        "  congestion_wait(); upstream no longer does"
    ),
)


# The old series measured the throughput of disks, not the CPU time of reclaim. With faster disks,
# copying and reclaim take all time of an emulated CPU; and reads that begin before the last writes
# are on the disks get only the rest of the bandwidth.
RATIO = Benchmark(
    name="ratio",
    title="parallel readers after writers, and after dropping caches (2010)",
    about="16 disks of 10 MB/s, 256 MiB; writes, reads, reads without caches; the knob at 25",
    minutes=3,
    program="disks",
    boots=3,
    parameters=("bench.ratio=25",),
    settings=tuple(
        _setting(lru, 16, 10, "bench.mib=20", "bench.phases=wwwsrdr", f"bench.lru={number}")
        for lru, number in LRUS.items()
    ),
    headline=r".*: (writers|readers, (after writers|caches dropped))(, direct reclaim)?",
    old_series=OldSeries(
        "vm.active_inactive_ratio, 2010: readers after writers had lost 60 %",
        {"classic: readers, after writers": "-60 %"},
    ),
)

BENCHMARKS = (WAITING, RATIO)
