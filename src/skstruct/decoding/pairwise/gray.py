# SPDX-License-Identifier: BSD-3-Clause
"""Few labels: all sets of them, one step apart, for all rows at once."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.held import fold
from skstruct.decoding.pairwise.roof import price_points

MOST = 24  # labels: beyond, a row takes seconds
LANES = 16  # rows that go side by side
LARGE = 10  # labels: beyond, one row alone fills the lanes
AT_ONCE = 256  # rows of so many labels that are worked on together


def best_by_enumeration(node_costs, edge_costs, edges) -> tuple[np.ndarray, np.ndarray]:
    """Cheapest labels for any graph, in time 2^n: for up to a dozen labels.

    Of labels that cost the same those without the highest label in which they differ.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)

    Returns
    -------
    outputs : int8 array of shape (rows, n)
    values : array of shape (rows,)

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> best_by_enumeration(np.array([[-1.0, -2.0, -1.0]]), np.array([[2.0, 2.0, 2.0]]), triangle)
    (array([[0, 1, 0]], dtype=int8), array([-2.]))
    """
    n = node_costs.shape[1]
    if n > MOST:
        raise ValueError(f"All sets of {n} labels are too many to try; {MOST} labels at most.")
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    outputs = _by_last_labels(*costs, edges) if n > LARGE else _walk(*costs, edges)
    # Prices anew: those on the way have gathered the rounding of all steps.
    return outputs, price_points(outputs, *costs, edges)


def _walk(node_costs, edge_costs, edges):
    from skstruct.decoding.pairwise._compiled_gray import best_sets

    if not node_costs.shape[1]:
        return np.zeros(node_costs.shape, np.int8)
    return best_sets(node_costs, edge_costs, edges)


def _by_last_labels(node_costs, edge_costs, edges):
    """The same with the last labels held in all ways: one row is enough to fill the lanes.

    It is done so for any number of rows: sums in another order could settle a tie in another
    way.
    """
    outputs = np.empty(node_costs.shape, np.int8)
    for first in range(0, len(outputs), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        own = edge_costs if len(edge_costs) == 1 else edge_costs[part]
        outputs[part] = _block_by_last_labels(node_costs[part], own, edges)
    return outputs


def _block_by_last_labels(node_costs, edge_costs, edges):
    rows, n = node_costs.shape
    held = LANES.bit_length() - 1
    ways = np.zeros((LANES, n), bool)
    ways[:, n - held :] = np.arange(LANES)[:, None] >> np.arange(held) & 1
    ways, known = np.tile(ways, (rows, 1)), np.arange(n) >= n - held
    pairs = np.repeat(edge_costs, LANES, axis=0) if len(edge_costs) > 1 else edge_costs
    nodes = np.repeat(node_costs, LANES, axis=0)
    nodes, pairs, shift = fold(nodes, pairs, edges, ways, ways | ~known)
    left = ~known[edges].any(axis=1)
    heads = np.ascontiguousarray(nodes[:, ~known]), np.ascontiguousarray(pairs[:, left])
    found = _walk(*heads, edges[left])
    values = price_points(found, *heads, edges[left]) + shift
    best = values.reshape(rows, LANES).argmin(axis=1) + LANES * np.arange(rows)
    return np.hstack([found[best], ways[best][:, known]]).astype(np.int8)
