# SPDX-License-Identifier: GPL-2.0
"""Benchmarks: their definitions, their runs in the guest, and the tables of their results."""
