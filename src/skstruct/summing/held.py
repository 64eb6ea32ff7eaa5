# SPDX-License-Identifier: BSD-3-Clause
"""Laws of 0/1 outputs of which some coordinates are known."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law


class HeldLaw(Law):
    """A law of some columns, beside others that are known to be 0 or 1.

    Parameters
    ----------
    law : Law
        Of what is open: outputs (..., m) that are their own embeddings.
    columns : int array of shape (m,)
        Where these are.
    known : bool array of shape (d,)
        Columns that are 1 in every output.
    scores : array of shape (n, d)
    """

    def __init__(self, law, columns, known, scores):
        self.law, self.columns, self.known = law, columns, known
        self.log_partition = law.log_partition + scores[:, known].sum(axis=1)

    def _spread(self, values):
        everywhere = np.zeros((*values.shape[:-1], len(self.known)), values.dtype)
        everywhere[..., self.known] = 1
        everywhere[..., self.columns] = values
        return everywhere

    def marginals(self):
        return self._spread(self.law.marginals())

    def sample(self, n, rng):
        return self._spread(self.law.sample(n, rng))
