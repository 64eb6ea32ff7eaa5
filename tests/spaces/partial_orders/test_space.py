# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders in all the formats of users, under learners and losses."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.learners import StructuredSVM
from skstruct.losses import Kendall
from skstruct.spaces import PartialOrders

CHAIN = [[1, 1, 0, 1, 0, 0]]  # a before b before c; columns ab ac ba bc ca cb
FORMATS = {
    "pairs": [{("a", "b"), ("b", "c")}],
    "lists of pairs": [[("a", "b"), ("b", "c"), ("a", "c")]],
    "pairs as lists": [[["a", "b"], ["b", "c"]]],
    "mapping": [{"a": ["b"], "b": "c"}],
    "ranking": [["a", "b", "c"]],
    "ranking as a tuple": [("a", "b", "c")],
    "series": pd.Series([["a", "b", "c"]], name="order"),
    "ranks by name": pd.DataFrame({"b": [2], "c": [3], "a": [1]}),
    "ranks": [[1, 2, 3]],
    "ranks as an array": np.array([[1.0, 2.0, 3.0]]),
    "networkx": [nx.DiGraph([("a", "b"), ("b", "c")])],
    "relation matrix": np.array([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]]),
    "indicators": np.array([[1, 0, 0, 1, 0, 0]]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name):
    space = PartialOrders(["a", "b", "c"])
    assert_array_equal(space.fit_validate(FORMATS[name]), CHAIN)
    back = space.restore(np.array(CHAIN))
    assert_array_equal(space.validate(back), CHAIN)


@pytest.mark.parametrize("name", FORMATS)
def test_items_are_learned(name):
    learned = PartialOrders()
    assert_array_equal(learned.fit_validate(FORMATS[name])[:, :0], np.zeros((1, 0)))
    assert len(learned.items_) == 3
    if name not in ("ranks", "ranks as an array", "relation matrix", "indicators"):
        assert set(learned.items_) == {"a", "b", "c"}


def test_predictions_come_back_in_the_format_of_training():
    Z = np.array(CHAIN)

    def written(Y):
        return PartialOrders(list("abc")).fit(Y).restore(Z)

    assert written([["a", "b", "c"]])[0] == {("a", "b"), ("a", "c"), ("b", "c")}
    assert written([[("a", "b")], []])[0] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert set(written([nx.DiGraph([("a", "b")])])[0].edges) == written([{("a", "b")}])[0]
    series = PartialOrders(list("abc")).fit(FORMATS["series"]).restore(Z, index=[7])
    assert series.index.tolist() == [7]
    assert series.name == "order"
    assert written(FORMATS["relation matrix"]).tolist() == [[[0, 1, 1], [0, 0, 1], [0, 0, 0]]]


