# SPDX-License-Identifier: GPL-2.0
"""Runs the unit tests of the harness."""

import argparse
import unittest
from pathlib import Path

from . import packages

TOOLS = ("bzip2", "cpio", "gcc", "git", "gnupg", "make", "patch", "sparse", "tar", "xz", "zstd")


def main(_: argparse.Namespace) -> int:
    packages.require(TOOLS)
    here = Path(__file__).resolve().parent
    suite = unittest.defaultTestLoader.discover(str(here / "tests"), top_level_dir=str(here.parent))
    return 0 if unittest.TextTestRunner(buffer=True).run(suite).wasSuccessful() else 1
