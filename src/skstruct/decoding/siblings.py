# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that come in pairs of opposites: the better one is never bad."""

from __future__ import annotations

import numpy as np


def better_of_siblings(costs, psi, siblings):
    r"""The cheaper of an output and its opposite, row by row.

    Where every output z of a space has a sibling r(z) with :math:`\psi(z) + \psi(r(z)) = s`,
    the same s for all of them, this is a 1/2-approximation, whatever the costs are and
    whichever output one starts from:

    .. math:: \max - v \ge \tfrac12 (\max - \min), \qquad v = \min(\langle c, \psi(y) \rangle,
              \langle c, \psi(r(y)) \rangle) \le \tfrac12 \langle c, s \rangle
              = \tfrac12 (\max + \min),

    since the sibling of the cheapest output is the dearest. The rule "keep y where its cost
    is not positive" has no such guarantee unless s is orthogonal to c.

    Parameters
    ----------
    costs, psi, siblings : arrays of shape (n, d)
        Costs, and the embeddings of an output and of its sibling, for every row.

    Returns
    -------
    swapped : bool array of shape (n,)
        Where the sibling is the cheaper one.
    values : array of shape (n,)

    Examples
    --------
    >>> psi = np.array([[1.0, 0.0, 1.0]])
    >>> better_of_siblings(np.array([[2.0, -1.0, 0.5]]), psi, 1 - psi)
    (array([ True]), array([-1.]))

    References
    ----------
    Vembu (2010). Learning to predict combinatorial structures. Section 5.4.
    """
    own, other = np.einsum("nd,nd->n", costs, psi), np.einsum("nd,nd->n", costs, siblings)
    swapped = other < own
    return swapped, np.where(swapped, other, own)
