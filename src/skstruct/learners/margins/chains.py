# SPDX-License-Identifier: BSD-3-Clause
"""Sequences with a row of features per position: one score per symbol, one per transition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.learners.margins.problem import MarginProblem, Rivals
from skstruct.learners.token_problem import (
    WithPositions,
    check_lengths,
    check_token_loss,
    sums_of_sequences,
)
from skstruct.spaces.base import Decoded


@dataclass(frozen=True, eq=False)
class ChainScores:
    """Scores of the symbols at every position, sequence after sequence, and of transitions."""

    values: np.ndarray  # shape: (n_tokens, q)
    starts: np.ndarray  # shape: (n_sequences + 1,)
    transitions: np.ndarray  # shape: (q, q)


class ChainMargins(WithPositions, MarginProblem):
    r"""Chains: :math:`\sum_t \langle w_{z_t}, x_t \rangle + \sum_{t > 1} v_{z_{t-1} z_t}`.

    The weights of a symbol are the same at all positions, and so are those of transitions,
    which see no input.

    Parameters
    ----------
    space : fitted Sequences
    loss : Hamming or SequenceHamming
    outputs : array of shape (n, width)
    starts : array of shape (n + 1,)
        Where the tokens of each training sequence begin.
    """

    relaxed = False

    def __init__(self, space, loss, outputs, starts):
        self.loss = check_token_loss(loss, space)
        self.space = self.decoder = self.scored = space
        self.outputs, self.starts = outputs, starts
        self.lengths = check_lengths(outputs, starts)
        self.symbols = outputs[outputs >= 0]  # one after the other; shape (n_tokens,)
        self.n_seeing = q = len(space.symbols_)
        self.n_constants = q * q
        self.width = q * (1 + int(self.lengths.max(initial=0)))

    # ------------------------------------------------------------------ training
    def _tokens(self, examples):
        """Numbers of the tokens of some sequences, and where each sequence begins among them."""
        lengths = self.lengths[examples]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.starts[:-1][examples] - starts[:-1], lengths)
        return np.arange(starts[-1]) + shift, starts

    def _psi(self, symbols, starts):
        """Indicators of the symbols (R, q), and how often each transition occurs (B, q q)."""
        q = self.n_seeing
        seeing = np.zeros((len(symbols), q))
        seeing[np.arange(len(symbols)), symbols] = 1.0
        counts = np.zeros((len(starts) - 1, q * q))
        at = inner_positions(starts)
        sequence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[at]
        np.add.at(counts, (sequence, symbols[at - 1] * q + symbols[at]), 1.0)
        return seeing, counts

    def truth(self, examples):
        tokens, starts = self._tokens(examples)
        return self._psi(self.symbols[tokens], starts)

    def predicted(self, scores, constants, examples):
        _, starts = self._tokens(examples)
        transitions = constants.reshape(self.n_seeing, self.n_seeing)
        found = self.decode(ChainScores(scores, starts, transitions), examples)
        return self._psi(found.outputs[found.outputs >= 0], starts)

    def totals(self, values, examples):
        return sums_of_sequences(values, self._tokens(examples)[1])

    def rivals(self, scores, constants, examples, weight=1.0):
        tokens, starts = self._tokens(examples)
        true, q, bigrams = self.symbols[tokens], self.n_seeing, self.loss.bigrams
        lengths = np.diff(starts)
        weight = np.repeat(np.broadcast_to(weight, len(examples)), lengths)
        unary = -weight[:, None] * scores
        unary[np.arange(len(true)), true] += 1.0  # the truth alone is free of loss
        transitions = -constants.reshape(1, q, q)
        if bigrams or (len(weight) and np.ptp(weight) > 0):
            transitions = weight[:, None, None] * transitions
            at = inner_positions(starts)
            transitions[at, true[at - 1], true[at]] += bigrams
        elif len(weight):
            transitions = weight[0] * transitions
        found = self.space.rows(examples).argmin_chains(unary, starts, transitions)
        seeing, counts = self._psi(found.outputs[found.outputs >= 0], starts)
        losses = self.loss(found.outputs, self.outputs[examples])
        offset = lengths + bigrams * np.maximum(lengths - 1, 0)
        return Rivals(seeing, counts, losses, offset - found.bounds)

    # ------------------------------------------------------------------ predicting
    def smooth(self, smoother, X) -> ChainScores:
        q = self.n_seeing
        values = smoother.predict(X.tokens) if X.tokens.shape[0] else np.zeros((0, q))
        return ChainScores(values, X.starts, smoother.constants_.reshape(q, q))

    def decode(self, means, rows=slice(None)) -> Decoded:
        return self.space.rows(rows).argmin_chains(-means.values, means.starts, -means.transitions)

    def kbest(self, means, k, rows=slice(None)) -> Decoded:
        space = self.space.rows(rows)
        return space.kbest_chains(-means.values, means.starts, k, -means.transitions)

    def bytes_per_row(self) -> int:
        """Of a sequence as long as the longest of training."""
        longest = int(self.lengths.max(initial=1))
        return 8 * (6 * self.width + 3 * longest * self.n_features)


def inner_positions(starts) -> np.ndarray:
    """Positions that have one before them in their sequence."""
    inner = np.ones(starts[-1], bool)
    inner[starts[:-1][np.diff(starts) > 0]] = False
    return np.flatnonzero(inner)
