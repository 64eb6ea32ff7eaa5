# SPDX-License-Identifier: BSD-3-Clause
"""Laws over sets of few nodes with scores of the pairs inside: all sets at once."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law

MOST_NODES = 18


class PairSetLaw(Law):
    r"""Sets y of nodes with chances in proportion to :math:`\exp \sum_e u_e y_{e_1} y_{e_2}`.

    Node by node: the sets with node b have the values of those without it, plus their pairs
    with b, which double in the same way. :math:`2^N` numbers for every row.

    Parameters
    ----------
    scores : array u of shape (n, d)
    edges : int array of shape (d, 2)
        All pairs of nodes.
    allowed : bool array of shape (2**N,)
        Sets that are outputs; bit b of a number stands for node b.

    Examples
    --------
    >>> law = PairSetLaw(np.log([[5.0]]), np.array([[0, 1]]), np.ones(4, bool))
    >>> np.exp(law.log_partition).round(12), law.marginals()
    (array([8.]), array([[0.625]]))
    """

    def __init__(self, scores, edges, allowed):
        from skstruct.summing._compiled_node_sets import sum_sets

        self.edges, self.n_nodes = edges, len(allowed).bit_length() - 1
        column = np.zeros((self.n_nodes, self.n_nodes), np.int64)
        u, v = edges.T
        column[u, v] = column[v, u] = np.arange(len(edges))
        self._problem = scores, column, allowed
        self.log_partition = np.empty(len(scores))
        sum_sets(*self._problem, self.log_partition)

    def marginals(self):
        from skstruct.summing._compiled_node_sets import pair_chances

        chances = np.empty((len(self.log_partition), len(self.edges)))
        pair_chances(*self._problem, chances)
        return chances

    def sample(self, n, rng):
        """``n`` sets of every row, 0/1 over the nodes; int8 (n_rows, n, N)."""
        from skstruct.summing._compiled_node_sets import draw_sets

        levels = rng.random((len(self.log_partition), n))
        numbers = np.empty(levels.shape, np.int64)
        draw_sets(*self._problem, levels, numbers)
        return (numbers[:, :, None] >> np.arange(self.n_nodes) & 1).astype(np.int8)


class InnerEdgeLaw(PairSetLaw):
    """The same, where outputs are the edges inside, no two sets with the same ones."""

    def sample(self, n, rng):
        """``n`` edge sets of every row; int8 (n_rows, n, d)."""
        nodes = super().sample(n, rng)
        return nodes[:, :, self.edges[:, 0]] & nodes[:, :, self.edges[:, 1]]


def allowed_sets(low, high) -> np.ndarray:
    """Which sets hold all nodes of ``low`` and none out of ``high``; bool (2**N,)."""
    numbers, bits = np.arange(1 << len(low)), 1 << np.arange(len(low))
    held, out = int(bits[low].sum()), int(bits[~high].sum())
    return (numbers & held == held) & (numbers & out == 0)
