# SPDX-License-Identifier: BSD-3-Clause
"""What papers/defaults.py judges by: losses of single rows from their definitions, less is better.

They are written out here, so that no method is judged by the code that it decides with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skstruct.losses import F1, Listed

N_GROUPS = 20  # of the jackknife


@dataclass(frozen=True)
class Measure:
    """A name, the loss that our learner is given, and the losses of rows."""

    name: str
    loss: Any
    rows: Callable[[Any, Any], np.ndarray] | None  # None: of scores of all rows together

    def units(self, predicted, truth):
        """Numbers whose mean is the figure, one for each test row (or group of rows)."""
        if self.rows is None:
            return jackknife(lambda P, Y: 1 - average_precision(P, Y), predicted, truth)
        return self.rows(predicted, truth)

    def value(self, predicted, truth):
        if self.rows is None:
            return 1 - average_precision(predicted, truth)
        return float(self.rows(predicted, truth).mean())


# ---------------------------------------------------------------------- sets of labels


def wrong_labels(Z, Y):
    """Share of labels that differ.

    >>> wrong_labels(np.array([[1, 0, 0, 1]]), np.array([[1, 1, 0, 1]]))
    array([0.25])
    """
    return (Z != Y).mean(axis=1)


def one_minus_f1(Z, Y):
    """1 - 2 |z and y| / (|z| + |y|); 0 where both are empty."""
    both, total = (Z & Y).sum(axis=1), Z.sum(axis=1) + Y.sum(axis=1)
    return 1 - np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1))


def one_minus_jaccard(Z, Y):
    """1 - |z and y| / |z or y|; 0 where both are empty."""
    both, either = (Z & Y).sum(axis=1), (Z | Y).sum(axis=1)
    return 1 - np.where(either == 0, 1.0, both / np.maximum(either, 1))


def jaccard_of_two(z, y):
    """The same for one pair of rows, as a user's own loss."""
    return one_minus_jaccard(*(np.atleast_2d(np.asarray(one, dtype=int)) for one in (z, y)))[0]


def any_wrong(Z, Y):
    return (Z != Y).reshape(len(Y), -1).any(axis=1).astype(float)


def first_mistakes(dag, Z, Y):
    """Labels that differ and whose ancestors all agree, with sibling weights.

    Roots share one, children of a label share its weight; the mean over several parents.
    """
    weight = np.zeros(Y.shape[1])
    weight[dag.roots] = 1 / len(dag.roots)
    for j in dag.order:  # parents come first
        above = dag.parents_of[j]
        if len(above):
            weight[j] = np.mean(weight[above] / dag.n_children[above])
    differ = (Z != Y).astype(float)
    n_above = differ @ dag.ancestors.T - differ
    return (differ * (n_above == 0)) @ weight


def average_precision(P, Y):
    """Area below the curve of precision and recall over all pairs of row and label.

    >>> float(average_precision(np.array([[0.9, 0.6, 0.7]]), np.array([[1, 1, 0]])).round(4))
    0.8333
    """
    order = np.argsort(-P.ravel(), kind="stable")
    right, scores = Y.ravel()[order], P.ravel()[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # of equal scores
    n_right = np.cumsum(right)[last]
    gained = np.diff(n_right, prepend=0)
    return (gained * n_right / (last + 1)).sum() / max(n_right[-1], 1)


def jackknife(figure, P, Y):
    """Pseudo-values of a figure over groups of rows, leaving out one group at a time.

    Their mean is the figure without its bias, their spread gives its standard error.
    """
    n = min(N_GROUPS, len(Y))
    group = np.random.default_rng(0).permutation(len(Y)) % n
    whole = figure(P, Y)
    without = np.array([figure(P[group != k], Y[group != k]) for k in range(n)])
    return n * whole - (n - 1) * without


# ---------------------------------------------------------------------- rankings, numbers, symbols


def wrong_pairs(Z, Y):
    """Share of pairs in the wrong order, (1 - tau) / 2.

    >>> wrong_pairs(np.array([[1, 2, 3]]), np.array([[2, 1, 3]])).round(3)
    array([0.333])
    """
    first, second = np.array(list(combinations(range(Y.shape[1]), 2))).T
    order = np.sign(Z[:, first] - Z[:, second]) * np.sign(Y[:, first] - Y[:, second])
    return (1 - order.mean(axis=1)) / 2


def one_minus_rho(Z, Y):
    """(1 - Spearman's rho) / 2: the squared distance of ranks over the largest there is."""
    Z, Y = (rankdata(ranks, axis=1) for ranks in (Z, Y))
    d = Y.shape[1]
    return ((Z - Y) ** 2).sum(axis=1) / (d * (d**2 - 1) / 3)


def squares(Z, Y):
    return ((Z - Y) ** 2).reshape(len(Y), -1).mean(axis=1)


def distances(Z, Y):
    return np.abs(Z - Y).reshape(len(Y), -1).mean(axis=1)


def wrong_symbols(Z, Y):
    """Share of positions of each sequence that have another symbol."""
    return np.array([np.mean([a != b for a, b in zip(z, y, strict=True)]) for z, y in zip(Z, Y)])


LABEL_MEASURES = (
    Measure("Hamming", "hamming", wrong_labels),
    Measure("F1", "f1", one_minus_f1),
    Measure("0-1", "zero_one", any_wrong),
    Measure("Jaccard", jaccard_of_two, one_minus_jaccard),
)
RANKING_MEASURES = (
    Measure("Kendall", "kendall", wrong_pairs),
    Measure("Spearman", "spearman", one_minus_rho),
)
CLASS_MEASURES = (Measure("0-1", "zero_one", any_wrong),)
QUANTITY_MEASURES = (
    Measure("squared", "squared", squares),
    Measure("absolute", "absolute", distances),
)
TOKEN_MEASURES = (Measure("Hamming", "hamming", wrong_symbols),)


def hierarchy_measures(space):
    """Those of sets, the hierarchical loss, and the area below the curve of scores."""
    hamming, f1, *others = LABEL_MEASURES
    if not space.dag_.is_forest:
        f1 = Measure("F1", Listed(F1()), one_minus_f1)  # F1 alone is not decoded there
    return (
        hamming, f1, *others,
        Measure("hierarchical", "hierarchical", lambda Z, Y: first_mistakes(space.dag_, Z, Y)),
        Measure("AU(PRC)", "hamming", None),
    )  # fmt: skip
