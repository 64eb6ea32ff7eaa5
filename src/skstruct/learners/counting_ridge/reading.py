# SPDX-License-Identifier: BSD-3-Clause
"""What structured ridge regression reads and checks before it learns anything, and what the
truth is contrasted with.
"""

import re
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.memory import check_table_fits
from skstruct._arrays.rows import dense, distinct
from skstruct.learners.counting_ridge.exponential import ExponentialLoss
from skstruct.learners.counting_ridge.objective import CountingExamples, NewtonCG
from skstruct.learners.counting_ridge.prediction import CountingPredictor, CountingProblem
from skstruct.learners.counting_ridge.score_functions import ScoreFunction
from skstruct.learners.inputs import given_outputs, plain_kernel, read_inputs, row_weights
from skstruct.learners.marginals import opened_space
from skstruct.learners.tokens import TokenBatch
from skstruct.losses import resolve_loss
from skstruct.spaces import Countable
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.truth import flattened

SEEN = 1000  # outputs whose embeddings are compared


def contrasted_with(contrast: str, space: Any, outputs: Any) -> Any:
    """The space whose moments are taken, and whose outputs the truth is to be ahead of.

    Parameters
    ----------
    contrast : "auto", "space", "relaxation" or space
    space : fitted space
        What may be predicted.
    outputs : outputs of training in the user's format
    """
    name = type(space).__name__
    if hasattr(contrast, "embedding"):
        found = _fitted(contrast, space, outputs)
    elif isinstance(contrast, str) and contrast == "auto":
        found = space.counted
    elif isinstance(contrast, str) and contrast == "space":
        found = space
    elif isinstance(contrast, str) and contrast == "relaxation":
        found = space.relaxation()
        if found is None:
            raise ValueError(
                f"contrast='relaxation': {name} knows no larger space; give one, or 'space'."
            )
    else:
        raise ValueError(f"contrast is 'auto', 'space', 'relaxation' or a space; got {contrast!r}.")
    if not isinstance(found, Countable):
        raise ValueError(
            f"CountingRidge needs the moments of the space, which {type(found).__name__} has not: "
            "use ConditionalRiskMinimizer or StructuredSVM, or give a larger space as contrast."
        )
    return found


def _fitted(contrast: Any, space: Any, outputs: list[set[Any]]) -> Any:
    """A space that was given; scores are shared, so that coordinates must mean the same in both."""
    name, given = type(space).__name__, type(contrast).__name__
    if contrast.embedding != space.embedding:
        raise ValueError(
            f"contrast: {name} embeds its outputs by {space.embedding}, and {given} by "
            f"{contrast.embedding}; give a space with the embedding of {name}."
        )
    found, some = clone(contrast).fit(outputs), outputs[:SEEN]
    ours, theirs = (dense(one.embed(one.validate(some))) for one in (space, found))
    if ours.shape != theirs.shape or not np.array_equal(ours, theirs):
        raise ValueError(
            f"contrast: {given} embeds the outputs differently from {name}; give it the same "
            "labels in the same order."
        )
    return found


# How the objective is minimized.


SOLVERS: dict[str, Any] = {"newton-cg": NewtonCG, "exponential": ExponentialLoss}


def solver_of(solver: Any) -> Any:
    """A solver object with parameters that make sense; None for the closed form."""
    if isinstance(solver, str) and solver == "closed-form":
        return None
    method = SOLVERS[solver]() if isinstance(solver, str) and solver in SOLVERS else solver
    if not hasattr(method, "minimum"):
        raise ValueError(
            'solver is "closed-form", "newton-cg", "exponential", a NewtonCG or an '
            f"ExponentialLoss; got {solver!r}."
        )
    if not is_count(method.max_iter):
        raise ValueError(f"max_iter is a whole number from 1; got {method.max_iter!r}.")
    if not (is_number(method.tol) and 0 <= method.tol < 1):
        raise ValueError(f"tol is a number that is not negative and below 1; got {method.tol!r}.")
    return method


def check_ridge(solver: Any, used_by: str) -> None:
    """Raise where the objective is not the quadratic one."""
    method = solver_of(solver)
    if method is not None and not method.is_ridge:
        raise ValueError(
            f"{used_by} learns by the squared loss, solver='closed-form' or 'newton-cg'; got "
            f"{solver!r}. fit on arrays takes the exponential loss."
        )


# What a counting learner reads and checks before it learns anything.


