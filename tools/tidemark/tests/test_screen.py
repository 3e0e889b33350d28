# SPDX-License-Identifier: GPL-2.0
"""The picture of a terminal."""

import unittest
from xml.etree import ElementTree

from tidemark import screen

RESULTS = [
    "    # screen: \x1b[1m  DIRTY  CGROUP\x1b[0m",
    "    # screen: \x1b[31m   8.0M\x1b[39m  <a>",
    "    # screen: ",
    "    ok 1 monitor",
]
TEXT = ["  DIRTY  CGROUP", "   8.0M  <a>"]


class ScreenTest(unittest.TestCase):
    def test_captured(self) -> None:
        lines = screen.captured(RESULTS)
        self.assertEqual([screen.plain(line) for line in lines], TEXT)

    def test_picture(self) -> None:
        picture = ElementTree.fromstring(screen.svg(screen.captured(RESULTS)))
        rows = picture.findall(".//{*}text")
        self.assertEqual(["".join(row.itertext()) for row in rows], TEXT)
        styles = [dict(span.attrib) for span in picture.findall(".//{*}tspan")]
        self.assertEqual(styles, [{"font-weight": "bold"}, {"fill": screen.COLOURS["31"]}])
