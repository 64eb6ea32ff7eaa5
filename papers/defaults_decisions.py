# SPDX-License-Identifier: BSD-3-Clause
"""From probabilities of labels to sets, as users of scikit-learn do it: thresholds that were tuned.

A rule is made of thresholds (one half, one for all labels, or one for each label), of whether the
most probable label is always in, and of how sets are closed in a hierarchy. Which of these to use
is chosen on left-out probabilities of the training rows, crosswise: rules learned on one half of
the rows are judged on the other. Then the chosen rule is learned again from all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from defaults_measures import average_precision

GRID = np.linspace(0.025, 0.975, 39)
BY_F1 = ("F1", "Jaccard")  # measures whose thresholds are those of the F1 of each label


@dataclass(frozen=True)
class Rule:
    """How sets are made of probabilities."""

    thresholds: np.ndarray  # (L,)
    never_empty: bool
    closing: str  # "as they come", "up" or "down"

    def __call__(self, P, dag=None):
        Z = self.thresholds < P
        if self.never_empty:
            Z[np.arange(len(P)), P.argmax(axis=1)] = True
        return closed(Z, self.closing, dag).astype(int)


def closed(Z, how, dag):
    """Sets with all ancestors, or without labels that miss one; or as they come."""
    if how == "up":
        return Z.astype(float) @ dag.ancestors > 0
    if how == "down":
        return Z & ((1.0 - Z) @ dag.ancestors.T == 0)
    return Z


def label_thresholds(P, Y, by_f1):
    """For each label that of least error or of largest F1; of equals the nearest to one half."""
    scores = np.empty((len(GRID), P.shape[1]))
    for k, t in enumerate(GRID):
        Z = t < P
        if by_f1:
            right = (Z & (Y == 1)).sum(axis=0)
            scores[k] = 2 * right / np.maximum(Z.sum(axis=0) + Y.sum(axis=0), 1)
        else:
            scores[k] = (Z == Y).sum(axis=0)
    nearest = np.argsort(np.abs(GRID - 0.5), kind="stable")
    return GRID[nearest[scores[nearest].argmax(axis=0)]]


def common_threshold(P, Y, measure, kind, dag):
    """The threshold for all labels of least loss."""
    d = P.shape[1]
    trials = [Rule(np.full(d, t), *kind) for t in GRID[1::2]]
    return min(trials, key=lambda rule: measure.value(rule(P, dag), Y)).thresholds


def learn_rule(style, P, Y, measure, dag):
    """A rule of one style from left-out probabilities."""
    how, *kind = style
    if how == "half":
        thresholds = np.full(P.shape[1], 0.5)
    elif how == "common":
        thresholds = common_threshold(P, Y, measure, kind, dag)
    else:
        thresholds = label_thresholds(P, Y, measure.name in BY_F1)
    return Rule(thresholds, *kind)


def choose_rule(P, Y, measure, dag=None):
    """The rule of least loss crosswise, and the name of its style."""
    closings = ("as they come",) if dag is None else ("as they come", "up", "down")
    styles = list(product(("half", "common", "each label"), (False, True), closings))
    first = np.random.default_rng(0).permutation(len(Y)) < len(Y) // 2

    def crosswise(style):
        total = 0.0
        for half in (first, ~first):
            rule = learn_rule(style, P[half], Y[half], measure, dag)
            total += measure.rows(rule(P[~half], dag), Y[~half]).sum()
        return total

    best = min(styles, key=crosswise)
    name = f"{best[0]}{', never empty' if best[1] else ''}, {best[2]}"
    return learn_rule(best, P, Y, measure, dag), name


def closed_scores(P, how, dag):
    """Scores that never grow on the way down: the most below a label, or the least above it."""
    if how == "as they come":
        return P
    related = dag.ancestors.toarray() > 0  # [j, k]: k is j or above it
    if how == "up":
        return np.column_stack([P[:, below].max(axis=1) for below in related.T])
    return np.column_stack([P[:, above].min(axis=1) for above in related])


def decide(left_out, Y, P_test, measure, dag=None) -> tuple[Any, str]:
    """What is judged on the test rows, and how it was made."""
    if measure.rows is not None:
        rule, name = choose_rule(left_out, Y, measure, dag)
        return rule(P_test, dag), name
    how = max(
        ("as they come", "up", "down"),
        key=lambda how: average_precision(closed_scores(left_out, how, dag), Y),
    )
    return closed_scores(P_test, how, dag), how
