# SPDX-License-Identifier: BSD-3-Clause
"""What a model expects to lose on each row, and what it does lose."""

from __future__ import annotations

from typing import Any

import numpy as np

from skstruct.learners.token_problem import check_predicted_lengths
from skstruct.losses import ZeroOne
from skstruct.losses.base import same_width


def risks_and_losses(estimator, X, y, *, loss=None, restrict=None) -> tuple[Any, np.ndarray]:
    """Estimated risks of the predictions, and their realised losses; shape (n,) each.

    An exponential family that predicts the most probable output expects to be wrong with one
    minus its probability, and is judged by the zero-one loss.

    Parameters
    ----------
    estimator : fitted ConditionalRiskMinimizer, ExponentialFamily or pipeline that ends in one
    X, y : inputs and true outputs
    loss, restrict
        As in ``predict``.
    """
    if hasattr(estimator, "steps"):
        inner = estimator[:-1].transform(X)
        return risks_and_losses(estimator[-1], inner, y, loss=loss, restrict=restrict)
    if hasattr(estimator, "predict_risk"):
        problem, _ = estimator._prepared(loss, restrict)
    elif hasattr(estimator, "log_proba"):
        problem, _ = estimator._prepared(loss, restrict)
        if not problem.by_loss:
            return _chances_to_be_wrong(estimator, X, y, restrict)
    else:
        raise ValueError(
            f"{type(estimator).__name__} does not estimate the risk of its predictions; "
            "ConditionalRiskMinimizer and ExponentialFamily do."
        )
    decoded = estimator.decode(X, loss=loss, restrict=restrict)
    predicted, truth = canonical(estimator.space_, decoded.outputs, y, estimator)
    risks = problem.possible(decoded.values)
    return risks, np.asarray(problem.loss(predicted, truth), float)


def canonical(space, predicted, y, learner=None) -> tuple[np.ndarray, np.ndarray]:
    """Predictions (of a learner) and truths in canonical form, of one width."""
    predicted, truth = space.validate(predicted), space.validate(y)
    if len(predicted) != len(truth):
        raise ValueError(f"X has {len(predicted)} rows and y has {len(truth)}.")
    check_predicted_lengths(learner, predicted, truth)
    return same_width(predicted, truth)


def _chances_to_be_wrong(estimator, X, y, restrict):
    outputs = estimator.predict(X, restrict=restrict)
    chances = np.exp(estimator.log_proba(X, outputs, restrict=restrict))
    predicted, truth = canonical(estimator.space_, outputs, y, estimator)
    return 1.0 - np.clip(chances, 0, 1), np.asarray(ZeroOne()(predicted, truth), float)


def checked_pairs(risks, losses) -> tuple[np.ndarray, np.ndarray]:
    """Finite numbers, one risk and one loss for each row."""
    read = [np.asarray(values, dtype=np.float64) for values in (risks, losses)]
    if read[0].ndim != 1 or read[0].shape != read[1].shape or len(read[0]) == 0:
        raise ValueError(
            "One estimated risk and one realised loss for each row are compared; got shapes "
            f"{read[0].shape} and {read[1].shape}."
        )
    for name, values in zip(("risks", "losses"), read):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} are finite; got {values[~np.isfinite(values)][0]}.")
    return read[0], read[1]
