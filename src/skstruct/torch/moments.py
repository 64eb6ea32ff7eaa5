# SPDX-License-Identifier: BSD-3-Clause
"""Marginals and partition functions of a space's distribution, with their gradients."""

from typing import Any

import numpy as np
import torch
from torch import nn

from skstruct.spaces import Inference
from skstruct.spaces.constraints import differs_by_row
from skstruct.tolerances import DIFFERENCE_STEP
from skstruct.torch.inputs import check_rows, to_host, to_tensor


def marginals(space: Any, scores: torch.Tensor) -> torch.Tensor:
    r"""Mean embeddings under :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`, differentiable.

    A gradient g with respect to these becomes :math:`\mathrm{Cov}(\psi(Y))\, g` with respect to
    the scores. Where outputs are listed or labels are independent that is computed exactly.
    Elsewhere it is the derivative of the marginals in direction g, by a central difference of two
    more marginals: the step changes scores by 1e-5 of the length of g and of the largest marginal,
    and errors are about 1e-10 of the result and grow with the size of the scores. All is computed
    in float64. It has no second derivative; :func:`log_partition` has.

    Parameters
    ----------
    space : fitted space
        With a ``distribution``.
    scores : tensor u of shape (n, d)

    Returns
    -------
    means : tensor of shape (n, d)
        Of the dtype of scores, on their device.

    Examples
    --------
    >>> import torch
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> scores = torch.zeros(1, 3, requires_grad=True)
    >>> means = marginals(space, scores)
    >>> means.detach()
    tensor([[0.8000, 0.4000, 0.4000]])
    >>> means[0, 1].backward()
    >>> scores.grad  # covariances with the second label
    tensor([[0.0800, 0.2400, 0.0400]])
    """
    return _moments(check_rows(scores, "scores", space), space)[1]


def log_partition(space: Any, scores: torch.Tensor) -> torch.Tensor:
    r""":math:`\ln Z = \ln \sum_y \exp \langle u, \psi(y) \rangle` of every row, of shape (n,).

    Its gradient are the :func:`marginals`, and their derivative is that of the second order.

    Parameters
    ----------
    space : fitted space
        With a ``distribution``.
    scores : tensor u of shape (n, d)

    Examples
    --------
    >>> import torch
    >>> from skstruct.spaces import LabelSets
    >>> log_partition(LabelSets(range(3)), torch.zeros(1, 3)).exp()
    tensor([8.])
    """
    return _moments(check_rows(scores, "scores", space), space)[0]


class Marginals(nn.Module):
    r"""The layer of :func:`marginals`: scores (n, d) to mean embeddings (n, d).

    For a hierarchy, probabilities of labels none of which exceeds that of its parent; for classes,
    a softmax.

    Parameters
    ----------
    space : fitted space
        With a ``distribution``.

    Examples
    --------
    >>> import torch
    >>> from skstruct.spaces import LabelSets
    >>> model = torch.nn.Sequential(torch.nn.Linear(5, 3), Marginals(LabelSets(range(3))))
    >>> model(torch.zeros(2, 5)).shape
    torch.Size([2, 3])
    """

    def __init__(self, space: Any) -> None:
        super().__init__()
        self.space = space

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        """Mean embeddings (n, d) for scores (n, d), of their dtype and on their device."""
        return marginals(self.space, scores)

    def extra_repr(self) -> str:
        return str(self.space)


# ---------------------------------------------------------------------- gradients
class _Moments(torch.autograd.Function):
    """ln Z (n,) and its gradient m (n, d), both differentiable.

    m is saved as an output: where a graph of the gradient is asked for, it is part of that.
    """

    @staticmethod
    def forward(ctx: Any, scores: Any, space: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.space, ctx.distribution = space, None
        if len(scores):
            ctx.distribution = _distribution(space, to_host(scores))
            sums = to_tensor(ctx.distribution.log_partition, scores.device).to(scores.dtype)
            means = to_tensor(ctx.distribution.marginals(), scores.device).to(scores.dtype)
        else:
            sums, means = scores.new_zeros(0), scores.new_zeros(scores.shape)
        ctx.save_for_backward(scores, means)
        return sums, means

    @staticmethod
    def backward(ctx: Any, of_sums: Any, of_means: Any) -> Any:
        scores, means = ctx.saved_tensors
        gradient = None if of_sums is None else of_sums[:, None] * means
        if of_means is not None:
            product = _product(scores, of_means, ctx.space, ctx.distribution)
            gradient = product if gradient is None else gradient + product
        return gradient, None


class _CovarianceProduct(torch.autograd.Function):
    """Cov(psi) v of every row: linear in v (n, d); no derivative in the scores."""

    @staticmethod
    def forward(ctx: Any, scores: Any, directions: Any, space: Any, distribution: Any) -> Any:
        ctx.save_for_backward(scores)
        ctx.space, ctx.distribution = space, distribution
        if not len(scores):
            return torch.zeros_like(scores)
        product = _covariance_product(space, distribution, to_host(scores), to_host(directions))
        return to_tensor(product, scores.device).to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (scores,) = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            raise NotImplementedError(
                "marginals() are differentiable once, log_partition() twice; a further derivative "
                "was asked for."
            )
        product = _product(scores, gradient, ctx.space, ctx.distribution)
        return None, product, None, None


_moments: Any = _Moments.apply  # torch has no types for it
_product: Any = _CovarianceProduct.apply


def _distribution(space: Any, scores: np.ndarray) -> Any:
    distribution = Inference.of(space).distribution(scores)
    if distribution is None:
        raise ValueError(
            f"{type(space).__name__} knows no exact distribution of its outputs, which are too "
            'many to be listed; FenchelYoungLoss(space, "perturbed") and PerturbedArgmin need none.'
        )
    return distribution


def _covariance_product(
    space: Any, distribution: Any, scores: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    """Exactly, or by a central difference of marginals; arrays of shape (n, d).

    With step h along v the error is h^2 / 6 of a fourth cumulant of psi and <v, psi>, and the
    rounding of marginals over h: 1e-10 and 1e-11 of <v, psi> for a step that changes it by 1e-5.
    """
    exact: np.ndarray | None = distribution.covariance_product(directions)
    if exact is not None:
        return exact
    size = np.maximum(np.abs(distribution.marginals()).max(axis=1, initial=0.0), 1.0)
    length = np.linalg.norm(directions, axis=1) * size
    step = DIFFERENCE_STEP / np.where(length > 0, length, 1.0)[:, None]
    n = len(scores)
    twice = space.rows(np.tile(np.arange(n), 2)) if differs_by_row(space) else space
    both = np.concatenate([scores + step * directions, scores - step * directions])
    means = _distribution(twice, both).marginals()
    return (means[:n] - means[n:]) / (2.0 * step)
