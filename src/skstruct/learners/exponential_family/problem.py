# SPDX-License-Identifier: BSD-3-Clause
"""Decisions from the scores of an exponential family: most probable, or of least risk; also
those of a linear-chain conditional random field.
"""

import copy
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.exceptions import UndecidableError
from skstruct.learners.problem import RiskProblem
from skstruct.learners.token_problem import (
    WithChainScores,
    check_token_loss,
    sums_of_sequences,
)
from skstruct.losses import Deciding, Levels, Observed, Tokens, pair
from skstruct.sampling import LogPartition
from skstruct.saving import savable
from skstruct.spaces import Known, Marginals, Solving, Targets

MOST_LISTED = 2000  # outputs of which losses are written down, each against each


@savable
class ExponentialProblem(RiskProblem):
    """Scores of psi to decisions; under a loss by the means of psi, which are the marginals.

    Parameters
    ----------
    space : fitted space
        What is scored.
    loss : loss
        What predictions are judged by.
    outputs : array
        Outputs of training in canonical form.
    distributions : ModelDistributions
    """

    by_weights = joint = smooths_means = False
    used = None
    n_features = 0  # numbers that a row is turned into before it is scored

    def __init__(self, space: Any, loss: Any, outputs: np.ndarray, distributions: Any) -> None:
        self.scored = self.space = space
        outputs = Targets.of(Observed.of(loss).space_of(space)).outputs_of(outputs)
        self.outputs, self.distributions, self.asked = outputs, distributions, loss
        self.width = Targets.of(space).targets(outputs[:1]).shape[1]
        _, self.loss = pair(loss, space, outputs)
        self.by_loss = False

    def judged_by(self, loss: Any, decide: bool = True) -> "ExponentialProblem":
        """The same scores under another loss, which decides too if it is not zero-one."""
        judged = copy.copy(self)
        judged.asked = loss
        # A distribution of best decisions does not know costs: the most probable one is taken.
        most_probable = Deciding.of(loss).prefers_most_probable
        judged.by_loss = decide and not most_probable and Observed.of(loss).what == "outputs"
        if not judged.by_loss:
            judged.space, judged.loss = self.scored, pair(loss, self.scored, self.outputs)[1]
            return judged
        judged.space, judged.loss = pair(loss, self.scored, self._known(loss), seen=self.outputs)
        if Deciding.of(judged.loss).needs_weights(judged.space):
            raise ValueError(
                f"{type(loss).__name__} has no finite embedding: ExponentialFamily predicts the "
                "most probable output (loss=None), or under losses with one."
            )
        judged._measure(Targets.of(judged.space).targets(self.outputs))
        return judged

    def _known(self, loss: Any) -> np.ndarray:
        """Outputs that a loss must know: all, where it is a table of losses."""
        space = self.scored
        if loss.embedding_on(space) != "outputs" or space.embedding == "outputs":
            return self.outputs
        try:
            listed = space.enumerate(MOST_LISTED)
        except (AttributeError, UndecidableError):
            raise ValueError(
                f"{type(loss).__name__} is a table over all outputs, of which there are more than "
                f"{MOST_LISTED:,}: give a loss with an embedding, such as 'hamming'."
            ) from None
        return np.concatenate([self.outputs, listed])

    def restricted(self, restrict: dict[str, Any] | None) -> Any:
        """The distribution given that the output lies within constraints, and decisions within
        them.
        """
        if not restrict:
            return self
        narrowed = copy.copy(self)
        whole = copy.copy(self)
        whole.space = self.scored
        narrowed.scored = narrowed.space = RiskProblem.restricted(whole, restrict).space
        return narrowed.judged_by(self.asked) if self.by_loss else narrowed

    # ------------------------------------------------------------------ predicting
    def smooth(self, smoother: Any, X: Any) -> Any:
        return np.ascontiguousarray(smoother.predict(X))

    def means(self, scores: np.ndarray, rows: slice = slice(None)) -> Any:
        """Means of the embedding that decisions are made in; shape (n, d)."""
        return self.distributions.means(self.scored.rows(rows), scores, self.space.rows(rows))

    def mean_embedding(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return means, np.ones((len(means), 1))

    def row_costs(self, means: np.ndarray, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        if not self.by_loss:  # what came are scores
            return self._snapped(-means), np.zeros(len(means))
        return self.costs(self.means(means, rows))

    def bytes_per_row(self) -> Any:
        drawn = 0 if self.distributions.solver == "exact" else self.distributions.n_draws
        return 8 * (8 * self.width + 3 * self.n_features + drawn)

    # ------------------------------------------------------------------ probabilities
    def means_of(
        self, scores: np.ndarray, rows: slice = slice(None), parts: str | None = None
    ) -> Any:
        """Means of psi, or those that probabilities of such parts are told by."""
        space = self.scored.rows(rows)
        view = space if parts is None else Marginals.of(space).view(parts)
        other = view.embedding != space.embedding
        return self.distributions.means(space, scores, view if other else None)

    def log_partition(self, scores: np.ndarray, rows: slice = slice(None)) -> Any:
        return self.distributions.log_partition(self.scored.rows(rows), scores)

    def values(
        self, scores: np.ndarray, outputs: np.ndarray, rows: slice = slice(None)
    ) -> np.ndarray:
        """Scores of outputs, minus infinity where they are none of the space; shape (n,)."""
        space = self.scored.rows(rows)
        inside = space.contains(outputs)
        several = ~inside & ~Known.of(space).are_complete(outputs)
        if several.any():
            at = np.flatnonzero(several)[0]
            raise ValueError(
                f"y[{at + (rows.start or 0)}] has ties or leaves items out: log_proba takes total "
                "orders."
            )
        psi = space.embed(outputs)
        psi = dense(psi)
        return np.where(inside, np.einsum("nd,nd->n", scores, psi), -np.inf)

    def draws(
        self, scores: np.ndarray, n: int, rng: np.random.Generator, rows: slice = slice(None)
    ) -> Any:
        return self.distributions.draws(self.scored.rows(rows), scores, n, rng)


@savable
class ChainExponentialProblem(WithChainScores, RiskProblem):
    """Scores of symbols and transitions to sequences as long as their inputs.

    Parameters
    ----------
    space : fitted Sequences
    loss : Hamming, SequenceHamming or ZeroOne
    outputs : array of shape (n, T)
        Outputs of training in canonical form.
    distributions : ModelDistributions
        How draws begin; sums are always exact.
    """

    by_weights = joint = by_loss = False
    n_features = 0

    def __init__(self, space: Any, loss: Any, outputs: np.ndarray, distributions: Any) -> None:
        if not Solving.of(space).decodes_chains:
            raise ValueError(
                "X has features for every position of a sequence: the space is Sequences; got "
                f"{type(space).__name__}."
            )
        self.space, self.outputs, self.distributions = space, outputs, distributions
        plain = Levels.of(loss).all_or_nothing
        self.loss = loss if plain else check_token_loss(loss, space, outputs)
        self.n_seeing = len(space.symbols_)
        self.longest = max(1, int((outputs >= 0).sum(axis=1).max(initial=1)))

    def judged_by(self, loss: Any, decide: bool = True) -> "ChainExponentialProblem":
        """The same scores under another loss, which decides too if it is not zero-one."""
        judged = copy.copy(self)
        judged.by_loss = decide and not Levels.of(loss).all_or_nothing
        judged.loss = check_token_loss(loss, self.space, self.outputs) if judged.by_loss else loss
        return judged

    def bytes_per_row(self) -> int:
        q = self.n_seeing
        return 8 * self.longest * (8 * q + q * q * self.by_loss + 3 * self.n_features)

    def _distribution(self, scores: Any, rows: slice) -> Any:
        chains = Solving.of(self.space.rows(rows))
        return chains.distribution_of_chains(scores.values, scores.starts, scores.transitions)

    # ------------------------------------------------------------------ decisions
    def chain_costs(
        self, means: Any, rows: Any = slice(None)
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        if not self.by_loss:
            return super().chain_costs(means, rows)
        distribution, weight = self._distribution(means, rows), self.loss.bigrams
        marginals = distribution.token_marginals()
        unary, common = Tokens.of(self.loss).costs(marginals, np.ones(len(marginals)))
        pairs = weight * np.maximum(np.diff(means.starts) - 1, 0)
        offset = sums_of_sequences(common, means.starts) + pairs
        return unary, -weight * distribution.pair_marginals() if weight else None, offset

    # ------------------------------------------------------------------ probabilities
    def means_of(
        self, scores: Any, rows: slice = slice(None), parts: str | None = None
    ) -> list[np.ndarray]:
        """Probability of each symbol at each position, one array (T, q) for every sequence."""
        probabilities = self._distribution(scores, rows).token_marginals()
        return np.split(probabilities, scores.starts[1:-1])

    def log_partition(self, scores: Any, rows: slice = slice(None)) -> LogPartition:
        return LogPartition.exact(self._distribution(scores, rows).log_partition)

    def values(self, scores: Any, outputs: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """Scores of sequences; minus infinity where they are not within constraints."""
        free = self.space.rows(rows)
        allowed = free.contains(outputs) if self.space.constraints is not None else True
        return np.where(allowed, self.scores_of(scores, outputs), -np.inf)

    def draws(
        self, scores: Any, n: int, rng: np.random.Generator, rows: slice = slice(None)
    ) -> Any:
        return self._distribution(scores, rows).sample(n, rng)
