# SPDX-License-Identifier: BSD-3-Clause
"""Exact means of what a loss is bilinear in, under a law that is known."""

from __future__ import annotations

import numpy as np

from skstruct.learners.margins.problem import dense
from skstruct.spaces.limits import differs_by_row
from skstruct.spaces.listed_laws import listed_law
from skstruct.summing.listed import ListedLaw


def exact_means(law, space, view, scores) -> np.ndarray | None:
    """Means of ``view.targets(Y)`` for every row; None where only draws can tell.

    Parameters
    ----------
    law : Law, of ``space`` at the scores
    space : fitted space
    view : the same space under the embedding of a loss
    scores : array (n, d)
    """
    if differs_by_row(space):
        each = [_of_row(space, view, scores, i) for i in range(len(scores))]
        return None if any(means is None for means in each) else np.concatenate(each)
    drawn = law.sample(3, np.random.default_rng(0))
    some = drawn[0]
    if np.array_equal(dense(view.targets(some)), dense(view.embed(some))):
        means = _linear(law, space, view, scores, view.embed(some).shape[1])
        if means is not None:
            return means
    listed = law if isinstance(law, ListedLaw) else listed_law(space, scores)
    if not isinstance(listed, ListedLaw):
        return None
    return np.asarray(listed.probabilities @ view.targets(listed.outputs))


def _of_row(space, view, scores, i):
    space, view, scores = space.rows([i]), view.rows([i]), scores[i : i + 1]
    law = space.law(scores)
    return None if law is None else exact_means(law, space, view, scores)


def _linear(law, space, view, scores, width: int):
    """Means where one embedding is written in the other."""
    if view is space or (type(view) is type(space) and view.embedding == space.embedding):
        return law.marginals()
    try:  # the same law in the view's own coordinates
        other = view.law(view.lift(scores, space.embedding))
        if other is not None:
            return other.marginals()
    except (AttributeError, ValueError):
        pass
    try:  # psi' = P psi where costs of psi' can be written as costs of psi
        return law.marginals() @ space.lift(np.eye(width), view.embedding).T
    except (AttributeError, ValueError):
        return None
