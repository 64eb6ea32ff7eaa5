# SPDX-License-Identifier: BSD-3-Clause
"""Losses whose gradient is a mean embedding minus that of the truth."""

from typing import Any

import torch
from torch import nn

from skstruct.torch.decoding import best_embeddings
from skstruct.torch.inputs import (
    REDUCTIONS,
    SENSES,
    check_rows,
    one_of,
    reduced,
    target_embeddings,
)
from skstruct.torch.moments import log_partition
from skstruct.torch.noise import Noise

REGULARIZATIONS = ("perturbed", "entropy")


class FenchelYoungLoss(nn.Module):
    r"""How far the best output under costs is from the true one: convex in the costs, and smooth.

    With scores s = -c (or c, for ``sense="max"``),

    .. math:: \ell(c, y) = F(s) - \langle s, \psi(y) \rangle, \quad
        \nabla_s \ell = \nabla F(s) - \psi(y),

    where F is a smooth maximum of :math:`\langle s, \psi(z) \rangle` over the space [1]_:

    - ``"perturbed"``: :math:`E \max_z \langle s + \sigma Z, \psi(z) \rangle`, for every space,
      with the mean embedding of :class:`PerturbedArgmin` as gradient [2]_. The mean is over draws,
      each of which gives a term that is never negative, and the gradient is that of the value.
    - ``"entropy"``: :math:`\sigma \ln \sum_z \exp \langle s / \sigma, \psi(z) \rangle`, exactly,
      for spaces that know their ``distribution``. For ``sigma=1`` this is minus the
      log-likelihood of y, and the gradient is the marginals minus :math:`\psi(y)`.

    No loss is negative, in expectation over the draws. The least value of a perturbed loss may be
    above zero: the term of y alone that would make it so has no gradient, and is left out.

    Parameters
    ----------
    space : fitted space
    regularization : {"perturbed", "entropy"}, default="perturbed"
    sigma : float, default=1.0
        How smooth the maximum is, in units of the costs.
    sense : {"min", "max"}, default="min"
        Whether the true output should cost least, or most.
    reduction : {"mean", "sum", "none"}, default="mean"
        Over rows.
    n_samples, noise, antithetic, random_state
        Of "perturbed" alone: see :class:`PerturbedArgmin`.

    References
    ----------
    .. [1] M. Blondel, A. F. T. Martins and V. Niculae, "Learning with Fenchel-Young losses", 2020.
    .. [2] Q. Berthet, M. Blondel, O. Teboul, M. Cuturi, J.-P. Vert and F. Bach, "Learning with
       differentiable perturbed optimizers", 2020.

    Examples
    --------
    >>> import torch
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> costs = torch.zeros(1, 3, requires_grad=True)
    >>> loss = FenchelYoungLoss(space, "entropy")(costs, [["animal", "cat"]])
    >>> loss.detach()  # ln 5: all five sets are equally likely
    tensor(1.6094)
    >>> loss.backward()
    >>> costs.grad  # psi of the truth minus the marginals
    tensor([[ 0.2000,  0.6000, -0.4000]])
    """

    def __init__(
        self,
        space: Any,
        regularization: str = "perturbed",
        sigma: float = 1.0,
        *,
        sense: str = "min",
        reduction: str = "mean",
        n_samples: int = 10,
        noise: str = "normal",
        antithetic: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__()
        self.space = space
        self.regularization = one_of(regularization, REGULARIZATIONS, "regularization")
        self.sense = one_of(sense, SENSES, "sense")
        self.reduction = one_of(reduction, REDUCTIONS, "reduction")
        self.noise = Noise(noise, n_samples, sigma, antithetic, random_state)

    def forward(self, costs: torch.Tensor, targets: Any) -> torch.Tensor:
        """The loss of costs (n, d), of their dtype: a number, or (n,) with reduction "none".

        Parameters
        ----------
        costs : tensor of shape (n, d)
        targets : tensor of floats of shape (n, d), or n outputs
            Embeddings of the true outputs, or these in the user's format, which are validated
            and embedded. No gradient flows to them.
        """
        costs = check_rows(costs, "costs", self.space)
        truth = target_embeddings(self.space, targets, costs, "targets")
        scores = SENSES[self.sense] * costs.to(torch.float64)
        if self.regularization == "entropy":
            smooth = self.noise.sigma * log_partition(self.space, scores / self.noise.sigma)
            losses = smooth - (scores * truth).sum(1)
        else:
            # The truth is scored under the same noise, of mean zero: no term is negative.
            perturbed = self.noise.perturbed(scores, self.noise.draw(scores.detach()))
            best = best_embeddings(self.space, -perturbed)
            losses = (perturbed * (best - truth)).sum(2).mean(0)
        return reduced(losses, self.reduction, costs.dtype)

    def extra_repr(self) -> str:
        return (
            f"{self.space}, {self.regularization!r}, sigma={self.noise.sigma}, "
            f"sense={self.sense!r}, reduction={self.reduction!r}"
        )
