# SPDX-License-Identifier: BSD-3-Clause
"""Laws over a list of outputs."""

from __future__ import annotations

import numpy as np

from skstruct.summing.choices import ChoiceLaw


class ListedLaw(ChoiceLaw):
    """Laws over outputs that are few enough to be listed, with their embeddings.

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
        super().__init__(
            np.asarray(psi @ scores.T).T,
            marginals_of=lambda chances: np.asarray(chances @ psi),
            outputs_of=lambda drawn: self.outputs[drawn],
        )
