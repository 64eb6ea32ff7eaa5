# SPDX-License-Identifier: BSD-3-Clause
"""Any cost of decisions under observed scenarios, with the user's own solver."""

import copy
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.progress import track
from skstruct.exceptions import InfeasibleError
from skstruct.losses.base import BaseLoss
from skstruct.losses.completions import Ends
from skstruct.losses.deciding import Deciding, Effort
from skstruct.losses.observed import Observed, PartlyKnown
from skstruct.saving import savable
from skstruct.spaces import Decoded, whole_of
from skstruct.spaces.constraints import allowed_by, differs_by_row
from skstruct.spaces.observed_rows import ObservedRows
from skstruct.spaces.solvers.tail_risk import closed, probabilities
from skstruct.tolerances import SOLVER_GAP

MOST = 2**12  # outputs that are compared without being given as candidates
SECONDS = 0.02  # of one call of a solver, nominally

CostFunction: TypeAlias = Callable[[Any, np.ndarray], Any]
Solver: TypeAlias = Callable[[np.ndarray, np.ndarray], Any]


@savable
class Scenarios(BaseLoss):
    r"""Any cost of a decision z once y is known, decided by weighted scenarios of training.

    The decision for x is one of least :math:`\sum_i w_i(x)\, c(z, y_i)`, with the weights of a
    smoother that tell how probable each observation :math:`y_i` of training is at x [1]_. ``y`` is
    any table of numbers, demands, prices, travel times, and no output of the space.

    Parameters
    ----------
    cost : callable (z, Y) -> array of shape (m,)
        What one decision, in the format of ``predict``, costs under each row of Y (m, k).
    solve : callable (weights, Y) -> z or (z, bound), default=None
        The best decision for scenarios Y (m, k) of positive weights (m,) that sum to one, such as a
        stochastic program; scenarios without weight are left out. A tuple of two is a decision and
        a lower bound on its expected cost, so give decisions as lists or arrays. What comes back
        is read and checked by the space, and evaluated by ``cost``.
    candidates : decisions in the user's format, default=None
        Without ``solve``, what is compared; None for all outputs of the space, where there are up
        to 4096.
    columns : sequence, default=None
        Names of the columns of y, in the order in which functions find them; frames are read by
        them, and one of several columns is refused without.

    Notes
    -----
    Weights have to be probabilities: others are moved to the nearest vector that is not negative
    and sums to one, as for :class:`ConditionalValueAtRisk`. Bounds are minus infinity where a
    solver gives none. Model files hold no code: a model with functions is kept with pickle.

    References
    ----------
    .. [1] D. Bertsimas, N. Kallus, "From predictive to prescriptive analytics", Management Science
       66, 2020.

    Examples
    --------
    Two plants are built before demand is known, for 2 and 3 a unit; later they deliver up to what
    was built, and each unit that both together lack costs 5. One linear program for all scenarios:

    >>> import numpy as np
    >>> from scipy.optimize import linprog
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.smoothing import Neighbors
    >>> from skstruct.spaces import Box
    >>> price, fine = np.array([2.0, 3.0]), 5.0
    >>> def cost(z, Y):
    ...     return price @ z + fine * np.maximum(Y[:, 0] - z.sum(), 0.0)
    >>> def solve(weights, Y):  # of z and what is lacking, u_i >= y_i - z_1 - z_2
    ...     m = len(weights)
    ...     A = np.hstack([-np.ones((m, 2)), -np.eye(m)])
    ...     bounds = [(0, 6), (0, 9)] + [(0, None)] * m
    ...     found = linprog(np.append(price, fine * weights), A, -Y[:, 0], bounds=bounds)
    ...     return found.x[:2], found.fun
    >>> X, demand = np.repeat([[0.0], [1.0]], 4, axis=0), [2, 3, 4, 5, 6, 7, 8, 9]
    >>> plants = Box(0, [6.0, 9.0])
    >>> model = ConditionalRiskMinimizer(plants, Scenarios(cost, solve), smoother=Neighbors(4))
    >>> found = model.fit(X, demand).decode([[0.0], [1.0]])
    >>> found.outputs.round(6), found.values.round(6), found.bounds.round(6)
    (array([[4., 0.],
           [6., 1.]]), array([ 9.25, 18.75]), array([ 9.25, 18.75]))
    """

    columns: Any = None  # of models saved before there were names

    def __init__(
        self,
        cost: CostFunction,
        solve: Solver | None = None,
        candidates: Any = None,
        *,
        columns: Any = None,
    ) -> None:
        self.cost = cost
        self.solve = solve
        self.candidates = candidates
        self.columns = columns

    # ------------------------------------------------------------- what it is of
    def embedding_on(self, space: Any) -> str:
        return space.embedding

    def range(self) -> tuple[float, float]:
        return -np.inf, np.inf

    def bind(self, space: Any) -> Self:
        for name, given in (("cost", self.cost), ("solve", self.solve or self.cost)):
            if not callable(given):
                raise ValueError(f"Scenarios: {name} is a function; got {given!r}.")
        bound = copy.copy(self)
        bound.space_, bound.listed_ = space, None
        if self.solve is None:
            given = self.candidates
            bound.listed_ = space.all_outputs(MOST) if given is None else space.validate(given)
            if bound.listed_ is None:
                raise ValueError(
                    f"Scenarios: {type(whole_of(space)).__name__} has too many outputs to compare "
                    "them all; give solve(weights, Y), or candidates."
                )
        return bound

    # ------------------------------------------------------------- costs
    def _decisions(self, Z: Any) -> list[Any]:
        """Outputs one by one, as ``cost`` takes them."""
        space = getattr(self, "space_", None)
        return list(np.asarray(Z) if space is None else space.restore(np.asarray(Z)))

    def _costs(self, z: Any, Y: np.ndarray) -> np.ndarray:
        costs = np.asarray(self.cost(z, Y), dtype=np.float64)
        if costs.shape != (len(Y),) or not np.isfinite(costs).all():
            raise ValueError(
                f"Scenarios: cost(z, Y) is a finite number for each of {len(Y)} rows of Y; got "
                f"{costs!r:.80} of shape {costs.shape} for z = {z!r:.60}."
            )
        return costs

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        pairs = zip(self._decisions(Y_pred), np.asarray(Y_true, dtype=np.float64))
        return np.array([self._costs(z, y[None])[0] for z, y in pairs])

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        """Costs of all decisions under all observations; shape (n_pred, n_true)."""
        Y = np.asarray(Y_true, dtype=np.float64)
        table = [self._costs(z, Y) for z in self._decisions(Y_pred)]
        return np.array(table).reshape(-1, len(Y))

    # ------------------------------------------------------------- decisions
    def minimize(self, weights: np.ndarray, observed: np.ndarray, space: Any) -> Decoded:
        """The decision of least expected cost for every row of weights (n, m) of the observations
        (m, k).
        """
        shares, observed = probabilities(weights), np.asarray(observed, dtype=np.float64)
        if self.solve is None:
            return self._compared(shares, observed, space)
        found = [
            self._solved(shares[i], observed, space.rows([i]) if differs_by_row(space) else space,
                         i)
            for i in track(range(len(shares)), "scenarios")
        ]  # fmt: skip
        outputs, values, bounds = zip(*found)
        return Decoded(np.array(outputs), np.array(values), np.array(bounds))

    def _compared(self, shares: np.ndarray, observed: np.ndarray, space: Any) -> Decoded:
        """The best of the list, the first of equals."""
        kept = getattr(self, "_kept", None)
        if kept is None or kept[0] is not observed:  # the same for every block of rows
            kept = self._kept = observed, self.pairwise(self.listed_, observed)
        table = kept[1]
        risks = np.where(allowed_by(space, self.listed_), shares @ table.T, np.inf)
        values = risks.min(axis=1, initial=np.inf)
        lost = np.flatnonzero(np.isinf(values))
        if len(lost):
            raise InfeasibleError(
                f"Scenarios: none of the {len(self.listed_)} candidates meets the constraints in "
                f"row {lost[0]}.", int(lost[0]),
            )  # fmt: skip
        return Decoded(self.listed_[risks.argmin(axis=1)], values, values)

    def _solved(
        self, shares: np.ndarray, observed: np.ndarray, space: Any, i: int
    ) -> tuple[np.ndarray, float, float]:
        """What the user's solver says of one row, once it is checked."""
        used = np.flatnonzero(shares)
        Y, weights = observed[used], shares[used]
        assert self.solve is not None
        answer = self.solve(weights, Y)
        z, claimed = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, -np.inf)
        try:
            output = whole_of(space).validate(z[None] if isinstance(z, np.ndarray) else [z])
        except ValueError as error:
            raise ValueError(f"Scenarios: the solver's decision for row {i}: {error}") from None
        if not space.contains(output)[0]:
            raise ValueError(
                f"Scenarios: the solver's decision for row {i}, {z!r:.80}, is not in "
                f"{type(whole_of(space)).__name__}."
            )
        costs = self._costs(self._decisions(output)[0], Y)
        value, size = float(weights @ costs), float(np.abs(costs).max(initial=0.0))
        if not claimed <= value + SOLVER_GAP * max(size, abs(value)):
            raise ValueError(
                f"Scenarios: the solver's bound for row {i} is {claimed!r}, and its decision costs "
                f"{value:.9g}: bounds are not above."
            )
        return output[0], value, min(closed(float(claimed), value, size), value)


class _RowsAreObserved(Observed):
    __slots__ = ()

    what = "scenarios"

    def space_of(self, space: Any, within: Any = None) -> Any:
        return ObservedRows(self.loss.columns)


class _DecidingByScenarios(Deciding):
    __slots__ = ()

    def needs_weights(self, space: Any) -> bool:
        return True

    def risks(self, weights: np.ndarray, Y_pred: ArrayLike, observed: np.ndarray) -> np.ndarray:
        return super().risks(probabilities(weights), Y_pred, observed)


class _EffortOfScenarios(Effort):
    __slots__ = ()

    def seconds(self, space: Any) -> float:
        return 0.0 if self.loss.solve is None else SECONDS


class _ScenariosInPart(PartlyKnown):
    __slots__ = ()

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        return None  # an observation that is not known may be anything


Observed.at(Scenarios, _RowsAreObserved)
Deciding.at(Scenarios, _DecidingByScenarios)
Effort.at(Scenarios, _EffortOfScenarios)
PartlyKnown.at(Scenarios, _ScenariosInPart)
