# SPDX-License-Identifier: BSD-3-Clause
"""A forest that grows by the best edge, again and again."""

from __future__ import annotations

import numpy as np

from skstruct.learners.margins.candidates import Race, edge_bounds
from skstruct.learners.margins.spanning import Pieces, n_nodes, spanning_forest
from skstruct.learners.margins.structures import train_on


def greedy(
    dual, oracle, edges, *, separable=True, tol=0.01, accuracy=1e-4, max_iter=1000, rng=None,
    progress=None,
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

    Returns
    -------
    forest : bool array of shape (E,)
    dual : HingeDual
        Trained on the forest.
    """
    rng = np.random.default_rng(rng)
    chosen, pieces = np.zeros(len(edges), bool), Pieces(n_nodes(edges))
    train_on(dual, oracle, chosen, tol=accuracy / 2, max_iter=max_iter, rng=rng)
    gains = np.full(len(edges), np.inf)  # upper bounds
    while True:
        bounds = np.maximum(edge_bounds(dual), dual.dual_objective - gains)
        race = Race(dual, oracle, chosen, bounds, accuracy, max_iter, rng)
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
    chosen = spanning_forest(edges, chosen, -race.bounds)
    return chosen, train_on(dual, oracle, chosen, tol=tol, max_iter=max_iter, rng=rng)
