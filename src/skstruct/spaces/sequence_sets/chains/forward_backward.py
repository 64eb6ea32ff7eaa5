# SPDX-License-Identifier: BSD-3-Clause
"""Chains of symbols with random symbols: partition functions, marginals, draws."""

from functools import cached_property
from typing import Any

import numpy as np

from skstruct.spaces.sequence_sets.chains.viterbi import Chains


class ChainDistribution:
    r"""Distributions of chains, one per row, rows being of any lengths.

    .. math:: p(z) \propto \exp\Bigl(\sum_t u_t(z_t) + \sum_{t > 0} M_t(z_{t-1}, z_t)\Bigr)

    One pass forward sums over the beginnings of all chains; one pass backward divides the
    probability of a symbol among the symbols before it, so that marginals are sums of products
    of probabilities and nothing cancels. Both take O(N q²). Sums are products of scaled numbers
    where that loses nothing, and sums of logarithms in all other rows.

    Parameters
    ----------
    unary : array of shape (N, q)
        Score of each symbol at each position, the positions of all rows one after the other;
        minus infinity forbids.
    starts : int array of shape (n + 1,)
        Row i owns the positions starts[i]:starts[i + 1].
    transitions : array of shape (1, q, q) or (N, q, q), default=None
        Score of (symbol before, symbol here), the same everywhere or for each position;
        those of the first position of a row are not used.
    which : int array of shape (N,), default=None
        With another number of matrices: which of them leads into each position.
    beginning, ending : arrays of shape (q,), (1, q) or (n, q), default=None
        Further score of the first and of the last symbol, wherever that is.
    shortest, longest : int or int arrays of shape (n,), default=None
        A row may end at any such length; None for the number of its positions.

    Attributes
    ----------
    log_partition : array of shape (n,)
        Logarithms of the sums over all chains; minus infinity where a row has none.

    Examples
    --------
    >>> distribution = ChainDistribution(np.log([[1.0, 1.0], [2.0, 1.0]]), [0, 2], np.log([[[3.0,
    ...     1.0], [1.0, 1.0]]]))
    >>> np.exp(distribution.log_partition).round(12)  # 6 + 1 + 2 + 1
    array([10.])
    >>> distribution.token_marginals().round(12)
    array([[0.7, 0.3],
           [0.8, 0.2]])
    >>> distribution.transition_counts().round(12)
    array([[[0.6, 0.1],
            [0.2, 0.1]]])

    References
    ----------
    Rabiner (1989). A tutorial on hidden Markov models and selected applications in speech
    recognition. Proceedings of the IEEE 77.
    Kitagawa (1987). Non-Gaussian state-space modeling of nonstationary time series. Journal
    of the American Statistical Association 82 (the backward pass).
    """

    def __init__(
        self,
        unary: np.ndarray,
        starts: Any,
        transitions: np.ndarray | None = None,
        *,
        which: np.ndarray | None = None,
        beginning: np.ndarray | None = None,
        ending: np.ndarray | None = None,
        shortest: np.ndarray | None = None,
        longest: np.ndarray | None = None,
    ) -> None:
        q = np.shape(unary)[1]
        if transitions is None:
            transitions, which = np.zeros((1, q, q)), None
        self.chains = Chains.read(
            unary, starts, transitions,
            which=which, beginning=beginning, ending=ending, shortest=shortest, longest=longest,
        )  # fmt: skip
        self.unary = _begun(self.chains)
        self._forward()
        self._end()

    def _forward(self) -> None:
        from skstruct.spaces.sequence_sets.chains._numba_forward_backward import (
            FACTOR,
            forward_logs,
            forward_products,
        )

        chains, unary = self.chains, self.unary
        (N, q), n = unary.shape, len(chains.longest)
        self.factors, tops, plain = _exponentials(unary, FACTOR)
        given: Any = chains.transitions  # zeros where none were given
        matrices, matrix_tops, plain_matrices = _exponentials(given.reshape(-1, q * q), FACTOR)
        self.matrices = matrices.reshape(-1, q, q)
        self.sums, self.plain_row = np.empty((N, q)), np.empty(n, bool)
        self.scale, self.offset = np.empty((2, N))
        forward_products(
            self.factors, tops, chains.starts, self.matrices, matrix_tops, chains.which,
            chains.longest, (plain, plain_matrices), self.sums, self.scale, self.offset,
            self.plain_row,
        )  # fmt: skip
        ends = chains.ending[np.isfinite(chains.ending)]
        if np.abs(ends).max(initial=0.0) > -np.log(FACTOR):
            self.plain_row[:] = False
        if not self.plain_row.all():  # else there is no need to compile it
            forward_logs(
                unary, chains.starts, chains.transitions, chains.which, chains.longest,
                self.plain_row, self.sums, self.offset,
            )  # fmt: skip

    def _end(self) -> None:
        from skstruct.spaces.sequence_sets.chains._numba_forward_backward import end_chains

        chains, n = self.chains, len(self.plain_row)
        self.log_partition, self.empty = np.empty(n), np.zeros(n)
        self.share = np.zeros(len(self.unary))  # probability of each position to be the last
        self.endings = np.exp(np.where(self.plain_row.any(), chains.ending, 0.0))
        end_chains(
            chains.starts, chains.shortest, chains.longest, chains.ending, self.endings,
            self.plain_row, self.sums, self.offset, self.log_partition, self.share, self.empty,
        )  # fmt: skip

    def _backward(
        self, slot: np.ndarray, n_slots: int, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Marginals of symbols (N, q), and steps added up by slot (n_slots, q, q)."""
        from skstruct.spaces.sequence_sets.chains._numba_forward_backward import (
            backward_logs,
            backward_products,
        )

        chains, (N, q) = self.chains, self.unary.shape
        weight = np.ones(len(chains.longest)) if weight is None else np.asarray(weight, np.float64)
        marginals, counts = np.zeros((N, q)), np.zeros((n_slots, q, q))
        backward_products(
            self.factors, chains.starts, self.matrices, chains.which, chains.longest,
            self.endings, self.share, self.plain_row, self.sums, self.scale, weight, slot,
            marginals, counts,
        )  # fmt: skip
        if not self.plain_row.all():
            backward_logs(
                chains.starts, chains.transitions, chains.which, chains.longest, chains.ending,
                self.share, self.plain_row, self.sums, weight, slot, marginals, counts,
            )  # fmt: skip
        return marginals, counts

    def token_marginals(self) -> np.ndarray:
        """Probability of each symbol at each position; shape (N, q).

        Rows of positions that not every chain reaches add up to less than one.
        """
        return self._backward(self.chains.which, 0)[0]

    def pair_marginals(self) -> np.ndarray:
        """Probability of each (symbol before, symbol here) at each position; shape (N, q, q)."""
        return self._backward(np.arange(len(self.unary)), len(self.unary))[1]

    def transition_counts(self) -> np.ndarray:
        """Expected number of steps from each symbol to each in every row; shape (n, q, q)."""
        owned = np.diff(self.chains.starts)
        return self._backward(np.repeat(np.arange(len(owned)), owned), len(owned))[1]

    def gradient(self, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        r"""Gradient of :math:`\sum_i w_i \ln Z_i` with respect to all scores, in one pass.

        Parameters
        ----------
        weight : array of shape (n,), default=None
            Weights of the rows; one each when None.

        Returns
        -------
        unary : array of shape (N, q)
            The marginals of symbols, times the weight of their row.
        transitions : array as ``transitions``
            Expected numbers of steps, added up over all positions where a matrix is used.
        """
        chains = self.chains
        given: Any = chains.transitions
        unary, transitions = self._backward(chains.which, len(given), weight)
        if weight is not None:
            unary *= np.repeat(weight, np.diff(chains.starts))[:, None]
        return unary, transitions

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent chains of every row, padded with -1; shape (n_rows, n, T)."""
        from skstruct.spaces.sequence_sets.chains._numba_forward_backward import draw_chains

        chains = self.chains
        shape = len(chains.longest), n, int(chains.longest.max(initial=0))
        symbols = np.full(shape, -1, np.int64)
        draw_chains(
            chains.starts, chains.transitions, chains.which, chains.longest, chains.ending,
            self.share, self.empty, self._log_sums, rng.random((len(self.unary), n)), symbols,
        )  # fmt: skip
        return symbols

    @cached_property
    def _log_sums(self) -> np.ndarray:
        """Logarithms of ``sums``, whichever way they were made."""
        plain = np.repeat(self.plain_row, np.diff(self.chains.starts))
        sums = self.sums.copy()
        with np.errstate(divide="ignore"):
            sums[plain] = np.log(sums[plain])
        return sums


def _begun(chains: Chains) -> np.ndarray:
    """Scores of symbols at positions, those of the beginning among them."""
    if not chains.beginning.any():
        return chains.unary
    owned = np.diff(chains.starts) > 0
    unary, first = chains.unary.copy(), chains.starts[:-1][owned]
    unary[first] += np.broadcast_to(chains.beginning, (len(owned), unary.shape[1]))[owned]
    return unary


def _exponentials(scores: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """exp(scores) of each row divided by the largest, whose logarithm comes too.

    Last, whether a row has no finite score that falls below ``least``.
    """
    tops = scores.max(axis=1)
    tops[tops == -np.inf] = 0.0
    factors = scores - tops[:, None]
    np.exp(factors, out=factors)
    small = factors < least
    if not small.any():
        return factors, tops, np.ones(len(tops), bool)
    return factors, tops, ~(small & (scores > -np.inf)).any(axis=1)
