# SPDX-License-Identifier: BSD-3-Clause
"""Forests that compete: the best of several, and exchanges of edges that make it better."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.max_margin.chow_liu import n_nodes
from skstruct.learners.max_margin.dual import HingeDual
from skstruct.learners.max_margin.tree_search import train_on

MOST_BOUNDS = 50  # means of earlier trainings by which forests are bounded


def pulls(dual: HingeDual) -> tuple[float, np.ndarray]:
    r"""What bounds the objective of every forest from below, given the means of one dual.

    The means stay feasible whichever edges are free, and then the dual is
    :math:`D_T = c - \sum_{e \in T} p_e` with :math:`p_e = z_e^2 / 2\lambda`: no weights on the
    forest T have a lower objective. Returns c and p (E,), of a dual whose edges are free or zero.
    """
    pull = dual.z**2 / (2.0 * dual.lam)
    return dual.dual_objective + float(pull[np.isfinite(dual.l1)].sum()), pull


def exchanges(edges: np.ndarray, forest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges that leave a forest and edges that come in their place, by number; each (K,).

    An edge that closes a circle comes for each of the circle's other edges; one that joins two
    trees comes for none, which is -1.

    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> exchanges(triangle, np.array([True, False, True]))
    (array([0, 2]), array([1, 1]))
    """
    inside, outside = np.flatnonzero(forest), np.flatnonzero(~forest)
    above, root = _root_paths(n_nodes(edges), edges[inside])
    i, j = edges[outside].T
    joined = root[i] == root[j]
    k, at = np.nonzero((above[i] ^ above[j]) & joined[:, None])
    new = outside[~joined]
    out = np.concatenate([inside[at], np.full(len(new), -1)])
    return out, np.concatenate([outside[k], new])


