# SPDX-License-Identifier: BSD-3-Clause
"""The mean of the best output under noise: a decoder that has a gradient."""

from typing import Any

import torch
from torch import nn

from skstruct.torch.decoding import best_embeddings
from skstruct.torch.inputs import SENSES, check_rows, one_of
from skstruct.torch.noise import Noise


class PerturbedArgmin(nn.Module):
    r"""The mean embedding of the best output under noise, with its gradient.

    .. math:: c \mapsto E\, \psi\Bigl(\arg\min_z \langle c + \sigma Z, \psi(z) \rangle\Bigr)

    by the mean of ``n_samples`` draws of Z. The minimum-cost output itself changes by jumps, and
    its gradient is zero; this mean is smooth in c [1]_. A gradient g with respect to the result
    becomes one with respect to the costs by

    .. math:: E\, \langle g, \psi(\hat z) \rangle\, \nu'(Z) / \sigma, \quad
        \nu' = -\nabla \ln p,

    estimated from the same draws: the sample covariance of both factors, which is unbiased, and
    its variance does not grow with what all outputs have in common. The problems of all rows and
    draws are solved by one call of ``space.argmin``.

    Parameters
    ----------
    space : fitted space
    n_samples : int, default=10
    sigma : float, default=1.0
        Size of the noise, in units of the costs.
    sense : {"min", "max"}, default="min"
        Whether the best output costs least, or most.
    noise : {"normal", "gumbel", "lognormal"}, default="normal"
        Gumbel noise is added to what is maximized (-c for sense "min"): over classes the mean is
        then the softmax of that divided by ``sigma``. With "lognormal", costs are multiplied by
        :math:`e^{\sigma Z - \sigma^2/2}` and keep their signs [2]_, as lengths of roads must;
        no cost may be zero then.
    antithetic : bool, default=False
        Whether draws come in pairs Z, -Z, for less variance; not for Gumbel noise.
    random_state : None, int or torch.Generator, default=None
        None draws by torch's own generator. A number begins a sequence of draws of this layer,
        the same on every device.

    References
    ----------
    .. [1] Q. Berthet, M. Blondel, O. Teboul, M. Cuturi, J.-P. Vert and F. Bach, "Learning with
       differentiable perturbed optimizers", 2020.
    .. [2] G. Dalle, L. Baty, L. Bouvier and A. Parmentier, "Learning with combinatorial
       optimization layers: a probabilistic approach", 2022.

    Examples
    --------
    >>> import torch
    >>> from skstruct.spaces import Classes
    >>> space = Classes(["a", "b"]).fit(["a", "b"])
    >>> costs = torch.tensor([[0.0, 1.0]], requires_grad=True)
    >>> layer = PerturbedArgmin(space, n_samples=10_000, noise="gumbel", random_state=0)
    >>> mean = layer(costs)
    >>> mean.shape, round(mean[0, 0].item(), 1)  # softmax(-costs) is 0.73, 0.27
    (torch.Size([1, 2]), 0.7)
    >>> mean[0, 0].backward()
    >>> costs.grad.sign()
    tensor([[-1.,  1.]])
    """

    def __init__(
        self,
        space: Any,
        n_samples: int = 10,
        sigma: float = 1.0,
        *,
        sense: str = "min",
        noise: str = "normal",
        antithetic: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__()
        self.space = space
        self.sense = one_of(sense, SENSES, "sense")
        self.noise = Noise(noise, n_samples, sigma, antithetic, random_state)

    def forward(self, costs: torch.Tensor) -> torch.Tensor:
        """Mean embeddings (n, d) for costs (n, d), of their dtype and on their device."""
        costs = check_rows(costs, "costs", self.space)
        sign = SENSES[self.sense]
        with torch.no_grad():
            scores = sign * costs.to(torch.float64)
            Z = self.noise.draw(scores)
            psi = best_embeddings(self.space, -self.noise.perturbed(scores, Z))
            slope = sign * self.noise.slope(scores, Z) if costs.requires_grad else None
        return _perturbed_mean(costs, psi, slope, self.noise.antithetic)

    def extra_repr(self) -> str:
        noise = self.noise
        return (
            f"{self.space}, n_samples={noise.n_samples}, sigma={noise.sigma}, "
            f"sense={self.sense!r}, noise={noise.kind!r}, antithetic={noise.antithetic}"
        )


class _PerturbedMean(torch.autograd.Function):
    """Mean of embeddings (m, n, d), differentiated by the slopes (m, n, d) of the noise."""

    @staticmethod
    def forward(ctx: Any, costs: Any, psi: Any, slope: Any, paired: bool) -> Any:
        ctx.save_for_backward(costs, psi, slope)
        ctx.paired = paired
        return psi.mean(0).to(costs.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return _estimate(*ctx.saved_tensors, gradient, ctx.paired), None, None, None


class _Estimate(torch.autograd.Function):
    """The gradient with respect to costs; it has none itself, and says so."""

    @staticmethod
    def forward(ctx: Any, costs: Any, psi: Any, slope: Any, gradient: Any, paired: bool) -> Any:
        m = len(psi)
        values = torch.einsum("mnd,nd->mn", psi, gradient.to(psi.dtype))
        # A mean that is taken from all values changes nothing in expectation, since slopes have
        # mean zero. In pairs Z, -Z it cancels by itself; else one degree of freedom goes with it.
        if m > 1 and not paired:
            values = (values - values.mean(0)) * (m / (m - 1))
        return (torch.einsum("mn,mnd->nd", values, slope) / m).to(costs.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        raise NotImplementedError(
            "PerturbedArgmin is differentiable once; a second derivative was asked for."
        )


_perturbed_mean: Any = _PerturbedMean.apply  # torch has no types for it
_estimate: Any = _Estimate.apply
