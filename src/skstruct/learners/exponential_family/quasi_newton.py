# SPDX-License-Identifier: BSD-3-Clause
r"""L-BFGS for convex objectives of many weights.

The inverse Hessian is that of Byrd, Nocedal and Schnabel (1994), theorem 2.2,

.. math:: H = \gamma I + \begin{pmatrix} S & \gamma Y \end{pmatrix}
          \begin{pmatrix} R^{-\top} (D + \gamma Y^\top Y) R^{-1} & -R^{-\top} \\ -R^{-1} & 0
          \end{pmatrix} \begin{pmatrix} S^\top \\ \gamma Y^\top \end{pmatrix},

with R the upper triangle of :math:`S^\top Y` and D its diagonal. A step reads the m steps S and the
m changes of the gradient Y twice: once for their products with the gradient, from which those with
the newest change follow by subtraction, and once for the direction.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

MEMORY = 6  # steps that are remembered
SUFFICIENT, CURVATURE = 1e-4, 0.9  # the conditions of Wolfe
MOST_TRIALS = 50  # of one search along a line
FARTHER, SHORTER, CLOSER = 4.0, 0.1, 0.5  # factors of a step that was too short, or too long

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]


class History:
    """The last steps and changes of the gradient, and their inner products.

    Parameters
    ----------
    d : int
        Number of weights.
    """

    def __init__(self, d: int, memory: int = MEMORY) -> None:
        self.memory, self.n = memory, 0
        self.S, self.Y = np.empty((memory, d)), np.empty((memory, d))  # in a ring
        self.SY, self.YY = np.zeros((memory, memory)), np.zeros((memory, memory))
        self.Sg, self.Yg = np.zeros(memory), np.zeros(memory)  # products with the last gradient

    def state(self) -> dict[str, Any]:
        return dict(vars(self))

    def restore(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)

    def add(self, step: np.ndarray, change: np.ndarray, gradient: np.ndarray) -> None:
        """Remember a step that has led to this gradient, unless it shows no curvature."""
        curved = float(step @ change)
        square = float(change @ change)
        if not curved > np.finfo(float).eps * square:
            self._look(gradient)
            return
        k = self.n % self.memory
        before_S, before_Y = self.Sg.copy(), self.Yg.copy()
        self.S[k], self.Y[k] = step, change
        self.n += 1
        self._look(gradient)
        # s_i' y and y_i' y of the newest y, which is the difference of two gradients.
        self.SY[:, k] = self.Sg - before_S
        self.YY[:, k] = self.YY[k] = self.Yg - before_Y
        self.SY[k, k], self.YY[k, k] = curved, square

    def _look(self, gradient: np.ndarray) -> None:
        used = min(self.n, self.memory)
        self.Sg[:used], self.Yg[:used] = self.S[:used] @ gradient, self.Y[:used] @ gradient

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """Minus H times the gradient that was seen last."""
        if not self.n:
            return -gradient
        used = min(self.n, self.memory)
        order = np.arange(self.n - used, self.n) % self.memory  # oldest first
        at = np.ix_(order, order)
        R = np.triu(self.SY[at])
        gamma = R[-1, -1] / self.YY[order[-1], order[-1]]
        p = solve_triangular(R, self.Sg[order])
        right = np.diag(R) * p + gamma * (self.YY[at] @ p - self.Yg[order])
        of_S, of_Y = np.empty(used), np.empty(used)
        of_S[order], of_Y[order] = solve_triangular(R, right, trans="T"), -gamma * p
        found: np.ndarray = -gamma * gradient
        found -= of_S @ self.S[:used]
        found -= of_Y @ self.Y[:used]
        return found


class Descent:
    """Where a minimisation stands: weights, objective, gradient, and what was seen on the way."""

    def __init__(self, function: Function, theta: np.ndarray, memory: int = MEMORY) -> None:
        self.function, self.theta = function, theta
        self.history, self.n_iter, self.n_calls = History(len(theta), memory), 0, 0
        self.value, self.gradient, self.failed = np.inf, theta, False
        self.trace: list[float] = []  # values so far

    def state(self) -> dict[str, Any]:
        names = ("theta", "value", "gradient", "n_iter", "n_calls", "history", "trace")
        return {name: getattr(self, name) for name in names}

    def restore(self, state: dict[str, Any]) -> None:
        state = dict(state)
        self.history.restore(state.pop("history"))
        for name, value in state.items():
            setattr(self, name, value)

    def begin(self) -> None:
        self.value, self.gradient = self._call(self.theta)
        self.trace = [float(self.value)]

    def _call(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        self.n_calls += 1
        return self.function(theta)

    def step(self) -> bool:
        """One step; False where the objective falls no more along the direction."""
        direction = self.history.direction(self.gradient)
        slope = float(direction @ self.gradient)
        if not slope < 0.0:
            return False
        length = 1.0 if self.history.n else min(1.0, 1.0 / np.abs(self.gradient).sum())
        found = self._searched(direction, slope, length)
        if found is None:
            # Far from a minimum, where a step promises much, the search itself has failed.
            small = np.sqrt(np.finfo(float).eps) * max(1.0, abs(self.value))
            self.failed = not -slope * length <= small
            return False
        length, value, gradient = found
        direction *= length
        self.theta = self.theta + direction
        change = gradient - self.gradient
        self.history.add(direction, change, gradient)
        self.value, self.gradient, self.n_iter = value, gradient, self.n_iter + 1
        self.trace.append(float(value))
        return True

    def _searched(
        self, direction: np.ndarray, slope: float, length: float
    ) -> tuple[float, float, np.ndarray] | None:
        """A step length that meets the conditions of Wolfe, with value and gradient there."""
        low, high, best = 0.0, np.inf, None
        for _ in range(MOST_TRIALS):
            value, gradient = self._call(self.theta + length * direction)
            if not value <= self.value + SUFFICIENT * length * slope:
                high = length
                # The parabola through both values with the slope at the start.
                excess = value - self.value - length * slope
                guess = -0.5 * slope * length * length / excess if np.isfinite(excess) else 0.0
                within = low + SHORTER * (high - low), low + CLOSER * (high - low)
                length = float(np.clip(guess, *within))
            elif float(gradient @ direction) < CURVATURE * slope:
                low, best = length, (length, value, gradient)
                length = FARTHER * length if high == np.inf else low + CLOSER * (high - low)
            else:
                return length, value, gradient
            if high - low <= np.finfo(float).eps * high:
                break
        return best
