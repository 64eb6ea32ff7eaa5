# SPDX-License-Identifier: BSD-3-Clause
"""Label sets of least cost: thresholds, partial sorts, or binary programs where these fail."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.mixed_programs import MixedProgram


def threshold(costs: np.ndarray) -> np.ndarray:
    """Each coordinate by itself: take it when it lowers the cost."""
    return (costs < 0).astype(np.int8)


def keep_group_winners(
    costs: np.ndarray, low: np.ndarray, high: np.ndarray, groups: Any
) -> np.ndarray:
    """Leave in each exclusive group only the member worth taking; groups are disjoint.

    Whatever else is chosen, swapping the taken member of a group for its lowest cost one
    keeps the size and never costs more, so the others may be forbidden.

    Returns ``high`` with the others forbidden; shape (n, d).
    """
    high = np.array(np.broadcast_to(high, costs.shape))
    low = np.broadcast_to(low, costs.shape)
    for group in groups:
        key = np.where(high[:, group], costs[:, group], np.inf)
        key[low[:, group]] = -np.inf
        winner = key.argmin(axis=1)
        keep = np.zeros(key.shape, bool)
        keep[np.arange(len(key)), winner] = True
        high[:, group] &= keep
    return high


def min_cost_subsets(
    costs: np.ndarray, low: np.ndarray, high: np.ndarray, smallest: int, largest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-cost subset of every row with smallest..largest labels.

    Parameters
    ----------
    costs : array of shape (n, d)
    low, high : bool arrays of shape (n or 1, d)
        Labels that must be in and that may be in.

    Returns
    -------
    outputs : int8 array of shape (n, d)
    feasible : bool array of shape (n,)
    """
    low, high = np.broadcast_to(low, costs.shape), np.broadcast_to(high, costs.shape)
    forced, possible = low.sum(axis=1), high.sum(axis=1)
    feasible = (low <= high).all(axis=1) & (forced <= largest) & (possible >= smallest)
    feasible &= smallest <= largest
    order = label_order(costs, low, high)
    wanted = (low | (high & (costs < 0))).sum(axis=1)
    size = np.clip(wanted, max(smallest, 0), largest)
    size = np.clip(size, forced, possible)
    return first_labels(order, size), feasible


