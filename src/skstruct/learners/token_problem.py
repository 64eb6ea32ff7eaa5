# SPDX-License-Identifier: BSD-3-Clause
"""A loss on sequences whose inputs have features for every position."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.checks import snap
from skstruct._arrays.memory import row_blocks
from skstruct.learners.problem import RiskProblem
from skstruct.learners.tokens import TokenBatch
from skstruct.losses import Tokens
from skstruct.saving import savable
from skstruct.spaces import Decoded, Solving
from skstruct.spaces.solvers.marginals import nearest_on_simplex
from skstruct.tolerances import SURE


@dataclass(frozen=True, eq=False)
class TokenMeans:
    """Conditional means of every position, sequence after sequence."""

    values: np.ndarray  # shape: (n_tokens, n_targets)
    starts: np.ndarray  # shape: (n_sequences + 1,)


@dataclass(frozen=True, eq=False)
class ChainScores:
    """Scores of the symbols at every position, sequence after sequence, and of transitions."""

    values: np.ndarray  # shape: (n_tokens, q)
    starts: np.ndarray  # shape: (n_sequences + 1,)
    transitions: np.ndarray  # shape: (1, q, q)


class WithPositions:
    """What problems share whose inputs have a row per position: they give the lengths.

    A child brings ``chain_costs(means, rows)``: costs of symbols (N, q), of transitions or None,
    and what is added to all sequences of a row alike (n,).
    """

    space: Any
    chain_costs: Callable[..., Any]

    def decode(self, means: Any, rows: Any = slice(None)) -> Decoded:
        unary, transitions, offset = self.chain_costs(means, rows)
        chains = Solving.of(self.space.rows(rows))
        found = chains.argmin_chains(unary, means.starts, transitions)
        return Decoded(found.outputs, found.values + offset, found.bounds + offset)

    def kbest(self, means: Any, k: int, rows: slice = slice(None)) -> Decoded:
        unary, transitions, offset = self.chain_costs(means, rows)
        chains = Solving.of(self.space.rows(rows))
        best = chains.kbest_chains(unary, means.starts, k, transitions)
        offset = offset[:, None]
        return Decoded(best.outputs, best.values + offset, best.bounds + offset)

    def risks_of(self, means: Any, outputs: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """What any sequences of the lengths of their inputs cost; shape (n,)."""
        unary, transitions, offset = self.chain_costs(means, rows)
        symbols, at = outputs[outputs >= 0], inner_positions(means.starts)
        each = unary[np.arange(len(symbols)), symbols]
        if transitions is not None:
            where = at if len(transitions) > 1 else 0
            each[at] += transitions[where, symbols[at - 1], symbols[at]]
        return sums_of_sequences(each, means.starts) + offset

    def check_truth(self, X: Any, outputs: np.ndarray) -> None:
        check_lengths(outputs, X.starts)

    def restricted(self, restrict: dict[str, Any] | None) -> Any:
        if restrict and "length" in restrict:
            raise ValueError(
                "The length of a sequence is that of its input, which has a row per position; "
                "restrict no length."
            )
        problem: Any = super()  # what this is mixed into
        return problem.restricted(restrict)


class WithChainScores(WithPositions):
    """The same where symbols and transitions are scored."""

    n_seeing: int  # symbols

    def smooth(self, smoother: Any, X: Any) -> ChainScores:
        q = self.n_seeing
        values = smoother.predict(X.tokens) if X.tokens.shape[0] else np.zeros((0, q))
        return ChainScores(values, X.starts, smoother.constants_.reshape(1, q, q))

    def scores_of(self, means: ChainScores, outputs: np.ndarray) -> np.ndarray:
        """What each sequence scores; shape (n,)."""
        symbols = outputs[outputs >= 0]
        each = means.values[np.arange(len(symbols)), symbols]
        at = inner_positions(means.starts)
        each[at] += means.transitions[0, symbols[at - 1], symbols[at]]
        return sums_of_sequences(each, means.starts)

    def chain_costs(
        self, means: ChainScores, rows: Any = slice(None)
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        costs = -means.values  # rounded, so that those that tie do so in every batch
        costs = snap(costs, np.abs(costs).max(axis=1, initial=0.0))
        return costs, -means.transitions, np.zeros(len(means.starts) - 1)


@savable
class TokenProblem(WithPositions, RiskProblem):
    r"""Symbols and bigrams are regressed position by position, and decided as chains.

    The estimated risk of a sequence of the length of its input is

    .. math:: \sum_t \bigl(1 - \hat P(z_t \mid x_t)\bigr)
              + w \sum_{t > 1} \bigl(1 - \hat P(z_{t-1} z_t \mid x_t)\bigr)

    with costs of symbols in the first sum, where the loss has them.

    Parameters
    ----------
    space : fitted Sequences
    loss : SequenceHamming, or Hamming
    outputs : array of shape (n, width)
        Outputs of training in canonical form.
    starts : array of shape (n + 1,)
        Where the tokens of each training sequence begin.
    pairs : bool
        Whether bigrams are regressed though the loss does not ask for them.
    known : bool array of shape (n, width), default=None
        Positions whose symbols are known; all when None. Symbols of others have no part.
    """

    by_weights = False
    joint = False
    rows_stand_alone = False  # a decision is of a sequence, and a row of one of its positions
    used: np.ndarray  # bigrams that training has

    def __init__(
        self,
        space: Any,
        loss: Any,
        outputs: np.ndarray,
        starts: np.ndarray,
        *,
        pairs: bool = False,
        known: np.ndarray | None = None,
    ) -> None:
        loss = check_token_loss(loss, space, outputs)
        self.space, self.loss, self.outputs, self.starts = space, loss, outputs, starts
        check_lengths(outputs, starts)
        self.q = len(space.symbols_)
        self.symbols = outputs[outputs >= 0]  # one after the other; shape (n_tokens,)
        self.pairs = np.zeros(len(self.symbols), np.int64)
        self.pairs[1:] = self.symbols[:-1] * self.q + self.symbols[1:]
        self.inner = inner_positions(starts)
        self.pairs_used = bool(loss.bigrams) or pairs
        self.known = known
        self.has_gaps = known is not None
        if known is not None:
            self.told = known[:, : outputs.shape[1]][outputs >= 0]  # shape (n_tokens,)
            self.told_pairs = self.told & np.append(False, self.told[:-1])
        kept = self.inner if known is None else self.inner[self.told_pairs[self.inner]]
        self.used = np.unique(self.pairs[kept if self.pairs_used else []])
        self.key = ("symbols and bigrams" if self.pairs_used else "symbols alone",)
        self.width = self.q + len(self.used)

    def targets(self) -> np.ndarray:
        """Indicators of symbol and bigram, and a one; shape (n_tokens, q + used + 1)."""
        T = np.zeros((len(self.symbols), self.width + 1))
        T[np.arange(len(T)), self.symbols] = 1.0
        if len(self.used):
            at = self.inner if self.known is None else self.inner[self.told_pairs[self.inner]]
            T[at, self.q + np.searchsorted(self.used, self.pairs[at])] = 1.0
        if self.known is not None:
            T[~self.told, : self.q] = np.nan
            open_pairs = self.inner[~self.told_pairs[self.inner]]
            T[open_pairs, self.q : -1] = np.nan
        T[:, -1] = 1.0
        return T

    search_targets = targets

    def n_targets(self, *, compared: bool) -> Any:
        return self.width + 1

    def groups_of_rows(self, groups: Any) -> np.ndarray | None:
        """Tokens of a sequence are left out together."""
        sequence = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return sequence if groups is None else np.asarray(groups)[sequence]

    def smooth(self, smoother: Any, X: Any) -> TokenMeans:
        if X.tokens.shape[0] == 0:  # empty sequences only
            return TokenMeans(np.zeros((0, self.width + 1)), X.starts)
        means = np.asarray(smoother.predict(X.tokens), dtype=np.float64)
        return TokenMeans(means.reshape(X.tokens.shape[0], -1), X.starts)

    def chain_costs(
        self, means: TokenMeans, rows: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Costs of symbols (N, q), of bigrams (N, q, q) or None, and the rest of the risk (n,)."""
        q, values, weight = self.q, means.values, self.loss.bigrams
        total = values[:, -1]
        scale = np.maximum(np.abs(total), np.abs(values[:, :-1]).max(axis=1, initial=0.0))
        costs, common = Tokens.of(self.loss).costs(values[:, :q], total)
        unary = snap(costs, scale * Tokens.of(self.loss).largest_cost())
        risk = common.copy()
        at = inner_positions(means.starts)
        risk[at] += weight * total[at]
        offset = sums_of_sequences(risk, means.starts)
        if not len(self.used) or not weight:
            return unary, None, offset
        transitions = np.zeros((len(total), q * q))
        transitions[:, self.used] = snap(-weight * values[:, q:-1], scale)
        return unary, transitions.reshape(-1, q, q), offset

    def marginals(
        self,
        means: TokenMeans,
        rows: Any,
        parts: str | None,
        within: Any = None,
        raw: bool = False,
        recalibrate: Any = None,
    ) -> list[np.ndarray]:
        """Probabilities of the symbols at every position; a list of arrays (T, q)."""
        values = means.values[:, : self.q]
        if not raw:
            values = nearest_on_simplex(values)
            if recalibrate is not None:
                values = nearest_on_simplex(recalibrate(values))
            narrowed = self.space if within is None else within.space
            if narrowed.constraints is not None:
                scores = np.log(np.maximum(values, SURE))
                chains = Solving.of(narrowed.rows(rows))
                values = chains.distribution_of_chains(scores, means.starts).token_marginals()
        return np.split(values, means.starts[1:-1])

    def recalibrates(self) -> bool:
        return self.space.constraints is None

    def left_out(self, left: np.ndarray, rows: np.ndarray | None) -> TokenMeans | None:
        return TokenMeans(left, self.starts) if rows is None else None

    def true_marginals(
        self, outputs: np.ndarray, means: TokenMeans, parts: str | None
    ) -> list[np.ndarray]:
        symbols = outputs[outputs >= 0]
        return np.split(np.eye(self.q)[symbols], means.starts[1:-1])

    def known_marginals(
        self, outputs: np.ndarray, means: TokenMeans, parts: str | None, rows: Any
    ) -> list[np.ndarray]:
        symbols = np.eye(self.q)[outputs[outputs >= 0]]
        if self.known is not None:
            here = self.known[rows][:, : outputs.shape[1]]
            symbols[~here[outputs >= 0]] = np.nan
        return np.split(symbols, means.starts[1:-1])

    def realized_losses(
        self, means: np.ndarray, memory: str | int, numbers: Any = None
    ) -> np.ndarray:
        sequences = self._sequences_of(numbers)
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[sequences])])
        losses = np.empty(len(sequences))
        for rows in row_blocks(len(losses), self.bytes_per_row(), memory):
            here, cuts = sequences[rows], starts[rows.start : rows.stop + 1]
            block = TokenMeans(means[cuts[0] : cuts[-1]], cuts - cuts[0])
            losses[rows] = self.judged_losses(self.decide(block, here), self.outputs[here], here)
        return losses

    def fill(self, means: Any) -> np.ndarray | None:
        """Parts say nothing of each other, beyond what the inputs do."""
        return None

    def _sequences_of(self, numbers: Any) -> np.ndarray:
        """The sequences that tokens by number, in order, are all of; every one for None."""
        if numbers is None:
            return np.arange(len(self.outputs))
        return np.unique(np.searchsorted(self.starts, numbers, side="right") - 1)

    def output_weights(self, sample_weight: Any, numbers: Any = None) -> Any:
        """Those of tokens, which are the same for all of a sequence; zero for empty ones."""
        told = None if self.known is None else (self.known & (self.outputs >= 0)).any(axis=1)
        if sample_weight is None:
            return None if told is None else told.astype(float)[self._sequences_of(numbers)]
        weights, full = np.zeros(len(self.outputs)), np.diff(self.starts) > 0
        weights[full] = np.asarray(sample_weight)[self.starts[:-1][full]]
        weights = weights if told is None else weights * told
        return weights[self._sequences_of(numbers)]

    def bytes_per_row(self) -> Any:
        """Of a sequence twice as long as the mean of training."""
        tokens = 2 * len(self.symbols) // max(1, len(self.outputs)) + 1
        table = self.q**2 if len(self.used) else self.q
        return 8 * tokens * (2 * self.width + 3 * table)


