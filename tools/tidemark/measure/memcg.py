# SPDX-License-Identifier: GPL-2.0
"""Tasks that wait for their cgroup's memory, and a tenant that a hostile one disturbs."""

from .benchmark import BASE, PATCHED, Benchmark, Setting, Variant, slow_memory_disk

# No messages of the OOM killer on the console.
SLOW_DISK = (*slow_memory_disk(20), "loglevel=3")

WAITS = Benchmark(
    name="memcg-waits",
    title="tasks at memory.high, at memory.max with all pages dirty, and beside an OOM victim",
    about="asleep without need; bursts; 64 KiB writes at memory.max=24M to 20 MB/s; second kills",
    minutes=6,
    program="waits",
    boots=3,
    settings=(
        Setting("", ("bench.at=high",)),
        Setting("classic", (*SLOW_DISK, "bench.at=max", "bench.lru=0")),
        Setting("MGLRU", (*SLOW_DISK, "bench.at=max", "bench.lru=1")),
        Setting("4 CPUs", ("bench.at=oom", "loglevel=3"), cpus=4),
    ),
    commands=("mkfs.ext4",),
    headline=".*(p50|p99|slowest|over time|killed.*|before a kill)",
)

OURS = Variant("ours", parameters=("bench.files=ours",))
LIMIT = f"bench.limit={16 << 20}"

TENANT = Benchmark(
    name="tenant",
    title="a hostile user with cgroups of its own, beside another tenant",
    about="it rewrites memory.max, or in `ours` our files; `limited`: below a dirty limit",
    minutes=12,
    program="tenant",
    variants=(BASE, PATCHED, OURS, Variant("limited", parameters=(*OURS.parameters, LIMIT))),
    boots=3,
    parameters=(*slow_memory_disk(50), "loglevel=3"),
    commands=("mkfs.ext4",),
    headline=".*p90",
    by_name_only=True,
)

BENCHMARKS = (WAITS, TENANT)
