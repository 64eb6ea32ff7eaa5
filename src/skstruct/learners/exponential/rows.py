# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of outputs that have one row of features each.

Scores are :math:`U = F W`, one row per example; with the mean over examples of weights w,

.. math:: J(W) = \lambda \|W\|^2 + \sum_i w_i \ln Z(u_i) - \langle W, D \rangle, \qquad
          \nabla J = 2 \lambda W + F^\top (w \cdot \mathbf E_u \psi) - D,

where :math:`D = F^\top (w \cdot \psi(y))` is all that is needed of the training outputs.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.blocks import row_blocks
from skstruct.spaces.limits import differs_by_row


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
    lam : float
    free_last : bool
        Whether the last feature, a constant, is free of the penalty.
    memory : str or int
        Budget for the scores of a block of rows.
    """

    def __init__(self, space, features, psi, weight, lam, memory, free_last=False):
        self.space, self.features, self.weight = space, features, weight
        self.shape = features.shape[1], psi.shape[1]
        self.lam = penalties(self.shape[0], lam, free_last)[:, None]
        self.blocks = list(row_blocks(len(weight), 8 * 6 * psi.shape[1], memory))
        self.data = self.pulled_back(psi, slice(None))

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def pulled_back(self, means, rows) -> np.ndarray:
        """F' (w means) of some rows; shape (p, d)."""
        share = self.weight[rows, None]
        means = means.multiply(share) if sparse.issparse(means) else means * share
        pulled = self.features[rows].T @ means
        return pulled.toarray() if sparse.issparse(pulled) else np.asarray(pulled)

    def scores(self, W, rows=slice(None)) -> np.ndarray:
        """Scores of some training rows; shape (n, d)."""
        return np.ascontiguousarray(self.features[rows] @ W)

    def has_law(self) -> bool:
        """Whether partition functions of the training rows are known exactly."""
        alike = not differs_by_row(self.space)
        return all(
            self.space.rows(rows).law(np.zeros((rows.stop - rows.start, self.shape[1]))) is not None
            for rows in self.blocks[: 1 if alike else None]
        )

    def value_and_gradient(self, theta) -> tuple[float, np.ndarray]:
        """The objective and its gradient by exact laws."""
        W = theta.reshape(self.shape)
        value = float((self.lam * W**2).sum()) - float(np.vdot(W, self.data))
        gradient = 2.0 * self.lam * W - self.data
        for rows in self.blocks:
            law = self.space.rows(rows).law(self.scores(W, rows))
            value += float(self.weight[rows] @ law.log_partition)
            gradient += self.pulled_back(law.marginals(), rows)
        return value, gradient.ravel()


def penalties(p: int, lam: float, free_last: bool) -> np.ndarray:
    """The penalty of every feature; none of the last where that is the constant; shape (p,)."""
    each = np.full(p, float(lam))
    if free_last:
        each[-1] = 0.0
    return each
