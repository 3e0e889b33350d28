# SPDX-License-Identifier: GPL-2.0
"""Flush thresholds: their cost and their precision (Yosry Ahmed's series, 2023)."""

from dataclasses import replace

from .benchmark import BASE, PATCHED, Benchmark, OldSeries, Setting, Variant

AUTO = Variant("auto", parameters=("bench.threshold=-2",))
VARIANTS = (BASE, PATCHED, AUTO)
SOURCE = (
    "Re: [PATCH v2 3/5] mm: memcg: make stats flushing threshold per-memcg, 2023-10-12;\n"
    "  medians, operations per second, without -> with the patch"
)

FAULTS = Benchmark(
    name="flush-faults",
    title="page faults four levels deep, in the manner of will-it-scale (2023)",
    about="page_fault1 to 3, by processes and by threads",
    minutes=2,
    program="levels",
    variants=VARIANTS,
    headline=".*",
    old_series=OldSeries(
        f"{SOURCE}, on 256 CPUs",
        {
            "page_fault1, processes": "265437 -> 255725",
            "page_fault1, threads": "239737 -> 235305",
            "page_fault2, processes": "203301 -> 197746",
            "page_fault2, threads": "170776 -> 166406",
            "page_fault3, processes": "1297550 -> 1273359",
            "page_fault3, threads": "390860 -> 376369",
        },
    ),
)

LOADS = Benchmark(
    name="flush-loads",
    title="TCP on the loopback and stress-ng's memory stressors, four levels deep (2023)",
    about="requests and responses of a byte; iperf3; stress-ng --class vm",
    minutes=3,
    program="loads",
    variants=VARIANTS,
    commands=("iperf3", "stress-ng"),
    tools=("iperf3", "stress-ng"),
    headline="TCP .*|stress-ng, .*",
    old_series=OldSeries(
        "the same message; netperf TCP_SENDFILE, 22 instances on 44 CPUs, Mbit/s",
        {"TCP stream": "40198 -> 38629.7"},
    ),
)

READS = Benchmark(
    name="flush-reads",
    title="reads of memory.stat: their error, latency and flushes (2023)",
    about="after updates on all of 16 CPUs; while all of 2 update; of 1000 idle cgroups",
    minutes=9,
    program="flush",
    variants=VARIANTS,
    settings=(
        Setting("16 CPUs", ("bench.part=error",), cpus=16),
        Setting("2 CPUs, busy", ("bench.part=busy",)),
        Setting("2 CPUs, idle", ("bench.part=idle",)),
        Setting("2 of 64 CPUs, idle", ("bench.part=idle", "maxcpus=2"), cpus=64),
    ),
    headline="16 CPUs: share .*|2 .*",
)

KUBELET = Benchmark(
    name="kubelet",
    title="a node with 2011 cgroups four levels deep, 200 of them busy, and two readers",
    about="one sweeps all memory.stat files every 10 s, one reads 20 of them every second",
    minutes=7,
    program="kubelet",
    variants=VARIANTS,
    boots=2,
    settings=tuple(Setting(f"{cpus} CPUs", memory_mib=2048, cpus=cpus) for cpus in (2, 16)),
    headline=".* CPUs: (a sweep|one read, p99|worst error).*",
)

KUBELET_48 = replace(
    KUBELET,
    name="kubelet-48",
    title="the same node on a machine with 48 CPUs",
    minutes=9,
    settings=(Setting("48 CPUs", memory_mib=3072, cpus=48),),
    by_name_only=True,
)

BENCHMARKS = (FAULTS, LOADS, READS, KUBELET, KUBELET_48)
