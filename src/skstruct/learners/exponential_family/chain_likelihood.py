# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of sequences with a row of features per position: a linear-chain conditional
random field.

.. math:: f(x, y) = \sum_t \langle w_{y_t}, x_t \rangle + \sum_{t > 1} v_{y_{t-1} y_t}, \qquad
          J(\theta) = \alpha \|\theta\|^2 + \sum_i w_i \bigl(\ln Z(x_i) - f(x_i, y_i)\bigr)

Weights are the same at all positions; transitions see no input. Objective and gradient come from
one pass over blocks of tokens: scores, then marginals less the truth in their place, then what the
features make of these. No array is larger than the weights, or than a block of scores.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.learners.exponential_family.token_likelihood import ChainBlock
from skstruct.learners.token_problem import inner_positions
from skstruct.spaces import Solving
from skstruct.tolerances import CHAIN_GRADIENT_ACCURACY

BLOCK_TOKENS = 2048  # so that scores of some dozens of symbols stay in the cache


class DenseTokens:
    """Products of blocks of tokens with weights, of float or narrower numbers.

    Parameters
    ----------
    tokens : array of shape (n_tokens, p)
    """

    def __init__(self, tokens: Any) -> None:
        self.tokens = tokens

    def add_scores(self, rows: slice, weights: np.ndarray, scores: np.ndarray) -> None:
        """scores += X W of a block."""
        scores += self.tokens[rows] @ weights

    def pull_back(self, rows: slice, residuals: np.ndarray, gradient: np.ndarray) -> None:
        """gradient += X' R of a block."""
        gradient += self.tokens[rows].T @ residuals


