# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of training that a model completes before it learns from them as a whole."""

from typing import Any

from skstruct.learners.conditional_risk.candidates import partial_problem
from skstruct.learners.conditional_risk.disambiguation import Disambiguation, disambiguate
from skstruct.learners.inputs import TrainingData
from skstruct.smoothing.kernel_ridge import KernelRidge
from skstruct.smoothing.scaled import Scaled
from skstruct.spaces.partial import PartialOutputs

MOST_ROWS = 10_000  # whose weights for each other are held


def decide_candidates(model: Any, data: TrainingData, partial: PartialOutputs) -> Disambiguation:
    """Outputs of training, decided among candidates by kernel ridge regression of scaled inputs.

    With the kernel and the penalty that a model is given, or else the Gaussian kernel and the
    penalty of least left-out infimum loss.
    """
    if len(partial) > MOST_ROWS:
        raise ValueError(
            f"Candidates of {len(partial):,} rows: they are decided from weights of all pairs of "
            f"rows, of up to {MOST_ROWS:,}. Fit to some of the rows."
        )
    kernel = "rbf" if model.kernel == "auto" else model.kernel
    problem = partial_problem(model.space_, model.loss_, partial)
    smoother = Scaled(KernelRidge(kernel, model.alpha, fit_intercept=model.fit_intercept))
    given = {"groups": data.groups, "verbose": model.verbose, "random_state": 0}
    return disambiguate(problem, smoother, data.rows, partial, data.row_weight, **given)
