# SPDX-License-Identifier: BSD-3-Clause
"""Matchings of a graph as paths: what becomes of one node after the other."""

from __future__ import annotations

import numpy as np

from skstruct.summing.paths import PathGraph

MOST_STEPS = 2_000_000


def matching_paths(edges, place, perfect: bool) -> PathGraph | None:
    """All matchings of a graph, a path each; None where that takes too many steps.

    Nodes are passed in a given order. A state is the set of later nodes that are matched with
    earlier ones, as bits of an integer: bit 0 is the node that is next. There are few where
    the graph is small, or long and narrow.

    Parameters
    ----------
    edges : int array of shape (m, 2)
    place : int array of shape (n_nodes,)
        When each node is passed.
    perfect : bool

    Examples
    --------
    >>> graph = matching_paths(np.array([[0, 1], [1, 2], [2, 3]]), np.arange(4), False)
    >>> from skstruct.summing.paths import PathLaw
    >>> PathLaw(graph, np.zeros((1, 3))).marginals()
    array([[0.4, 0.2, 0.4]])
    """
    n_nodes, m = len(place), len(edges)
    ends = np.sort(place[edges], axis=1)
    order = np.argsort(ends[:, 0], kind="stable")
    bounds = np.searchsorted(ends[order, 0], np.arange(n_nodes + 1))
    if m and np.ptp(ends, axis=1).max() > 60:
        return None  # no room for the bits
    states, n_states, n_steps = np.zeros(1, np.int64), 0, 0
    none = np.zeros(0, np.int64)
    tails, targets, columns = [none], [none], [none]
    for k in range(n_nodes):
        later = order[bounds[k] : bounds[k + 1]]
        found = _moves(states, later, ends[later, 1] - k - 1, m, perfect, MOST_STEPS - n_steps)
        if found is None:
            return None
        tail, after, column = found
        n_steps += len(tail)
        reached, number = np.unique(after, return_inverse=True)
        tails.append(n_states + tail)
        n_states += len(states)
        targets.append(n_states + number.ravel())
        columns.append(column)
        states = reached
    return _sorted_graph(tails, targets, columns, n_states + 1, m, n_nodes // 2)


def _moves(states, later, shift, none: int, perfect: bool, most: int):
    """What may become of the next node: the state it is in, that after it, and the edge.

    None where there are more than ``most`` of these.
    """
    rest, taken = states >> 1, (states & 1).astype(bool)
    alone = np.flatnonzero(taken if perfect else np.ones(len(states), bool))
    tail, after, column = [alone], [rest[alone]], [np.full(len(alone), none)]
    most -= len(alone)
    for edge, bits in zip(later, shift):
        free = np.flatnonzero(~taken & (rest >> bits & 1 == 0))
        most -= len(free)
        if most < 0:
            return None
        tail.append(free)
        after.append(rest[free] | (np.int64(1) << bits))
        column.append(np.full(len(free), edge))
    return np.concatenate(tail), np.concatenate(after), np.concatenate(column)


def _sorted_graph(tails, targets, columns, n_states, n_columns, longest) -> PathGraph:
    """Steps in the order of the states they start from."""
    tail, target = np.concatenate(tails), np.concatenate(targets)
    order = np.argsort(tail, kind="stable")
    first = np.searchsorted(tail[order], np.arange(n_states + 1))
    column = np.concatenate(columns)[order].astype(np.int32)
    return PathGraph(first, target[order].astype(np.int32), column, n_columns, longest)
