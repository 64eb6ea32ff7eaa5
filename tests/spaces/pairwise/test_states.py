# SPDX-License-Identifier: BSD-3-Clause
"""States of labels in a forest, against the list of all of them."""

from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.generated_labels import random_tree_edges
from skstruct.exceptions import InfeasibleError
from skstruct.losses import Hamming, Listed, ZeroOne
from skstruct.spaces import Coordinates, Embeddings, PairwiseStates, Sequences
from skstruct.spaces.solvers.pairwise.forests import best_states_on_forest, k_best_states
from skstruct.testing import check_loss, check_space


def all_states(n, k):
    return np.array(list(product(range(k), repeat=n)), dtype=np.int64)


@st.composite
def forests(draw, max_labels=4):
    """Number of labels, number of states, and some edges of a random tree."""
    n, k = draw(st.integers(1, max_labels)), draw(st.integers(1, 3))
    tree = random_tree_edges(n, draw(st.integers(0, 99)))
    return n, k, tree[[draw(st.booleans()) for _ in tree]]


def totals(unary, pairs, edges, Z):
    """Cost of every choice of states in every row, from the definition; shape (rows, m)."""
    total = unary[:, np.arange(Z.shape[1]), Z].sum(axis=2)
    for e, (i, j) in enumerate(edges):
        total = total + pairs[:, e, Z[:, i], Z[:, j]]
    return total


# ----------------------------------------------------------------- decoding
@given(forests(), st.booleans(), st.booleans(), st.integers(0, 99))
def test_best_states_against_enumeration(forest, shared, forbidding, seed):
    n, k, edges = forest
    rng, Z = np.random.default_rng(seed), all_states(n, k)
    edges = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])  # either way round
    unary = rng.integers(-2, 3, (6, n, k)).astype(float)  # with ties
    if forbidding:
        unary[rng.random(unary.shape) < 0.3] = np.inf
    pairs = rng.standard_normal((1 if shared else 6, len(edges), k, k))
    expected = totals(unary, pairs, edges, Z)
    states, values = best_states_on_forest(unary, pairs, edges)
    assert_allclose(values, expected.min(axis=1), atol=1e-12)
    possible = np.flatnonzero(np.isfinite(values))
    number = (states[:, None] == Z).all(axis=2).argmax(axis=1)
    assert_allclose(expected[possible, number[possible]], values[possible], atol=1e-12)
    ranked, several = k_best_states(unary, pairs, edges, 5)
    ordered = np.sort(expected, axis=1)[:, : several.shape[1]]
    assert_allclose(several, ordered, atol=1e-12)
    for row, found in zip(ranked, several):
        there = row[np.isfinite(found)]
        assert len(np.unique(there, axis=0)) == len(there)


def test_equal_states_are_decided_for_the_first():
    states, _ = best_states_on_forest(np.zeros((1, 3, 4)), np.zeros((1, 1, 4, 4)), [[0, 2]])
    assert_array_equal(states, [[0, 0, 0]])


def test_a_path_is_a_sequence():
    rng, length = np.random.default_rng(0), 5
    path = PairwiseStates([(t, t + 1) for t in range(length - 1)], "abc", range(length))
    chain = Sequences("abc", length, "bigrams")
    costs = rng.standard_normal((20, 15 + 4 * 9))
    Z = path.sample(20, 0)
    assert_array_equal(path.embed(Z).toarray(), chain.embed(Z).toarray())
    assert_array_equal(path.argmin(costs).outputs, chain.argmin(costs).outputs)
    assert_allclose(path.kbest(costs, 6).values, chain.kbest(costs, 6).values)


# ----------------------------------------------------------------- the space
@pytest.mark.slow
@given(forests(max_labels=3), st.sampled_from(["states", "node states"]))
def test_space_against_enumeration(forest, embedding):
    n, k, edges = forest
    space = PairwiseStates(edges.tolist(), range(k), range(n), embedding)
    check_space(space, all_states(n, k), n_draws=2000)


