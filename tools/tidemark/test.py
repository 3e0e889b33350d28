# SPDX-License-Identifier: GPL-2.0
"""Boots the patched kernel, whose KUnit suites run at boot, and runs our kselftests in it.

The dirty limits have a guest of their own: the tests sleep more than they compute, and two guests
run side by side. Another one is for cgroup v1: with the memory controller there, v2 has none. It
has four nodes, for the suite that is about nodes.

FLAVOUR=debian boots Debian instead, and runs the recipes of the documentation in it. A second boot
installs the kernel's package there, and boots that kernel.
"""

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from . import base as bases
from . import console, deb, debian, guest, kcsan, kernel, ktap, lockdep, overlay, screen, vm
from .kernel import Image
from .layout import REPOSITORY
from .report import Failure, failure, progress, working

# The guests of both bases, side by side on a slow machine with two cores, take two thirds of it.
TIMEOUT_SECONDS = 3000
DEBUG_TIMEOUT_SECONDS = 7200
# A row of a program's table of tests: T(test_x) or { "test_x", test_x }.
CASE = re.compile(r'^\t(?:T\(|\{ ")(test_\w+)', re.M)
KUNIT = "kunit.enable=1"
NO_KUNIT = "kunit.enable=0"
SUITES = {
    "test": (KUNIT,),
    "dirty": (NO_KUNIT,),
    "v1": (KUNIT, "kunit.filter_glob=watermark_wait"),
}
NODES: dict[str, tuple[str, ...]] = {"test": (), "dirty": (), "v1": ("numa=fake=4",)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)
    parser.add_argument(
        "--only",
        default="",
        help="only these kselftests (test_x or test_x.case) or recipes, with commas",
    )
    parser.add_argument("--writes", type=int, default=0, help="values that test_memcg_knobs writes")
    parser.add_argument(
        "--seconds",
        type=int,
        default=0,
        help="seconds for which test_watermark_wait kills tasks, on each of two LRUs",
    )
    parser.add_argument(
        "--package",
        default="",
        help="FLAVOUR=debian installs this linux-image-*.deb, not one of the guest's configuration",
    )


def main(args: argparse.Namespace) -> int:
    if args.flavour == debian.FLAVOUR:
        return _summary(_recipes(args))
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched kernel has no patches to test")
    if args.package:
        raise Failure("--package is for FLAVOUR=debian, whose guest installs it")
    known = lockdep.parse(bases.read_recipe(args.base).lockdep)
    base, image = guest.built(args)
    timeout = TIMEOUT_SECONDS if args.flavour == kernel.PLAIN else DEBUG_TIMEOUT_SECONDS
    timeout += 2 * args.seconds
    wanted = boots(args.only, environment(args.writes, args.seconds))

    def boot(mode: str) -> list[ktap.Case]:
        machine = guest.machine(args, image, base, mode, wanted[mode])
        return _boot(machine, image, known, timeout, expected(args.base, mode, args.only))

    return _summary([case for cases in vm.side_by_side(boot, list(wanted)) for case in cases])


def _recipes(args: argparse.Namespace) -> list[ktap.Case]:
    """The unpatched kernel has recipes of its own: how the others fail there."""
    if args.writes or args.seconds:
        raise Failure("--writes and --seconds are for kselftests; FLAVOUR=debian runs recipes")
    boots = debian.boots(args.pristine, args.only)
    given = debian.given_package(args.package, boots) if args.package else None
    built = debian.PACKAGE in boots and not given
    base, image = debian.built(args, deb.TOOLS if built else ())
    package = debian.package(base, image) if built else given
    cases: list[ktap.Case] = []
    for mode, parameters in boots.items():
        installed = package if mode == debian.PACKAGE else None
        machine = debian.machine(args, image, mode, parameters, installed)
        cases += _boot(machine, image, (), DEBUG_TIMEOUT_SECONDS)
        _picture(args.base, vm.results_path(guest.log(machine)).read_text())
    return cases


def _picture(base_name: str, results: str) -> None:
    if shown := screen.captured(results.splitlines()):
        picture = screen.path(base_name, REPOSITORY)
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(screen.svg(shown))
        progress(f"the guest's terminal is in {REPOSITORY.relative(picture)}")


def environment(writes: int, seconds: int) -> tuple[str, ...]:
    """The kernel passes unknown parameters to init, which passes them to the kselftests."""
    asked = {"KNOB_WRITES": writes, "PRESSURE_SECONDS": seconds}
    return tuple(f"{name}={value}" for name, value in asked.items() if value)