def _root_paths(n: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which edges lie between each node and the root of its tree (n, E), and that root (n,)."""
    beside: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for e, (i, j) in enumerate(edges.tolist()):
        beside[i].append((j, e))
        beside[j].append((i, e))
    above, root = np.zeros((n, len(edges)), bool), np.full(n, -1)
    for start in range(n):
        if root[start] >= 0:
            continue
        root[start], waiting = start, [start]
        while waiting:
            i = waiting.pop()
            for j, e in beside[i]:
                if root[j] < 0:
                    root[j], above[j] = start, above[i]
                    above[j, e] = True
                    waiting.append(j)
    return above, root


class Contest:
    r"""The best forest so far, its dual, and challengers that are trained while they may win.

    A challenger begins at the means of the best forest, and is given up as soon as its lower bound
    says that it gains too little. All means that were met bound all forests, see ``pulls``, so that
    most challengers are never trained.

    Parameters
    ----------
    dual : HingeDual
        Where training begins.
    oracle : callable
    edges : int array of shape (E, 2)
    accuracy : float
        Gap to which forests are trained, and the least gain that counts, as shares of the
        objective.
    max_iter : int
        Passes over the examples, of each training.
    rng : Generator
    level : Level
        Where a fit that is saved goes on.
    """

    def __init__(
        self,
        dual: HingeDual,
        oracle: Callable[..., Any],
        edges: np.ndarray,
        *,
        accuracy: float,
        max_iter: int,
        rng: Any,
        level: Any = NOWHERE,
    ) -> None:
        self.dual, self.oracle, self.edges, self.rng = dual, oracle, edges, rng
        self.accuracy, self.max_iter = accuracy, max_iter
        self.forest: np.ndarray | None = None  # the best; the dual is trained on it
        self.known: list[tuple[float, np.ndarray]] = [pulls(dual)]
        self.lost: list[np.ndarray] = []  # forests that are no better than the best
        self.n_lost, self.exchanging = 0, False  # exchanges in a row that gained nothing
        if level.found:
            self._restore(level.found["contest"])
        self.level = level
        level.keep(contest=self)

    def state(self) -> dict[str, Any]:
        """What the contest has come to, but for the training that is under way."""
        constants, pulls_ = zip(*self.known)
        lost = np.array(self.lost).reshape(-1, len(self.edges))
        known = {"constants": np.array(constants), "pulls": np.array(pulls_)}
        reached = {"n_lost": self.n_lost, "exchanging": self.exchanging}
        return {"dual": self.dual, "lost": lost, "forest": self.forest, **known, **reached}

    def _restore(self, state: dict[str, Any]) -> None:
        self.dual.restore(state["dual"])
        self.known = list(zip(state["constants"].tolist(), state["pulls"]))
        self.lost, self.forest = list(state["lost"]), state["forest"]
        self.n_lost, self.exchanging = state["n_lost"], state["exchanging"]

    # ------------------------------------------------------------------ several forests
    def best_of(self, forests: Iterable[np.ndarray]) -> Self:
        """Let some forests compete, the most promising first."""
        left = list({mask.tobytes(): mask for mask in forests}.values())
        if self.forest is not None:
            tried = {mask.tobytes() for mask in [*self.lost, self.forest]}
            left = [mask for mask in left if mask.tobytes() not in tried]
        while left and not self.exchanging:
            bounds = [self._bound(forest) for forest in left]
            first = int(np.argmin(bounds))
            if self.forest is None:
                self._begin(left[first])
            elif bounds[first] < self._to_beat:
                self._challenge(left[first])
            else:
                break
            del left[first]
        return self

    def _begin(self, forest: np.ndarray) -> None:
        settings = {"tol": self.accuracy, "max_iter": self.max_iter, "rng": self.rng}
        train_on(self.dual, self.oracle, forest, **settings, level=self.level.below("first"))
        self.forest = forest
        self._meet(self.dual)

    def _bound(self, forest: np.ndarray) -> float:
        return max(constant - float(pull[forest].sum()) for constant, pull in self.known)

    @property
    def _to_beat(self) -> float:
        """An objective that gains enough."""
        return (1.0 - self.accuracy) * self.dual.objective

    def _challenge(self, forest: np.ndarray) -> bool:
        """Train another forest until it has lost, or is the best one."""
        free, to_beat = np.where(forest, 0.0, np.inf), self._to_beat
        dual = self.dual.fork().penalise(l1=free, shift=0.0)
        dual.objective = np.inf

        def passes() -> Iterator[None]:
            for _ in range(self.max_iter):
                if dual.dual_objective >= to_beat:
                    return
                yield

        level = self.level.below("challenger")
        dual.solve(self.oracle, self.accuracy, passes(), self.rng, level)
        self._meet(dual)
        won = dual.objective < self.dual.objective
        before = self.forest
        assert before is not None
        if won:
            self.forest, self.dual = forest, dual
        self.lost.append(before if won else forest)
        return won

    def _meet(self, dual: HingeDual) -> None:
        self.known = [*self.known, pulls(dual)][-MOST_BOUNDS:]

    # ------------------------------------------------------------------ exchanges
    def exchange(self, patience: int) -> Self:
        """Replace one edge by another while that helps.

        Parameters
        ----------
        patience : int
            Challengers that may lose in a row.
        """
        if self.dual.gap > self.accuracy * self.dual.objective:
            return self  # bounds are far off: nothing could be told
        self.exchanging = True
        while self.n_lost < patience and (forest := self._most_promising()) is not None:
            self.n_lost = 0 if self._challenge(forest) else self.n_lost + 1
        return self

    def _most_promising(self) -> np.ndarray | None:
        """The best forest but for one edge, of the lowest bound; None where none can win."""
        assert self.forest is not None
        out, new = exchanges(self.edges, self.forest)
        if not len(out):
            return None
        bounds = np.full(len(out), -np.inf)
        for constant, pull in self.known:
            padded = np.append(pull, 0.0)  # for edges that come in place of none
            here = constant - pull[self.forest].sum() + padded[out] - pull[new]
            np.maximum(bounds, here, out=bounds)
        for lost in self.lost:
            gone, come = np.flatnonzero(self.forest & ~lost), np.flatnonzero(lost & ~self.forest)
            if len(come) == 1 and len(gone) <= 1:
                bounds[(new == come[0]) & (out == (gone[0] if len(gone) else -1))] = np.inf
        first = int(np.argmin(bounds))
        if bounds[first] >= self._to_beat:
            return None
        forest = self.forest.copy()
        forest[new[first]] = True
        if out[first] >= 0:
            forest[out[first]] = False
        return forest
