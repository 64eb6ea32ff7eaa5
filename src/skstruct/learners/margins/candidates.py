# SPDX-License-Identifier: BSD-3-Clause
"""The edge that helps a network most, without training all candidates to the end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skstruct.learners.checkpoints.levels import NOWHERE
from skstruct.learners.margins.dual import HingeDual

KEPT = 4  # half-trained candidates in memory


class Winner(NamedTuple):
    """An edge, and a dual that is trained with it."""

    edge: int
    dual: HingeDual


def edge_bounds(dual) -> np.ndarray:
    r"""What the objective cannot get below when one more edge is free; shape (E,).

    The means of a dual stay feasible when an edge is set free; then the dual pays for it:
    :math:`P^*(G + e) \ge D_{G+e} = D_G - z_e^2 / 2\lambda`.
    """
    return dual.dual_objective - dual.z**2 / (2.0 * dual.lam)


class Race:
    """Candidates to join a graph, the most promising first.

    Every candidate has a lower bound of its optimum. The one whose bound is lowest is trained
    for some passes, which raises its bound. One that is still lowest when its gap is small
    has won, since the optimum of any other lies above that other's bound.

    Parameters
    ----------
    dual : HingeDual
        Trained on the graph.
    chosen : bool array of shape (E,)
        The graph.
    bounds : array of shape (E,)
        Lower bounds of the optimum with each edge added. They rise as the race goes on.
    accuracy : float
        Share of the objective. A winner may be as far behind the best, and gains of this
        size count as none.
    max_iter : int
        Passes that a candidate may take.
    """

    def __init__(self, dual, oracle, chosen, bounds, accuracy, max_iter, rng, level=NOWHERE):
        self.dual, self.oracle, self.chosen, self.rng = dual, oracle, chosen.copy(), rng
        self.bounds, self.max_iter = bounds, max_iter
        self.accuracy, self.least = accuracy, accuracy * dual.objective
        self.trained: dict[int, HingeDual] = {}
        if level.found:
            self._restore(level.found["race"])
        self.level = level
        level.keep(race=self)

    def state(self) -> dict[str, Any]:
        """What the race has come to, but for the candidate that is being trained."""
        return {"bounds": self.bounds, "trained": {str(e): d for e, d in self.trained.items()}}

    def _restore(self, state):
        np.copyto(self.bounds, state["bounds"])
        for e, dual in state["trained"].items():
            self.trained[int(e)] = self.dual.fork().restore(dual)

    def winner(self, candidates) -> Winner | None:
        """The best of some edges (by number); None when none of them gains anything."""
        while len(candidates):
            first, *others = candidates[np.argsort(self.bounds[candidates], kind="stable")]
            if self.bounds[first] >= self.dual.objective - self.least:
                return None
            dual = self.trained.get(first)
            if dual is not None and self._done(dual):
                return Winner(int(first), self.trained.pop(first))
            self._train(first, rival=self.bounds[others[0]] if others else np.inf)
        return None

    def _done(self, dual) -> bool:
        return dual.gap <= self.least / 2 or dual.n_iter - self.dual.n_iter >= self.max_iter

    def _train(self, e, rival):
        """Until the candidate has lost its lead over a rival, or is done."""
        dual = self.trained.pop(e, None) or self._begin(e)
        level = self.level.below("candidate")
        dual.solve(self.oracle, self.accuracy / 2, self._passes(dual, rival), self.rng, level)
        self.bounds[e] = max(self.bounds[e], dual.dual_objective)
        if len(self.trained) >= KEPT:
            del self.trained[max(self.trained, key=self.bounds.__getitem__)]
        self.trained[e] = dual

    def _begin(self, e):
        free = self.chosen.copy()
        free[e] = True
        return self.dual.fork().penalise(l1=np.where(free, 0.0, np.inf), shift=0.0)

    def _passes(self, dual, rival):
        yield
        while dual.dual_objective < rival and dual.n_iter - self.dual.n_iter < self.max_iter:
            yield
