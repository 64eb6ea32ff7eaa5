# SPDX-License-Identifier: BSD-3-Clause
"""Sequences, classes and levels: a part is a position, which has one of several symbols."""

from typing import Any

import numpy as np

from skstruct.conformal.structures.base import (
    Claims,
    Moves,
    Structure,
    check_probabilities,
    shared,
)
from skstruct.tolerances import OUTPUT_FEASIBLE


class Positions(Structure):
    """Symbols at the positions of sequences: probabilities (n, T, q), NaN beyond an end.

    What is asserted is the most likely symbol; where nothing is, the position is open.
    """

    def _names(self) -> Any:
        return self.space.labels_

    def probabilities(self, marginals: Any) -> np.ndarray:
        q = len(self._names())
        rows = marginals if isinstance(marginals, list) else np.asarray(marginals)
        rows = [np.asarray(row, dtype=np.float64) for row in rows]
        width = max((len(row) for row in rows), default=0)
        P = np.full((len(rows), width, q), np.nan)
        for i, row in enumerate(rows):
            if row.ndim != 2 or row.shape[1] != q or np.isnan(row).any():
                raise ValueError(
                    f"predict_marginals: row {i} has shape {row.shape}; a probability for every "
                    f"position and each of {q} symbols is wanted, shape (T, {q}) without NaN."
                )
            P[i, : len(row)] = row
        off = np.argwhere(np.abs(P.sum(axis=2) - 1.0) > OUTPUT_FEASIBLE)
        if len(off):
            row, position = off[0]
            raise ValueError(
                f"predict_marginals: the probabilities of row {row}, position {position} sum to "
                f"{P[row, position].sum():g}. Where lengths are open they are less than 1, and "
                "nothing is promised: give inputs with a row for every position, or one length."
            )
        return check_probabilities(P, "position and symbol")

    def numbers(self, Z: np.ndarray) -> np.ndarray:
        """Symbol numbers of canonical outputs, -1 beyond the end; shape (n, T)."""
        return np.asarray(Z)

    def _truth(self, P: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Symbol numbers as wide as the probabilities are."""
        numbers, width = self.numbers(Z), P.shape[1]
        longer = np.flatnonzero((numbers[:, width:] >= 0).any(axis=1))
        padded = np.full((len(P), width), -1)
        padded[:, : numbers.shape[1]] = numbers[:, :width]
        longer = np.append(longer, np.flatnonzero(((padded >= 0) & np.isnan(P[..., 0])).any(1)))
        if len(longer):
            raise ValueError(
                f"Y[{longer[0]}] is longer than the sequence that predict_marginals has for "
                "this row; calibrate with inputs and outputs of the same lengths."
            )
        return padded

    def confidence(self, P: np.ndarray) -> np.ndarray:
        return _most_likely(P)[0]

    def claims(self, P: np.ndarray, Z: np.ndarray, weights: Any, both: bool) -> Claims:
        self.check_unweighted(weights)
        truth, (scores, best) = self._truth(P, Z), _most_likely(P)
        costs = shared((truth >= 0).astype(np.float64))
        return Claims(scores, best == truth, costs, costs.sum(axis=1))

    def misses(self, P: np.ndarray, Z: np.ndarray, weights: Any) -> Claims:
        self.check_unweighted(weights)
        truth = self._truth(P, Z)
        known = truth >= 0
        p = np.take_along_axis(P, np.maximum(truth, 0)[..., None], axis=2)[..., 0]
        scores = np.where(known, -p, -np.inf)
        costs = shared(known.astype(np.float64))
        return Claims(scores, ~known, costs, costs.sum(axis=1))

    def masks(
        self, P: np.ndarray, thresholds: np.ndarray, moves: Moves
    ) -> tuple[np.ndarray, np.ndarray]:
        t, inside = thresholds[:, None, None], ~np.isnan(P)
        if moves == "possible":
            possible = -t <= P  # NaN is never
            return possible & (possible.sum(axis=2, keepdims=True) == 1), possible
        scores, best = _most_likely(P)
        said = (scores[..., None] > t) & inside
        asserted = said & (np.arange(P.shape[2]) == best[..., None])
        return asserted, asserted | (inside & ~said)

    def open_share(self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray) -> float:
        inside = ~np.isnan(P[..., 0])
        said = certain.sum(axis=2) > 0
        return float(np.mean(~said[inside])) if inside.any() else 0.0

    def decided(self, P: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        return _most_likely(P)[0] > thresholds[:, None]

    def write(
        self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray, index: Any
    ) -> tuple[Any, Any]:
        """Symbols with None where open, and at each position those that are possible."""
        names = self._names()
        ends = (~np.isnan(P[..., 0])).sum(axis=1).tolist() if P.shape[1] else [0] * len(P)
        sure = [
            [names[np.argmax(t)] if t.any() else None for t in row[:end]]
            for row, end in zip(certain, ends)
        ]
        sets = [
            [tuple(names[a] for a in np.flatnonzero(t)) for t in row[:end]]
            for row, end in zip(possible, ends)
        ]
        return sure, sets


class OneOf(Positions):
    """One class: a sequence of a single position."""

    def probabilities(self, marginals: Any) -> np.ndarray:
        P = np.asarray(marginals, dtype=np.float64)
        k = len(self._names())
        if P.ndim != 2 or P.shape[1] != k or np.isnan(P).any():
            raise ValueError(
                f"predict_marginals: a probability for each of {k} classes is wanted, shape "
                f"(n, {k}) without NaN; got shape {P.shape}."
            )
        off = np.flatnonzero(np.abs(P.sum(axis=1) - 1.0) > OUTPUT_FEASIBLE)
        if len(off):
            raise ValueError(
                f"predict_marginals: the probabilities of row {off[0]} sum to "
                f"{P[off[0]].sum():g}; one of the {k} classes is right, so that they sum to 1."
            )
        return check_probabilities(P, "class")

    def read(self, marginals: Any) -> np.ndarray:
        return self.probabilities(marginals)[:, None, :]

    def numbers(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(Z).reshape(-1, 1)

    def write(
        self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray, index: Any
    ) -> tuple[Any, Any]:
        """A class or None, and the classes that are possible."""
        names = self._names()
        sure = [names[np.argmax(row)] if row.any() else None for row in certain[:, 0]]
        return sure, [tuple(names[a] for a in np.flatnonzero(row)) for row in possible[:, 0]]


class OneLevel(OneOf):
    """One level of an ordered scale: possible levels are a range without gaps.

    A level counts as likely as the less likely one of the best at or below it and the best at or
    above it, :math:`h_k = \\min(\\max_{i \\le k} p_i, \\max_{i \\ge k} p_i)`; {h >= t} is the
    smallest range that holds {p >= t}.
    """

    def read(self, marginals: Any) -> np.ndarray:
        return filled(super().read(marginals))

    def numbers(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(self.space.numbers(Z)).reshape(-1, 1)


def filled(P: np.ndarray) -> np.ndarray:
    """Probabilities without valleys along the last axis."""
    up = np.maximum.accumulate(P, axis=-1)
    down = np.maximum.accumulate(P[..., ::-1], axis=-1)[..., ::-1]
    return np.minimum(up, down)


def _most_likely(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability and number of the most likely symbols; minus infinity beyond the end."""
    held = np.where(np.isnan(P), -np.inf, P)
    return held.max(axis=2), held.argmax(axis=2)