def boots(only: str, more: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """The guest's modes with their parameters."""
    if not only:
        return {mode: (*suites, *NODES[mode], *more) for mode, suites in SUITES.items()}
    words = only.split(",")
    for word in words:
        _require(word)
    chosen = list(dict.fromkeys(word.partition(".")[0] for word in words))
    modes = {_mode(name) for name in chosen}
    cases = [word for word in words if "." in word]
    if cases:
        more = (f"TEST_CASES={','.join(cases)}", *more)
    return {
        mode: (NO_KUNIT, f"tidemark.tests={','.join(chosen)}", *NODES[mode], *more)
        for mode in SUITES
        if mode in modes
    }


def expected(base: str, mode: str, only: str) -> list[str]:
    """The base's kselftests of a boot. Each of them has to give a result there."""
    wanted = {word.partition(".")[0] for word in only.split(",") if word}
    there = overlay.for_base(base, REPOSITORY)
    names = sorted(found["name"] for found in guest.selftests() if found.string in there)
    return [name for name in names if _mode(name) == mode and (not wanted or name in wanted)]


def _mode(name: str) -> str:
    """As the guest's script `test` has it."""
    if name.endswith("_v1"):
        return "v1"
    return "dirty" if name.startswith("test_memcg_dirty") else "test"


def _require(word: str) -> None:
    """Refuse a program that is not there, and a case that its table of tests does not name."""
    name, dot, case = word.partition(".")
    found = {test["name"]: test.string for test in guest.selftests()}
    if name not in found:
        raise Failure(f"--only {word}: no such kselftest; there is: {', '.join(sorted(found))}")
    known = CASE.findall((REPOSITORY.root / found[name]).read_text()) if dot else []
    if dot and not known:
        raise Failure(f"--only {word}: the cases of {name} run together: --only {name}")
    if dot and case not in known:
        raise Failure(f"--only {word}: no such case; there is: {', '.join(known)}")


def _boot(
    machine: vm.Machine,
    image: Image,
    known: Sequence[lockdep.Link],
    timeout: float,
    programs: Sequence[str] = (),
) -> list[ktap.Case]:
    log = guest.log(machine)
    heard: list[str] = []
    with working(f"guest {machine.mode}", lambda: f"{len(heard)} lines of results"):
        outcome = vm.run(machine, log, timeout, heard.append)

    place, source = log.parent, image.source
    cases: list[ktap.Case] = []
    if KUNIT in machine.parameters:
        cases += _suite(ktap.parse(outcome.console, source, place, "kunit"), "KUnit")
    cases += _suite(ktap.parse(outcome.results, source, place, "kselftest"), "kselftest")
    cases += _without_result(programs, outcome.results)
    if said := [*ktap.last_words(outcome.console), *ktap.last_words(outcome.results)]:
        failure(Failure(f"guest {machine.mode}: before each failure there was", said))
    lines = kcsan.without_others(outcome.console, image.build, overlay.files(REPOSITORY))
    lines = lockdep.without_known(lines, known)
    return [*cases, _console_case(machine.mode, replace(outcome, console=lines))]


def _suite(cases: list[ktap.Case], what: str) -> list[ktap.Case]:
    """A boot without any result is a failure too."""
    return cases or [ktap.Case(f"{what}: any result", "FAIL")]


def _without_result(programs: Sequence[str], results: Sequence[str]) -> list[ktap.Case]:
    """A program that was not built or not started leaves no trace in the results."""
    heard = ktap.programs(results)
    return [ktap.Case(f"{name}: no result", "FAIL") for name in programs if name not in heard]


def _console_case(mode: str, outcome: console.Outcome) -> ktap.Case:
    name = f"guest {mode}: console without complaints"
    try:
        console.require_quiet(outcome)
    except Failure as error:
        failure(error)
        return ktap.Case(name, "FAIL")
    return ktap.Case(name, "ok")


def _summary(cases: list[ktap.Case]) -> int:
    for case in cases:
        print(f"{case.outcome:4} {case.name}")
    count = Counter(case.outcome for case in cases)
    line = f"{count['ok']} passed, {count['FAIL']} failed"
    print(f"{line}, {count['skip']} skipped" if count["skip"] else line)
    return 1 if count["FAIL"] else 0
