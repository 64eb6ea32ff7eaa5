# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of symbols, embedded by which symbol is at which position."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.solvers.chains.counting import ChainCounts
from skstruct.solvers.chains.forward_backward import ChainDistribution
from skstruct.solvers.chains.viterbi import best_chains, k_best_chains
from skstruct.solvers.distributions import Distribution
from skstruct.solvers.proposals import Proposals
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sequence_sets.base import EMBEDDINGS, ListedSequences, SequenceSet
from skstruct.spaces.sequence_sets.constraints import SequenceConstraints
from skstruct.spaces.sequence_sets.distribution import (
    SequenceDistribution,
    distribution_of_costs,
    sequence_proposals,
)
from skstruct.spaces.sequence_sets.formats import sequence_lengths


def unstacked(symbols: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Rows of symbols as wide as the longest, padded with -1."""
    outputs = np.full((len(lengths), int(lengths.max(initial=0))), -1, np.int64)
    outputs[np.arange(outputs.shape[1]) < lengths[:, None]] = symbols
    return outputs


def check_stacked(
    unary: Any, starts: Any, transitions: np.ndarray | None, q: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Costs in stacked form as arrays, or an error that names what is wrong."""
    unary = np.asarray(unary, dtype=np.float64)
    starts = np.asarray(starts)
    if unary.ndim != 2 or unary.shape[1] != q:
        raise ValueError(f"Sequences expects unary costs of shape (N, {q}); got {unary.shape}.")
    N = len(unary)
    good = starts.ndim == 1 and len(starts) > 0 and starts.dtype.kind in "iu"
    if not good or starts[0] != 0 or starts[-1] != N or (np.diff(starts) < 0).any():
        raise ValueError(f"Sequences: starts rise from 0 to the {N} rows of unary; got {starts}.")
    _check_entries(unary, "unary")
    if transitions is not None:
        transitions = np.asarray(transitions, dtype=np.float64)
        transitions = transitions[None] if transitions.ndim == 2 else transitions
        if transitions.shape not in ((1, q, q), (N, q, q)):
            raise ValueError(
                f"Sequences expects transitions of shape (1, {q}, {q}) or ({N}, {q}, {q}); got "
                f"{transitions.shape}."
            )
        _check_entries(transitions, "transitions")
    return unary, starts.astype(np.int64), transitions


def _check_entries(costs: np.ndarray, name: str) -> None:
    """Finite, or infinite where forbidden; no NaN, no infinite reward."""
    low = costs.min(initial=0.0)  # NaN where one is NaN
    if not np.isfinite(low):
        at = np.argwhere(np.isnan(costs) | (costs == -np.inf))[0]
        where = ", ".join(map(str, at))
        raise ValueError(f"Sequences: {name}[{where}] is {costs[tuple(at)]}; no cost is that.")


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

    decodes_chains = True

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

    def with_embedding(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        if name == "outputs" and outputs is not None and np.ndim(outputs) == 2:
            return ListedSequences.of(self, outputs, candidates)
        if name not in EMBEDDINGS:
            return super().with_embedding(name, outputs, candidates)
        view = copy.copy(self)
        view.embedding = name
        return view

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of symbols at positions: bigrams cost nothing."""
        if embedding != "positions" or not self._has_bigrams:
            return super().lift(costs, embedding)
        T, q = self.length_, len(self.symbols_)
        costs = check_costs(costs, T * q, used_by="Sequences")
        return np.hstack([costs, np.zeros((len(costs), self._width() - T * q))])

    # ------------------------------------------------------------- decoding
    def _chains(self, costs: np.ndarray) -> dict[str, Any]:
        """Costs of the embedding's coordinates as costs of chains, constraints included."""
        costs = self._checked_costs(costs, self._width())
        constraints, n = self.constraints_, len(costs)
        T, q = self.length_, len(self.symbols_)
        starts = T * np.arange(n + 1)
        unary = costs[:, : T * q].reshape(n * T, q)
        transitions, which = None, None
        if self._has_bigrams and T > 1:
            transitions = costs[:, T * q :].reshape(n * (T - 1), q, q)
            position = np.arange(n * T)
            # The step into position t of row i is matrix t - 1 of that row.
            which = np.maximum(position - position // T - 1, 0)
            row_of = np.repeat(np.arange(n), T - 1)
        else:
            row_of = np.repeat(np.arange(n), T)
        transitions, served = constraints.forbid_transitions(transitions, row_of)
        return {
            "unary": constraints.fix_known(unary, starts, np.full(n, T)),
            "starts": starts,
            "transitions": transitions,
            "which": which if served is None else served,
            "shortest": constraints.least_lengths(),
            "longest": constraints.longest,
            **constraints.ends(),
        }

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the sequence of least cost; of equal ones the shortest."""
        symbols, values = best_chains(**self._chains(costs))
        outputs = symbols.reshape(len(values), self.length_)
        return decoded_or_infeasible(outputs, values, values, self)

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        nothing = self._chains(np.zeros((1, self._width())))  # but walls
        if not np.isfinite(best_chains(**nothing)[1]).all():
            return None  # the host says what is wrong
        constraints, q = self.constraints_, len(self.symbols_)
        walls = {name: wall[0] for name, wall in constraints.ends().items()}
        if not np.isfinite(nothing["unary"]).all():
            walls["unary"] = nothing["unary"]
        if constraints.forbidden[0, :q, :q].any():
            walls["steps"] = nothing["transitions"][0]
        lengths = int(constraints.least_lengths()[0]), int(constraints.longest[0])
        from skstruct.solvers.chains.on_device import chains_argmin

        return chains_argmin(self.length_, q, self._has_bigrams, walls, lengths, backend)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost sequences of every row: outputs (n, k, T), values (n, k)."""
        k = check_k(k, "Sequences")
        symbols, values = k_best_chains(**self._chains(costs), k=k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        outputs = symbols.reshape(len(values), self.length_, -1).swapaxes(1, 2)
        return Decoded(outputs, values, values)

    def argmin_chains(
        self, unary: Any, starts: Any, transitions: np.ndarray | None = None
    ) -> Decoded:
        """For every row the minimum-cost sequence as long as the row has positions.

        Costs come in stacked form, the positions of all rows one after the other, as a
        model of tokens makes them. Known symbols and forbidden transitions are obeyed; rows
        may be of any length, longer than T too.

        Parameters
        ----------
        unary : array of shape (N, q)
            Cost of each symbol at each position; infinity forbids.
        starts : int array of shape (n + 1,)
            Row i owns the positions starts[i]:starts[i + 1].
        transitions : array of shape (1, q, q) or (N, q, q), default=None
            Cost of (symbol before, symbol here), the same everywhere or by position.

        Returns
        -------
        decoded : Decoded
            Outputs as wide as the longest row.
        """
        chains, lengths = self._stacked(unary, starts, transitions)
        symbols, values = best_chains(**chains)
        return decoded_or_infeasible(unstacked(symbols, lengths), values, values, self)

    def kbest_chains(
        self, unary: np.ndarray, starts: np.ndarray, k: int, transitions: np.ndarray | None = None
    ) -> Decoded:
        """The ``k`` of least cost in every row, with costs as in ``argmin_chains``."""
        k = check_k(k, "Sequences")
        chains, lengths = self._stacked(unary, starts, transitions)
        symbols, values = k_best_chains(**chains, k=k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        ranks = [unstacked(column, lengths) for column in symbols.T]
        return Decoded(np.stack(ranks, axis=1), values, values)

    def _stacked(
        self, unary: Any, starts: Any, transitions: np.ndarray | None
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Costs in stacked form with the constraints in them, and the lengths of the rows."""
        constraints, q = self.constraints_, len(self.symbols_)
        unary, starts, transitions = check_stacked(unary, starts, transitions, q)
        lengths = np.diff(starts)
        self._check_rows(len(lengths))
        self._check_given(lengths)
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        steps, which = constraints.forbid_transitions(transitions, row_of)
        reached = constraints.anywhere().least_lengths()  # a known position must be there
        chains = {
            "unary": constraints.fix_known(unary, starts, lengths),
            "starts": starts,
            "transitions": steps,
            "which": which,
            "shortest": np.maximum(lengths, reached),
            **constraints.ends(),
        }
        return chains, lengths

    def _check_given(self, lengths: np.ndarray) -> None:
        """Rows are of a length that was given to the space, if any was."""
        low, high = self._given_lengths()
        least, most = 0 if low is None else low, np.inf if high is None else high
        wrong = np.flatnonzero((lengths < least) | (lengths > most))
        if len(wrong):
            row = int(wrong[0])
            raise InfeasibleError(
                f"Sequences: length={self.length!r} was given, and row {row} has {lengths[row]} "
                "positions.", row,
            )  # fmt: skip

    # ------------------------------------------------------------- distributions
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of symbols and lengths by sums over all chains; scores of shape (n, d)."""
        scores = self._checked_scores(scores, self._width())
        distribution = distribution_of_costs(self._chains(-scores))
        check_feasible(distribution.log_partition > -np.inf, self)
        return SequenceDistribution(
            distribution, self.length_, self._has_bigrams and self.length_ > 1
        )

    def distribution_of_chains(
        self, unary: np.ndarray, starts: np.ndarray, transitions: np.ndarray | None = None
    ) -> ChainDistribution:
        """The distribution of every row, as long as the row has positions.

        Parameters
        ----------
        unary, starts, transitions
            As of ``argmin_chains``, with scores in the place of costs: large is likely, and
            minus infinity forbids.

        Returns
        -------
        distribution : :class:`~skstruct.solvers.chains.forward_backward.ChainDistribution`
        """
        costs = None if transitions is None else np.negative(transitions)
        distribution = distribution_of_costs(self._stacked(np.negative(unary), starts, costs)[0])
        check_feasible(distribution.log_partition > -np.inf, self)
        return distribution

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


Known.at(Sequences, "skstruct.spaces.sequences.known:KnownOfSequences")
Marginals.at(Sequences, "skstruct.spaces.sequences.marginals:MarginalsOfSequences")
