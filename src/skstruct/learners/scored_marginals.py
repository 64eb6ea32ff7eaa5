# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities from scores, by a temperature that is learned on rows kept apart."""

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct.fitted import Fitted, FittedScores
from skstruct.learners.exponential_family.distribution import exact_means
from skstruct.learners.inputs import row_weights, rows_of
from skstruct.learners.marginals import (
    MarginalPredictor,
    asked_parts,
    estimator_type,
    named_marginals,
    warn_of_open_pairs,
)
from skstruct.learners.whole_rows import whole_rows
from skstruct.spaces import Inference, Marginals, Solving

LOG_RANGE = 14.0  # of the inverse temperature: from a millionth to a million


def _is_calibrated_classifier(learner: Any) -> bool:
    return hasattr(learner, "temperature_") and estimator_type(learner) == "classifier"


class ScoredMarginals(MarginalPredictor):
    r"""Probabilities :math:`p(z \mid x) \propto \exp(s(x, z) / \tau)` of outputs with scores s.

    Scores of learners by margins are on no scale that says how sure they are. The temperature
    :math:`\tau` gives the truth of rows kept apart the largest likelihood [1]_; decisions do not
    depend on it.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural
       networks", 2017, section 4.2.
    """

    temperature_: float

    def calibrate(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn how sure scores are, from rows that the learner was not fitted to.

        Sets ``temperature_``, after which there are ``predict_marginals`` and ``predict_proba``.
        Rows of which parts are missing are left out, with a warning.
        """
        check_is_fitted(self)
        check_consistent_length(X, y)
        X, truth, sample_weight = whole_rows(type(self).__name__, self.space_, X, y, sample_weight)
        X, _ = self._checked(X)
        self.problem_.check_truth(X, truth)
        weight = row_weights(sample_weight, X.shape[0])
        problem, scores = self._prepared()
        smoothed = problem.smooth(scores, X)

        def loss(log_inverse: float) -> Any:
            return -weight @ _log_likelihood(problem, smoothed, truth, np.exp(log_inverse))

        from scipy.optimize import minimize_scalar

        found = minimize_scalar(loss, bounds=(-LOG_RANGE, LOG_RANGE), method="bounded")
        self.temperature_ = float(np.exp(-found.x))
        return self

    def predict_marginals(  # type: ignore[override]  # nothing more to calibrate
        self: Any,
        X: Any,
        *,
        restrict: dict[str, Any] | None = None,
        parts: str | None = None,
        raw: bool = False,
    ) -> Any:
        """Probabilities of the parts of outputs, once ``calibrate`` has said how sure scores are.

        Parameters and shapes are those of
        :meth:`skstruct.ConditionalRiskMinimizer.predict_marginals`; ``raw`` gives means of psi.
        """
        check_is_fitted(self)
        if not hasattr(self, "temperature_"):
            raise ValueError(
                f"{type(self).__name__} learns by margins, and its scores are no probabilities: "
                "call calibrate(X, y) with rows that it was not fitted to."
            )
        problem, scores = self._prepared(restrict=restrict)
        parts = asked_parts(self.space_, parts)
        space = problem.space if raw else Marginals.of(problem.space).view(parts)
        X, index = self._checked(X)
        self._check_constraints(problem, X.shape[0])
        blocks = []
        for rows in row_blocks(X.shape[0], problem.bytes_per_row(), self.memory):
            smoothed = problem.smooth(scores, rows_of(X, rows))
            means = _marginals(problem, smoothed, rows, 1.0 / self.temperature_, space)
            blocks.append(means)
        if isinstance(blocks[0], list):
            return named_marginals(self, blocks, space, parts, index)
        if raw:
            return np.concatenate(blocks)
        warn_of_open_pairs(space, self.outputs_)
        # Those of a distribution are coherent as they are: a search for nearest ones would only
        # lose digits.
        blocks = [Marginals.of(space).marginals(block, parts, raw=True) for block in blocks]
        return named_marginals(self, blocks, space, parts, index)

    @available_if(_is_calibrated_classifier)  # type: ignore[untyped-decorator]
    def predict_proba(self: Any, X: Any) -> np.ndarray:
        """``predict_marginals`` as an array, after ``calibrate``."""
        return np.asarray(self.predict_marginals(X))

    @available_if(_is_calibrated_classifier)  # type: ignore[untyped-decorator]
    def predict_log_proba(self: Any, X: Any) -> np.ndarray:
        """Logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


def _distribution(problem: Any, smoothed: Any, rows: Any, inverse: float) -> Any:
    """The distributions of some rows."""
    if hasattr(smoothed, "starts"):
        unary, transitions, _ = problem.chain_costs(smoothed, rows)
        steps = None if transitions is None else -inverse * transitions
        chains = Solving.of(problem.space.rows(rows))
        return chains.distribution_of_chains(-inverse * unary, smoothed.starts, steps)
    found = Inference.of(problem.space.rows(rows)).distribution(
        _scores(problem, smoothed, rows, inverse)
    )
    return _exactly(found, problem)


def _scores(problem: Any, smoothed: Any, rows: Any, inverse: float) -> np.ndarray:
    costs, _ = problem.row_costs(smoothed, rows)
    return -inverse * costs


def _exactly(found: Any, problem: Any) -> Any:
    if found is None:
        raise ValueError(
            f"The distributions over {type(problem.space).__name__} are not known exactly: scores "
            "do not become probabilities here; ExponentialFamily samples them."
        )
    return found


def _log_likelihood(problem: Any, smoothed: Any, truth: np.ndarray, inverse: float) -> Any:
    """ln p of the truth of every row, at an inverse temperature; shape (n,)."""
    rows = slice(None)
    partition = _distribution(problem, smoothed, rows, inverse).log_partition
    if hasattr(smoothed, "starts"):
        return inverse * problem.scores_of(smoothed, truth) - partition
    costs, _ = problem.row_costs(smoothed, rows)
    psi = dense(problem.space.embed(truth))
    return -inverse * np.einsum("nd,nd->n", costs, psi) - partition


def _marginals(problem: Any, smoothed: Any, rows: Any, inverse: float, view: Any) -> Any:
    """Means of psi, or of the embedding of a view of the same outputs."""
    found = _distribution(problem, smoothed, rows, inverse)
    if hasattr(smoothed, "starts"):
        return np.split(found.token_marginals(), smoothed.starts[1:-1])
    if view.embedding == problem.space.embedding:
        return found.marginals()
    scores = _scores(problem, smoothed, rows, inverse)
    means = exact_means(found, problem.space.rows(rows), view.rows(rows), scores)
    return _exactly(means, problem)


Fitted.at(ScoredMarginals, FittedScores)
