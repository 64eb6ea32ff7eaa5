# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of symbols, embedded by which symbol is at which position."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import check_square_fits
from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference, OwnInference
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sequence_sets.base import EMBEDDINGS, SequenceSet
from skstruct.spaces.sequence_sets.chains.counting import ChainCounts
from skstruct.spaces.sequence_sets.chains.viterbi import best_chains, k_best_chains
from skstruct.spaces.sequence_sets.constraints import SequenceConstraints
from skstruct.spaces.sequence_sets.distribution import (
    SequenceDistribution,
    distribution_of_costs,
    sequence_proposals,
)
from skstruct.spaces.sequence_sets.formats import sequence_lengths
from skstruct.spaces.sequences.chains import chains_of
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.solving import Solving

# Moments of sequence embeddings under the uniform distribution.
#
# Sequences drawn uniformly within constraints are a Markov chain that may stop: with m_t(a) the
# probability of symbol a at position t, and K_t(a, b) that of b next, the probability of a at s and
# b at t > s is m_s(a) (K_s ... K_{t-1})(a, b), and likewise for bigrams at both ends. All terms are
# probabilities, so that nothing cancels.


def mean_of_chains(counts: ChainCounts, width: int, bigrams: bool) -> np.ndarray:
    """Probability of each symbol at each of ``width`` positions, and of each bigram; shape (d,)."""
    probability, steps = _probabilities(counts, width)
    if not bigrams:
        return probability.ravel()
    return np.concatenate([probability.ravel(), (probability[:-1, :, None] * steps).ravel()])


def _probabilities(counts: ChainCounts, width: int) -> tuple[np.ndarray, np.ndarray]:
    """m (width, q) and K (width - 1, q, q); positions that no sequence reaches have none."""
    q = counts.n_symbols
    probability, steps = np.zeros((width, q)), np.zeros((width - 1, q, q))
    if counts.length:
        probability[0], steps[: counts.length - 1] = counts.as_markov_chain()
    for t in range(width - 1):
        probability[t + 1] = probability[t] @ steps[t]
    return probability, steps


def second_moment_of_chains(counts: ChainCounts, width: int, bigrams: bool) -> np.ndarray:
    """Probability of each two coordinates of the embedding together; shape (d, d)."""
    probability, steps = _probabilities(counts, width)
    q, mean = counts.n_symbols, mean_of_chains(counts, width, bigrams)
    check_square_fits(len(mean), "The second moment", "Shorter sequences or no bigrams take less.")
    moment = np.diag(mean)  # what is not below is of two symbols at one position, hence zero
    pairs = width * q  # where bigrams begin

    def put(one: int, other: int, joint: np.ndarray) -> None:
        """Probabilities of coordinates ``one``, ``one`` + 1, ... with ``other``, ``other`` + 1,
        ...
        """
        joint = joint.reshape(-1, joint.shape[-1])
        rows, columns = slice(one, one + len(joint)), slice(other, other + joint.shape[1])
        moment[rows, columns], moment[columns, rows] = joint, joint.T

    both = np.zeros((0, q, q))  # symbols at s and at t, for all s <= t
    three = np.zeros((0, q, q, q))  # symbols at s - 1, s and t, for all 0 < s <= t
    for t in range(width):
        both = np.concatenate([both, np.diag(probability[t])[None]])
        put(0, t * q, both)
        if bigrams and t:
            here = probability[t - 1][:, None] * steps[t - 1]
            three = np.concatenate([three, (here[:, :, None] * np.eye(q))[None]])
            put(pairs, t * q, three)
        if t + 1 == width:
            break
        if bigrams:
            put(0, pairs + t * q * q, (both[..., None] * steps[t]).reshape(t + 1, q, q * q))
            four = three[..., None] * steps[t]
            put(pairs, pairs + t * q * q, four.reshape(t, q, q, q * q))
            three = three @ steps[t]
        both = both @ steps[t]
    return moment


