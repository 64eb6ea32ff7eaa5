# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of outputs with one row of features each, and of sequences with a row of features
per position (a linear-chain conditional random field).

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
from skstruct.learners.token_problem import inner_positions
from skstruct.spaces.constraints import differs_by_row


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
            self.space.rows(rows).distribution(np.zeros((rows.stop - rows.start, self.shape[1])))
            is not None
            for rows in self.blocks[: 1 if alike else None]
        )

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient by exact distributions."""
        W = theta.reshape(self.shape)
        value = float((self.lam * W**2).sum()) - float(np.vdot(W, self.data))
        gradient = 2.0 * self.lam * W - self.data
        for rows in self.blocks:
            distribution = self.space.rows(rows).distribution(self.scores(W, rows))
            value += float(self.weight[rows] @ distribution.log_partition)
            gradient += self.pulled_back(distribution.marginals(), rows)
        return value, gradient.ravel()


def penalties(p: int, alpha: float, free_last: bool) -> np.ndarray:
    """The penalty of every feature; none of the last where that is the constant; shape (p,)."""
    each = np.full(p, float(alpha))
    if free_last:
        each[-1] = 0.0
    return each


# The likelihood of sequences with a row of features per position: a linear-chain CRF.
#
# .. math:: f(x, y) = \sum_t \langle w_{y_t}, x_t \rangle + \sum_{t > 1} v_{y_{t-1} y_t}
#
# Weights are the same at all positions; transitions see no input.


class ChainModel:
    """Objective and gradient of a linear-chain conditional random field.

    Parameters
    ----------
    space : fitted Sequences
    features : array or CSR of shape (n_tokens, p)
    starts : int array of shape (n + 1,)
    outputs : int array of shape (n, T), padded with -1
    weight : array of shape (n,), shares of the sequences
    alpha : float
    free_last : bool
        Whether the last feature, a constant, is free of the penalty.
    """

    def __init__(
        self,
        space: Any,
        features: Any,
        starts: np.ndarray,
        outputs: np.ndarray,
        weight: np.ndarray,
        alpha: float,
        free_last: bool = False,
    ) -> None:
        self.space, self.features, self.starts = space, features, starts
        self.weight, self.free_last = weight, free_last
        self.of_token = np.repeat(weight, np.diff(starts))
        self.q, self.p = len(space.symbols_), features.shape[1]
        symbols = outputs[outputs >= 0]
        truth = np.zeros((len(symbols), self.q))
        truth[np.arange(len(symbols)), symbols] = 1.0
        at = inner_positions(starts)
        counts = np.zeros((self.q, self.q))
        np.add.at(counts, (symbols[at - 1], symbols[at]), self.of_token[at])
        truth *= self.of_token[:, None]
        self.data = np.concatenate([self._pulled_back(truth), counts.ravel()])
        self.penalise(alpha)

    def penalise(self, alpha: float) -> None:
        """The same sequences with another penalty."""
        of_features = np.repeat(penalties(self.p, alpha, self.free_last), self.q)
        self.lam = np.concatenate([of_features, np.full(self.q**2, float(alpha))])

    @property
    def size(self) -> Any:
        return self.q * (self.p + self.q)

    def _pulled_back(self, means: np.ndarray) -> np.ndarray:
        pulled = self.features.T @ means
        return dense(pulled).ravel()

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the features (p, q) and of transitions (q, q)."""
        cut = self.p * self.q
        return theta[:cut].reshape(self.p, self.q), theta[cut:].reshape(self.q, self.q)

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient, by sums over all chains."""
        W, transitions = self.parts(theta)
        unary = np.ascontiguousarray(self.features @ W)
        distribution = self.space.distribution_of_chains(unary, self.starts, transitions[None])
        value = float(self.lam @ theta**2) - float(theta @ self.data)
        value += float(self.weight @ distribution.log_partition)
        unary, steps = distribution.gradient(self.weight)
        means = np.concatenate([self._pulled_back(unary), steps.ravel()])
        return value, 2.0 * self.lam * theta + means - self.data
