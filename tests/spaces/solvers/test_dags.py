# SPDX-License-Identifier: BSD-3-Clause
"""The compiled solvers against linear programs, on sizes that enumeration cannot reach."""

import tracemalloc

import networkx
import numpy as np
import pytest
from scipy.optimize import linprog

from skstruct.spaces.indicator_sets.decoding import closure_rows
from skstruct.spaces.solvers.dags import Dag, dag_closed_sets, forest_closed_sets


def random_dag(d, rng, parents):
    arcs = [(int(p), j) for j in range(1, d) for p in rng.integers(0, j, rng.poisson(parents))]
    name = rng.permutation(d)
    return Dag(d, [name[p] for p, _ in arcs], [name[c] for _, c in arcs])


def by_linear_program(costs, dag):
    A = closure_rows(dag)
    answers = [linprog(c, A_ub=A, b_ub=np.zeros(A.shape[0]), bounds=(0, 1)).fun for c in costs]
    return np.array(answers)


@pytest.mark.parametrize("seed", range(8))
def test_closures_equal_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(120, rng, parents=[0.5, 1.5, 3.0, 8.0][seed % 4])
    costs = rng.standard_normal((6, 120)) + 0.2 * (seed % 3)
    costs[0] = rng.integers(-2, 3, 120)  # many ties
    costs[1] *= 10.0 ** rng.integers(-8, 9, 120)  # many scales
    outputs, values, bounds = dag_closed_sets(costs, dag)
    assert (outputs[:, dag.children] <= outputs[:, dag.parents]).all()
    scale = np.abs(costs).sum(axis=1)
    np.testing.assert_allclose(values / scale, (costs * outputs).sum(axis=1) / scale, atol=1e-12)
    np.testing.assert_allclose(values / scale, by_linear_program(costs, dag) / scale, atol=1e-8)
    np.testing.assert_allclose(bounds / scale, values / scale, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_forest_and_closure_agree(seed):
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(-1, j)) if j else -1 for j in range(300)]
    arcs = [(p, j) for j, p in enumerate(parents) if p >= 0]
    dag = Dag(300, [p for p, _ in arcs], [c for _, c in arcs])
    costs = rng.standard_normal((33, 300)) + 0.3  # not a multiple of the rows done side by side
    fast, values = forest_closed_sets(costs, dag)
    flow, _, bounds = dag_closed_sets(costs, dag)
    np.testing.assert_array_equal(fast, flow)
    np.testing.assert_allclose(values, (costs * fast).sum(axis=1))
    np.testing.assert_allclose(bounds, values)


def test_deep_and_wide():
    chain = Dag(5000, np.arange(4999), np.arange(1, 5000))
    costs = np.full((1, 5000), 0.001)
    costs[0, -1] = -5.0
    assert forest_closed_sets(costs, chain)[0].sum() == 5000
    assert dag_closed_sets(costs, chain)[0].sum() == 5000
    costs[0, -1] = -4.9
    assert forest_closed_sets(costs, chain)[0].sum() == 0


def test_repeated_arcs_count_once():
    dag = Dag(2, [0, 0], [1, 1])
    assert dag.is_forest
    assert len(dag.parents) == 1


def test_no_rows_and_one_node():
    dag = Dag(1, [], [])
    assert dag_closed_sets(np.zeros((0, 1)), dag)[0].shape == (0, 1)
    assert dag_closed_sets(np.array([[-1.0], [1.0]]), dag)[0].tolist() == [[1], [0]]


@pytest.mark.parametrize("seed", range(6))
def test_order_and_depth_by_levels(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(40, rng, parents=[0.0, 0.3, 1.5][seed % 3])
    graph = networkx.DiGraph(zip(dag.parents.tolist(), dag.children.tolist()))
    graph.add_nodes_from(range(40))
    levels = list(map(sorted, networkx.topological_generations(graph)))
    assert dag.order.tolist() == [node for level in levels for node in level]
    assert all((dag.depth[level] == number).all() for number, level in enumerate(levels))


def test_nodes_without_arcs_take_no_more_than_some_numbers_each():
    peaks = []
    for n in (1_000, 50_000):
        tracemalloc.start()
        Dag(n, [], [])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    (small, large), n_more = peaks, 49_000
    assert (large - small) / n_more < 100  # bytes: an empty array for each node takes more
