# SPDX-License-Identifier: BSD-3-Clause
"""Sets of classes, and ranges of levels."""

from typing import Any

import numpy as np

from skstruct.conformal.sets.base import SetRule
from skstruct.conformal.structures import structure_of
from skstruct.conformal.structures.positions import filled


def probability_of_at_least(P: np.ndarray, order: np.ndarray) -> np.ndarray:
    """For every class the probability of all with at least its number in ``order``; (n, k).

    A running sum from the largest number down; equal numbers all have the sum of their last.
    """
    falling = np.argsort(-order, axis=1, kind="stable")
    numbers = np.take_along_axis(order, falling, axis=1)
    sums = np.take_along_axis(P, falling, axis=1).cumsum(axis=1)
    sums[:, :-1][numbers[:, :-1] == numbers[:, 1:]] = np.inf
    sums = np.minimum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
    found = np.empty_like(sums)
    np.put_along_axis(found, falling, sums, axis=1)
    return found


class ClassRule(SetRule):
    r"""Scores of classes by their probabilities.

    ``"lac"``: :math:`1 - p_y`, the smallest sets on average [1]_. ``"aps"``: the probability of
    all classes at least as likely as y, :math:`\sum_k p_k 1[p_k \ge p_y]`, which adapts the size
    of the sets to the input [2]_, without its randomisation: coverage is the level or more.

    References
    ----------
    .. [1] M. Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with
       bounded error levels", 2019.
    .. [2] Y. Romano, M. Sesia and E. J. Candès, "Classification with valid and adaptive
       coverage", 2020.
    """

    scores_known = ("lac", "aps")

    def _order(self, P: np.ndarray) -> np.ndarray:
        """By which classes enter, those of larger numbers first; shape (n, k)."""
        return P

    def read(self, X: Any) -> np.ndarray:
        """Scores of all classes; shape (n, k)."""
        structure = structure_of(self.space, "PredictionSets")
        P = structure.probabilities(self.learner.predict_marginals(X))
        order = self._order(P)
        if self.score == "lac":
            scores = 1.0 - order
        else:
            scores = probability_of_at_least(P, order)
        if self.nonempty:
            scores = np.where(order == order.max(axis=1, keepdims=True), -np.inf, scores)
        return scores

    def _numbers(self, Z: Any) -> np.ndarray:
        return np.asarray(Z)

    def scores(self, known: Any, Z: Any) -> np.ndarray:
        return np.asarray(known[np.arange(len(known)), self._numbers(Z)])

    def sets(self, known: Any, thresholds: np.ndarray, most: int, index: Any) -> list[Any]:
        names = self.space.labels_
        inside = known <= thresholds[:, None]
        return [tuple(names[a] for a in np.flatnonzero(row)) for row in inside]

    def counts(self, known: Any, thresholds: np.ndarray, most: int) -> np.ndarray:
        return np.asarray(np.minimum((known <= thresholds[:, None]).sum(axis=1), most))


class LevelRule(ClassRule):
    """Levels of an ordered scale: they enter so that there are never gaps between them."""

    def _order(self, P: np.ndarray) -> np.ndarray:
        return filled(P)

    def _numbers(self, Z: Any) -> np.ndarray:
        return np.asarray(self.space.numbers(Z))
