# SPDX-License-Identifier: BSD-3-Clause
"""Regression of the targets of a problem: a smoother, with what is left open of it chosen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.checks import repeatable
from skstruct._arrays.methods import warn_caller
from skstruct._arrays.progress import announce, working
from skstruct.kernels import resolve_kernel
from skstruct.kernels.inputs import kernel_name
from skstruct.learners.inputs import TrainingData, n_read, plain_kernel
from skstruct.learners.judging import plan_beside
from skstruct.learners.leave_out import (
    LeaveOutSearch,
    choose,
    group_numbers,
    kernel_grid,
)
from skstruct.learners.problem import targets_for
from skstruct.smoothing import Gaps, KernelRidge, Learning, Penalties
from skstruct.smoothing.nystroem.landmarks import EXPLAINED
from skstruct.smoothing.penalties import N_ALPHAS, OnSample
from skstruct.smoothing.planning import (
    EXACT_ROWS,
    LINEAR_FEATURES,
    PATH_ROWS,
    SPECTRAL_ROWS,
    check_fits,
    check_n_landmarks,
    check_solver,
    feature_costs,
    plan,
)
from skstruct.spaces import Coordinates, Description, whole_of

ONE_PASS = ("nystroem", "fourier", "primal")
SAMPLED = "sample"  # of the rows, which compares penalties
GROWING = 3e12  # operations that a fit to more landmarks may take: some minutes
WORTH = 0.01  # by which share twice as many landmarks must lower the loss, to be doubled again
MASKED_LANDMARKS = 2500  # of a single ridge regression whose targets have gaps
LEFT = 0.1  # share of the kernel's trace that landmarks may leave without a warning


@dataclass(frozen=True)
class Regressed:
    """A fitted smoother and what was chosen for it: None with a smoother of the user's own."""

    smoother: Any
    kernel: Any = None
    alpha: Any = None
    gamma: Any = None
    solver: str | None = None
    search: LeaveOutSearch | None = None
    left: Any = None  # left-out means of the problem's targets, where they are known
    left_rows: np.ndarray | None = None  # of which rows, by number; None for all


