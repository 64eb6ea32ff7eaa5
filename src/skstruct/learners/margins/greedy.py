# SPDX-License-Identifier: BSD-3-Clause
"""A forest that grows by the best edge, time after time."""

from __future__ import annotations

import numpy as np

from skstruct.learners.margins.candidates import Race, optimum_bounds
from skstruct.learners.margins.spanning import Pieces, n_nodes
from skstruct.learners.margins.structures import train_on


def greedy(dual, oracle, edges, *, tol=0.01, accuracy=1e-4, max_iter=1000, rng=None, progress=None):
    rng = np.random.default_rng(rng)
    pieces, chosen = Pieces(n_nodes(edges)), np.zeros(len(edges), dtype=bool)
    train_on(dual, oracle, chosen, tol=accuracy, max_iter=max_iter, rng=rng)
    most = np.full(len(edges), np.inf)  # the most that an edge can gain
    while (open := np.flatnonzero(pieces.apart(edges))).size:
        bounds = np.maximum(optimum_bounds(dual), dual.dual_objective - most)
        race = Race(dual, oracle, chosen, bounds, open, rng)
        before = dual.objective
        e, dual_e = race.winner(accuracy * dual.objective, max_iter)
        most = before - bounds
        if most[e] <= accuracy * dual.objective:
            break
        chosen[e] = True
        here = pieces.piece[edges[e]]
        pieces.join(*edges[e])
        if progress: progress(e, before - dual_e.objective, dual_e)
        touched = np.isin(pieces.piece[edges], pieces.piece[edges[e, 0]]).any(axis=1)
        most[touched] = np.inf
        dual = dual_e
    return chosen, train_on(dual, oracle, chosen, tol=tol, max_iter=max_iter, rng=rng)
