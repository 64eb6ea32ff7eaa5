# SPDX-License-Identifier: BSD-3-Clause
"""Numbers between limits, one or several at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.imports import is_pandas
from skstruct.saving import check_row_constraints, require, savable
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.description import Description
from skstruct.spaces.known import Known
from skstruct.spaces.quantities.base import QuantityFormat, QuantitySpace
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solving import Solving
from skstruct.spaces.uniform import Uniform
from skstruct.tolerances import OUTPUT_RANGE


@savable
@dataclass(frozen=True)
class Range:
    """Lower and upper limits of every coordinate: (1, d) for all rows, or (n, d)."""

    low: np.ndarray
    high: np.ndarray

    @property
    def n_columns(self) -> int:
        return int(self.low.shape[1])

    def _check_saved(self) -> None:
        for side in (self.low, self.high):
            check_row_constraints(side, "f", (None,))
        require(self.low.shape[1] == self.high.shape[1], "limits of different widths")

    @property
    def n_rows(self) -> int | None:
        n = max(len(self.low), len(self.high))
        return None if n == 1 else n

    def size(self) -> np.ndarray:
        """The largest finite limit of every row, in absolute value; shape (1, 1) or (n, 1)."""
        sides = [np.where(np.isfinite(s), np.abs(s), 0.0) for s in (self.low, self.high)]
        return np.maximum(*(side.max(axis=1, keepdims=True) for side in sides))

    def rows(self, index: Any) -> Range:
        pick = [side if len(side) == 1 else side[index] for side in (self.low, self.high)]
        return Range(*pick)

    def finite(self, used_by: str, why: str) -> tuple[np.ndarray, np.ndarray]:
        """Both limits, where a minimum exists only because they are finite."""
        for side, word in ((self.low, "low"), (self.high, "high")):
            if not np.isfinite(side).all():
                raise ValueError(
                    f"{used_by}: {why} needs finite limits; {word} is infinite. Give {word}, or "
                    "leave it out to take the range of the outputs in training."
                )
        return self.low, self.high


class LimitedQuantities(QuantitySpace):
    """Quantities with limits of every coordinate: how these are read, by position or by name."""

    def _column(self, j: int) -> str:
        return f" in column {self.labels_[j]!r}" if len(self.labels_) > 1 else ""

    def _limit(self, given: Any, learned: np.ndarray, name: str) -> np.ndarray:
        """One limit per coordinate, (d,)."""
        if given is None:
            return learned
        d = len(self.labels_)
        limit = self._numbers(given, name)
        if limit.ndim > 1 or (limit.ndim == 1 and len(limit) not in (1, d)):
            raise ValueError(
                f"{type(self).__name__}: {name} is a number or {d} of them; got "
                f"shape {limit.shape}."
            )
        return np.array(np.broadcast_to(limit, (d,)))

    def _numbers(self, given: Any, name: str) -> np.ndarray:
        """Limits as an array; those with names by the names of the coordinates."""
        used_by = type(self).__name__
        if not (len(self.labels_) == 1 and is_pandas(given, "Series")):  # which is one per row
            given = by_position(given, self.labels_, what=name, used_by=used_by)
        try:
            limit = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{used_by}: {name} is made of numbers; got {given!r}.") from None
        if np.isnan(limit).any():
            at = "".join(f"[{i}]" for i in np.argwhere(np.isnan(limit))[0])
            raise ValueError(f"{used_by}: {name}{at} is NaN.")
        return limit

    def _given(self, limit: Any, default: float, name: str) -> Any:
        d = len(self.labels_)
        limit = np.asarray(default) if limit is None else self._numbers(limit, name)
        if limit.ndim == 0:
            limit = np.full((1, d), limit)
        elif limit.ndim == 1:
            limit = limit[:, None] if d == 1 else limit[None]
        if limit.ndim != 2 or limit.shape[1] != d:
            raise ValueError(
                f"{type(self).__name__}: {name} is a number, {d} of them, or a row of {d} for "
                f"each sample; got shape {limit.shape}."
            )
        return limit


@savable
class Box(LimitedQuantities):
    r"""Vectors between limits, :math:`l_j \le z_j \le u_j`.

    Every coordinate is decided for itself, exactly for quadratic and piecewise losses and
    with a certificate for the others.

    Parameters
    ----------
    low, high : float, sequence of d numbers, mapping by column, or None
        Limits; None takes the range of the outputs in training.
    labels : sequence, default=None
        Names of the coordinates; columns of a frame, or numbers, when None.

    Attributes
    ----------
    low_, high_ : arrays of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> space = Box(0.0, [1.0, 5.0]).fit([[0.5, 2.0], [1.0, 4.0]])
    >>> space.argmin(np.array([[-1.0, 1.0]])).outputs
    array([[1., 0.]])
    """

    def __init__(
        self, low: Any = None, high: Any = None, *, labels: Iterable[Any] | None = None
    ) -> None:
        self.low = low
        self.high = high
        self.labels = labels

    _learned: ClassVar[tuple[str, ...]] = (*QuantitySpace._learned, "low_", "high_")

    def _names_alone(self) -> tuple[Any, ...] | None:
        if self.low is None or self.high is None:
            return None
        if self.labels is not None:
            return self._given_labels()
        for side in (self.low, self.high):
            if hasattr(side, "keys"):
                return tuple(side.keys())
            if np.ndim(side) == 1 and len(side) > 1:
                return tuple(range(len(side)))
        return None  # single numbers hold for any number of coordinates

    def _learn(self, Z: np.ndarray) -> None:
        self.low_ = self._limit(self.low, Z.min(axis=0, initial=np.inf), "low")
        self.high_ = self._limit(self.high, Z.max(axis=0, initial=-np.inf), "high")
        crossed = np.flatnonzero(self.low_ > self.high_)
        if len(crossed):
            j = crossed[0]
            raise ValueError(
                f"{type(self).__name__}: low is {self.low_[j]:g} and high {self.high_[j]:g}"
                f"{self._column(j)}."
            )
        self.constraints_ = Range(self.low_[None], self.high_[None])
        self._check_inside(Z)

    def _check_inside(self, Z: np.ndarray) -> None:
        """Only limits that were given bind: what training has not seen may still be true."""
        for given, over, limit, word in (
            (self.low, self.low_ - Z, self.low_, "below"),
            (self.high, Z - self.high_, self.high_, "above"),
        ):
            if given is None:
                continue
            bad = np.argwhere(over > OUTPUT_RANGE * np.maximum(np.abs(Z), self.constraints_.size()))
            if len(bad):
                row, j = bad[0]
                raise ValueError(
                    f"{type(self).__name__}: Y[{row}] is {Z[row, j]:g}{self._column(j)}, {word} "
                    f"{limit[j]:g}."
                )

    # ------------------------------------------------------------- limits at prediction
    def restrict(self, *, low: Any = None, high: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        low, high : number, (d,), mapping by column, or a row of limits per sample (n, d)
            For one coordinate also (n,); columns of a frame go by their names.
        """
        self._ready()
        lows = np.maximum(self.constraints_.low, self._given(low, -np.inf, "low"))
        highs = np.minimum(self.constraints_.high, self._given(high, np.inf, "high"))
        if 1 < len(lows) != len(highs) > 1:
            raise ValueError(
                f"{type(self).__name__}: low is given for {len(lows)} rows and high for "
                f"{len(highs)}."
            )
        check_feasible((lows <= highs).all(axis=1), self)
        return self._within(Range(lows, highs))

    def contains(self, Z: np.ndarray) -> np.ndarray:
        self._ready()
        Z = np.asarray(Z, dtype=np.float64)
        self._check_rows(len(Z))
        slack = OUTPUT_RANGE * np.maximum(np.abs(Z), self.constraints_.size())
        return ((self.constraints_.low - slack <= Z) & (self.constraints_.high + slack >= Z)).all(
            axis=1
        )

    # ------------------------------------------------------------- decoding

    def _linear(self, costs: np.ndarray) -> Decoded:
        return self._quadratic(np.zeros_like(costs), costs)

    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        name = type(self).__name__
        self._check_rows(len(b))
        low, high = (
            np.broadcast_to(side, b.shape)
            for side in (self.constraints_.low, self.constraints_.high)
        )
        bowl = a > 0
        # Where a is tiny the quotient may overflow; it is clipped to the limits all the same.
        with np.errstate(over="ignore"):
            middle = np.clip(-b / (2 * np.where(bowl, a, 1.0)), low, high)
        endless = ~bowl & ((a < 0) | (b != 0)) & ~(np.isfinite(low) & np.isfinite(high))
        if endless.any():
            row = int(np.argwhere(endless)[0, 0])
            self.constraints_.finite(
                name, f"row {row}, where the weights do not sum to more than zero,"
            )
        # F(high) - F(low) = (high - low) (a (low + high) + b), which cancels less than the two.
        with np.errstate(invalid="ignore"):
            ends = a * (low + high) + b < 0
        still = ~bowl & (a == 0) & (b == 0)  # nothing to choose by
        points = np.where(bowl, middle, np.where(ends, high, low))
        points = np.where(still, np.clip(self.mean_, low, high), points)
        values = ((a * points + b) * points).sum(axis=1)
        return Decoded(points, values, values)

    def minimize(self, curves: Any) -> Decoded:
        self._ready()
        name = type(self).__name__
        self._check_rows(curves.shape[0])
        low, high = self.constraints_.finite(name, "this loss")
        points, values, bounds = curves.minimize(low, high)
        return Decoded(points, values.sum(axis=1), bounds.sum(axis=1))