class Retargeting:
    """A fitted smoother for the targets of other losses; the last one is kept for the next call."""

    def __init__(self) -> None:
        self._last = None, None, None

    def __call__(self, smoother: Any, problem: Any) -> Any:
        of, key, other = self._last
        if of is not smoother or key != problem.key:
            other = smoother.with_targets(targets_for(smoother, problem))
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

    def __init__(self, model: Any, problem: Any) -> None:
        self.model, self.problem = model, problem

    def fit(self, data: TrainingData, level: Any) -> Regressed:
        """From all rows at once."""
        model, X, weight = self.model, data.rows, data.row_weight
        pairs = kernel_grid(self.kernels(*X.shape), X, weight)
        n_tried = number_tried(pairs, model.alpha)
        n_targets = self.problem.n_targets(compared=n_tried > 1)
        if self.problem.has_gaps:
            return self._fit_gaps(data, pairs, n_tried, level)
        beside = plan_beside(self.problem, X.shape[0], n_tried)
        alone = self.problem.rows_stand_alone
        compared, solver = planned_solvers(model, X, n_targets, pairs, n_tried, alone, **beside)
        if n_tried == 1:
            smoother = self.ridge(*pairs[0], model.alpha, solver)
            smoother.fit(X, targets_for(smoother, self.problem), weight)
            return self.settled(smoother, solver, pairs[0][0], weight=weight)
        if data.is_single:
            return self._fit_single(X, weight)
        groups = group_numbers(model.cv, data.outputs, data.groups, data.X)
        groups = self.problem.groups_of_rows(groups)
        search, smoother = choose(
            maker(self.ridge, compared, solver), pairs, model.alpha, self.problem, X, groups,
            sample_weight=weight, memory=model.memory, verbose=model.verbose,
            level=level.below("search"),
        )  # fmt: skip
        if compared in (SAMPLED, solver):
            smoother = self._grown(smoother, search, X, weight, groups)
        else:
            best = search.best
            smoother = self.ridge(best["kernel"], best["gamma"], best["alpha"], solver)
            smoother.fit(X, targets_for(smoother, self.problem), weight)
        found = self.settled(smoother, solver, None, search, weight)
        return replace(found, left=self._left_of(smoother, groups))

    def _fit_gaps(
        self, data: TrainingData, pairs: list[Any], n_tried: int, level: Any
    ) -> Regressed:
        """Of targets with gaps, each from the rows that know it."""
        model, X, weight = self.model, data.rows, data.row_weight

        def made(kernel: Any, gamma: Any, alpha: float) -> Any:
            smoother = Gaps.of(self.ridge(kernel, gamma, alpha, "cholesky")).taking()
            most = model.n_landmarks if model.n_landmarks != "auto" else MASKED_LANDMARKS
            smoother.set_params(n_landmarks=min(int(most), X.shape[0]))
            return smoother.set_params(random_state=model.seed_)

        if n_tried == 1 or data.is_single:
            alpha = model.alpha if n_tried == 1 else 1.0
            kernel, gamma = pairs[0]
            smoother = made(kernel, gamma, alpha).fit(X, self.problem.targets(), weight)
            return self.settled(smoother, "masked", kernel, weight=weight)
        groups = group_numbers(model.cv, data.outputs, data.groups, data.X)
        groups = self.problem.groups_of_rows(groups)
        search, smoother = choose(
            made, pairs, model.alpha, self.problem, X, groups, sample_weight=weight,
            memory=model.memory, verbose=model.verbose, level=level.below("search"),
        )  # fmt: skip
        found = self.settled(smoother, "masked", None, search, weight)
        if model.filling_ is None or X.shape[0] > SPECTRAL_ROWS:
            return replace(found, left=smoother.loo(groups))
        from skstruct.learners.conditional_risk.filling import left_out_of_filled

        return replace(found, left=left_out_of_filled(self.problem, X, smoother, groups))

    def _fit_single(self, X: Any, weight: np.ndarray | None) -> Regressed:
        """One row: nothing can be left out, and any penalty predicts that row's output."""
        pairs = kernel_grid(self.kernels(*X.shape), X, None)
        smoother = self.ridge(*pairs[0], 1.0, "cholesky")
        smoother.fit(X, self.problem.targets(), weight)
        return self.settled(smoother, "cholesky", pairs[0][0])

    def _grown(
        self, smoother: Any, search: LeaveOutSearch, X: Any, weight: np.ndarray | None, groups: Any
    ) -> Any:
        """The smoother of the search, with more landmarks where these pay."""
        if not Learning.of(smoother).n_landmarks:
            return smoother

        def refitted(n_landmarks: int) -> Any:
            larger = self.ridge(smoother.kernel, None, np.inf, "nystroem")
            larger.set_params(n_landmarks=n_landmarks)
            return larger.fit(X, targets_for(larger, self.problem), weight)

        return grow_landmarks(
            self.model, self.problem, search, smoother, refitted, X.shape[0], weight, groups
        )

    def settled(
        self,
        smoother: Any,
        solver: str,
        kernel: Any,
        search: LeaveOutSearch | None = None,
        weight: np.ndarray | None = None,
    ) -> Regressed:
        """What was chosen, and warnings where little was learned.

        ``kernel`` is the one that was given, a name for a name; that of the best trial, if some
        were compared.
        """
        warn_of_loss(smoother, self.problem, search, weight)
        kernel = kernel if search is None or search.best is None else search.best["kernel"]
        solver = self._solver_of(kernel, solver)
        gamma, alpha = Learning.of(smoother).gamma, Penalties.of(smoother).fitted
        return Regressed(smoother, kernel, alpha, gamma, solver, search)

    def _left_of(self, smoother: Any, groups: Any) -> Any:
        """Left-out means, where an eigendecomposition has them at once."""
        if len(self.problem.outputs) > SPECTRAL_ROWS or Penalties.of(smoother).judged is not None:
            return None
        if self.problem.by_weights:
            smoother = smoother.with_targets(self.problem.search_targets())
        return smoother.loo(groups)

    # ------------------------------------------------------------------ what is tried
    def kernels(self, n_rows: int | None, n_features: int) -> Any:
        """The kernel or kernels to try: with "auto", by the number of rows and what is open."""
        model = self.model
        kernel = plain_kernel(model, model.kernel)
        if not (isinstance(kernel, str) and kernel == "auto"):
            return kernel
        if model.solver == "primal":
            return "linear"
        many = n_rows is None or n_rows > EXACT_ROWS
        one_pass = model.solver in ("auto", "nystroem")
        wide = model.streamed_ and n_features > LINEAR_FEATURES
        searched = isinstance(model.alpha, str)
        return ["rbf", "linear"] if many and one_pass and searched and not wide else "rbf"

    def _solver_of(self, kernel: Any, solver: str) -> str:
        """Where "auto" leaves the choice open, a linear kernel has no need of landmarks."""
        free = (
            self.model.solver == "auto" and solver == "nystroem" and kernel_name(kernel) == "linear"
        )
        return "primal" if free else solver

    def ridge(self, kernel: Any, gamma: Any, alpha: float, solver: str) -> Any:
        """A smoother that is not fitted."""
        model, shared = self.model, {"fit_intercept": self.model.fit_intercept}
        if solver in ONE_PASS:
            solver = self._solver_of(kernel, solver)
            settled = resolve_kernel(kernel).with_gamma(gamma)
            return one_pass_ridge(
                model, settled, alpha, solver, shared, n_read(model),
                in_blocks=model.streamed_, seed=model.seed_,
            )  # fmt: skip
        settled = resolve_kernel(kernel).with_gamma(gamma)
        return KernelRidge(settled, alpha, solver=solver, **shared)


