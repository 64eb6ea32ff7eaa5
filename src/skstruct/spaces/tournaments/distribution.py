# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over tournaments: uniform, or with a distribution of its own for every pair."""

import math
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import CountedSpace
from skstruct.spaces.common.counting import LIMIT, check_few
from skstruct.spaces.common.covariances import Covariance, Scalar
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.inference import StateForestDistribution
from skstruct.spaces.solvers.pairwise.proposals import StateProposals
from skstruct.spaces.solvers.proposals import Proposals

NO_EDGES = np.empty((0, 2), np.int64)


class SignDistribution(Distribution):
    r"""Distributions of independent signs: those of states of pairs that nothing joins.

    .. math:: Z = \prod_{uv} \sum_{s \text{ allowed}} e^{u_{uv}(s)}

    Parameters
    ----------
    scores : array of shape (n, d, S)
        Of every pair and sign.
    signs : int array of shape (S,)
    allowed : bool array of shape (1 or n, d, S)
    signed : bool
        Whether marginals are mean signs, (n, d), or probabilities of signs, (n, d S).

    Examples
    --------
    >>> distribution = SignDistribution(np.log([[[1.0, 2.0, 1.0]]]), np.array([0, 1, -1]),
    ...     np.ones((1, 1, 3), bool))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals().round(12)
    (array([4.]), array([[0.25]]))
    """

    def __init__(
        self, scores: np.ndarray, signs: np.ndarray, allowed: np.ndarray, signed: bool = True
    ) -> None:
        self.signs, self.signed, self.shape = signs, signed, scores.shape
        n, _, k = scores.shape
        unary = np.where(allowed, scores, -np.inf)
        self.states = StateForestDistribution(unary, np.empty((n, 0, k, k)), NO_EDGES)
        self.log_partition = self.states.log_partition

    def marginals(self) -> np.ndarray:
        probabilities = self.states.marginals()
        return probabilities.reshape(self.shape) @ self.signs if self.signed else probabilities

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.signs[self.states.sample(n, rng)].astype(np.int8)


class SignProposals(StateProposals):
    """Pick a pair that has a choice, and one of its signs.

    Parameters
    ----------
    allowed : bool array of shape (d, S)
    signs : int array of shape (S,)
    signed : bool
        Whether scores are of signed pairs, (r, d), or of pairs and signs, (r, d S).
    """

    def __init__(self, allowed: np.ndarray, signs: np.ndarray, signed: bool = True) -> None:
        super().__init__(allowed, NO_EDGES)
        self.signs, self.signed = signs, signed

    def start(self, outputs: Any) -> np.ndarray:
        return super().start((np.asarray(outputs)[:, :, None] == self.signs).argmax(axis=2))

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return self.signs[states].astype(np.int8)

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        if self.signed:
            scores = (scores[:, :, None] * self.signs).reshape(len(scores), -1)
        return super().walk(states, scores, row, beta, n_steps, streams)


def sign_distribution(
    space: Any, scores: np.ndarray, allowed: np.ndarray, signed: bool = True
) -> SignDistribution:
    """The distribution of tournaments within constraints; scores (n, d, S)."""
    possible = np.all(np.any(allowed, axis=2), axis=1)
    check_feasible(np.broadcast_to(possible, len(scores)), space)
    return SignDistribution(scores, np.array(space.states_), allowed, signed)


def sign_proposals(space: Any, signed: bool = True) -> SignProposals | None:
    """Moves of tournaments, unless their constraints differ from row to row."""
    if space.constraints_.n_rows is not None:
        return None
    return SignProposals(space.constraints_.allowed[0], np.array(space.states_), signed)


class UniformTournaments(CountedSpace):
    """Pairs that have one of their possible signs each, independently.

    A child brings ``labels_`` (pairs), ``states_``, ``_signs`` and ``constraints_``.
    """

    partial: bool
    labels_: Any
    states_: Any
    constraints_: Any
    _signs: Any

    def _allowed(self) -> Any:
        """The signs that pairs may have, where that is the same in all rows."""
        return self._one_row().allowed[0]

    def _possible(self) -> np.ndarray:
        """The same, unless no output is left; bool of shape (d, number of states)."""
        allowed: np.ndarray = self._allowed()
        if not allowed.any(axis=1).all():
            raise InfeasibleError("Tournaments: no output meets the constraints.")
        return allowed

    def size(self) -> int:
        """Exact number of outputs."""
        if self.constraints is None:
            return int(len(self.states_) ** len(self.labels_))
        return math.prod(self._allowed().sum(axis=1).tolist())

    def mean_embedding(self) -> np.ndarray:
        """Mean of the signs over all outputs; shape (d,)."""
        allowed = self._possible()
        return allowed @ self._signs / allowed.sum(axis=1)

    def covariance(self) -> Covariance:
        """Covariance of the signs under the uniform distribution: 2/3 I, or I without open
        pairs.
        """
        if self.constraints is not None:
            return super().covariance()
        return Scalar(2 / 3 if self.partial else 1.0, len(self.labels_))

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        if self.constraints is None:
            return self.covariance().dense()
        allowed, mean = self._possible(), self.mean_embedding()
        moment = np.outer(mean, mean)
        np.fill_diagonal(moment, allowed @ self._signs**2 / allowed.sum(axis=1))
        return moment

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        allowed = self._possible()
        signs = self._signs[np.argsort(~allowed, axis=1, kind="stable")]  # possible ones first
        draws = np.random.default_rng(rng).integers(allowed.sum(axis=1), size=(n, len(allowed)))
        return signs[np.arange(len(allowed)), draws].astype(np.int8)

    def distribution(self, scores: Any) -> Distribution | None:
        r"""The distributions :math:`p(z) \propto \exp \langle u, z \rangle`: pairs are independent.

        Scores of shape (n, d), within constraints that may differ from row to row.
        """
        scores = self._checked_scores(scores, len(self.labels_))
        return sign_distribution(self, scores[:, :, None] * self._signs, self.constraints_.allowed)

    def proposals(self) -> Proposals | None:
        """Chains that change one pair; None where rows are restricted differently."""
        return sign_proposals(self)

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        check_few(self.size(), limit, self, "tournaments")
        rows = np.zeros((1, 0), np.int8)
        for allowed in self._allowed():
            signs = self._signs[allowed].astype(np.int8)
            rows = np.hstack(
                [np.repeat(rows, len(signs), axis=0), np.tile(signs, len(rows))[:, None]]
            )
        return rows
