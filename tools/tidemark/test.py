# SPDX-License-Identifier: GPL-2.0
"""Boots the patched kernel, whose KUnit suites run at boot, and runs our kselftests in it."""

import argparse
from collections import Counter

from . import console, guest, ktap, vm
from .report import Failure, failure, working

TIMEOUT_SECONDS = 900


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    if args.pristine:
        raise Failure("PRISTINE=1: the unpatched base has nothing of ours to test")
    base, image = guest.built(args)
    machine = guest.machine(args, image, base, "test", ("kunit.enable=1",))
    log = guest.log(machine)
    heard: list[str] = []
    with working("testing in the guest", lambda: f"{len(heard)} lines of results"):
        outcome = vm.run(machine, log, TIMEOUT_SECONDS, heard.append)

    place = log.parent
    cases = _suite(ktap.parse(outcome.console, image.source, place, "kunit"), "KUnit")
    cases += _suite(ktap.parse(outcome.results, image.source, place, "kselftest"), "kselftest")
    cases.append(_console_case(outcome))
    return _summary(cases)


def _suite(cases: list[ktap.Case], what: str) -> list[ktap.Case]:
    """No result at all is a failure too."""
    return cases or [ktap.Case(f"{what}: any result", "FAIL")]


def _console_case(outcome: vm.Outcome) -> ktap.Case:
    try:
        console.require_quiet(outcome)
    except Failure as error:
        failure(error)
        return ktap.Case("console without complaints", "FAIL")
    return ktap.Case("console without complaints", "ok")


def _summary(cases: list[ktap.Case]) -> int:
    for case in cases:
        print(f"{case.outcome:4} {case.name}")
    count = Counter(case.outcome for case in cases)
    line = f"{count['ok']} passed, {count['FAIL']} failed"
    print(f"{line}, {count['skip']} skipped" if count["skip"] else line)
    return 1 if count["FAIL"] else 0
