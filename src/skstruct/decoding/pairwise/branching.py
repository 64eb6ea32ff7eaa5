# SPDX-License-Identifier: BSD-3-Clause
"""Branch and bound where roof duality is the bound, many parts at a time."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.cores import all_pairs, try_cores
from skstruct.decoding.pairwise.held import fold
from skstruct.decoding.pairwise.roof import price_points, roof_dual

AT_ONCE = 512  # parts that are bounded together
LEAF = 10  # open labels that are tried in all ways


def best_by_branching(node_cost, edge_cost, output) -> np.ndarray:
    """Best labels of one row of a full graph, from labels that are good already.

    A part holds some labels in and some out. It is dropped when its bound says that nothing
    in it is better than the best labels found, settled where roof duality settles labels,
    tried in all ways when few labels are open, and else split at the open label with most
    at stake.

    Parameters
    ----------
    node_cost : array of shape (k,)
    edge_cost : array of shape (k (k - 1) / 2,)
        Of the pairs (0, 1), (0, 2), ..., (1, 2), ...
    output : int8 array of shape (k,)

    Returns
    -------
    output : int8 array of shape (k,)

    Examples
    --------
    >>> costs = np.array([-1.0, -2.0, -1.0]), np.array([2.0, 0.5, 2.0])
    >>> best_by_branching(*costs, np.zeros(3, np.int8))
    array([0, 1, 0], dtype=int8)
    """
    k = len(node_cost)
    edges, node_cost, edge_cost = all_pairs(k), node_cost[None], edge_cost[None]
    slack = 1e-12 * (np.abs(node_cost).sum() + np.abs(edge_cost).sum())
    value = price_points(output[None], node_cost, edge_cost, edges)[0]
    waiting = [np.full((1, k), 0.5)]  # parts: 1 is in, 0 is out
    while waiting:
        parts, rest = np.split(waiting.pop(), [AT_ONCE])
        if len(rest):
            waiting.append(rest)
        costs = np.repeat(node_cost, len(parts), axis=0), edge_cost, edges
        parts, at_stake, bounds = _bounded(parts, *costs)
        parts, at_stake = parts[bounds < value - slack], at_stake[bounds < value - slack]
        n_open = (parts == 0.5).sum(axis=1)
        for size in np.unique(n_open[n_open <= LEAF]):
            leaves = parts[n_open == size]
            found = try_cores(costs[0][: len(leaves)], edge_cost, edges, leaves, int(size))
            prices = price_points(found, costs[0][: len(leaves)], edge_cost, edges)
            if prices.min() < value:
                output, value = found[prices.argmin()], prices.min()
        large = n_open > LEAF
        if large.any():
            waiting.append(_split(parts[large], at_stake[large]))
    return output


def _bounded(parts, node_costs, edge_costs, edges):
    """Parts with the labels that roof duality settles, what is at stake for labels, bounds."""
    low, high = parts == 1.0, parts > 0.0
    nodes, pairs, shift = fold(node_costs, edge_costs, edges, low, high)
    halves, bounds = roof_dual(nodes, pairs, edges)
    parts = np.where(parts == 0.5, halves, parts)
    at_stake = np.zeros(parts.shape)
    for end in edges.T:
        np.add.at(at_stake.T, end, np.abs(pairs).T)
    return parts, np.where(parts == 0.5, at_stake, -1.0), bounds + shift


def _split(parts, at_stake):
    """Every part twice, with the label of most at stake out and in."""
    split = np.repeat(parts, 2, axis=0)
    label = np.repeat(at_stake.argmax(axis=1), 2)
    split[np.arange(len(split)), label] = np.arange(len(split)) % 2
    return split
