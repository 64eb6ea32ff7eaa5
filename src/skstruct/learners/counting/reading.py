# SPDX-License-Identifier: BSD-3-Clause
"""What a counting learner reads and checks before it learns anything."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight

from skstruct._arrays.blocks import parse_memory
from skstruct._arrays.memory import check_table_fits
from skstruct.learners.counting.base import CountingPredictor, flattened
from skstruct.learners.counting.examples import CountingExamples
from skstruct.learners.counting.functions import FEATURES, ScoreFunction
from skstruct.learners.counting.online import RATES
from skstruct.learners.counting.problem import CountingProblem
from skstruct.learners.inputs import plain_kernel, read_inputs
from skstruct.learners.tokens import TokenBatch
from skstruct.losses import resolve_loss
from skstruct.spaces.base import Countable
from skstruct.spaces.inference import infer_space

SOLVERS = ("closed-form", "newton-cg")


class CountingReader(CountingPredictor):
    """Inputs, outputs and parameters of :class:`~.ridge.CountingRidge`, once they are checked."""

    def _begin(self, X, y, sample_weight, reset):
        """Inputs, correct outputs with their rows, and weights, once everything is checked."""
        if y is None:
            raise ValueError("CountingRidge requires y to be passed, but the target y is None.")
        y = y if hasattr(y, "__len__") else np.asarray(y)
        self._check_parameters()
        X = read_inputs(self, X, kernel=self.kernel, reset=reset)
        if isinstance(X, TokenBatch):
            raise ValueError(
                "CountingRidge takes one row of features per output; X has one per position. Use "
                "ConditionalRiskMinimizer or StructuredSVM."
            )
        check_consistent_length(X, y)
        flat, row = flattened(y) if self.several_outputs else (y, np.arange(X.shape[0]))
        if reset:
            self.space_ = (infer_space(flat) if self.space is None else clone(self.space)).fit(flat)
            if not isinstance(self.space_.counted, Countable):
                raise ValueError(
                    f"CountingRidge needs the moments of the space, which "
                    f"{type(self.space_).__name__} has not: use ConditionalRiskMinimizer or "
                    "StructuredSVM."
                )
            self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
        outputs = self.space_.validate(flat)
        rows = np.empty((X.shape[0], 0))
        weight = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        return X, outputs, row, weight

    def _check_parameters(self):
        parse_memory(self.memory)
        for name, known in (
            ("solver", SOLVERS), ("features", FEATURES), ("learning_rate", RATES)
        ):  # fmt: skip
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} is one of {', '.join(known)}; {getattr(self, name)!r} came."
                )
        for name in ("n_components", "batch_size", "budget", "n_total", "max_iter"):
            value = getattr(self, name)
            whole = isinstance(value, Integral) and not isinstance(value, bool) and value >= 1
            if not whole and not (value is None and name in ("n_components", "n_total")):
                raise ValueError(f"{name} is a whole number from 1; {value!r} came.")

    def _open(self, X, outputs, row, weight):
        """What is known of space and inputs before anything is learned."""
        counted = self.space_.counted
        self.size_ = counted.size()
        self.moments_ = np.asarray(counted.mean_embedding()), counted.covariance()
        self.outputs_ = outputs
        self.problem_ = self._problem(outputs, row)
        self.function_ = ScoreFunction(
            plain_kernel(self, self.kernel), gamma=self.gamma, degree=self.degree,
            coef0=self.coef0, features=self.features, n_components=self.n_components,
            fit_intercept=self.fit_intercept, random_state=self.random_state,
        ).fit(X, weight)  # fmt: skip

    def _problem(self, outputs, row) -> CountingProblem:
        return CountingProblem(self.space_, self.loss_, outputs, row, *self.moments_)

    def _examples(self, outputs, row, weight) -> CountingExamples:
        mean, covariance = self.moments_
        check_table_fits(
            len(row), len(mean), "Embeddings of the training outputs take",
            "Learn from fewer rows at a time: partial_fit.",
        )  # fmt: skip
        psi = self.space_.embed(outputs)
        psi = psi.toarray() if sparse.issparse(psi) else np.asarray(psi, dtype=np.float64)
        return CountingExamples.of(psi, mean, row, weight, covariance, self.size_)