class CountingReader(CountingPredictor):
    """Inputs, outputs and parameters of :class:`~.ridge.CountingRidge`, once they are checked."""

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, reset: bool, encode: bool = True
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, correct outputs with their rows, and weights, once everything is checked."""
        y = given_outputs(y, "CountingRidge")
        self._check_parameters()
        X = self._read_first(X, self.kernel, encode) if reset else read_inputs(self, X)
        if isinstance(X, TokenBatch):
            raise ValueError(
                "CountingRidge takes one row of features per output; X has one per position. Use "
                "ConditionalRiskMinimizer or StructuredSVM."
            )
        check_consistent_length(X, y)
        flat, row = flattened(y) if self.several_outputs_ else (y, np.arange(X.shape[0]))
        try:
            outputs = self._fit_space(flat) if reset else self.space_.validate(flat)
            if reset:
                self.contrast_ = contrasted_with(self.contrast, self.space_, flat)
        except ValueError as error:
            raise self._in_its_row(error, row) from None
        if self.several_outputs_:
            outputs, row = self._once(outputs, row)
        return X, outputs, row, row_weights(sample_weight, X.shape[0])

    def _fit_space(self, flat: Any) -> Any:
        self.space_ = opened_space(self, flat)
        outputs = self.space_.fit_validate(flat)
        name = type(self.space_).__name__
        if differs_by_row(self.space_):
            raise ValueError(
                f"CountingRidge counts one space, and the constraints of {name} differ from row "
                "to row: give them at prediction, restrict={...}."
            )
        self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
        return outputs

    def _in_its_row(self, error: Any, row: np.ndarray) -> Any:
        """An error that counts all correct outputs, with the row of the one it names."""
        named = re.search(r"Y\[(\d+)\]", str(error))
        if not self.several_outputs_ or named is None:
            return error
        at = row[int(named[1])]
        return ValueError(
            f"In the list of correct outputs y[{at}], Y counting all of them: {error}"
        )

    def _once(self, outputs: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every correct output of a row once; where there are several, all must be counted."""
        number = distinct(outputs)[1]
        first = np.sort(np.unique(np.column_stack([row, number]), axis=0, return_index=True)[1])
        outputs, row = outputs[first], row[first]
        several = np.bincount(row)[row] > 1
        outside = several & ~self.contrast_.contains(outputs)
        if outside.any():
            at = row[np.flatnonzero(outside)[0]]
            raise ValueError(
                f"y[{at}] has several correct outputs, and not all are within the constraints of "
                "the space: give constraints at prediction, restrict={...}."
            )
        return outputs, row

    def _fixed_alpha(self) -> float | None:
        """A single penalty, checked; None where there is a choice."""
        if not is_number(self.alpha):
            return None
        alpha = float(self.alpha)
        if not (np.isfinite(alpha) and alpha > 0):
            raise ValueError(f"alpha must be positive; got {self.alpha!r}.")
        return alpha

    def _check_parameters(self) -> None:
        if self.n_landmarks is not None and not is_count(self.n_landmarks):
            raise ValueError(f"n_landmarks is a whole number from 1; got {self.n_landmarks!r}.")
        solver_of(self.solver)

    def _open(self, X: Any, outputs: np.ndarray, row: np.ndarray, weight: np.ndarray) -> None:
        """What is known of space and inputs before anything is learned."""
        self.size_ = self.contrast_.size()
        self.moments_ = np.asarray(self.contrast_.mean_embedding()), self.contrast_.covariance()
        drawn = self.contrast_.sampled_moments()
        self.moments_error_ = None if drawn is None else drawn.errors
        self.outputs_ = outputs
        self.problem_ = self._problem(outputs, row)
        self.function_ = ScoreFunction(
            plain_kernel(self, self.kernel), n_landmarks=self.n_landmarks,
            fit_intercept=self.fit_intercept, random_state=self.random_state,
        ).fit(X, weight)  # fmt: skip

    def _problem(self, outputs: np.ndarray, row: np.ndarray) -> CountingProblem:
        return CountingProblem(self.space_, self.loss_, outputs, row, *self.moments_)

    def _examples(
        self, outputs: np.ndarray, row: np.ndarray, weight: np.ndarray
    ) -> CountingExamples:
        mean, covariance = self.moments_
        check_table_fits(
            len(row), len(mean), "Embeddings of the training outputs take",
            "Learn from fewer rows at a time: partial_fit.",
        )  # fmt: skip
        psi = self.space_.embed(outputs)
        psi = dense(psi, np.float64)
        return CountingExamples.of(psi, mean, row, weight, covariance, self.size_)
