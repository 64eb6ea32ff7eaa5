# SPDX-License-Identifier: BSD-3-Clause
"""A stack from blocks of rows: sums where these do, and forests of a sample."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.conditional_risk.automatic import Candidate, StackedRegression
from skstruct.learners.conditional_risk.parts import Part
from skstruct.learners.regression import Regressed
from skstruct.smoothing import Learning, Penalties
from skstruct.smoothing.bracketing import Bracketing
from skstruct.smoothing.penalties import (
    PenaltyPath,
    fit_and_leave_out,
    open_to_any,
    smoother_alphas,
    squared_error,
)

UNKNOWN = 100_000  # rows that a source is planned for, if nobody knows how many it has


class StreamedStack(StackedRegression):
    """The same parts, guard and ``search_`` as of rows that are held, from a source of blocks.

    Ridge regressions on landmarks of several kernels, and linear ones, see every row, in a pass for
    each of them; forests and classifiers see a sample. The rows of the sample judge, each left out
    of the sums and of the trees.
    """

    def fit_source(self, X: Any, read: dict[str, Any], level: Any) -> Regressed:
        """From a source; ``read`` is what ``fit_source`` of a smoother takes, X its sample."""
        self.rows, self.weight, self.groups = X, read["sample"].weight, read["folds"]
        self.read, self.level = read, level.below("search")
        self.judged, self.are_own = None, True
        self.n_rows = read["source"].n_rows or UNKNOWN
        self.plain = self.decided = targets = self.problem.targets()
        parts = self._fitted(targets)
        constant = self._constant(parts[0], targets)
        return self._decided([*self._stacks(parts, targets), *parts, constant])

    def _amount(self, targets: np.ndarray) -> str:
        n, (k, q) = self.read["source"].n_rows, targets.shape
        rows = "Rows" if n is None else f"{n:,} rows"
        return f"{rows} in blocks x {q:,} targets, judged by {k:,} rows"

    def _fitted_part(self, part: Part, targets: np.ndarray) -> tuple[Any, np.ndarray]:
        if not Learning.of(part.smoother).takes_blocks:
            smoother = clone(part.smoother)
            return fit_and_leave_out(smoother, self.rows, targets, self.weight, self.groups)
        smoother = open_to_any(clone(part.smoother))
        below = f"sums {part.name} {part.n_landmarks}"
        sums = None if self.level is NOWHERE else self.level.below(below)
        path = SourcePath(smoother.fit_source(**self.read, level=sums))
        tried, found = Bracketing(smoother_alphas(path.fitted)), targets
        for left in path.along(tried):
            if tried.record(squared_error(left, targets, self.weight)):
                found = left
        return path.smoother_with(tried.best), found

    def _left_of(self, chosen: Candidate, smoother: Any) -> Any:
        """Those that are known already: rows are not kept to be left out."""
        return chosen.left if smoother is chosen.smoother else None

    def _path(self, chosen: Candidate) -> Any:
        return SourcePath(chosen.smoother)


class SourcePath(PenaltyPath):
    """Left-out means of a sample for one penalty after another, from the sums of all rows.

    Parameters
    ----------
    fitted : ridge regression that was fitted to a source
    """

    def __init__(self, fitted: Any) -> None:
        self.fitted, self.rows = fitted, None

    def along(self, alphas: Iterable[float]) -> Iterator[np.ndarray]:
        """Left-out means of shape (k, q) for each penalty, when it is asked for."""
        return Penalties.of(self.fitted).left_out(alphas)

    def smoother_with(self, alpha: float, _targets: Any = None) -> Any:
        """The smoother with a penalty; it is fitted to the targets that it was read with."""
        return self.fitted.with_alpha(alpha)
