# SPDX-License-Identifier: BSD-3-Clause
"""Subsets of labels: the base class of 0/1 outputs closed in a graph, and plain label sets."""