@savable
class Interval(Box):
    r"""Numbers between two limits, :math:`l \le z \le u`: regression.

    Parameters
    ----------
    low, high : float or None
        Limits; None takes the range of the outputs in training.

    Examples
    --------
    One model, its median and its 90 % quantile:

    >>> import numpy as np
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.kernels import RBF
    >>> from skstruct.losses import Pinball
    >>> X = np.repeat([[0.0], [1.0]], 5, axis=0)
    >>> y = np.array([0.0, 1.0, 2.0, 3.0, 40.0, 5.0, 6.0, 7.0, 8.0, 90.0])
    >>> model = ConditionalRiskMinimizer(Interval(), "absolute", kernel=RBF(10.0), alpha=1e-3)
    >>> model.fit(X, y).predict([[0.0], [1.0]])
    array([2., 7.])
    >>> model.predict([[0.0], [1.0]], loss=Pinball(0.9))
    array([40., 90.])
    """

    def __init__(self, low: float | None = None, high: float | None = None) -> None:
        self.low = low
        self.high = high

    _plain_form = QuantityFormat("vector")

    def _names_alone(self) -> tuple[Any, ...] | None:
        return None if self.low is None or self.high is None else (0,)

    def _learn(self, Z: np.ndarray) -> None:
        if Z.shape[1] != 1:
            raise ValueError(
                f"Interval expects one number per sample; Y has {Z.shape[1]} columns. "
                "Use Box for several."
            )
        super()._learn(Z)


Solving.at(Box, "skstruct.spaces.quantities.solving:SolvingOfBoxes")
Known.at(Box, "skstruct.spaces.quantities.known:KnownOfBoxes")
Description.at(Box, "skstruct.spaces.quantities.description:DescriptionOfBoxes")
SklearnTarget.at(Interval, "skstruct.spaces.sklearn_target:OneQuantity")
Uniform.at(Box, "skstruct.spaces.quantities.uniform:UniformOfBoxes")