def test_ties_and_items_left_out_are_open():
    space = PartialOrders(list("abcd"))
    Z = space.validate([["a", ["b", "c"]], ["d", "a"], []])
    assert space.open_pairs(Z)[0] == [("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    assert space.restore(Z)[1].tolist() == space.validate([{("d", "a")}])[0].tolist()
    assert len(space.open_pairs(Z)[2]) == 6
    ranked = space.validate(pd.DataFrame([[1, 2, 2, np.nan]], columns=list("abcd")))
    assert_array_equal(ranked, Z[:1])


def test_covers():
    space = PartialOrders(list("abcd"))
    Z = space.validate([["a", "b", "c"], {"a": ["b", "c"], "b": ["d"], "c": ["d"]}])
    assert space.covers(Z)[0] == [("a", "b"), ("b", "c")]
    assert space.covers(Z)[1] == [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([{("a", "b"), ("b", "c"), ("c", "a")}], r"Y\[0\] has a cycle: 'a' comes before 'b'"),
        ([set(), {("a", "b"), ("b", "a")}], r"Y\[1\] has a cycle"),
        ([["a", "b", "a"]], "lists 'a' twice"),
        ([{("a", "z")}], "'z'"),
        ([["a", "z"]], "'z'"),
        ([{("a", "a")}], "self-loop"),
        (["abc"], "Y"),
        ([], "no rows"),
    ],
)
def test_what_is_no_partial_order_is_refused(Y, message):
    with pytest.raises(ValueError, match=message):
        PartialOrders(list("abc")).fit(Y)


def test_rows_that_are_not_closed_are_no_outputs():
    space = PartialOrders(3)
    assert space.contains(np.array([[1, 0, 0, 1, 0, 0], CHAIN[0]])).tolist() == [False, True]
    assert "which follows" in space._why_not(np.array([1, 0, 0, 1, 0, 0]))
    with pytest.raises(NotFittedError, match="learns its items"):
        _ = PartialOrders().labels_


def test_constraints_row_by_row():
    space = PartialOrders(list("abc")).restrict(include=[[("c", "a")], []])
    costs = np.tile([-1.0, -1.0, 0.0, -1.0, 0.0, 0.0], (2, 1))
    found = space.argmin(costs)
    assert space.restore(found.outputs).tolist()[1] == CHAIN[0]
    assert found.outputs[0, 4] == 1
    assert found.values.tolist() == [-1.0, -3.0]


# ------------------------------------------------------------------- learners
def orders_of_rows(n=150, seed=0):
    """Item a is first; which of b and c is next depends on x, and is a coin around 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    second = rng.random(n) < 1 / (1 + np.exp(-8 * X[:, 0]))
    return X, [["a", "b", "c"] if first else ["a", "c", "b"] for first in second]


def test_a_model_abstains_where_it_is_not_sure():
    X, Y = orders_of_rows()
    model = ConditionalRiskMinimizer(PartialOrders(), Kendall(abstain=0.25)).fit(X, Y)
    left, middle, right = model.predict([[-0.9], [0.0], [0.9]])
    assert left == {("a", "b"), ("a", "c"), ("c", "b")}
    assert middle == {("a", "b"), ("a", "c")}
    assert right == {("a", "b"), ("a", "c"), ("b", "c")}
    decoded = model.decode([[0.0]])
    assert_allclose(decoded.values, decoded.bounds)
    assert len(model.predict([[0.0]], loss="kendall(abstain=0.5)")[0]) == 3
    (asked,) = model.predict([[0.0]], restrict={"include": [("c", "b")]})
    assert ("c", "b") in asked


def test_rankings_and_partial_orders_are_learned_together():
    X, Y = orders_of_rows()
    mixed = [row if k % 2 else {(row[0], row[1]), (row[0], row[2])} for k, row in enumerate(Y)]
    strict = ConditionalRiskMinimizer(PartialOrders(), Kendall(abstain=0.25, invent=0.5), alpha=0.1)
    found = strict.fit(X, mixed).predict([[0.9]])[0]
    assert found == {("a", "b"), ("a", "c")}  # half of all leave the other pair open
    silent = ConditionalRiskMinimizer(PartialOrders(), Kendall(abstain=0.25, invent=0), alpha=0.1)
    assert ("b", "c") in silent.fit(X, mixed).predict([[0.9]])[0]


@pytest.mark.slow
def test_margins_and_files(tmp_path):
    X, Y = orders_of_rows(40)
    model = StructuredSVM(PartialOrders(), max_iter=5).fit(X, Y)
    assert all(("a", "b") in row for row in model.predict(X))
    risk = ConditionalRiskMinimizer(PartialOrders(), Kendall(abstain=0.3), alpha=0.1).fit(X, Y)
    save_model(risk, tmp_path / "orders.zip")
    again = load_model(tmp_path / "orders.zip")
    assert again.predict(X[:9]).tolist() == risk.predict(X[:9]).tolist()
    assert again.space_.items_ == ("a", "b", "c")


def test_clones():
    space = PartialOrders(3, prove=True).restrict(include=[(0, 1)])
    assert clone(space).argmin(np.ones((1, 6))).values.tolist() == [1.0]


def test_tied_names_are_read_alike_in_every_row():
    space = PartialOrders(list("abcd"))
    ties = space.validate([[["a", "b"], "c", "d"], [["a", "b"], ["c", "d"]]])
    sets = space.validate([[{"a", "b"}, "c", "d"], [{"a", "b"}, {"c", "d"}]])
    meant = [{(u, v) for u in "ab" for v in "cd"} | extra for extra in ({("c", "d")}, set())]
    pairs = space.validate(meant)
    assert_array_equal(ties, pairs)
    assert_array_equal(sets, pairs)
    assert_array_equal(
        space.validate([[["a", "b"], ["c", "d"]]]), space.validate([{("a", "b"), ("c", "d")}])
    )


def test_numbers_are_names_where_they_are_no_ranks():
    space = PartialOrders([10, 20, 30])
    found = space.validate([[30, 10, 20], [20, 30]])
    meant = space.validate([{(30, 10), (30, 20), (10, 20)}, {(20, 30)}])
    assert_array_equal(found, meant)


def test_numbers_that_may_be_ranks_or_names_are_ranks_or_refused():
    space = PartialOrders([1, 2, 3])
    assert_array_equal(space.validate([[3, 1, 2]]), space.validate([{(2, 3), (2, 1), (3, 1)}]))
    with pytest.raises(ValueError, match="Row 1 has 1 numbers for 3 items"):
        space.validate([[3, 1, 2], [1]])