RIDGE = {"kernel": "auto", "alpha": "auto", "solver": "auto", "n_landmarks": "auto",
         "fit_intercept": True}  # fmt: skip


def smoothing_by(model: Any) -> str:
    """How a model smooths: "stack", "kernel_ridge", or by a smoother that was "given".

    ``smoother="auto"`` is a stack as long as nothing is asked of a kernel ridge regression.
    """
    smoother = "kernel_ridge" if model.smoother is None else model.smoother
    if not isinstance(smoother, str):
        return "given"
    if smoother not in ("auto", "kernel_ridge"):
        raise ValueError(f'smoother is "auto", "kernel_ridge" or a regressor; got {smoother!r}.')
    given = model.get_params(deep=False)
    asked = any(not _is_same(given[name], usual) for name, usual in RIDGE.items())
    return "kernel_ridge" if smoother == "kernel_ridge" or asked else "stack"


def _is_same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(value == usual)


def is_searched(model: Any) -> bool:
    """Whether a penalty, that of the model or of its smoother, may have to be chosen."""
    if smoothing_by(model) != "given":
        return True
    alpha = Penalties.of(model.smoother).given
    open_penalty = isinstance(alpha, str) or np.ndim(alpha) > 0
    return open_penalty or Learning.of(model.smoother).chooses_weights


