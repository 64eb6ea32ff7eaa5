# SPDX-License-Identifier: BSD-3-Clause
"""Fenchel-Young losses against sums over all outputs, and against differences of themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from distribution_cases import SPACES, listed
from skstruct.spaces import Classes, Hierarchy, Rankings

torch = pytest.importorskip("torch")
from skstruct.torch import FenchelYoungLoss, PerturbedArgmin  # noqa: E402

names = pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
TREE = Hierarchy([("animal", "cat"), ("animal", "dog")])


def rows(space, n=3):
    """Costs, and embeddings of true outputs."""
    _, psi = listed(space)
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, psi.shape[1])), psi[rng.integers(len(psi), size=n)]


# ---------------------------------------------------------------------- entropy
@pytest.mark.slow
@names
@pytest.mark.parametrize("sense", ["min", "max"])
def test_minus_log_likelihood(space, sense):
    costs, truth = rows(space)
    _, psi = listed(space)
    sigma, sign = 0.7, (-1.0 if sense == "min" else 1.0)
    values = sign * costs @ psi.T / sigma
    probabilities = np.exp(values)
    expected = np.log(probabilities.sum(axis=1)) - (sign * costs * truth).sum(axis=1) / sigma
    loss = FenchelYoungLoss(space, "entropy", sigma, sense=sense, reduction="none")
    given = torch.tensor(costs, requires_grad=True)
    found = loss(given, torch.tensor(truth))
    assert_allclose(found.detach(), sigma * expected, rtol=1e-11)
    found.sum().backward()
    means = probabilities / probabilities.sum(axis=1, keepdims=True) @ psi
    assert_allclose(given.grad, sign * (means - truth), atol=1e-12)


@pytest.mark.slow
@names
def test_entropy_by_differences(space):
    costs, truth = rows(space)
    loss = FenchelYoungLoss(space, "entropy", reduction="none")
    given = torch.tensor(costs, requires_grad=True)
    assert torch.autograd.gradcheck(lambda c: loss(c, torch.tensor(truth)), given)


def test_second_derivatives_of_entropy():
    costs, truth = rows(TREE)
    loss = FenchelYoungLoss(TREE, "entropy", 0.5)
    given = torch.tensor(costs, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda c: loss(c, torch.tensor(truth)), given)


# ---------------------------------------------------------------------- perturbed
@pytest.mark.slow
@names
@pytest.mark.parametrize("noise", ["normal", "gumbel", "lognormal"])
def test_perturbed_by_differences(space, noise):
    """With the same draws the loss is piecewise linear, and differences are its slopes."""
    costs, truth = rows(space)

    def loss(c):
        same = FenchelYoungLoss(
            space, sigma=0.5, n_samples=4, noise=noise, reduction="none", random_state=0
        )
        return same(c, torch.tensor(truth))

    assert torch.autograd.gradcheck(loss, torch.tensor(costs, requires_grad=True))


@names
@pytest.mark.parametrize("sense", ["min", "max"])
def test_the_gradient_is_that_of_perturbed_argmin(space, sense):
    costs, truth = rows(space)
    options = {"n_samples": 6, "sigma": 0.5, "sense": sense, "random_state": 0}
    given = torch.tensor(costs, requires_grad=True)
    FenchelYoungLoss(space, reduction="sum", **options)(given, torch.tensor(truth)).backward()
    mean = PerturbedArgmin(space, **options)(torch.tensor(costs)).numpy()
    assert_allclose(given.grad, (truth - mean) * (1 if sense == "min" else -1), atol=1e-12)


@pytest.mark.slow
@given(
    data=st.data(),
    noise=st.sampled_from(["normal", "gumbel", "lognormal"]),
    sense=st.sampled_from(["min", "max"]),
)
def test_never_negative_and_convex(data, noise, sense):
    """By the same draws, the value halfway is at most the mean of both values."""
    number = st.floats(-3.0, 3.0).filter(lambda x: abs(x) > 1e-3)
    _, psi = listed(TREE)
    first, second = np.array(data.draw(st.lists(number, min_size=6, max_size=6))).reshape(2, 3)
    if noise == "lognormal":  # factors keep signs: the costs between two have the same
        second = np.abs(second) * np.sign(first)
    costs = torch.tensor(np.stack([first, second, (first + second) / 2]))
    truth = torch.tensor(psi[[data.draw(st.integers(0, len(psi) - 1))] * 3])

    def value(row):
        loss = FenchelYoungLoss(TREE, n_samples=3, noise=noise, sense=sense, random_state=0)
        return float(loss(costs[row : row + 1], truth[:1]))

    a, b, between = (value(row) for row in range(3))
    assert min(a, b, between) >= -1e-12
    assert between <= (a + b) / 2 + 1e-12


@pytest.mark.slow
def test_descent_finds_the_truth():
    """Gradients of few draws lead to costs under which the truth is best."""
    space = Rankings(range(4), "pairs")
    orders, psi = listed(space)
    costs = torch.zeros((5, 6), dtype=torch.float64, requires_grad=True)
    truth = torch.tensor(psi[[0, 3, 9, 14, 23]])
    loss = FenchelYoungLoss(space, sigma=0.3, n_samples=8, random_state=0)
    steps = torch.optim.SGD([costs], lr=1.0)
    for _ in range(60):
        steps.zero_grad()
        loss(costs, truth).backward()
        steps.step()
    assert_allclose(space.argmin(costs.detach().numpy()).outputs, orders[[0, 3, 9, 14, 23]])


# ---------------------------------------------------------------------- what is given
@pytest.mark.parametrize("regularization", ["entropy", "perturbed"])
def test_outputs_in_any_form(regularization):
    outputs = [["animal", "cat"], [], ["animal"]]
    psi = [[1, 1, 0], [0, 0, 0], [1, 0, 0]]
    costs = torch.randn(3, 3, generator=torch.Generator().manual_seed(0))

    def value(targets):
        return FenchelYoungLoss(TREE, regularization, random_state=0)(costs, targets)

    expected = value(outputs)
    for targets in (np.array(psi), torch.tensor(psi), torch.tensor(psi, dtype=torch.float32)):
        assert torch.equal(value(targets), expected)


def test_classes_are_numbered_by_their_names():
    space = Classes([3, 5]).fit([3, 5])
    costs = torch.tensor([[0.0, 2.0], [0.0, 2.0]])
    loss = FenchelYoungLoss(space, "entropy", reduction="none")
    expected = torch.nn.functional.cross_entropy(-costs, torch.tensor([1, 0]), reduction="none")
    assert_allclose(loss(costs, torch.tensor([5, 3])), expected, rtol=1e-6)


@pytest.mark.parametrize("regularization", ["entropy", "perturbed"])
def test_no_gradient_flows_to_targets(regularization):
    costs = torch.zeros((2, 3), requires_grad=True)
    targets = torch.zeros((2, 3), requires_grad=True)
    FenchelYoungLoss(TREE, regularization)(costs, targets).backward()
    assert targets.grad is None
    assert costs.grad.abs().sum() > 0


@pytest.mark.parametrize("regularization", ["entropy", "perturbed"])
def test_reductions_and_dtypes(regularization):
    costs, truth = rows(TREE)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        given = torch.tensor(costs, dtype=dtype, requires_grad=True)
        found = {
            reduction: FenchelYoungLoss(TREE, regularization, reduction=reduction, random_state=0)(
                given, torch.tensor(truth)
            )
            for reduction in ("none", "mean", "sum")
        }
        assert {value.dtype for value in found.values()} == {dtype}
        assert found["none"].shape == (3,)
        if dtype == torch.float64:
            assert_allclose(found["none"].sum().item(), found["sum"].item(), rtol=1e-12)
            assert_allclose(found["none"].mean().item(), found["mean"].item(), rtol=1e-12)
        found["mean"].backward()
        assert given.grad.dtype == dtype


@pytest.mark.parametrize("regularization", ["entropy", "perturbed"])
@pytest.mark.parametrize("targets", [[], torch.zeros(0, 3), np.zeros((0, 3), int)])
def test_no_rows(regularization, targets):
    costs = torch.zeros((0, 3), requires_grad=True)
    loss = FenchelYoungLoss(TREE, regularization)(costs, targets)
    assert loss.item() == 0.0
    loss.backward()
    assert costs.grad.shape == (0, 3)


def test_wrong_inputs():
    loss = FenchelYoungLoss(TREE, "entropy")
    with pytest.raises(ValueError, match=r"targets: one output .* \(2, 3\); got .* \(1, 3\)"):
        loss(torch.zeros(2, 3), [["animal"]])
    with pytest.raises(ValueError, match=r"got embeddings of shape \(2,\)\. A tensor of floats"):
        loss(torch.zeros(2, 3), torch.zeros(2))
    with pytest.raises(ValueError, match="'cat' without its parent 'animal'"):
        loss(torch.zeros(1, 3), [["cat"]])
    with pytest.raises(ValueError, match='regularization is one of "perturbed", "entropy"'):
        FenchelYoungLoss(TREE, "sparse")
    with pytest.raises(ValueError, match='reduction is one of "mean", "sum", "none"'):
        FenchelYoungLoss(TREE, reduction="max")
    with pytest.raises(ValueError, match="knows no exact distribution"):
        FenchelYoungLoss(Rankings(range(30), "pairs"), "entropy")(
            torch.zeros(1, 435), torch.zeros(1, 435)
        )
    assert "'entropy'" in repr(loss)
