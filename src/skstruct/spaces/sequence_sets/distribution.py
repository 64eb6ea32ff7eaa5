# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over sequences within constraints, and proposals of Markov chains among them."""

from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.sequence_sets.chains.forward_backward import ChainDistribution
from skstruct.spaces.sequence_sets.constraints import SequenceConstraints
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals, n_columns_changed


class SequenceDistribution(Distribution):
    """The distribution of chains with marginals in the order of an embedding.

    Parameters
    ----------
    chains : ChainDistribution
        Every row owns ``width`` positions; with bigrams, step t of row i has the matrix
        i (width - 1) + t.
    width : int
        Positions of a row, T.
    bigrams : bool
        Whether steps have coordinates of their own, after those of the positions.
    """

    def __init__(self, chains: ChainDistribution, width: int, bigrams: bool) -> None:
        self.chains, self.width, self.bigrams = chains, width, bigrams
        self.log_partition = chains.log_partition

    def marginals(self) -> np.ndarray:
        n, q = len(self.log_partition), self.chains.unary.shape[1]
        if not self.bigrams:
            return self.chains.token_marginals().reshape(n, self.width * q)
        nodes, steps = self.chains.gradient()
        per_row = max(self.width - 1, 0) * q * q
        return np.hstack([nodes.reshape(n, self.width * q), steps.reshape(n, per_row)])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return _widened(self.chains.sample(n, rng), self.width)


class GramDistribution(Distribution):
    """The distribution of chains with the expected numbers of symbols or of bigrams as marginals.

    Parameters
    ----------
    chains : ChainDistribution
        Every row owns ``width`` positions.
    width : int
        Positions of a row, T.
    n : 1 or 2
        Whether single symbols are counted, or pairs that follow each other.
    """

    def __init__(self, chains: ChainDistribution, width: int, n: int) -> None:
        self.chains, self.width, self.n = chains, width, n
        self.log_partition = chains.log_partition

    def marginals(self) -> np.ndarray:
        rows, q = len(self.log_partition), self.chains.unary.shape[1]
        if self.n == 2:
            return self.chains.transition_counts().reshape(rows, q * q)
        marginals: np.ndarray = (
            self.chains.token_marginals().reshape(rows, self.width, q).sum(axis=1)
        )
        return marginals

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return _widened(self.chains.sample(n, rng), self.width)


def _widened(drawn: np.ndarray, width: int) -> np.ndarray:
    missing = width - drawn.shape[2]
    return np.pad(drawn, ((0, 0), (0, 0), (0, missing)), constant_values=-1)


class SequenceProposals(Proposals):
    r"""Change a symbol of a sequence, or its last position where lengths are open.

    A position that is not known and one of all q symbols are proposed, the symbol that
    stands there among them, so that no chain can be periodic. Where lengths are open, every
    other proposal is one of the lengths next to this one, a longer sequence with any last
    symbol. As there are q ways to it and one back, it is accepted with probability
    :math:`\min(1, q \exp(\beta \Delta))`, and the way back with
    :math:`\min(1, \exp(\beta \Delta) / q)`.

    Parameters
    ----------
    n_symbols : int
    known : int array of shape (T,)
        The symbols that are known, -1 at other positions.
    lengths : (int, int)
        The shortest and the longest length; all known positions are below the shortest.
    bigrams : bool
        Whether scores are those of positions and bigrams, or of positions only.
    """

    def __init__(
        self, n_symbols: int, known: np.ndarray, lengths: tuple[int, int], bigrams: bool
    ) -> None:
        self.n_symbols, self.width = n_symbols, len(known)
        self.shortest, self.longest = lengths
        self.free = np.flatnonzero(np.asarray(known)[: self.longest] < 0)
        self.bigrams = bigrams
        kinds = 2 if self.longest > self.shortest else 1
        self.sweep = max(kinds * len(self.free) * n_symbols, 1)

    def start(self, outputs: Any) -> np.ndarray:
        outputs = np.asarray(outputs, dtype=np.int64)[:, : self.width]
        missing = self.width - outputs.shape[1]
        padded = np.pad(outputs, ((0, 0), (0, missing)), constant_values=-1)
        return np.array(padded, order="C")

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return states.copy()

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.sequence_sets._numba import walk_sequences

        return walk_sequences(
            states, scores, row, beta, n_steps, streams, self.n_symbols, self.free,
            self.shortest, self.longest, self.bigrams,
        )  # fmt: skip

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray | None:
        if self.longest > self.shortest:  # the ways to and fro differ in number: not told
            return None
        each = 1.0 / max(len(self.free) * self.n_symbols, 1)
        return np.where(n_columns_changed(outputs) == 1, each, 0.0)


COSTS = ("unary", "transitions", "beginning", "ending")


def distribution_of_costs(chains: dict[Any, Any]) -> ChainDistribution:
    """The distribution of chains whose scores are minus these costs, which forbid by infinity."""
    negated = {name: -chains[name] for name in COSTS if chains.get(name) is not None}
    return ChainDistribution(**{**chains, **negated})


def distribution_of_grams(
    scores: np.ndarray, n: int, constraints: SequenceConstraints, width: int
) -> GramDistribution:
    """The distribution of strings with scores (rows, q**n) of n-grams, n being 1 or 2."""
    rows, q = len(scores), constraints.n_symbols
    starts, row = width * np.arange(rows + 1), np.repeat(np.arange(rows), width)
    unary = -scores[row] if n == 1 else np.zeros((rows * width, q))
    steps = -scores.reshape(rows, q, q) if n == 2 else np.zeros((rows, q, q))
    costs = {
        "unary": constraints.fix_known(unary, starts, np.full(rows, width)),
        "starts": starts,
        "transitions": constraints.forbid_transitions(steps, np.arange(rows))[0],
        "which": row,
        "shortest": constraints.least_lengths(),
        "longest": constraints.longest,
        **constraints.ends(),
    }
    return GramDistribution(distribution_of_costs(costs), width, n)


def sequence_proposals(
    constraints: SequenceConstraints, width: int, bigrams: bool
) -> SequenceProposals | None:
    """Moves that reach every sequence within constraints; None where that cannot be promised.

    Between sequences that avoid forbidden transitions there may be no way of changing one
    symbol at a time.
    """
    if constraints.n_rows is not None or constraints.forbidden.any():
        return None
    known = np.full(width, -1)
    given = constraints.known[0, :width]
    known[: len(given)] = given
    lengths = int(constraints.least_lengths()[0]), int(constraints.longest[0])
    if lengths[0] > lengths[1]:
        raise InfeasibleError("Sequences: no sequence meets the constraints.", 0)
    return SequenceProposals(constraints.n_symbols, known, lengths, bigrams)
