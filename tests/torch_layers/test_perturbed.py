# SPDX-License-Identifier: BSD-3-Clause
"""Means under noise against closed forms. Draws are fixed; margins are five standard errors, which
a right estimate leaves once in 1.7 million numbers.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from distribution_cases import SPACES, listed
from skstruct.spaces import Classes, LabelSets

torch = pytest.importorskip("torch")
from skstruct.torch import PerturbedArgmin  # noqa: E402

TWO = Classes(["a", "b"]).fit(["a", "b"])
MANY = 100_000


def jacobian(layer, costs):
    """The mean of one row, and its estimated Jacobian, all rows of which use the same draws."""
    costs = torch.tensor([costs], dtype=torch.float64, requires_grad=True)
    mean = layer(costs)[0]
    rows = [torch.autograd.grad(part, costs, retain_graph=True)[0][0] for part in mean]
    return mean.detach().numpy(), torch.stack(rows).numpy()


@pytest.mark.parametrize("antithetic", [False, True])
@pytest.mark.parametrize("sense", ["min", "max"])
def test_two_classes_under_normal_noise(sense, antithetic):
    """The first costs less with probability Phi((b - a) / (sqrt(2) sigma))."""
    sigma, (a, b) = 0.7, (0.3, 0.8)
    layer = PerturbedArgmin(
        TWO, MANY, sigma, sense=sense, antithetic=antithetic, random_state=0
    )  # fmt: skip
    mean, slopes = jacobian(layer, [a, b])
    sign = 1.0 if sense == "min" else -1.0
    at = sign * (b - a) / (math.sqrt(2) * sigma)
    p, slope = norm.cdf(at), sign * norm.pdf(at) / (math.sqrt(2) * sigma)
    assert_allclose(mean, [p, 1 - p], atol=5 * math.sqrt(p * (1 - p) / MANY))
    # A term of the estimate is at most |Z| / sigma.
    assert_allclose(slopes, [[-slope, slope], [slope, -slope]], atol=5 / (sigma * MANY**0.5))


@pytest.mark.parametrize("sense", ["min", "max"])
def test_gumbel_noise_over_classes_is_a_softmax(sense):
    sigma, costs = 0.5, np.array([0.2, -0.3, 0.5])
    space = Classes(list("abc")).fit(list("abc"))
    layer = PerturbedArgmin(space, MANY, sigma, sense=sense, noise="gumbel", random_state=1)
    mean, slopes = jacobian(layer, costs.tolist())
    sign = -1.0 if sense == "min" else 1.0
    p = np.exp(sign * costs / sigma)
    p /= p.sum()
    assert_allclose(mean, p, atol=5 * math.sqrt(0.25 / MANY))
    expected = sign * (np.diag(p) - np.outer(p, p)) / sigma
    # The slope of a Gumbel density has variance 1.
    assert_allclose(slopes, expected, atol=5 / (sigma * MANY**0.5))


@pytest.mark.parametrize("antithetic", [False, True])
def test_two_classes_under_factors(antithetic):
    """a exp(sigma Z) < b exp(sigma Z') with probability Phi(ln(b / a) / (sqrt(2) sigma))."""
    sigma, (a, b) = 0.5, (1.0, 1.5)
    layer = PerturbedArgmin(
        TWO, MANY, sigma, noise="lognormal", antithetic=antithetic, random_state=2
    )  # fmt: skip
    mean, slopes = jacobian(layer, [a, b])
    at = math.log(b / a) / (math.sqrt(2) * sigma)
    p, slope = norm.cdf(at), norm.pdf(at) / (math.sqrt(2) * sigma)
    assert_allclose(mean, [p, 1 - p], atol=5 * math.sqrt(p * (1 - p) / MANY))
    expected = np.array([[-slope / a, slope / b], [slope / a, -slope / b]])
    assert_allclose(slopes, expected, atol=5 / (sigma * a * MANY**0.5))


def test_independent_labels():
    """Each is in with probability Phi(-c / sigma), whatever the others cost."""
    sigma, costs = 2.0, np.array([-1.0, 0.5, 3.0])
    layer = PerturbedArgmin(LabelSets(range(3)), MANY, sigma, random_state=3)
    mean, slopes = jacobian(layer, costs.tolist())
    assert_allclose(mean, norm.cdf(-costs / sigma), atol=5 * math.sqrt(0.25 / MANY))
    expected = -np.diag(norm.pdf(costs / sigma)) / sigma
    assert_allclose(slopes, expected, atol=5 / (sigma * MANY**0.5))


def test_few_draws_are_unbiased():
    """Rows draw for themselves: the mean over rows of gradients by three draws is the gradient."""
    n, sigma, (a, b) = 30_000, 1.0, (0.0, 0.4)
    costs = torch.tensor([[a, b]], dtype=torch.float64).repeat(n, 1).requires_grad_()
    PerturbedArgmin(TWO, 3, sigma, random_state=4)(costs)[:, 0].sum().backward()
    found = costs.grad.numpy()
    slope = norm.pdf((b - a) / math.sqrt(2)) / math.sqrt(2)
    errors = 5 * found.std(axis=0) / math.sqrt(n)
    assert (np.abs(found.mean(axis=0) - [-slope, slope]) < errors).all()
    assert (errors < 0.05).all()


def test_a_single_draw_is_an_output():
    costs = torch.zeros((5, 2), requires_grad=True)
    mean = PerturbedArgmin(TWO, 1, random_state=0)(costs)
    assert_array_equal(mean.detach().sort(dim=1).values, [[0.0, 1.0]] * 5)
    mean.sum().backward()
    assert torch.isfinite(costs.grad).all()


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES, ids=lambda space: f"{type(space).__name__}")
@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_little_noise_decodes(space, noise):
    _, psi = listed(space)
    costs = np.random.default_rng(0).normal(size=(4, psi.shape[1]))
    best = psi[(costs @ psi.T).argmin(axis=1)]
    found = PerturbedArgmin(space, 3, 1e-6, noise=noise)(torch.tensor(costs))
    assert_allclose(found.numpy(), best, atol=1e-12)
    negative = PerturbedArgmin(space, 3, 1e-6, noise=noise, sense="max")(torch.tensor(-costs))
    assert_allclose(negative.numpy(), best, atol=1e-12)


