# SPDX-License-Identifier: BSD-3-Clause
"""Label rankers, held against all rankings of the items."""

import numpy as np
from certified_predictions import ROUNDING, given, inputs, places_of, training
from certified_spaces import Wrong, dense
from drawn_losses import drawn_loss

from skstruct import learners

RANKERS = [
    lambda space: learners.LabelRankingSVM(space, alpha=0.1, max_iter=50, random_state=0),
    lambda space: learners.LabelRankingBoosting(space, n_estimators=5, random_state=0),
    lambda space: learners.OnlineLabelRanker(space, alpha=0.1, max_iter=3, random_state=0),
    lambda space: learners.PairwiseComparison(space),
    lambda space: learners.ConstraintClassification(space, random_state=0),
]


def by_neighbors(rng, drawn, n_rows):
    """NeighborLabelRanker: the ranking of least loss to those of the neighbors."""
    at, X = training(rng, drawn)
    loss = drawn_loss(rng, drawn)
    while loss.seen_only:
        loss = drawn_loss(rng, drawn)
    several = [int(rng.integers(1, 6)), "auto"][rng.integers(2)]
    weights = ["uniform", "distance"][rng.integers(2)]
    model = learners.NeighborLabelRanker(
        drawn.space, loss.loss, n_neighbors=several, weights=weights
    ).fit(X, given(drawn, at))
    new = inputs(rng, n_rows, 3)
    shares = dense(model.model_.smoother_.weights(new))
    check_nearest(X, new, shares, model.n_neighbors_)
    risks = shares @ loss.matrix[:, at].T
    limits, allowed = drawn.narrow(rng, n_rows)
    limits, allowed = (limits, allowed) if allowed.any(axis=1).all() else (None, True)
    found = places_of(drawn, model.predict(new, restrict=limits or None))
    met, rows = np.broadcast_to(allowed if limits else True, risks.shape), np.arange(n_rows)
    if (found < 0).any() or not met[rows, found].all():
        raise Wrong("a prediction is no ranking, or breaks the constraints")
    least = np.where(met, risks, np.inf).min(axis=1)
    size = np.abs(shares).sum(axis=1) * (1 + np.abs(loss.matrix).max())
    if not (risks[rows, found] <= least + ROUNDING * size).all():
        raise Wrong("another ranking is nearer to those of the neighbors")
    return n_rows, "NeighborLabelRanker"


def check_nearest(X, new, shares, k):
    """Weights are on k rows of training, none of which is farther than one without weight."""
    far = np.linalg.norm(new[:, None] - X[None], axis=2)
    reach = np.sort(far, axis=1)[:, min(k, len(X)) - 1]
    if not ((far <= reach[:, None] * (1 + 1e-9)) | (shares == 0)).all():
        raise Wrong("a row that is not among the nearest has weight")
    if not np.allclose(shares.sum(axis=1), 1) or (shares < 0).any():
        raise Wrong("weights of neighbors are no probabilities")


def by_ranking(rng, drawn, n_rows):
    """Label rankers: the ranking of least sum of scores times ranks, which is a sort."""
    at, X = training(rng, drawn)
    model = RANKERS[rng.integers(len(RANKERS))](drawn.space).fit(X, given(drawn, at))
    new = inputs(rng, n_rows, 3)
    scores, ranks = model.decision_function(new), drawn.facts["ranks"]
    limits, allowed = drawn.narrow(rng, n_rows)
    limits = limits if limits and allowed.any(axis=1).all() else None
    found = places_of(drawn, model.predict(new, restrict=limits))
    if (found < 0).any():
        raise Wrong("a prediction is no ranking of the items")
    values, rows = scores @ ranks.T, np.arange(n_rows)
    met = np.broadcast_to(True if limits is None else allowed, values.shape)
    if not met[rows, found].all():
        raise Wrong("a prediction breaks the constraints")
    least = np.where(met, values, np.inf).min(axis=1)
    slack = ROUNDING * (np.abs(scores) @ ranks.T).max(axis=1) + 1e-300
    if not (values[rows, found] <= least + slack).all():
        raise Wrong("another ranking agrees better with the scores")
    return n_rows, type(model).__name__
