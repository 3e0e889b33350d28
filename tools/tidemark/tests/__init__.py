# SPDX-License-Identifier: GPL-2.0
"""Unit tests of the harness, on made-up repositories and bases that take no time to build."""
