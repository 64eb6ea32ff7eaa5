# SPDX-License-Identifier: BSD-3-Clause
"""Roof duality: the local polytope's optimum by one minimum cut per row; rounding."""

import numpy as np

from skstruct.spaces.solvers.pairwise.forests import neighbors


def fold(
    node_costs: np.ndarray,
    edge_costs: np.ndarray,
    edges: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same costs for the labels that are not known, as node and edge costs and a shift.

    An edge to a label that is in is a cost of the label at its other end; an edge to one
    that is out costs nothing. Known labels then cost nothing and have no edges, whatever a
    solver makes of them.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows or 1, E)
    edges : int array of shape (E, 2)
    low, high : bool arrays of shape (rows or 1, n)
        Labels that must and that may be in.

    Returns
    -------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows or 1, E)
    shift : array of shape (rows,)
        What the known labels cost among themselves.

    Examples
    --------
    >>> costs = np.array([[3.0, 5.0]]), np.array([[-1.0]]), np.array([[0, 1]])
    >>> fold(*costs, np.array([[True, False]]), np.array([[True, True]]))
    (array([[0., 4.]]), array([[0.]]), array([3.]))
    """
    from skstruct.spaces.solvers.pairwise._numba_roof_duality import fold as compiled

    masks = max(len(low), len(high)), node_costs.shape[1]
    low, high = (np.ascontiguousarray(np.broadcast_to(mask, masks)) for mask in (low, high))
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    return compiled(*costs, np.ascontiguousarray(edges, dtype=np.int64), low, high)


def roof_dual(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
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
    return halves, evaluate_points(halves, node_costs, edge_costs, edges)


def best_halves(node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The labels of ``roof_dual``, for whoever evaluates them in another way."""
    from skstruct.spaces.solvers.pairwise._numba_roof_duality import roof_dual as compiled

    edges = np.ascontiguousarray(edges, dtype=np.int64)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    return compiled(*costs, *neighbors(costs[0].shape[1], edges))


def evaluate_points(
    points: np.ndarray, node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> np.ndarray:
    """What labels in [0, 1] cost, with the edges at their best; shape (rows,)."""
    return _evaluate(points, node_costs, edge_costs, edges, np.empty((0, 0)))


def embed_points(
    points: np.ndarray, node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Labels in [0, 1] and the best their edges can be, (rows, n + E), and what they cost."""
    embedded = np.empty((len(points), points.shape[1] + len(edges)))
    return embedded, _evaluate(points, node_costs, edge_costs, edges, embedded)


def _evaluate(
    points: np.ndarray,
    node_costs: np.ndarray,
    edge_costs: np.ndarray,
    edges: np.ndarray,
    embedded: np.ndarray,
) -> np.ndarray:
    from skstruct.spaces.solvers.pairwise._numba_roof_duality import evaluate

    at, nodes, pairs = (
        np.ascontiguousarray(a, dtype=float) for a in (points, node_costs, edge_costs)
    )
    ends = np.ascontiguousarray(edges, dtype=np.int64)
    return evaluate(at, nodes, pairs, ends, embedded)


def improve(
    node_costs: np.ndarray,
    edge_costs: np.ndarray,
    edges: np.ndarray,
    starts: np.ndarray,
    open_: np.ndarray | None = None,
) -> np.ndarray:
    """Steepest descent from given labels.

    Parameters
    ----------
    node_costs : array of shape (rows, n)
    edge_costs : array of shape (rows, E), or (1, E) when all rows have the same
    edges : int array of shape (E, 2)
    starts : 0/1 array of shape (rows, n)
    open_ : bool array of shape (rows, n), default=None
        Labels that may be changed; all when None.

    Returns
    -------
    outputs : int8 array of shape (rows, n)

    Examples
    --------
    >>> costs = np.array([[1.0, 1.0, 0.5]]), np.array([[-3.0, 1.0]]), np.array([[0, 1], [1, 2]])
    >>> improve(*costs, np.array([[0, 0, 1]]))
    array([[1, 1, 0]], dtype=int8)
    """
    from skstruct.spaces.solvers.pairwise._numba_enumeration import descend

    edges = np.ascontiguousarray(edges, dtype=np.int64)
    costs = np.ascontiguousarray(node_costs), np.ascontiguousarray(edge_costs)
    outputs = np.array(starts, dtype=np.int8, order="C")
    open_ = np.ones(outputs.shape, bool) if open_ is None else np.ascontiguousarray(open_)
    start, other, edge, _ = neighbors(outputs.shape[1], edges)
    descend(*costs, edges, start, other, edge, open_, outputs)
    return outputs


def round_halves(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, halves: np.ndarray
) -> np.ndarray:
    """0/1 labels from half-integral ones: descents from three starts, the best of them.

    Labels of one half start at 0, at 1, and where they would be best if all labels next to
    them were as they are, halves included.
    """
    open_ = halves == 0.5
    i, j = np.asarray(edges).T
    pull = np.array(node_costs, dtype=float)
    for end, across in ((i, j), (j, i)):
        np.add.at(pull.T, end, (edge_costs * halves[:, across]).T)
    guesses = [np.zeros(halves.shape), np.ones(halves.shape), pull < 0]
    costs = node_costs, edge_costs, edges
    found = [improve(*costs, np.where(open_, guess, halves), open_) for guess in guesses]
    values = np.array([evaluate_points(outputs, *costs) for outputs in found])
    return np.array(found)[values.argmin(axis=0), np.arange(len(halves))]
