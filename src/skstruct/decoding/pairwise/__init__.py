# SPDX-License-Identifier: BSD-3-Clause
"""Costs of labels and of pairs of labels, over all 0/1 rows: solvers for every kind of graph."""
