# SPDX-License-Identifier: BSD-3-Clause
"""The edge that helps a network most, without training all candidates to the end."""

from __future__ import annotations

import heapq

import numpy as np

PASSES = 2  # over the examples, whenever a candidate is looked at
KEPT = 4  # half-trained candidates in memory


def optimum_bounds(dual) -> np.ndarray:
    r"""What no training with one more edge can get below; shape (E,).

    The means of a dual stay feasible when an edge is set free, and then the dual pays for it:
    :math:`P^*(G + e) \ge D_{G+e} = D_G - z_e^2 / 2\lambda`.
    """
    return dual.dual_objective - dual.z**2 / (2.0 * dual.lam)


class Race:
    """Candidates to join a forest, the most promising first.

    Every candidate has a lower bound of its optimum. The one of lowest bound is trained for
    some passes, which raises its bound; who is lowest again when its gap is small has won,
    since the optima of all others lie above their bounds.

    Parameters
    ----------
    dual : HingeDual
        Trained on the forest.
    chosen : bool array of shape (E,)
        The forest.
    bounds : array of shape (E,)
        Lower bounds of the optimum with each edge added.
    """

    def __init__(self, dual, oracle, chosen, bounds, candidates, rng):
        self.dual, self.oracle, self.chosen, self.rng = dual, oracle, chosen, rng
        self.bounds = bounds
        self.waiting = [(bounds[e], e) for e in candidates]
        heapq.heapify(self.waiting)
        self.trained: dict[int, object] = {}

    def winner(self, accuracy, max_iter):
        """Edge and its dual: no other has an optimum that is lower by more than `accuracy`."""
        passes = 0
        while True:
            _, e = heapq.heappop(self.waiting)
            dual = self.trained.pop(e, None)
            if dual is not None and (dual.gap <= accuracy or dual.n_iter - self.dual.n_iter > max_iter):
                heapq.heappush(self.waiting, (self.bounds[e], e))
                return e, dual
            self._train(e, self._begin(e) if dual is None else dual, accuracy)

    def _begin(self, e):
        free = self.chosen.copy()
        free[e] = True
        return self.dual.fork().penalise(l1=np.where(free, 0.0, np.inf), shift=0.0)

    def _train(self, e, dual, accuracy):
        dual.solve(self.oracle, -1.0, range(PASSES), self.rng)
        self.bounds[e] = max(self.bounds[e], dual.dual_objective)
        heapq.heappush(self.waiting, (self.bounds[e], e))
        self.trained[e] = dual
        if len(self.trained) > KEPT:
            del self.trained[max(self.trained, key=self.bounds.__getitem__)]
