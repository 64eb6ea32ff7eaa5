# SPDX-License-Identifier: BSD-3-Clause
"""Few labels: all sets of them, one step apart, for all rows at once."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.roof import price_points

MOST = 24  # labels: beyond, a row takes seconds


def best_by_enumeration(node_costs, edge_costs, edges) -> tuple[np.ndarray, np.ndarray]:
    """Cheapest labels for any graph, in time 2^n: for up to a dozen labels.

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
    from skstruct.decoding.pairwise._compiled_gray import best_sets

    n = node_costs.shape[1]
    if n > MOST:
        raise ValueError(f"All sets of {n} labels are too many to try; {MOST} labels at most.")
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    outputs = best_sets(*costs, edges)
    # Prices anew: those on the way have gathered the rounding of all steps.
    return outputs, price_points(outputs, *costs, edges)
