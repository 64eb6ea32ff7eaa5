# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of symbols, embedded by which symbol is at which position."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

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
from skstruct.spaces.uniform import Uniform


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


Solving.at(Sequences, "skstruct.spaces.sequences.solving:SolvingOfSequences")
Coordinates.at(Sequences, "skstruct.spaces.sequences.coordinates:CoordinatesOfSequences")
Known.at(Sequences, "skstruct.spaces.sequences.known:KnownOfSequences")
Marginals.at(Sequences, "skstruct.spaces.sequences.marginals:MarginalsOfSequences")
Uniform.at(Sequences, "skstruct.spaces.sequences.uniform:UniformOfSequences")
Embeddings.at(Sequences, "skstruct.spaces.sequences.coordinates:EmbeddingsOfSequences")
Inference.at(Sequences, OwnInference)
