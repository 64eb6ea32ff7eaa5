# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees: sets of edges that connect all nodes without a cycle."""
