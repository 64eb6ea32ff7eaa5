# SPDX-License-Identifier: BSD-3-Clause
"""Forests of edges for a network, each found in one go, and the weights on them.

All finders of forests take a dual whose constants are the edges, its oracle and the edges
(E, 2), and return a mask (E,) and a dual that is trained on it. The dual they are given is
where training begins; it is used up.
"""

from __future__ import annotations

import numpy as np

from skstruct.learners.margins.candidates import Race, edge_bounds
from skstruct.learners.margins.spanning import Pieces, n_nodes, spanning_forest


def train_on(dual, oracle, free, *, tol=0.01, max_iter=1000, rng=None):
    """Train with some edges free, by mask, and all others at zero; the means are kept."""
    dual.penalise(l1=np.where(free, 0.0, np.inf), shift=0.0)
    return dual.solve(oracle, tol, range(max_iter), rng)


def project(dual, oracle, edges, *, tol=0.01, max_iter=1000, rng=None):
    r"""The maximum spanning forest of the weights that training with all edges gives.

    This is the circuit rank price of ``crank`` with a large :math:`\beta`, from the full
    model: edges off its forest become zero at once. With such a price the edges of the forest
    could not change their signs either; here the forest is trained freely, which no sign
    constraint can improve on.
    """
    rng = np.random.default_rng(rng)
    train_on(dual, oracle, np.ones(len(edges), bool), tol=tol, max_iter=max_iter, rng=rng)
    forest = spanning_forest(edges, np.abs(dual.constants))
    return forest, train_on(dual, oracle, forest, tol=tol, max_iter=max_iter, rng=rng)


def mst(dual, oracle, edges, *, tol=0.01, accuracy=1e-4, max_iter=1000, rng=None):
    r"""The maximum spanning forest of what each edge gains alone.

    Gain is how much one edge lowers the objective of the model without edges. Edges are
    taken by falling gain, each of them the best of a race, so that those which would close
    a circle need no training.

    Parameters
    ----------
    accuracy : float
        Gains that differ by less than this share of the objective may change places.
    """
    rng = np.random.default_rng(rng)
    chosen, pieces = np.zeros(len(edges), bool), Pieces(n_nodes(edges))
    train_on(dual, oracle, chosen, tol=accuracy / 2, max_iter=max_iter, rng=rng)
    race = Race(dual, oracle, chosen, edge_bounds(dual), accuracy, max_iter, rng)
    while (best := race.winner(np.flatnonzero(pieces.apart(edges)))) is not None:
        chosen[best.edge] = pieces.join(*edges[best.edge])
    chosen = spanning_forest(edges, chosen, -race.bounds)
    return chosen, train_on(dual, oracle, chosen, tol=tol, max_iter=max_iter, rng=rng)
