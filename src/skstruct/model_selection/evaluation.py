# SPDX-License-Identifier: BSD-3-Clause
"""Losses of a fitted model on data it has not seen, with intervals and a baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state

from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import track
from skstruct.exceptions import InfeasibleError
from skstruct.learners.token_problem import check_predicted_lengths
from skstruct.losses import pair, resolve_loss
from skstruct.losses.base import same_width
from skstruct.model_selection.baselines import constant_outputs
from skstruct.model_selection.bootstrap import bootstrap_means, percentile_interval


@dataclass(frozen=True)
class LossEstimate:
    """Mean loss of a model under one loss.

    Attributes
    ----------
    loss : str
    mean : float
    low, high : float
        Ends of the bootstrap interval.
    baseline : float
        Mean loss of the best constant prediction; NaN where there is none.
    n : int
        Number of rows.
    aimed : bool
        Whether the predictions were chosen for this loss.
    losses : array of shape (n,)
        Of every row.
    """

    loss: str
    mean: float
    low: float
    high: float
    baseline: float
    n: int
    aimed: bool
    losses: np.ndarray = field(repr=False, compare=False)


def evaluate(
    model, X, y, *, losses=None, restrict=None, n_bootstrap=1000, level=0.95, random_state=0
) -> list[LossEstimate]:
    """Mean losses of a fitted model on rows that it was not trained on.

    A model that can predict for a given loss does so for each of them; others predict once.

    Parameters
    ----------
    model : fitted learner of this library, or pipeline that ends in one
    losses : list of names or losses, default=None
        All that make sense for the space when None: that of the model first, then the usual
        ones of its space.
    restrict : dict, default=None
        Constraints, as in ``predict``.
    n_bootstrap : int, default=1000
        Draws of the rows for the intervals, the same for every loss.
    level : float, default=0.95
    random_state : int, RandomState or None, default=0

    Returns
    -------
    list of LossEstimate

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]] * 5, [["a"], ["a"], ["a", "b"], ["b"]] * 5
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit(X, Y)
    >>> for estimate in evaluate(model, X, Y):
    ...     print(f"{estimate.loss:9} {estimate.mean:.2f}  without inputs {estimate.baseline:.2f}")
    hamming   0.00  without inputs 0.75
    f1        0.00  without inputs 0.25
    zero_one  0.00  without inputs 0.50
    """
    _check_level(n_bootstrap, level)
    check_consistent_length(X, y)
    learner = deciding(model)
    truth = learner.space_.validate(y)
    named = usual_losses(learner) if losses is None else {loss_name(loss): loss for loss in losses}
    own = loss_name(learner.loss_) if hasattr(learner, "loss_") else None
    plain = learner.space_.validate(model.predict(X, **_limits(restrict)))
    check_predicted_lengths(learner, plain, truth)
    columns, baselines, aims = [], [], []
    for name in track(list(named), "losses"):
        loss = named[name]
        resolved = resolve_loss(loss)
        aimed = plain if name == own else predicted_for(model, X, resolved, restrict)
        aims.append(aimed is not None)
        bound = pair(resolved, learner.space_, learner.outputs_)[1]
        columns.append(bound(*same_width(plain if aimed is None else aimed, truth)))
        baselines.append(_baseline(learner, resolved, bound, truth))
    table = np.column_stack(columns)
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    low, high = percentile_interval(bootstrap_means(table, n_bootstrap, generator), level)
    return [
        LossEstimate(
            name, float(column.mean()), float(lo), float(hi), base, len(column), aim, column
        )
        for name, column, lo, hi, base, aim in zip(named, table.T, low, high, baselines, aims)
    ]


def deciding(model):
    """What decides: the last step of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model


def usual_losses(model) -> dict:
    """Losses by name by which the predictions of a fitted model are judged, its own first."""
    space, own = model.space_, getattr(model, "loss_", None)
    named = {} if own is None else {loss_name(own): own}
    for name in (space.default_loss, *space.usual_losses):
        if _fits(name, model):
            named.setdefault(loss_name(name), name)
    return named


def takes_loss(model) -> bool:
    """Whether the model can predict for another loss than that of its training."""
    learner = deciding(getattr(model, "learner_", model))
    return "loss" in signature(learner.predict).parameters


def _fits(loss, model) -> bool:
    """Whether a loss can be taken of outputs of this space."""
    try:
        pair(resolve_loss(loss), model.space_, model.outputs_)
    except (ValueError, TypeError):
        return False
    return True


def loss_name(loss) -> str:
    """Its short name where its parameters are the usual ones, else what it prints.

    >>> from skstruct.losses import Hamming, Pinball
    >>> loss_name(Hamming()), loss_name(Pinball(0.9))
    ('hamming', 'Pinball(tau=0.9)')
    """
    from skstruct.losses.names import SHORT_NAMES

    loss = resolve_loss(loss)
    usual = {f"{name}()": short for short, name in SHORT_NAMES.items()}
    return usual.get(repr(loss), repr(loss))


def predicted_for(model, X, loss, restrict=None):
    """Outputs in canonical form that were chosen for this loss; None if the model cannot."""
    if not takes_loss(model):
        return None
    try:
        outputs = model.predict(X, loss=loss, **_limits(restrict))
        return deciding(model).space_.validate(outputs)
    except ValueError as error:  # the learner has no way of predicting for it
        if restrict is not None and isinstance(error, InfeasibleError):
            raise
        return None


def _limits(restrict):
    return {} if restrict is None else {"restrict": restrict}


def _baseline(model, loss, bound, truth) -> float:
    try:
        constant = constant_outputs(model.space_, loss, model.outputs_, truth)
        return float(np.mean(bound(constant, truth)))
    except (ValueError, NotImplementedError):  # nothing is good for all rows
        return float("nan")


def _check_level(n_bootstrap, level):
    if not is_count(n_bootstrap):
        raise ValueError(f"n_bootstrap is a whole number from 1; got {n_bootstrap!r}.")
    if not 0 < level < 1:
        raise ValueError(f"level lies between 0 and 1; got {level!r}.")
