# SPDX-License-Identifier: BSD-3-Clause
"""Marginals and their gradients against the list of all outputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from distribution_cases import SPACES, listed
from skstruct.spaces import Classes, Hierarchy, Inference, LabelSets, Matchings, Rankings, Sequences

torch = pytest.importorskip("torch")
from skstruct.torch import Marginals, log_partition, marginals  # noqa: E402

CASES = [
    *SPACES,
    Hierarchy([(0, 1), (0, 2), (2, 3)]).restrict(max_size=2),
    Hierarchy([(0, 2), (1, 2), (2, 3)]),
    Hierarchy([(0, 1), (0, 2)]).restrict(one_path=True),
    Matchings(range(4)),
]
names = pytest.mark.parametrize("space", CASES, ids=lambda space: type(space).__name__)


def exact(psi, scores, directions):
    """ln Z (n,), E psi (n, d) and Cov(psi) v (n, d), by sums over all outputs."""
    values = scores @ psi.T
    top = values.max(axis=1, keepdims=True)
    weights = np.exp(values - top)
    total = weights.sum(axis=1, keepdims=True)
    p, along = weights / total, directions @ psi.T
    along = along - (p * along).sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], p @ psi, (p * along) @ psi


def rows(space, scale=1.0, n=3):
    _, psi = listed(space)
    rng = np.random.default_rng(0)
    return psi, scale * rng.normal(size=(n, psi.shape[1])), rng.normal(size=(n, psi.shape[1]))


@pytest.mark.slow
@names
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_all_outputs_are_summed(space, scale):
    psi, u, v = rows(space, scale)
    scores = torch.tensor(u, requires_grad=True)
    means, sums = marginals(space, scores), log_partition(space, scores)
    (products,) = torch.autograd.grad(means, scores, torch.tensor(v))
    (slopes,) = torch.autograd.grad(sums.sum(), scores)
    true_sums, true_means, true_products = exact(psi, u, v)
    assert_allclose(sums.detach(), true_sums, rtol=1e-12, atol=1e-12)
    assert_allclose(means.detach(), true_means, atol=1e-11)
    assert_allclose(slopes, true_means, atol=1e-11)
    size = np.linalg.norm(v, axis=1).max() * np.abs(psi).max()
    assert_allclose(products, true_products, atol=1e-9 * size)


@pytest.mark.slow
@names
def test_gradients_are_those_of_differences(space):
    _, u, _ = rows(space, n=2)
    scores = torch.tensor(u, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: marginals(space, s), scores)
    assert torch.autograd.gradcheck(lambda s: log_partition(space, s), scores)
    assert torch.autograd.gradgradcheck(lambda s: log_partition(space, s), scores)


@pytest.mark.slow
@names
def test_a_chain_of_layers(space):
    """A network with marginals inside has the gradient that differences of its value show."""
    d = listed(space)[1].shape[1]
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, d), torch.nn.Tanh(), Marginals(space), torch.nn.Linear(d, 1)
    ).double()
    inputs = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: model(x) ** 2, inputs)


@pytest.mark.parametrize(
    "space",
    [
        Classes(list("abc")).fit(list("abc")),
        LabelSets(range(4)),
        LabelSets(range(4)).restrict(include=[1], exclude=[2]),
        Hierarchy([(0, 2), (1, 2), (2, 3)]),
    ],
)
def test_closed_forms(space):
    """Softmax, independent labels and listed outputs: no difference is taken."""
    psi, u, v = rows(space, 3.0)
    product = Inference.of(space).distribution(u).covariance_product(v)
    assert_allclose(product, exact(psi, u, v)[2], atol=1e-14)


def test_the_hessian_is_the_covariance():
    space = Hierarchy([(0, 1), (0, 2), (2, 3)])
    psi, u, _ = rows(space, n=1)
    scores = torch.tensor(u[0])
    found = torch.autograd.functional.hessian(lambda s: log_partition(space, s[None])[0], scores)
    expected = exact(psi, np.repeat(u, 4, axis=0), np.eye(4))[2]
    assert_allclose(found, expected, atol=1e-9)


def test_long_chains():
    """Forward-backward against torch's own gradients of the same recursion."""
    T, q, n = 30, 4, 2
    space = Sequences("abcd", T, "bigrams")
    rng = np.random.default_rng(0)
    d = T * q + (T - 1) * q * q
    scores = torch.tensor(rng.normal(size=(n, d)), requires_grad=True)

    def recursion(u):
        unary, steps = u[:, : T * q].view(n, T, q), u[:, T * q :].view(n, T - 1, q, q)
        so_far = unary[:, 0]
        for t in range(T - 1):
            so_far = torch.logsumexp(so_far[:, :, None] + steps[:, t], 1) + unary[:, t + 1]
        return torch.logsumexp(so_far, 1)

    directions = torch.tensor(rng.normal(size=(n, d)))
    (first,) = torch.autograd.grad(recursion(scores).sum(), scores, create_graph=True)
    (second,) = torch.autograd.grad(first, scores, directions)
    means = marginals(space, scores)
    assert_allclose(log_partition(space, scores).detach(), recursion(scores).detach(), rtol=1e-12)
    assert_allclose(means.detach(), first.detach(), atol=1e-12)
    (products,) = torch.autograd.grad(means, scores, directions)
    assert_allclose(products, second, atol=1e-8)


