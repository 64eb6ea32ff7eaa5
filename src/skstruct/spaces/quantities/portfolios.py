# SPDX-License-Identifier: BSD-3-Clause
"""Portfolios: weights that add up to one, and the risk that they have together."""

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.checks import check_costs, is_number
from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.saving import require, savable
from skstruct.spaces.common.formats import match_columns
from skstruct.spaces.constraints import label_mask
from skstruct.spaces.contracts import EXACT, Decoded, Guarantee
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.quantities.base import QuantitySpace
from skstruct.spaces.quantities.boxes import LimitedQuantities, Range
from skstruct.spaces.quantities.targets import TargetsOfQuantities
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets
from skstruct.tolerances import (
    CANCELED,
    FEASIBLE,
    OUTPUT_FEASIBLE,
    OUTPUT_RANGE,
    TABLE_DEFINITENESS,
    TABLE_SYMMETRY,
)

CONVEX = Guarantee("bound only", reference="exact wherever risk costs something")
STEPS = 20  # along tangents, of rows in which risk is rewarded


def aversion(given: float | None, max_risk: float | None) -> float:
    """What half the variance costs: what is given, none where the risk is limited, or 1."""
    if given is None:
        given = 1.0 if max_risk is None else 0.0
    if not (is_number(given) and 0 <= given < np.inf):
        raise ValueError(f"Portfolios: risk_aversion is a number from 0 on; got {given!r}.")
    return float(given)


