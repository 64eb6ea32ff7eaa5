# SPDX-License-Identifier: BSD-3-Clause
"""Networks of any size with flows on them, and other solvers, one row at a time."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import dijkstra


def random_network(n_nodes, n_arcs, n_flows, rng):
    """Arcs of a strongly connected network, a supply, and flows that meet it.

    Three trips between random nodes are split over three random shortest paths each.
    """
    arcs = {(i, (i + 1) % n_nodes) for i in range(n_nodes)}
    while len(arcs) < n_arcs:
        i, j = rng.integers(0, n_nodes, 2).tolist()
        if i != j:
            arcs.add((i, j))
    arcs = sorted(arcs)
    tails, heads = np.array(arcs).T
    number = {arc: k for k, arc in enumerate(arcs)}
    trips = [(rng.permutation(n_nodes)[:2], size) for size in (10.0, 6.0, 4.0)]
    flows = np.zeros((n_flows, n_arcs))
    for flow in flows:
        for (start, end), size in trips:
            for part in rng.dirichlet(np.ones(3)) * size:
                lengths = sparse.csr_array((rng.exponential(size=n_arcs), (tails, heads)))
                before = dijkstra(lengths, indices=start, return_predecessors=True)[1]
                node = end
                while node != start:
                    flow[number[before[node], node]] += part
                    node = before[node]
    supply = np.zeros(n_nodes)
    for (start, end), size in trips:
        supply[start] += size
        supply[end] -= size
    return arcs, supply, flows


def by_osqp(A, b, high, targets):
    import osqp

    d = A.shape[1]
    rows = sparse.vstack([A, sparse.eye(d)], format="csc")
    solver = osqp.OSQP()
    solver.setup(
        sparse.eye(d, format="csc"), -targets[0], sparse.csc_matrix(rows),
        np.concatenate([b, np.zeros(d)]), np.concatenate([b, high]),
        verbose=False, eps_abs=1e-6, eps_rel=1e-6, max_iter=20_000,
    )  # fmt: skip
    points = []
    for target in targets:
        solver.update(q=-target)
        points.append(solver.solve().x)
    return np.array(points)


def by_clarabel(A, b, high, targets):
    import clarabel

    m, d = A.shape
    eye = sparse.eye(d)
    rows = sparse.csc_matrix(sparse.vstack([A, -eye, eye]))
    sides = np.concatenate([b, np.zeros(d), high])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(2 * d)]
    quadratic = sparse.csc_matrix(eye)
    return np.array([
        clarabel.DefaultSolver(quadratic, -target, rows, sides, cones, settings).solve().x
        for target in targets
    ])  # fmt: skip


def by_highs(A, b, high, targets):
    import highspy

    m, d = A.shape
    columns = sparse.csc_matrix(A)
    points = []
    for target in targets:
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = d, m
        program.col_cost_, program.row_lower_, program.row_upper_ = -target, b, b
        program.col_lower_, program.col_upper_ = np.zeros(d), high
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = columns.indptr
        program.a_matrix_.index_, program.a_matrix_.value_ = columns.indices, columns.data
        solver.passModel(program)
        hessian = highspy.HighsHessian()
        hessian.dim_, hessian.format_ = d, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_ = np.arange(d + 1), np.arange(d)
        hessian.value_ = np.ones(d)
        solver.passHessian(hessian)
        solver.run()
        points.append(solver.getSolution().col_value)
    return np.array(points)


def absolute_by_linprog(A, b, high, W, Y):
    """Absolute loss with positive weights: each arc cut into segments of growing cost."""
    values = []
    d = Y.shape[1]
    knots = np.sort(np.vstack([np.zeros(d), Y, high]), axis=0)
    lengths = np.diff(knots, axis=0).T  # [arc, segment]
    columns = sparse.csr_array(np.repeat(A.toarray(), lengths.shape[1], axis=1))
    middle = 0.5 * (knots[1:] + knots[:-1]).T
    for w in W:
        slopes = np.einsum("i,ijk->jk", w, np.sign(middle - Y[:, :, None]))
        limits = np.column_stack([np.zeros(lengths.size), lengths.ravel()])
        answer = linprog(slopes.ravel(), A_eq=columns, b_eq=b, bounds=limits, method="highs")
        values.append(answer.fun + (w @ Y).sum())
    return np.array(values)


def linear_by_linprog(A, b, high, costs):
    limits = np.column_stack([np.zeros(len(high)), high])
    return np.array([
        linprog(cost, A_eq=A, b_eq=b, bounds=limits, method="highs").fun for cost in costs
    ])  # fmt: skip
