# SPDX-License-Identifier: BSD-3-Clause
"""Laws over a list of outputs: a softmax."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from skstruct.summing.base import Law


class ListedLaw(Law):
    """Laws over outputs that are few enough to be listed.

    Parameters
    ----------
    outputs : array of shape (m, ...)
        All outputs in canonical form.
    psi : array or CSR of shape (m, d)
        Their embeddings.
    scores : array of shape (n, d)

    Examples
    --------
    >>> law = ListedLaw(np.array([[0], [1]]), np.array([[0.0], [1.0]]), np.log([[3.0]]))
    >>> np.exp(law.log_partition).round(12), law.marginals()
    (array([4.]), array([[0.75]]))
    """

    def __init__(self, outputs, psi, scores):
        self.outputs, self.psi = np.asarray(outputs), psi
        values = np.asarray(psi @ scores.T).T  # (n, m)
        self.log_partition = logsumexp(values, axis=1)
        self.values = values

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Of every output in every row; shape (n, m)."""
        return np.exp(self.values - self.log_partition[:, None])

    def marginals(self):
        return np.asarray(self.probabilities @ self.psi)

    def sample(self, n, rng):
        return self.outputs[drawn_columns(self.probabilities, n, rng)]


def drawn_columns(probabilities, n: int, rng) -> np.ndarray:
    """``n`` columns of every row with the chances that stand there; int64 (n_rows, n)."""
    upto = np.cumsum(probabilities, axis=1)
    level = rng.random((len(upto), n)) * upto[:, -1:]
    last = probabilities.shape[1] - 1
    # All rows are searched at once: row r lives between 2 r and 2 r + 1.
    at = 2.0 * np.arange(len(upto))[:, None]
    found = np.searchsorted((upto / upto[:, -1:] + at).ravel(), level / upto[:, -1:] + at, "right")
    return np.minimum(found - (last + 1) * np.arange(len(upto))[:, None], last)
