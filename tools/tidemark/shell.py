# SPDX-License-Identifier: GPL-2.0
"""An interactive shell in the guest."""

import argparse

from . import guest, kernel, vm
from .report import progress

FLAVOUR = kernel.LEAN


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    base, image = guest.built(args)
    machine = guest.machine(args, image, base, "shell", ("loglevel=5",))
    progress("booting; Ctrl-A X leaves")
    return vm.attach(machine)