class SparseTokens:
    """The same for CSR, by compiled passes; tokens are not transposed.

    Parameters
    ----------
    tokens : CSR of shape (n_tokens, p)
    """

    def __init__(self, tokens: Any) -> None:
        self.bounds = np.asarray(tokens.indptr, np.int64)
        self.columns, self.values = tokens.indices, np.asarray(tokens.data, np.float64)

    def _entries(self, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.bounds[rows.start : rows.stop + 1], self.columns, self.values

    def add_scores(self, rows: slice, weights: np.ndarray, scores: np.ndarray) -> None:
        from skstruct.learners.exponential_family._numba_likelihood import token_scores

        token_scores(*self._entries(rows), weights, scores)

    def pull_back(self, rows: slice, residuals: np.ndarray, gradient: np.ndarray) -> None:
        from skstruct.learners.exponential_family._numba_likelihood import pull_back

        pull_back(*self._entries(rows), residuals, gradient)


def token_products(tokens: Any) -> Any:
    """Products of tokens, dense or sparse."""
    return (
        SparseTokens(sparse.csr_array(tokens)) if sparse.issparse(tokens) else DenseTokens(tokens)
    )


def penalty(theta: np.ndarray, alpha: float, p: int, constant: bool) -> tuple[float, np.ndarray]:
    """alpha times the sum of squares, and its gradient, but for the last of p features if constant.

    ``theta`` has weights of the features (p, q), then of transitions (q, q).
    """
    gradient = 2.0 * alpha * theta
    value = alpha * float(theta @ theta)
    if constant:
        q = round((np.sqrt(p * p + 4.0 * len(theta)) - p) / 2.0)  # q (p + q) weights
        free = slice((p - 1) * q, p * q)
        value -= alpha * float(theta[free] @ theta[free])
        gradient[free] = 0.0
    return value, gradient


class ChainModel:
    """Objective and gradient of a linear-chain conditional random field.

    Parameters
    ----------
    space : fitted Sequences
    tokens : array or CSR of shape (n_tokens, p)
    starts : int array of shape (n + 1,)
    outputs : int array of shape (n, T), padded with -1
    weight : array of shape (n,), shares of the sequences; those of none are passed over
    alpha : float
    constant : bool
        Whether tokens have one more feature, a one that is free of the penalty.
    """

    accuracy = CHAIN_GRADIENT_ACCURACY

    def __init__(
        self,
        space: Any,
        tokens: Any,
        starts: np.ndarray,
        outputs: np.ndarray,
        weight: np.ndarray,
        alpha: float,
        constant: bool = False,
    ) -> None:
        self.space, self.starts, self.weight, self.constant = space, starts, weight, constant
        self.products = token_products(tokens)
        self.q, self.p = len(space.symbols_), tokens.shape[1] + constant
        self.symbols = outputs[outputs >= 0]
        at = inner_positions(starts)
        self.steps = np.zeros((self.q, self.q))  # of the truth
        of_token = np.repeat(weight, np.diff(starts))
        np.add.at(self.steps, (self.symbols[at - 1], self.symbols[at]), of_token[at])
        self.blocks = _blocks(starts, weight)
        self.penalise(alpha)

    def penalise(self, alpha: float) -> None:
        """The same sequences with another penalty."""
        self.alpha = float(alpha)

    @property
    def size(self) -> int:
        return int(self.q * (self.p + self.q))

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the features (p, q) and of transitions (q, q)."""
        cut = self.p * self.q
        return theta[:cut].reshape(self.p, self.q), theta[cut:].reshape(self.q, self.q)

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient, by sums over all chains."""
        value, gradient = penalty(theta, self.alpha, self.p, self.constant)
        W, transitions = self.parts(theta)
        of_W, of_transitions = self.parts(gradient)
        value -= float(np.vdot(self.steps, transitions))
        of_transitions -= self.steps
        block = ChainBlock(transitions)
        for rows in self.blocks:
            value += self._add_block(block, rows, transitions, W, of_W, of_transitions)
        return value, gradient

    def _add_block(
        self,
        block: ChainBlock,
        rows: slice,
        transitions: np.ndarray,
        W: np.ndarray,
        of_W: np.ndarray,
        steps: np.ndarray,
    ) -> float:
        """The share of some sequences in the objective; gradients grow by theirs."""
        first, last = int(self.starts[rows.start]), int(self.starts[rows.stop])
        tokens, symbols = slice(first, last), self.symbols[first:last]
        starts, weight = self.starts[rows.start : rows.stop + 1] - first, self.weight[rows]
        scores = self._scores(tokens, W)
        true = scores[np.arange(last - first), symbols]
        value = -float(np.repeat(weight, np.diff(starts)) @ true)
        given = self._given(rows, scores, transitions)
        if block.plain and self.space.constraints is None:
            log_sums, left = block.residuals(scores, starts, symbols, weight, steps)
        else:
            log_sums, left = np.zeros(len(weight)), np.ones(len(weight), bool)
        if left.any():  # by logarithms, and within constraints
            taken, lengths = np.repeat(left, np.diff(starts)), np.diff(starts)[left]
            upto = np.concatenate([[0], np.cumsum(lengths)])
            space = self.space.rows(np.flatnonzero(left) + rows.start)
            other = self._scores(tokens, W)[taken]
            found = Solving.of(space).distribution_of_chains(other, upto, transitions[None])
            log_sums[left] = found.log_partition
            marginals, counts = found.gradient(weight[left])
            marginals[np.arange(upto[-1]), symbols[taken]] -= np.repeat(weight[left], lengths)
            scores[taken] = marginals
            steps += counts[0]
        if given is not None:
            more, at, residuals, of_steps = given
            value -= more
            scores[at] += residuals
            steps += of_steps
        if self.constant:
            of_W[-1] += scores.sum(axis=0)
            of_W = of_W[:-1]
        self.products.pull_back(tokens, scores, of_W)
        return value + float(weight @ log_sums)

    def _given(
        self, rows: slice, scores: np.ndarray, transitions: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray] | None:
        """What changes where symbols of some sequences are missing; nothing here."""
        return None

    def _scores(self, tokens: slice, W: np.ndarray) -> np.ndarray:
        scores = np.zeros((tokens.stop - tokens.start, self.q))
        if self.constant:
            scores += W[-1]
            W = W[:-1]
        self.products.add_scores(tokens, W, scores)
        return scores


def _blocks(starts: np.ndarray, weight: np.ndarray) -> list[slice]:
    """Runs of sequences of about BLOCK_TOKENS tokens; those at both ends without weight are off."""
    cuts = np.searchsorted(starts, np.arange(0, starts[-1], BLOCK_TOKENS))
    cuts = np.unique(np.append(cuts, len(weight)))
    return [slice(int(a), int(b)) for a, b in pairwise(cuts) if weight[a:b].any()]
