# SPDX-License-Identifier: BSD-3-Clause
"""What smooths when nobody says: several smoothers together, or the best of them."""

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct._arrays.progress import announce, track
from skstruct.learners.conditional_risk.parts import Part, planned_parts
from skstruct.learners.inputs import TrainingData
from skstruct.learners.leave_out import LeaveOutSearch, group_numbers, searched_by, stand_in
from skstruct.learners.problem import risk_problem
from skstruct.learners.regression import Regressed, warn_of_loss
from skstruct.losses import resolve_loss
from skstruct.smoothing.base import light
from skstruct.smoothing.penalties import fit_and_leave_out, smoother_alphas, squared_error
from skstruct.smoothing.stacked import Stacked

STACK = "stack"
CLEARLY = 1.0  # standard errors by which a part alone must decide better than the stack
WIDE, PROJECTED = 300, 40  # more targets than these are weighed by so many projections


@dataclass
class Candidate:
    """A smoother with its left-out means of the plain targets."""

    part: Part
    smoother: Any
    left: np.ndarray  # shape: (n, n_targets)
    seconds: float


class StackedRegression:
    """Regression of the targets of a problem by a stack, or by a part that decides better.

    All parts are fitted to the targets of the space's usual loss, indicators for sets of labels,
    and so are the weights of the stack; then the targets of the problem take their place. The
    left-out *decisions* of every part and of the stack are compared, since less squared error of
    means is not always less loss: a part alone is kept where it decides better by more than a
    standard error of the paired difference, with a penalty that is chosen by decisions too.

    Parameters
    ----------
    model : ConditionalRiskMinimizer
        Its parameters; nothing is set on it.
    problem : RiskProblem
    seconds : float, default=None
        What the fit may take; by the plan of :func:`planned_parts` when None.
    """

    def __init__(self, model: Any, problem: Any, seconds: float | None = None) -> None:
        self.model, self.problem, self.seconds = model, problem, seconds
        self.judge = searched_by(problem)

    def fit(self, data: TrainingData, level: Any) -> Regressed:
        """From all rows at once."""
        self.rows, self.weight = data.rows, data.row_weight
        groups = group_numbers(self.model.cv, data.outputs, data.groups, data.X)
        self.groups = self.problem.groups_of_rows(groups)
        targets, self.are_own = self._plain_targets()
        found = self._fitted(targets)
        weight = np.ones(len(targets)) if self.weight is None else self.weight
        stack = Stacked([]).combine(
            [(c.part.name, c.smoother, c.left) for c in found],
            self.rows,
            targets,
            weight,
            self.groups,
        )
        return self._decided(found, stack, targets)

    def _plain_targets(self) -> tuple[np.ndarray, bool]:
        """What is smoothed to weigh the parts, and whether it is what the problem needs.

        Targets of the usual loss, where these are fewer; projections of many.
        """
        problem = self.problem
        if problem.rows_stand_alone and not problem.joint:
            usual = resolve_loss(self.model.space_.default_loss)
            other = risk_problem(self.model.space_, usual, problem.outputs)
            if problem.by_weights or _width(other) < _width(problem):
                problem = other
        targets = problem.targets()
        if targets.shape[1] <= WIDE:
            return targets, problem is self.problem
        directions = np.random.default_rng(0).standard_normal((targets.shape[1], PROJECTED))
        return targets @ directions / np.sqrt(PROJECTED), False

    def _fitted(self, targets: np.ndarray) -> list[Candidate]:
        """All parts that there is time for, each with its left-out means."""
        n, p = self.rows.shape
        parts = planned_parts(self.rows, targets.shape[1], self.model.random_state, self.seconds)
        announce(f"{n:,} rows x {p:,} features: {', '.join(part.name for part in parts)}")
        found = []
        for part in track(parts, "smoothers", self.model.verbose):
            start = process_time()
            smoother, left = fit_and_leave_out(
                clone(part.smoother), self.rows, targets, self.weight, self.groups
            )
            found.append(Candidate(part, smoother, left, process_time() - start))
        return found

    # ------------------------------------------------------------------ the guard
    def _decided(self, found: list[Candidate], stack: Stacked, targets: np.ndarray) -> Regressed:
        """The stack, or the part that decides better."""
        search = LeaveOutSearch()
        search.loss = stand_in(self.judge, self.problem)
        losses, trials = {}, {}
        coefs = dict(zip([c.part.name for c in found], stack.all_coef_))
        for candidate in found:
            name = candidate.part.name
            losses[name] = self._losses(candidate.smoother, candidate.left)
            trials[name] = {
                "smoother": name,
                "alpha": getattr(candidate.smoother, "alpha", None),
                "risk": self._mean(losses[name]),
                "squared error": squared_error(candidate.left, targets, self.weight),
                "weight": float(coefs[name]),
                "seconds": candidate.seconds,
            }
        together = self._losses(stack, None)
        trials[STACK] = {
            "smoother": STACK,
            "alpha": None,
            "weight": None,
            "risk": self._mean(together),
            "squared error": float(stack.errors_[-1]),
            "seconds": sum(c.seconds for c in found),
        }
        for trial in trials.values():
            search.add(trial)
        chosen = self._chosen(losses, together)
        search.best = trials[chosen]
        if chosen == STACK:
            smoother = stack.with_targets(self.problem.targets())
        else:
            smoother = next(c.smoother for c in found if c.part.name == chosen)
            smoother = self._with_best_penalty(smoother, search)
        warn_of_loss(smoother, self.problem, search, self.weight)
        return Regressed(light(smoother), search=search)

    def _chosen(self, losses: dict[str, np.ndarray], together: np.ndarray) -> str:
        """The part of least loss, if it is clearly better than the stack; else the stack."""
        best, gain = STACK, 0.0
        for name, alone in losses.items():
            better, error = self._mean_and_error(together - alone)
            if better > max(gain, CLEARLY * error):
                best, gain = name, better
        return best

    def _losses(self, smoother: Any, left: np.ndarray | None) -> np.ndarray:
        """Left-out losses of the outputs, by what a smoother makes of the problem's targets."""
        if left is None or not self.are_own:
            left = smoother.with_targets(self.problem.search_targets()).loo(self.groups)
        losses: np.ndarray = self.judge.realized_losses(left, self.model.memory)
        return losses

    def _with_best_penalty(self, smoother: Any, search: LeaveOutSearch) -> Any:
        """A part alone: its penalty, if it has one, by decisions."""
        if not hasattr(smoother, "loo_path"):
            return smoother.with_targets(self.problem.targets())
        tried, best = smoother.with_targets(self.problem.search_targets()), search.best
        alphas = smoother_alphas(tried)
        for alpha, left in zip(alphas.tolist(), tried.loo_path(alphas, self.groups)):
            losses = self.judge.realized_losses(left, self.model.memory)
            search.add({**best, "alpha": alpha, "risk": self._mean(losses)})
        return tried.with_targets(self.problem.targets()).with_alpha(search.best["alpha"])

    def _mean(self, losses: np.ndarray) -> float:
        return float(np.average(losses, weights=self.problem.output_weights(self.weight)))

    def _mean_and_error(self, values: np.ndarray) -> tuple[float, float]:
        """The weighted mean and its standard error."""
        weight = self.problem.output_weights(self.weight)
        weight = np.ones(len(values)) if weight is None else weight
        mean = float(np.average(values, weights=weight))
        share = weight / weight.sum()
        return mean, float(np.sqrt(share**2 @ (values - mean) ** 2))


def _width(problem: Any) -> int:
    width: int = problem.n_targets(compared=False)
    return width
