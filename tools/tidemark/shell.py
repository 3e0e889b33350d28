# SPDX-License-Identifier: GPL-2.0
"""Opens an interactive shell in the guest."""

import argparse

from . import debian, guest, kernel, vm
from .report import progress

FLAVOUR = kernel.LEAN


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    if args.flavour == debian.FLAVOUR:
        _, image = debian.built(args)
        machine = debian.machine(args, image, "shell", ("loglevel=5",))
    else:
        base, image = guest.built(args)
        machine = guest.machine(args, image, base, "shell", ("loglevel=5",))
    progress("booting; press Ctrl-A X to leave")
    return vm.attach(machine)
