# SPDX-License-Identifier: GPL-2.0
"""tools/cgroup/memcg_dirty_top.py on a directory that looks like a cgroup hierarchy."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tidemark.layout import REPOSITORY

from . import fake

SCRIPT = REPOSITORY.root / "tools/cgroup/memcg_dirty_top.py"
MIB = 1 << 20

top = fake.load_program(SCRIPT)


class MemcgDirtyTopTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.layout.root / "cgroup"
        self.root.mkdir(parents=True)

    def cgroup(self, path: str, **values: object) -> Path:
        stat: dict[str, object] = {
            "dirty": 0,
            "writeback": 0,
            "limit": "max",
            "background_limit": "max",
            "limit_levels_up": 0,
            "effective_min": 0,
            "throttled": 0,
            "throttled_usec": 0,
        }
        directory = self.root / path
        directory.mkdir(parents=True, exist_ok=True)
        lines = (f"{name} {value}\n" for name, value in (stat | values).items())
        (directory / "memory.dirty_stat").write_text("".join(lines))
        return directory

    def service(self) -> Path:
        """A cgroup with a limit, and one below it that writes."""
        limits = {"limit": 40 * MIB, "background_limit": 20 * MIB}
        slice_ = self.cgroup("system", dirty=24 * MIB, writeback=12 * MIB, throttled=9, **limits)
        (slice_ / "memory.dirty_limit_in_bytes").write_text("41943040\n")
        (slice_ / "memory.dirty_ratio").write_text("max\n")
        pages = {"dirty": 24 * MIB, "writeback": 12 * MIB}
        return self.cgroup("system/backup", limit_levels_up=1, throttled=9, **pages, **limits)

    def run_script(
        self, *options: str, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), "--mount", str(self.root), "--interval", "0.01"]
        return subprocess.run(
            [*command, *options],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | (environment or {}),
        )

    def rows(self, *options: str) -> list[dict[str, Any]]:
        run = self.run_script("--json", "--once", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows: list[dict[str, Any]] = json.loads(run.stdout)
        return rows

    def test_a_limit_is_compared_with_the_pages_of_the_cgroup_that_has_it(self) -> None:
        self.service()
        limits = {"limit": 40 * MIB, "background_limit": 20 * MIB}
        self.cgroup("system", dirty=30 * MIB, writeback=0, **limits)
        backup = next(row for row in self.rows() if row["cgroup"] == "/system/backup")
        self.assertEqual(backup["limit_from"], "/system")
        self.assertEqual(backup["used_percent"], 75)
        self.assertEqual(backup["dirty"] + backup["writeback"], 36 * MIB)

    def test_idle_cgroups_are_shown_on_demand(self) -> None:
        self.service()
        self.cgroup("idle")
        names = [row["cgroup"] for row in self.rows()]
        self.assertEqual(names, ["/system", "/system/backup"])
        self.assertIn("/idle", [row["cgroup"] for row in self.rows("--all")])
        below = self.rows("--cgroup", "/system/backup")
        self.assertEqual([row["cgroup"] for row in below], names[1:])

    def test_sorting(self) -> None:
        self.cgroup("a", dirty=1 * MIB)
        self.cgroup("b", dirty=1 * MIB, writeback=2 * MIB)
        self.assertEqual([row["cgroup"] for row in self.rows()], ["/a", "/b"])
        self.assertEqual([row["cgroup"] for row in self.rows("--sort", "dirty")], ["/b", "/a"])

    def test_rates_are_per_second(self) -> None:
        service = self.service()
        text = "8:0 rbytes=7 wbytes=1000 dbytes=0\n8:16 rbytes=0 wbytes=24\n"
        (service / "io.stat").write_text(text)
        before = top.sample(service)
        self.assertEqual(before.written, 1024)
        changed = {"throttled": 29, "throttled_usec": 9000, "written": 3072}
        after = top.Sample(**vars(before) | changed | {"at": before.at + 2})
        row = top.row(service, self.root, {service: after}, {service: before})
        self.assertEqual((row.pauses, row.paused_ms, row.written), (10, 4.5, 1024))
        row = top.row(service, self.root, {service: after}, {})
        self.assertEqual((row.pauses, row.paused_ms, row.written), (None, None, None))

    def test_table(self) -> None:
        self.service()
        lines = self.run_script("--once").stdout.splitlines()
        self.assertEqual(len(lines), 3)
        columns = ["24.0M", "12.0M", "40.0M", "90%", "0", "0", "0", "-", "system"]
        self.assertEqual(lines[1].split(), columns)
        self.assertTrue(lines[2].endswith("    backup  (limit of system)"), lines[2])
        self.assertNotIn("\033", lines[0])

    def test_lines_fit_the_terminal(self) -> None:
        self.service()
        now = top.collect(self.root)
        rows = [top.row(cgroup, self.root, now, now) for cgroup in now]
        for width in (30, 66, 70, 200):
            lines = list(top.table(rows, True, False, width))
            self.assertEqual(len(lines), 3)
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertTrue(lines[0].startswith("  DIRTY"))
        self.assertTrue(lines[2].endswith("(limit of system)"), lines[2])

    def test_a_background_limit_below_does_not_move_the_pauses(self) -> None:
        """The kernel pauses writers by the thresholds of the level that binds."""
        limit = {"limit": 100 * MIB}
        self.cgroup("system", dirty=80 * MIB, background_limit=50 * MIB, **limit)
        levels = {"limit_levels_up": 1, "background_limit": 10 * MIB}
        self.cgroup("system/backup", dirty=80 * MIB, **levels, **limit)
        text = self.run_script("--explain", "/system/backup").stdout
        self.assertIn("Above 75.0M,", text)

    def test_a_background_limit_above_may_hide_the_own_one(self) -> None:
        self.cgroup("slice", background_limit=10 * MIB)
        limits = {"limit": 100 * MIB, "background_limit": 10 * MIB}
        self.cgroup("slice/backup", dirty=60 * MIB, **limits)
        text = self.run_script("--explain", "/slice/backup").stdout
        self.assertIn("Above 55.0M or more,", text)
        self.cgroup("slice", background_limit=11 * MIB)
        text = self.run_script("--explain", "/slice/backup").stdout
        self.assertIn("Above 55.0M,", text)

    def test_explain_names_the_limit_and_the_reason(self) -> None:
        self.service()
        text = self.run_script("--explain", "/system/backup").stdout
        self.assertIn("/system: dirty_limit_in_bytes 41943040\n", text)
        self.assertIn("/system/backup: no dirty limit of its own", text)
        self.assertIn("The limit of /system binds: 36.0M of 40.0M", text)
        self.assertIn("Above 30.0M", text)

    def test_a_limit_that_follows_memory(self) -> None:
        pod = self.cgroup("pod", dirty=40 * MIB, limit=51 * MIB)
        for limit, ratio, cause in (
            ("max", "max", " by memory.max or memory.high"),
            (str(100 * MIB), "max", " by memory.max or memory.high"),
            (str(51 * MIB), "max", ""),
            ("max", "20", ""),
        ):
            (pod / "memory.dirty_limit_in_bytes").write_text(f"{limit}\n")
            (pod / "memory.dirty_ratio").write_text(f"{ratio}\n")
            text = self.run_script("--explain", "/pod").stdout
            self.assertIn(f"The limit of /pod{cause} binds: 40.0M of 51.0M", text)

    def test_explain_without_a_limit(self) -> None:
        self.cgroup("free", dirty=MIB, effective_min=2 * MIB)
        text = self.run_script("--explain", str(self.root / "free")).stdout
        self.assertIn("the system-wide vm.dirty_* limits decide", text)
        self.assertIn("Its floor is 2.0M; it is below that", text)

    def test_explain_far_below_the_limit(self) -> None:
        self.cgroup("low", dirty=MIB, limit=40 * MIB, background_limit=20 * MIB)
        self.assertIn("pauses begin at 30.0M", self.run_script("--explain", "low").stdout)

    def test_a_limit_above_the_namespace(self) -> None:
        self.cgroup("inner", dirty=MIB, limit=40 * MIB, limit_levels_up=3)
        row = self.rows()[0]
        self.assertEqual((row["limit_from"], row["used_percent"]), ("above", None))
        self.assertIn("inner  (limit above)", self.run_script("--once").stdout)
        text = self.run_script("--explain", "/inner").stdout
        self.assertIn("A limit of 40.0M binds, of a cgroup above", text)

    def test_a_limit_of_nothing_is_full(self) -> None:
        self.cgroup("none", limit=0)
        self.assertEqual(self.rows()[0]["used_percent"], 100)

    def test_a_cgroup_that_was_created_again_has_no_rates(self) -> None:
        service = self.service()
        counters = vars(top.sample(service)) | {"written": 4096}
        old = top.Sample(**counters | {"at": counters["at"] - 1, "inode": 1, "throttled": 1})
        row = top.row(service, self.root, {service: top.Sample(**counters)}, {service: old})
        self.assertEqual((row.pauses, row.written), (None, None))
        old = top.Sample(**counters | {"at": counters["at"] - 1, "written": 8192})
        row = top.row(service, self.root, {service: top.Sample(**counters)}, {service: old})
        self.assertEqual((row.pauses, row.written), (0, None))

    def test_names_do_not_reach_the_terminal_as_they_are(self) -> None:
        self.cgroup("a\x1b[2J", dirty=MIB)
        self.cgroup("\udcff", dirty=MIB)
        self.cgroup("M\u00fcller", dirty=MIB)
        names = [row["cgroup"] for row in self.rows()]
        self.assertEqual(names, ["/M\u00fcller", "/a\x1b[2J", "/\udcff"])
        text = self.run_script("--once").stdout + self.run_script("--explain", "a\x1b[2J").stdout
        self.assertIn("\\udcff", text)
        self.assertIn("a\\x1b[2J: 1.0M dirty", text)
        self.assertNotIn("\x1b", text)
        environment = {"PYTHONIOENCODING": "ascii"}
        run = self.run_script("--once", environment=environment)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("M\\xfcller", run.stdout)

    def test_mounts_of_any_name(self) -> None:
        mounts = self.root / "mounts"
        mounts.write_bytes("/media/M\u00fcller ext4\n".encode("latin-1"))
        self.assertIn("ext4", top.read(mounts))

    def test_a_limit_of_the_visible_root(self) -> None:
        self.cgroup("", dirty=MIB, limit=40 * MIB)
        self.cgroup("inner", dirty=MIB, limit=40 * MIB, limit_levels_up=1)
        self.assertIn("inner  (limit of /)", self.run_script("--once").stdout)

    def test_many_levels(self) -> None:
        # The removal of the test's directory is recursive in Python.
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", self.root / "x"], check=True))
        path = self.root
        for _ in range(1200):
            path = path / "x"
            path.mkdir()
        self.assertEqual(sum(1 for _ in top.below(self.root)), 1201)

    def test_the_tree_has_the_parents(self) -> None:
        for pod in ("a", "b"):
            self.cgroup(pod)
            self.cgroup(f"{pod}/container", dirty=MIB)
        names = ["/a", "/a/container", "/b", "/b/container"]
        self.assertEqual([row["cgroup"] for row in self.rows()], names)
        chosen = [row["cgroup"] for row in self.rows("--sort", "dirty")]
        self.assertEqual(chosen, names[1::2])

    def test_a_terminal_without_a_size(self) -> None:
        self.service()
        master, terminal = os.openpty()
        command = [sys.executable, str(SCRIPT), "--mount", str(self.root), "--interval", "0.01"]
        run = subprocess.Popen(command, stdout=terminal, env=os.environ | {"COLUMNS": "0"})
        os.close(terminal)
        text = b""
        while b"WRITE/S" not in text and len(text) < 1 << 14:
            text += os.read(master, 4096)
        run.terminate()
        run.wait()
        os.close(master)
        self.assertIn(b"WRITE/S", text)

    def test_status_1_for_a_cgroup_that_is_not_there(self) -> None:
        self.service()
        for options in (("--cgroup", "/absent", "--once"), ("--explain", "/absent")):
            run = self.run_script(*options)
            self.assertEqual(run.returncode, 1)
            self.assertIn("/absent: there is no such cgroup", run.stderr)
        run = self.run_script("--explain", "/")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the root cgroup has no dirty limit", run.stderr)

    def test_status_1_when_the_cgroup_is_removed(self) -> None:
        service = self.service()
        command = [sys.executable, str(SCRIPT), "--mount", str(self.root), "--interval", "0.1"]
        run = subprocess.Popen(
            [*command, "--cgroup", "/system/backup"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert run.stdout
        run.stdout.readline()
        shutil.rmtree(service)
        _, said = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 1)
        self.assertIn("system/backup was removed", said)

    def test_status_2_without_the_files(self) -> None:
        (self.root / "plain").mkdir()
        for options in (("--once",), ("--explain", "/plain"), ("--cgroup", "/plain", "--once")):
            run = self.run_script(*options)
            self.assertEqual(run.returncode, 2)
            self.assertIn("memory.dirty_stat", run.stderr)
            self.assertNotIn("Traceback", run.stderr)

    def test_a_cgroup_that_vanishes_is_left_out(self) -> None:
        gone = self.cgroup("gone", dirty=MIB)
        now = top.collect(self.root)
        self.assertIn(gone, now)
        (gone / "memory.dirty_stat").unlink()
        self.assertNotIn(gone, top.collect(self.root))
        self.assertIsNone(top.sample(gone))

    def test_bad_options(self) -> None:
        for options in (("--interval", "0"), ("--sort", "size"), ("--interval", "x")):
            self.assertEqual(self.run_script(*options).returncode, 2)
