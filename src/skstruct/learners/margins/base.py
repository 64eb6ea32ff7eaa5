# SPDX-License-Identifier: BSD-3-Clause
"""What all margin learners share: rivals to find, and rows for an optimiser."""

from __future__ import annotations

import warnings

import numpy as np

from skstruct.learners.inputs import plain_kernel
from skstruct.learners.margins.problem import MarginProblem
from skstruct.learners.margins.scores import Scores
from skstruct.learners.score_learner import ScoreLearner
from skstruct.learners.tokens import TokenBatch


class MarginLearner(ScoreLearner):
    """A learner of scores that put the truth ahead of rivals by a margin."""

    def _problem(self, X) -> MarginProblem:
        if isinstance(X, TokenBatch):
            from skstruct.learners.margins.chains import ChainMargins

            if not hasattr(self.space_, "argmin_chains"):
                raise ValueError(
                    "X has features for every position of a sequence: the space is Sequences; got "
                    f"{type(self.space_).__name__}."
                )
            return ChainMargins(self.space_, self.loss_, self.outputs_, X.starts)
        relaxed = hasattr(self.space_, "argmin_relaxed") and self.space_.guarantee.kind != "exact"
        return MarginProblem(self.space_, self.loss_, self.outputs_, relaxed=relaxed)

    def _warn_if_approximate(self):
        """A decoder without a promise cannot be trusted to find the strongest rival."""
        problem = self.problem_
        if problem.relaxed or problem.decoder.guarantee.kind == "exact":
            return
        warnings.warn(
            f"{type(problem.decoder).__name__} does not always find the best output: training may "
            "miss strong rivals. The gap is computed from the decoder's bounds, so that it still "
            "is no smaller than the true one, but it may stay above tol.",
            stacklevel=6,
        )

    def _rows(self, X, weight=None):
        """New scores, and the training rows as the optimiser reads them."""
        scores = Scores(
            plain_kernel(self, self.kernel), gamma=self.gamma, degree=self.degree,
            coef0=self.coef0, n_components=self.n_components,
            fit_intercept=self.fit_intercept, random_state=self.random_state,
        )  # fmt: skip
        tokens, starts = X, np.arange(X.shape[0] + 1)
        if isinstance(X, TokenBatch):
            tokens, starts = X.tokens, X.starts
            weight = None if weight is None else weight[X.sequence]
        rows = scores.fit_rows(tokens, starts, weight)
        self.problem_.n_features = 0 if scores.is_linear else rows.X.shape[1]
        return scores, rows
