# SPDX-License-Identifier: BSD-3-Clause
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skstruct.rankings import (
    distance,
    kendall_tau,
    orders_from_ranks,
    ranks_from_orders,
    spearman_rho,
)
from strategies import total_orders


def vectors(d):
    return st.lists(st.integers(1, 4).map(float), min_size=d, max_size=d)


@given(st.integers(2, 6).flatmap(lambda d: st.tuples(vectors(d), vectors(d))))
def test_correlations_are_scipys(rows):
    a, b = rows
    tied = len(set(a)) == 1 or len(set(b)) == 1
    for ours, theirs in ((kendall_tau, stats.kendalltau), (spearman_rho, stats.spearmanr)):
        if tied:
            assert np.isnan(ours(a, b))
        else:
            np.testing.assert_allclose(ours(a, b), theirs(a, b).statistic, atol=1e-12)


@given(vectors(5), vectors(5))
def test_variants_of_tau(a, b):
    signs = [np.sign(a[q] - a[p]) * np.sign(b[q] - b[p]) for p, q in combinations(range(5), 2)]
    np.testing.assert_allclose(kendall_tau(a, b, "a"), sum(signs) / 10)
    decided = sum(map(abs, signs))
    gamma = kendall_tau(a, b, "gamma")
    assert np.isnan(gamma) if decided == 0 else np.isclose(gamma, sum(signs) / decided)


def test_items_that_one_row_leaves_out_do_not_count():
    a, b = [1, 2, np.nan, 3, 4], [2, 1, 5, np.nan, 3]
    assert kendall_tau(a, b) == kendall_tau([1, 2, 4], [2, 1, 3])
    assert spearman_rho(a, b) == spearman_rho([1, 2, 4], [2, 1, 3])


def reachable(d, proposals):
    """Fewest moves from the identity to every order, by breadth-first search."""
    start = tuple(range(d))
    steps, frontier = {start: 0}, [start]
    while frontier:
        frontier = [
            steps.setdefault(after, steps[before] + 1) and after
            for before in frontier
            for after in proposals(before)
            if after not in steps
        ]
    return steps


def swaps(order):
    for p, q in combinations(range(len(order)), 2):
        after = list(order)
        after[p], after[q] = after[q], after[p]
        yield tuple(after)


def insertions(order):
    for p in range(len(order)):
        rest = order[:p] + order[p + 1 :]
        for q in range(len(order)):
            yield (*rest[:q], order[p], *rest[q:])


def neighbour_swaps(order):
    for p in range(len(order) - 1):
        yield (*order[:p], order[p + 1], order[p], *order[p + 2 :])


@pytest.mark.parametrize(
    ("metric", "proposals"), [("cayley", swaps), ("ulam", insertions), ("kendall", neighbour_swaps)]
)
def test_distances_count_moves(metric, proposals):
    d = 5
    steps = reachable(d, proposals)
    orders = np.array(list(steps))
    ranks = np.argsort(orders, axis=1) + 1
    np.testing.assert_array_equal(
        distance(np.arange(1, d + 1), ranks, metric), list(steps.values())
    )
    # Renaming the items changes nothing.
    shuffle = np.random.default_rng(0).permutation(d)
    again = distance(np.arange(1, d + 1)[shuffle], ranks[:, shuffle], metric)
    np.testing.assert_array_equal(again, list(steps.values()))


def test_other_distances():
    orders = total_orders(4)
    one = orders[5]
    np.testing.assert_allclose(distance(one, orders, "footrule"), np.abs(one - orders).sum(axis=1))
    np.testing.assert_allclose(distance(one, orders, "spearman"), ((one - orders) ** 2).sum(axis=1))
    np.testing.assert_allclose(distance(one, orders, "hamming"), (one != orders).sum(axis=1))
    assert distance([1, 2, 3], [1, 1, 3]) == 0.5


def test_bad_arguments():
    with pytest.raises(ValueError, match="Unknown distance"):
        distance([1, 2], [1, 2], "euclid")
    with pytest.raises(ValueError, match="row 0 is partial"):
        distance([1, 1], [1, 2], "ulam")
    with pytest.raises(ValueError, match="same items"):
        distance([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="row by row"):
        kendall_tau(np.ones((2, 3)), np.ones((4, 3)))
    with pytest.raises(ValueError, match="variant is"):
        kendall_tau([1, 2], [1, 2], "c")


def test_conversions():
    ranks, items = ranks_from_orders([[3, 1, 2], [2, 1, 3]])  # names may be numbers here
    assert items == (1, 2, 3)
    np.testing.assert_array_equal(ranks, [[2, 3, 1], [2, 1, 3]])
    assert orders_from_ranks(ranks, items) == [[3, 1, 2], [2, 1, 3]]
    with pytest.raises(ValueError, match="twice"):
        ranks_from_orders([["a", "a"]])
    ranks, _ = ranks_from_orders([["a"]], items="ab", unlisted="unknown")
    np.testing.assert_array_equal(ranks, [[1, np.nan]])
    assert orders_from_ranks([[1, 2, 2], [np.nan, 2, 1]]) == [[0, {1, 2}], [2, 1]]
    with pytest.raises(ValueError, match="unlisted is"):
        ranks_from_orders([["a"]], unlisted="typo")
    with pytest.raises(ValueError, match="no rows"):
        ranks_from_orders([], items="ab")