@pytest.mark.slow
@given(forests(max_labels=3), st.data())
def test_constraints_against_enumeration(forest, data):
    n, k, edges = forest
    one_state = st.integers(0, k - 1)
    some_states = st.one_of(one_state, st.lists(one_state, min_size=1, max_size=2))
    label = st.integers(0, n - 1)
    known = data.draw(st.dictionaries(label, some_states, max_size=2))
    forbidden = data.draw(st.dictionaries(label, some_states, max_size=2))
    space = PairwiseStates(edges.tolist(), range(k), range(n))
    space = space.restrict(known=known, forbidden=forbidden)
    rows = [
        row
        for row in all_states(n, k)
        if all(row[i] in np.ravel(states) for i, states in known.items())
        and not any(row[i] in np.ravel(states) for i, states in forbidden.items())
    ]
    if rows:
        check_space(space, np.array(rows), n_draws=2000)
        others = [z for z in all_states(n, k).tolist() if z not in np.array(rows).tolist()]
        assert not others or not space.contains(np.array(others)).any()
    else:
        assert (space.size(), space.log_size()) == (0, -np.inf)
        with pytest.raises(InfeasibleError):
            space.argmin(np.zeros((1, n * k + len(edges) * k * k)))
        with pytest.raises(InfeasibleError):
            space.mean_embedding()


def test_constraints_row_by_row():
    space = PairwiseStates([("a", "b")], [0, 1, 2], "ab")
    each = space.restrict(known=[{"a": 2}, {}, {"b": [0, 1]}], forbidden={"a": 0})
    costs = np.tile(np.arange(15.0), (3, 1))
    outputs = each.argmin(costs).outputs
    for i in range(3):
        assert_array_equal(each.rows([i]).argmin(costs[[i]]).outputs[0], outputs[i])
    assert_array_equal(outputs[:, 0], [2, 1, 1])
    assert each.contains(outputs).all()
    assert each.rows([0]).size() == 3
    with pytest.raises(ValueError, match="differs from row to row"):
        each.size()
    with pytest.raises(ValueError, match="3 rows; got 2"):
        each.argmin(costs[:2])
    with pytest.raises(ValueError, match="different numbers of rows"):
        each.restrict(known=[{}, {}])


@given(forests())
def test_costs_of_states_are_lifted(forest):
    n, k, edges = forest
    space = PairwiseStates(edges.tolist(), range(k), range(n))
    nodes, Z = Embeddings.of(space).view("node states"), all_states(n, k)
    costs = np.random.default_rng(0).standard_normal((5, n * k))
    lifted = Coordinates.of(space).lift(costs, "node states")
    assert_allclose(lifted @ space.embed(Z).T.toarray(), costs @ nodes.embed(Z).T.toarray())
    assert_array_equal(space.argmin(lifted).outputs, nodes.argmin(costs).outputs)
    assert Coordinates.of(space).lift(lifted, "states") is lifted
    with pytest.raises(ValueError, match="got costs of states"):
        Coordinates.of(nodes).lift(lifted, "states")


# ----------------------------------------------------------------- forms
EDGES = [("u", "v"), ("v", "w")]
FORMS = {
    "array": np.array([["no", "yes", "no"], ["yes", "yes", "perhaps"]]),
    "numbers": np.array([[3, 1, 3], [1, 1, 2]], dtype=np.int16),
    "objects": np.array([["no", 2, "no"], [2, 2, "yes"]], dtype=object),
    "lists": [["no", "yes", "no"], ["yes", "yes", "no"]],
    "tuples": [(1.5, 2.5, 1.5), (2.5, 2.5, 1.5)],
    "frame": pd.DataFrame({"w": ["no", "yes"], "u": ["yes", "yes"], "v": ["no", "no"]}),
    "categories": pd.DataFrame({"u": [1, 2], "v": [2, 1], "w": [1, 1]}, index=[7, 9]).astype(
        {"u": "category"}
    ),
}


