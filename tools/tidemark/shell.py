# SPDX-License-Identifier: GPL-2.0
"""An interactive shell in the guest."""

import argparse

from . import base as bases
from . import guest, kernel, packages, vm
from .report import progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    vm.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    tools = (*kernel.TOOLS, *guest.TOOLS, *vm.TOOLS)
    packages.require(tools, bases.required_packages(args.base, args.linux))
    base = bases.obtain(args.base, args.linux)
    image = kernel.build(base, args.pristine)
    machine = guest.machine(args, image, base, "shell", ("loglevel=5",))
    progress("booting; Ctrl-A X leaves")
    return vm.attach(machine)
