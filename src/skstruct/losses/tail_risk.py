# SPDX-License-Identifier: BSD-3-Clause
"""Decisions by the worst of what they may cost: the conditional value at risk."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.progress import track
from skstruct._arrays.rows import dense
from skstruct.exceptions import InfeasibleError
from skstruct.losses.base import is_real
from skstruct.losses.deciding import Deciding, Effort
from skstruct.losses.decisions import Cost, CostsInPart
from skstruct.losses.observed import Observed, PartlyKnown
from skstruct.saving import savable
from skstruct.spaces import Decoded, Solving, whole_of
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.solvers.tail_risk import TailRisk, closed, probabilities

FEW = 2**12  # outputs that are compared one by one rather than searched
SECONDS = 0.02  # of one decision, nominally


@savable
class ConditionalValueAtRisk(Cost):
    r"""The mean cost of a decision in its worst cases, :math:`\mathrm{CVaR}_\beta`.

    With weights :math:`w_i(x)` of the training rows, that of least

    .. math:: \min_t\; t + \frac{1}{1 - \beta} \sum_i w_i(x)
        \bigl(\langle c_i, \psi(z) \rangle - t\bigr)_+

    is decided, the mean cost over the worst share :math:`1 - \beta` of the scenarios
    :math:`c_i` [1]_, each as probable as its weight says [2]_. ``decode`` gives that, with a bound.

    Parameters
    ----------
    level : float, default=0.9
        :math:`\beta`, from 0 (the mean of all) to below 1; above the largest weight of one less,
        the worst case.
    sense : "min" or "max", default="min"
        Whether ``y`` holds costs or values, of which much is wanted: the worst are then the least,
        and risks are minus their mean.
    mean_weight : float, default=0.0
        Share of the mean, from 0 to 1: risks are mixed with expected costs.
    embedding : str, default=None
        The embedding of the space that costs are of, where it has several.

    Notes
    -----
    Weights have to be probabilities: others are moved to the nearest vector that is not negative
    and sums to one. Half of the weights of kernel ridge regression are negative; ``Forest``,
    ``Neighbors`` and ``NadarayaWatson`` weigh as is needed here.

    A linear program, or an integer program, for each row, where ``Solving`` of the space knows
    a ``program``; all outputs are compared where they are few; otherwise outputs are generated one
    by one as the best for other weights, and bounds tell how far the best of them may be from the
    optimum.

    A single realised cost has no tail: called on decisions and costs this is what decisions cost,
    as :class:`Cost`, and so ``score`` is minus the mean cost. The worst share over test rows is
    :func:`skstruct.model_selection.tail_cost`. Penalties are compared by expected costs.

    References
    ----------
    .. [1] R. T. Rockafellar, S. Uryasev, "Optimization of conditional value-at-risk", Journal of
       Risk 2, 2000.
    .. [2] D. Bertsimas, N. Kallus, "From predictive to prescriptive analytics", Management Science
       66, 2020.

    Examples
    --------
    The first of two ways is the shorter on average, and jammed one time in five.

    >>> import numpy as np
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.smoothing import Neighbors
    >>> from skstruct.spaces import BinaryPolytope
    >>> X, C = np.zeros((10, 1)), np.array([[1.0, 3.0]] * 8 + [[9.0, 3.0]] * 2)
    >>> one = BinaryPolytope(A_eq=[[1, 1]], b_eq=[1])
    >>> model = ConditionalRiskMinimizer(one, loss="cost", smoother=Neighbors(10)).fit(X, C)
    >>> model.predict([[0.0]]), model.predict([[0.0]], loss=ConditionalValueAtRisk(0.5))
    (array([[1, 0]]), array([[0, 1]]))
    >>> model.decode([[0.0]], loss=ConditionalValueAtRisk(0.5)).values
    array([3.])
    """

    def __init__(
        self,
        level: float = 0.9,
        sense: str = "min",
        *,
        mean_weight: float = 0.0,
        embedding: str | None = None,
    ) -> None:
        super().__init__(sense, embedding=embedding)
        self.level = level
        self.mean_weight = mean_weight

    def bind(self, space: Any) -> Self:
        _tail(self.level, self.mean_weight)
        return super().bind(space)

    def minimize(self, weights: np.ndarray, observed: np.ndarray, space: Any) -> Decoded:
        """The decision of least conditional value at risk for every row of weights (n, m).

        Parameters
        ----------
        observed : array of shape (m, d + 1)
            Costs of the training rows in canonical form.
        """
        seen, risk = Observed.of(self).space_of(space), _tail(self.level, self.mean_weight)
        costs = seen.full(seen.sign * np.asarray(observed, np.float64)[:, :-1])
        shares, found, here = probabilities(weights), [], None
        for i in track(range(len(shares)), "tail risks"):
            if here is None or differs_by_row(space):
                here = _Decisions(seen.space.rows([i]) if differs_by_row(space) else seen.space)
            used = np.flatnonzero(shares[i])
            try:
                found.append(here.best(risk, costs[used], shares[i, used]))
            except InfeasibleError:
                name = type(whole_of(space)).__name__
                said = f"{name}: no output meets the constraints in row {i}."
                raise InfeasibleError(said, i) from None
        outputs, values, bounds = zip(*found) if found else ([], [], [])
        if not found:
            return Decoded(np.asarray(space.argmin(costs[:0]).outputs), np.zeros(0), np.zeros(0))
        return Decoded(np.array(outputs), np.array(values), np.array(bounds))


def _tail(level: Any, mean_weight: Any) -> TailRisk:
    if not (is_real(level) and 0 <= level < 1):
        raise ValueError(
            f"ConditionalValueAtRisk: level is a number from 0 to below 1; got {level!r}."
        )
    if not (is_real(mean_weight) and 0 <= mean_weight <= 1):
        raise ValueError(
            f"ConditionalValueAtRisk: mean_weight is a number from 0 to 1; got {mean_weight!r}."
        )
    return TailRisk(float(level), float(mean_weight))


class _DecidingByTail(Deciding):
    __slots__ = ()

    def needs_weights(self, space: Any) -> bool:
        return True

    def risks(self, weights: np.ndarray, Y_pred: ArrayLike, observed: np.ndarray) -> np.ndarray:
        risk = _tail(self.loss.level, self.loss.mean_weight)
        return risk.of(self.loss.pairwise(Y_pred, observed), probabilities(weights))


class _EffortOfTail(Effort):
    __slots__ = ()

    def stand_in(self, space: Any) -> Any:
        """Expected costs: a program for every row and penalty would take long."""
        return Cost(self.loss.sense, embedding=self.loss.embedding)

    def seconds(self, space: Any) -> float:
        return SECONDS


class _TailInPart(CostsInPart):
    __slots__ = ()

    def learned(self, space: Any) -> Any:
        raise ValueError(
            "ConditionalValueAtRisk needs all costs of a scenario, and some are missing: leave "
            "those rows out, or take Cost, which learns from the others."
        )


Deciding.at(ConditionalValueAtRisk, _DecidingByTail)
Effort.at(ConditionalValueAtRisk, _EffortOfTail)
PartlyKnown.at(ConditionalValueAtRisk, _TailInPart)


class _Decisions:
    """The outputs of a space that is the same in all rows, in the form by which they are searched:
    a list, a program, or its own decoder.
    """

    def __init__(self, space: Any) -> None:
        self.space, self.program = space, Solving.of(space).program()
        small = self.program is None or 2 ** int(self.program.integral.sum()) <= FEW
        listed = space.all_outputs(FEW) if small else None
        self.listed = listed if Solving.of(space).discrete else None
        self.psi = None if self.listed is None else dense(space.embed(self.listed))

    def best(
        self, risk: TailRisk, costs: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, float, float]:
        """Output, value and bound for scenarios of costs (m, d) and positive weights (m,)."""
        if self.psi is not None and self.listed is not None:
            if not len(self.listed):
                raise InfeasibleError("No output meets the constraints.")
            at, value = risk.over_list(self.psi @ costs.T, weights)
            return self.listed[at], value, value
        if self.program is None:
            output, value, bound = risk.over_columns(costs, weights, self._least)
            return output, value, min(closed(bound, value, 0.0), value)
        point, worst, bound = risk.over_program(costs, weights, self.program)
        losses = costs @ point
        value = float(risk.of(losses[None], weights[None])[0])
        bound = max(bound, self._least(worst @ costs)[2])
        size = float(np.abs(costs).max(initial=0.0))
        whole = bool(self.program.integral.all())
        output = point.astype(np.int8) if whole else point
        return output, value, min(closed(bound, value, size), value)

    def _least(self, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Output of least cost, its embedding, and a bound on its cost."""
        decoded = self.space.argmin(cost[None])
        psi = dense(self.space.embed(decoded.outputs))[0]
        return decoded.outputs[0], psi, float(decoded.bounds[0])
