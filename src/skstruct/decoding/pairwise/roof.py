# SPDX-License-Identifier: BSD-3-Clause
"""Roof duality: the local polytope's optimum for any graph, by one minimum cut per row."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.graphs import neighbors


def roof_dual(node_costs, edge_costs, edges) -> tuple[np.ndarray, np.ndarray]:
    r"""Best half-integral labels, and their value: a bound on that of all 0/1 labels.

    The minimum of :math:`\sum_i a_i \mu_i + \sum_e w_e \mu_{ij}` over the local polytope
    :math:`\max(0, \mu_i + \mu_j - 1) \le \mu_{ij} \le \min(\mu_i, \mu_j)`, :math:`0 \le \mu \le 1`,
    is attained at halves. Labels that come out 0 or 1 are persistent: some best 0/1 labels
    have them all. Where no circle has an odd number of edges of positive cost (so on
    forests, and where no cost is positive) all of them come out so, and are the best.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)

    Returns
    -------
    halves : array of shape (rows, n), each 0, 1/2 or 1
    values : array of shape (rows,)

    References
    ----------
    Hammer, Hansen, Simeone (1984). Roof duality, complementation and persistency in
    quadratic 0-1 optimization. Kolmogorov, Rother (2007). Minimizing nonsubmodular functions
    with graph cuts: a review.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> roof_dual(np.array([[-1.0, -1.0, -1.0]]), np.array([[2.0, 2.0, 2.0]]), triangle)
    (array([[0.5, 0.5, 0.5]]), array([-1.5]))
    """
    halves = best_halves(node_costs, edge_costs, edges)
    return halves, price_points(halves, node_costs, edge_costs, edges)


def best_halves(node_costs, edge_costs, edges) -> np.ndarray:
    """The labels of ``roof_dual``, for whoever prices them in another way."""
    from skstruct.decoding.pairwise._compiled_roof import roof_dual as compiled

    edges = np.ascontiguousarray(edges, dtype=np.int64)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    return compiled(*costs, *neighbors(costs[0].shape[1], edges))


def price_points(points, node_costs, edge_costs, edges) -> np.ndarray:
    """What labels in [0, 1] cost, with the edges at their best; shape (rows,)."""
    return _price(points, node_costs, edge_costs, edges, np.empty((0, 0)))


def embed_points(points, node_costs, edge_costs, edges) -> tuple[np.ndarray, np.ndarray]:
    """Labels in [0, 1] and the best their edges can be, (rows, n + E), and what they cost."""
    embedded = np.empty((len(points), points.shape[1] + len(edges)))
    return embedded, _price(points, node_costs, edge_costs, edges, embedded)


def _price(points, node_costs, edge_costs, edges, embedded):
    from skstruct.decoding.pairwise._compiled_prices import price

    arrays = (np.ascontiguousarray(a, dtype=float) for a in (points, node_costs, edge_costs))
    return price(*arrays, np.ascontiguousarray(edges, dtype=np.int64), embedded)