@pytest.mark.parametrize("format", FORMS)
def test_outputs_come_back_as_they_came(format):
    Y = FORMS[format]
    space = PairwiseStates(EDGES, labels="uvw").fit(Y)
    index = getattr(Y, "index", None)
    back = space.restore(space.validate(Y), index)
    if isinstance(Y, pd.DataFrame):
        pd.testing.assert_frame_equal(back, Y)
        assert PairwiseStates(EDGES).fit(Y).labels_ == tuple(Y.columns)
    elif isinstance(Y, np.ndarray):
        assert_array_equal(back, Y)
        assert back.dtype == Y.dtype
    else:
        assert back.tolist() == Y
        assert type(back[0]) is type(Y[0])


def test_states_that_a_column_has_not_seen():
    Y = pd.DataFrame({"u": pd.Categorical(["a", "a"]), "v": ["a", "b"]})
    space = PairwiseStates("empty").fit(Y)
    back = space.restore(np.array([[1, 0]]), [5])
    assert back.loc[5].tolist() == ["b", "a"]
    wider = PairwiseStates("empty", states=["a", "longer"]).fit(np.array([["a", "a"]]))
    assert wider.restore(np.array([[1, 0]])).tolist() == [["longer", "a"]]


def test_labels_are_numbers_where_columns_have_no_names():
    space = PairwiseStates([(0, 2)]).fit([[5, 6, 5], [6, 6, 6]])
    assert (space.labels_, space.states_) == ((0, 1, 2), (5, 6))
    assert_array_equal(space.edges_, [[0, 2]])
    graph = nx.path_graph(["w", "v", "u"])
    assert_array_equal(PairwiseStates(graph, "ab", "uvw").edges_, [[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("parameters", "Y", "message"),
    [
        ({"graph": [(0, 1), (1, 2), (0, 2)]}, [[0, 0, 1]], "3 edges .* close a circle"),
        ({"graph": "full"}, [[0, 0, 1]], "close a circle"),
        ({"graph": [(0, 7)]}, [[0, 0, 1]], "the label 7, which is not one of the 3 known"),
        ({"graph": nx.Graph([("a", "b")])}, [[0, 0]], "graph holds the label 'a'"),
        ({"graph": "empty", "states": ["yes", "no"]}, [["yes", "yess"]], "Y.0. gives 1 the state"),
        ({"graph": "empty"}, [[0, 1], [0]], r"each of 2 labels; Y\[1\] has 1"),
        ({"graph": "empty"}, [[0, None]], "None cannot be a state"),
        ({"graph": "empty"}, np.array([[0.0, np.nan]]), "nan cannot be a state"),
        ({"graph": "empty"}, [[0, [1]]], "hashable"),
        ({"graph": "empty"}, [], "no rows"),
        ({"graph": "empty"}, [[]], "is empty"),
        ({"graph": "empty"}, [3, 4], r"Y\[0\] is 3"),
        ({"graph": "empty"}, pd.Series([3, 4]), "got Series"),
        ({"graph": "empty", "states": [1, 1]}, [[1]], "the state 1 is listed twice"),
        ({"graph": "empty", "states": []}, [[1]], "there are no states"),
        ({"graph": "empty", "states": 2}, [[1]], "list of states; got 2"),
        ({"graph": "empty", "labels": "aa"}, [[1, 1]], "the label 'a' is listed twice"),
        ({"graph": "empty"}, pd.DataFrame({"u": ["a", None]}), "column 'u' of Y is missing"),
    ],
)
def test_what_is_wrong_is_said(parameters, Y, message):
    with pytest.raises(ValueError, match=message):
        PairwiseStates(**parameters).fit(Y)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"known": {"x": 1}}, "the label 'x'"),
        ({"known": {"u": 5}}, "known gives 'u' the state 5"),
        ({"forbidden": {"u": [0, 5]}}, "forbidden gives 'u' the state 5"),
        ({"known": "u"}, "known maps labels to states"),
        ({"known": ["u"]}, r"known\[0\] maps labels"),
        ({"known": []}, "different numbers of rows"),
    ],
)
def test_wrong_constraints_are_named(constraints, message):
    with pytest.raises(ValueError, match=message):
        PairwiseStates("empty", [0, 1], "uv").restrict(**constraints)


