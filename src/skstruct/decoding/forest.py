# SPDX-License-Identifier: BSD-3-Clause
"""Sets closed under taking parents, in a forest: exact in O(d) for every row."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.dag import Dag


def forest_closed_sets(costs: np.ndarray, dag: Dag) -> tuple[np.ndarray, np.ndarray]:
    """Cheapest ancestor-closed set of every row, and its cost."""
    from skstruct.decoding._compiled_forest import closed_sets

    parent = _parents(dag)
    parent = np.where(parent >= 0, parent, dag.n_nodes)
    return closed_sets(np.ascontiguousarray(costs), dag.order, parent)


def forest_exclusive_sets(costs: np.ndarray, dag: Dag, group: np.ndarray) -> np.ndarray:
    """The same with at most one node of each group of siblings; ``group[j]`` is -1 for none."""
    from skstruct.decoding._compiled_forest import exclusive_sets

    group = np.ascontiguousarray(group[dag.order])
    return exclusive_sets(np.ascontiguousarray(costs), dag.order, _parents(dag), group)


def forest_sized_sets(costs, dag, low, high, smallest, largest, *, per_size=False):
    """The same with smallest..largest nodes: outputs and values, infinite where infeasible."""
    from skstruct.decoding._compiled_forest import sized_sets

    preorder, end = dag.preorder
    largest = min(largest, dag.n_nodes)
    arrays = [np.ascontiguousarray(a) for a in (costs, low, high)]
    return sized_sets(*arrays, preorder, end, smallest, largest, per_size)


def _parents(dag: Dag) -> np.ndarray:
    """Topological position of the parent of each topological position; -1 for roots."""
    parent = dag.parent_of[dag.order]
    return np.where(parent >= 0, dag.position[parent], -1)
