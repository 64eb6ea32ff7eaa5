# SPDX-License-Identifier: BSD-3-Clause
"""Penalties to try, and the one of least left-out squared error."""

import copy
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.memory import row_blocks
from skstruct.smoothing.bracketing import Bracketing, Trials
from skstruct.smoothing.facets import Gaps, LeavingOut, Penalties, PenaltiesBySomeRows
from skstruct.smoothing.folds import rank_by_content
from skstruct.smoothing.projections import few_targets

N_ALPHAS, DECADES = 22, 7  # penalties that are tried, from the trace down to so little of it
SHARE, SAMPLE = 3, (1000, 2500)  # one row of so many compares penalties; bounds of their number


def fit_and_leave_out(
    smoother: Any,
    X: Any,
    targets: np.ndarray,
    sample_weight: Any = None,
    groups: Any = None,
    cv: int = 5,
    rows: np.ndarray | None = None,
) -> tuple[Any, np.ndarray]:
    """The fitted smoother, and left-out means; of the shape of the targets, or of those of rows.

    A penalty that is "auto", or several, is that of least left-out squared error. What has no
    ``loo`` of its own is fitted to folds.

    Parameters
    ----------
    rows : array of row numbers, default=None
        Which to leave out; all when None. Groups are in it as a whole, or not at all.
    """
    from skstruct.smoothing.cross_fitting import CrossFitted

    if not LeavingOut.of(smoother).known:
        smoother = CrossFitted(smoother, cv)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    if groups is not None and has_fit_parameter(smoother, "groups"):
        given["groups"] = groups  # what is out of bag is out by groups
    # What takes gaps chooses its penalty.
    alpha: Any = None if Gaps.of(smoother).taken else Penalties.of(smoother).given
    if not (isinstance(alpha, str) or np.ndim(alpha) > 0):
        smoother.fit(X, targets, **given)
        return smoother, LeavingOut.of(smoother).means(groups, rows)
    path = PenaltyPath(smoother, X, few_targets(targets), sample_weight, groups, rows)
    smoother = path.smoother_with(path.best(alpha), targets)
    return smoother, LeavingOut.of(smoother).means(groups, rows)


class PenaltyPath:
    """Left-out means of a ridge regression for one penalty after another, from one fit.

    An eigendecomposition takes the time of twenty factorizations, so that of more than a thousand
    rows penalties are compared on a sample, a third of them and at most 2,500: the best one changes
    little with the number of rows. (With landmarks, which smooth by themselves, it would: on
    IMCLEF07A .3 in place of .1, which is best for all 10,000 rows and for 2,500 of them.)

    Parameters
    ----------
    smoother : ridge regression that is not fitted, perhaps of scaled inputs
    X, targets, sample_weight, groups : what it is fitted to
    rows : array of row numbers, default=None
        Which to leave out, or to draw the sample from; all when None.
    fitted : the smoother fitted to other targets, default=None
        Saves a fit, where it can take these.
    """

    def __init__(
        self,
        smoother: Any,
        X: Any,
        targets: np.ndarray,
        sample_weight: Any = None,
        groups: Any = None,
        rows: np.ndarray | None = None,
        fitted: Any = None,
    ) -> None:
        self.targets, self.weight, self.groups, self.rows = targets, sample_weight, groups, rows
        if X.shape[0] > Penalties.of(smoother).most_rows:
            exact = clone(smoother)
            Penalties.of(exact).ridge.set_params(solver="cholesky")
            self.fitted: Any = OnSample(exact, rows).fit(X, targets, sample_weight)
            self.rows = self.fitted.left_out_rows_
            return
        if fitted is not None:
            self.fitted = fitted.with_targets(targets)
        else:
            self.fitted = open_to_any(clone(smoother)).fit(X, targets, sample_weight)
        if Penalties.of(self.fitted).judges_some:
            if rows is not None and len(rows) > SAMPLE[0]:
                self.rows = thinned(rows, X, targets, SAMPLE[0])
            Penalties.of(self.fitted).judge_by(self.rows)

    def _of_rows(self, values: Any) -> Any:
        return values if values is None or self.rows is None else values[self.rows]

    @property
    def judged(self) -> np.ndarray:
        """Targets of the rows that are left out; shape (k, q)."""
        return self._of_rows(self.targets.reshape(len(self.targets), -1))

    @property
    def weights(self) -> Any:
        """Of the rows that are left out; None for none."""
        return self._of_rows(self.weight)

    def decades(self) -> np.ndarray:
        """Some of the penalties: about one for each power of ten."""
        return smoother_alphas(self.fitted)[::3]

    def grid(self) -> np.ndarray:
        """All penalties."""
        return smoother_alphas(self.fitted)

    def best(self, alpha: Any = "auto") -> float:
        """The penalty of least left-out squared error: of those given, or found by bracketing."""
        grid = alpha_grid(alpha, partial(smoother_alphas, self.fitted))
        tried: Any = Bracketing(grid) if isinstance(alpha, str) else Trials(grid)
        for left in self.along(tried):
            tried.record(squared_error(left, self.judged, self.weights))
        return float(tried.best)

    def means(self, alpha: Any = "auto") -> Iterator[tuple[float, np.ndarray]]:
        """Pairs of a penalty and left-out means of shape (k, q)."""
        alphas = alpha_grid(alpha, partial(smoother_alphas, self.fitted))
        return zip(alphas.tolist(), self.along(alphas))

    def along(self, alphas: Iterable[float]) -> Iterator[np.ndarray]:
        """Left-out means of shape (k, q) for each penalty, when it is asked for."""
        path = Penalties.of(self.fitted)
        for left in path.left_out(alphas, self.groups):
            kept = left if path.judges_some else self._of_rows(left)
            yield kept.reshape(self.judged.shape)

    def smoother_with(self, alpha: float, targets: np.ndarray | None = None) -> Any:
        """The smoother with a penalty, fitted to its targets or to others."""
        if targets is None or targets is self.targets:
            return self.fitted.with_alpha(alpha)
        return self.fitted.with_targets(targets).with_alpha(alpha)


