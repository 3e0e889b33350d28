# SPDX-License-Identifier: GPL-2.0
"""Benchmarks: what they are, how they run in the guest, and how their results are shown."""
