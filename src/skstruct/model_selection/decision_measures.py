# SPDX-License-Identifier: BSD-3-Clause
"""How good decisions are, once costs are known: regret, relative regret, optimum."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.fitted import Fitted
from skstruct.losses import Cost, Observed, Regret, pair
from skstruct.spaces.cost_vectors import CostVectors
from skstruct.tolerances import OPTIMAL_COST


def regrets(
    space: Any, decisions: Any, costs: Any, *, sense: str = "min", embedding: str | None = None
) -> np.ndarray:
    r"""What decisions cost beyond the best ones, :math:`\langle c_i, \psi(z_i) \rangle - \min_z
    \langle c_i, \psi(z) \rangle`.

    Parameters
    ----------
    space : space of decisions
    decisions : n of them, in any format that the space reads
    costs : array of shape (n, d)
    sense : "min" or "max", default="min"
        Whether numbers are costs or values.
    embedding : str, default=None
        The embedding that costs are of, where the space has several.

    Returns
    -------
    regrets : array of shape (n,)

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> regrets(LabelSets("ab"), [["a"], []], [[-2.0, 1.0], [-2.0, -1.0]])
    array([0., 3.])
    """
    loss = Regret(sense, embedding=embedding)
    return _judged(loss, Observed.of(loss).space_of(space), space, decisions, costs)[0]


def relative_regret(
    space: Any, decisions: Any, costs: Any, *, sense: str = "min", embedding: str | None = None
) -> float:
    r"""Regrets of all decisions over what the best ones cost, :math:`\sum_i r_i / \sum_i |o_i|`.

    The *normalised regret* of the literature. Never negative; NaN where all optima are zero.
    Parameters are those of :func:`regrets`.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> relative_regret(LabelSets("ab"), [["a"], []], [[-2.0, 1.0], [-2.0, -1.0]])
    0.6
    """
    loss = Regret(sense, embedding=embedding)
    found = _judged(loss, Observed.of(loss).space_of(space), space, decisions, costs)
    return _relative(*found)


def _judged(
    loss: Any, seen: CostVectors, space: Any, decisions: Any, costs: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Losses of decisions, and optima."""
    observed = seen.fit_validate(costs)
    decided = space.validate(decisions)
    if len(decided) != len(observed):
        raise ValueError(f"There are {len(decided)} decisions and {len(observed)} rows of costs.")
    _, bound = pair(loss, space, observed)
    return np.asarray(bound(decided, observed)), observed[:, -1]


def _relative(lost: np.ndarray, optima: np.ndarray) -> float:
    total = float(np.abs(optima).sum())
    return float(lost.sum()) / total if total > 0 else float("nan")


def _regret(lost: np.ndarray, optima: np.ndarray) -> float:
    return 0.0 - float(lost.mean())


def _minus_relative(lost: np.ndarray, optima: np.ndarray) -> float:
    return 0.0 - _relative(lost, optima)


def _optimal(lost: np.ndarray, optima: np.ndarray) -> float:
    return float((lost <= OPTIMAL_COST * np.maximum(1.0, np.abs(optima))).mean())


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "regret": _regret,
    "relative_regret": _minus_relative,
    "optimal": _optimal,
}
OF_COSTS = ("cost", "optimum")


def decision_scorer(measure: str = "relative_regret") -> "DecisionScorer":
    """A scorer of scikit-learn for models that decide, given costs: higher is better.

    Parameters
    ----------
    measure : str, default="relative_regret"
        ``"regret"`` and ``"relative_regret"``, with a minus; ``"cost"``, minus the mean cost of
        decisions, of values their mean; ``"optimum"``, the same of the best decisions: what could
        have been reached; ``"optimal"``, the share of decisions that nothing beats.

    Returns
    -------
    callable
        Of ``(model, X, y)``, y the costs of each row; it can be pickled.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.spaces import LabelSets
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> C = np.hstack([X - 0.52, 0.52 - X])
    >>> model = ConditionalRiskMinimizer(LabelSets(), "regret", kernel="linear", alpha=1e-3)
    >>> decision_scorer("optimal")(model.fit(X, C), X, C)
    1.0
    """
    if measure not in (*MEASURES, *OF_COSTS):
        raise ValueError(f"measure is one of {', '.join([*MEASURES, *OF_COSTS])}; got {measure!r}.")
    return DecisionScorer(measure)


class DecisionScorer:
    """What :func:`decision_scorer` returns.

    Attributes
    ----------
    measure : str
    """

    def __init__(self, measure: str) -> None:
        self.measure = measure

    def __repr__(self) -> str:
        return f"decision_scorer({self.measure!r})"

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        learner, inputs = Fitted.of(model).decider(X)
        own = learner.loss_
        if Observed.of(own).what != "costs":
            raise ValueError(
                f"{self!r} judges models that learn from costs, under such as loss='regret'; got "
                f"one under {own!r}."
            )
        kind = Cost if self.measure in OF_COSTS else Regret
        loss, seen = kind(own.sense, embedding=own.embedding), learner.observation_space_
        paid, optima = _judged(loss, seen, learner.space_, learner.predict(inputs), y)
        if self.measure == "cost":
            return 0.0 - float(paid.mean())
        if self.measure == "optimum":
            return 0.0 - float(seen.sign * optima.mean())
        return MEASURES[self.measure](paid, optima)