def min_cost_per_size(
    costs: np.ndarray,
    empty_cost: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    smallest: int,
    largest: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum-cost subset of every row when a label's cost depends on the size of the subset.

    Parameters
    ----------
    costs : array of shape (n, d, d)
        ``costs[i, j, k - 1]``: label j in a subset of k labels.
    empty_cost : array of shape (n,)
    low, high : bool arrays of shape (1 or n, d, 1 or d)

    Returns
    -------
    outputs, values : arrays of shape (n, d) and (n,)
        The value is infinite where no subset is allowed.
    """
    from skstruct.spaces.indicator_sets._numba_f_measures import best_sizes

    n, d, _ = costs.shape
    sizes, values = np.empty(n, np.int64), np.empty(n)
    # Arrays of one type each: the compiler would make another version of every other.
    given = (np.require(a, requirements=["C", "W"]) for a in (costs, empty_cost, low, high))
    cube, empty, must, may = given
    best_sizes(cube, empty, must, may, int(smallest), int(min(largest, d)), sizes, values)
    column = np.maximum(sizes - 1, 0)
    own = costs[np.arange(n), :, column]
    must, may = (of_size(mask, column) for mask in (low, high))
    return first_labels(label_order(own, must, may), sizes), values


def of_size(mask: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Rows of a mask of shape (1 or n, d, 1 or d), for the size of each row."""
    rows = np.minimum(np.arange(len(column)), len(mask) - 1)
    return mask[rows, :, np.minimum(column, mask.shape[2] - 1)]


def label_order(costs: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Labels of every row: forced ones first, forbidden ones last, others by cost, then index."""
    key = np.where(low, -np.inf, np.where(high, costs, np.inf))
    return np.argsort(key, axis=1, kind="stable")


def first_labels(order: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Sets of the first labels of every row."""
    outputs = np.zeros(order.shape, np.int8)
    np.put_along_axis(outputs, order, np.arange(order.shape[1]) < sizes[:, None], axis=1)
    return outputs


def closure_rows(dag: Dag) -> sparse.csr_array:
    """One row y_child - y_parent <= 0 per arc."""
    n_arcs = len(dag.children)
    row = np.arange(n_arcs)
    value = np.concatenate([np.ones(n_arcs), -np.ones(n_arcs)])
    position = np.concatenate([row, row]), np.concatenate([dag.children, dag.parents])
    return sparse.csr_array((value, position), shape=(n_arcs, dag.n_nodes))


def limit_constraints(dag: Dag, constraints: Any) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """(A_ub, b_ub, A_eq, b_eq) of the closed sets within constraints; masks stay bounds."""
    d = dag.n_nodes
    blocks, right = [closure_rows(dag)], [np.zeros(len(dag.children))]
    if constraints.is_sized:
        blocks.append(sparse.csr_array(np.vstack([np.ones(d), -np.ones(d)])))
        right.append(np.array([constraints.largest, -constraints.smallest], dtype=float))
    if constraints.groups:
        member = np.zeros((len(constraints.groups), d))
        for g, group in enumerate(constraints.groups):
            member[g, group] = 1.0
        blocks.append(sparse.csr_array(member))
        right.append(np.ones(len(constraints.groups)))
    none = sparse.csr_array((0, d))
    return sparse.vstack(blocks, format="csr"), np.concatenate(right), none, np.zeros(0)


def set_program(dag: Dag, constraints: Any) -> MixedProgram:
    """The closed sets within constraints of one row, known labels as limits."""
    A_ub, b_ub, A_eq, b_eq = limit_constraints(dag, constraints)
    if constraints.one_path:
        # One leaf, and z_v <= the sum of the leaves below v: nothing beside its path.
        below = sparse.csr_array(dag.ancestors.T, dtype=np.float64)[:, dag.leaves]
        inner = np.setdiff1d(np.arange(dag.n_nodes), dag.leaves)
        spread = sparse.csr_array(
            (np.ones(len(dag.leaves)), (np.arange(len(dag.leaves)), dag.leaves)),
            shape=(len(dag.leaves), dag.n_nodes),
        )
        rows = sparse.eye_array(dag.n_nodes, format="csr")[inner] - below[inner] @ spread
        A_ub, b_ub = sparse.vstack([A_ub, rows], format="csr"), np.append(b_ub, inner * 0.0)
        A_eq, b_eq = sparse.csr_array(spread.sum(axis=0)[None]), np.ones(1)
    low, high = constraints.low[0].astype(np.float64), constraints.high[0].astype(np.float64)
    return MixedProgram(A_ub, b_ub, A_eq, b_eq, low, high, np.ones(dag.n_nodes, bool))


def with_limits(program: BinaryProgram, dag: Dag, constraints: Any) -> BinaryProgram:
    """The program of the points that also obey sizes and exclusive groups; masks stay bounds."""
    A, b, _, _ = limit_constraints(dag, constraints)
    if not A.shape[0]:
        return program
    A_ub = sparse.vstack([program.A_ub, A], format="csr")
    b_ub = np.concatenate([program.b_ub, b])
    return BinaryProgram(A_ub, b_ub, program.A_eq, program.b_eq)


def with_masks(program: BinaryProgram, low: np.ndarray, high: np.ndarray) -> BinaryProgram:
    """The program of the points that also keep to what is known, bool (d,), as equations."""
    known = np.flatnonzero(low | ~high)
    if not len(known):
        return program
    fixed = sparse.eye_array(len(low), format="csr")[known]
    impossible = low[known] & ~high[known]  # an equation that no 0/1 point meets
    right = np.where(impossible, 2.0, low[known].astype(float))
    A_eq = sparse.vstack([program.A_eq, fixed], format="csr")
    b_eq = np.concatenate([program.b_eq, right])
    return BinaryProgram(program.A_ub, program.b_ub, A_eq, b_eq)
