# SPDX-License-Identifier: GPL-2.0
"""Lists the benchmarks and their durations."""

import argparse

from .measure.catalogue import BENCHMARKS


def main(_: argparse.Namespace) -> int:
    for benchmark in BENCHMARKS:
        clock = "guest time" if benchmark.icount else "slow disk"
        print(f"{benchmark.name:14}{benchmark.minutes:3} min  {clock}  {benchmark.title}")
        print(f"{'':32}{benchmark.about}")
    print(f"{'all':14}{sum(benchmark.minutes for benchmark in BENCHMARKS):3} min")
    return 0
