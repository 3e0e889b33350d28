# SPDX-License-Identifier: GPL-2.0
"""The cost of the memory controller itself (Balbir Singh's series, 2007)."""

from .benchmark import MEMORY_DISK, Benchmark, OldSeries, Setting

OLD = {
    "fork": ("128", "129", "139"),
    "exec": ("479", "527", "537"),
    "sh": ("5572", "5809", "5825"),
    "context switch": ("3.38", "4.10", "4.18"),
    "file create, empty": ("18.4", "18.9", "17.9"),
    "file delete, empty": ("14.9", "18.0", "17.6"),
    "file create, 10 KB": ("228.2", "188.6", "240.0"),
    "file delete, 10 KB": ("73.2", "74.9", "77.6"),
    "mmap, 4 MiB": ("2998", "3044", "1874"),
    "page fault": ("1", "2", "2"),
}
SETTINGS = (
    Setting("off at boot", ("cgroup_disable=memory", "bench.controller=off"), cpus=1),
    Setting("no limit", cpus=1),
    Setting("limit 400 MiB", ("bench.max=400M",), cpus=1),
)

CONTROLLER = Benchmark(
    name="controller",
    title="processes, files, mappings, faults and a compile, with the controller off and on (2007)",
    about="lmbench's latencies; that limits hold, and reclaim when a limit changes",
    minutes=3,
    boots=3,
    program="controller",
    settings=SETTINGS,
    parameters=MEMORY_DISK,
    commands=("mkfs.ext4", "cc1", "as"),
    headline=(
        ".*: (fork|exec|sh|context switch|file (create|delete), 10 KB|page fault|compile|"
        "most .*|charged after .*|OOM kills)"
    ),
    old_series=OldSeries(
        "Memory controller test results (v6), 2007-08-19, lmbench, microseconds",
        {
            f"{setting.name}: {row}": values[number]
            for row, values in OLD.items()
            for number, setting in enumerate(SETTINGS)
        },
    ),
)

BENCHMARKS = (CONTROLLER,)
