# SPDX-License-Identifier: BSD-3-Clause
"""Tournaments in the user's own form: pairs of winner and loser, networkx graphs, arrays."""

from __future__ import annotations

import numpy as np

from skstruct.spaces.graphs.edge_table import EdgeTable
from skstruct.spaces.graphs.forms import GraphForm, read_rows


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


def read_signs(rows, form: GraphForm, table: EdgeTable, wins_table: EdgeTable) -> np.ndarray:
    """The signs of rows that ``read_form`` gave; int8 of shape (n, d)."""
    if form.kind == "array":
        return _checked_signs(rows, (len(table.edges),))
    if form.kind == "adjacency":
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
    wins = read_rows(rows, form, wins_table, "Tournaments")
    first_wins, second_wins = split_wins(wins, wins_table)
    both = np.argwhere(first_wins & second_wins)
    if len(both):
        i, j = both[0]
        first, second = table.labels[j]
        raise ValueError(
            f"Tournaments: in Y[{i}] {first!r} beats {second!r} and {second!r} beats {first!r}."
        )
    return first_wins - second_wins


def _checked_signs(Y: np.ndarray, shape: tuple) -> np.ndarray:
    if Y.shape[1:] != shape:
        expected = ", ".join(str(size) for size in ("n_samples", *shape))
        raise ValueError(f"Tournaments expects Y of shape ({expected}); got shape {Y.shape}.")
    bad = np.argwhere(~np.isin(Y, (-1, 0, 1)))
    if len(bad):
        at = tuple(bad[0])
        place = ", ".join(str(k) for k in at)
        raise ValueError(f"Tournaments expects -1, 0 or 1; Y[{place}] is {Y[at]!r}.")
    return np.ascontiguousarray(Y, dtype=np.int8)


def write_signs(Z: np.ndarray, form: GraphForm, wins_table: EdgeTable, index=None):
    """Signs in the form of :class:`GraphForm`; arrays of 0 and 1 become signed ones."""
    dtype = form.dtype if np.dtype(form.dtype).kind in "if" else np.dtype(np.int64)
    if form.kind == "array":
        return Z.astype(dtype)
    if form.kind == "adjacency":
        n = len(wins_table.nodes)
        p, q = np.triu_indices(n, 1)
        matrices = np.zeros((len(Z), n, n), dtype)
        matrices[:, p, q], matrices[:, q, p] = Z, -Z
        return matrices
    return form.write(wins_from_signs(Z, wins_table), wins_table, index)
