# SPDX-License-Identifier: BSD-3-Clause
"""Paths against all of them, found by a plain recursion."""

from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from path_cases import as_graph, as_rows, costs_of, graphs, obeys, paths_one_by_one
from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.losses import Hamming
from skstruct.spaces import Inference, ShortestPaths, Solving
from skstruct.testing import check_distribution, check_loss, check_space

CYCLIC = [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("a", "t"), ("t", "s")]
SEEDS = st.integers(0, 2**16)


def listed(space, source=0, target=1):
    directed = space._table.directed
    paths = paths_one_by_one(space.labels_, directed, source, target)
    return paths, as_rows(paths, space.labels_, directed)


@given(graphs(), SEEDS)
def test_everything_a_space_declares(graph, seed):
    space = ShortestPaths(as_graph(*graph), 0, 1)
    _, rows = listed(space)
    check_space(space, rows, n_costs=6, n_draws=300, seed=seed)


@given(graphs(), SEEDS, st.sampled_from(["whole", "positive", "gauss"]))
def test_least_paths_of_rows_and_the_k_best(graph, seed, kind):
    space = ShortestPaths(as_graph(*graph), 0, 1)
    _, rows = listed(space)
    costs = costs_of(seed, 5, rows.shape[1], kind)
    best = space.argmin(costs)
    assert space.contains(best.outputs).all()
    assert_allclose(best.values, (costs @ rows.T).min(axis=1), atol=1e-12)
    assert_allclose((costs * best.outputs).sum(axis=1), best.values, atol=1e-12)
    assert_array_equal(best.bounds, best.values)
    ranked = space.kbest(costs, 3)
    assert_allclose(ranked.values, np.sort(costs @ rows.T, axis=1)[:, :3], atol=1e-12)
    assert_allclose(np.einsum("nkd,nd->nk", ranked.outputs, costs), ranked.values, atol=1e-12)


@given(graphs(), SEEDS)
def test_networkx_finds_paths_of_the_same_length(graph, seed):
    made = as_graph(*graph)
    space = ShortestPaths(made, 0, 1)
    costs = np.random.default_rng(seed).uniform(0, 1, (3, len(space.labels_)))
    best = space.argmin(costs)
    for row, value, path in zip(costs, best.values, space.restore(best.outputs)):
        nx.set_edge_attributes(made, dict(zip(space.labels_, row)), "weight")
        assert nx.shortest_path_length(made, 0, 1, "weight") == pytest.approx(value, abs=1e-12)
        assert nx.is_simple_path(made, path)
        assert (path[0], path[-1]) == (0, 1)


@st.composite
def restricted(draw):
    """A graph, and constraints of four rows, each in a form that restrict takes."""
    kind, nodes, arcs = draw(graphs(most=5))
    arc_sets = st.lists(st.sampled_from(arcs), unique=True, max_size=3)
    node_sets = st.lists(st.sampled_from(nodes), unique=True, max_size=1)
    choices = {"include": arc_sets, "exclude": arc_sets, "via": node_sets, "avoid": node_sets}
    chosen = {}
    for name in draw(st.lists(st.sampled_from([*choices, "max_length"]), unique=True, max_size=3)):
        if name == "max_length":
            chosen[name] = draw(st.lists(st.integers(0, 4), min_size=4, max_size=4))
        else:
            chosen[name] = draw(st.lists(choices[name], min_size=4, max_size=4))
    ends = draw(st.lists(st.sampled_from(nodes), min_size=4, max_size=4))
    return kind, nodes, arcs, chosen, ends


