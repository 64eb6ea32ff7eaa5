# SPDX-License-Identifier: BSD-3-Clause
"""Edge sets of numbered nodes, by the components that they join."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding._compiled_spanning_trees import find, join


@nb.njit(cache=True, nogil=True)
def count_parts(Z, edges, n_nodes, parts):
    """Number of components of every row of edges."""
    parent = np.empty(n_nodes, np.int64)
    for i in range(len(Z)):
        parent[:] = np.arange(n_nodes)
        parts[i] = n_nodes
        for e in range(len(edges)):
            if Z[i, e] and join(parent, edges[e, 0], edges[e, 1]):
                parts[i] -= 1


@nb.njit(cache=True, nogil=True)
def two_colorable(Z, edges, n_nodes, even):
    """Whether the nodes of every row have two colors, different across each edge.

    Node v on either side is v and n + v; an edge joins opposite sides, and an odd cycle
    joins a node to itself.
    """
    parent = np.empty(2 * n_nodes, np.int64)
    for i in range(len(Z)):
        parent[:] = np.arange(2 * n_nodes)
        even[i] = True
        for e in range(len(edges)):
            if Z[i, e]:
                u, v = edges[e, 0], edges[e, 1]
                join(parent, u, n_nodes + v)
                join(parent, n_nodes + u, v)
                if find(parent, u) == find(parent, n_nodes + u):
                    even[i] = False
                    break


@nb.njit(cache=True, nogil=True)
def grow_rows(
    costs, order, edges, n_nodes, low, high, acyclic, connect, smallest, largest, outputs, found
):
    """Take edges in the given order, those that must be in first.

    ``acyclic``: only edges that join two components. ``connect``: edges that cost something
    are taken to join components, and one component must be left.
    """
    parent = np.empty(n_nodes, np.int64)
    for i in range(len(costs)):
        must, may = low[i % len(low)], high[i % len(high)]
        parent[:] = np.arange(n_nodes)
        parts, size, good = n_nodes, 0, True
        for e in order[i]:
            if not may[e]:
                good &= not must[e]
                continue
            u, v = edges[e, 0], edges[e, 1]
            joins = find(parent, u) != find(parent, v)
            wanted = costs[i, e] < 0 or size < smallest or (connect and joins)
            if must[e]:
                good &= joins or not acyclic
            elif not wanted or size >= largest or (acyclic and not joins):
                continue
            outputs[i, e] = 1
            size += 1
            if joins:
                join(parent, u, v)
                parts -= 1
        found[i] = good and smallest <= size <= largest and (parts == 1 or not connect)
