# SPDX-License-Identifier: BSD-3-Clause
"""A convex bound on what deciding by predicted costs loses under the true ones."""

from typing import Any

import torch
from torch import nn

from skstruct.torch.decoding import best_embeddings
from skstruct.torch.inputs import (
    REDUCTIONS,
    SENSES,
    check_rows,
    check_same_shape,
    one_of,
    reduced,
    target_embeddings,
)


class SPOPlusLoss(nn.Module):
    r"""The SPO+ loss of predicted costs: convex, and never below the regret of the decision.

    Whoever takes :math:`z^*(\hat c) = \arg\min_z \langle \hat c, \psi(z) \rangle` where the true
    costs are c regrets :math:`\langle c, \psi(z^*(\hat c)) - \psi(z^*(c)) \rangle`, which changes
    by jumps. The loss [1]_

    .. math:: \max_z \langle c - 2 \hat c, \psi(z) \rangle + 2 \langle \hat c, \psi(z^*(c)) \rangle
        - \langle c, \psi(z^*(c)) \rangle

    is an upper bound of it, zero where :math:`\hat c = c`, with the subgradient
    :math:`2 (\psi(z^*(c)) - \psi(z^*(2 \hat c - c)))`: one decoding for every row. Both hold for
    spaces whose ``guarantee`` is exact.

    Parameters
    ----------
    space : fitted space
    sense : {"min", "max"}, default="min"
        Whether decisions minimize their cost, or maximize it.
    reduction : {"mean", "sum", "none"}, default="mean"
        Over rows.

    References
    ----------
    .. [1] A. N. Elmachtoub and P. Grigas, "Smart 'predict, then optimize'", 2022.

    Examples
    --------
    >>> import torch
    >>> from skstruct.spaces import Classes
    >>> space = Classes(["road", "rail"]).fit(["road", "rail"])
    >>> predicted = torch.tensor([[1.0, 2.0]], requires_grad=True)
    >>> loss = SPOPlusLoss(space)(predicted, torch.tensor([[3.0, 1.0]]))
    >>> loss.detach()  # road is taken, for 3 instead of 1
    tensor(4.)
    >>> loss.backward()
    >>> predicted.grad
    tensor([[-2.,  2.]])
    """

    def __init__(self, space: Any, *, sense: str = "min", reduction: str = "mean") -> None:
        super().__init__()
        self.space = space
        self.sense = one_of(sense, SENSES, "sense")
        self.reduction = one_of(reduction, REDUCTIONS, "reduction")

    def forward(
        self,
        costs: torch.Tensor,
        true_costs: torch.Tensor,
        true_decisions: Any = None,
        true_optima: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The loss of predicted costs, of their dtype: a number, or (n,) with reduction "none".

        Parameters
        ----------
        costs, true_costs : tensors of shape (n, d)
            Predicted and true. No gradient flows to the true ones.
        true_decisions : tensor of floats of shape (n, d), or n outputs, default=None
            The best decisions under the true costs, embedded or in the user's format; None
            computes them.
        true_optima : tensor of shape (n,), default=None
            What these cost; None computes it.
        """
        costs = check_rows(costs, "costs", self.space)
        true_costs = check_rows(true_costs, "true_costs", self.space).detach()
        check_same_shape(true_costs, costs, "true_costs")
        sign = -SENSES[self.sense]
        predicted = sign * costs.to(torch.float64)
        true = sign * true_costs.to(costs.device, torch.float64)
        if true_decisions is None:
            best = best_embeddings(self.space, true)
        else:
            best = target_embeddings(self.space, true_decisions, costs, "true_decisions")
        if true_optima is None:
            optima = (true * best).sum(1)
        else:
            optima = sign * _checked_optima(true_optima, costs)
        difference = 2.0 * predicted - true
        worst = best_embeddings(self.space, difference)
        losses = 2.0 * (predicted * best).sum(1) - optima - (difference * worst).sum(1)
        return reduced(losses, self.reduction, costs.dtype)

    def extra_repr(self) -> str:
        return f"{self.space}, sense={self.sense!r}, reduction={self.reduction!r}"


def _checked_optima(optima: Any, costs: torch.Tensor) -> torch.Tensor:
    values = torch.as_tensor(optima).detach().to(costs.device, torch.float64)
    if values.shape != costs.shape[:1]:
        raise ValueError(
            f"true_optima has one number for every row of costs, shape ({len(costs)},); got shape "
            f"{tuple(values.shape)}."
        )
    return values