class Counting(LabelSets):
    """Label sets that remember how many rows each call had."""

    calls: list[int]

    def argmin(self, costs):
        self.calls.append(len(costs))
        return super().argmin(costs)


def test_one_call_decodes_all():
    space = Counting(range(3))
    space.calls = []
    PerturbedArgmin(space, 7)(torch.zeros(4, 3))
    assert space.calls == [28]


def test_rows_that_are_restricted_differently():
    space = LabelSets(range(3)).restrict(include=[[0], [1], []], exclude=[[1], [], [0, 1, 2]])
    mean = PerturbedArgmin(space, 50, random_state=0)(torch.zeros(3, 3))
    assert_array_equal(mean[0, :2], [1.0, 0.0])
    assert mean[1, 1] == 1.0
    assert_array_equal(mean[2], [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="for 3 rows; got 2"):
        PerturbedArgmin(space)(torch.zeros(2, 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dtypes_are_kept(dtype):
    costs = torch.zeros((2, 3), dtype=dtype, requires_grad=True)
    mean = PerturbedArgmin(LabelSets(range(3)))(costs)
    mean.sum().backward()
    assert mean.dtype == costs.grad.dtype == dtype


def test_draws_are_repeatable():
    costs = torch.zeros(2, 3)

    def drawn(random_state=0, times=1):
        layer = PerturbedArgmin(LabelSets(range(3)), 9, random_state=random_state)
        return [layer(costs) for _ in range(times)]

    first, second = drawn(times=2)
    assert torch.equal(first, drawn()[0])
    assert not torch.equal(first, second)
    assert torch.equal(first, drawn(torch.Generator().manual_seed(0))[0])
    torch.manual_seed(5)
    third = drawn(None)[0]
    torch.manual_seed(5)
    assert torch.equal(third, drawn(None)[0])


def test_no_rows():
    costs = torch.zeros((0, 3), requires_grad=True)
    mean = PerturbedArgmin(LabelSets(range(3)))(costs)
    assert mean.shape == (0, 3)
    mean.sum().backward()
    assert costs.grad.shape == (0, 3)


def test_second_derivatives_are_refused():
    costs = torch.zeros((1, 3), requires_grad=True)
    mean = PerturbedArgmin(LabelSets(range(3)))(costs)
    (slope,) = torch.autograd.grad(mean[0, 0], costs, create_graph=True)
    with pytest.raises(NotImplementedError, match="differentiable once"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples is a whole number, at least 1; got 0"),
        ({"sigma": 0.0}, "sigma is a number above 0; got 0.0"),
        ({"sense": "least"}, 'sense is one of "min", "max"; got \'least\''),
        ({"noise": "uniform"}, 'noise is one of "normal", "gumbel", "lognormal"; got \'uniform\''),
        ({"antithetic": True, "n_samples": 3}, "pairs; got n_samples=3"),
        ({"antithetic": True, "noise": "gumbel"}, "not symmetric"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        PerturbedArgmin(TWO, **options)


def test_wrong_costs():
    layer = PerturbedArgmin(LabelSets(range(3)))
    with pytest.raises(TypeError, match=r"costs is a tensor of floats of shape \(n, d\); got list"):
        layer([[0.0]])
    with pytest.raises(TypeError, match=r"got torch\.int64"):
        layer(torch.zeros((1, 3), dtype=torch.int64))
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        layer(torch.zeros(3))
    with pytest.raises(ValueError, match=r"\(n_samples, 3\); got shape \(20, 4\)"):
        layer(torch.zeros(2, 4))
    with pytest.raises(ValueError, match=r"costs\[1, 2\] is nan"):
        layer(torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, math.nan]]))
    factors = PerturbedArgmin(LabelSets(range(3)), noise="lognormal")
    with pytest.raises(ValueError, match=r"costs\[0, 1\] is 0\. Make them positive"):
        factors(torch.tensor([[1.0, 0.0, 1.0]]))


def test_it_says_what_it_is():
    text = repr(PerturbedArgmin(LabelSets(range(2)), 5, 0.1))
    assert "n_samples=5" in text
    assert "sigma=0.1" in text
