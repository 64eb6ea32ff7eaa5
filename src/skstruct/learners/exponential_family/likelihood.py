# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of outputs with one row of features each.

Scores are :math:`U = F W`, one row per example; with the mean over examples of weights w,

.. math:: J(W) = \alpha \|W\|^2 + \sum_i w_i \ln Z(u_i) - \langle W, D \rangle, \qquad
          \nabla J = 2 \alpha W + F^\top (w \cdot \mathbf E_u \psi) - D,

where :math:`D = F^\top (w \cdot \psi(y))` is all that is needed of the training outputs.
"""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct.spaces import Inference
from skstruct.spaces.constraints import differs_by_row
from skstruct.tolerances import GRADIENT_ACCURACY


class RowModel:
    """Objective and gradient, exact or from draws.

    Parameters
    ----------
    space : fitted space
    features : array or CSR of shape (n, p)
    psi : array or CSR of shape (n, d)
        What is embedded of the training outputs.
    weight : array of shape (n,)
        Shares of the examples, which sum up to one.
    alpha : float
    free_last : bool
        Whether the last feature, a constant, is free of the penalty.
    memory : str or int
        Budget for the scores of a block of rows.
    """

    accuracy = GRADIENT_ACCURACY  # at which training ends where no tolerance is given

    def __init__(
        self,
        space: Any,
        features: Any,
        psi: Any,
        weight: np.ndarray,
        alpha: float,
        memory: Any,
        free_last: bool = False,
    ) -> None:
        self.space, self.features, self.weight = space, features, weight
        self.shape, self.free_last = (features.shape[1], psi.shape[1]), free_last
        self.penalise(alpha)
        self.blocks = list(row_blocks(len(weight), 8 * 6 * psi.shape[1], memory))
        self.data = self.pulled_back(psi, slice(None))

    def penalise(self, alpha: float) -> None:
        """The same rows with another penalty."""
        self.lam = penalties(self.shape[0], alpha, self.free_last)[:, None]

    @property
    def size(self) -> Any:
        return self.shape[0] * self.shape[1]

    def pulled_back(self, means: Any, rows: slice) -> np.ndarray:
        """F' (w means) of some rows; shape (p, d)."""
        share = self.weight[rows, None]
        means = means.multiply(share) if sparse.issparse(means) else means * share
        pulled = self.features[rows].T @ means
        return dense(pulled)

    def scores(self, W: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """Scores of some training rows; shape (n, d)."""
        return np.ascontiguousarray(self.features[rows] @ W)

    def has_distribution(self) -> bool:
        """Whether partition functions of the training rows are known exactly."""
        alike = not differs_by_row(self.space)
        return all(
            Inference.of(self.space.rows(rows)).distribution(
                np.zeros((rows.stop - rows.start, self.shape[1]))
            )
            is not None
            for rows in self.blocks[: 1 if alike else None]
        )

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient by exact distributions."""
        W = theta.reshape(self.shape)
        value = float((self.lam * W**2).sum()) - float(np.vdot(W, self.data))
        gradient = 2.0 * self.lam * W - self.data
        for rows in self.blocks:
            distribution = Inference.of(self.space.rows(rows)).exact(self.scores(W, rows))
            value += float(self.weight[rows] @ distribution.log_partition)
            gradient += self.pulled_back(distribution.marginals(), rows)
        return value, gradient.ravel()


def penalties(p: int, alpha: float, free_last: bool) -> np.ndarray:
    """The penalty of every feature; none of the last where that is the constant; shape (p,)."""
    each = np.full(p, float(alpha))
    if free_last:
        each[-1] = 0.0
    return each
