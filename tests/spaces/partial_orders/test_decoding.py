# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders of least cost against the list of all, and what bounds promise beyond."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from partial_order_cases import all_orders
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import PartialOrders
from skstruct.spaces.partial_orders import decoding


def drawn_costs(rng, n_rows, n):
    """Of several kinds: any numbers, few whole ones, of one sign, mostly zero."""
    d = n * (n - 1)
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=(n_rows, d))
    if kind == 1:
        return rng.integers(-2, 3, (n_rows, d)).astype(float)
    if kind == 2:
        return -rng.random((n_rows, d)) + rng.choice([0.0, 0.5])
    return rng.normal(size=(n_rows, d)) * (rng.random((n_rows, d)) < 0.4)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_against_all_orders(n, seed):
    rng = np.random.default_rng(seed)
    space, orders, costs = PartialOrders(n), all_orders(n), drawn_costs(rng, 5, n)
    found = space.argmin(costs)
    best = (costs @ orders.T).min(axis=1)
    assert_allclose(found.values, best, atol=1e-12)
    assert_array_equal(found.bounds, found.values)
    assert_allclose((costs * found.outputs).sum(axis=1), found.values, atol=1e-12)
    assert {tuple(row) for row in found.outputs.tolist()} <= set(map(tuple, orders.tolist()))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_constraints_against_all_orders(n, seed):
    rng = np.random.default_rng(seed)
    space, orders, d = PartialOrders(n), all_orders(n), n * (n - 1)
    low, high = rng.random(d) < 0.2, rng.random(d) < 0.7
    narrowed = space.restrict(include=low[None].astype(int), exclude=~high[None])
    inside = orders[((orders >= low) & (orders <= high)).all(axis=1)]
    assert narrowed.size() == len(inside)
    costs = drawn_costs(rng, 3, n)
    if not len(inside):
        with pytest.raises(InfeasibleError, match="no output meets"):
            narrowed.argmin(costs)
        return
    found = narrowed.argmin(costs)
    assert_allclose(found.values, (costs @ inside.T).min(axis=1), atol=1e-12)
    assert narrowed.contains(found.outputs).all()
    for row, many in zip(costs, narrowed.kbest(costs, 4).values):
        assert_allclose(many[np.isfinite(many)], np.sort(row @ inside.T)[:4], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 6])
def test_five_and_six_items_against_the_list(n):
    rng = np.random.default_rng(n)
    space, orders = PartialOrders(n), PartialOrders(n).enumerate().astype(float)
    for _ in range(8):
        costs = drawn_costs(rng, 4, n)
        found = space.argmin(costs)
        assert_allclose(found.values, (costs @ orders.T).min(axis=1), atol=1e-12)
        assert_array_equal(found.bounds, found.values)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(7, 13), st.integers(0, 2**32 - 1))
def test_outputs_are_orders_and_bounds_hold(n, seed):
    """The bound is below the cost of every order that is known: those of better searches, too."""
    rng = np.random.default_rng(seed)
    space, costs = PartialOrders(n), drawn_costs(rng, 2, n)
    found = space.argmin(costs)
    assert space.contains(found.outputs).all()
    assert (found.bounds <= found.values).all()
    if n <= decoding.MOST_PROVEN:
        assert_array_equal(found.bounds, found.values)
    scores = rng.normal(size=(200, n))  # orders of intervals: a before b where a ends first
    ends = scores + rng.random((200, 1)) * rng.random((200, n))
    orders = decoding.as_columns(ends[:, :, None] < scores[:, None])
    assert decoding.are_orders(orders, n).all()
    assert ((costs @ orders.T).min(axis=1) >= found.bounds - 1e-9).all()


def test_a_search_that_is_stopped_has_a_bound_below_the_optimum(monkeypatch):
    rng = np.random.default_rng(0)
    n, costs = 9, rng.normal(size=(6, 72))
    everything = np.zeros((1, 72), bool), np.ones((1, 72), bool)
    _, best, _ = decoding.min_cost_orders(costs, *everything, n)
    monkeypatch.setattr(decoding, "MOST_PROVEN", 2)
    gaps = []
    for work in (0, 84 * 3, 84 * 40):
        monkeypatch.setattr(decoding, "MOST_WORK", work)
        outputs, values, bounds = decoding.min_cost_orders(costs, *everything, n)
        assert decoding.are_orders(outputs, n).all()
        assert (bounds <= best + 1e-9).all()
        assert (values >= best - 1e-9).all()
        gaps.append((values - bounds).sum())
    assert gaps[0] >= gaps[1] >= gaps[2]
    assert gaps[0] > 0
    proven = decoding.min_cost_orders(costs, *everything, n, prove=True)
    assert_array_equal(proven[1], proven[2])


def test_guarantees():
    assert PartialOrders(10).guarantee.kind == "exact"
    assert PartialOrders(11).guarantee.kind == "bound only"
    assert PartialOrders(11, prove=True).guarantee.kind == "exact"
    with pytest.raises(ValueError, match="the k best need exact decoding"):
        PartialOrders(11).kbest(np.zeros((1, 110)), 2)


def test_ties_stay_open():
    assert not PartialOrders(5).argmin(np.zeros((3, 20))).outputs.any()


def test_triples_have_nineteen_states():
    assert len(decoding.triple_states()) == len(all_orders(3)) == 19
