# SPDX-License-Identifier: BSD-3-Clause
"""Cliques: sets of nodes, known by the edges inside them."""
