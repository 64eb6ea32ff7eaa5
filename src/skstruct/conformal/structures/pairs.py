# SPDX-License-Identifier: BSD-3-Clause
"""Rankings: a part is a pair of items; what is certain is a partial order at every threshold."""

from typing import Any

import numpy as np

from skstruct.conformal.structures.base import (
    Claims,
    Moves,
    Structure,
    check_probabilities,
    shared,
)


class Pairs(Structure):
    r"""Pairs of items, each with the probability that the first one comes before the second.

    Thresholds on the probabilities themselves may leave a cycle, or a pair open that two others
    imply. So pairs are scored by their best path,

    .. math:: b_{ij} = \max_{i = k_0, \dots, k_r = j} \min_s P_{k_s k_{s+1}},

    and i is asserted to be before j at thresholds t with :math:`b_{ij} > t` and
    :math:`b_{ij} > b_{ji}`. This is a strict partial order at every t: :math:`b_{ik} \ge
    \min(b_{ij}, b_{jk}) > t`, and :math:`b_{ij} > b_{ji}` is transitive (Schulze [1]_, section
    4.1). It grows as t falls, and no pair is ever turned round.

    References
    ----------
    .. [1] M. Schulze, "A new monotonic, clone-independent, reversal symmetric, and
       Condorcet-consistent single-winner election method", 2011.
    """

    def probabilities(self, marginals: Any) -> np.ndarray:
        P, d = np.array(marginals, dtype=np.float64), len(self.space.labels_)
        if P.ndim != 3 or P.shape[1:] != (d, d):
            raise ValueError(
                f"predict_marginals: a probability for every pair of {d} items is wanted, shape "
                f"(n, {d}, {d}); got {P.shape}."
            )
        P[:, np.arange(d), np.arange(d)] = 0.0
        if np.isnan(P).any():
            row, i, j = np.argwhere(np.isnan(P))[0].tolist()
            raise ValueError(f"predict_marginals: row {row}, items {i} and {j}: got NaN.")
        return check_probabilities(P, "items")

    def read(self, marginals: Any) -> np.ndarray:
        return best_paths(self.probabilities(marginals))

    def confidence(self, P: np.ndarray) -> np.ndarray:
        i, j = np.triu_indices(P.shape[1], 1)
        forward, backward = P[:, i, j], P[:, j, i]
        return np.where(forward == backward, -np.inf, np.maximum(forward, backward))

    def claims(self, P: np.ndarray, Z: np.ndarray, weights: Any, both: bool) -> Claims:
        self.check_unweighted(weights)
        i, j = np.triu_indices(P.shape[1], 1)
        first, second = np.asarray(Z)[:, i], np.asarray(Z)[:, j]
        known = (first < second) | (first > second)  # neither a tie nor NaN
        right = (P[:, i, j] > P[:, j, i]) == (first < second)
        costs = shared(known.astype(np.float64))
        return Claims(self.confidence(P), right, costs, costs.sum(axis=1))

    def misses(self, P: np.ndarray, Z: np.ndarray, weights: Any) -> Claims:
        """An order of two items is no longer possible once the other one is certain."""
        return self.claims(P, Z, weights, both=True)

    def masks(
        self, P: np.ndarray, thresholds: np.ndarray, moves: Moves
    ) -> tuple[np.ndarray, np.ndarray]:
        Q = P.transpose(0, 2, 1)
        certain = (P > Q) & (thresholds[:, None, None] < P)
        possible = ~certain.transpose(0, 2, 1) & ~np.eye(P.shape[1], dtype=bool)
        return certain, possible

    def open_share(self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray) -> float:
        pairs = ~np.eye(P.shape[1], dtype=bool)
        return float(np.mean((possible & ~certain)[:, pairs])) if P.shape[1] > 1 else 0.0

    def decided(self, P: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        certain, _ = self.masks(P, thresholds, "both")
        return certain | certain.transpose(0, 2, 1)

    def write(
        self, P: np.ndarray, certain: np.ndarray, possible: np.ndarray, index: Any
    ) -> tuple[Any, Any]:
        """Lists of pairs, the item that comes first first."""
        names = self.space.labels_

        def listed(mask: np.ndarray) -> list[list[tuple[Any, Any]]]:
            return [[(names[i], names[j]) for i, j in np.argwhere(row)] for row in mask]

        return listed(certain), listed(possible)


def best_paths(P: np.ndarray) -> np.ndarray:
    """For every pair the path whose least likely step is most likely; shape (n, d, d).

    Floyd's recursion: after round k, paths lead over items up to k.
    """
    best = P.copy()
    for k in range(P.shape[1]):
        np.maximum(best, np.minimum(best[:, :, k, None], best[:, None, k, :]), out=best)
    d = np.arange(P.shape[1])
    best[:, d, d] = 0.0
    return best
