# SPDX-License-Identifier: BSD-3-Clause
"""Conditional risk minimization from blocks of rows whose outputs are known in part."""

from dataclasses import replace
from typing import Any

import numpy as np

from skstruct._arrays.progress import announce
from skstruct.kernels import resolve_kernel
from skstruct.kernels.inputs import kernel_name
from skstruct.learners.inputs import TrainingData
from skstruct.learners.leave_out import kernel_grid
from skstruct.learners.regression import ONE_PASS, Regressed, RidgeRegression, number_tried
from skstruct.smoothing.nystroem.masked_passes import MaskedNystroemRidge, check_again
from skstruct.smoothing.planning import LINEAR_FEATURES
from skstruct.spaces import Known
from skstruct.tolerances import PASSES_RESIDUAL


class GapsError(ValueError):
    """Parts of outputs are missing in a block, and in no row of the sample that was seen first."""


class MaskedStreamRidge(RidgeRegression):
    """Ridge regression of targets with gaps from a source: each target by the rows that know it.

    Kernel and penalty are chosen on the sample of the rows, which is held; the fit with them reads
    all rows once for every iteration. Parts that are not known are not filled by what others say
    of them (:mod:`skstruct.learners.conditional_risk.filling`): observed parts alone are learned.
    """

    @property
    def solver(self) -> str:
        return self.model.solver if self.model.solver in ONE_PASS else "nystroem"

    def fit_source(self, X: Any, read: dict[str, Any], level: Any, seed: int) -> Regressed:
        """From a source; ``read`` is what ``fit_source`` of a smoother takes, X its sample."""
        model, source, weight = self.model, read["source"], read["sample"].weight
        check_again(source)
        pairs = kernel_grid(self.kernels(source.n_rows, X.shape[1]), X, weight)
        kernel, gamma, alpha, search = *pairs[0], model.alpha, None
        if number_tried(pairs, alpha) > 1:
            data = TrainingData(X, self.problem.outputs, weight, read["folds"])
            found = self._fit_gaps(data, pairs, number_tried(pairs, alpha), level)
            kernel, gamma, alpha, search = found.kernel, found.gamma, found.alpha, found.search
        announce(self._plan(source))
        smoother = self._masked(kernel, gamma, float(alpha), X.shape[1], seed)
        smoother.fit_source(source, read["read"], sample=read["sample"])
        announce(f"{smoother.n_passes_} passes over the rows")
        settled = self.settled(smoother, "masked", kernel, None, weight)
        return replace(settled, search=search)

    def _masked(
        self, kernel: Any, gamma: Any, alpha: float, n_features: int, seed: int
    ) -> MaskedNystroemRidge:
        model = self.model
        linear = kernel_name(kernel) == "linear" and n_features <= LINEAR_FEATURES
        features = "linear" if linear else "nystroem"
        return MaskedNystroemRidge(
            resolve_kernel(kernel).with_gamma(gamma), alpha,
            features="fourier" if model.solver == "fourier" else features,
            fit_intercept=model.fit_intercept, n_landmarks=model.n_landmarks, tol=PASSES_RESIDUAL,
            random_state=seed,
        )  # fmt: skip

    def _plan(self, source: Any) -> str:
        """What will be done with the blocks of a source."""
        rows = "Rows" if source.n_rows is None else f"{source.n_rows:,} rows"
        return (
            f"{rows} in blocks x {self.problem.width + 1:,} targets of which some are not known, "
            f"a pass for every iteration; penalties judged by {len(self.problem.outputs):,} rows"
        )


def masked_targets(problem: Any, space: Any, y: Any) -> np.ndarray:
    """Targets of the outputs of a block, NaN where they were not observed; shape (n, q + 1).

    Parameters
    ----------
    problem : MaskedProblem
    space : fitted space
        It keeps its names, whatever the block has.
    y : outputs in any format
    """
    if not Known.of(space).has_gaps(y):
        return problem.targets_of(space.validate(y))
    partial = Known.of(space).read_further(y)
    if not partial.by_parts:
        raise ValueError("A row is one of several outputs, which blocks of rows do not say.")
    return np.asarray(problem.masked_targets(partial))
