# SPDX-License-Identifier: GPL-2.0
"""Runs a benchmark's guests: both kernels take turns, and every boot is a fresh one."""

import itertools
import os
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .. import console, guest, process, programs, vm
from ..base import Base
from ..kernel import Image
from ..report import Failure, warning, working
from . import results
from .benchmark import AGAIN, Benchmark, Reading, Setting, Variant
from .results import Result

TIMEOUT_SECONDS = 900
# Options that make boots differ, or run periodic work in the background.
STEADY = (
    *("loglevel=4", "kunit.enable=0", "nowatchdog", "nokaslr", "norandmaps"),
    *("random.trust_cpu=0", "transparent_hugepage=never"),
)
STEADY_TO = 0.002
# Under icount, a different memory size gives each boot a different layout and timing.
SEED_MIB = 2


@dataclass(frozen=True)
class Kernels:
    """The images to compare: the unpatched one, and ours unless PRISTINE=1 excludes it."""

    base: Base
    pristine: Image
    patched: Image | None = None

    def of(self, variant: Variant) -> Image:
        if variant.pristine or self.patched is None:
            return self.pristine
        return self.patched


@dataclass(frozen=True)
class _Boot:
    variant: Variant
    setting: Setting
    seed: int
    repeated: bool = False

    @property
    def label(self) -> str:
        return " ".join(part for part in (self.variant.name, self.setting.name) if part)

    @property
    def log(self) -> str:
        name = f"{self.label} {self.seed}{' repeated' if self.repeated else ''}"
        return re.sub(r"\W+", "-", name) + ".log"


def run(benchmark: Benchmark, kernels: Kernels, boots: int, jobs: int) -> Result:
    """Measure; several guests run at a time if their clock is not the host's."""
    begun = time.monotonic()
    place = guest.directory(f"{kernels.base.label}-bench-{benchmark.name}")
    initramfs = _initramfs(benchmark, place) if benchmark.icount else None
    queue = list(_boots(benchmark, boots))
    # A guest that counts instructions repeats exactly, unless the host disturbs it.
    repeated = [replace(queue[0], repeated=True)] if benchmark.icount else []
    readings: list[Reading] = []
    count = len(queue) + len(repeated)
    with (
        working(f"{benchmark.name}", lambda: f"{len(readings)} of {count} boots"),
        _workers(benchmark, jobs) as pool,
    ):
        asked = [
            pool.submit(_measure, benchmark, boot, kernels, initramfs)
            for boot in (*queue, *repeated)
        ]
        try:
            for answer in asked:
                readings.append(answer.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            vm.abandon()
            raise
    again = readings.pop() if repeated else None
    differs = results.difference(readings[0], again) if again else None
    if differs and differs > STEADY_TO:
        warning(f"{benchmark.name}: repeated boots differ by {differs:.2%} when it is repeated")
    about = {
        "release": kernels.pristine.release,
        "origin": kernels.base.origin,
        "boots": boots,
        "seconds": round(time.monotonic() - begun),
        "repeated": differs,
    }
    return results.gather(benchmark, readings, about)


def _workers(benchmark: Benchmark, jobs: int) -> ThreadPoolExecutor:
    """Under icount, each thread and the QEMU that it starts stay on one of the host's CPUs.

    QEMU's main loop, when it runs beside the emulation, may run the guest's timers in its place,
    and takes a CPU's turn away from it then: in a guest with 16, a boot in six went its own way.
    """
    if not benchmark.icount:
        return ThreadPoolExecutor(jobs if benchmark.parallel else 1)
    cpus = itertools.cycle(sorted(os.sched_getaffinity(0)))
    return ThreadPoolExecutor(jobs, initializer=lambda: os.sched_setaffinity(0, {next(cpus)}))


def _boots(benchmark: Benchmark, boots: int) -> Iterator[_Boot]:
    """Variants take turns, so that a change in the host's speed affects all alike."""
    for seed in range(1, boots + 1):
        for setting in benchmark.settings:
            for variant in benchmark.variants:
                yield _Boot(variant, setting, seed + (boots if variant == AGAIN else 0))


def _measure(
    benchmark: Benchmark, boot: _Boot, kernels: Kernels, initramfs: Path | None
) -> Reading:
    image = kernels.of(boot.variant)
    if initramfs:
        machine = _steady_machine(benchmark, boot, image, initramfs)
        place = initramfs.parent
    else:
        # Some of our kselftests need nothing that the unpatched kernel lacks.
        source = (kernels.patched or image).source
        machine = guest.slow_machine(
            kernels.base,
            image,
            benchmark.program,
            _words(benchmark, boot),
            partial(_add, benchmark),
            source=source,
            turn=_turn(),
        )
        place = machine.place
    outcome = vm.run(machine, place / boot.log, TIMEOUT_SECONDS, lambda _: None)
    console.require_quiet(outcome)
    if outcome.status:
        raise Failure(
            f"{benchmark.name}: {boot.label} failed in the guest; its console ends with",
            outcome.console[-20:],
        )
    return benchmark.read(boot.variant.name, boot.setting.name, outcome.results)


def _turn() -> int:
    """A number for each thread of the pool, from 0."""
    number = threading.current_thread().name.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


def _add(benchmark: Benchmark, root: Path) -> None:
    """A script is in every guest; a program is compiled for the benchmark's."""
    if benchmark.program not in guest.SCRIPTS:
        guest.build_program(f"bench/{benchmark.program}", root, benchmark.libraries)


def _words(benchmark: Benchmark, boot: _Boot) -> tuple[str, ...]:
    return (*benchmark.parameters, *boot.setting.parameters, *boot.variant.parameters)


def _steady_machine(benchmark: Benchmark, boot: _Boot, image: Image, initramfs: Path) -> vm.Machine:
    words = (f"bench.program={benchmark.program}", f"bench.seed={boot.seed}")
    return vm.Machine(
        image.path,
        initramfs,
        "bench",
        parameters=(*STEADY, *words, *_words(benchmark, boot)),
        memory_mib=boot.setting.memory_mib + SEED_MIB * boot.seed,
        cpus=boot.setting.cpus,
        icount=True,
    )


def _initramfs(benchmark: Benchmark, place: Path) -> Path:
    """Only the programs of this benchmark: its guests may have little memory."""
    root = guest.new_root(place, ["bench/bench"])
    guest.build_program(f"bench/{benchmark.program}", root, benchmark.libraries)
    commands = [_path_of(command) for command in benchmark.commands]
    programs.copy(commands, root)
    if "cc1" in benchmark.commands:
        source = guest.HERE / "bench" / f"{benchmark.program}.c"
        text = process.output(["gcc", "-E", "-P", source])
        (root / "tidemark" / "compiled.i").write_text(text)
    return guest.pack(root, place / "initramfs.cpio")


def _path_of(command: str) -> str:
    """The compiler proper is in no directory of PATH."""
    if command != "cc1":
        return command
    return process.output(["gcc", f"-print-prog-name={command}"]).strip()
