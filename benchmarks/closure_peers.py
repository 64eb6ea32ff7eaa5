# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to the minimum-cost set that holds the parents of its members."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import breadth_first_order, maximum_flow


def parent_constraints(dag) -> sparse.csc_array:
    """One row z_child - z_parent <= 0 per arc."""
    arc = np.arange(len(dag.parents))
    signs = np.repeat([1.0, -1.0], len(arc))
    where = np.tile(arc, 2), np.concatenate([dag.children, dag.parents])
    return sparse.csc_array((signs, where), shape=(len(arc), dag.n_nodes))


def by_linprog(costs, dag) -> np.ndarray:
    """A linear program per row through SciPy."""
    A = parent_constraints(dag)
    zero = np.zeros(A.shape[0])
    solutions = [linprog(c, A_ub=A, b_ub=zero, bounds=(0, 1)).x for c in costs]
    return np.array(solutions) > 0.5


class Highs:
    """One linear program kept in HiGHS: only costs change, and the last basis is the start."""

    def __init__(self, dag):
        import highspy

        A = parent_constraints(dag)
        n_arcs, d = A.shape
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = d, n_arcs
        program.col_cost_ = np.zeros(d)
        program.col_lower_, program.col_upper_ = np.zeros(d), np.ones(d)
        program.row_lower_, program.row_upper_ = np.full(n_arcs, -np.inf), np.zeros(n_arcs)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = A.indptr, A.indices
        program.a_matrix_.value_ = A.data
        self.solver = highspy.Highs()
        for option, value in {"output_flag": False, "presolve": "off", "solver": "simplex"}.items():
            self.solver.setOptionValue(option, value)
        self.solver.passModel(program)
        self.columns = np.arange(d, dtype=np.int32)

    def __call__(self, costs) -> np.ndarray:
        return np.array([self._solve(c) for c in costs]) > 0.5

    def _solve(self, c):
        self.solver.changeColsCost(len(c), self.columns, c)
        self.solver.run()
        return np.asarray(self.solver.getSolution().col_value)


def by_node_loop(costs, dag) -> np.ndarray:
    """Forests: the dynamic program in plain NumPy, one vector operation per node."""
    below, parent = np.ascontiguousarray(costs.T), dag.parent_of
    for v in dag.order[::-1]:
        if parent[v] >= 0:
            below[parent[v]] += np.minimum(below[v], 0.0)
    taken = below < 0
    for v in dag.order:
        if parent[v] >= 0:
            taken[v] &= taken[parent[v]]
    return taken.T


def by_maximum_flow(costs, dag, bits=30) -> np.ndarray:
    """A minimum cut per row through SciPy, with costs rounded to 32-bit capacities."""
    d, node = dag.n_nodes, np.arange(dag.n_nodes)
    source, sink, free = d, d + 1, np.full(len(dag.parents), 2**31 - 1)
    outputs = np.zeros(costs.shape, bool)
    for row, c in enumerate(costs):
        capacity = np.rint(c * (2.0**bits / np.abs(c).sum())).astype(np.int32)
        gain = capacity < 0
        tail = np.concatenate([dag.children, np.where(gain, source, node)])
        head = np.concatenate([dag.parents, np.where(gain, node, sink)])
        weight = np.concatenate([free, np.abs(capacity)]).astype(np.int32)
        network = sparse.csr_array((weight, (tail, head)), shape=(d + 2, d + 2))
        residual = network - maximum_flow(network, source, sink).flow
        residual.data = (residual.data > 0).astype(np.int8)
        residual.eliminate_zeros()
        reached = breadth_first_order(residual, source, return_predecessors=False)
        outputs[row, reached[reached < d]] = True
    return outputs
