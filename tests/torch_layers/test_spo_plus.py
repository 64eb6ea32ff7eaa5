# SPDX-License-Identifier: BSD-3-Clause
"""The SPO+ loss against its definition, by the list of all outputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from distribution_cases import SPACES, listed
from skstruct.spaces import Hierarchy, LabelSets, Matchings

torch = pytest.importorskip("torch")
from skstruct.torch import SPOPlusLoss  # noqa: E402

SPACES = [*SPACES, Matchings(range(4))]
names = pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
TREE = Hierarchy([(0, 1), (0, 2), (2, 3)])


def costs_of(space, n=4):
    _, psi = listed(space)
    return np.random.default_rng(0).normal(size=(2, n, psi.shape[1]))


def defined(psi, predicted, true):
    """The loss (n,), its subgradient (n, d) and the regret (n,), where nothing ties."""
    best = psi[(true @ psi.T).argmin(axis=1)]
    optimum = (true * best).sum(axis=1)
    highest = ((true - 2 * predicted) @ psi.T).max(axis=1)
    loss = highest + 2 * (predicted * best).sum(axis=1) - optimum
    slope = 2 * (best - psi[((2 * predicted - true) @ psi.T).argmin(axis=1)])
    chosen = psi[(predicted @ psi.T).argmin(axis=1)]
    return loss, slope, (true * chosen).sum(axis=1) - optimum


@pytest.mark.slow
@names
@pytest.mark.parametrize("sense", ["min", "max"])
def test_the_definition(space, sense):
    predicted, true = costs_of(space)
    sign = 1.0 if sense == "min" else -1.0
    loss, slope, regret = defined(listed(space)[1], predicted, true)
    given = torch.tensor(sign * predicted, requires_grad=True)
    found = SPOPlusLoss(space, sense=sense, reduction="none")(given, torch.tensor(sign * true))
    assert_allclose(found.detach(), loss, atol=1e-12)
    assert (found.detach().numpy() >= regret - 1e-12).all()
    assert regret.max() > 0
    found.sum().backward()
    assert_allclose(given.grad, sign * slope, atol=1e-12)


@names
def test_nothing_is_lost_by_the_truth(space):
    true = torch.tensor(costs_of(space)[1])
    assert_allclose(SPOPlusLoss(space, reduction="none")(true, true), 0.0, atol=1e-12)


numbers = st.lists(st.integers(-3, 3), min_size=4, max_size=4)


@given(first=numbers, second=numbers, true=numbers, sense=st.sampled_from(["min", "max"]))
def test_subgradients_ties_included(first, second, true, sense):
    """loss(b) >= loss(a) + <slope at a, b - a>, and both are above every regret."""
    rows = torch.tensor([first, second], dtype=torch.float64, requires_grad=True)
    truth = torch.tensor([true, true], dtype=torch.float64)
    loss = SPOPlusLoss(TREE, sense=sense, reduction="none")(rows, truth)
    loss.sum().backward()
    a, b = loss.detach().numpy()
    x, y, slope = rows.detach().numpy()[0], rows.detach().numpy()[1], rows.grad.numpy()
    assert b >= a + slope[0] @ (y - x) - 1e-12
    assert a >= b + slope[1] @ (x - y) - 1e-12
    _, psi = listed(TREE)
    sign = 1.0 if sense == "min" else -1.0
    for value, row in ((a, x), (b, y)):
        costs = sign * psi @ row
        regrets = sign * (psi @ np.array(true, float))
        regrets = regrets - regrets.min()
        assert value >= regrets[costs == costs.min()].max() - 1e-12


@pytest.mark.slow
@given(first=numbers, true=numbers)
def test_derivatives_in_all_directions(first, true):
    """Where nothing ties, differences of the loss are its slope."""
    first = np.add(first, [0.11, 0.07, 0.05, 0.03])
    true = np.add(true, [0.01, 0.02, 0.0, 0.0])
    loss = SPOPlusLoss(TREE, reduction="none")
    given = torch.tensor(first[None], requires_grad=True)
    assert torch.autograd.gradcheck(lambda c: loss(c, torch.tensor(true[None])), given)


def test_known_decisions_and_optima():
    predicted, true = map(torch.tensor, costs_of(TREE))
    loss = SPOPlusLoss(TREE, reduction="none")
    expected = loss(predicted, true)
    decided = TREE.argmin(true.numpy())
    for decisions in (decided.outputs, torch.tensor(decided.outputs, dtype=torch.float64)):
        assert_allclose(loss(predicted, true, decisions), expected, atol=1e-12)
    found = loss(predicted, true, decided.outputs, torch.tensor(decided.values))
    assert_allclose(found, expected, atol=1e-12)
    upward = SPOPlusLoss(TREE, sense="max", reduction="none")
    found = upward(-predicted, -true, decided.outputs, torch.tensor(-decided.values))
    assert_allclose(found, expected, atol=1e-12)


def test_known_decisions_are_not_decoded():
    class Counting(LabelSets):
        calls = 0

        def argmin(self, costs):
            type(self).calls += 1
            return super().argmin(costs)

    loss = SPOPlusLoss(Counting(range(2)))
    loss(torch.zeros(3, 2), torch.ones(3, 2), np.zeros((3, 2), int))
    assert Counting.calls == 1


def test_reductions_dtypes_and_no_gradient_to_the_truth():
    predicted, true = costs_of(TREE)
    for dtype in (torch.float32, torch.float64):
        given = torch.tensor(predicted, dtype=dtype, requires_grad=True)
        truth = torch.tensor(true, dtype=dtype, requires_grad=True)
        found = [SPOPlusLoss(TREE, reduction=how)(given, truth) for how in ("none", "mean", "sum")]
        assert {value.dtype for value in found} == {dtype}
        assert_allclose(found[0].mean().item(), found[1].item(), rtol=1e-6)
        assert_allclose(found[0].sum().item(), found[2].item(), rtol=1e-6)
        found[1].backward()
        assert given.grad.dtype == dtype
        assert truth.grad is None


def test_no_rows():
    costs = torch.zeros((0, 4), requires_grad=True)
    loss = SPOPlusLoss(TREE)(costs, torch.zeros(0, 4))
    assert loss.item() == 0.0
    loss.backward()
    assert costs.grad.shape == (0, 4)


def test_wrong_inputs():
    loss = SPOPlusLoss(TREE)
    with pytest.raises(ValueError, match=r"true_costs has the shape of costs, \(2, 4\); got"):
        loss(torch.zeros(2, 4), torch.zeros(1, 4))
    with pytest.raises(ValueError, match=r"true_decisions: one output for every row"):
        loss(torch.zeros(2, 4), torch.zeros(2, 4), torch.zeros(1, 4))
    with pytest.raises(ValueError, match=r"true_optima .* \(2,\); got shape \(2, 1\)"):
        loss(torch.zeros(2, 4), torch.zeros(2, 4), None, torch.zeros(2, 1))
    with pytest.raises(ValueError, match=r"true_costs\[0, 3\] is nan"):
        loss(torch.zeros(1, 4), torch.tensor([[0.0, 0.0, 0.0, torch.nan]]))
    assert "sense='min'" in repr(loss)
