# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that are the same, and outputs that are not."""

from __future__ import annotations

import numpy as np

from skstruct.kernels.outputs.base import OutputKernel
from skstruct.kernels.outputs.forms import listed, output_codes


class Dirac(OutputKernel):
    r"""1 where two outputs are equal, 0 where they are not [1]_.

    .. math:: k(y, y') = 1[y = y'], \qquad L_K(y, y') = 1[y \ne y']

    Outputs are anything that can be hashed, and arrays, lists, sets and dictionaries of
    such; a tuple, a list and an array of the same items are equal, and NaN is equal to NaN
    within them.

    On spaces with one coordinate per output (``Classes``, ``Candidates`` and lists of
    outputs of any space), where :math:`\psi(z) = e_z`, the cost is :math:`1 - 2 g`.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013.

    Examples
    --------
    >>> Dirac()(["cat", "dog"], ["dog", "cow", "cat"])
    array([[0., 0., 1.],
           [1., 0., 0.]])
    >>> Dirac().loss([[1, 2], [3]], [(1, 2), (3, 4)])
    array([0., 1.])
    """

    all_or_nothing = True

    def __call__(self, A, B=None) -> np.ndarray:
        a, b = output_codes(A, B, "Dirac")
        return (a[:, None] == b).astype(np.float64)

    def diagonal(self, A) -> np.ndarray:
        return np.ones(len(listed(A, "Dirac")))

    def largest_loss(self) -> float:
        return 1.0

    def embedding_on(self, space) -> str | None:
        return "outputs" if space.embedding == "outputs" else None

    def cost(self, g, total):
        return 1.0 - 2.0 * np.asarray(g)
