# SPDX-License-Identifier: BSD-3-Clause
"""Scorers for scikit-learn's searches."""

from __future__ import annotations

from inspect import signature

import numpy as np
from sklearn.utils import check_consistent_length

from skstruct.learners.token_problem import check_predicted_lengths
from skstruct.losses import pair, resolve_loss


def loss_scorer(loss):
    """A scorer that judges a model's predictions under one loss: higher is better.

    The model predicts *for* that loss, whatever it was trained with. Pass the result as
    ``scoring`` to ``cross_val_score``, ``GridSearchCV`` and their like; a dictionary of
    several compares losses in one run. A model that predicts in one way only is judged by what
    it predicts.

    A grid over the parameter ``loss`` needs it: ``model.score`` is minus the loss that the model
    was made with, and losses of different scales (labels that are wrong, a share of these) do
    not compare.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]] * 3, [[1, 0], [1, 0], [0, 1], [0, 1]] * 3
    >>> model = ConditionalRiskMinimizer(alpha=0.1)
    >>> cross_val_score(model, X, Y, cv=3, scoring=loss_scorer("f1"))
    array([0., 0., 0.])
    """
    resolved = resolve_loss(loss)

    def score(model, X, y):
        check_consistent_length(X, y)
        inner = model[-1] if hasattr(model, "steps") else model  # a pipeline's last step
        takes_loss = hasattr(inner, "predict_risk")
        if not takes_loss and "loss" in signature(inner.score).parameters:
            return model.score(X, y, loss=resolved)
        predicted = model.predict(X, loss=resolved) if takes_loss else model.predict(X)
        space = inner.space_
        predicted, truth = space.validate(predicted), space.validate(y)
        check_predicted_lengths(inner, predicted, truth)
        bound = pair(resolved, space, inner.outputs_)[1]
        return 0.0 - float(np.mean(bound(predicted, truth)))

    return score
