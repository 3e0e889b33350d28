# SPDX-License-Identifier: GPL-2.0
"""A hostile tenant: its effect on another one, by upstream's files and by ours."""

from .benchmark import BASE, MEMORY_DISK, PATCHED, Benchmark, Variant

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
    parameters=(
        *(word for word in MEMORY_DISK if "irqmode" not in word),
        *("null_blk.irqmode=2", "null_blk.mbps=50", "loglevel=3"),
    ),
    commands=("mkfs.ext4",),
    headline=".*p90",
    by_name_only=True,
)

BENCHMARKS = (TENANT,)