@given(restricted(), SEEDS, st.sampled_from(["whole", "positive"]))
def test_constraints_by_row(case, seed, kind):
    graph, nodes, arcs, chosen, sources = case
    space = ShortestPaths(as_graph(graph, nodes, arcs), 0, 1)
    directed = space._table.directed
    turned = {} if directed else {(v, u): (u, v) for u, v in space.labels_}
    names = {arc: turned.get(arc, arc) for arc in arcs}
    masked = {  # arrays say the same as lists, and an empty list is not one of many rows
        name: np.array(
            [[label in [names.get(x, x) for x in row] for label in labels] for row in rows]
        )
        for name, rows in chosen.items()
        if name != "max_length"
        for labels in [space.labels_ if name in ("include", "exclude") else space.nodes_]
    }
    if "max_length" in chosen:
        masked["max_length"] = chosen["max_length"]
    space = space.restrict(**masked, source=sources)
    costs = costs_of(seed, 4, len(space.labels_), kind)
    good, least = [], []
    for i in range(4):
        row = {name: values[i] for name, values in chosen.items()}
        for name in ("include", "exclude"):
            row[name] = [names[arc] for arc in row.get(name, ())]
        paths = paths_one_by_one(space.labels_, directed, sources[i], 1)
        rows = as_rows(paths, space.labels_, directed)
        used = [{space.labels_[j] for j in np.flatnonzero(z)} for z in rows]
        kept = np.array([obeys(p, a, **row) for p, a in zip(paths, used)], dtype=bool)
        one = space.rows(i)
        assert one.size() == kept.sum()
        assert_array_equal(np.sort(one.enumerate(), axis=0), np.sort(rows[kept], axis=0))
        assert_array_equal(one.contains(rows), kept)
        if kept.any():
            good.append(i)
            least.append(rows[kept] @ costs[i])
            assert_allclose(one.mean_embedding(), rows[kept].mean(axis=0), atol=1e-12)
    if len(good) < 4:
        bad = next(i for i in range(4) if i not in good)
        with pytest.raises(InfeasibleError, match=f"in row {bad}") as error:
            space.argmin(costs)
        assert error.value.row == bad
    if good:
        part = space.rows(good)
        best = part.argmin(costs[good])
        assert part.contains(best.outputs).all()
        assert_allclose(best.values, [values.min() for values in least], atol=1e-12)
        ranked = part.kbest(costs[good], 2)
        for found, values in zip(ranked.values, least):
            assert_allclose(found[np.isfinite(found)], np.sort(values)[:2], atol=1e-12)


@given(graphs(["acyclic"]), SEEDS)
def test_distributions(graph, seed):
    space = ShortestPaths(as_graph(*graph), 0, 1)
    scores = 3 * np.random.default_rng(seed).normal(size=(2, len(space.labels_)))
    check_distribution(space, scores, outputs=listed(space)[1], n_draws=400, rng=seed)
    again = Inference.of(space).distribution(1000 * scores)  # by logarithms
    values = 1000 * scores @ listed(space)[1].T
    assert_allclose(again.log_partition, values.max(axis=1), rtol=1e-6, atol=2.0)


def test_distributions_that_differ_from_row_to_row():
    space = ShortestPaths.grid(3, 3).restrict(avoid=[[(0, 1)], [(1, 1)]], max_length=[4, 6])
    scores = np.random.default_rng(0).normal(size=(2, 12))
    found = Inference.of(space).distribution(scores)
    for i in range(2):
        one = space.rows(i)
        rows = one.enumerate()
        values = scores[i] @ rows.T
        weights = np.exp(values - values.max())
        assert_allclose(found.log_partition[i], values.max() + np.log(weights.sum()))
        assert_allclose(found.marginals()[i], weights @ rows / weights.sum(), atol=1e-12)
    assert found.sample(3, np.random.default_rng(0)).shape == (2, 3, 12)


def test_a_limit_of_the_length_on_an_acyclic_graph():
    arcs = [("s", "a"), ("a", "b"), ("b", "t"), ("a", "t"), ("s", "t")]
    space = ShortestPaths(arcs, "s", "t")
    costs = np.array([[1.0, 1.0, 1.0, 5.0, 9.0]] * 3)
    found = space.restrict(max_length=[1, 2, 3]).argmin(costs)
    assert_array_equal(found.values, [9.0, 6.0, 3.0])
    short = space.restrict(max_length=2)
    check_space(short, space.validate([["s", "t"], ["s", "a", "t"]]))
    check_distribution(short, np.random.default_rng(0).normal(size=(2, 5)), n_draws=300)


