# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of sequences with a row of features per position: a linear-chain CRF.

.. math:: f(x, y) = \sum_t \langle w_{y_t}, x_t \rangle + \sum_{t > 1} v_{y_{t-1} y_t}

Weights are the same at all positions; transitions see no input.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.learners.exponential.rows import penalties
from skstruct.learners.margins.chains import inner_positions


class ChainModel:
    """Objective and gradient of a linear-chain conditional random field.

    Parameters
    ----------
    space : fitted Sequences
    features : array or CSR of shape (n_tokens, p)
    starts : int array of shape (n + 1,)
    outputs : int array of shape (n, T), padded with -1
    weight : array of shape (n,), shares of the sequences
    lam : float
    free_last : bool
        Whether the last feature, a constant, is free of the penalty.
    """

    def __init__(self, space, features, starts, outputs, weight, lam, free_last=False):
        self.space, self.features, self.starts = space, features, starts
        self.weight = weight
        self.of_token = np.repeat(weight, np.diff(starts))
        self.q, self.p = len(space.symbols_), features.shape[1]
        symbols = outputs[outputs >= 0]
        held = np.zeros((len(symbols), self.q))
        held[np.arange(len(symbols)), symbols] = 1.0
        at = inner_positions(starts)
        counts = np.zeros((self.q, self.q))
        np.add.at(counts, (symbols[at - 1], symbols[at]), self.of_token[at])
        held *= self.of_token[:, None]
        self.data = np.concatenate([self._pulled_back(held), counts.ravel()])
        of_features = np.repeat(penalties(self.p, lam, free_last), self.q)
        self.lam = np.concatenate([of_features, np.full(self.q**2, float(lam))])

    @property
    def size(self) -> int:
        return self.q * (self.p + self.q)

    def _pulled_back(self, means) -> np.ndarray:
        pulled = self.features.T @ means
        return (pulled.toarray() if sparse.issparse(pulled) else np.asarray(pulled)).ravel()

    def parts(self, theta) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the features (p, q) and of transitions (q, q)."""
        cut = self.p * self.q
        return theta[:cut].reshape(self.p, self.q), theta[cut:].reshape(self.q, self.q)

    def value_and_gradient(self, theta) -> tuple[float, np.ndarray]:
        """The objective and its gradient, by sums over all chains."""
        W, transitions = self.parts(theta)
        unary = np.ascontiguousarray(self.features @ W)
        law = self.space.law_of_chains(unary, self.starts, transitions[None])
        value = float(self.lam @ theta**2) - float(theta @ self.data)
        value += float(self.weight @ law.log_partition)
        unary, steps = law.gradient(self.weight)
        means = np.concatenate([self._pulled_back(unary), steps.ravel()])
        return value, 2.0 * self.lam * theta + means - self.data
