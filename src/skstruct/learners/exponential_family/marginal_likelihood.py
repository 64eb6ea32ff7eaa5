# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of outputs of which parts are missing.

What is known of output i leaves the outputs :math:`S_i`. Their probability is the sum of that of
each, so that with :math:`Z(u; S) = \sum_{y \in S} \exp \langle u, \psi(y) \rangle`

.. math:: J(W) = \alpha \|W\|^2 + \sum_i w_i \bigl(\ln Z(u_i) - \ln Z(u_i; S_i)\bigr), \qquad
          \nabla J = 2 \alpha W + F^\top \bigl(w \cdot (\mathbf E_u \psi
          - \mathbf E_u[\psi \mid S])\bigr).

The second logarithm is concave in J where there are several outputs in :math:`S_i`: what is found
is a local minimum. It is begun with the minimum of the convex function that has
:math:`\langle u_i, \mathbf E_0[\psi \mid S_i] \rangle` in its place, means of the uniform
distribution: one step of expectation maximisation from weights of zero.
"""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.rows import dense
from skstruct.learners.exponential_family.chain_likelihood import ChainModel
from skstruct.learners.exponential_family.likelihood import RowModel
from skstruct.learners.token_problem import inner_positions
from skstruct.spaces import Inference, Solving


class PartialRowModel(RowModel):
    """Objective and gradient where parts of some outputs are missing.

    Parameters
    ----------
    space, features, psi, weight, alpha, memory, free_last : see RowModel
        Rows of ``psi`` of which parts are missing hold their means under the uniform distribution.
    allowed : space, narrowed to the outputs that row i may have
    is_open : bool array of shape (n,)
        Rows of which parts are missing.
    """

    def __init__(self, *args: Any, allowed: Any, is_open: np.ndarray, **settings: Any) -> None:
        super().__init__(*args, **settings)
        psi: Any = args[2]
        self.allowed, self.is_open = allowed, is_open
        self.soft = self.data  # of all rows, by which training begins
        self.data = self.pulled_back(without_rows(psi, is_open), slice(None))

    def beginning(self) -> RowModel:
        """The convex objective of means that were taken without weights."""
        model = RowModel.__new__(RowModel)
        model.__dict__.update(self.__dict__, data=self.soft)
        return model

    def has_distribution(self) -> bool:
        """Whether both partition functions are known exactly."""
        rows = np.flatnonzero(self.is_open)[:1]
        zeros = np.zeros((len(rows), self.shape[1]))
        some = (
            not len(rows) or Inference.of(self.allowed.rows(rows)).distribution(zeros) is not None
        )
        return some and super().has_distribution()

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        W = theta.reshape(self.shape)
        value = float((self.lam * W**2).sum()) - float(np.vdot(W, self.data))
        gradient = 2.0 * self.lam * W - self.data
        for rows in self.blocks:
            scores = self.scores(W, rows)
            free = Inference.of(self.space.rows(rows)).exact(scores)
            logs, means = free.log_partition, free.marginals()
            gaps = np.flatnonzero(self.is_open[rows])
            if len(gaps):
                given = Inference.of(self.allowed.rows(gaps + rows.start)).exact(scores[gaps])
                logs, means = logs.copy(), np.array(means)
                logs[gaps] -= given.log_partition
                means[gaps] -= given.marginals()
            value += float(self.weight[rows] @ logs)
            gradient += self.pulled_back(means, rows)
        return value, gradient.ravel()


def without_rows(psi: Any, dropped: np.ndarray) -> Any:
    """The same with zeros in some rows."""
    kept = (~dropped).astype(np.float64)[:, None]
    return sparse.csr_array(psi.multiply(kept)) if sparse.issparse(psi) else psi * kept


def soft_targets(allowed: Any, psi: Any, is_open: np.ndarray) -> Any:
    """psi, in open rows its mean over all outputs that are allowed; None where that is unknown."""
    gaps = np.flatnonzero(is_open)
    uniform = Inference.of(allowed.rows(gaps)).distribution(np.zeros((len(gaps), psi.shape[1])))
    if uniform is None:
        return None
    means = uniform.marginals()
    if not sparse.issparse(psi):
        psi = np.array(psi, dtype=np.float64)
        psi[gaps] = means
        return psi
    place = sparse.csr_array((np.ones(len(gaps)), (gaps, np.arange(len(gaps)))),
                             shape=(psi.shape[0], len(gaps)))  # fmt: skip
    return sparse.csr_array(without_rows(psi, is_open) + place @ sparse.csr_array(means))


def given_log_likelihoods(
    allowed: Any, is_open: np.ndarray, psi: Any, scores: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Logarithms of Z(u; S) of some rows: scores of the output, where it is known; shape (n,)."""
    values: np.ndarray = np.einsum("nd,nd->n", scores, dense(psi[rows], np.float64))
    gaps = np.flatnonzero(is_open[rows])
    if len(gaps):
        given = Inference.of(allowed.rows(rows[gaps])).exact(scores[gaps])
        values[gaps] = given.log_partition
    return values


class PartialChainModel(ChainModel):
    """The same of chains with a row of features per position.

    Parameters
    ----------
    space, tokens, starts, outputs, weight, alpha, constant : see ChainModel
        Outputs have some symbol where none is known: it makes no difference which.
    allowed : Sequences, narrowed to what sequence i may be
    is_open : bool array of shape (n,)
    """

    uniform = False  # whether means are those without weights

    def __init__(self, *args: Any, allowed: Any, is_open: np.ndarray, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.allowed, self.is_open = allowed, is_open

    def beginning(self) -> "PartialChainModel":
        """The convex objective of means that were taken without weights."""
        model = PartialChainModel.__new__(PartialChainModel)
        model.__dict__.update(self.__dict__, uniform=True)
        return model

    def _given(
        self, rows: slice, scores: np.ndarray, transitions: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray] | None:
        """What stands in the place of the placeholders of open sequences.

        By how much their share of the log-likelihood is larger; tokens, residuals at these, and
        numbers of steps to be added.
        """
        gaps = np.flatnonzero(self.is_open[rows]) + rows.start
        gaps = gaps[self.weight[gaps] > 0]
        if not len(gaps):
            return None
        lengths = np.diff(self.starts)[gaps]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.starts[gaps] - starts[:-1], lengths)
        tokens = np.arange(starts[-1]) + shift
        here, weight = scores[tokens - self.starts[rows.start]], self.weight[gaps]
        used = (np.zeros_like(here), 0.0 * transitions) if self.uniform else (here, transitions)
        chains = Solving.of(self.allowed.rows(gaps))
        found = chains.distribution_of_chains(used[0], starts, used[1][None])
        marginals, counts = found.gradient(weight)
        filled, steps = self._filled(self.symbols[tokens], starts, weight)
        residuals, steps = filled - marginals, steps - counts[0]
        if self.uniform:
            more = -float(np.vdot(residuals, here)) - float(np.vdot(steps, transitions))
        else:
            more = float(weight @ found.log_partition)
            more -= float(np.vdot(filled, here)) + float(np.vdot(steps + counts[0], transitions))
        return more, tokens - self.starts[rows.start], residuals, steps

    def _filled(
        self, symbols: np.ndarray, starts: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weighted indicators of symbols (N, q), and weighted numbers of steps (q, q)."""
        of_token = np.repeat(weight, np.diff(starts))
        filled = np.zeros((len(symbols), self.q))
        filled[np.arange(len(symbols)), symbols] = of_token
        at, steps = inner_positions(starts), np.zeros((self.q, self.q))
        np.add.at(steps, (symbols[at - 1], symbols[at]), of_token[at])
        return filled, steps
