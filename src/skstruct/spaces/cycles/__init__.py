# SPDX-License-Identifier: BSD-3-Clause
"""Cycles: round trips through some of the nodes, each visited at most once."""
