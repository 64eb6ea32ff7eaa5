# SPDX-License-Identifier: BSD-3-Clause
"""Forests of edges for a network, each found in one go, and the weights on them.

All finders of forests take a dual whose constants are the edges, its oracle and the edges
(E, 2), and return a mask (E,) and a dual that is trained on it. The dual they are given is
where training begins; it is used up.
"""

from __future__ import annotations

import numpy as np

from skstruct.learners.checkpoints.levels import NOWHERE
from skstruct.learners.margins.candidates import Race, edge_bounds
from skstruct.learners.margins.spanning import Pieces, n_nodes, spanning_forest


def train_on(dual, oracle, free, *, tol=0.01, max_iter=1000, rng=None, level=NOWHERE):
    """Train with some edges free, by mask, and all others at zero; the means are kept."""
    dual.penalise(l1=np.where(free, 0.0, np.inf), shift=0.0)
    return dual.solve(oracle, tol, range(max_iter), rng, level)


def project(dual, oracle, edges, *, tol=0.01, max_iter=1000, rng=None, level=NOWHERE):
    r"""The maximum spanning forest of the weights that training with all edges gives.

    This is the circuit rank price of ``crank`` with a large :math:`\beta`, from the full
    model: edges off its forest become zero at once. With such a price the edges of the forest
    could not change their signs either; here the forest is trained freely, which no sign
    constraint can improve on.
    """
    training = {"tol": tol, "max_iter": max_iter, "rng": np.random.default_rng(rng)}
    forest = level.found.get("forest")
    if forest is None:
        all_edges = np.ones(len(edges), bool)
        train_on(dual, oracle, all_edges, **training, level=level.below("all edges"))
        forest = spanning_forest(edges, np.abs(dual.constants))
    level.keep(forest=forest)
    return forest, train_on(dual, oracle, forest, **training, level=level.below("forest"))


def mst(dual, oracle, edges, *, tol=0.01, accuracy=1e-4, max_iter=1000, rng=None, level=NOWHERE):
    r"""The maximum spanning forest of what each edge gains alone.

    Gain is how much one edge lowers the objective of the model without edges. Edges are
    taken by falling gain, each of them the best of a race, so that those which would close
    a circle need no training.

    Parameters
    ----------
    accuracy : float
        Gains that differ by less than this share of the objective may change places.
    """
    training = {"max_iter": max_iter, "rng": np.random.default_rng(rng)}
    forest = level.found.get("forest")
    if forest is None:
        forest = _best_gains(dual, oracle, edges, accuracy, training, level.below("gains"))
        forest = spanning_forest(edges, *forest)
    level.keep(forest=forest)
    return forest, train_on(dual, oracle, forest, tol=tol, **training, level=level.below("forest"))


def _best_gains(dual, oracle, edges, accuracy, training, level):
    """The edges that win, by mask, and what the others might gain, more being better."""
    chosen, none = np.zeros(len(edges), bool), np.zeros(len(edges), bool)
    if stopped := level.found:
        dual.restore(stopped["dual"])
        chosen = stopped["chosen"]
    else:
        train_on(dual, oracle, none, tol=accuracy / 2, **training, level=level.below("no edges"))
    pieces = Pieces(n_nodes(edges), edges[chosen])
    level.keep(dual=dual, chosen=chosen)
    bounds, below = edge_bounds(dual), level.below("race")
    race = Race(dual, oracle, none, bounds, accuracy, **training, level=below)
    while (best := race.winner(np.flatnonzero(pieces.apart(edges)))) is not None:
        chosen[best.edge] = pieces.join(*edges[best.edge])
    return chosen, -race.bounds
