# SPDX-License-Identifier: GPL-2.0
"""Suites in which others' programs and power cuts judge the two kernels."""
