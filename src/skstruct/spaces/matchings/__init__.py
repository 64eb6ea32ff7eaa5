# SPDX-License-Identifier: BSD-3-Clause
"""Matchings: sets of edges of which no two share a node."""
