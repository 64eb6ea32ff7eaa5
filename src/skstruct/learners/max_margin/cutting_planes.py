# SPDX-License-Identifier: BSD-3-Clause
r"""The structured hinge as its largest cut: what is minimized where rows cannot be kept.

At weights w a pass over all rows gives one cut: with the most violating outputs of the rows, the
mean of their losses :math:`b` and of their directions :math:`a` bound the mean hinge from below,
at any other weights too [1]_. Cuts are few and small, whatever the number of rows. The largest of
them plus the penalty has a minimum that no weights go below; it is found in its dual,

.. math:: \max_{\lambda \in \Delta} \; \langle \lambda, b \rangle
          - \frac{1}{2 \alpha} \|\textstyle\sum_c \lambda_c a_c\|^2.

The minimum itself is a bad place for the next pass, since cuts say little far from where they were
made. The next weights are those closest to the best ones so far at which the cuts leave an
objective of no more than a level between both bounds [2]_.

References
----------
.. [1] T. Joachims, T. Finley, C.-N. Yu, "Cutting-plane training of structural SVMs", Machine
   Learning 77, 2009.
.. [2] C. Lemaréchal, A. Nemirovskii, Y. Nesterov, "New variants of bundle methods", Mathematical
   Programming 69, 1995.
"""

from typing import Any, Self

import numpy as np

from skstruct.tolerances import DIAGONAL_SHIFT, DUALITY_VIOLATION, TIE

LEVEL = 0.8  # of the way from the lower to the upper bound: where the next pass is made
NEAR = 0.05  # of that way: levels this close will do
WIDER, MOST_STEPS = 8.0, 60  # of the search for a level: factor of its first steps, and how many
MOST_CUTS = 100  # of more, those of the least dual weights become one
ARRAYS = ("cuts", "losses", "products", "dual_weights", "best", "weights")
NUMBERS = ("objective", "lower", "pull", "n_iter")


def largest_on_simplex(Q: np.ndarray, b: np.ndarray, start: np.ndarray) -> np.ndarray:
    r"""The :math:`\lambda \ge 0` of sum one with most :math:`b'\lambda - \lambda'Q\lambda / 2`.

    An active set method: the coordinate that promises most joins those in use, the optimum over
    these is computed, and coordinates that would turn negative on the way there leave.

    Parameters
    ----------
    Q : array of shape (m, m), positive semidefinite
    b : array of shape (m,)
    start : array of shape (m,)
        Nonnegative, of sum one.

    Examples
    --------
    >>> largest_on_simplex(np.eye(3), np.array([1.0, 0.5, -1.0]), np.array([0.0, 0.0, 1.0]))
    array([0.75, 0.25, 0.  ])
    """
    largest = float(Q.diagonal().max())
    Q = Q + DIAGONAL_SHIFT * (largest if largest > 0.0 else 1.0) * np.eye(len(Q))
    size = max(float(np.abs(b).max()), largest)
    weights, used, value = start, np.flatnonzero(start).tolist(), -np.inf
    while True:
        weights, used = _best_of(used, Q, b, weights)
        slope = b - Q @ weights
        last, value = value, 0.5 * float(weights @ (b + slope))
        joins = int(slope.argmax())
        if slope[joins] - weights @ slope <= TIE * size or joins in used or value <= last:
            total: float = weights.sum()
            return weights / total
        used.append(joins)


