# SPDX-License-Identifier: BSD-3-Clause
"""A forest that grows by the best edge, again and again."""

from __future__ import annotations

import numpy as np

from skstruct.learners.checkpoints.levels import NOWHERE
from skstruct.learners.margins.candidates import Race, edge_bounds
from skstruct.learners.margins.spanning import Pieces, n_nodes, spanning_forest
from skstruct.learners.margins.structures import train_on


def greedy(
    dual, oracle, edges, *, separable=True, tol=0.01, accuracy=1e-4, max_iter=1000, rng=None,
    progress=None, level=NOWHERE,
):  # fmt: skip
    r"""Begin without edges, and add the one that lowers the objective most, until none is left.

    Of the edges that close no circle the best is found by a race: bounds from the dual tell
    most candidates apart after a few passes, where training all of them would be
    :math:`O(n^3)` problems. Edges that gain less than ``accuracy`` come last, in the order of
    the most they can gain.

    Parameters
    ----------
    dual : HingeDual
        Where training begins; used up.
    oracle : callable
    edges : int array of shape (E, 2)
        Which labels the constants of the dual join.
    separable : bool
        Whether the hinge of a forest is the sum of those of its trees, as it is when the
        loss is a sum over labels. Then the gain of an edge stays what it was until an edge
        touches one of the trees it joins.
    tol : float
        Gap of the weights in the end, as a share of the objective.
    accuracy : float
        Share of the objective by which the edge that is added may be behind the best.
    max_iter : int
        Passes over the examples, of each training.
    rng : Generator or int
    progress : callable
        Given the number of the edge, and the dual with it, when one has been added.
    level : Level
        Where a fit that is saved goes on.

    Returns
    -------
    forest : bool array of shape (E,)
    dual : HingeDual
        Trained on the forest.
    """
    training = {"max_iter": max_iter, "rng": np.random.default_rng(rng)}
    forest = level.found.get("forest")
    if forest is None:
        settings = {"separable": separable, "accuracy": accuracy, "progress": progress}
        below = level.below("growing")
        forest, dual = _grown(dual, oracle, edges, training=training, level=below, **settings)
    level.keep(forest=forest)
    return forest, train_on(dual, oracle, forest, tol=tol, **training, level=level.below("forest"))


def _grown(dual, oracle, edges, *, separable, accuracy, progress, training, level):
    """The forest, by mask, and the dual of its edges that gain something."""
    chosen = np.zeros(len(edges), bool)
    gains = np.full(len(edges), np.inf)  # upper bounds
    if stopped := level.found:
        dual.restore(stopped["dual"])
        chosen, gains = stopped["chosen"], stopped["gains"]
    else:
        train_on(dual, oracle, chosen, tol=accuracy / 2, **training, level=level.below("no edges"))
    pieces = Pieces(n_nodes(edges), edges[chosen])
    while True:
        level.keep(dual=dual, chosen=chosen, gains=gains)
        bounds = np.maximum(edge_bounds(dual), dual.dual_objective - gains)
        below = level.below("race")
        race = Race(dual, oracle, chosen, bounds, accuracy, **training, level=below)
        best = race.winner(np.flatnonzero(pieces.apart(edges)))
        if best is None:
            break
        gains = dual.objective - race.bounds
        chosen[best.edge] = pieces.join(*edges[best.edge])
        grown = pieces.piece[edges[best.edge, 0]]
        touched = (pieces.piece[edges] == grown).any(axis=1)
        gains[touched if separable else slice(None)] = np.inf
        dual = best.dual
        if progress is not None:
            progress(best.edge, dual)
    return spanning_forest(edges, chosen, -race.bounds), dual
