# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a graph or of a triangle mesh: classes that lie near to or far from each other."""