def _best_of(
    used: list[int], Q: np.ndarray, b: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """The optimum over some coordinates, of which those that end at zero leave."""
    while True:
        k = len(used)
        system = np.ones((k + 1, k + 1))
        system[:k, :k], system[k, k] = Q[np.ix_(used, used)], 0.0
        target = np.linalg.solve(system, np.append(b[used], 1.0))[:k]
        now = weights[used]
        down = target < 0.0
        if not down.any() or k == 1:
            weights = np.zeros(len(b))
            weights[used] = target if k > 1 else 1.0
            return weights, used
        steps = np.full(k, np.inf)
        steps[down] = now[down] / (now[down] - target[down])
        leaves = int(steps.argmin())
        weights = np.zeros(len(b))
        weights[used] = np.maximum(now + steps[leaves] * (target - now), 0.0)
        weights[used.pop(leaves)] = 0.0


class CuttingPlanes:
    r"""Weights that minimize :math:`\tfrac\alpha2 \|w\|^2` plus a convex function known by cuts.

    Parameters
    ----------
    size : int
        Number of weights.
    alpha : float

    Attributes
    ----------
    weights : array of shape (size,), where the next pass is to be made
    best : array of shape (size,), the weights of the least objective so far
    objective, lower : float; the optimum is between them
    cuts, losses : arrays of shapes (m, size) and (m,)
        :math:`a_c` and :math:`b_c`.
    products : array of shape (m, m), of the cuts with each other
    dual_weights : array of shape (m,)
    pull : float
        How strongly the next weights are drawn to the best ones.
    """

    def __init__(self, size: int, alpha: float) -> None:
        self.alpha = float(alpha)
        self.weights, self.best = np.zeros(size), np.zeros(size)
        self.cuts, self.losses = np.zeros((0, size)), np.zeros(0)
        self.products, self.dual_weights = np.zeros((0, 0)), np.zeros(0)
        self.objective, self.lower = np.inf, 0.0  # a hinge is never negative
        self.pull, self.n_iter = self.alpha, 0
        self.history: list[tuple[int, float, float]] = []  # pass, objective, gap

    def state(self) -> dict[str, Any]:
        """All that the next pass goes on from, by name."""
        history = np.array(self.history, dtype=np.float64).reshape(-1, 3)
        return {name: getattr(self, name) for name in (*ARRAYS, *NUMBERS)} | {"history": history}

    def restore(self, state: dict[str, Any]) -> Self:
        """Be where other cuts of the same function were."""
        for name in ARRAYS:
            setattr(self, name, np.array(state[name]))
        for name in NUMBERS:
            setattr(self, name, state[name])
        self.history = [(int(n), *values) for n, *values in state["history"].tolist()]
        return self

    @property
    def gap(self) -> float:
        """How far the best weights are above the optimum, at most."""
        return max(0.0, self.objective - self.lower)

    def add(self, cut: np.ndarray, loss: float, value: float) -> None:
        """What a pass at ``weights`` has found: a cut, and an upper bound of the function there."""
        self.n_iter += 1
        objective = value + 0.5 * self.alpha * float(self.weights @ self.weights)
        if objective < self.objective:
            self.objective, self.best = objective, self.weights
        if len(self.cuts) >= MOST_CUTS:
            self._merge()
        self.cuts, self.losses = np.vstack([self.cuts, cut]), np.append(self.losses, loss)
        inner = self.cuts @ cut
        self.products = np.block([[self.products, inner[:-1, None]], [inner]])
        self.dual_weights = np.append(self.dual_weights, float(len(self.cuts) == 1))
        self._bound()
        self.history.append((self.n_iter, self.objective, self.gap))

    def _bound(self) -> None:
        """The lower bound of all cuts; one that was larger before still holds."""
        shrunk = self.products / self.alpha
        self.dual_weights = found = largest_on_simplex(shrunk, self.losses, self.dual_weights)
        value = float(found @ self.losses - 0.5 * found @ shrunk @ found)
        self.lower = max(self.lower, value)
        if self.objective - self.lower < -DUALITY_VIOLATION * max(1.0, abs(self.objective)):
            raise ValueError(
                f"The objective {self.objective:.6g} is below its lower bound "
                f"{self.lower:.6g}: a decoder gives bounds that do not hold."
            )

    def _merge(self) -> None:
        """Most cuts as they are, and those of the least dual weights, old ones, as their mean."""
        order = np.argsort(-self.dual_weights[::-1], kind="stable")
        order = len(order) - 1 - order  # of equal ones, the latest first
        n_kept = 3 * MOST_CUTS // 4
        kept, rest = np.sort(order[:n_kept]), order[n_kept:]
        mixture = np.zeros((len(kept), len(order)))
        mixture[np.arange(len(kept)), kept] = 1.0
        total = float(self.dual_weights[rest].sum())
        if total > 0.0:
            mean = np.zeros(len(order))
            mean[rest] = self.dual_weights[rest] / total
            mixture = np.vstack([mixture, mean])
        self.cuts, self.losses = mixture @ self.cuts, mixture @ self.losses
        self.products = mixture @ self.products @ mixture.T
        self.dual_weights = np.append(self.dual_weights[kept], [total] if total > 0.0 else [])

    def move(self) -> None:
        """Go to where the next pass is made: to the level, as close to the best as can be."""
        low, width = self.lower, self.objective - self.lower
        scores = self.cuts @ self.best
        weak, strong = 0.0, np.inf  # pulls at which the cuts leave less than the level, and more
        for _ in range(MOST_STEPS):
            weights = self._pulled(scores)
            cuts = float((self.losses + self.cuts @ weights).max())
            above = cuts + 0.5 * self.alpha * float(weights @ weights) - low - LEVEL * width
            if abs(above) <= NEAR * width:
                break
            if above > 0.0:
                strong = self.pull
            else:
                weak = self.pull
            if strong == np.inf:
                self.pull = WIDER * weak
            elif weak == 0.0:
                self.pull = strong / WIDER
            else:
                self.pull = float(np.sqrt(weak * strong))
        self.weights = weights

    def _pulled(self, scores: np.ndarray) -> np.ndarray:
        r"""The minimum of cuts and penalty plus :math:`\tfrac\kappa2 |w - w_{best}|^2`.

        With :math:`t = \kappa / (\alpha + \kappa)` it is the problem of a penalty
        :math:`\alpha + \kappa`, seen from :math:`t w_{best}`, where cuts have the values
        :math:`b + t A w_{best}`.
        """
        total = self.alpha + self.pull
        t = self.pull / total
        found = largest_on_simplex(
            self.products / total, self.losses + t * scores, self.dual_weights
        )
        return t * self.best - (found @ self.cuts) / total
