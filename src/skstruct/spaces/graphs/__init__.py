# SPDX-License-Identifier: BSD-3-Clause
"""Graphs: sets of edges between named nodes, all of them or those with a property."""