class GivenSmoother:
    """A smoother of the user's own, fitted to the targets of a problem.

    A ridge regression of this library whose alpha is "auto" or several has it chosen by the loss.
    """

    def __init__(self, model: Any, problem: Any) -> None:
        self.model, self.problem = model, problem

    def fit(self, data: TrainingData, level: Any) -> Regressed:
        from skstruct.smoothing.classifiers import as_smoother

        model, smoother = self.model, clone(self.model.smoother)
        smoother = Learning.of(smoother).for_space(model.space_)
        smoother = as_smoother(_seeded(smoother, model.random_state), _target_names(self.problem))
        if self.problem.has_gaps:
            smoother = Gaps.of(smoother).taking()
        if Learning.of(smoother).chooses_weights:
            return self._weighed(smoother, data)
        if is_searched(model):
            if not data.is_single:
                return self._chosen(smoother, data, level)
            # Of one row, whose output any penalty predicts.
            alpha: Any = Penalties.of(smoother).given
            alpha = 1.0 if isinstance(alpha, str) else float(np.max(alpha))
            found = fit_given(smoother.set_params(alpha=alpha), self.problem, data)
            return replace(found, alpha=alpha)
        return fit_given(smoother, self.problem, data)

    def _chosen(self, smoother: Any, data: TrainingData, level: Any) -> Regressed:
        model, problem = self.model, self.problem
        groups = problem.groups_of_rows(group_numbers(model.cv, data.outputs, data.groups, data.X))
        kernel, pairs = Learning.of(smoother).kernel, [(None, None)]
        if kernel is not None:
            pairs = kernel_grid(kernel, data.rows, data.row_weight)

        def made(kernel: Any, gamma: Any, alpha: float) -> Any:
            found = clone(smoother).set_params(alpha=alpha)
            if len(pairs) == 1 and gamma is None:
                return found
            return found.set_params(kernel=resolve_kernel(kernel).with_gamma(gamma))

        search, smoother = choose(
            made, pairs, Penalties.of(smoother).given, problem, data.rows, groups,
            sample_weight=data.row_weight, memory=model.memory, verbose=model.verbose,
            level=level.below("search"),
        )  # fmt: skip
        warn_of_loss(smoother, problem, search, data.row_weight)
        gamma, alpha = Learning.of(smoother).gamma, Penalties.of(smoother).given
        kernel = search.best["kernel"] if search.best else None
        return Regressed(smoother, kernel, alpha, gamma, None, search)

    def _weighed(self, smoother: Any, data: TrainingData) -> Regressed:
        """With the number of its weights, and its penalty, by the loss."""
        from skstruct.learners.sparse_weights import choose_weights

        model, problem = self.model, self.problem
        groups = problem.groups_of_rows(group_numbers(model.cv, data.outputs, data.groups, data.X))
        search, smoother = choose_weights(
            smoother, problem, data.rows, groups, sample_weight=data.row_weight,
            memory=model.memory,
        )  # fmt: skip
        warn_of_loss(smoother, problem, search, data.row_weight)
        return Regressed(smoother, alpha=smoother.alpha_, search=search)


def fit_given(smoother: Any, problem: Any, data: TrainingData) -> Regressed:
    """A smoother of the user's own, fitted to the targets of a problem."""
    name, targets, weight = given_name(smoother), problem.targets(), {}
    if data.sample_weight is not None:
        if not has_fit_parameter(smoother, "sample_weight"):
            raise ValueError(f"{name} takes no sample_weight.")
        weight = {"sample_weight": data.row_weight}
    announce(f"{name} on {data.rows.shape[0]:,} rows x {targets.shape[1]:,} targets")
    with working(f"fitting {name}"):
        return Regressed(smoother.fit(data.rows, targets, **weight))


def given_name(smoother: Any) -> str:
    """The class that the user gave."""
    inner = smoother.get_params(deep=False).get
    return type(inner("classifier", inner("regressor", smoother))).__name__


def _seeded(smoother: Any, random_state: Any) -> Any:
    parameters = smoother.get_params(deep=False)
    if random_state is not None and parameters.get("random_state", 0) is None:
        smoother.set_params(random_state=random_state)
    return smoother


