# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over edge sets: with fixed edges, by sets of few nodes."""

from typing import Any

import numpy as np

from skstruct.spaces.edge_sets.table import edge_numbers
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals


class FixedColumnsDistribution(Distribution):
    """A distribution of some columns, beside others that are known to be 0 or 1.

    Parameters
    ----------
    distribution : Distribution
        Of what is open: outputs (..., m) that are their own embeddings.
    columns : int array of shape (m,)
        Where these are.
    known : bool array of shape (d,)
        Columns that are 1 in every output.
    scores : array of shape (n, d)
    """

    def __init__(
        self, distribution: Any, columns: np.ndarray, known: np.ndarray, scores: np.ndarray
    ) -> None:
        self.distribution, self.columns, self.known = distribution, columns, known
        self.log_partition = distribution.log_partition + scores[:, known].sum(axis=1)

    def _spread(self, values: np.ndarray) -> np.ndarray:
        everywhere = np.zeros((*values.shape[:-1], len(self.known)), values.dtype)
        everywhere[..., self.known] = 1
        everywhere[..., self.columns] = values
        return everywhere

    def marginals(self) -> np.ndarray:
        return self._spread(self.distribution.marginals())

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self._spread(self.distribution.sample(n, rng))


class OpenEdgeProposals(Proposals):
    """Moves among sets of edges, of which some are known.

    Parameters
    ----------
    n_nodes : int
    ends : int array of shape (m, 2)
        Nodes of every edge that is open.
    columns : int array of shape (m,)
        Where these edges are among all.
    known : bool array of shape (d,)
        Edges that are in every set.
    """

    def __init__(
        self, n_nodes: int, ends: np.ndarray, columns: np.ndarray, known: np.ndarray
    ) -> None:
        self.n_nodes, self.ends = n_nodes, np.ascontiguousarray(ends, dtype=np.int64)
        self.columns, self.known = columns, known
        self.sweep = max(len(self.ends), 1)

    def _with_known(self, n: int, row: np.ndarray, edge: np.ndarray) -> np.ndarray:
        """The sets (n, d) that have these open edges, and those that are known."""
        sets = np.tile(self.known.astype(np.int8), (n, 1))
        sets[row, self.columns[edge]] = 1
        return sets


MOST_NODES = 18


class PairSetDistribution(Distribution):
    r"""Sets y of nodes with probabilities in proportion to :math:`\exp \sum_e u_e y_{e_1} y_{e_2}`.

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
    >>> distribution = PairSetDistribution(np.log([[5.0]]), np.array([[0, 1]]), np.ones(4, bool))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals()
    (array([8.]), array([[0.625]]))
    """

    def __init__(self, scores: np.ndarray, edges: np.ndarray, allowed: np.ndarray) -> None:
        from skstruct.spaces.edge_sets._numba import sum_sets

        self.edges, self.n_nodes = edges, len(allowed).bit_length() - 1
        self._problem = scores, edge_numbers(self.n_nodes, edges), allowed
        self.log_partition = np.empty(len(scores))
        sum_sets(*self._problem, self.log_partition)

    def marginals(self) -> np.ndarray:
        from skstruct.spaces.edge_sets._numba import pair_probabilities

        probabilities = np.empty((len(self.log_partition), len(self.edges)))
        pair_probabilities(*self._problem, probabilities)
        return probabilities

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` sets of every row, 0/1 over the nodes; int8 (n_rows, n, N)."""
        from skstruct.spaces.edge_sets._numba import draw_sets

        levels = rng.random((len(self.log_partition), n))
        numbers = np.empty(levels.shape, np.int64)
        draw_sets(*self._problem, levels, numbers)
        return (numbers[:, :, None] >> np.arange(self.n_nodes) & 1).astype(np.int8)


class InnerEdgeDistribution(PairSetDistribution):
    """The same, where outputs are the edges inside, no two sets with the same ones."""

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` edge sets of every row; int8 (n_rows, n, d)."""
        nodes = super().sample(n, rng)
        return nodes[:, :, self.edges[:, 0]] & nodes[:, :, self.edges[:, 1]]


def allowed_sets(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Which sets hold all nodes of ``low`` and none out of ``high``; bool (2**N,)."""
    numbers, bits = np.arange(1 << len(low)), 1 << np.arange(len(low))
    inside, out = int(bits[low].sum()), int(bits[~high].sum())
    return (numbers & inside == inside) & (numbers & out == 0)
