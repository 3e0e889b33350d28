# SPDX-License-Identifier: GPL-2.0
"""Tidemark's harness: prepares, builds and boots the patched kernel."""