@pytest.mark.parametrize(
    "space",
    [
        LabelSets(range(4)).restrict(include=[[0], []], exclude=[[1], [2, 3]]),
        Hierarchy([(0, 1), (0, 2), (2, 3)]).restrict(include=[[2], []], exclude=[[], [1]]),
        Hierarchy([(0, 2), (1, 2), (2, 3)]).restrict(include=[[0], []], exclude=[[], [3]]),
    ],
)
def test_rows_that_are_restricted_differently(space):
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 2, 4))
    scores = torch.tensor(u, requires_grad=True)
    means = marginals(space, scores)
    (products,) = torch.autograd.grad(means, scores, torch.tensor(v))
    for i in range(2):
        psi = listed(space.rows([i]))[1]
        _, true_means, true_products = exact(psi, u[i : i + 1], v[i : i + 1])
        assert_allclose(means.detach()[i : i + 1], true_means, atol=1e-12)
        assert_allclose(products[i : i + 1], true_products, atol=1e-9)
    with pytest.raises(ValueError, match="for 2 rows; got 3"):
        marginals(space, torch.zeros(3, 4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dtypes_are_kept(dtype):
    scores = torch.zeros((2, 4), dtype=dtype, requires_grad=True)
    space = Hierarchy([(0, 1), (0, 2), (2, 3)])
    means, sums = marginals(space, scores), log_partition(space, scores)
    (means[:, 1].sum() + sums.sum()).backward()
    assert means.dtype == sums.dtype == scores.grad.dtype == dtype
    assert means.device == scores.device


def test_no_rows():
    space = Hierarchy([(0, 1), (0, 2)])
    scores = torch.zeros((0, 3), requires_grad=True)
    means, sums = marginals(space, scores), log_partition(space, scores)
    assert means.shape == (0, 3)
    assert sums.shape == (0,)
    (means.sum() + sums.sum()).backward()
    assert scores.grad.shape == (0, 3)


def test_a_gradient_of_zero():
    scores = torch.zeros((2, 3), requires_grad=True)
    (0.0 * marginals(Hierarchy([(0, 1), (0, 2)]), scores)).sum().backward()
    assert not scores.grad.any()


def test_nothing_is_kept_without_a_gradient():
    assert not marginals(LabelSets(range(2)), torch.zeros(1, 2)).requires_grad


def test_third_derivatives_are_refused():
    scores = torch.zeros((1, 3), requires_grad=True)
    means = marginals(Hierarchy([(0, 1), (0, 2)]), scores)
    (product,) = torch.autograd.grad(means[0, 0], scores, create_graph=True)
    with pytest.raises(NotImplementedError, match="a further derivative was asked for"):
        product.sum().backward()


def test_a_space_that_knows_no_distribution():
    space = Rankings(range(30), "pairs")
    with pytest.raises(ValueError, match="Rankings knows no exact distribution"):
        marginals(space, torch.zeros(1, 435))


def test_wrong_scores():
    space = LabelSets(range(3))
    with pytest.raises(ValueError, match=r"\(n, 3\), .*got shape \(2, 4\)"):
        marginals(space, torch.zeros(2, 4))
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        log_partition(space, torch.zeros(3))
    with pytest.raises(ValueError, match=r"scores\[0, 1\] is inf"):
        log_partition(space, torch.tensor([[0.0, torch.inf, 0.0]]))


def test_it_says_what_it_is():
    assert "LabelSets" in repr(Marginals(LabelSets(range(2))))
