# SPDX-License-Identifier: BSD-3-Clause
"""Costs of labels and of pairs of labels, against all sets of labels and against an LP."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from skstruct.spaces.solvers.pairwise import branch_and_bound as branching
from skstruct.spaces.solvers.pairwise import solve
from skstruct.spaces.solvers.pairwise.branch_and_bound import best_by_enumeration
from skstruct.spaces.solvers.pairwise.forests import best_on_forest, is_forest, rooted
from skstruct.spaces.solvers.pairwise.roof_duality import (
    embed_points,
    improve,
    roof_dual,
    round_halves,
)
from skstruct.spaces.solvers.pairwise.solve import (
    best_by_program,
    local_polytope,
    minimize,
    minimize_fixed,
    relax,
    relax_fixed,
)
from strategies import subsets


def pairs_of(n):
    return np.column_stack(np.triu_indices(n, 1))


@st.composite
def graphs(draw, max_nodes=6):
    """Number of nodes, and some of the pairs of them."""
    n = draw(st.integers(1, max_nodes))
    pairs = pairs_of(n)
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return n, pairs[np.array(kept, bool)].reshape(-1, 2)


@st.composite
def forest_graphs(draw, max_nodes=7):
    """The same without circles, nodes numbered in any order."""
    n = draw(st.integers(1, max_nodes))
    parents = [draw(st.integers(-1, v - 1)) for v in range(n)]
    name = draw(st.permutations(range(n)))
    edges = [sorted((name[p], name[v])) for v, p in enumerate(parents) if p >= 0]
    return n, np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)


@st.composite
def costs_of(draw, n, n_edges, max_rows=4):
    """Costs of nodes (rows, n) and of edges (rows or 1, E): small whole numbers or any."""
    rows = draw(st.integers(1, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = rows, n + n_edges
    if draw(st.booleans()):
        costs = rng.integers(-2, 3, shape).astype(float)
    else:
        costs = rng.standard_normal(shape) * rng.choice([0.1, 1.0, 10.0], n + n_edges)
    shared = draw(st.booleans())
    return costs[:, :n], costs[:1, n:] if shared else costs[:, n:]


def all_totals(node_costs, edge_costs, edges):
    """What every set of labels costs in every row; shape (rows, 2^n)."""
    Y = subsets(node_costs.shape[1]).astype(float)
    return node_costs @ Y.T + edge_costs @ (Y[:, edges[:, 0]] * Y[:, edges[:, 1]]).T


def total(outputs, node_costs, edge_costs, edges):
    """The same of one set per row, from the definition."""
    both = outputs[:, edges[:, 0]].astype(float) * outputs[:, edges[:, 1]]
    return (node_costs * outputs).sum(axis=1) + (edge_costs * both).sum(axis=1)


def check_best(found, node_costs, edge_costs, edges):
    outputs, values = found[:2]
    least = all_totals(node_costs, edge_costs, edges).min(axis=1)
    assert outputs.dtype == np.int8
    assert_allclose(values, least, atol=1e-9)
    assert_allclose(total(outputs, node_costs, edge_costs, edges), least, atol=1e-9)


def local_optimum(node_cost, edge_cost, edges):
    """The LP of the local polytope, by HiGHS."""
    n = len(node_cost)
    program = local_polytope(n, edges)
    cost = np.concatenate([node_cost, edge_cost])
    system = {"A_ub": program.A_ub, "b_ub": program.b_ub} if len(edges) else {}
    return linprog(cost, bounds=(0, 1), **system).fun


# ------------------------------------------------------------------- forests
@given(forest_graphs())
def test_a_forest_hangs_by_its_lowest_nodes(graph):
    n, edges = graph
    order, parent, edge = rooted(n, edges)
    assert sorted(order) == list(range(n))
    position = np.argsort(order)
    for v in range(n):
        assert (parent[v] < 0) == (edge[v] < 0)
        if parent[v] >= 0:
            assert position[parent[v]] < position[v]
            assert sorted((v, parent[v])) == edges[edge[v]].tolist()
    assert (edge >= 0).sum() == len(edges)


@given(graphs())
def test_a_forest_has_as_many_pieces_as_nodes_without_edges(graph):
    n, edges = graph
    piece = list(range(n))
    for i, j in edges:  # pieces grow together, edge by edge
        piece = [piece[i] if p == piece[j] else p for p in piece]
    forest = len(set(piece)) == n - len(edges)
    assert is_forest(n, edges) == forest
    if not forest:
        with pytest.raises(ValueError, match="circle"):
            rooted(n, edges)


@given(st.data())
def test_max_product_against_enumeration(data):
    n, edges = data.draw(forest_graphs())
    costs = data.draw(costs_of(n, len(edges), max_rows=20))
    check_best(best_on_forest(*costs, edges), *costs, edges)


def test_rows_of_any_number_and_order_in_memory():
    rng = np.random.default_rng(0)
    edges = np.array([[0, 2], [1, 2]])
    A, W = rng.standard_normal((37, 3)), rng.standard_normal((37, 2))
    outputs, values = best_on_forest(A, W, edges)
    for rows in (1, 15, 16, 17, 37):
        again = best_on_forest(np.asfortranarray(A)[:rows], W[:rows], edges)
        assert_array_equal(again[0], outputs[:rows])
        assert_array_equal(again[1], values[:rows])


# ------------------------------------------------------------------- enumeration
@given(st.data())
def test_gray_code_against_enumeration(data):
    n, edges = data.draw(graphs())
    costs = data.draw(costs_of(n, len(edges), max_rows=20))
    check_best(best_by_enumeration(*costs, edges), *costs, edges)


@pytest.mark.parametrize("rows", [1, 5, 16])
@pytest.mark.parametrize("shared", [False, True])
def test_more_labels_in_few_rows(rows, shared):
    A, W, edges = hard_costs(rows, 12, shared=shared)
    check_best(best_by_enumeration(A, W, edges), A, W, edges)


def test_too_many_labels_to_try():
    with pytest.raises(ValueError, match="All sets of 30 labels"):
        best_by_enumeration(np.zeros((1, 30)), np.zeros((1, 0)), np.zeros((0, 2), int))


# ------------------------------------------------------------------- roof duality
@pytest.mark.slow
@given(st.data())
def test_roof_duality_is_the_local_polytope(data):
    n, edges = data.draw(graphs(max_nodes=7))
    A, W = data.draw(costs_of(n, len(edges)))
    halves, values = roof_dual(A, W, edges)
    assert np.isin(halves, (0.0, 0.5, 1.0)).all()
    for row in range(len(A)):
        expected = local_optimum(A[row], W[min(row, len(W) - 1)], edges)
        assert_allclose(values[row], expected, atol=1e-8)
    # The point itself is in the polytope and has this value.
    embedded, again = embed_points(halves, A, W, edges)
    assert_allclose(again, values)
    assert_allclose(
        (embedded * np.hstack([A, np.broadcast_to(W, (len(A), W.shape[1]))])).sum(axis=1), values
    )
    if len(edges):
        assert local_polytope(n, edges).violation(embedded).max() <= 0


@given(st.data())
def test_settled_labels_are_those_of_some_best_set(data):
    n, edges = data.draw(graphs())
    costs = data.draw(costs_of(n, len(edges)))
    halves, values = roof_dual(*costs, edges)
    totals, sets = all_totals(*costs, edges), subsets(n)
    for row, half in enumerate(halves):
        agree = ((half == 0.5) | (sets == half)).all(axis=1)
        assert_allclose(totals[row, agree].min(), totals[row].min(), atol=1e-9)
    assert (values <= totals.min(axis=1) + 1e-9).all()


@given(st.data())
def test_pairs_that_cost_nothing_or_less_settle_all_labels(data):
    n, edges = data.draw(graphs())
    A, W = data.draw(costs_of(n, len(edges)))
    W = -np.abs(W)
    # Labels turned over: the edges across cost something, and still nothing is left open.
    turned = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    across = turned[edges[:, 0]] != turned[edges[:, 1]]
    W = np.where(across, -W, W)
    halves, values = roof_dual(A, W, edges)
    assert np.isin(halves, (0.0, 1.0)).all()
    check_best((halves.astype(np.int8), values), A, W, edges)


@given(st.data())
def test_roof_duality_on_forests_is_max_product(data):
    n, edges = data.draw(forest_graphs())
    costs = data.draw(costs_of(n, len(edges)))
    halves, values = roof_dual(*costs, edges)
    check_best((halves.astype(np.int8), values), *costs, edges)
    assert_array_equal(halves, halves.round())


def test_thousands_of_labels_on_a_grid():
    # 60 x 60 labels, neighbors alike: a cut of 3600 nodes, against HiGHS.
    side = 60
    number = np.arange(side * side).reshape(side, side)
    right = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    down = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    edges = np.concatenate([right, down])
    rng = np.random.default_rng(0)
    A = rng.standard_normal((1, side * side)) + 1.0
    W = -rng.random((1, len(edges)))
    halves, values = roof_dual(A, W, edges)
    assert np.isin(halves, (0.0, 1.0)).all()
    assert 0.1 < halves.mean() < 0.9
    assert_allclose(values[0], local_optimum(A[0], W[0], edges), rtol=1e-9)


# ------------------------------------------------------------------- what is left open
@given(st.data())
def test_no_label_and_no_two_neighbors_are_better_turned_over(data):
    n, edges = data.draw(graphs())
    costs = data.draw(costs_of(n, len(edges)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    starts = rng.integers(0, 2, costs[0].shape)
    open_ = rng.random(starts.shape) < 0.8
    outputs = improve(*costs, edges, starts, open_)
    assert_array_equal(outputs[~open_], starts[~open_])
    values = total(outputs, *costs, edges)
    assert (values <= total(starts, *costs, edges) + 1e-9).all()
    for turned in [[i] for i in range(n)] + edges.tolist():
        other = outputs.copy()
        other[:, turned] = 1 - other[:, turned]
        free = open_[:, turned].all(axis=1)
        assert (values <= total(other, *costs, edges) + 1e-9)[free].all()


def hard_costs(rows, n, seed=0, shared=False):
    """Costs of which roof duality leaves nearly all labels open."""
    rng = np.random.default_rng(seed)
    edges = pairs_of(n)
    A = rng.standard_normal((rows, n))
    return A, 3 * rng.standard_normal((1 if shared else rows, len(edges))), edges


def test_rounding_keeps_what_is_settled():
    A, W, edges = hard_costs(20, 12)
    halves = roof_dual(A, W, edges)[0]
    assert (halves == 0.5).any()
    outputs = round_halves(A, W, edges, halves)
    settled = halves != 0.5
    assert_array_equal(outputs[settled], halves[settled])
    assert (total(outputs, A, W, edges) >= all_totals(A, W, edges).min(axis=1) - 1e-9).all()


@given(st.integers(1, 8), st.integers(0, 999), st.booleans(), st.integers(1, 4))
def test_branching_against_enumeration(k, seed, whole, at_once):
    A, W, edges = hard_costs(1, k, seed)
    if whole:
        A, W = A.round(), W.round()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branching, "PARTS_AT_ONCE", at_once)
        patch.setattr(branching, "MOST_TRIED_OUT", seed % 4)
        output, bound = branching.best_by_branching(A[0], W[0], np.zeros(k, np.int8))
    least = all_totals(A, W, edges).min(axis=1)
    assert_allclose(bound, least, atol=1e-9)
    assert_allclose(total(output[None], A, W, edges), least, atol=1e-9)


def test_branching_of_many_labels_against_a_cut():
    # 40 labels, about half of them turned over: no circle contradicts itself.
    rng = np.random.default_rng(0)
    A, W, edges = hard_costs(1, 40)
    turned = rng.random(40) < 0.5
    W = np.where(turned[edges[:, 0]] != turned[edges[:, 1]], np.abs(W), -np.abs(W))
    values = roof_dual(A, W, edges)[1]
    output, bound = branching.best_by_branching(A[0], W[0], np.zeros(40, np.int8))
    assert_allclose(total(output[None], A, W, edges), values)
    assert_allclose(bound, values)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_the_binary_program_against_enumeration(shared):
    A, W, edges = hard_costs(4, 10, shared=shared)
    halves = roof_dual(A, W, edges)[0]
    outputs, bounds = best_by_program(A, W, edges, halves)
    check_best((outputs, bounds), A, W, edges)


# ------------------------------------------------------------------- all routes
@given(st.data())
def test_minimize_against_enumeration(data):
    n, edges = data.draw(graphs())
    A, W = data.draw(costs_of(n, len(edges)))
    if data.draw(st.booleans()):
        W = W * (np.arange(len(edges)) % 2)  # edges that cost nothing in any row
    outputs, values, bounds = minimize(A, W, edges)
    check_best((outputs, values), A, W, edges)
    assert_array_equal(values, bounds)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("core", [0, 4, 20])
@pytest.mark.parametrize("branched", [None, 0, 64])
def test_many_labels_on_all_routes(monkeypatch, shared, core, branched):
    # Cores are tried in all ways or improved; then branched by us, or by HiGHS.
    monkeypatch.setattr(solve, "CORE", core)
    monkeypatch.setattr(solve, "BRANCHED", branched)
    A, W, edges = hard_costs(12, 11, shared=shared)
    scale = np.array([0.02, 0.05, 0.1, 0.2, 0.5, 1.0] * 2)[:, None]  # few to all labels are open
    A, W = (A / scale, W) if shared else (A, W * scale)
    exact = branched is not None
    outputs, values, bounds = minimize(A, W, edges, exact=exact)
    least = all_totals(A, W, edges).min(axis=1)
    assert_allclose(total(outputs, A, W, edges), values, atol=1e-9)
    assert (bounds <= least + 1e-9).all()
    assert (values >= least - 1e-9).all()
    assert (bounds <= values).all()
    if exact or core == 20:
        assert_allclose(values, least, atol=1e-9)
        assert_allclose(bounds, least, atol=1e-6)
    else:
        assert (bounds < least - 1e-3).any()
    proven = values - bounds < 1e-9
    assert proven.any()
    assert_allclose(values[proven], least[proven], atol=1e-9)


@given(st.data())
def test_known_labels_against_enumeration(data):
    n, edges = data.draw(graphs())
    A, W = data.draw(costs_of(n, len(edges)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    masks = len(A) if data.draw(st.booleans()) else 1
    low, high = rng.random((masks, n)) < 0.3, rng.random((masks, n)) < 0.7
    outputs, values, bounds = minimize_fixed(A, W, edges, low, high)
    totals, sets = all_totals(A, W, edges), subsets(n)
    allowed = ((sets >= low[:, None]) & (sets <= high[:, None])).all(axis=2)  # (masks, 2^n)
    least = np.where(allowed, totals, np.inf).min(axis=1)
    possible = np.isfinite(least)
    assert_allclose(values, least, atol=1e-9)
    assert_allclose(bounds, least, atol=1e-9)
    assert_allclose(total(outputs, A, W, edges)[possible], least[possible], atol=1e-9)
    if possible.all():
        points = relax_fixed(A, W, edges, low, high)
        assert ((points >= low) & (points <= high)).all()
        assert (embed_points(points, A, W, edges)[1] <= least + 1e-9).all()


@pytest.mark.slow
@given(st.data())
def test_relaxed_labels_against_the_linear_program(data):
    n, edges = data.draw(graphs())
    A, W = data.draw(costs_of(n, len(edges)))
    W = W * (np.arange(len(edges)) % 3 > 0)
    _, values = embed_points(relax(A, W, edges), A, W, edges)
    for row in range(len(A)):
        expected = local_optimum(A[row], W[min(row, len(W) - 1)], edges)
        assert_allclose(values[row], expected, atol=1e-8)


def test_no_rows_at_all():
    edges = pairs_of(11)
    outputs, values, bounds = minimize(np.zeros((0, 11)), np.ones((1, len(edges))), edges)
    assert outputs.shape == (0, 11)
    assert values.shape == bounds.shape == (0,)