def test_unfitted_and_wrong_input():
    with pytest.raises(NotFittedError, match="states"):
        PairwiseStates("empty", labels="ab").embed(np.zeros((1, 2), int))
    with pytest.raises(NotFittedError, match="labels"):
        PairwiseStates("empty", states="ab").embed(np.zeros((1, 2), int))
    space = PairwiseStates([("u", "v")], "ab", "uv")
    with pytest.raises(ValueError, match="canonical form"):
        space.contains([[0.5, 1.0]])
    with pytest.raises(ValueError, match=r"shape \(n_samples, 8\)"):
        space.argmin(np.zeros((1, 4)))
    with pytest.raises(ValueError, match="got 'pairs'"):
        clone(space).set_params(embedding="pairs").embed([[0, 1]])
    with pytest.raises(ValueError, match=r"more than the limit of 3"):
        space.enumerate(limit=3)
    with pytest.raises(ValueError, match="restricted for 2 labels of 2 states"):
        PairwiseStates("empty", constraints=space.restrict(known={"u": "a"}).constraints).fit(
            [[1, 2, 3]]
        )


# ----------------------------------------------------------------- losses and learners
@pytest.mark.slow
@given(forests(max_labels=3))
def test_hamming_against_its_definition(forest):
    n, k, edges = forest
    space, Z = PairwiseStates(edges.tolist(), range(k), range(n)), all_states(n, k)
    check_loss(Hamming(), space, Z)
    check_loss(Hamming(weights=np.arange(1.0, n + 1)), space, Z)
    check_loss(Hamming(normalize=True), space, Z)
    check_loss(ZeroOne(), space, Z)
    check_loss(Listed(Hamming()), space, Z)


def test_weights_by_name():
    space = PairwiseStates("empty", range(3), ["u", "v"])
    loss = Hamming({"v": 2.0, "u": 0.5}).bind(space)
    assert_allclose(loss([[0, 1], [2, 2]], [[1, 1], [0, 1]]), [0.5, 2.5])


@pytest.mark.parametrize("loss", ["hamming", "zero_one", None])
def test_conditional_risk(loss):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (120, 2))
    weather = np.array(["dry", "damp", "wet"])
    Y = pd.DataFrame({"day": weather[np.digitize(X[:, 0], [-0.3, 0.3])],
                      "night": weather[np.digitize(X[:, 1], [-0.3, 0.3])]})  # fmt: skip
    model = ConditionalRiskMinimizer(
        PairwiseStates([("day", "night")]), loss, smoother="kernel_ridge"
    )
    model.fit(X[:80], Y[:80])
    predicted = model.predict(X[80:])
    assert list(predicted.columns) == ["day", "night"]
    right = (predicted.to_numpy() == Y[80:].to_numpy()).mean()
    assert right > 0.8
    told = model.predict(X[80:], restrict={"known": {"day": "wet"}})
    assert (told["day"] == "wet").all()
    best = model.kbest(X[80:83], 3)
    assert (np.diff(best.values, axis=1) >= 0).all()


def test_predictions_have_the_least_estimated_risk():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((25, 2)), rng.integers(0, 3, (25, 4))
    space = PairwiseStates([(0, 1), (1, 2), (1, 3)], range(3))
    model = ConditionalRiskMinimizer(space, "hamming", alpha=0.3).fit(X, Y)
    new = rng.standard_normal((10, 2))
    weights = model.smoother_.weights(new)
    Z = all_states(4, 3)
    risks = weights @ (Z[:, None] != Y).sum(axis=2).T
    assert_allclose(model.predict_risk(new), risks.min(axis=1), atol=1e-6)
    assert_array_equal(model.predict(new), Z[risks.argmin(axis=1)])
