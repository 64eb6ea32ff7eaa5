# SPDX-License-Identifier: BSD-3-Clause
r"""The mean of the worst share of costs under weighted scenarios, and points where it is least.

With weights w of scenarios that sum to one and a the share of the worst, the conditional value at
risk of costs L is both of

.. math:: \min_t\; t + \frac1a \sum_i w_i (L_i - t)_+
    \;=\; \max_q \Bigl\{ \sum_i q_i L_i : 0 \le q_i \le w_i / a,\ \sum_i q_i = 1 \Bigr\}.

The second form proves bounds: for costs :math:`L_i = \langle c_i, z \rangle` and any such q, no z
has less than :math:`\min_z \langle \sum_i q_i c_i, z \rangle`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.exceptions import UnverifiedAnswerError
from skstruct.spaces.solvers.linear_programs import solve_linear_program
from skstruct.spaces.solvers.marginals import nearest_on_simplex
from skstruct.spaces.solvers.mixed_programs import (
    LinearSet,
    MixedProgram,
    check_point,
    rounded_point,
    simplex_program,
    solve_mixed_program,
)
from skstruct.tolerances import ROUNDING_GAP, SOLVER_GAP, TIE

ROUNDS = 200  # of new outputs, where there is no program


def probabilities(weights: Any) -> np.ndarray:
    """The nearest weights (n, m) that are not negative and sum to one; such stay as they are.

    >>> probabilities(np.array([[0.25, 0.75, 0.0], [0.5, 0.8, -0.1]])).round(3).tolist()
    [[0.25, 0.75, 0.0], [0.35, 0.65, 0.0]]
    """
    weights = np.asarray(weights, dtype=np.float64)
    sums = weights.sum(axis=1, keepdims=True)
    # Zeros stay zeros: what a projection adds by rounding would bring every scenario in.
    given = (weights >= 0).all(axis=1, keepdims=True) & (np.abs(sums - 1.0) <= TIE)
    return np.where(given, weights / np.where(given, sums, 1.0), nearest_on_simplex(weights))


@dataclass(frozen=True)
class TailRisk:
    """A mixture of the mean and of the mean of the worst.

    Attributes
    ----------
    level : float from 0, below 1
        The worst are a share 1 - level.
    mean_weight : float from 0 to 1
        Share of the mean in the mixture.

    Examples
    --------
    >>> costs, weights = np.array([[1.0, 2.0, 4.0]]), np.array([[0.5, 0.25, 0.25]])
    >>> TailRisk(0.5).of(costs, weights)
    array([3.])
    """

    level: float
    mean_weight: float = 0.0

    def worst(self, costs: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weights p (n, m) of scenarios under which the mean is the risk: its largest."""
        order = np.argsort(-costs, axis=1, kind="stable")
        sorted_weights = np.take_along_axis(np.broadcast_to(weights, costs.shape), order, axis=1)
        before = np.cumsum(sorted_weights, axis=1) - sorted_weights
        taken = np.clip(1.0 - self.level - before, 0.0, sorted_weights)
        shares = np.empty(costs.shape)
        np.put_along_axis(shares, order, taken / taken.sum(axis=1, keepdims=True), axis=1)
        return self.mean_weight * weights + (1.0 - self.mean_weight) * shares

    def of(self, costs: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The risk of every row of costs (n, m) under weights (n or 1, m); shape (n,)."""
        return (self.worst(costs, weights) * costs).sum(axis=1)

    def over_list(self, costs: np.ndarray, weights: np.ndarray) -> tuple[int, float]:
        """The row of costs (k, m) of least risk, the first of equals, and its risk."""
        risks = self.of(costs, weights[None])
        best = int(risks.argmin())
        return best, float(risks[best])

    # ------------------------------------------------------------- over a program
    def over_program(
        self, costs: np.ndarray, weights: np.ndarray, program: LinearSet
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The point z of least risk of ``costs @ z``, over points by linear constraints.

        Parameters
        ----------
        costs : array of shape (m, d)
        weights : array of shape (m,)
            Positive, with sum one.

        Returns
        -------
        point : array of shape (d,)
        worst : array of shape (m,)
            Weights of the second form, which prove a bound.
        bound : float
            What branch and bound claims; minus infinity where there was no need of it.
        """
        scale = max(np.abs(costs).max(initial=0.0), np.finfo(float).tiny)
        cost, lifted = self._lifted(costs / scale, weights, program)
        system = (lifted.A_eq, lifted.b_eq, lifted.A_ub, lifted.b_ub, lifted.low, lifted.high)
        answer = solve_linear_program(cost, *system)
        d = costs.shape[1]
        worst = self._shares(-answer.ub_duals[-len(weights) :], weights)
        point, bound = rounded_point(answer.point[:d], program), -np.inf
        if point is None:
            found, bound = solve_mixed_program(cost, lifted)
            point = rounded_point(found[:d], program)
        if point is None:
            raise UnverifiedAnswerError("The solver's answer is not made of whole numbers.")
        check_point(point, program)
        return point, worst, bound * scale

    def _lifted(
        self, costs: np.ndarray, weights: np.ndarray, program: LinearSet
    ) -> tuple[np.ndarray, MixedProgram]:
        """Costs and constraints of (z, t, u), with u_i >= <c_i, z> - t and u >= 0."""
        m = len(costs)
        tail = 1.0 - self.mean_weight
        beyond = tail / (1.0 - self.level) * weights
        cost = np.concatenate([self.mean_weight * (weights @ costs), [tail], beyond])
        excess = sparse.hstack([costs, -np.ones((m, 1)), -sparse.eye_array(m)], format="csr")
        A_ub, A_eq = (_widened(A, m + 1) for A in (program.A_ub, program.A_eq))
        return cost, MixedProgram(
            sparse.vstack([A_ub, excess], format="csr"),
            np.concatenate([program.b_ub, np.zeros(m)]),
            A_eq,
            program.b_eq,
            np.concatenate([program.low, [-np.inf], np.zeros(m)]),
            np.concatenate([program.high, np.full(m + 1, np.inf)]),
            np.concatenate([program.integral, np.zeros(m + 1, bool)]),
        )

    def _shares(self, duals: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Dual variables as weights of the second form, which they are up to the solver's rounding:
        within their limits, with sum one.
        """
        most = weights / (1.0 - self.level)
        shares = np.clip(duals / max(1.0 - self.mean_weight, np.finfo(float).tiny), 0.0, most)
        missing, room = 1.0 - shares.sum(), most - shares
        if missing < 0:
            shares /= shares.sum()
        elif room.sum() > 0:
            shares += min(missing / room.sum(), 1.0) * room
        return self.mean_weight * weights + (1.0 - self.mean_weight) * shares

    # ------------------------------------------------------------- over any set that is decoded
    def over_columns(
        self, costs: np.ndarray, weights: np.ndarray, argmin: Callable[..., Any]
    ) -> tuple[Any, float, float]:
        """An output of small risk with a bound, by outputs of least linear cost alone.

        Mixtures of the outputs that are known have a least risk; the weights that prove it ask for
        one more output, the best for them (column generation). Over mixtures that is exact, and
        what they have less than the best single output is the gap.

        Parameters
        ----------
        argmin : callable
            Of costs (d,) to an output, its embedding (d,) and a bound on its cost.
        """
        output, psi, _ = argmin(weights @ costs)
        outputs, table, bound = [output], [costs @ psi], -np.inf
        for _ in range(ROUNDS):
            L = np.array(table)  # shape: (k, m)
            mixture, worst, _ = self.over_program(L.T, weights, simplex_program(len(L)))
            output, psi, proven = argmin(worst @ costs)
            bound = max(bound, proven)
            least = self.of((mixture @ L)[None], weights[None])[0]
            if bound >= least - ROUNDING_GAP * np.abs(L).max(initial=0.0):
                break
            outputs.append(output)
            table.append(costs @ psi)
        best, value = self.over_list(np.array(table), weights)
        return outputs[best], value, bound


def closed(bound: float, value: float, size: float) -> float:
    """A bound of a solver, or the value itself where the two differ by rounding alone."""
    return value if bound >= value - SOLVER_GAP * max(size, abs(value)) else bound


def _widened(A: Any, n_columns: int) -> sparse.csr_array:
    """The same constraints with further columns that they say nothing of."""
    more = sparse.csr_array((A.shape[0], n_columns))
    return sparse.csr_array(sparse.hstack([A, more], format="csr"))
