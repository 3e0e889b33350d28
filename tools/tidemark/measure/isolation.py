# SPDX-License-Identifier: GPL-2.0
"""Mechanisms that may protect a cgroup's I/O from writers in another, and pairs of them."""

from .benchmark import BASE, Benchmark, Setting, Variant

# Those of upstream run on the unpatched kernel.
UPSTREAM = (
    *("memory.max", "memory.high", "io.max", "io.latency", "io.cost", "bfq"),
    *("strict_limit", "dontcache"),
)
OURS = (
    *("limit-40M", "limit-8M", "floor", "floor,limit-8M"),
    *("limit-40M,io.cost", "limit-8M,io.cost", "limit-40M,bfq", "limit-8M,bfq"),
)


def _with(mechanisms: str, pristine: bool) -> Variant:
    name = mechanisms.replace(",", " + ")
    return Variant(name, pristine, (f"bench.mechanisms={mechanisms}",))


VARIANTS = (
    Variant(BASE.name, pristine=True, parameters=("bench.alone=1",)),
    *(_with(name, pristine=True) for name in UPSTREAM),
    *(_with(name, pristine=False) for name in OURS),
)


def _on(file_system: str, name: str) -> Benchmark:
    return Benchmark(
        name=name,
        title=f"victims beside endless writers, with what may protect them, on {file_system}",
        about="overwrites, a log, random reads, unpacking, installing; disk of 30 MB/s,"
        " vm.dirty_bytes=128M",
        minutes=30,
        program="isolation",
        variants=VARIANTS,
        settings=(Setting(parameters=(f"bench.fs={file_system}",)),),
        boots=3,
        icount=False,
        parameters=("kunit.enable=0",),
        headline="",
        by_scene=True,
        parallel=True,
    )


EXT4 = _on("ext4", "isolation")
XFS = _on("xfs", "isolation-xfs")

BENCHMARKS = (EXT4, XFS)
