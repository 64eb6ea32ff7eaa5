# SPDX-License-Identifier: BSD-3-Clause
"""Kendall's loss where predictions and truths may leave pairs open."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import Form, Hamming, Kendall, Levels, pair, resolve_loss
from skstruct.losses.partial_orders import PartialKendall
from skstruct.spaces import PartialOrders, Rankings
from skstruct.testing import check_loss

ORDERS = PartialOrders(3).enumerate()
PRICES = [(0.5, None), (0.2, None), (0.3, 0.0), (0.0, 1.5), (2.0, 0.25)]


def by_definition(space, z, y, abstain, invent):
    """Pair by pair, from the names."""
    predicted, true = ({space.labels_[j] for j in np.flatnonzero(row)} for row in (z, y))
    total = 0.0
    for a, b in combinations(space.items_, 2):
        here, there = ({(a, b), (b, a)} & some for some in (predicted, true))
        if here and there:
            total += here != there
        elif there:
            total += abstain
        elif here:
            total += invent
    return total


@pytest.mark.parametrize(("abstain", "invent"), PRICES)
def test_the_definition(abstain, invent):
    space = PartialOrders(3)
    _, loss = pair(Kendall(abstain=abstain, invent=invent), space, ORDERS)
    price = abstain if invent is None else invent
    expected = [[by_definition(space, z, y, abstain, price) for y in ORDERS] for z in ORDERS]
    assert_allclose(loss.pairwise(ORDERS, ORDERS), expected)
    assert np.max(expected) <= loss.range()[1] == Levels.of(loss).largest(space)


@pytest.mark.parametrize(("abstain", "invent"), PRICES)
def test_costs_and_decisions(abstain, invent):
    check_loss(Kendall(abstain=abstain, invent=invent), PartialOrders(3), ORDERS)


def test_half_of_hamming():
    loss = PartialKendall(0.5, 0.5)
    assert_allclose(2 * loss.pairwise(ORDERS, ORDERS), Hamming().pairwise(ORDERS, ORDERS))


def test_the_form_is_the_cost():
    rng = np.random.default_rng(0)
    loss, g, total = PartialKendall(0.3, 0.1), rng.normal(size=(4, 12)), rng.random((4, 1))
    form = Form.of(loss).numbers(12)
    assert_allclose(loss.cost(g, total), (form.V @ g.T).T + total * form.u)
    assert_allclose(loss.offset(g, total), g @ form.v + form.constant * total[:, 0])


def test_on_rankings_nothing_has_changed():
    assert Kendall()([[1, 2, 3]], [[2, 1, 3]]).tolist() == [1.0]
    with pytest.raises(ValueError, match="abstain and invent are for PartialOrders"):
        pair(Kendall(abstain=0.2), Rankings(3), np.array([[1.0, 2.0, 3.0]]))
    with pytest.raises(ValueError, match="abstain and invent are for PartialOrders"):
        Kendall(abstain=0.2)([[1, 2]], [[2, 1]])


@pytest.mark.parametrize("price", [-0.1, np.inf, np.nan, "half", None, True])
def test_prices_are_numbers(price):
    with pytest.raises(ValueError, match="abstain is a number of at least 0"):
        pair(Kendall(abstain=price), PartialOrders(3), ORDERS)


def test_names_and_other_parameters():
    assert resolve_loss("kendall(abstain=0.2)").abstain == 0.2
    with pytest.raises(ValueError, match="normalize is for rankings"):
        pair(Kendall(normalize=True), PartialOrders(3), ORDERS)
    with pytest.raises(ValueError, match="a column for every ordered pair"):
        PartialKendall()([[1, 0, 0]], [[0, 0, 1]])


def answered_pairs(n=300):
    """Each row is one pair that somebody was asked about, of items with known strengths."""
    rng = np.random.default_rng(0)
    strength, rows = np.arange(4.0), []
    for _ in range(n):
        a, b = rng.permutation(4)[:2]
        first = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        rows.append({("abcd"[a], "abcd"[b])} if first else {("abcd"[b], "abcd"[a])})
    return rng.normal(size=(n, 1)), rows


def test_truths_that_leave_most_pairs_open_say_nothing_of_them_by_default():
    X, y = answered_pairs()
    with pytest.warns(UserWarning, match=r"no pair .* more than \d+%.*give Kendall\(invent=0.5\)"):
        model = ConditionalRiskMinimizer(PartialOrders(), kernel="linear", alpha=10.0).fit(X, y)
    (told,) = model.predict(X[:1])
    assert told == {(a, b) for a, b in combinations("dcba", 2)}  # the stronger one first
    known_to_be_open = ConditionalRiskMinimizer(
        PartialOrders(), Kendall(invent=0.5), kernel="linear", alpha=10.0
    ).fit(X, y)
    assert known_to_be_open.predict(X[:1])[0] == set()


def test_hamming_says_that_truths_leave_most_pairs_open():
    """It takes open pairs for known ones, and orders none; costs say what is meant."""
    X, y = answered_pairs()
    model = ConditionalRiskMinimizer(PartialOrders(), "hamming", kernel="linear", alpha=10.0)
    with pytest.warns(UserWarning, match=r"no pair .* more than \d+%.*use loss='kendall'"):
        model.fit(X, y)
    assert model.predict(X[:1])[0] == set()
    space = PartialOrders(list("ab")).fit([{("a", "b")}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(loss=Hamming(miss=5.0)).fit(X, y)
        for outputs in ([[1, 0], [0, 0]], [[0, 0], [0, 0]]):
            pair(Hamming(), space, np.array(outputs))


def test_pairs_that_half_of_the_truths_order_are_known_to_be_open_elsewhere():
    space = PartialOrders(list("ab")).fit([{("a", "b")}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for outputs in ([[1, 0], [0, 0]], [[0, 0], [0, 0]]):
            _, loss = pair(Kendall(), space, np.array(outputs))
            assert loss.invent == 0.5
