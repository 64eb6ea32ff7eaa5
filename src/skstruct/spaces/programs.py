# SPDX-License-Identifier: BSD-3-Clause
"""Limits and closures as linear constraints: the way out when no special solver fits."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.progress import track
from skstruct.decoding.binary_programs import BinaryProgram
from skstruct.decoding.dag import Dag
from skstruct.exceptions import InfeasibleError


def closure_rows(dag: Dag) -> sparse.csr_array:
    """One row y_child - y_parent <= 0 per arc."""
    n_arcs = len(dag.children)
    row = np.arange(n_arcs)
    value = np.concatenate([np.ones(n_arcs), -np.ones(n_arcs)])
    place = np.concatenate([row, row]), np.concatenate([dag.children, dag.parents])
    return sparse.csr_array((value, place), shape=(n_arcs, dag.n_nodes))


def limit_constraints(dag: Dag, limits):
    """(A_ub, b_ub, A_eq, b_eq) of the closed sets within limits; masks stay bounds."""
    d = dag.n_nodes
    blocks, right = [closure_rows(dag)], [np.zeros(len(dag.children))]
    if limits.is_sized:
        blocks.append(sparse.csr_array(np.vstack([np.ones(d), -np.ones(d)])))
        right.append(np.array([limits.largest, -limits.smallest], dtype=float))
    if limits.groups:
        member = np.zeros((len(limits.groups), d))
        for g, group in enumerate(limits.groups):
            member[g, group] = 1.0
        blocks.append(sparse.csr_array(member))
        right.append(np.ones(len(limits.groups)))
    none = sparse.csr_array((0, d))
    return sparse.vstack(blocks, format="csr"), np.concatenate(right), none, np.zeros(0)


def decode_rows(program: BinaryProgram, costs, low, high):
    """Solve one binary program per row; infinite values mark rows without any output."""
    outputs = np.zeros(costs.shape, np.int8)
    values, bounds = np.full(len(costs), np.inf), np.full(len(costs), np.inf)
    low, high = np.broadcast_to(low, costs.shape), np.broadcast_to(high, costs.shape)
    for i in track(range(len(costs)), "integer programs"):
        cost = costs[i]
        if (low[i] & ~high[i]).any():
            continue
        try:
            outputs[i], bounds[i] = program.solve(cost, low[i], high[i])
        except InfeasibleError:
            continue
        values[i] = cost @ outputs[i]
    return outputs, values, bounds