class OnSample:
    """Ridge regression whose penalties are compared on a sample of its rows.

    It takes the part of a smoother in a search: ``loo_path`` is of the rows ``left_out_rows_``,
    all of the sample or some, and of a model of the sample alone; ``with_alpha`` fits to all rows.

    Parameters
    ----------
    smoother : KernelRidge that is not fitted, perhaps of scaled inputs
    among : array of row numbers, default=None
        Which the sample is drawn from; all when None.
    """

    def __init__(self, smoother: Any, among: np.ndarray | None = None) -> None:
        self.smoother, self.among = smoother, among

    def fit(self, X: Any, targets: np.ndarray, sample_weight: Any = None) -> Self:
        """Keep all rows, and fit to a sample."""
        self.X, self.targets, self.weight = X, targets, sample_weight
        rows = np.arange(X.shape[0]) if self.among is None else self.among
        self.rows_ = self.left_out_rows_ = here = thinned(rows, X, targets, sample_size(X.shape[0]))
        weight = None if sample_weight is None else np.asarray(sample_weight)[here]
        self.fitted_ = open_to_any(clone(self.smoother)).fit(X[here], targets[here], weight)
        self.fitted_to_ = targets
        return self

    def loo_path(self, alphas: Any, groups: Any = None) -> Iterator[np.ndarray]:
        """Left-out means of the sample for each alpha."""
        groups = None if groups is None else np.asarray(groups)[self.rows_]
        judged, smoother = np.searchsorted(self.rows_, self.left_out_rows_), self.fitted_
        if self.targets is not self.fitted_to_:
            smoother = smoother.with_targets(self.targets[self.rows_])
        for left in Penalties.of(smoother).left_out(alphas, groups):
            yield left[judged]

    def with_targets(self, targets: np.ndarray) -> Self:
        """The same for other targets."""
        other = copy.copy(self)
        other.targets = targets
        return other

    def with_alpha(self, alpha: float) -> Any:
        """The ridge regression of all rows."""
        smoother = clone(self.smoother)
        Penalties.of(smoother).ridge.set_params(alpha=alpha)
        return smoother.fit(self.X, self.targets, self.weight)


class PenaltiesOfSample(PenaltiesBySomeRows):
    """Those of the ridge regression of the sample."""

    __slots__ = ()

    @property
    def given(self) -> Any:
        return Penalties.of(self.smoother.smoother).given

    def bounds(self) -> tuple[float, float]:
        return Penalties.of(self.smoother.fitted_).bounds()


Penalties.at(OnSample, PenaltiesOfSample)


def sample_size(n: int) -> int:
    """About how many of n rows compare penalties, where these are too many."""
    return int(np.clip(n / SHARE, *SAMPLE))


def thinned(rows: np.ndarray, X: Any, targets: np.ndarray, size: float) -> np.ndarray:
    """About so many of some rows, the same in any order of all."""
    step = max(1, round(len(rows) / size))
    return rows[rank_by_content(X[rows], targets[rows]) % step == 0]


def open_to_any(smoother: Any) -> Any:
    """The same, to be fitted once for any penalty."""
    inner = Penalties.of(smoother).ridge.set_params(alpha=np.inf)
    if "solver" in inner.get_params(deep=False):
        inner.set_params(solver="spectral")
    return smoother


def alpha_grid(alpha: Any, automatic: Callable[..., Any]) -> Any:
    """The penalties to try, largest first: those given, or ``automatic()`` for "auto"."""
    if isinstance(alpha, str) and alpha == "auto":
        return automatic()
    if np.asarray(alpha).dtype.kind not in "fiu":
        raise ValueError(f'alpha is a positive number, several, or "auto"; got {alpha!r}.')
    alphas = np.unique(np.asarray(alpha, dtype=np.float64))[::-1]
    if not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alpha must be positive; got {alpha!r}.")
    return alphas


def smoother_alphas(smoother: Any) -> np.ndarray:
    """Penalties from near the mean to near interpolation, largest first."""
    penalties = Penalties.of(smoother)
    top, bound = penalties.bounds()
    alphas = (top if top > 0 else 1.0) * np.logspace(0, -DECADES, N_ALPHAS)
    allowed = alphas[alphas > bound][:: 2 if penalties.are_costly else 1]
    return allowed if len(allowed) else alphas[:1]


def squared_error(left: np.ndarray, targets: np.ndarray, sample_weight: Any = None) -> float:
    """Mean squared distance of left-out means from their targets."""
    errors = np.empty(len(left))
    for rows in row_blocks(len(left), 8 * targets.shape[1], "50MB"):
        wrong = left[rows] - targets[rows]
        wrong[np.isnan(targets[rows])] = 0.0  # gaps: nobody knows what would be right
        errors[rows] = np.einsum("ij,ij->i", wrong, wrong)
    return float(np.average(errors, weights=sample_weight))
