# SPDX-License-Identifier: BSD-3-Clause
"""Marginals of many chains that share one matrix of transitions, block by block."""

import numpy as np


class ChainBlock:
    r"""What the likelihood needs of chains with the same scores of transitions.

    One pass forward and one backward over products of scaled exponentials. Chains with scores so
    far apart that a product could vanish are told apart, and are left to
    :class:`~skstruct.spaces.sequence_sets.chains.forward_backward.ChainDistribution`.

    Parameters
    ----------
    transitions : array of shape (q, q)
        Score of (symbol before, symbol here).

    Attributes
    ----------
    plain : bool
        Whether products of the matrix are safe, so that ``residuals`` can be asked for.
    """

    def __init__(self, transitions: np.ndarray) -> None:
        from skstruct.learners.exponential_family._numba_likelihood import FARTHEST

        self.top = float(transitions.max())
        self.matrix = np.exp(transitions - self.top)
        self.back = np.ascontiguousarray(self.matrix.T)
        self.plain = self.top - float(transitions.min()) < FARTHEST

    def residuals(
        self,
        scores: np.ndarray,
        starts: np.ndarray,
        symbols: np.ndarray,
        weight: np.ndarray,
        steps: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weights times marginals less the truth, in the place of scores (N, q).

        Parameters
        ----------
        starts : int array of shape (n + 1,)
            Chain i owns the positions starts[i]:starts[i + 1].
        symbols : int array of shape (N,), the truth
        weight : array of shape (n,)
        steps : array of shape (q, q)
            Grows by the expected numbers of steps, times the weights of their chains.

        Returns
        -------
        log_sums : array of shape (n,), ln Z
        unsafe : bool array of shape (n,)
            Chains that are to be summed otherwise: their residuals and ln Z are undefined.
        """
        from skstruct.learners.exponential_family._numba_likelihood import (
            backward,
            forward,
            shift_rows,
        )

        N, lengths = len(scores), np.diff(starts)
        tops, totals, safe = np.empty(N), np.empty(N), np.empty(N, bool)
        sums, ahead = np.empty_like(scores), np.empty_like(scores)
        shift_rows(scores, tops, safe)
        np.exp(scores, out=scores)
        forward(scores, starts, self.matrix, sums, totals, safe)
        backward(scores, starts, symbols, weight, self.back, sums, totals, ahead)
        unsafe = np.zeros(len(weight), bool)
        if not safe.all():
            unsafe[np.repeat(np.arange(len(weight)), lengths)[~safe]] = True
            dropped = np.repeat(unsafe, lengths)
            sums[dropped] = ahead[dropped] = 0.0
            totals[dropped] = 1.0
        steps += self.matrix * (sums[:-1].T @ ahead[1:])
        tops += np.log(totals)
        logs = np.add.reduceat(np.append(tops, 0.0), np.minimum(starts[:-1], N))
        log_sums = np.where(lengths > 0, logs, 0.0) + self.top * np.maximum(lengths - 1, 0)
        return log_sums, unsafe
