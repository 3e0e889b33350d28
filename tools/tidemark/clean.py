# SPDX-License-Identifier: GPL-2.0
"""Removes everything under build/."""

import argparse
import shutil

from . import lock
from .layout import REPOSITORY, Layout
from .report import progress


def clean(layout: Layout = REPOSITORY) -> None:
    if not layout.build.exists():
        progress("nothing to remove")
        return
    with lock.hold_all(layout.build):
        for path in sorted(layout.build.iterdir()):
            if path.name == lock.PLACE:
                continue
            progress(f"removing {layout.relative(path)}")
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def main(_: argparse.Namespace) -> int:
    clean()
    return 0
