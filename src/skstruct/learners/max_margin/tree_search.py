# SPDX-License-Identifier: BSD-3-Clause
"""Forests of edges for a network: found in one go, or grown by the best edge again and again."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.max_margin.chow_liu import Pieces, n_nodes, spanning_forest
from skstruct.learners.max_margin.dual import HingeDual

KEPT = 4  # half-trained candidates in memory


class Winner(NamedTuple):
    """An edge, and a dual that is trained with it."""

    edge: int
    dual: HingeDual


def edge_bounds(dual: HingeDual) -> Any:
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

    def __init__(
        self,
        dual: HingeDual,
        oracle: Callable[..., Any],
        chosen: np.ndarray,
        bounds: np.ndarray,
        accuracy: float,
        max_iter: int,
        rng: np.random.Generator,
        level: Any = NOWHERE,
    ) -> None:
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

    def _restore(self, state: dict[str, Any]) -> None:
        np.copyto(self.bounds, state["bounds"])
        for e, dual in state["trained"].items():
            self.trained[int(e)] = self.dual.fork().restore(dual)

    def winner(self, candidates: np.ndarray) -> Winner | None:
        """The best of some edges (by number); None when none of them gains anything."""
        while len(candidates):
            first, *others = candidates[np.argsort(self.bounds[candidates], kind="stable")]
            if self.bounds[first] >= self.dual.objective - self.least:
                return None
            dual = self.trained.get(first)
            if dual is not None and self._done(dual):
                return Winner(int(first), self.trained.pop(first))
            self._train(first, runner_up=self.bounds[others[0]] if others else np.inf)
        return None

    def _done(self, dual: HingeDual) -> bool:
        return dual.gap <= self.least / 2 or dual.n_iter - self.dual.n_iter >= self.max_iter

    def _train(self, e: int, runner_up: float) -> None:
        """Until the candidate has lost its lead over the runner-up, or is done."""
        dual = self.trained.pop(e, None) or self._begin(e)
        level = self.level.below("candidate")
        dual.solve(self.oracle, self.accuracy / 2, self._passes(dual, runner_up), self.rng, level)
        self.bounds[e] = max(self.bounds[e], dual.dual_objective)
        if len(self.trained) >= KEPT:
            del self.trained[max(self.trained, key=self.bounds.__getitem__)]
        self.trained[e] = dual

    def _begin(self, e: int) -> HingeDual:
        free = self.chosen.copy()
        free[e] = True
        return self.dual.fork().penalise(l1=np.where(free, 0.0, np.inf), shift=0.0)

    def _passes(self, dual: HingeDual, runner_up: float) -> Iterator[None]:
        yield
        while dual.dual_objective < runner_up and dual.n_iter - self.dual.n_iter < self.max_iter:
            yield


# Forests of edges for a network, each found in one go, and the weights on them.
#
# All finders of forests take a dual whose constants are the edges, its oracle and the edges
# (E, 2), and return a mask (E,) and a dual that is trained on it. The dual they are given is
# where training begins; it is used up.


def train_on(
    dual: HingeDual,
    oracle: Callable[..., Any],
    free: np.ndarray,
    *,
    tol: float = 0.01,
    max_iter: int = 1000,
    rng: Any = None,
    level: Any = NOWHERE,
) -> HingeDual:
    """Train with some edges free, by mask, and all others at zero; the means are kept."""
    dual.penalise(l1=np.where(free, 0.0, np.inf), shift=0.0)
    return dual.solve(oracle, tol, range(max_iter), rng, level)


def project(
    dual: HingeDual,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    *,
    tol: float = 0.01,
    max_iter: int = 1000,
    rng: Any = None,
    level: Any = NOWHERE,
) -> tuple[np.ndarray, HingeDual]:
    r"""The maximum spanning forest of the weights that training with all edges gives.

    This is the circuit rank cost of ``crank`` with a large :math:`\beta`, from the full
    model: edges off its forest become zero at once. With such a cost the edges of the forest
    could not change their signs either; here the forest is trained freely, which no sign
    constraint can improve on.
    """
    training: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "rng": np.random.default_rng(rng)}
    forest = level.found.get("forest")
    if forest is None:
        all_edges = np.ones(len(edges), bool)
        train_on(dual, oracle, all_edges, **training, level=level.below("all edges"))
        forest = spanning_forest(edges, np.abs(dual.constants))
    level.keep(forest=forest)
    return forest, train_on(dual, oracle, forest, **training, level=level.below("forest"))


def mst(
    dual: HingeDual,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    *,
    tol: float = 0.01,
    accuracy: float = 1e-4,
    max_iter: int = 1000,
    rng: Any = None,
    level: Any = NOWHERE,
) -> tuple[np.ndarray, HingeDual]:
    r"""The maximum spanning forest of what each edge gains alone.

    Gain is how much one edge lowers the objective of the model without edges. Edges are
    taken by falling gain, each of them the best of a race, so that those which would close
    a circle need no training.

    Parameters
    ----------
    accuracy : float
        Gains that differ by less than this share of the objective may change their order.
    """
    training: dict[str, Any] = {"max_iter": max_iter, "rng": np.random.default_rng(rng)}
    forest = level.found.get("forest")
    if forest is None:
        forest = _best_gains(dual, oracle, edges, accuracy, training, level.below("gains"))
        forest = spanning_forest(edges, *forest)
    level.keep(forest=forest)
    return forest, train_on(dual, oracle, forest, tol=tol, **training, level=level.below("forest"))


def _best_gains(
    dual: HingeDual,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    accuracy: float,
    training: dict[str, Any],
    level: Any,
) -> tuple[np.ndarray, np.ndarray]:
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


def greedy(
    dual: HingeDual,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    *,
    separable: bool = True,
    tol: float = 0.01,
    accuracy: float = 1e-4,
    max_iter: int = 1000,
    rng: Any = None,
    progress: Callable[..., Any] | None = None,
    level: Any = NOWHERE,
) -> tuple[np.ndarray, HingeDual]:
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
    training: dict[str, Any] = {"max_iter": max_iter, "rng": np.random.default_rng(rng)}
    forest = level.found.get("forest")
    if forest is None:
        forest, dual = _grown(
            dual, oracle, edges, separable=separable, accuracy=accuracy, progress=progress,
            training=training, level=level.below("growing"),
        )  # fmt: skip
    level.keep(forest=forest)
    return forest, train_on(dual, oracle, forest, tol=tol, **training, level=level.below("forest"))


def _grown(
    dual: HingeDual,
    oracle: Callable[..., Any],
    edges: np.ndarray,
    *,
    separable: bool,
    accuracy: float,
    progress: Callable[..., Any] | None,
    training: dict[str, Any],
    level: Any,
) -> tuple[np.ndarray, HingeDual]:
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
