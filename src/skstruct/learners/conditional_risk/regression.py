# SPDX-License-Identifier: BSD-3-Clause
"""The regression of a risk minimizer: a smoother of the targets, with what is left open chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.progress import announce, working
from skstruct.kernels.labels import label_kernel_matrix
from skstruct.learners.inputs import TrainingData, plain_kernel
from skstruct.learners.leave_out import LeaveOutSearch, choose, group_numbers, kernel_grid
from skstruct.learners.one_pass import (
    ONE_PASS,
    grow_landmarks,
    number_tried,
    one_pass_ridge,
    planned_systems,
    warn_of_loss,
)
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.planning import EXACT_ROWS, LINEAR_FEATURES


@dataclass(frozen=True)
class Regressed:
    """A fitted smoother and what was chosen for it: None with a smoother of the user's own."""

    smoother: Any
    kernel: Any = None
    alpha: Any = None
    gamma: Any = None
    system: str | None = None
    search: LeaveOutSearch | None = None


class Retargeting:
    """A fitted smoother for the targets of other losses; the last one is kept for the next call."""

    def __init__(self):
        self._last = None, None, None

    def __call__(self, smoother, problem):
        of, key, other = self._last
        if of is not smoother or key != problem.key:
            other = smoother.with_targets(problem.targets())
            self._last = smoother, problem.key, other  # at once: threads may predict
        return other


class RidgeRegression:
    """Ridge regression of the targets of a problem; kernel and penalty are chosen by its loss.

    Parameters
    ----------
    model : ConditionalRiskMinimizer
        Its parameters, and how it reads inputs; nothing is set on it.
    problem : RiskProblem
    """

    def __init__(self, model, problem):
        self.model, self.problem = model, problem

    def fit(self, data: TrainingData, level) -> Regressed:
        """From all rows at once."""
        model, X, weight = self.model, data.rows, data.row_weight
        pairs = kernel_grid(self.kernels(*X.shape), model.gamma, X, weight)
        n_tried = number_tried(pairs, model.alpha)
        n_targets = self.problem.n_targets(compared=n_tried > 1)
        compared, system = planned_systems(model, X, n_targets, pairs, n_tried)
        if n_tried == 1:
            smoother = self.ridge(*pairs[0], model.alpha, system)
            smoother.fit(X, self.problem.targets(), weight)
            return self.settled(smoother, system, weight=weight)
        if len(data.outputs) == 1:
            return self._fit_single(X)
        groups = group_numbers(model.leave_out, data.outputs, data.groups, data.X)
        groups = self.problem.groups_of_rows(groups)
        search, smoother = choose(
            lambda kernel, gamma, alpha: self.ridge(kernel, gamma, alpha, compared),
            pairs, model.alpha, self.problem, X, groups,
            sample_weight=weight, memory=model.memory, verbose=model.verbose,
            level=level.below("search"),
        )  # fmt: skip
        if system == compared:
            smoother = self._grown(smoother, search, X, weight, groups)
        else:
            best = search.best
            smoother = self.ridge(best["kernel"], best["gamma"], best["alpha"], system)
            smoother.fit(X, self.problem.targets(), weight)
        return self.settled(smoother, system, search, weight)

    def _fit_single(self, X) -> Regressed:
        """One row: nothing can be left out, and any penalty predicts that row's output."""
        pairs = kernel_grid(self.kernels(*X.shape), None, X, None)
        smoother = self.ridge(*pairs[0], 1.0, "cholesky")
        return self.settled(smoother.fit(X, self.problem.targets()), "cholesky")

    def _grown(self, smoother, search, X, weight, groups):
        """The smoother of the search, with more landmarks where these pay."""
        if not hasattr(smoother, "n_landmarks_"):
            return smoother

        def refitted(n_landmarks):
            larger = self.ridge(smoother.kernel, smoother.gamma, np.inf, "nystroem")
            larger.set_params(n_landmarks=n_landmarks)
            return larger.fit(X, self.problem.targets(), weight)

        return grow_landmarks(
            self.model, self.problem, search, smoother, refitted, X.shape[0], weight, groups
        )

    def settled(self, smoother, system, search=None, weight=None) -> Regressed:
        """What was chosen, and warnings where little was learned."""
        warn_of_loss(smoother, self.problem, search, weight)
        kernel, gamma = smoother.kernel, getattr(smoother.kernel_, "gamma_", None)
        system = self._system_of(kernel, system)
        return Regressed(smoother, kernel, smoother.alpha, gamma, system, search)

    # ------------------------------------------------------------------ what is tried
    def kernels(self, n_rows: int | None, n_features: int):
        """The kernel or kernels to try: with "auto", by the number of rows and what is open."""
        model = self.model
        kernel = plain_kernel(model, model.kernel)
        if not (isinstance(kernel, str) and kernel == "auto"):
            return kernel
        if model.system == "primal":
            return "linear"
        many = n_rows is None or n_rows > EXACT_ROWS
        one_pass = model.system in ("auto", "nystroem") and model.label_kernel is None
        wide = model.streamed_ and n_features > LINEAR_FEATURES
        searched = isinstance(model.alpha, str) and model.gamma is None
        return ["rbf", "linear"] if many and one_pass and searched and not wide else "rbf"

    def _system_of(self, kernel, system) -> str:
        """Where "auto" leaves the choice open, a linear kernel has no need of landmarks."""
        free = self.model.system == "auto" and system == "nystroem" and kernel == "linear"
        return "primal" if free else system

    def ridge(self, kernel, gamma, alpha, system):
        """A smoother that is not fitted."""
        model = self.model
        names = ("degree", "coef0", "fit_intercept", "memory")
        shared = {"gamma": gamma, **{name: getattr(model, name) for name in names}}
        if system in ONE_PASS:
            system = self._system_of(kernel, system)
            return one_pass_ridge(model, kernel, alpha, system, shared, model.n_features_in_)
        if model.label_kernel is None:
            shared |= {"precision": model.precision, "device": model.device_}
            return KernelRidge(kernel, alpha, system=system, **shared)
        from skstruct.smoothing import AdditiveKernelRidge

        dag = getattr(model.space_, "dag_", None)
        S = label_kernel_matrix(model.label_kernel, dag)
        return AdditiveKernelRidge(S, kernel=kernel, alpha=alpha, **shared)


def fit_given(smoother, problem, data: TrainingData, random_state=None) -> Regressed:
    """A smoother of the user's own, fitted to the targets of a problem."""
    from skstruct.smoothing.classifiers import as_smoother

    parameters = smoother.get_params(deep=False)
    if random_state is not None and parameters.get("random_state", 0) is None:
        smoother.set_params(random_state=random_state)
    smoother = as_smoother(smoother)
    name, targets, weight = type(smoother).__name__, problem.targets(), {}
    if data.sample_weight is not None:
        if not has_fit_parameter(smoother, "sample_weight"):
            raise ValueError(f"{name} takes no sample_weight.")
        weight = {"sample_weight": data.row_weight}
    announce(f"{name} on {data.rows.shape[0]:,} rows x {targets.shape[1]:,} targets")
    try:
        with working(f"fitting {name}"):
            return Regressed(smoother.fit(data.rows, targets, **weight))
    except ValueError as error:
        if "1d array" not in str(error):  # scikit-learn's words for a single target
            raise
        raise ValueError(
            f"{name} predicts one target, and there are several: give "
            f"smoother=MultiOutputRegressor({name}(...)) of sklearn.multioutput."
        ) from error
