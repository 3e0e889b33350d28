# SPDX-License-Identifier: GPL-2.0
"""Takes the last results of `make bench` over into bases/ and the README."""

import argparse

from .layout import REPOSITORY
from .measure import readme, results
from .report import Failure, progress


def main(args: argparse.Namespace) -> int:
    measured = results.path(args.base, REPOSITORY)
    if not measured.exists():
        raise Failure(f"{REPOSITORY.relative(measured)}: not there yet: run `make bench`")
    kept = results.committed(args.base, REPOSITORY)
    before = results.load(kept) if kept.exists() else {}
    last = {name: results.without_curves(found) for name, found in results.load(measured).items()}
    path = REPOSITORY.root / "README.md"
    text = readme.replaced(path.read_text(), {**before, **last})
    results.store(kept, {**before, **last})
    path.write_text(text)
    progress(f"{REPOSITORY.relative(kept)} and README.md are up to date")
    return 0
