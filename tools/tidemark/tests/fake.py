# SPDX-License-Identifier: GPL-2.0
"""A repository and a kernel that are just large enough to be patched, configured and "built"."""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

from tidemark import base, report
from tidemark.layout import Layout

MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 99
EXTRAVERSION =

allnoconfig:
\tsed -e '/^CONFIG_DROPPED=/d' -e 's/^CONFIG_FORCED=.*/CONFIG_FORCED=m/' \\
\t\t-e 's/^\\(CONFIG_.*\\)=n/# \\1 is not set/' $(KCONFIG_ALLCONFIG) > $(O)/.config

%.o:
	if grep broken $*.c; then echo "$*.c:2:1: error: broken"; exit 1; fi
	echo "$@ $$(grep -c =y $(O)/.config) $(KCFLAGS)" >> $(O)/objects

prepare:
	@true

bzImage:
\tmkdir -p $(O)/arch/x86/boot $(O)/include/config
\t@echo "  CC      mm/pages.o"
\t@echo "mm/pages.c:3:1: warning: suspicious"
\tif grep broken mm/pages.c; then echo "mm/pages.c:2:1: error: broken"; exit 1; fi
\techo 6.12.99 > $(O)/include/config/kernel.release
\tdate +%N >> $(O)/builds
\tcp mm/pages.c $(O)/arch/x86/boot/bzImage
"""
PAGES = "".join(f"line {number}\n" for number in range(1, 41))
HUNK_10 = """\
@@ -7,6 +7,7 @@
 line 7
 line 8
 line 9
+hook 10
 line 10
 line 11
 line 12
"""
HUNK_10_AGAIN = """\
@@ -8,6 +8,7 @@
 line 8
 line 9
 hook 10
+hook 10 again
 line 10
 line 11
 line 12
"""
HUNK_30 = """\
@@ -27,6 +28,7 @@ function
 line 27
 line 28
 line 29
+hook 30
 line 30
 line 31
 line 32
"""


def diff(path: str, *hunks: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{''.join(hunks)}"


def message(*overlay: str) -> str:
    named = "".join(f"Overlay: {path}\n" for path in overlay)
    return f"mm: x\n\nWhy.\n{named and chr(10)}{named}"


def load_program(path: Path) -> ModuleType:
    """Import a program that is on no search path, as a module of its name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def write_kernel(top: Path, makefile: str = MAKEFILE) -> None:
    (top / "mm").mkdir(parents=True)
    (top / "Makefile").write_text(makefile)
    (top / "mm" / "pages.c").write_text(PAGES)
    (top / "mm" / "Makefile").write_text("obj-y += pages.o\n")


def git(top: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, "-C", top, *arguments], check=True, capture_output=True)


# The figures of a `make run`, as bases/<base>/run.json keeps them.
RUN = json.dumps(
    {
        "release": "6.12.99",
        "origin": "x",
        "repeats": 3,
        "limit_bytes": 40 << 20,
        "disk_bytes_per_second": 30_000_000,
        "figures": {
            name: {"seconds": seconds, "sd_percent": 1, "writer_mb_per_second": 0}
            for name, seconds in (("alone", 1.0), ("unlimited", 9.0), ("limited", 1.25))
        },
    }
)


class Case(unittest.TestCase):
    """A fresh repository, with a kernel beside it for LINUX=."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.layout = Layout(self.scratch / "repository")
        self.linux = self.scratch / "linux"
        write_kernel(self.linux)
        self.write("bases/6.12/recipe", "package = linux-fake\ntarball = x.tar.xz\nchecked = 1\n")
        for directory in (self.layout.patches, self.layout.fragments):
            directory.mkdir(parents=True)

    def write(self, path: str, text: str) -> Path:
        target = self.layout.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def write_hook(
        self, name: str, *diffs: str, overlay: tuple[str, ...] = (), base: str = "6.12"
    ) -> Path:
        """Write a patch, and return its diff for the base, or its message if it has no diff."""
        path = self.write(f"patches/{name}/message", message(*overlay))
        return self.write(f"patches/{name}/{base}.diff", "".join(diffs)) if diffs else path

    def remove_hook(self, name: str) -> None:
        shutil.rmtree(self.layout.patches / name)

    def obtain(self) -> base.Base:
        return base.obtain("6.12", self.linux, self.layout)

    def assert_fails(self, failure: report.Failure, *parts: str) -> None:
        """Every part is in the one line that the user sees first."""
        self.assertNotIn("\n", failure.message)
        for part in parts:
            self.assertIn(part, failure.message)
