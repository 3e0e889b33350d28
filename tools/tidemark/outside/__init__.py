# SPDX-License-Identifier: GPL-2.0
"""Suites in which others' programs, faults and hostile users judge the two kernels."""
