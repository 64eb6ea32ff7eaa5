# SPDX-License-Identifier: BSD-3-Clause
"""Problems of margins where parts of outputs are missing: losses, completions, means.

See :mod:`~skstruct.learners.max_margin.latent` for what is made of these.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.learners.exponential_family.distribution import exact_means
from skstruct.learners.token_problem import inner_positions, sums_of_sequences
from skstruct.losses import Tokens
from skstruct.spaces import Coordinates, Embeddings, Inference, Solving


class RowGaps:
    """Losses and completions of outputs with one row of features each."""

    least: Any = None  # losses that cannot be avoided, (n,), where parts of outputs are missing
    told: Any = None  # of tokens: one where the symbol is known, else zero
    outputs: np.ndarray
    scored: Any
    decoder: Any
    view: Any
    loss: Any
    psi: Any
    loss_psi: Any
    loss_costs: Callable[..., Any]
    truth: Callable[..., Any]
    totals: Callable[..., Any]

    def losses_of(self, outputs: np.ndarray, examples: np.ndarray) -> Any:
        """Losses against the truth of some examples; expected ones where parts are missing."""
        if self.least is None:
            return self.loss(outputs, self.outputs[examples])
        costs, offset = self.loss_costs(examples)
        psi = dense(self.view.embed(outputs), np.float64)
        return np.maximum((psi * costs).sum(axis=1) + offset, 0.0)

    def with_gaps(self, allowed: Any, partial: Any) -> Any:
        """The same problem with losses that are expected over what each row may be.

        See :mod:`~skstruct.learners.max_margin.latent`.
        """
        gaps = np.flatnonzero(~partial.complete)
        other = copy.copy(self)
        other.loss_psi = dense(self.loss_psi, np.float64).copy()
        other.loss_psi[gaps] = expected_targets(self, allowed, gaps)
        costs, offset = other.loss_costs(gaps)
        space = within(allowed.rows(gaps), self.decoder.embedding)
        found = space.argmin(Coordinates.of(self.decoder).lift(costs, self.view.embedding))
        other.least = np.zeros(len(self.outputs))
        other.least[gaps] = found.values + offset
        return other

    def soft_means(self) -> Any:
        """What first completions are regressed on; a row for each row of inputs."""
        return self.loss_psi

    def first_completions(self, allowed: Any, means: np.ndarray, examples: np.ndarray) -> Any:
        """Outputs of least expected loss among the allowed, given means of the loss's psi."""
        costs = self.loss.cost(means, np.ones((len(means), 1)))
        costs = np.ascontiguousarray(costs)
        costs = Coordinates.of(self.decoder).lift(costs, self.view.embedding)
        return within(allowed, self.decoder.embedding).argmin(costs).outputs

    def best_allowed(
        self, allowed: Any, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray
    ) -> Any:
        """Outputs of the largest score among the allowed."""
        return within(allowed, self.scored.embedding).argmin(-scores).outputs

    def completed(self, outputs: np.ndarray) -> Any:
        """The same problem with other completions; losses stay as they are."""
        other = copy.copy(self)
        other.outputs, other.psi = outputs, self.scored.embed(outputs)
        return other

    def own_scores(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Any:
        """Scores of the true outputs; shape (B,)."""
        seeing, fixed = self.truth(examples)
        return self.totals((scores * seeing).sum(axis=1), examples) + fixed @ constants


class ChainGaps(RowGaps):
    """The same of chains with a row of features per position: known symbols count."""

    symbols: np.ndarray
    starts: np.ndarray
    n_seeing: int
    of: Callable[..., Any]
    _tokens: Callable[..., Any]

    def _token_costs(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of symbols (R, q), and what all have in common (R,): none where none is known."""
        total = np.ones(len(tokens)) if self.told is None else self.told[tokens]
        truth = np.zeros((len(tokens), self.n_seeing))
        truth[np.arange(len(tokens)), self.symbols[tokens]] = total
        return Tokens.of(self.loss).costs(truth, total)

    def _both_told(self, tokens: np.ndarray, at: np.ndarray) -> Any:
        """One where the symbols at positions and at those before them are known."""
        return 1.0 if self.told is None else self.told[tokens[at - 1]] * self.told[tokens[at]]

    def _n_steps(self, tokens: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Steps of each sequence of which both symbols are known."""
        if self.told is None:
            return np.asarray(np.maximum(np.diff(starts) - 1, 0))
        each, at = np.zeros(len(tokens)), inner_positions(starts)
        each[at] = self._both_told(tokens, at)
        return sums_of_sequences(each, starts)

    def losses_of(self, outputs: np.ndarray, examples: np.ndarray) -> Any:
        """Losses against the symbols that are known."""
        if self.told is None:
            return self.loss(outputs, self.outputs[examples])
        tokens, starts = self._tokens(examples)
        found, true = outputs[outputs >= 0], self.symbols[tokens]
        costs, common = self._token_costs(tokens)
        each, at = costs[np.arange(len(found)), found] + common, inner_positions(starts)
        wrong = (found[at - 1] != true[at - 1]) | (found[at] != true[at])
        each[at] += self.loss.bigrams * self._both_told(tokens, at) * wrong
        return sums_of_sequences(each, starts)

    def with_gaps(self, allowed: Any, partial: Any) -> Any:
        other = copy.copy(self)
        other.told = partial.known[partial.outputs >= 0].astype(np.float64)
        return other

    def soft_means(self) -> Any:
        means = np.full((len(self.symbols), self.n_seeing), 1.0 / self.n_seeing)
        known = self.told > 0
        means[known] = np.eye(self.n_seeing)[self.symbols[known]]
        return means

    def first_completions(self, allowed: Any, means: np.ndarray, examples: np.ndarray) -> Any:
        costs, _ = Tokens.of(self.loss).costs(means, np.ones(len(means)))
        return Solving.of(allowed).argmin_chains(costs, self._tokens(examples)[1]).outputs

    def best_allowed(
        self, allowed: Any, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray
    ) -> Any:
        transitions = -constants.reshape(1, self.n_seeing, self.n_seeing)
        starts = self._tokens(examples)[1]
        return Solving.of(allowed).argmin_chains(-scores, starts, transitions).outputs

    def completed(self, outputs: np.ndarray) -> Any:
        return self.of(outputs, self.starts)


def expected_targets(problem: Any, allowed: Any, gaps: np.ndarray) -> np.ndarray:
    """Means over all allowed outputs of what a loss is linear in, for open rows; shape (m, d)."""
    view, space = problem.view, problem.space
    if problem.by_rank or any(Coordinates.of(part).is_list for part in (view, space)):
        raise ValueError(
            f"{type(problem.loss).__name__} is a loss of outputs as a whole; where parts of them "
            "are missing, give one that adds up over parts, such as 'hamming'."
        )
    allowed = allowed.rows(gaps)
    scores = np.zeros((len(gaps), allowed.embed(problem.outputs[:1]).shape[1]))
    uniform = Inference.of(allowed).distribution(scores)
    if uniform is None:
        raise ValueError(
            f"{type(allowed).__name__} has no exact sums over the outputs that agree with what is "
            "known: leave out rows of which parts are missing, or give them to "
            "ConditionalRiskMinimizer."
        )
    if view.embedding == allowed.embedding:
        return np.asarray(uniform.marginals())
    means = exact_means(uniform, allowed, within(allowed, view.embedding), scores)
    if means is None:
        raise ValueError(f"{type(problem.loss).__name__} has no means over missing parts.")
    return np.asarray(dense(means))


def within(allowed: Any, embedding: str) -> Any:
    """A space under another embedding, unless that is its own."""
    return allowed if allowed.embedding == embedding else Embeddings.of(allowed).view(embedding)
