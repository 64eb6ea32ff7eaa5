# SPDX-License-Identifier: BSD-3-Clause
"""The structured risk of a fitted model on rows it did not see, without refitting."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct.fitted import Fitted
from skstruct.learners.leave_out import group_numbers
from skstruct.learners.tokens import TokenBatch
from skstruct.smoothing import LeavingOut, Penalties, Weighing


def left_out_risk(
    model: Any,
    *,
    loss: Any = None,
    groups: Any = None,
    cv: Any = None,
    alphas: Sequence[float] | np.ndarray | None = None,
) -> Any:
    r"""Mean loss on the training rows, each decided without itself or its group.

    Rows that equal each other in inputs and output are left out together, unless ``groups`` or
    ``cv`` say otherwise.

    Kernel ridge regression gives left-out conditional means in closed form; decoding
    them gives exactly the loss that refitting would have had, for any loss and any
    grouping, from the one model that was fitted. (Under the zero-one loss the outputs of
    a left-out group stay among the candidates.)

    Parameters
    ----------
    model : fitted ConditionalRiskMinimizer or OutputKernelRegressor
        With a smoother that can leave out.
    loss : str or loss, default=None
        The model's own when None.
    groups : array of shape (n,), default=None
        Rows of the same group are left out together.
    cv : None, "output", int or splitter
        What is left out together when ``groups`` is None; see
        :class:`~skstruct.ConditionalRiskMinimizer`.
    alphas : sequence, default=None
        Penalties to try instead of the fitted one; needs the spectral solver, which
        ``alpha="auto"`` uses.

    Returns
    -------
    float, or array of shape (len(alphas),)

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1]
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit(X, y)
    >>> left_out_risk(model)
    0.0
    >>> left_out_risk(model, groups=y)  # a class never seen is never right
    1.0
    """
    check_is_fitted(model)
    problem, smoother = model._prepared(loss, None)
    smoother, groups = leaving_out(model, problem, smoother, groups, cv)
    weight = Weighing.of(smoother).sample_weight
    if alphas is None:
        return problem.realized(smoother.loo(groups), model.memory, weight)
    path = Penalties.of(smoother)
    if not path.compared:
        raise ValueError(f"{type(smoother).__name__} has no alpha to vary.")
    if path.judged is not None:  # a sample, and all are asked for
        path = Penalties.of(copy.copy(smoother))
        path.judge_by(None)
    paths = path.left_out(np.atleast_1d(alphas), groups)
    return np.array([problem.realized(left, model.memory, weight) for left in paths])


def leaving_out(
    model: Any, problem: Any, smoother: Any, groups: Any = None, cv: Any = None
) -> tuple[Any, Any]:
    """A smoother and groups of its rows: ``smoother.loo(groups)`` is what the problem decides from.

    Parameters
    ----------
    model : fitted learner
    problem, smoother : as ``model._prepared`` gives them
    groups, cv : what is left out together, see :func:`left_out_risk`
    """
    if not LeavingOut.of(smoother).known:
        raise ValueError(f"{type(smoother).__name__} has no closed form for leaving rows out.")
    if len(model.outputs_) < 2:
        raise ValueError("The model was fitted to one row: leaving it out leaves nothing.")
    if problem.by_weights:  # left-out means of the identity are the weights
        smoother = smoother.with_targets(problem.search_targets())
    groups = group_numbers(cv, model.outputs_, groups, _inputs(model, smoother))
    return smoother, problem.groups_of_rows(groups)


def _inputs(model: Any, smoother: Any) -> Any:
    """The training inputs, where they are kept; sequences as such."""
    X, starts = Weighing.of(smoother).rows, Fitted.of(model).starts
    return X if X is None or starts is None else TokenBatch(X, starts)
