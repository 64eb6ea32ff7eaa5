# SPDX-License-Identifier: BSD-3-Clause
"""Nearest probabilities that belong together: on a simplex, within sizes, falling along arcs."""

import numpy as np

from skstruct.spaces.solvers.dags import Dag
from skstruct.tolerances import COHERENT, SURE

ROUNDS = 10_000  # of Dykstra's algorithm
HALVINGS = 100  # of an interval that holds a shift: to the last bit


def nearest_on_simplex(values: np.ndarray) -> np.ndarray:
    r"""The nearest rows of numbers of at least zero that sum to one.

    .. math:: z_j = \max(v_j - \tau, 0), \qquad \sum_j z_j = 1

    with the shift from the sorted values [1]_.

    Parameters
    ----------
    values : array of shape (n, d)

    References
    ----------
    .. [1] Held, Wolfe and Crowder, "Validation of subgradient optimization", 1974.

    Examples
    --------
    >>> nearest_on_simplex(np.array([[0.5, 0.8, -0.1]])).round(3).tolist()
    [[0.35, 0.65, 0.0]]
    """
    ordered = -np.sort(-values, axis=1)
    above = np.cumsum(ordered, axis=1) - 1.0
    count = np.arange(1, values.shape[1] + 1)
    n_used = (ordered * count > above).sum(axis=1, keepdims=True)
    shift = np.take_along_axis(above, n_used - 1, axis=1) / n_used
    return np.maximum(values - shift, 0.0)


def nearest_sized(
    values: np.ndarray, low: np.ndarray, high: np.ndarray, smallest: float, largest: float
) -> np.ndarray:
    """The nearest rows between bounds, with a sum from ``smallest`` to ``largest``.

    Parameters
    ----------
    values : array of shape (n, d)
    low, high : arrays of shape (n or 1, d)
        Sums within the limits must be possible.

    Examples
    --------
    >>> nearest_sized(np.array([[0.9, 0.8, 0.1]]), np.zeros((1, 3)), np.ones((1, 3)), 0, 1)
    array([[0.55, 0.45, 0.  ]])
    """
    within: np.ndarray = np.clip(values, low, high)
    total = within.sum(axis=1)
    wanted = np.clip(total, smallest, largest)
    rows = np.flatnonzero(wanted != total)
    if len(rows):
        v = values[rows]
        low, high = (
            np.broadcast_to(low, values.shape)[rows],
            np.broadcast_to(high, values.shape)[rows],
        )
        within[rows] = _with_sum(v, low, high, wanted[rows, None])
    return within


def _with_sum(v: np.ndarray, low: np.ndarray, high: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """clip(v - shift) of the shift that gives the sum: a falling function of it, halved."""
    least = (v - high).min(axis=1, keepdims=True)
    most = (v - low).max(axis=1, keepdims=True)
    for _ in range(HALVINGS):
        middle = (least + most) / 2.0
        above = np.clip(v - middle, low, high).sum(axis=1, keepdims=True) > wanted
        least, most = np.where(above, middle, least), np.where(above, most, middle)
    return np.clip(v - (least + most) / 2.0, low, high)


def nearest_doubly_stochastic(values: np.ndarray) -> np.ndarray:
    """The nearest square matrices of numbers of at least zero whose rows and columns sum to one.

    By turns between matrices with such sums, which have a closed form, and those of at least zero
    (Dykstra's algorithm), to the tolerance ``COHERENT``.

    Parameters
    ----------
    values : array of shape (n, d, d)

    Examples
    --------
    >>> nearest_doubly_stochastic(np.array([[[0.9, 0.3], [0.5, 0.4]]])).round(3).tolist()
    [[[0.625, 0.375], [0.375, 0.625]]]
    """
    found, negative = _with_sums(values), np.zeros_like(values)
    left = np.arange(len(values))
    for _ in range(ROUNDS):
        here = found[left] + negative
        above = np.maximum(here, 0.0)
        negative = here - above
        summed = _with_sums(above)
        found[left] = summed
        open_ = -summed.min(axis=(1, 2), initial=0.0) > COHERENT
        left, negative = left[open_], negative[open_]
        if not len(left):
            break
    return np.maximum(found, 0.0)


def doubly_stochastic(values: np.ndarray) -> np.ndarray:
    """Matrices of numbers of at least zero, rows and columns multiplied by factors until all sum to
    one: nothing that is above zero becomes zero, as in the nearest ones.

    Parameters
    ----------
    values : array of shape (n, d, d)

    Examples
    --------
    >>> doubly_stochastic(np.array([[[0.9, 0.3], [0.5, 0.4]]])).round(3).tolist()
    [[[0.608, 0.392], [0.392, 0.608]]]
    """
    found = np.array(values, dtype=np.float64)
    for _ in range(ROUNDS):
        found /= np.maximum(found.sum(axis=2, keepdims=True), SURE)
        sums = found.sum(axis=1, keepdims=True)
        found /= np.maximum(sums, SURE)
        if np.abs(sums - 1.0).max(initial=0.0) <= COHERENT:
            break
    return found


def _with_sums(values: np.ndarray) -> np.ndarray:
    """The nearest matrices of any numbers whose rows and columns sum to one."""
    d = values.shape[-1]
    rows, columns = values.sum(axis=2, keepdims=True), values.sum(axis=1, keepdims=True)
    shift = (rows + columns - values.sum(axis=(1, 2), keepdims=True) / d - 1.0) / d
    return values - shift


def nearest_falling(values: np.ndarray, dag: Dag) -> np.ndarray:
    """The nearest rows of numbers from 0 to 1 in which no node is above a parent.

    Exact on forests; on other graphs to the tolerance ``COHERENT``, and coherent to the last bit.

    Parameters
    ----------
    values : array of shape (n, d)
    dag : Dag of d nodes

    Examples
    --------
    >>> nearest_falling(np.array([[0.5, 0.7, 0.1]]), Dag(3, [0, 0], [1, 2])).round(3).tolist()
    [[0.6, 0.6, 0.1]]
    """
    from skstruct.spaces.solvers._numba_marginals import falling_on_forests, falling_on_graphs

    down = dag.order
    ordered = np.ascontiguousarray(values[:, down], dtype=np.float64)
    found = np.empty_like(ordered)
    if dag.is_forest:
        above = dag.parent_of[down]
        parent = np.where(above >= 0, dag.position[above], -1)
        falling_on_forests(ordered, parent, found)
    else:
        ends = dag.position[dag.parents], dag.position[dag.children]
        falling_on_graphs(ordered, ends[0], ends[1], COHERENT, ROUNDS, found)
    nearest = np.empty_like(found)
    nearest[:, down] = np.clip(found, 0.0, 1.0)  # what falls still falls, and is still nearest
    return nearest if dag.is_forest else lowered(nearest, dag)


def lowered(values: np.ndarray, dag: Dag) -> np.ndarray:
    """Numbers (n, d) in which nodes that were above a parent are brought down to it, in place."""
    for arc in np.argsort(dag.depth[dag.children], kind="stable"):  # parents before children
        parent, child = dag.parents[arc], dag.children[arc]
        np.minimum(values[:, child], values[:, parent], out=values[:, child])
    return values