@savable
class Portfolios(LimitedQuantities):
    r"""Weights :math:`z \ge 0`, :math:`\sum_j z_j = 1`, that cost :math:`\langle c, z \rangle +
    \frac{\lambda}{2} z' S z`.

    Costs c are minus returns: ``Regret(sense="max")`` learns from these. The risk is a coordinate
    of its own, :math:`\psi(z) = (z, z' S z / 2)`, and its cost :math:`\lambda` is the space's. With
    ``max_risk``, :math:`\sqrt{z' S z}` is limited instead, or in addition.

    A row is a convex quadratic program: steps between pairs of weights, then an active set method,
    to rounding. Bounds are those of tangents, as in the method of Frank and Wolfe [2]_; under a
    limit on the risk those of Lagrange's function.

    Parameters
    ----------
    covariance : array or frame of shape (d, d)
        S, symmetric and positive semidefinite.
    risk_aversion : float, default=None
        :math:`\lambda \ge 0`; 1 when None, and 0 where there is ``max_risk``.
    max_risk : float, default=None
        The largest standard deviation :math:`\sqrt{z' S z}`.
    low, high : float, sequence of d numbers, or mapping by name, default=0.0 and 1.0
        Limits of every weight; negative ones are sold short.
    labels : sequence, default=None
        Names of the assets; columns of a frame of covariances, or numbers, when None.

    Attributes
    ----------
    covariance_ : array of shape (d, d)
    low_, high_ : arrays of shape (d,)

    References
    ----------
    .. [1] H. Markowitz, "Portfolio selection", Journal of Finance 7, 1952.
    .. [2] M. Frank, P. Wolfe, "An algorithm for quadratic programming", Naval Research Logistics
       Quarterly 3, 1956.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.losses import Regret
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(80, 1))
    >>> returns = np.hstack([X, 1 - X]) + rng.normal(0, 0.1, (80, 2))
    >>> space = Portfolios(np.eye(2), risk_aversion=2.0)
    >>> model = ConditionalRiskMinimizer(space, Regret("max"), alpha=1e-3).fit(X, returns)
    >>> model.predict([[0.1], [0.5], [0.9]]).round(1)
    array([[0.3, 0.7],
           [0.5, 0.5],
           [0.7, 0.3]])
    """

    embedding = "weights and risk"
    default_loss = "regret"
    covariance: Any = None  # of returns; that of psi over all outputs is for spaces that count
    _learned: ClassVar[tuple[str, ...]] = (*QuantitySpace._learned, "covariance_", "low_", "high_")

    def __init__(
        self,
        covariance: Any,
        *,
        risk_aversion: float | None = None,
        max_risk: float | None = None,
        low: Any = 0.0,
        high: Any = 1.0,
        labels: Iterable[Any] | None = None,
    ) -> None:
        self.covariance = covariance
        self.risk_aversion = risk_aversion
        self.max_risk = max_risk
        self.low = low
        self.high = high
        self.labels = labels

    @property
    def guarantee(self) -> Guarantee:
        return EXACT if self.max_risk is None and not self._is_limited() else CONVEX

    # ------------------------------------------------------------- what is given
    def _names_alone(self) -> tuple[Any, ...]:
        if self.labels is not None:
            return self._given_labels() or ()
        if is_pandas(self.covariance, "DataFrame"):
            return tuple(self.covariance.columns)
        return tuple(range(len(np.atleast_1d(self.covariance))))

    def _read(self, Y: Any, labels: Any) -> Any:
        return super()._read(Y, self._names_alone() if labels is None else labels)

    def _learn(self, Z: np.ndarray) -> None:
        aversion(self.risk_aversion, self.max_risk)
        if self.max_risk is not None and not (is_number(self.max_risk) and self.max_risk > 0):
            raise ValueError(f"Portfolios: max_risk is a positive number; got {self.max_risk!r}.")
        self.covariance_ = self._checked_covariance()
        nothing = np.full(len(self.labels_), np.nan)
        self.low_ = self._limit(self.low, nothing, "low")
        self.high_ = self._limit(self.high, nothing, "high")
        if not (np.isfinite(self.low_).all() and np.isfinite(self.high_).all()):
            raise ValueError("Portfolios: low and high are finite; got others, or None.")
        self.constraints_ = self._possible(Range(self.low_[None], self.high_[None]))

    def _checked_covariance(self) -> np.ndarray:
        given, names = self.covariance, self.labels_
        if is_pandas(given, "DataFrame"):
            given = match_columns(given, names, "Portfolios: covariance")[1]
            given = match_columns(given.T, names, "Portfolios: covariance")[1].to_numpy()
        S: np.ndarray = np.array(given, dtype=np.float64, ndmin=2)
        if S.shape != (len(names), len(names)):
            raise ValueError(
                f"Portfolios: covariance of {len(names)} assets has shape "
                f"{(len(names), len(names))}; got {S.shape}."
            )
        if not np.isfinite(S).all():
            i, j = np.argwhere(~np.isfinite(S))[0]
            raise ValueError(f"Portfolios: covariance[{i}, {j}] is {S[i, j]}.")
        off = np.abs(S - S.T)
        if off.max() > TABLE_SYMMETRY * np.abs(S).max():
            i, j = np.unravel_index(off.argmax(), S.shape)
            raise ValueError(
                f"Portfolios: covariance is symmetric; got {S[i, j]:g} at [{i}, {j}] and "
                f"{S[j, i]:g} at [{j}, {i}]."
            )
        S = (S + S.T) / 2
        values, vectors = np.linalg.eigh(S)
        if values[0] < -TABLE_DEFINITENESS * max(values[-1], 0.0):
            raise ValueError(
                "Portfolios: covariance has no negative eigenvalue; got "
                f"{values[0]:.3g}, beside {values[-1]:.3g}, the largest."
            )
        if values[0] < -CANCELED * values[-1]:  # else tangents would not be below
            S = (vectors * np.maximum(values, 0.0)) @ vectors.T
            S = (S + S.T) / 2
        return np.ascontiguousarray(S)

    def _check_saved(self) -> None:
        super()._check_saved()
        if "covariance_" in vars(self):
            d, S = len(self.labels_), self.covariance_
            plain = isinstance(S, np.ndarray) and S.dtype == np.float64 and S.shape == (d, d)
            require(plain, "covariances that do not fit their names")

    # ------------------------------------------------------------- limits
    def _is_limited(self) -> bool:
        """Whether some portfolio without short sales is not allowed, or one with them is."""
        limits = self.constraints_ if "constraints_" in vars(self) else None
        if limits is None:
            self._ready()
            limits = self.constraints_
        return bool((limits.low != 0).any() or (limits.high < 1).any())

    def restrict(self, *, low: Any = None, high: Any = None, exclude: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        low, high : number, (d,), mapping by name, or a row of limits per sample (n, d)
            Limits of the weights.
        exclude : names of assets, the same for all rows or a collection per row
            Those that have no weight.
        """
        self._ready()
        lows = np.maximum(self.constraints_.low, self._given(low, -np.inf, "low"))
        highs = np.minimum(self.constraints_.high, self._given(high, np.inf, "high"))
        if exclude is not None:
            none = label_mask(exclude, self.labels_, "exclude", "Portfolios")
            lows = np.where(none, np.maximum(lows, 0.0), lows)
            highs = np.where(none, np.minimum(highs, 0.0), highs)
        if 1 < len(lows) != len(highs) > 1:
            raise ValueError(
                f"Portfolios: low is given for {len(lows)} rows and high for {len(highs)}."
            )
        return self._within(self._possible(Range(lows, highs)))

    def _possible(self, limits: Range) -> Range:
        """Limits between which there are weights that add up to one."""
        crossed = (limits.low > limits.high).any(axis=1)
        least, most = limits.low.sum(axis=1), limits.high.sum(axis=1)
        bad = np.flatnonzero(crossed | (least > 1 + FEASIBLE) | (most < 1 - FEASIBLE))
        if len(bad):
            i = int(bad[0])
            low, high = (part[i if len(part) > 1 else 0] for part in (least, most))
            reason = f"they add up to {low:g} at least and {high:g} at most"
            raise InfeasibleError(
                f"Portfolios: no weights between low and high add up to 1 in row {i}: {reason}.", i
            )
        return limits

    # ------------------------------------------------------------- membership
    def _violation(self, Z: np.ndarray) -> np.ndarray:
        """How far rows are outside, in units of OUTPUT_FEASIBLE; shape (n,)."""
        limits = self.constraints_
        outside = np.maximum(limits.low - Z, Z - limits.high).max(axis=1, initial=0.0)
        far = np.maximum(outside / OUTPUT_RANGE, np.abs(Z.sum(axis=1) - 1) / OUTPUT_FEASIBLE)
        if self.max_risk is not None:
            risk = np.sqrt(2 * np.maximum(self.embed(Z)[:, -1], 0.0))
            far = np.maximum(far, (risk / self.max_risk - 1) / OUTPUT_FEASIBLE)
        return far

    def contains(self, Z: np.ndarray) -> np.ndarray:
        self._ready()
        Z = np.asarray(Z, dtype=np.float64)
        self._check_outputs(Z, len(self.labels_), "(n, d)")
        return self._violation(Z) <= 1

    def _check_inside(self, Z: np.ndarray) -> None:
        if self.constraints_.n_rows is not None:
            return  # limits of other rows say nothing of these
        bad = np.flatnonzero(self._violation(Z) > 1)
        if len(bad):
            z = Z[bad[0]]
            risk = np.sqrt(2 * self.embed(z[None])[0, -1])
            raise ValueError(
                f"Portfolios: Y[{bad[0]}] is no portfolio within the limits; its weights are from "
                f"{z.min():g} to {z.max():g}, add up to {z.sum():.7g} and have risk {risk:.7g}."
            )

    # ------------------------------------------------------------- decoding
    def embed(self, Z: np.ndarray) -> np.ndarray:
        Z = np.asarray(Z, dtype=np.float64)
        variance = np.einsum("ij,ij->i", Z @ self.covariance_, Z)
        return np.column_stack([Z, 0.5 * np.maximum(variance, 0.0)])

    def argmin(self, costs: Any) -> Decoded:
        self._ready()
        costs = check_costs(costs, len(self.labels_) + 1, used_by="Portfolios")
        self._check_rows(len(costs))
        points, bounds = np.empty((len(costs), len(self.labels_))), np.empty(len(costs))
        convex = costs[:, -1] >= 0
        for rows, solve in ((convex, self._convex), (~convex, self._concave)):
            index = np.flatnonzero(rows)
            if len(index):
                limits = self.constraints_.rows(index)
                c, w = np.ascontiguousarray(costs[index, :-1]), costs[index, -1]
                points[index], bounds[index] = solve(c, w, limits, index)
        values = (costs * self.embed(points)).sum(axis=1)
        return Decoded(points, values, np.minimum(bounds, values))

    def _convex(
        self, c: np.ndarray, w: np.ndarray, limits: Range, index: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        from skstruct.spaces.quantities._numba_portfolios import minimize_rows

        points, bounds = np.empty(c.shape), np.empty(len(c))
        w, S = np.ascontiguousarray(w), self.covariance_
        low, high = (np.ascontiguousarray(side) for side in (limits.low, limits.high))
        most = np.inf if self.max_risk is None else float(self.max_risk) ** 2
        possible = np.empty(len(c), np.bool_)
        minimize_rows(c, w, S, low, high, most, points, bounds, possible)
        if not possible.all():
            k = int(np.flatnonzero(~possible)[0])
            least = np.sqrt(2 * self.embed(points[k][None])[0, -1])
            raise InfeasibleError(
                f"Portfolios: no portfolio has a risk of at most {self.max_risk:g} in row "
                f"{index[k]}; the least is {least:.6g}. Give a larger max_risk, or wider limits.",
                int(index[k]),
            )
        return points, bounds

    def _concave(
        self, c: np.ndarray, w: np.ndarray, limits: Range, index: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows in which risk is rewarded: the best single asset, or a bound on the reward."""
        S = self.covariance_
        if self.max_risk is None and not self._is_limited():
            from skstruct.spaces.quantities.resource_allocation import best_vertices

            return best_vertices(c + 0.5 * w[:, None] * np.diag(S))
        nothing = np.zeros(len(c))
        points, bounds = self._convex(c, nothing, limits, index)
        if self.max_risk is not None:
            return points, bounds + 0.5 * w * float(self.max_risk) ** 2
        for _ in range(STEPS):  # the tangent of a concave cost is above it: no step costs more
            points = self._convex(c + w[:, None] * (points @ S), nothing, limits, index)[0]
        # z' S z <= (sum of |z_j| times deviations)^2
        deviations = np.sqrt(np.diag(S))
        largest = np.maximum(np.abs(limits.low), np.abs(limits.high)) @ deviations
        if (limits.low >= 0).all():
            spread = np.tile(-deviations, (len(c), 1))
            largest = -self._convex(spread, nothing, limits, index)[1]
        return points, bounds + 0.5 * w * largest**2

    def _linear(self, costs: np.ndarray) -> Decoded:
        return self.argmin(costs)

    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        raise NotImplementedError("Portfolios are decided upon by costs; see Simplex for others.")

    def minimize(self, curves: Any) -> Decoded:
        raise NotImplementedError("Portfolios are decided upon by costs; see Simplex for others.")


Solving.at(Portfolios, "skstruct.spaces.quantities.solving:SolvingWithoutCurves")


class TargetsOfPortfolios(TargetsOfQuantities):
    """Weights, and half their variance."""

    __slots__ = ()

    def own_costs(self) -> np.ndarray:
        """What the last coordinate costs, half the variance: the aversion against risk."""
        return np.array([aversion(self.space.risk_aversion, self.space.max_risk)])


Targets.at(Portfolios, TargetsOfPortfolios)
Description.at(Portfolios, "skstruct.spaces.quantities.description:DescriptionOfPortfolios")
Marginals.at(Portfolios, "skstruct.spaces.quantities.marginals:NoMeansOfQuantities")
Embeddings.at(Portfolios, Embeddings)
