# SPDX-License-Identifier: BSD-3-Clause
"""What a model loses in the worst of the cases that it is tried on."""

from typing import Any

import numpy as np

from skstruct.fitted import Fitted
from skstruct.losses import Observed, PartlyKnown, pair, resolve_loss
from skstruct.spaces.solvers.tail_risk import TailRisk
from skstruct.spaces.truth import read_truth


def tail_cost(
    model: Any,
    X: Any,
    y: Any,
    level: float = 0.9,
    *,
    loss: Any = None,
    restrict: dict[str, Any] | None = None,
) -> float:
    r"""The mean loss of a fitted model over the worst share :math:`1 - \beta` of the rows.

    The conditional value at risk of what was realised: a property of all rows together, and no
    mean of losses, as ``score`` is. Of decisions under observed costs it is what
    :class:`~skstruct.losses.ConditionalValueAtRisk` tries to keep small.

    Parameters
    ----------
    model : fitted learner of this library, or pipeline that ends in one
    X, y : inputs, and outputs or costs, as in ``score``
    level : float, default=0.9
        :math:`\beta`, from 0 (the mean of all) to below 1.
    loss : str or loss, default=None
        Predict for another loss than that of the model, and judge by it.
    restrict : dict, default=None
        Constraints, as in ``predict``.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.smoothing import Neighbors
    >>> from skstruct.spaces import LabelSets
    >>> X, C = [[0.0]] * 10, [[1.0, 3.0]] * 9 + [[8.0, 3.0]]
    >>> one = LabelSets(min_size=1, max_size=1)
    >>> model = ConditionalRiskMinimizer(one, loss="cost", smoother=Neighbors(10))
    >>> model.fit(X, C).predict([[0.0]]), [
    ...     round(tail_cost(model, X, C, level), 6) for level in (0.0, 0.8, 0.9)
    ... ]
    (array([[1, 0]]), [1.7, 4.5, 8.0])
    """
    if not 0 <= level < 1:
        raise ValueError(f"tail_cost: level is a number from 0 to below 1; got {level!r}.")
    learner = Fitted.of(model).learner
    judge = learner.loss_ if loss is None else resolve_loss(loss)
    choices = {"loss": loss, "restrict": restrict}
    given = {name: choice for name, choice in choices.items() if choice is not None}
    predicted = learner.space_.validate(model.predict(X, **given))
    bound = pair(judge, learner.space_, learner.outputs_)[1]
    truth = read_truth(Observed.of(bound).space_of(learner.space_), y)
    losses = PartlyKnown.of(bound).against(predicted, truth)
    losses = losses[~np.isnan(losses)]
    if not len(losses):
        raise ValueError("tail_cost: nothing is known of any row of y.")
    shares = np.full((1, len(losses)), 1.0 / len(losses))
    return float(TailRisk(level).of(losses[None], shares)[0])
