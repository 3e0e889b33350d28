# SPDX-License-Identifier: GPL-2.0
"""All benchmarks, in the order in which they run."""

from ..report import Failure
from . import controller, dirty, disks, isolation, life, memcg, thresholds, throttle, workingset
from .benchmark import Benchmark

BENCHMARKS = (
    *dirty.BENCHMARKS,
    *life.BENCHMARKS,
    *isolation.BENCHMARKS,
    *thresholds.BENCHMARKS,
    *memcg.BENCHMARKS,
    *workingset.BENCHMARKS,
    *disks.BENCHMARKS,
    *controller.BENCHMARKS,
    *throttle.BENCHMARKS,
)


def named(name: str) -> tuple[Benchmark, ...]:
    """The benchmark of that name; if the name is empty, all that are not for NAME= only."""
    if not name:
        return tuple(benchmark for benchmark in BENCHMARKS if not benchmark.by_name_only)
    found = tuple(benchmark for benchmark in BENCHMARKS if benchmark.name == name)
    if not found:
        known = ", ".join(benchmark.name for benchmark in BENCHMARKS)
        raise Failure(f"NAME={name}: no such benchmark; there is: {known}")
    return found
