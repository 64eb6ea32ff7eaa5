# SPDX-License-Identifier: BSD-3-Clause
"""What structured ridge regression does once it is trained: decisions from scores."""

import copy
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.rows import dense, equal_rows
from skstruct.learners.base import BlockPredictor, Explanation
from skstruct.learners.marginals import warn_of_open_pairs
from skstruct.learners.problem import RiskProblem
from skstruct.losses import pair, resolve_loss
from skstruct.saving import savable
from skstruct.spaces import Decoded, Marginals, SklearnTarget, Targets, whole_of
from skstruct.spaces.truth import flattened


@savable
class CountingProblem(RiskProblem):
    """Outputs of the largest score; under a loss, those of least risk by mean embeddings.

    Parameters
    ----------
    space : fitted space
    loss : loss
        What predictions are judged by.
    outputs : array (M, ...)
        Correct outputs of training in canonical form.
    row : int array (M,)
        The example of each, sorted.
    mean, covariance
        Moments of the space that is counted.
    """

    smooths_means = False
    n_features = 0  # numbers that a row is turned into before it is scored: kernel values too

    def __init__(
        self,
        space: Any,
        loss: Any,
        outputs: np.ndarray,
        row: np.ndarray,
        mean: np.ndarray,
        covariance: Any,
    ) -> None:
        self.scored = self.space = space
        self.outputs, self.row = outputs, row
        self.mean, self.covariance = mean, covariance
        self.width = len(mean)
        _, self.loss = pair(loss, whole_of(space), outputs)
        self.by_loss = False

    def judged_by(self, loss: Any) -> "CountingProblem":
        """The same scores, turned into means of psi and decided under a loss."""
        judged = copy.copy(self)
        judged.space, judged.loss = pair(loss, whole_of(self.scored), self.outputs)
        if judged.space.embedding != self.scored.embedding:
            raise ValueError(
                f"{type(loss).__name__} is bilinear in {judged.space.embedding}; CountingRidge "
                f"estimates means of {self.scored.embedding} only. Predict without a loss, give "
                "the constructor the loss to score by, or use ConditionalRiskMinimizer."
            )
        judged.by_loss = True
        return judged

    # ------------------------------------------------------------------ training
    @property
    def first_outputs(self) -> np.ndarray:
        """One correct output of every example."""
        return self.outputs[np.flatnonzero(np.diff(self.row, prepend=-1))]

    def number_of_outputs(self) -> np.ndarray:
        """A number for each example, the same for those with the same correct outputs."""
        starts = np.searchsorted(self.row, np.arange(self.row[-1] + 2))
        number = equal_rows(self.outputs, starts=starts)
        return np.arange(len(starts) - 1) if number is None else number

    def losses_of(self, decided: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Losses against the nearest correct outputs of some training rows."""
        starts = np.searchsorted(self.row, rows)
        counts = np.searchsorted(self.row, rows, side="right") - starts
        at = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return nearest_losses(self.loss, decided, self.outputs[at], counts)

    def constant_risk(self, sample_weight: Any = None, loss: Any = None) -> float:
        """Mean loss of the output that is best for all examples together, under ``loss``."""
        space, loss = pair(self.loss if loss is None else loss, whole_of(self.scored), self.outputs)
        m = self.row[-1] + 1
        weight = np.ones(m) if sample_weight is None else sample_weight
        of_output = (weight / np.bincount(self.row))[self.row]
        g = np.atleast_2d(of_output @ Targets.of(space).targets(self.outputs)) / weight.sum()
        decided = space.argmin(np.ascontiguousarray(loss.cost(g, np.ones((1, 1))))).outputs
        losses = self.losses_of(np.repeat(decided, m, axis=0), np.arange(m))
        return float(np.average(losses, weights=weight))

    # ------------------------------------------------------------------ predicting
    def smooth(self, smoother: Any, X: Any) -> Any:
        return smoother.predict(X, with_total=self.by_loss)

    def means(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sum of weighted embeddings (n, d) and total weight (n, 1) from scores (n, d + 1)."""
        total = scores[:, -1:].clip(min=0.0)  # no weight at all: the scores alone decide
        return self.covariance.apply(scores[:, :-1]) + total * self.mean, total

    def mean_embedding(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimated E[psi(Y) | x] (n, d), and ones; the uniform mean where there is no weight."""
        g, total = self.means(means)
        found = np.where(total > 0, g / np.where(total > 0, total, 1.0), self.mean)
        return found, np.ones((len(found), 1))

    def costs(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.by_loss:
            return self._snapped(-means), np.zeros(len(means))
        g, total = self.means(means)
        return self._snapped(self.loss.cost(g, total)), self.loss.offset(g, total)

    def bytes_per_row(self) -> Any:
        return 8 * (6 * self.width + 3 * self.n_features)


def nearest_losses(
    loss: Any, decided: np.ndarray, truths: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Loss of each decision against the nearest of its ``counts`` correct outputs."""
    each = loss(np.repeat(decided, counts, axis=0), truths)
    return np.minimum.reduceat(each, np.cumsum(counts) - counts)


# What a counting learner does once it is trained.


class CountingPredictor(BlockPredictor):
    """Predictions from ``function_``, the scores, and ``problem_``.

    A child has the parameters ``n_jobs`` and ``verbose``, and ``several_outputs_``.
    """

    def _prepared(
        self, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> tuple[CountingProblem, Any]:
        check_is_fitted(self)
        problem = self.problem_ if loss is None else self.problem_.judged_by(resolve_loss(loss))
        return problem.restricted(restrict), self.function_

    def decode(
        self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Decoded:
        """Predictions with their costs and lower bounds on these.

        Costs are minus the scores; under a loss, estimated risks up to a positive factor.

        Parameters
        ----------
        loss : str, loss or callable, default=None
            Decide by least risk under this loss, from estimated means of psi; by its limit where
            the total weight of the training outputs is not positive. None decides by the
            largest score.
        restrict : dict, default=None
            Arguments of the space's ``restrict``, such as ``{"max_size": 3}``.
        """
        return self._decode(X, *self._prepared(loss, restrict))

    def predict(self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None) -> Any:
        """Outputs of the largest score, in the format in which ``y`` was given."""
        return self.decode(X, loss=loss, restrict=restrict).outputs

    def kbest(
        self, X: Any, k: int = 3, *, loss: Any = None, restrict: dict[str, Any] | None = None
    ) -> Decoded:
        """The ``k`` best outputs for each row.

        ``outputs`` is a list: its entry r holds the outputs of rank r in the form of
        ``predict``. ``values`` and ``bounds`` are (n, k), infinite where a row has fewer.
        """
        return self._kbest(X, k, *self._prepared(loss, restrict))

    @property
    def _has_means(self) -> bool:  # type: ignore[override]  # by solver
        """Newton steps, and those on further rows, know scores alone."""
        if hasattr(self, "function_"):
            return self.function_.total_ is not None
        return isinstance(self.solver, str)

    def _telling(self, parts: str, told: bool) -> tuple[CountingProblem, Any]:
        if not told:
            told_of = Marginals.of(self.problem_.scored).parts()
            if not told_of:
                raise ValueError(
                    f"predict_marginals: this model scores by {self.problem_.scored.embedding}, "
                    "whose means are no probabilities of parts: mean_embedding tells these means; "
                    "a space with another embedding tells of parts."
                )
            raise ValueError(
                f"predict_marginals: this model scores by {told_of[0]}, whose means tell nothing "
                f"of {parts}: ask for parts={told_of[0]!r}, or give a space with "
                f"embedding={parts!r}."
            )
        problem = copy.copy(self.problem_)
        problem.space, problem.by_loss = problem.scored, True
        warn_of_open_pairs(problem.space, problem.outputs)
        return problem, self.function_

    def decision_function(self, X: Any) -> Any:
        r"""Scores of the coordinates of :math:`\psi`; shape (n, d), and (n,) of two classes.

        The score of an output is their inner product with its embedding.
        """
        X, _ = self._checked(X)
        return SklearnTarget.of(self.space_).decision_scores(self.function_.predict(X))

    def mean_embedding(self, X: Any) -> Any:
        r"""Estimated :math:`E[\psi(Y) \mid x]`; shape (n, d).

        :math:`\bar\psi + S f(x) / t(x)`, where t(x) is the total weight of the training outputs:
        examples weigh by what they lack of a margin of one. NaN where that is not positive.
        """
        X, _ = self._checked(X)
        g, total = self.problem_.means(self.function_.predict(X, with_total=True))
        return g / np.where(total > 0, total, np.nan)

    def explain(self, X: Any, *, restrict: dict[str, Any] | None = None) -> Explanation:
        """What every training row adds to the score of the prediction, and how far it is.

        The weights of a row sum up to the score of its prediction.
        """
        X, _ = self._checked(X)
        function = self.function_
        if function.by_features_ or self.online_ is not None:
            raise ValueError("Only a kernel fitted in one go has one term per training row.")
        problem, _ = self._prepared(None, restrict)
        decided = self._in_blocks(X, problem, function, problem.decode).outputs
        psi = self.space_.embed(decided)
        psi = dense(psi)
        weights = function.basis(X) * (psi @ function.weights_.T)
        return Explanation(weights, problem.loss.pairwise(decided, problem.first_outputs))

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
    ) -> float:
        """Minus the mean loss of the predictions; to the nearest of several correct outputs."""
        problem, function = self._prepared(loss, restrict)
        if not self.several_outputs_:
            return self._score(X, y, sample_weight, problem, function)
        X, _ = self._checked(X)
        check_consistent_length(X, y, sample_weight)
        flat, row = flattened(y)
        decoded = self._in_blocks(X, problem, function, problem.decode)
        truths = self.space_.validate(flat)
        losses = nearest_losses(problem.loss, decoded.outputs, truths, np.bincount(row))
        return 0.0 - float(np.average(losses, weights=sample_weight))
