# SPDX-License-Identifier: BSD-3-Clause
"""The shortest round trips through all nodes, proven by branch and bound with 1-trees.

A 1-tree is a spanning tree of all nodes but one, and two edges at that one; every round trip is
a 1-tree. Prices of the nodes change the cost of every round trip by the same, and of 1-trees by
what their degrees are off, so that they raise the bound. With random costs 30 nodes take a
millisecond.

References
----------
Held and Karp (1971), "The traveling-salesman problem and minimum spanning trees: part II";
Volgenant and Jonker (1982), "A branch and bound algorithm for the symmetric traveling salesman
problem based on the 1-tree relaxation".
"""

from __future__ import annotations

import numpy as np

from skstruct._arrays.stopping import Limit
from skstruct.spaces.cycles.constraints import CycleConstraints

FEWEST_NODES = 9  # below, the table over subsets is as fast
MOST_WORK = 20_000_000  # entries of the costs looked at for one row: 50 to 100 ms
WORK_PER_SECOND = 2e8  # nominally
OF_NODE = 27  # trees that are grown for a node, about


def visits_all(constraints: CycleConstraints, n: int) -> np.ndarray:
    """Which of n rows ask for all nodes that may be visited, so many that it pays; (n,)."""
    n_open = constraints.open.sum(axis=1)
    fewest = np.maximum(constraints.smallest, constraints.visited.sum(axis=1))
    whole = (fewest == n_open) & (constraints.largest >= n_open) & (n_open >= FEWEST_NODES)
    whole = whole & (constraints.visited <= constraints.open).all(axis=1)
    return np.array(np.broadcast_to(whole, n))


def work_allowed(n_nodes: np.ndarray) -> np.ndarray:
    """Work for rows of so many nodes: no more than a few times that of the table over subsets.

    The limits of the settings may be less.
    """
    table = 4.0 * n_nodes * 2.0 ** np.minimum(n_nodes, 40)
    limit = Limit()
    of_node = OF_NODE * n_nodes.astype(np.float64) ** 2
    most = np.minimum(limit.nodes(MOST_WORK, WORK_PER_SECOND), limit.nodes() * of_node)
    return np.minimum(table, most).astype(np.int64)


def proven_round_trips(
    costs: np.ndarray, known: np.ndarray, open: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Round trips of least cost through all open nodes, where a limit of work was enough.

    Parameters
    ----------
    costs : array of shape (n, N, N)
        Symmetric, of any sign; infinite where there is no edge. The diagonal is not read.
    known : bool array of shape (1 or n, N, N)
        Edges that must be used, symmetric.
    open : bool array of shape (1 or n, N)
        The nodes to visit, three or more.

    Returns
    -------
    tours : int array of shape (n, N)
        Nodes in order of travel, padded with -1; -1 alone where there is no trip.
    proven : bool array of shape (n,)
        Rows that were finished. Work is counted, not timed: the same rows on every machine.

    Examples
    --------
    >>> ring = np.full((1, 5, 5), 2.0)
    >>> ring[0, [0, 2, 4, 1, 3], [2, 4, 1, 3, 0]] = ring[0, [2, 4, 1, 3, 0], [0, 2, 4, 1, 3]] = 1.0
    >>> tours, proven = proven_round_trips(ring, np.zeros((1, 5, 5), bool), np.ones((1, 5), bool))
    >>> tours.tolist(), proven.tolist()
    ([[0, 2, 4, 1, 3]], [True])
    """
    from skstruct.spaces.cycles._numba_round_trips import round_trip_rows

    n, N, _ = costs.shape
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    # Copies: arrays that may not be written to would be compiled for anew.
    open = np.array(np.broadcast_to(open, (n, N)), order="C")
    known = np.array(known, order="C")
    tours = np.full((n, N), -1, np.int64)
    work = work_allowed(open.sum(axis=1))
    proven = round_trip_rows(costs, known, open, work, tours)
    return tours, proven
