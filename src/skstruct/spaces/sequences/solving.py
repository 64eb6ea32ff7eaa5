# SPDX-License-Identifier: BSD-3-Clause
"""Sequences by costs at every position, of rows of any length, and on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible, check_n_rows
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.sequence_sets.base import given_lengths
from skstruct.spaces.sequence_sets.chains.forward_backward import ChainDistribution
from skstruct.spaces.sequence_sets.chains.viterbi import best_chains, k_best_chains
from skstruct.spaces.sequence_sets.distribution import distribution_of_costs
from skstruct.spaces.sequences.chains import chains_of
from skstruct.spaces.solving import Solving

NAME = "Sequences"


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


class SolvingOfSequences(Solving):
    """Chains, by Viterbi's algorithm and its like."""

    __slots__ = ()

    def argmin_chains(
        self, unary: Any, starts: Any, transitions: np.ndarray | None = None
    ) -> Decoded:
        chains, lengths = self._stacked(unary, starts, transitions)
        symbols, values = best_chains(**chains)
        return decoded_or_infeasible(unstacked(symbols, lengths), values, values, self.space)

    def kbest_chains(
        self, unary: np.ndarray, starts: np.ndarray, k: int, transitions: np.ndarray | None = None
    ) -> Decoded:
        k = check_k(k, NAME)
        chains, lengths = self._stacked(unary, starts, transitions)
        symbols, values = k_best_chains(**chains, k=k)
        check_feasible(np.isfinite(values).any(axis=1), self.space)
        ranks = [unstacked(column, lengths) for column in symbols.T]
        return Decoded(np.stack(ranks, axis=1), values, values)

    def distribution_of_chains(
        self, unary: np.ndarray, starts: np.ndarray, transitions: np.ndarray | None = None
    ) -> ChainDistribution:
        costs = None if transitions is None else np.negative(transitions)
        distribution = distribution_of_costs(self._stacked(np.negative(unary), starts, costs)[0])
        check_feasible(distribution.log_partition > -np.inf, self.space)
        return distribution

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        space = self.space
        T, q, bigrams = space.length_, len(space.symbols_), space.embedding == "bigrams"
        constraints, zeros = space.constraints_, np.zeros((1, T * q + bigrams * (T - 1) * q * q))
        nothing = chains_of(zeros, T, q, bigrams, constraints)  # but walls
        if not np.isfinite(best_chains(**nothing)[1]).all():
            return None  # the host says what is wrong
        walls = {name: wall[0] for name, wall in constraints.ends().items()}
        if not np.isfinite(nothing["unary"]).all():
            walls["unary"] = nothing["unary"]
        if constraints.forbidden[0, :q, :q].any():
            walls["steps"] = nothing["transitions"][0]
        lengths = int(constraints.least_lengths()[0]), int(constraints.longest[0])
        from skstruct.spaces.sequence_sets.chains.on_device import chains_argmin

        return chains_argmin(T, q, bigrams, walls, lengths, backend)

    def _stacked(
        self, unary: Any, starts: Any, transitions: np.ndarray | None
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Costs in stacked form with the constraints in them, and the lengths of the rows."""
        constraints, q = self.space.constraints_, len(self.space.symbols_)
        unary, starts, transitions = check_stacked(unary, starts, transitions, q)
        lengths = np.diff(starts)
        check_n_rows(constraints, len(lengths), type(self.space).__name__)
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
        given = self.space.length
        low, high = given_lengths(given, type(self.space).__name__)
        least, most = 0 if low is None else low, np.inf if high is None else high
        wrong = np.flatnonzero((lengths < least) | (lengths > most))
        if len(wrong):
            row = int(wrong[0])
            raise InfeasibleError(
                f"Sequences: length={given!r} was given, and row {row} has {lengths[row]} "
                "positions.", row,
            )  # fmt: skip
