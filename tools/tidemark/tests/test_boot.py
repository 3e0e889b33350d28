# SPDX-License-Identifier: GPL-2.0
"""The files that a booted kernel is asked for."""

import unittest

from tidemark import boot


class FilesTest(unittest.TestCase):
    def test_those_of_the_options_that_are_on(self) -> None:
        options = {"ACTIVE_RATIO": "y", "MEMCG_DIRTY_LIMIT": "n", "WATERMARK_WAIT": "y"}
        timeout = "/proc/sys/vm/watermark_wait_timeout_ms"
        self.assertEqual(boot.files(options), [timeout])
        cgroup = "memory.active_inactive_ratio"
        self.assertEqual(boot.files({**options, "MEMCG": "y"}), [cgroup, timeout])
        self.assertEqual(boot.files({"MEMCG": "y"}), [])