@savable
class Sequences(SequenceSet):
    r"""Sequences over an alphabet, of one length or of several.

    Outputs are strings, or lists, tuples or arrays of symbols, and come back as such. Any
    cost of symbols at positions, and of symbols next to each other, is minimized exactly.
    Where lengths are open, the length is chosen too.

    Canonical outputs are int64 arrays (n, T): symbol numbers, padded at the end with -1; T
    is the longest length.

    Parameters
    ----------
    alphabet : sequence of hashables, default=None
        The symbols; a string is a list of characters. The sorted distinct symbols of ``Y``
        when None.
    length : int or pair (shortest, longest), default=None
        How long predicted sequences are. A bound of None is what is seen in ``fit``.
    embedding : "positions" or "bigrams", default="positions"
        :math:`\psi(z)`, for q symbols: an indicator 1[z_t = a] at t q + a for every position
        and symbol, and with bigrams an indicator 1[z_t = a, z_{t+1} = b] at
        T q + (t q + a) q + b besides. A loss asks for the one it needs.
    constraints : SequenceConstraints, default=None
        What ``restrict`` sets.

    Examples
    --------
    >>> space = Sequences().fit(["add", "bad", "dad"])
    >>> space.symbols_, space.length_, space.size()
    (('a', 'b', 'd'), 3, 27)
    >>> costs = np.array([[0.0, 0.2, 0.1, 0.3, 0.0, 0.0, 0.5, 0.5, 0.0]])
    >>> space.restore(space.argmin(costs).outputs)
    array(['abd'], dtype=object)
    >>> sure = space.restrict(known={0: "b"}, forbidden=[("b", "b")])
    >>> sure.restore(sure.argmin(costs).outputs), sure.size()
    (array(['bdd'], dtype=object), 6)
    """

    def __init__(
        self,
        alphabet: Iterable[Any] | None = None,
        length: int | tuple[int | None, int | None] | None = None,
        embedding: str = "positions",
        *,
        constraints: SequenceConstraints | None = None,
    ) -> None:
        self.alphabet = alphabet
        self.length = length
        self.embedding = embedding
        self.constraints = constraints

    # ------------------------------------------------------------- embedding
    @property
    def _has_bigrams(self) -> bool:
        if self.embedding not in EMBEDDINGS:
            raise ValueError(
                f"Sequences: embedding is 'positions' or 'bigrams'; got {self.embedding!r}."
            )
        return self.embedding == "bigrams"

    def _width(self) -> int:
        """Number of coordinates, d."""
        q, T = len(self.symbols_), self.length_
        return T * q + (T - 1) * q * q if self._has_bigrams else T * q

    def embed(self, Z: np.ndarray) -> Any:
        """Indicators of symbols at positions, and of bigrams; CSR of shape (n, d)."""
        Z, T, q = np.asarray(Z), self.length_, len(self.symbols_)
        long = np.flatnonzero(sequence_lengths(Z) > T)
        if len(long):
            raise ValueError(
                f"Sequences of up to {T} symbols have an embedding; row {long[0]} has "
                f"{sequence_lengths(Z[long[:1]])[0]}. Give length=(shortest, longest)."
            )
        row, t = np.nonzero(Z >= 0)
        column = t * q + Z[row, t]
        if self._has_bigrams:
            first, s = np.nonzero(Z[:, 1:] >= 0)
            pair = T * q + (s * q + Z[first, s]) * q + Z[first, s + 1]
            row, column = np.concatenate([row, first]), np.concatenate([column, pair])
        shape = len(Z), self._width()
        return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)

    # ------------------------------------------------------------- decoding
    def _chains(self, costs: np.ndarray) -> dict[str, Any]:
        """Costs of the embedding's coordinates as costs of chains, constraints included."""
        costs = self._checked_costs(costs, self._width())
        form = self.length_, len(self.symbols_), self._has_bigrams
        return chains_of(costs, *form, self.constraints_)

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the sequence of least cost; of equal ones the shortest."""
        symbols, values = best_chains(**self._chains(costs))
        outputs = symbols.reshape(len(values), self.length_)
        return decoded_or_infeasible(outputs, values, values, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost sequences of every row: outputs (n, k, T), values (n, k)."""
        k = check_k(k, "Sequences")
        symbols, values = k_best_chains(**self._chains(costs), k=k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        outputs = symbols.reshape(len(values), self.length_, -1).swapaxes(1, 2)
        return Decoded(outputs, values, values)

    # ------------------------------------------------------------- distributions
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of symbols and lengths by sums over all chains; scores of shape (n, d)."""
        scores = self._checked_scores(scores, self._width())
        distribution = distribution_of_costs(self._chains(-scores))
        check_feasible(distribution.log_partition > -np.inf, self)
        return SequenceDistribution(
            distribution, self.length_, self._has_bigrams and self.length_ > 1
        )

    def proposals(self) -> Proposals | None:
        """Chains that change a symbol or the last position; None with forbidden transitions."""
        return sequence_proposals(self.constraints_, self.length_, self._has_bigrams)

    # ------------------------------------------------------------- moments
    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all sequences; shape (d,)."""
        return mean_of_chains(self._some(), self.length_, self._has_bigrams)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all sequences; shape (d, d)."""
        return second_moment_of_chains(self._some(), self.length_, self._has_bigrams)


Solving.at(Sequences, "skstruct.spaces.sequences.solving:SolvingOfSequences")
Coordinates.at(Sequences, "skstruct.spaces.sequences.coordinates:CoordinatesOfSequences")
Known.at(Sequences, "skstruct.spaces.sequences.known:KnownOfSequences")
Marginals.at(Sequences, "skstruct.spaces.sequences.marginals:MarginalsOfSequences")
Embeddings.at(Sequences, "skstruct.spaces.sequences.coordinates:EmbeddingsOfSequences")
Inference.at(Sequences, OwnInference)
