# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of partial orders, moments, draws; and what the truth is contrasted with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from partial_order_cases import all_orders
from skstruct import CountingRidge
from skstruct.exceptions import UndecidableError
from skstruct.spaces import PartialOrders, Tournaments, Uniform
from skstruct.spaces.partial_orders.counting import COUNTS
from skstruct.spaces.partial_orders.relaxation import OpenPairs
from skstruct.testing import check_distribution, check_space


@pytest.mark.parametrize("n", [2, 3, 4])
def test_all_orders(n):
    check_space(PartialOrders(n), all_orders(n))


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_lists_are_as_long_as_the_table_says(n):
    listed = PartialOrders(n).enumerate()
    assert len(listed) == len(np.unique(listed, axis=0)) == COUNTS[n] == PartialOrders(n).size()
    assert PartialOrders(n).contains(listed).all()


@pytest.mark.parametrize("p", [2, 3, 5, 7, 11, 13, 17])
def test_the_table_obeys_a_known_congruence(p):
    """a(n + p) = a(n + 1) modulo a prime p: a wrong digit would hardly."""
    for n in range(len(COUNTS) - p):
        assert (COUNTS[n + p] - COUNTS[n + 1]) % p == 0


def test_more_items_are_counted_but_not_listed():
    assert PartialOrders(7).size() == 6129859
    assert_allclose(Uniform.of(PartialOrders(18)).log_size(), np.log(float(COUNTS[18])))
    with pytest.raises(UndecidableError, match="more than 1,000,000 partial orders"):
        PartialOrders(7).enumerate()
    with pytest.raises(UndecidableError, match="more than 1,000 partial orders of 5 of 5 items"):
        PartialOrders(5).enumerate(limit=1000)
    total = PartialOrders(8).restrict(include=[(a, a + 1) for a in range(7)])
    assert total.size() == len(total.enumerate()) == 1


def test_draws_are_uniform():
    """A right sampler fails with probability 0.001, once for this seed or never."""
    space, orders = PartialOrders(4), all_orders(4)
    drawn = space.sample(219 * 40, np.random.default_rng(5))
    code = 2 ** np.arange(12)
    found, counts = np.unique(drawn @ code, return_counts=True)
    assert set(found) == set(orders @ code)
    assert chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("n", [2, 3])
def test_distributions(n):
    scores = np.random.default_rng(n).normal(size=(3, n * (n - 1)))
    check_distribution(PartialOrders(n), scores, outputs=all_orders(n))


# ------------------------------------------------------------------- partial tournaments
@pytest.mark.parametrize("n", [2, 3])
def test_partial_tournaments_by_ordered_pairs(n):
    signs = Tournaments(n).enumerate()
    p, q = np.triu_indices(n, 1)
    matrices = np.zeros((len(signs), n, n), np.int8)
    matrices[:, p, q], matrices[:, q, p] = signs > 0, signs < 0
    rows = matrices[:, ~np.eye(n, dtype=bool)]
    space = OpenPairs(n)
    check_space(space, rows)
    inside = rows[(rows[:, 0] == 1) & (rows[:, -1] == 0)] if n > 2 else rows[rows[:, 0] == 1]
    exclude = [(n - 1, n - 2)] if n > 2 else []
    check_space(space.restrict(include=[(0, 1)], exclude=exclude), inside)
    assert_allclose(Uniform.of(space).covariance().dense(), np.cov(rows.T, bias=True), atol=1e-12)


def test_signed_pairs_have_the_moments_of_the_thesis():
    """4.3.1: mean 0, and 2/3 I, as different pairs are independent."""
    space, n = OpenPairs(4), 4
    sign = np.zeros((6, 12))
    for k, (a, b) in enumerate(zip(*np.triu_indices(n, 1))):
        sign[k, space.labels_.index((a, b))] = 1
        sign[k, space.labels_.index((b, a))] = -1
    assert_allclose(sign @ Uniform.of(space).mean_embedding(), 0, atol=1e-12)
    assert_allclose(
        sign @ Uniform.of(space).covariance().dense() @ sign.T, 2 / 3 * np.eye(6), atol=1e-12
    )


def test_what_is_contrasted():
    small, large = PartialOrders(6), PartialOrders(7)
    assert Uniform.of(small).counted is small
    assert Uniform.of(large).counted.size() == 3**21
    assert type(Uniform.of(small).relaxation()) is OpenPairs


@pytest.mark.slow
@pytest.mark.parametrize(("n", "contrast"), [(4, "auto"), (4, "relaxation"), (8, "auto")])
def test_counting_ridge_learns_orders(n, contrast):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    items = list(range(n))
    Y = [items if x > 0 else items[::-1] for x in X[:, 0]]
    model = CountingRidge(PartialOrders(n), contrast=contrast).fit(X, Y)
    found = model.predict([[1.5], [-1.5]])
    assert (0, n - 1) in found[0]
    assert (n - 1, 0) in found[1]
