# SPDX-License-Identifier: BSD-3-Clause
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linear_sum_assignment

from skstruct.spaces.solvers.assignment import min_cost_assignments
from skstruct.spaces.solvers.k_best import k_best_sequences


def cost_arrays(d):
    """A few matrices of small whole numbers (many ties) or of any finite size."""
    entries = st.one_of(
        st.integers(-2, 2).map(float), st.floats(-1e6, 1e6, allow_nan=False, width=32)
    )
    return hnp.arrays(
        np.float64, st.tuples(st.integers(1, 4), st.just(d), st.just(d)), elements=entries
    )


def all_values(costs):
    d = costs.shape[1]
    orders = np.array(list(permutations(range(d))))
    return costs[:, np.arange(d), orders].sum(axis=2), orders


@given(st.integers(1, 5).flatmap(cost_arrays))
def test_against_all_permutations(costs):
    columns, values = min_cost_assignments(costs)
    totals, _ = all_values(costs)
    slack = 1e-9 * (1 + np.abs(costs).max())
    np.testing.assert_allclose(values, totals.min(axis=1), atol=slack)
    assert (np.sort(columns, axis=1) == np.arange(costs.shape[1])).all()


@given(st.data())
def test_forbidden_entries(data):
    d = data.draw(st.integers(1, 4))
    costs = data.draw(cost_arrays(d))
    allowed = data.draw(hnp.arrays(bool, (len(costs), d, d)))
    _columns, values = min_cost_assignments(costs, allowed)
    totals, orders = all_values(costs)
    legal = allowed[:, np.arange(d), orders].all(axis=2)
    best = np.where(legal, totals, np.inf).min(axis=1)
    slack = 1e-9 * (1 + np.abs(costs).max())
    np.testing.assert_allclose(values, best, atol=slack)


@pytest.mark.parametrize("d", [1, 7, 30, 90])
@pytest.mark.parametrize("kind", ["gaussian", "ties", "votes", "scales"])
def test_against_scipy(d, kind):
    rng = np.random.default_rng(d)
    costs = rng.standard_normal((10, d, d))
    if kind == "ties":
        costs = rng.integers(0, 3, (10, d, d)).astype(float)
    if kind == "votes":
        costs = np.zeros((10, d, d))
        for i in range(10):
            for _ in range(20):
                costs[i, np.arange(d), rng.permutation(d)] -= rng.normal(1, 0.7)
    if kind == "scales":
        costs *= 10.0 ** rng.integers(-6, 7, (10, d, d))
    _, values = min_cost_assignments(costs)
    expected = [cost[linear_sum_assignment(cost)].sum() for cost in costs]
    np.testing.assert_allclose(values, expected, atol=1e-9 * (1 + np.abs(costs).max()))


def test_murty_lists_assignments_in_order():
    rng = np.random.default_rng(3)
    costs = rng.integers(0, 4, (5, 4, 4)).astype(float)

    def best_within(rows, allowed):
        return min_cost_assignments(costs[rows], allowed)

    columns, values = k_best_sequences(best_within, 5, 4, 4, 30)
    totals, _ = all_values(costs)
    np.testing.assert_allclose(values, np.sort(totals, axis=1))  # 24 of them, not 30
    for row in columns:
        assert len(np.unique(row, axis=0)) == 24