def _target_names(problem: Any) -> Any:
    """Names of the first targets, where each is of one part of an output; None of others."""
    seen = problem.observations
    names = None if Coordinates.of(seen).is_list else Description.of(whole_of(seen)).part_names()
    if names is None or len(names) != problem.width:
        return None
    names = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if problem.used is None or not problem.rows_stand_alone:
        return names
    return [names[j] for j in problem.used]


# Solvers by the number of rows, and by what they would take.


def check_settings(model: Any) -> None:
    """Look at parameters that may have no part in a fit to few rows, and will in one to many."""
    check_solver(model.solver)
    check_n_landmarks(model.n_landmarks)


def number_tried(pairs: list[Any], penalties: Any) -> int:
    """How many pairs of kernel and penalty a search compares."""
    return len(pairs) * (N_ALPHAS if isinstance(penalties, str) else int(np.size(penalties)))


def planned_solvers(
    model: Any,
    X: Any,
    n_targets: int,
    pairs: list[Any],
    n_tried: int,
    stand_alone: bool,
    **beside: Any,
) -> tuple[str, str]:
    """The solvers by which penalties are compared, and by which the best one is fitted.

    Where an eigendecomposition would take too long and a factorization would not, a sample of the
    rows chooses the penalty, and the fit is exact. ``beside`` are decisions and targets, as of
    ``plan``.
    """
    linear = all(kernel_name(kernel) == "linear" for kernel, _ in pairs)
    planned = _planned(model, X, n_targets, n_tried, linear, **beside)
    if n_tried == 1:
        return planned, planned
    if planned in ONE_PASS or planned == "spectral":
        return planned, planned
    if X.shape[0] <= PATH_ROWS:
        return "spectral", "spectral"
    if stand_alone:
        return SAMPLED, planned
    return ("spectral" if X.shape[0] <= SPECTRAL_ROWS else "nystroem"), planned


def maker(ridge: Callable[..., Any], compared: str, solver: str) -> Callable[..., Any]:
    """What makes smoothers for a search, by a function of kernel, gamma, alpha and solver."""
    if compared == SAMPLED:
        return lambda *tried: OnSample(ridge(*tried, solver))
    return lambda *tried: ridge(*tried, compared)


def _planned(model: Any, X: Any, n_targets: int, n_tried: int, linear: bool, **beside: Any) -> str:
    """The solver that a model asks for, or the one that suits the rows."""
    whole = model._precomputed
    if model.solver == "auto" and whole:
        return "spectral" if n_tried > 1 else "cholesky"
    if whole and model.solver in ONE_PASS:
        raise ValueError(
            f'A precomputed kernel needs an exact solver; got solver="{model.solver}".'
        )
    n, p = X.shape
    filled = X.nnz / max(1, n * p) if sparse.issparse(X) else 1.0
    chosen = plan(
        n, p, n_targets, solver=model.solver, precision=model.precision, n_alphas=n_tried,
        device=model.device_, linear=linear, filled=filled, **beside,
    )  # fmt: skip
    if chosen.solver not in ONE_PASS:
        check_fits(chosen)  # before penalties are compared by other means
    announce(lambda: _plan_text(n, n_targets, n_tried, chosen))
    return chosen.solver


def _plan_text(n: int, n_targets: int, n_tried: int, chosen: Any) -> str:
    """What will be done, and about how long that takes."""
    tried = "" if n_tried == 1 else f", decided for each of {n_tried:,} kernels and penalties"
    return f"{n:,} rows x {n_targets:,} targets{tried}; {chosen}"


