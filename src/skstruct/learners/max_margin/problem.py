# SPDX-License-Identifier: BSD-3-Clause
"""A loss on a space as a max-margin learner sees it: most violating outputs for training,
decisions from scores; also for sequences with a row of features per position.
"""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.learners.max_margin.dual import Vertices
from skstruct.learners.max_margin.gaps import ChainGaps, RowGaps
from skstruct.learners.problem import RiskProblem, best_constant
from skstruct.learners.token_problem import (
    ChainScores,
    WithChainScores,
    check_lengths,
    check_token_loss,
    inner_positions,
    sums_of_sequences,
)
from skstruct.losses import Deciding, Observed, pair
from skstruct.saving import savable
from skstruct.spaces import Coordinates, KBest, Solving, Targets


@dataclass(frozen=True)
class MostViolating:
    """For B examples, what maximizes ``weight * score + loss`` over the space."""

    seeing: np.ndarray  # psi of the coordinates that see inputs, shape: (R, q)
    constants: np.ndarray  # psi of those that do not, shape: (B, r)
    losses: np.ndarray  # shape: (B,)
    bounds: np.ndarray  # shape: (B,); no output has a larger weight * score + loss


@savable
class MarginProblem(RowGaps, RiskProblem):
    r"""Outputs are scored by :math:`\langle s, \psi(z) \rangle`, in training plus their loss.

    The coordinates are those of the space's own embedding. A loss that is bilinear in another
    one is carried over where one embedding is linear in the other (``lift``); else the
    coordinates of the loss are scored.

    Parameters
    ----------
    space : fitted space
    loss : loss
    outputs : array
        Outputs of training in canonical form.
    relaxed : bool
        Whether training decodes the linear relaxation of the space, which has one exact
        answer where the space itself may have none: an upper bound of the hinge.
    """

    smooths_means = False
    n_constants = 0
    n_features = 0  # numbers that a row is turned into before it is scored

    def __init__(
        self, space: Any, loss: Any, outputs: np.ndarray, *, relaxed: bool = False
    ) -> None:
        if Deciding.of(loss).needs_weights(space):
            name = type(loss).__name__
            raise ValueError(
                f"{name} is not linear in an embedding of the outputs, which loss-augmented "
                f"decoding needs: give loss=Listed({name}()), or ConditionalRiskMinimizer."
            )
        self.outputs = outputs
        view, self.loss = pair(loss, space, outputs)
        self.view = view  # the loss is linear in its coordinates
        self.scored, self.decoder, self.space = _roles(space, view, outputs)
        if self.scored is not space and space.embedding in ("indicators and edges", "states"):
            name = type(loss).__name__
            raise ValueError(
                f"{name} does not go together with scores of pairs of labels: give a loss that "
                f"adds up over labels, such as 'hamming', or Listed({name}()) to StructuredSVM."
            )
        self.relaxed = relaxed and self.decoder is space
        # With loss 0 or 1 the most violating one is the second best output: no list is needed.
        ranked = isinstance(space, KBest) and self.decoder is not self.scored
        self.by_rank = Deciding.of(loss).prefers_most_probable and ranked
        if self.by_rank:
            self.space = space
        self._embed(outputs)
        self.n_seeing = self.width = self.psi.shape[1]

    def of(self, outputs: np.ndarray, starts: np.ndarray) -> Any:
        """The same problem with other examples, whose rows begin at ``starts`` (n + 1,)."""
        other = copy.copy(self)
        other.outputs = outputs
        other._embed(outputs)
        return other

    def _embed(self, outputs: np.ndarray) -> None:
        """psi of the truth, which is scored, and what the loss sees of it."""
        seen = Observed.of(self.loss).space_of(self.view)
        told = Targets.of(seen)
        self.psi, self.loss_psi = self.scored.embed(told.outputs_of(outputs)), told.targets(outputs)

    @property
    def n_rows_of(self) -> Any:
        """Number of rows of each example; one number, or shape (n,)."""
        return 1

    # ------------------------------------------------------------------ training
    def truth(self, examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """psi of the true outputs: of coordinates that see inputs, and of those that do not."""
        return dense(self.psi[examples], np.float64), np.zeros((len(examples), 0))

    def most_violating(
        self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray, weight: Any = 1.0
    ) -> MostViolating:
        """The strongest outputs of some examples.

        Parameters
        ----------
        scores : array of shape (R, q)
        constants : array of shape (r,)
        weight : float or array of shape (B,)
            What scores count relative to losses.
        """
        weight = np.broadcast_to(weight, len(examples))[:, None]
        truth = self.outputs[examples]
        if self.by_rank:
            return self._second_best(scores, truth, examples, weight)
        loss_costs, offset = self.loss_costs(examples)
        coordinates = Coordinates.of(self.decoder)
        loss_costs = coordinates.lift(loss_costs, self.view.embedding)
        costs = coordinates.lift(-weight * scores, self.scored.embedding) - loss_costs
        decoder = self.decoder.rows(examples)
        if self.relaxed:
            found = Solving.of(decoder).argmin_relaxed(costs)
            psi, losses = found.outputs, (found.outputs * loss_costs).sum(axis=1) + offset
        else:
            found = decoder.argmin(costs)
            psi, losses = (
                dense(self.scored.embed(found.outputs), np.float64),
                self.losses_of(found.outputs, examples),
            )
        return MostViolating(psi, np.zeros((len(psi), 0)), losses, offset - found.bounds)

    def loss_costs(self, examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Losses of some examples as costs of the coordinates of ``view``, and constants."""
        psi = dense(self.loss_psi[examples], np.float64)
        ones = np.ones((len(psi), 1))
        costs, offset = self.loss.cost(psi, ones), self.loss.offset(psi, ones)
        return costs, offset if self.least is None else offset - self.least[examples]

    def _second_best(
        self, scores: np.ndarray, truth: np.ndarray, examples: np.ndarray, weight: np.ndarray
    ) -> MostViolating:
        """With loss 0 or 1 the most violating one is the best output that is not the truth."""
        best = self.scored.rows(examples).kbest(-weight * scores, 2)
        rank = (self.loss(best.outputs[:, 0], truth) == 0).astype(np.int64)
        rank = np.minimum(rank, best.values.shape[1] - 1)
        at = np.arange(len(rank)), rank
        outputs, values = best.outputs[at], -best.values[at]
        own = (weight * scores * dense(self.psi[examples], np.float64)).sum(axis=1)
        losses = self.loss(outputs, truth)
        stays = ~np.isfinite(values) | (own >= values + losses)  # the truth wins as it is
        outputs = np.where(stays[:, None], truth, outputs)
        losses = np.where(stays, 0.0, losses)
        psi = dense(self.scored.embed(outputs), np.float64)
        return MostViolating(
            psi, np.zeros((len(psi), 0)), losses, np.where(stays, own, values + losses)
        )

    def vertices(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Vertices:
        """Margin rescaling: the oracle of the dual."""
        found = self.most_violating(scores, constants, examples)
        seeing, fixed = self.truth(examples)
        own = self.totals((scores * seeing).sum(axis=1), examples) + fixed @ constants
        bounds = np.maximum(found.bounds - own, 0.0)  # the truth itself is always a vertex
        return Vertices(found.seeing - seeing, found.constants - fixed, found.losses, bounds)

    def outputs_of(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Any:
        """Outputs of the largest score, for some of the examples."""
        return self.decode(scores, examples).outputs

    def predicted(
        self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """psi of the outputs of the largest score, in the two parts of ``truth``."""
        outputs = self.outputs_of(scores, constants, examples)
        return dense(self.scored.embed(outputs), np.float64), np.zeros((len(examples), 0))

    def constant_risk(self, sample_weight: Any = None) -> float | None:
        """As of other problems; None also where outputs were completed."""
        if self.least is not None:
            return None
        weight = np.ones(len(self.outputs)) if sample_weight is None else sample_weight
        return best_constant(self.view, self.loss, self.outputs, weight)

    def totals(self, values: np.ndarray, examples: np.ndarray) -> np.ndarray:
        """Sums over the rows of each example; here every example is one row."""
        return values

    # ------------------------------------------------------------------ predicting
    def smooth(self, smoother: Any, X: Any) -> Any:
        """Scores of the coordinates at the rows of X."""
        return smoother.predict(X)

    def costs(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Minus the scores, as costs of the coordinates of the space that decides."""
        costs = Coordinates.of(self.space).lift(-means, self.scored.embedding)
        return self._snapped(costs), np.zeros(len(means))

    def bytes_per_row(self) -> Any:
        return 8 * (6 * self.width + 3 * self.n_features)

    def trained(self) -> Any:
        """The same problem without what only training needs."""
        slim = copy.copy(self)
        slim.psi = slim.loss_psi = slim.least = slim.told = None
        return slim


def _roles(space: Any, view: Any, outputs: np.ndarray) -> tuple[Any, Any, Any]:
    """The space whose coordinates are scored, the one of training and the one that decides."""
    if view.embedding == space.embedding:
        return view, view, view
    if _carries(space, view, outputs):
        return space, space, space
    if _carries(view, space, outputs):
        return space, view, (view if Coordinates.of(view).is_list else space)
    return view, view, view


def _carries(space: Any, other: Any, outputs: np.ndarray) -> bool:
    """Whether ``space`` can write costs of the coordinates of ``other`` in its own."""
    try:
        nothing = np.zeros((1, other.embed(outputs[:1]).shape[1]))
        Coordinates.of(space).lift(nothing, other.embedding)
    except ValueError:
        return False
    return True


@savable
class ChainMargins(WithChainScores, ChainGaps, MarginProblem):
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

    def constant_risk(self, sample_weight: Any = None) -> None:
        """Sequences of any length have no answer in common."""

    def __init__(self, space: Any, loss: Any, outputs: np.ndarray, starts: np.ndarray) -> None:
        self.loss = check_token_loss(loss, space, outputs)
        self.space = self.decoder = self.scored = space
        self.n_seeing = q = len(space.symbols_)
        self.n_constants = q * q
        self._take(outputs, starts)
        self.width = q * (1 + int(self.lengths.max(initial=0)))

    def _take(self, outputs: np.ndarray, starts: np.ndarray) -> None:
        self.outputs, self.starts = outputs, starts
        self.lengths = check_lengths(outputs, starts)
        self.symbols = outputs[outputs >= 0]  # one after the other; shape (n_tokens,)

    def of(self, outputs: np.ndarray, starts: np.ndarray) -> Any:
        other = copy.copy(self)
        other._take(outputs, starts)
        return other

    @property
    def n_rows_of(self) -> Any:
        return self.lengths

    # ------------------------------------------------------------------ training
    def _tokens(self, examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the tokens of some sequences, and where each sequence begins among them."""
        lengths = self.lengths[examples]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.starts[:-1][examples] - starts[:-1], lengths)
        return np.arange(starts[-1]) + shift, starts

    def _psi(self, symbols: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indicators of the symbols (R, q), and how often each transition occurs (B, q q)."""
        q = self.n_seeing
        seeing = np.zeros((len(symbols), q))
        seeing[np.arange(len(symbols)), symbols] = 1.0
        counts = np.zeros((len(starts) - 1, q * q))
        at = inner_positions(starts)
        sequence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[at]
        np.add.at(counts, (sequence, symbols[at - 1] * q + symbols[at]), 1.0)
        return seeing, counts

    def truth(self, examples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tokens, starts = self._tokens(examples)
        return self._psi(self.symbols[tokens], starts)

    def predicted(
        self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        outputs = self.outputs_of(scores, constants, examples)
        return self._psi(outputs[outputs >= 0], self._tokens(examples)[1])

    def outputs_of(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Any:
        _, starts = self._tokens(examples)
        transitions = constants.reshape(1, self.n_seeing, self.n_seeing)
        return self.decode(ChainScores(scores, starts, transitions), examples).outputs

    def totals(self, values: np.ndarray, examples: np.ndarray) -> Any:
        return sums_of_sequences(values, self._tokens(examples)[1])

    def most_violating(
        self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray, weight: Any = 1.0
    ) -> MostViolating:
        tokens, starts = self._tokens(examples)
        true, q, bigrams = self.symbols[tokens], self.n_seeing, self.loss.bigrams
        lengths = np.diff(starts)
        weight = np.repeat(np.broadcast_to(weight, len(examples)), lengths)
        unary = -weight[:, None] * scores
        costs, common = self._token_costs(tokens)
        unary -= costs
        transitions = -constants.reshape(1, q, q)
        if bigrams or (len(weight) and np.ptp(weight) > 0):
            transitions = weight[:, None, None] * transitions
            at = inner_positions(starts)
            transitions[at, true[at - 1], true[at]] += bigrams * self._both_told(tokens, at)
        elif len(weight):
            transitions = weight[0] * transitions
        chains = Solving.of(self.space.rows(examples))
        found = chains.argmin_chains(unary, starts, transitions)
        seeing, counts = self._psi(found.outputs[found.outputs >= 0], starts)
        losses = self.losses_of(found.outputs, examples)
        offset = sums_of_sequences(common, starts) + bigrams * self._n_steps(tokens, starts)
        return MostViolating(seeing, counts, losses, offset - found.bounds)

    # ------------------------------------------------------------------ predicting
    def bytes_per_row(self) -> Any:
        """Of a sequence as long as the longest of training."""
        longest = int(self.lengths.max(initial=1))
        return 8 * (6 * self.width + 3 * longest * self.n_features)
