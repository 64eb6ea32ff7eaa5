# SPDX-License-Identifier: BSD-3-Clause
"""What smooths when nobody says: several smoothers together, or the best of them."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import announce, track
from skstruct.learners.conditional_risk.filling import left_out_of_filled
from skstruct.learners.conditional_risk.part_plan import PartPlan
from skstruct.learners.conditional_risk.parts import JUDGED, Part
from skstruct.learners.inputs import TrainingData
from skstruct.learners.leave_out import LeaveOutSearch, group_numbers, searched_by, stand_in
from skstruct.learners.problem import risk_problem
from skstruct.learners.regression import Regressed, warn_of_loss
from skstruct.losses import Observed, resolve_loss
from skstruct.smoothing import Gaps, Learning, LeavingOut, Penalties, Stacked, Weighing
from skstruct.smoothing.base import group_numbers as numbered
from skstruct.smoothing.folds import folds_of, rank_by_content
from skstruct.smoothing.penalties import (
    PenaltyPath,
    fit_and_leave_out,
    squared_error,
)
from skstruct.smoothing.planning import PATH_ROWS, SPECTRAL_ROWS
from skstruct.smoothing.stack_weights import mean_without

STACK, OF_ALL, BY_BLOCKS = "stack", "stack of all", "stack by blocks"
STACKS = (STACK, OF_ALL, BY_BLOCKS)
CONSTANT = "constant"
NEAR = 1.1  # powers of ten from the penalty of least squared error, where decisions take long
CLEARLY = 1.0  # standard errors by which a part must decide better than a stack
AT_ONCE = 0.5  # of what is left of a budget: penalties of what was chosen may take
WORTH = 0.01  # by which share twice as many landmarks must lower the error, to be doubled again


@dataclass
class Candidate:
    """A smoother with its left-out means of the plain targets."""

    name: str
    smoother: Any
    left: np.ndarray  # shape: (k, n_targets), of the rows that judge
    seconds: float
    error: float  # left-out squared error
    weight: float | None = None  # in the stack of all

    def trial(self, risk: float) -> dict[str, Any]:
        """A line of ``search_``."""
        return {
            "smoother": self.name,
            "alpha": Penalties.of(self.smoother).fitted,
            "risk": risk,
            "squared error": self.error,
            "weight": self.weight,
            "seconds": self.seconds,
        }


class StackedRegression:
    """Regression of the targets of a problem by a stack, or by a part that decides better.

    All parts are fitted to the targets of the space's usual loss, indicators for sets of labels,
    and so are the weights of the stack; then the targets of the problem take their place. The
    left-out *decisions* of the stack, of the stack with networks and classifiers, and of every
    part are compared, since less squared error of means is not always less loss: the stack that
    decides better is kept, or a part, or the mean of all rows, that is better than it by more than
    a standard error of the paired difference, a part with its penalty chosen by decisions, too.

    Of more than five thousand rows, 2,500 judge, each left out, and the targets are those of the
    problem from the start.

    Parameters
    ----------
    model : ConditionalRiskMinimizer
        Its parameters; nothing is set on it.
    problem : RiskProblem
    budget : float, default=None
        Seconds that the fit may take; see :class:`PartPlan`. Every candidate is decided from once,
        and from other penalties as long as there is time. Since parts may be missing, the least
        left-out loss wins, by however little.
    """

    n_rows: int | None = None  # of a source, of which ``rows`` are a sample

    def __init__(self, model: Any, problem: Any, budget: float | None = None) -> None:
        self.model, self.problem, self.budget = model, problem, budget
        self.judge = searched_by(problem)
        self.began, self.of_decisions = perf_counter(), 0.0  # seconds, of all left-out rows once

    def fit(self, data: TrainingData, level: Any) -> Regressed:
        """From all rows at once."""
        self.rows, self.weight = data.rows, data.row_weight
        groups = group_numbers(self.model.cv, data.outputs, data.groups, data.X)
        self.groups = self.problem.groups_of_rows(groups)
        targets, self.are_own = self._plain_targets()
        self.plain = self.decided = targets
        if not self.are_own:  # then a loss that stands in is decided from targets of its own
            self.judge = self.judge.alone()
            decided = self.judge.search_targets()
            self.decided = targets if np.array_equal(decided, targets) else decided
        self.judged = self._rows_that_judge(targets)
        parts = self._fitted(targets)
        constant = self._constant(parts[0], targets)
        return self._decided([*self._stacks(parts, targets), *parts, constant])

    def _plain_targets(self) -> tuple[np.ndarray, bool]:
        """What is smoothed to weigh the parts, and whether it is what the problem needs.

        Targets of the usual loss, where these are fewer and a second fit costs little; squares of
        quantities, which tell what a decision costs, have no part in it.
        """
        problem = self.problem
        if problem.has_gaps:
            return problem.targets(), True
        cheap = self.rows.shape[0] <= SPECTRAL_ROWS or problem.by_weights
        if cheap and problem.rows_stand_alone and not problem.joint:
            other = self._usual_problem()
            if other is None and problem.by_weights:
                other = problem.from_means()
            if other is not None and (problem.by_weights or _width(other) < _width(problem)):
                problem = other
        own, targets = self.problem.n_targets(compared=False), problem.deciding_targets()
        return targets, problem is self.problem and targets.shape[1] == own

    def _usual_problem(self) -> Any:
        """That of a loss that stands in, or of the loss that the space has when none is given.

        None where it has none.
        """
        if self.judge is not self.problem:
            return self.judge.alone()
        space = self.model.space_
        if Observed.of(self.problem.loss).space_of(space) is not space:  # costs are no outputs
            return None
        try:
            return risk_problem(space, resolve_loss(space.default_loss), self.problem.outputs)
        except ValueError:  # a space of the user's own, with embeddings for other losses
            return None

    def _rows_that_judge(self, targets: np.ndarray) -> np.ndarray | None:
        """Numbers of some rows of many, groups as a whole; None for all."""
        n = self.rows.shape[0]
        if n <= SPECTRAL_ROWS:
            return None
        weight = np.ones(n) if self.weight is None else self.weight
        number = numbered(self.groups, n, weight)
        fold = folds_of(number, round(n / JUDGED), rank_by_content(self.rows, targets))
        return np.flatnonzero(fold == 0)

    def _of_judged(self, values: Any) -> Any:
        """Entries of an array that belong to rows that judge."""
        return values if values is None or self.judged is None else values[self.judged]

    # ------------------------------------------------------------------ the parts
    def _fitted(self, targets: np.ndarray) -> list[Candidate]:
        """All parts that there is time for, each with its left-out means."""
        model, found = self.model, []
        plan = PartPlan(
            self.rows, targets, model.random_state, self.budget, self.are_own, self.n_rows
        )
        announce(f"{self._amount(targets)}; in at most about {plan.limit:,.0f} s: {plan}")
        steps: Any = plan  # which is told what was taken, step by step
        for part in track(steps, "smoothers", model.verbose):
            candidate = self._candidate(part, targets)
            while (larger := plan.larger(part, residual_of(candidate.smoother))) is not None:
                second = self._candidate(larger, targets)
                second.seconds += candidate.seconds
                pays = second.error <= (1.0 - WORTH) * candidate.error
                if second.error < candidate.error:
                    candidate, part, plan.n_landmarks = second, larger, larger.n_landmarks
                if not pays:
                    break
            found.append(candidate)
        return found

    def _amount(self, targets: np.ndarray) -> str:
        n, q = targets.shape
        return f"{n:,} rows x {q:,} targets"

    def _candidate(self, part: Part, targets: np.ndarray) -> Candidate:
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # left-out rows judge it
            smoother, left = self._fitted_part(part, targets)
        error = squared_error(left, self._of_judged(targets), self._of_judged(self.weight))
        if self.judged is not None:
            smoother = LeavingOut.of(smoother).light()  # factors of many rows are large
        return Candidate(part.name, smoother, left, process_time() - start, error)

    def _fitted_part(self, part: Part, targets: np.ndarray) -> tuple[Any, np.ndarray]:
        smoother = clone(part.smoother)
        if self.problem.has_gaps:
            smoother = Gaps.of(smoother).taking(targets)
        return fit_and_leave_out(
            smoother, self.rows, targets, self.weight, self.groups, rows=self.judged
        )

    def _stacks(self, parts: list[Candidate], targets: np.ndarray) -> list[Candidate]:
        """The stack of linear parts, and that of all where there are others."""
        weight = np.ones(len(targets)) if self.weight is None else self.weight
        # Where targets have gaps, no part has weights that serve all of them.
        gaps = self.problem.has_gaps
        linear = [part for part in parts if gaps or Weighing.of(part.smoother).is_linear]
        given: dict[str, Any] = {"X": self.rows, "y": targets, "weight": weight}
        given |= {"groups": self.groups, "rows": self.judged}
        found = []
        for name, among in ((STACK, linear), (OF_ALL, parts)):
            if name != STACK and len(linear) == len(parts):
                continue
            triples = [(part.name, part.smoother, part.left) for part in among]
            stack = Stacked([]).combine(triples, **given)
            for part, coef in zip(among, stack.all_coef_):
                part.weight = float(coef)
            found.append(self._stack_of(name, stack, among))
            blocks = self.problem.target_blocks() if name == STACK and self.are_own else None
            if blocks is not None:
                stack = Stacked([]).combine(triples, **given, blocks=blocks)
                if stack.block_coef_ is not None:  # which is so where they pay
                    found.append(self._stack_of(BY_BLOCKS, stack, among))
        return found

    def _constant(self, part: Candidate, targets: np.ndarray) -> Candidate:
        """The mean of all rows, whatever the inputs: a stack in which no part has any weight."""
        weight = np.ones(len(targets)) if self.weight is None else self.weight
        mean = self._of_judged(mean_without(targets, weight, self.groups))
        given = self.rows, targets, weight, self.groups, self.judged
        stack = Stacked([]).combine([(part.name, part.smoother, mean)], *given)
        return Candidate(CONSTANT, stack, mean, 0.0, float(stack.errors_[-1]))

    def _stack_of(self, name: str, stack: Stacked, among: list[Candidate]) -> Candidate:
        """A stack of parts that are fitted, with its left-out means."""
        means = [part.left for part in among if part.name in stack.names_]
        left = stack.summed(means, self.groups, self.judged)
        seconds = sum(part.seconds for part in among)
        return Candidate(name, stack, left, seconds, float(stack.errors_[-1]))

    # ------------------------------------------------------------------ the guard
    def _decided(self, found: list[Candidate]) -> Regressed:
        """The stack, or what decides clearly better."""
        search = LeaveOutSearch()
        search.loss = stand_in(self.judge, self.problem)
        losses, trials = [], []
        if self.decided is not self.plain:  # one stack: classifiers and blocks are of own targets
            self._open_stack(found[0].smoother)
        tuned = [self._tuned_losses(c, 1 / (k + 2)) for k, c in [*enumerate(found)][::-1]][::-1]
        for candidate, (own, alpha) in zip(found, tuned):
            losses.append(own)
            trials.append({**candidate.trial(self._mean(own)), "alpha": alpha})
            search.add(trials[-1])
        number = self._chosen(losses, sum(c.name in STACKS for c in found))
        search.best, chosen = trials[number], found[number]
        if Penalties.of(chosen.smoother).compared and not self.problem.has_gaps:
            smoother = self._with_best_penalty(chosen, search)
        else:
            smoother = self._of_problem(chosen)
        warn_of_loss(smoother, self.problem, search, self.weight)
        left = self._left_of(chosen, smoother)
        light = LeavingOut.of(smoother).light()
        return Regressed(light, search=search, left=left, left_rows=self.judged)

    def _left_of(self, chosen: Candidate, smoother: Any) -> Any:
        """Left-out means of what was chosen; None where they would take another fit."""
        if self.model.filling_ is not None and self.judged is None:
            return left_out_of_filled(self.problem, self.rows, smoother, self.groups)
        if smoother is chosen.smoother:
            return chosen.left
        if self.judged is not None:
            return None
        if chosen.name in STACKS and self.judge is self.problem:
            return chosen.left if self.decided is self.plain else self.sum_of_parts
        if self.problem.by_weights:
            smoother = smoother.with_targets(self.problem.search_targets())
        return LeavingOut.of(smoother).means(self.groups)

    def _chosen(self, losses: list[np.ndarray], n_stacks: int = 1) -> int:
        """The better stack, or the best part that is better by more than a standard error.

        By anything at all with a budget, which may have left too few parts for a stack.
        """
        clearly = CLEARLY if self.budget is None else 0.0
        stack = int(np.argmin([self._mean(own) for own in losses[:n_stacks]]))
        best, gain = stack, 0.0
        for number, own in enumerate(losses[n_stacks:], n_stacks):
            better, error = self._mean_and_error(losses[stack] - own)
            if better > max(gain, clearly * error):
                best, gain = number, better
        return best

    def _tuned_losses(self, candidate: Candidate, share: float) -> tuple[np.ndarray, float | None]:
        """Left-out losses, and the penalty: of least squared error, or one that decides better.

        Means that are decided from together, such as those of pairs, may need another penalty than
        each of them. Of many rows, every penalty would take a factorization. Where another loss
        stands in, because decisions take long, only penalties near that one are tried. They may
        take a share of what is left of a budget.
        """
        alpha: Any = Penalties.of(candidate.smoother).fitted
        many = self.rows.shape[0] > PATH_ROWS or self.problem.has_gaps
        if many or not Penalties.of(candidate.smoother).compared:
            return self._losses_of(self._left_to_decide(candidate)), alpha
        path = self._path(candidate)
        alphas = path.decades()
        if self.judge is not self.problem:
            alphas = alphas[np.abs(np.log10(alphas / alpha)) <= NEAR]
        losses = {}
        for value, left in self._in_time(path, np.append(alphas, alpha), alpha, share):
            losses[value] = self._losses_of(left)
            if value == alpha:
                self._add_to_stack(candidate, left)
        risks = {value: self._mean(own) for value, own in losses.items()}
        best = min([alpha, *risks], key=risks.__getitem__)  # of equals the first
        return losses[best], best

    def _left_to_decide(self, candidate: Candidate) -> np.ndarray:
        """Left-out means of the targets that are decided from."""
        if self.decided is self.plain:
            return candidate.left
        if candidate.name in STACKS:
            return self.sum_of_parts
        tried = candidate.smoother.with_targets(self.decided)
        left: np.ndarray = LeavingOut.of(tried).means(self.groups, self.judged)
        self._add_to_stack(candidate, left)
        return left

    def _open_stack(self, stack: Stacked) -> None:
        """Begin the sum of left-out means that a stack is, with those of no part."""
        self.stack, weight = stack, self.weight
        weight = np.ones(len(self.decided)) if weight is None else weight
        base = self._of_judged(mean_without(self.decided, weight, self.groups))
        self.sum_of_parts = (1.0 - stack.coef_.sum()) * base

    def _add_to_stack(self, candidate: Candidate, left: np.ndarray) -> None:
        """Stacks of other targets are sums of what their parts, too, are decided from."""
        if self.decided is not self.plain and candidate.name in self.stack.names_:
            self.sum_of_parts += self.stack.coef_[self.stack.names_.index(candidate.name)] * left

    def _losses_of(self, left: np.ndarray) -> np.ndarray:
        began = perf_counter()
        losses: np.ndarray = self.judge.realized_losses(left, self.model.memory, self.judged)
        self.of_decisions = max(self.of_decisions, perf_counter() - began)
        return np.nan_to_num(losses) if self.problem.has_gaps else losses  # of no weight

    def _with_best_penalty(self, chosen: Candidate, search: LeaveOutSearch) -> Any:
        """A ridge regression alone: its penalty by decisions."""
        best, targets = search.best, self.problem.targets()
        if self._time_left() < self.of_decisions + 2 * chosen.seconds:  # a path, and another fit
            if best["alpha"] == Penalties.of(chosen.smoother).fitted:
                return self._of_problem(chosen)
            return self._path(chosen).smoother_with(best["alpha"], targets)
        path = self._path(chosen)
        weight = self.problem.output_weights(self.weight, path.rows)
        risks = {}
        for alpha, left in self._in_time(path, path.grid(), best["alpha"], AT_ONCE):
            losses = self.judge.realized_losses(left, self.model.memory, path.rows)
            risks[alpha] = float(np.average(losses, weights=weight))
        if path.rows is self.judged:
            for alpha, risk in risks.items():
                search.add({**best, "alpha": alpha, "risk": risk})
            return path.smoother_with(search.best["alpha"], targets)
        # Risks by some of the rows: the best of them is held against what all that judge gave.
        alpha = min(risks, key=risks.__getitem__)
        smoother = path.smoother_with(alpha, targets)
        left = LeavingOut.of(smoother).means(self.groups, self.judged)
        search.add({**best, "alpha": alpha, "risk": self._mean(self._losses_of(left))})
        if search.best is not best:
            return smoother
        return self._of_problem(chosen)

    def _in_time(
        self, path: PenaltyPath, alphas: np.ndarray, first: float, share: float
    ) -> Iterator[tuple[float, np.ndarray]]:
        """Pairs of a penalty and left-out means: of all, the strongest first.

        With a budget of those nearest to the first, for which a share of what is left suffices.
        """
        if self.budget is None:
            yield from path.means(alphas)
            return
        others = np.unique(alphas[alphas != first])[::-1]
        order = [first, *others[np.argsort(np.abs(np.log(others / first)), kind="stable")].tolist()]
        began = perf_counter()
        end, longest = began + share * self._time_left(), 0.0
        for alpha, left in zip(order, path.along(order)):
            yield alpha, left
            longest, began = max(longest, perf_counter() - began), perf_counter()
            if began + longest > end:
                return

    def _time_left(self) -> float:
        """Seconds of the budget; without one there is no end of them."""
        return np.inf if self.budget is None else self.budget + self.began - perf_counter()

    def _of_problem(self, chosen: Candidate) -> Any:
        """The smoother of the targets that the problem needs."""
        if self.are_own:
            return chosen.smoother
        return chosen.smoother.with_targets(self.problem.targets())

    def _path(self, chosen: Candidate) -> Any:
        """Of penalties, for the targets that are decided from."""
        targets = self.problem.search_targets() if self.are_own else self.decided
        given = self.rows, targets, self.weight, self.groups, self.judged
        return PenaltyPath(clone(chosen.smoother), *given, fitted=chosen.smoother)

    def _mean(self, losses: np.ndarray) -> float:
        return float(np.average(losses, weights=self._weights_of_outputs()))

    def _weights_of_outputs(self) -> Any:
        """Those of the outputs that judge; None for none."""
        return self.problem.output_weights(self.weight, self.judged)

    def _mean_and_error(self, values: np.ndarray) -> tuple[float, float]:
        """The weighted mean and its standard error."""
        weight = self._weights_of_outputs()
        share = np.ones(len(values)) if weight is None else weight
        share = share / share.sum()
        mean = float(share @ values)
        return mean, float(np.sqrt(share**2 @ (values - mean) ** 2))


def residual_of(smoother: Any) -> float:
    """Share of the kernel's trace that the landmarks of a smoother leave; none without them."""
    return float(Learning.of(Learning.of(smoother).within).residual)


def _width(problem: Any) -> int:
    return problem.n_targets(compared=False)