def one_pass_ridge(
    model: Any,
    kernel: Any,
    alpha: float,
    solver: str,
    shared: dict[str, Any],
    n_features: int,
    *,
    in_blocks: bool = False,
    seed: Any = None,
) -> Any:
    """Ridge regression from sums over rows, or in the primal, with the parameters of a model."""
    from skstruct.smoothing import LinearRidge, NystroemRidge

    if solver == "primal":
        if kernel.name != "linear":
            raise ValueError(f'solver="primal" is for kernel="linear"; got kernel={kernel!r}.')
        in_memory = model.device_ is None and not in_blocks
        if in_memory and n_features > LINEAR_FEATURES:
            return LinearRidge(alpha, fit_intercept=shared["fit_intercept"], n_jobs=model.n_jobs)
    return NystroemRidge(
        kernel, alpha, features="linear" if solver == "primal" else solver,
        n_landmarks=model.n_landmarks,
        dtype="float32" if model.precision == "mixed" else "auto", verbose=model.verbose,
        random_state=repeatable(model.random_state) if seed is None else seed, **shared,
    )  # fmt: skip


def grow_landmarks(
    model: Any,
    problem: Any,
    search: LeaveOutSearch,
    smoother: Any,
    refitted: Callable[..., Any],
    n_rows: int,
    weight: np.ndarray | None = None,
    groups: Any = None,
) -> Any:
    """Twice as many landmarks, again and again, while the loss on left-out rows falls.

    Until it falls by less than a hundredth, a thousandth of the kernel's trace is left, or the
    next fit would take more than so many operations: by the data alone.

    Parameters
    ----------
    model : learner
    problem : RiskProblem
    search : LeaveOutSearch
        Further trials are added to it.
    smoother : NystroemRidge
        The best of the search.
    refitted : callable (n_landmarks) -> NystroemRidge, fitted
    weight, groups : as in the search
    """
    judge = problem.for_search()
    numbers = Penalties.of(smoother).judged
    weight = weight if weight is None or numbers is None else np.asarray(weight)[numbers]
    while smoother.residual_ > EXPLAINED and _may_double(model, smoother, n_rows):
        larger, before = refitted(2 * smoother.n_landmarks_), search.best
        Penalties.of(larger).judge_by(numbers)  # the same rows
        alphas = before["alpha"] * 10.0 ** (np.arange(1, -3, -1) / 3)
        paths = Penalties.of(larger).left_out(alphas, groups)
        for alpha, left in zip(alphas.tolist(), paths):
            risk = judge.realized(left, model.memory, weight, numbers)
            size = {"n_landmarks": larger.n_landmarks_}
            search.add({**before, "alpha": alpha, "risk": risk, **size})
        announce(f"{larger.n_landmarks_:,} landmarks: left-out loss {search.best['risk']:.4g}")
        if search.best is before:
            return smoother
        smoother = larger.with_alpha(search.best["alpha"])
        if search.best["risk"] > (1.0 - WORTH) * before["risk"]:
            return smoother
    return smoother


def _may_double(model: Any, smoother: Any, n_rows: int) -> bool:
    if model.n_landmarks != "auto" or smoother.features != "nystroem":
        return False
    m, d = 2 * smoother.n_landmarks_, smoother.dual_coef_.shape[1]
    return m <= n_rows and feature_costs(n_rows, 0, d, m, n_alphas=4)[1] <= GROWING


def warn_of_loss(
    smoother: Any, problem: Any, search: LeaveOutSearch | None = None, weight: Any = None
) -> None:
    """Warn of landmarks that leave much of the kernel, and of a model no better than a constant."""
    fitted = Learning.of(smoother)
    left = fitted.residual
    if left > LEFT:
        warn_caller(
            f"{fitted.n_landmarks:,} landmarks leave {left:.0%} of the kernel's trace "
            "unexplained: predictions may be far from those of the exact model. Give more "
            '(n_landmarks=...), another kernel (kernel="linear" is solved without them), or '
            'solver="cholesky" where the rows fit.',
        )
    if search is None or not problem.rows_stand_alone:
        return
    search.constant = problem.for_search().constant_risk(weight)
    if search.no_better:
        warn_caller(
            f"{search.no_better} Try other kernels "
            '(kernel=["rbf", "laplacian", "linear"]), several widths (RBF(gamma="auto")), scaled '
            "inputs, or another smoother.",
        )
