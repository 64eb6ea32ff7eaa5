# SPDX-License-Identifier: BSD-3-Clause
"""Kendall's loss where predictions and truths may leave pairs open."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skstruct.losses import Hamming, Kendall, pair, resolve_loss
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
    assert np.max(expected) <= loss.range()[1] == loss.largest_loss(space)


@pytest.mark.parametrize(("abstain", "invent"), PRICES)
def test_costs_and_decisions(abstain, invent):
    check_loss(Kendall(abstain=abstain, invent=invent), PartialOrders(3), ORDERS)


def test_half_of_hamming():
    loss = PartialKendall(0.5, 0.5)
    assert_allclose(2 * loss.pairwise(ORDERS, ORDERS), Hamming().pairwise(ORDERS, ORDERS))


def test_the_form_is_the_cost():
    rng = np.random.default_rng(0)
    loss, g, total = PartialKendall(0.3, 0.1), rng.normal(size=(4, 12)), rng.random((4, 1))
    form = loss.bilinear_form(12)
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