def test_large_numbers_of_paths_are_whole_numbers():
    space = ShortestPaths.grid(40, 40)
    assert space.size() == comb(78, 39)
    mean = space.mean_embedding()
    assert mean[space.labels_.index(((0, 0), (0, 1)))] == 0.5
    drawn = space.sample(5, 0)
    assert space.contains(drawn).all()
    assert_array_equal(drawn.sum(axis=1), 78)


def test_the_order_of_arcs_of_a_grid():
    space = ShortestPaths.grid(2, 3)
    assert space.labels_[:2] == (((0, 0), (0, 1)), ((0, 1), (0, 2)))
    assert space.labels_[2:5] == tuple(((0, j), (1, j)) for j in range(3))
    assert ShortestPaths.grid(1, 3).size() == 1
    with pytest.raises(ValueError, match=r"rows is a whole number from 1; got 0"):
        ShortestPaths.grid(0, 3)


# ---------------------------------------------------------------------- graphs
def test_adjacency_matrices_number_their_nodes():
    adjacency = sparse.csr_array(np.array([[0, 2, 3], [0, 0, 1], [0, 0, 0]]))
    space = ShortestPaths(adjacency, 0, 2)
    assert space.labels_ == ((0, 1), (0, 2), (1, 2))
    assert space.argmin(np.array([[1.0, 3.0, 1.0]])).values == [2.0]


def test_edges_without_direction_are_one_coordinate():
    space = ShortestPaths(nx.Graph([("t", "a"), ("a", "s"), ("s", "t")]), "s", "t")
    assert space.labels_ == (("t", "a"), ("t", "s"), ("a", "s"))  # as networkx lists them
    assert space.argmin(np.array([[1.0, 5.0, 1.0]])).values.tolist() == [2.0]
    best = space.argmin(np.array([[1.0, -1.0, 1.0]]))
    assert space.restore(best.outputs)[0] == ["s", "t"]
    assert space.validate([["s", "a", "t"]]).tolist() == [[1, 0, 1]]
    assert not space.is_acyclic


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        ([("a", "a")], "arc 0 is the self-loop"),
        ([("a", "b"), ("a", "b")], r"arc 1 is \('a', 'b'\) once more"),
        ([("a", "b", 3)], r"an arc is \(tail, head\); arc 0"),
        ([("a", None)], "a missing value cannot be a node"),
        ([], "the graph has no arcs"),
        ("ab", "graph is a list of arcs"),
        (nx.MultiDiGraph([("a", "b")]), "got a MultiDiGraph"),
        (sparse.csr_array(np.ones((2, 3))), "is square"),
    ],
)
def test_graphs_that_are_refused(graph, says):
    with pytest.raises(ValueError, match=says):
        _ = ShortestPaths(graph, "a", "b").labels_


def test_ends_are_nodes():
    with pytest.raises(ValueError, match="source is the node 'x', which is not one of"):
        ShortestPaths(CYCLIC, "x", "t").argmin(np.ones((1, 6)))
    with pytest.raises(ValueError, match=r"target\[1\] is the node 'x'"):
        ShortestPaths(CYCLIC, "s", "t").restrict(target=["a", "x"])


def test_open_ends_are_given_at_prediction():
    space = ShortestPaths(CYCLIC, None, None).fit([["s", "a"], ["b", "t", "s"]])
    with pytest.raises(ValueError, match=r"the source is open; give restrict\(source=...\)"):
        space.argmin(np.ones((1, 6)))
    found = space.restrict(source=["t", "a", "a"], target=["b", "t", "a"])
    best = found.argmin(np.ones((3, 6)))
    assert found.restore(best.outputs).tolist() == [["t", "s", "a", "b"], ["a", "t"], ["a"]]


def test_a_path_without_arcs():
    space = ShortestPaths(CYCLIC, "a", "a")
    assert space.size() == 1
    check_space(space, np.zeros((1, 6), np.int8))
    with pytest.raises(InfeasibleError, match="no path from 'a' to 'a'"):
        space.restrict(via=["b"]).argmin(np.ones((1, 6)))
    with pytest.raises(InfeasibleError):
        space.restrict(avoid=["a"]).argmin(np.ones((1, 6)))


