# SPDX-License-Identifier: BSD-3-Clause
"""Assignments on tensors against enumeration and against the host, with their proofs."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skstruct.backends import backend_for
from skstruct.spaces.solvers.assignment import min_cost_assignments

torch = pytest.importorskip("torch")
from skstruct.spaces.rankings import assignment_on_device  # noqa: E402
from skstruct.spaces.rankings.assignment_on_device import Assignments, positions_argmin  # noqa: E402

seeds = st.integers(0, 2**32 - 1)
fast = settings(deadline=None, max_examples=40)


def every_cost(costs):
    """Of all assignments; shape (n, d!)."""
    d = costs.shape[1]
    orders = np.array(list(permutations(range(d)))).reshape(-1, d)
    return costs[:, np.arange(d), orders].sum(axis=2)


def drawn(seed, n, d, levels):
    """Whole numbers: sums are exact, and few levels give many ties."""
    return np.random.default_rng(seed).integers(-levels, levels + 1, (n, d, d)).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("bids", [0, 1, 200])
@fast
@given(seed=seeds, n=st.integers(1, 6), d=st.integers(1, 5), levels=st.sampled_from([1, 3, 2**30]))
def test_against_enumeration(bids, seed, n, d, levels):
    costs = drawn(seed, n, d, levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment_on_device, "BIDS", bids)
        solved = Assignments(torch.tensor(costs))
    every = every_cost(costs)
    assert_array_equal(solved.values().numpy(), every.min(axis=1))
    assert_array_equal(np.sort(solved.column_of.numpy(), axis=1), np.tile(np.arange(d), (n, 1)))
    assert solved.proven().all()
    once = (every == every.min(axis=1, keepdims=True)).sum(axis=1) == 1
    assert_array_equal(solved.unique().numpy(), once)


@pytest.mark.slow
@fast
@given(seed=seeds, n=st.integers(1, 8), d=st.integers(2, 15), levels=st.sampled_from([1, 9, 10**6]))
def test_rankings_of_the_host(seed, n, d, levels):
    costs = drawn(seed, n, d, levels)
    outputs, values = positions_argmin(d, backend_for("cpu"))(torch.tensor(costs.reshape(n, d * d)))
    columns, worth = min_cost_assignments(costs)
    assert_array_equal(outputs, columns + 1)
    assert_array_equal(values.numpy(), worth)


@pytest.mark.slow
@fast
@given(seed=seeds, d=st.integers(2, 8))
def test_duals_are_feasible(seed, d):
    costs = drawn(seed, 5, d, 50)
    solved = Assignments(torch.tensor(costs))
    v = solved.v.numpy()
    u = (costs - v[:, None, :]).min(axis=2)
    assert (u[:, :, None] + v[:, None, :] <= costs).all()
    assert_array_equal(u.sum(axis=1) + v.sum(axis=1), every_cost(costs).min(axis=1) if d < 8 else
                       min_cost_assignments(costs)[1])  # fmt: skip


def test_what_is_not_proven_goes_to_the_host(monkeypatch):
    costs = drawn(0, 7, 4, 1000)

    class Swapped(Assignments):
        """The first two rows of every second problem have each other's columns."""

        def __init__(self, costs):
            super().__init__(costs)
            self.column_of[::2, :2] = self.column_of[::2, :2].flip(1)

    monkeypatch.setattr(assignment_on_device, "Assignments", Swapped)
    outputs, values = positions_argmin(4, backend_for("cpu"))(torch.tensor(costs.reshape(7, 16)))
    columns, worth = min_cost_assignments(costs)
    assert_array_equal(outputs, columns + 1)
    assert_array_equal(values.numpy(), worth)


def test_no_rows():
    outputs, values = positions_argmin(3, backend_for("cpu"))(torch.zeros(0, 9).double())
    assert outputs.shape == (0, 3)
    assert values.shape == (0,)
