# SPDX-License-Identifier: GPL-2.0
"""Pages in use beside readers of other files, and mechanisms that may protect them."""

from .benchmark import BASE, Benchmark, Setting, Variant, null_blk

# Each request takes 100 us, as on a flash disk. The disk's content is in the guest's memory too.
FLASH = null_blk(1, "gb=2", "memory_backed=1", "irqmode=2", "completion_nsec=100000", "no_sched=1")
LRUS = (
    Setting("classic", ("bench.lru=0",), memory_mib=1056),
    Setting("MGLRU", ("bench.lru=1",), memory_mib=1056),
)
# Those of upstream run on the unpatched kernel.
UPSTREAM = ("cgroups", "memory.low", "memory.min", "memory.high", "noreuse", "dontcache")
OURS = (
    *("ratio-25", "ratio-50", "ratio-75"),
    *("one-cgroup,own-ratio-50", "own-ratio-75", "memory.low,own-ratio-75"),
)


def _with(mechanisms: str, pristine: bool) -> Variant:
    name = mechanisms.replace(",", " + ")
    return Variant(name, pristine, (f"bench.mechanisms={mechanisms}",))


WORKING_SET = Benchmark(
    name="working-set",
    title="random reads of a database in memory beside a backup, sendfile(), mmap() and grep",
    about="sqlite, 120 MiB, in 300 MiB; a program unused for 3 s; with mechanisms that protect",
    minutes=30,
    program="workingset",
    variants=(
        Variant(BASE.name, pristine=True),
        *(_with(name, pristine=True) for name in UPSTREAM),
        *(_with(name, pristine=False) for name in OURS),
    ),
    settings=LRUS,
    boots=2,
    parameters=(*FLASH, "bench.disk=ext4"),
    commands=("mkfs.ext4", "grep"),
    libraries=("sqlite3",),
    tools=("libsqlite3-dev",),
    headline="",
    by_scene=True,
)


def _beside(call: str, lru: Setting) -> Setting:
    sendfile = int(call == "sendfile")
    parameters = (*lru.parameters, f"bench.sendfile={sendfile}")
    return Setting(f"{lru.name}, beside {call}()", parameters, memory_mib=lru.memory_mib)


SPLICE = Benchmark(
    name="splice",
    title="a set of pages that is read every 3 s, beside a stream by read() or sendfile()",
    about="128 MiB, beside three times 512 MiB, in 300 MiB; on XFS, which has large folios",
    minutes=8,
    program="splice",
    settings=tuple(_beside(call, lru) for lru in LRUS for call in ("read", "sendfile")),
    boots=3,
    parameters=FLASH,
    commands=("mkfs.xfs",),
    headline=".*sendfile.*",
    by_name_only=True,
)

BENCHMARKS = (WORKING_SET, SPLICE)