def check_token_loss(loss: Any, space: Any, outputs: np.ndarray) -> Any:
    """The loss bound to the space and the outputs of training, if it counts positions."""
    if not Tokens.of(loss).add_up:
        raise ValueError(
            f"With features for every position the loss is 'hamming' or SequenceHamming; "
            f"{type(loss).__name__} needs one input per sequence."
        )
    loss.embedding_on(space)  # checks its parameters
    return loss.observe(space, outputs).bind(space)


def check_lengths(outputs: np.ndarray, starts: np.ndarray) -> Any:
    """Number of symbols of every output, if there are as many positions; shape (n,)."""
    lengths = (outputs >= 0).sum(axis=1)
    wrong = np.flatnonzero(lengths != np.diff(starts))
    if len(wrong):
        i = int(wrong[0])
        raise ValueError(
            f"X[{i}] has {np.diff(starts)[i]} positions and y[{i}] {lengths[i]} symbols."
        )
    return lengths


def check_positions(X: Any, space: Any, outputs: np.ndarray) -> None:
    """Raise where inputs with a row per position have another number of them than outputs."""
    if isinstance(X, TokenBatch) and Solving.of(space).decodes_chains:
        check_lengths(outputs, X.starts)


def check_predicted_lengths(learner: Any, predicted: np.ndarray, truth: np.ndarray) -> None:
    """The same for true outputs, by predictions: these are as long as their inputs."""
    if getattr(learner, "tokens_", None) is not None:
        lengths = (predicted >= 0).sum(axis=1)
        check_lengths(truth, np.concatenate([[0], np.cumsum(lengths)]))


def sums_of_sequences(values: np.ndarray, starts: np.ndarray) -> Any:
    """Sums over the tokens of each sequence; shape (n,)."""
    running = np.concatenate([[0.0], np.cumsum(values)])
    return running[starts[1:]] - running[starts[:-1]]


def inner_positions(starts: np.ndarray) -> np.ndarray:
    """Positions that have one before them in their sequence."""
    inner = np.ones(starts[-1], bool)
    inner[starts[:-1][np.diff(starts) > 0]] = False
    return np.flatnonzero(inner)