# ---------------------------------------------------------------------- constraints
def test_forms_of_constraints():
    space = ShortestPaths(CYCLIC, "s", "t")
    costs = np.ones((2, 6))
    one = space.restrict(exclude=[("a", "t")])
    each = space.restrict(exclude=[[("a", "t")], []])
    mask = space.restrict(exclude=np.array([[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]))
    assert_array_equal(one.argmin(costs).values, [3.0, 3.0])
    assert_array_equal(each.argmin(costs).values, [3.0, 2.0])
    assert_array_equal(mask.argmin(costs).values, [3.0, 2.0])
    assert space.restrict(via=["b"]).argmin(costs).values.tolist() == [3.0, 3.0]
    both = one.restrict(max_length=2)
    with pytest.raises(InfeasibleError, match=r"no path from 's' to 't' meets .* in row 0"):
        both.argmin(costs)
    with pytest.raises(ValueError, match=r"exclude holds \('t', 'a'\).* leads from 'a' to 't'"):
        space.restrict(exclude=[("t", "a")])
    with pytest.raises(ValueError, match=r"different numbers of rows: \[2, 3\]"):
        each.restrict(source=["s", "a", "b"])
    with pytest.raises(ValueError, match="for 2 rows; got 3"):
        each.argmin(np.ones((3, 6)))
    with pytest.raises(ValueError, match="max_length is a whole number"):
        space.restrict(max_length=-1)
    assert "0 arcs known in, 1 known out" in repr(one.constraints)
    with pytest.raises(ValueError, match="graph cannot change after restrict"):
        clone(one).set_params(graph=[("s", "t")])


def test_programs_describe_paths_without_cycles():
    space = ShortestPaths.grid(3, 3)
    rng = np.random.default_rng(0)
    for narrowed in (space, space.restrict(avoid=[(0, 1)]), space.restrict(via=[(2, 0)])):
        cost = rng.normal(size=12)
        point, bound = Solving.of(narrowed).program().solve(cost)
        best = narrowed.argmin(cost[None])
        assert_array_equal(point, best.outputs[0])
        assert bound == pytest.approx(best.values[0])
        assert_allclose(Solving.of(narrowed).program().violation(narrowed.enumerate()), 0.0)
    beyond = ShortestPaths([("s", "t"), ("t", "z")], "s", "t").restrict(via=["z"])
    with pytest.raises(InfeasibleError):
        Solving.of(beyond).program().solve(np.ones(2))
    assert Solving.of(ShortestPaths(CYCLIC, "s", "t")).program() is None


def test_many_paths_of_a_cyclic_graph_are_not_counted():
    space = ShortestPaths(nx.complete_graph(12), 0, 1)
    with pytest.raises(UndecidableError, match="more paths than the limit of 1,000"):
        space.enumerate(1000)
    assert Inference.of(space).distribution(np.zeros((1, 66))) is None


def test_the_guarantee_says_what_cycles_take_away():
    assert ShortestPaths.grid(30, 30).guarantee.kind == "exact"
    assert ShortestPaths(CYCLIC, "s", "t").guarantee.kind == "exact"
    assert ShortestPaths(nx.complete_graph(20), 0, 1).guarantee.kind == "bound only"


# ---------------------------------------------------------------------- learners and files
def test_hamming_and_models(tmp_path):
    space = ShortestPaths.grid(3, 3)
    check_loss(Hamming(), space, space.enumerate())
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (80, 12))
    Y = list(space.restore(space.argmin(X).outputs))
    model = ConditionalRiskMinimizer(space, alpha=1e-2).fit(X, Y)
    predicted = model.predict(X[:5])
    assert all(path[0] == (0, 0) and path[-1] == (2, 2) for path in predicted)
    save_model(model, tmp_path / "paths.skstruct")
    again = load_model(tmp_path / "paths.skstruct").predict(X[:5])
    assert list(again) == list(predicted)
    around = model.predict(X[:5], restrict={"avoid": [(1, 1)]})
    assert all((1, 1) not in path for path in around)
