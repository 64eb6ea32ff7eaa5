# SPDX-License-Identifier: BSD-3-Clause
"""Flows against other solvers, linear programs and all vertices of small networks."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError
from skstruct.losses import Absolute, Cauchy, Huber, Pinball, Squared
from skstruct.spaces import Embeddings, Flows
from skstruct.testing import check_decisions

DIAMOND = (("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"))
SUPPLY = {"s": 1.0, "t": -1.0}


def diamond_flows(share, across):
    """Flows of one unit: ``share`` goes by a, and ``across`` of that from a to b."""
    share, moved = np.asarray(share), np.asarray(share) * np.asarray(across)
    return np.stack([share, 1 - share, moved, share - moved, 1 - share + moved], axis=-1)


def grid(n=41):
    share, across = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    return diamond_flows(share.ravel(), across.ravel())


shares = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6).map(
    lambda pairs: diamond_flows(*np.array(pairs).T)
)


@pytest.mark.slow
@given(shares, st.integers(0, 50))
@settings(max_examples=15, deadline=None)
@pytest.mark.parametrize("loss", [Squared(), Absolute(), Pinball(0.8), Huber(0.2), Cauchy(0.3)])
def test_no_flow_of_a_fine_grid_beats_a_bound(loss, Y, seed):
    check_decisions(loss, Flows(DIAMOND, SUPPLY).fit(Y), Y, grid(), n_weights=8, seed=seed)


@given(shares, st.integers(0, 50))
@settings(max_examples=10, deadline=None)
def test_proofs_close_the_gap_of_the_absolute_loss(Y, seed):
    space = Flows(DIAMOND, SUPPLY, prove=True).fit(Y)
    check_decisions(Absolute(), space, Y, grid(), n_weights=4, gap=1e-7, seed=seed)


def random_network(n_nodes, n_arcs, rng, n_flows=20):
    """A strongly connected network and flows of one unit from its first to its last node."""
    arcs = {(i, (i + 1) % n_nodes) for i in range(n_nodes)}
    while len(arcs) < n_arcs:
        i, j = rng.integers(0, n_nodes, 2).tolist()
        if i != j:
            arcs.add((i, j))
    graph = nx.DiGraph(sorted(arcs))
    Y = []
    for _ in range(n_flows):
        z = dict.fromkeys(graph.edges, 0.0)
        for part in rng.dirichlet(np.ones(3)):
            for u, v in graph.edges:
                graph.edges[u, v]["length"] = rng.exponential()
            path = nx.shortest_path(graph, 0, n_nodes - 1, weight="length")
            for arc in pairwise(path):
                z[arc] += part
        Y.append(list(z.values()))
    return graph, np.array(Y)


def test_linear_costs_are_min_cost_flows():
    rng = np.random.default_rng(0)
    graph, Y = random_network(7, 14, rng)
    space = Flows(graph, {0: 1, 6: -1}).fit(Y)
    costs = rng.integers(1, 9, (6, len(space.labels_)))
    for node, demand in ((0, -1), (6, 1)):
        graph.nodes[node]["demand"] = demand
    for cost, value in zip(costs, space.argmin(costs.astype(float)).values):
        nx.set_edge_attributes(graph, dict(zip(space.labels_, cost.tolist())), "weight")
        assert value == pytest.approx(nx.min_cost_flow_cost(graph))


def test_absolute_loss_with_positive_weights_is_a_linear_program():
    rng = np.random.default_rng(1)
    graph, Y = random_network(8, 18, rng, 12)
    space = Flows(graph, {0: 1, 7: -1}).fit(Y)
    W = rng.dirichlet(np.ones(12), 5)
    decoded = Absolute().minimize(W, Y, space)
    np.testing.assert_allclose(decoded.values, decoded.bounds, rtol=1e-9)
    A, d, n = space.incidence_.toarray(), Y.shape[1], len(Y)
    for w, value in zip(W, decoded.values):
        # min sum_ij w_i e_ij,  e_ij >= |z_j - y_ij|
        cost = np.concatenate([np.zeros(d), np.repeat(w, d)])
        stacked, eye = np.tile(np.eye(d), (n, 1)), np.eye(n * d)
        A_ub = np.block([[stacked, -eye], [-stacked, -eye]])
        A_eq = np.hstack([A, np.zeros((len(A), n * d))])
        answer = linprog(cost, A_ub, np.concatenate([Y.ravel(), -Y.ravel()]), A_eq, space.supply_)
        assert value == pytest.approx(answer.fun, abs=1e-9)


def test_squared_loss_is_a_projection():
    rng = np.random.default_rng(2)
    graph, Y = random_network(6, 12, rng, 10)
    space = Embeddings.of(Flows(graph, {0: 1, 5: -1}).fit(Y)).view("squares")
    target = Y[:4] + rng.normal(0, 0.5, Y[:4].shape)
    A, b = space.incidence_[:-1], space.supply_[:-1]
    costs = Squared().cost(space.embed(target), np.ones((4, 1)))
    found = space.argmin(costs).outputs
    for goal, z in zip(target, found):
        answer = minimize(
            lambda y, goal=goal: ((y - goal) ** 2).sum(), Y[0], method="SLSQP",
            bounds=[(0, 1)] * len(goal), options={"ftol": 1e-14, "maxiter": 500},
            constraints={"type": "eq", "fun": lambda y: A @ y - b},
        )  # fmt: skip
        np.testing.assert_allclose(z, answer.x, atol=1e-5)


def vertices(space):
    """All vertices: flows of spanning trees."""
    A, b, d = space.incidence_.toarray(), space.supply_, len(space.labels_)
    found = []
    for basis in combinations(range(d), len(b) - 1):
        part = A[:-1, basis]
        if abs(np.linalg.det(part)) > 0.5:
            z = np.zeros(d)
            z[list(basis)] = np.linalg.solve(part, b[:-1])
            if (z > -1e-12).all():
                found.append(z)
    return np.array(found)


def test_weights_that_sum_to_less_than_zero_end_in_a_vertex():
    rng = np.random.default_rng(3)
    graph, Y = random_network(5, 9, rng, 6)
    space = Flows(graph, {0: 1, 4: -1}, prove=True).fit(Y)
    W = -rng.random((5, 6))
    view = Embeddings.of(space).view("squares")
    decoded = view.argmin(Squared().cost(W @ view.embed(Y), W.sum(axis=1, keepdims=True)))
    offset = Squared().offset(W @ view.embed(Y), None)
    best = (W @ Squared().pairwise(vertices(space), Y).T).min(axis=1)
    np.testing.assert_allclose(decoded.values + offset, best, atol=1e-7)
    np.testing.assert_allclose(decoded.values, decoded.bounds, atol=1e-6)


def test_capacities_bind():
    arcs = [("s", "a", 0.25), *DIAMOND[1:]]
    Y = diamond_flows([0.1, 0.2], [0.5, 0.5])
    space = Flows(arcs, SUPPLY).fit(Y)
    min_cost = space.argmin(np.array([[-5.0, 1, 1, 1, 1]])).outputs[0]
    assert min_cost[0] == pytest.approx(0.25)


# ------------------------------------------------------------------ supplies and forms
def two_routes(total, share):
    return np.stack([total * share, total * (1 - share)] * 2, axis=-1)[:, [0, 1, 2, 3]]


ROUTES = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")]


def test_supplies_that_differ_from_row_to_row():
    rng = np.random.default_rng(4)
    total, x = rng.uniform(1, 5, 40), rng.uniform(0, 1, 40)
    Y = two_routes(total, 0.2 + 0.6 * x)
    for loss in ("squared", "absolute"):
        model = ConditionalRiskMinimizer(Flows(ROUTES), loss, alpha=0.01)
        model.fit(np.c_[x, total], Y)
        supplies = pd.DataFrame({"s": [2.0, 7.0], "a": 0.0, "b": 0.0, "t": [-2.0, -7.0]})
        found = model.predict([[0.5, 2.0], [0.5, 4.0]], restrict={"supply": supplies})
        np.testing.assert_allclose(found[:, :2].sum(axis=1), [2.0, 7.0])
        with pytest.raises(ValueError, match="give those of the new rows"):
            model.predict([[0.5, 2.0], [0.5, 4.0]])
        with pytest.raises(ValueError, match="give those of the new rows"):
            model.predict(np.c_[x, total])  # as many rows as in training, but not those
        score = model.score(np.c_[x, total], Y, restrict={"supply": model.space_.supply_})
        assert score > -0.5
        small = model.predict([[0.5, 2.0]], restrict={"supply": supplies[:1]})
        np.testing.assert_allclose(small, found[:1], atol=1e-9)
        chosen = ConditionalRiskMinimizer(Flows(ROUTES), loss, smoother="kernel_ridge").fit(
            np.c_[x, total], Y
        )
        assert np.isfinite(chosen.alpha_)


def test_supplies_read_off_outputs_or_demands():
    Y = diamond_flows([0.3, 0.7], [0.5, 0.1])
    np.testing.assert_allclose(Flows(DIAMOND).fit(Y).supply_, [1, 0, 0, -1])
    graph = nx.DiGraph(DIAMOND)
    graph.nodes["s"]["demand"], graph.nodes["t"]["demand"] = -1, 1
    np.testing.assert_allclose(Flows(graph).fit(Y).supply_, [1, 0, 0, -1])


def test_flows_come_back_as_they_came():
    Y = diamond_flows([0.3, 0.7], [0.5, 0.1])
    graph = nx.DiGraph(DIAMOND)
    arcs = list(graph.edges)
    by_arc = [dict(zip(DIAMOND, row)) for row in Y.tolist()]
    nested = [
        {"s": {"a": r[0], "b": r[1]}, "a": {"b": r[2], "t": r[3]}, "b": {"t": r[4]}} for r in Y
    ]
    graphs = []
    for row in by_arc:
        drawn = graph.copy()
        nx.set_edge_attributes(drawn, row, "flow")
        graphs.append(drawn)
    frame = pd.DataFrame(Y, columns=pd.MultiIndex.from_tuples(DIAMOND))
    for given_ in (by_arc, nested, graphs, frame):
        space = Flows(graph, SUPPLY).fit(given_)
        Z = space.validate(given_)
        assert dict(zip(arcs, Z[0])) == pytest.approx(by_arc[0])
        back = space.restore(Z)
        if given_ is frame:
            pd.testing.assert_frame_equal(back, frame)
        elif given_ is graphs:
            assert back[1].edges["a", "t"]["flow"] == pytest.approx(Y[1, 3])
        else:
            assert back[0] == pytest.approx(given_[0]) if given_ is by_arc else back[0] == nested[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Flows(DIAMOND, SUPPLY).fit([[1, 1, 0, 1, 1.0]]), "2 more leaves the node 's'"),
        (lambda: Flows(DIAMOND, SUPPLY).fit([[1.5, -0.5, 0, 1.5, -0.5]]), "below 0"),
        (lambda: Flows(DIAMOND, SUPPLY).fit([[1.0, 0, 0]]), "5 numbers"),
        (lambda: Flows(DIAMOND, SUPPLY).fit([{("s", "x"): 1.0}]), "no arc of the graph"),
        (lambda: Flows(DIAMOND, {"s": 1, "t": -2}).fit(grid(2)), "not to zero"),
        (lambda: Flows(DIAMOND, [[1, 0, 0, -1.0]] * 3).fit(grid(2)), "3 rows for 4 training"),
        (lambda: Flows(DIAMOND, SUPPLY).fit([nx.DiGraph([("s", "a")])]), "no edge"),
    ],
)
def test_clear_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kernel_losses_where_supplies_differ():
    rng = np.random.default_rng(5)
    total, x = rng.uniform(1, 5, 30), rng.uniform(0, 1, 30)
    model = ConditionalRiskMinimizer(Flows(ROUTES), "absolute", alpha=0.1)
    model.fit(x[:, None], two_routes(total, x))
    supply = [{"s": 2.0, "t": -2.0}, {"s": 3.0, "t": -3.0}]
    found = model.predict([[0.2], [0.8]], loss="kernel", restrict={"supply": supply})
    np.testing.assert_allclose(found[:, :2].sum(axis=1), [2, 3])


def test_what_one_row_may_carry_does_not_depend_on_others():
    arcs, Y = [("s", "a"), ("a", "t"), ("a", "b"), ("b", "a")], [[1, 1, 0.1, 0.1], [1, 1, 0.2, 0.2]]
    space, W = Flows(arcs, {"s": 1, "t": -1}).fit(Y), np.array([[-0.5, -0.5], [1.5, -0.5]])
    small, large = {"s": 1, "t": -1}, {"s": 7, "t": -7}
    alone, beside = (
        Absolute().minimize(W, Y, space.restrict(supply=[small, other])).outputs[0]
        for other in (small, large)
    )
    np.testing.assert_allclose(alone, beside)


def test_a_network_that_is_too_narrow_says_where():
    arcs = [("s", "a", 0.3), ("s", "b", 0.3), ("a", "t"), ("b", "t")]
    with pytest.raises(InfeasibleError, match=r"'s' must send out 1, .* at most 0.6"):
        Flows(arcs, SUPPLY).fit(two_routes(np.ones(1), np.full(1, 0.5)))
    fitted = Flows(arcs, {"s": 0.5, "t": -0.5}).fit(two_routes(np.full(1, 0.5), np.full(1, 0.5)))
    wide = fitted.restrict(supply=[{"s": 0.1, "t": -0.1}, {"s": 1.0, "t": -1.0}])
    with pytest.raises(InfeasibleError, match="row 1: the nodes 's'"):
        wide.argmin(np.ones((2, 4)))
    with pytest.raises(InfeasibleError, match="row 1: the nodes 's'"):
        Absolute().minimize(np.ones((2, 1)), [[0.2, 0.3, 0.2, 0.3]], wide)
