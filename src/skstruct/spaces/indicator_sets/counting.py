# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets of forests as paths, and moments of products of labels."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.state_graphs import StateGraph


def sized_graph(
    steps: tuple[np.ndarray, np.ndarray, np.ndarray],
    smallest: int,
    largest: int,
    low: Any = None,
    high: Any = None,
) -> StateGraph:
    """Closed sets of a forest as paths: the level of a state is how many labels were taken.

    At a label the path takes it and goes on to its first child, or skips it and goes on past all
    that is below. Members of an exclusive group stand side by side, and whoever takes one goes on
    behind the group. ``low`` and ``high`` are closed.
    """
    d, largest = len(steps[0]), min(largest, len(steps[0]))
    # Once there are enough, and none can be too many, more need not be told apart.
    saturated = smallest <= d <= largest
    top = max(min(smallest, d) if saturated else largest, 0)
    final = (np.arange(top + 1) >= smallest) & (largest >= 0)
    one_more, most = np.ones(d, np.int64), d if saturated else top
    return StateGraph.of_choices(
        *steps, one_more, final, most, low=low, high=high, saturated=saturated
    )


def path_steps(dag: Dag, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels in the order of paths, and the positions where each goes on: taken, or skipped."""
    d, group = dag.n_nodes, np.arange(dag.n_nodes)
    for members in groups:
        group[members] = np.min(members)
    below: list[list[int]] = [[] for _ in range(d + 1)]  # the last one: above all roots
    for v in np.lexsort((np.arange(d), group)).tolist():
        below[int(dag.parent_of[v])].append(v)
    order, stack = [], below[-1][::-1]
    while stack:
        order.append(stack.pop())
        stack.extend(below[order[-1]][::-1])
    position = np.empty(d + 1, np.int64)
    position[order] = np.arange(d)
    position[-1] = d
    behind = np.full(d + 1, d)  # where a path goes on once all below a taken label is settled
    skip, take = np.empty(d, np.int64), np.empty(d, np.int64)
    for parent in [-1, *order]:
        onward = passed = behind[parent]
        for v, after in zip(below[parent][::-1], [None, *below[parent][:0:-1]]):
            if after is not None and group[v] != group[after]:
                passed = position[after]
            skip[position[v]] = onward if after is None else position[after]
            behind[v] = passed
    for v in order:
        take[position[v]] = position[below[v][0]] if below[v] else behind[v]
    return np.array(order, dtype=np.int64), take, skip


def sibling_groups(dag: Dag, constraints: Constraints) -> bool:
    """Whether exclusive groups are disjoint sets of siblings."""
    members = np.concatenate([*constraints.groups, np.empty(0, np.int64)]).astype(np.int64)
    alike = all(len(set(dag.parent_of[g].tolist())) == 1 for g in constraints.groups)
    return alike and len(set(members.tolist())) == len(members)


def forest_paths(dag: Dag, constraints: Constraints) -> StateGraph | None:
    """Closed sets as paths, where the graph is a forest and groups are siblings."""
    if constraints.one_path or not dag.is_forest or not sibling_groups(dag, constraints):
        return None
    low, high = (mask[0] for mask in constraints.closed(dag))
    steps = path_steps(dag, constraints.groups)
    return sized_graph(steps, constraints.smallest, constraints.largest, low, high)


def mean_of_products(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Mean of (y_i) and (y_i y_j) over all labels between low and high; shape (n + E,)."""
    probability = 0.5 * (low.astype(float) + high)
    return np.concatenate([probability, probability[edges[:, 0]] * probability[edges[:, 1]]])


def second_moment_of_products(edges: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Mean of psi psi' over all labels between low and high; shape (n + E, n + E).

    A product of labels is 1 when none of them is known to be out and all coins of their
    union fall on 1: a probability of 1/2 to the number of coins, and coins in both count once.
    """
    n, count = len(low), len(edges)
    check_square_fits(n + count, "The second moment", "Fewer labels or pairs take less.")
    row = np.concatenate([np.arange(n), np.repeat(np.arange(n, n + count), 2)])
    column = np.concatenate([np.arange(n), edges.ravel()])
    member = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n + count, n))
    coins, possible = member * (high & ~low), member @ ~high == 0
    number = coins.sum(axis=1)
    union = number[:, None] + number - (coins @ coins.T).toarray()
    return np.where(possible[:, None] & possible, 0.5**union, 0.0)
