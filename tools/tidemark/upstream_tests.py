# SPDX-License-Identifier: GPL-2.0
"""Runs upstream's cgroup and memory tests on the unpatched and on the patched kernel.

The guest has the unpatched kernel's programs for both kernels. A test that passes on the unpatched
kernel and fails on the patched one runs again on both: many tests depend on time under emulation.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import base as bases
from . import guest, kbuild, kernel, packages, process, scratch, vm
from .base import Base
from .layout import REPOSITORY, Layout
from .lock import hold
from .report import Failure, progress, warning, working

SELFTESTS = Path("tools/testing/selftests")
# Tests that need no shared library, no huge page file system and no minutes.
MM = (
    *("droppable", "ksm_functional_tests", "madv_populate", "map_fixed_noreplace", "map_populate"),
    *("mdwe_test", "mkdirty", "mlock2-tests", "mrelease_test", "mremap_dontunmap", "mremap_test"),
    *("mseal_test", "on-fault-limit", "soft-dirty", "va_high_addr_switch"),
)
GENERATED = re.compile(r"^TEST_GEN_PROGS\s*\+?=\s*(.*)$", re.M)
RESULT = re.compile(r"^\s*(?P<bad>not )?ok \d+ (?:- )?(?P<name>.*?)(?:\s*# (?P<directive>.*))?$")
EXIT = "exit status"
SKIPPED = 4
TIMEOUT_SECONDS = 2400
ROUNDS = 3
NOTE = """Some of these fail now and then under emulation, on any kernel: tests that passed on
upstream and failed on ours ran again on both, and count as failed if they never passed on ours."""

Key = tuple[str, str]
Outcomes = dict[Key, str]


@dataclass(frozen=True)
class Row:
    """A test case and its result in each round."""

    key: Key
    base: list[str]
    patched: list[str]

    @property
    def is_worse(self) -> bool:
        return "ok" in self.base and "ok" not in self.patched


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: this target always runs both kernels")
    tools = (*kbuild.TOOLS, *guest.TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    images = [kernel.build(base, pristine, flavour=args.flavour) for pristine in (True, False)]

    def add(root: Path) -> None:
        build_programs(base, root / "upstream", REPOSITORY)

    first = guest.machine(args, images[0], base, "upstream", ("kunit.enable=0",), add)
    machines = {"base": first, "patched": replace(first, kernel=images[1].path)}
    built = sorted((first.place / "root").glob("upstream/*/*"))
    rows = _rounds(machines, [f"{path.parent.name}/{path.name}" for path in built])
    print("\n".join(table(rows)))
    worse = [row for row in rows if row.is_worse]
    print(f"{len(rows)} cases, {len(worse)} that pass on upstream and fail on ours")
    return 1 if worse else 0


def build_programs(base: Base, destination: Path, layout: Layout) -> None:
    """Upstream's makefiles also write beside the sources, which are links in a separate tree."""
    place = layout.build / "upstream"
    with (
        hold(layout.build, f"upstream/{base.label}"),
        scratch.directory(place, base.label) as draft,
    ):
        for name in ("mm", "scripts", "tools"):
            process.output(["cp", "-al", base.path / name, draft / name])
        makefile = (draft / SELFTESTS / "cgroup" / "Makefile").read_text()
        wanted = [("cgroup", name) for name in generated(makefile)]
        for suite, name in [*wanted, *(("mm", name) for name in MM)]:
            target = destination / suite
            target.mkdir(parents=True, exist_ok=True)
            try:
                guest.build_selftest(draft, suite, name, target)
            except Failure as error:
                warning(f"{suite}/{name} does not build here: {error.message}")
        for path in [*destination.rglob("*")]:
            if path.is_file() and path.stem not in (*(name for _, name in wanted), *MM):
                path.unlink()


def generated(makefile: str) -> list[str]:
    return [name for names in GENERATED.findall(makefile) for name in names.split()]


def outcomes(lines: Iterable[str]) -> Outcomes:
    """The results of a program's cases, and of the program itself."""
    found: Outcomes = {}
    program = ""
    for line in lines:
        if line.startswith("program "):
            program = line.removeprefix("program ")
        elif line.startswith("status "):
            found[program, EXIT] = _of_status(int(line.removeprefix("status ")))
        elif result := RESULT.match(line):
            found[program, _name(result)] = _of_result(result)
    return found


def compare(rounds: Sequence[dict[str, Outcomes]]) -> list[Row]:
    """One row for each case, in the order of the first round; `-` stands for no result."""
    keys = dict.fromkeys(key for each in rounds for found in each.values() for key in found)
    rows = []
    for key in keys:
        again = [each for each in rounds if any(key[0] == k[0] for k in each["base"])]
        columns = [[each[name].get(key, "-") for each in again] for name in ("base", "patched")]
        rows.append(Row(key, *columns))
    return rows


def table(rows: Sequence[Row]) -> Iterator[str]:
    width = max((len(" ".join(row.key)) for row in rows), default=0)
    yield f"{'test, case':{width}}  {'base':16}patched"
    for row in rows:
        mark = "  <---" if row.is_worse else ""
        line = f"{' '.join(row.key):{width}}  {' '.join(row.base):16}{' '.join(row.patched)}"
        yield f"{line}{mark}".rstrip()
    yield NOTE


def _rounds(machines: dict[str, vm.Machine], programs: Sequence[str]) -> list[Row]:
    rounds: list[dict[str, Outcomes]] = []
    for _ in range(ROUNDS):
        rounds.append({name: _run(name, machine, programs) for name, machine in machines.items()})
        rows = compare(rounds)
        programs = sorted({row.key[0] for row in rows if row.is_worse})
        if not programs:
            break
        progress(f"passed on upstream, failed on ours: {', '.join(programs)}")
    return rows


def _run(name: str, machine: vm.Machine, programs: Sequence[str]) -> Outcomes:
    """A program that crashes the guest has failed; the next ones run in a new guest."""
    found: Outcomes = {}
    while programs:
        results, ended = _boot(name, machine, programs)
        found.update(outcomes(results))
        if ended:
            break
        last = begun(results)
        if last not in programs:
            raise Failure(f"the guest ({name}) ended before the first test")
        warning(f"{name}: {last} crashed the guest")
        found[last, EXIT] = "FAIL"
        programs = programs[programs.index(last) + 1 :]
    return found


def begun(results: Sequence[str]) -> str:
    """The program that started last."""
    names = [line.removeprefix("program ") for line in results if line.startswith("program ")]
    return names[-1] if names else ""


def _boot(name: str, machine: vm.Machine, programs: Sequence[str]) -> tuple[list[str], bool]:
    parameters = [*machine.parameters, f"tidemark.programs={','.join(programs)}"]
    machine = replace(machine, parameters=parameters)
    heard: list[str] = []
    log = guest.log(machine).with_name(f"{name}.log")
    with working(f"upstream's tests, {name}", lambda: begun(heard)):
        outcome = vm.run(machine, log, TIMEOUT_SECONDS, heard.append)
    return outcome.results, outcome.status is not None


def _name(result: re.Match[str]) -> str:
    """Some programs print a skipped case's name after the word SKIP."""
    return result["name"].strip() or (result["directive"] or "").partition(" ")[2]


def _of_status(status: int) -> str:
    if status == SKIPPED:
        return "skip"
    return "FAIL" if status else "ok"


def _of_result(result: re.Match[str]) -> str:
    directive = (result["directive"] or "").upper()
    if directive.startswith(("SKIP", "XFAIL")):
        return "skip"
    return "FAIL" if result["bad"] else "ok"
