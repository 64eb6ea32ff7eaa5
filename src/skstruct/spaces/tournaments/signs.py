# SPDX-License-Identifier: BSD-3-Clause
"""The sign of each pair of a tournament: formats, constraints, and an embedding by indicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.base import EmbeddingView, decoded_or_infeasible
from skstruct.spaces.constraints import check_n_rows
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.edge_sets.formats import GraphFormat, read_rows
from skstruct.spaces.edge_sets.table import EdgeTable
from skstruct.spaces.entries import Entries, States
from skstruct.spaces.inference import Inference


def split_wins(wins: np.ndarray, wins_table: EdgeTable) -> tuple[np.ndarray, np.ndarray]:
    """Where the first of u < v wins, and where the second does; two (n, d) from (n, 2d)."""
    p, q = np.triu_indices(len(wins_table.nodes), 1)
    return wins[:, wins_table.column[p, q]], wins[:, wins_table.column[q, p]]


def wins_from_signs(signs: np.ndarray, wins_table: EdgeTable) -> np.ndarray:
    """Outcomes with a column for each pair of winner and loser; (n, 2d) from (n, d)."""
    p, q = np.triu_indices(len(wins_table.nodes), 1)
    column = wins_table.column
    wins = np.zeros((len(signs), len(wins_table.edges)), np.int8)
    wins[:, column[p, q]], wins[:, column[q, p]] = signs > 0, signs < 0
    return wins


def read_signs(
    rows: Any, format: GraphFormat, table: EdgeTable, wins_table: EdgeTable
) -> np.ndarray:
    """The signs of rows that ``read_format`` gave; int8 of shape (n, d)."""
    if format.kind == "array":
        return _checked_signs(rows, (len(table.edges),))
    if format.kind == "adjacency":
        n = len(table.nodes)
        matrices = _checked_signs(rows, (n, n))
        skew = np.argwhere(matrices != -matrices.swapaxes(1, 2))
        if len(skew):
            i, u, v = (int(k) for k in skew[0])
            raise ValueError(
                f"Tournaments: array Y[{i}] is not antisymmetric at [{u}, {v}]; of an array A of "
                "wins give A - A.T."
            )
        return np.ascontiguousarray(matrices[:, *np.triu_indices(n, 1)])
    wins = read_rows(rows, format, wins_table, "Tournaments")
    first_wins, second_wins = split_wins(wins, wins_table)
    both = np.argwhere(first_wins & second_wins)
    if len(both):
        i, j = both[0]
        first, second = table.labels[j]
        raise ValueError(
            f"Tournaments: in Y[{i}] {first!r} beats {second!r} and {second!r} beats {first!r}."
        )
    return first_wins - second_wins


def _checked_signs(Y: np.ndarray, shape: tuple[Any, ...]) -> np.ndarray:
    if Y.shape[1:] != shape:
        expected = ", ".join(str(size) for size in ("n_samples", *shape))
        raise ValueError(f"Tournaments expects Y of shape ({expected}); got shape {Y.shape}.")
    bad = np.argwhere(~np.isin(Y, (-1, 0, 1)))
    if len(bad):
        at = tuple(bad[0])
        position = ", ".join(str(k) for k in at)
        raise ValueError(f"Tournaments expects -1, 0 or 1; Y[{position}] is {Y[at]!r}.")
    return np.ascontiguousarray(Y, dtype=np.int8)


def write_signs(
    Z: np.ndarray, format: GraphFormat, wins_table: EdgeTable, index: Any = None
) -> Any:
    """Signs in the form of :class:`GraphFormat`; arrays of 0 and 1 become signed ones."""
    dtype = format.dtype if np.dtype(format.dtype).kind in "if" else np.dtype(np.int64)
    if format.kind == "array":
        return Z.astype(dtype)
    if format.kind == "adjacency":
        n = len(wins_table.nodes)
        p, q = np.triu_indices(n, 1)
        matrices = np.zeros((len(Z), n, n), dtype)
        matrices[:, p, q], matrices[:, q, p] = Z, -Z
        return matrices
    return format.write(wins_from_signs(Z, wins_table), wins_table, index)


@savable
@dataclass(frozen=True, eq=False)
class SignConstraints:
    """Which signs every pair may have, the same for all rows or one set per row."""

    allowed: np.ndarray  # bool, shape (1 or n, d, number of states)

    def check_saved(self, d: int) -> None:
        """Raise a ModelFileError unless these are constraints of d pairs."""
        check_row_constraints(self.allowed, "b", (d, None))

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        n_open = int((self.allowed.sum(axis=2) > 1).sum())
        return f"SignConstraints({n_open} of {self.allowed[:, :, 0].size} pairs open)"

    @property
    def n_rows(self) -> int | None:
        return None if len(self.allowed) == 1 else len(self.allowed)

    def rows(self, index: Any) -> SignConstraints:
        return self if self.n_rows is None else SignConstraints(self.allowed[index])

    def within(self, allowed: np.ndarray) -> SignConstraints:
        """Narrowed further."""
        counts = {len(self.allowed), len(allowed)} - {1}
        if len(counts) > 1:
            raise ValueError(
                f"Known outcomes are given for different numbers of rows: {sorted(counts)}."
            )
        return SignConstraints(self.allowed & allowed)


def best_signs(
    costs: np.ndarray, states: np.ndarray, allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The minimum-cost sign of every pair that is allowed.

    Parameters
    ----------
    costs : array of shape (n, d, number of states)
    states : array of signs
        Of equally cheap ones the first is taken.
    allowed : bool array of shape (1 or n, d, number of states)

    Returns
    -------
    outputs : int8 array of shape (n, d)
    values : array of shape (n,), infinite where a pair has no sign left
    """
    masked = np.where(allowed, costs, np.inf)
    best = masked.argmin(axis=2)
    least = np.take_along_axis(masked, best[:, :, None], axis=2)[:, :, 0]
    return states[best].astype(np.int8), least.sum(axis=1)


@savable
class TournamentStates(EmbeddingView):
    r"""Tournaments with a 0/1 coordinate for every pair and sign, :math:`1[z_{uv} = s]`.

    Entry ``j * S + k`` stands for pair j with the k-th of S signs. The number of pairs that
    differ is bilinear here, and an open pair can be cheaper than either win, which it never is
    under signed pairs: margins are learned for these coordinates.
    """

    embedding = "node states"

    @property
    def states_(self) -> tuple[Any, ...]:
        return self.space.states_

    def embed(self, Z: np.ndarray) -> np.ndarray:
        hot = np.asarray(Z)[:, :, None] == np.array(self.states_)
        return hot.reshape(len(hot), hot.shape[1] * hot.shape[2]).astype(np.float64)

    def argmin(self, costs: np.ndarray) -> Decoded:
        d, states = len(self.labels_), np.array(self.states_)
        costs = check_costs(costs, d * len(states), used_by="Tournaments")
        check_n_rows(self.constraints_, len(costs), "Tournaments")
        cube = costs.reshape(len(costs), d, len(states))
        outputs, values = best_signs(cube, states, self.constraints_.allowed)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        d, states = len(self.labels_), len(self.states_)
        costs = check_costs(costs, d * states, used_by="Tournaments")
        cube = costs.reshape(len(costs), d, states)
        return self.space.kbest_states(cube, k)


Coordinates.at(TournamentStates, "skstruct.spaces.tournaments.coordinates:CoordinatesOfStates")
Entries.at(TournamentStates, States)
Inference.at(TournamentStates, "skstruct.spaces.tournaments.inference:InferenceOfStates")
