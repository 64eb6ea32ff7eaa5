# SPDX-License-Identifier: BSD-3-Clause
"""Costs that add up over coordinates: for every row and coordinate a function of one number."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

Array = Any

BLOCK = 12_000  # entries of a temporary: within the cache and what malloc hands out at once


@dataclass(frozen=True)
class Samples:
    """Curves at some points: on every cell between two of them F >= chord - slack.

    Cells may have length zero.
    """

    points: Array  # shape: (d, m) where all rows have the same, otherwise (n_rows, d, m)
    values: Array  # shape: (n_rows, d, m)
    slack: Array  # shape: (n_rows, d, m - 1); at least 0


class Curves(Protocol):
    """Functions F_bj of one number, for rows b and coordinates j."""

    @property
    def shape(self) -> tuple[int, int]: ...  # (n_rows, d)
    @property
    def convex(self) -> Array: ...  # (n_rows,); whether all curves of a row are known to be convex

    def rows(self, index: Any) -> Self: ...  # the same for some rows
    def at(self, T: Array) -> Array: ...  # F at T; both (n_rows, d)
    def slopes(self, T: Array) -> Array: ...  # F' at T, from the right at kinks
    def minimize(self, low: Array, high: Array, slope: Array | None = None) -> tuple[Any, ...]: ...
    def sample(self, low: Array, high: Array, n_cells: int) -> Samples: ...


class QuadraticCurves:
    """F(t) = a t^2 + b t + constant with a of any sign.

    Parameters
    ----------
    a, b : arrays of shape (n_rows, d)
    constant : array of shape (n_rows, d), default=None
        Zero when None.

    Examples
    --------
    >>> curves = QuadraticCurves([[1.0, -1.0]], [[-4.0, 0.5]])
    >>> points, values, bounds = curves.minimize(-1.0, 3.0)
    >>> points, values
    (array([[2., 3.]]), array([[-4. , -7.5]]))
    """

    def __init__(self, a: Any, b: Any, constant: np.ndarray | None = None) -> None:
        self.a, self.b = np.atleast_2d(np.asarray(a, float)), np.atleast_2d(np.asarray(b, float))
        self.constant = np.zeros_like(self.a) if constant is None else np.asarray(constant, float)
        self.shape = self.a.shape

    @property
    def convex(self) -> np.ndarray:
        return np.asarray((self.a >= 0).all(axis=1))

    def rows(self, index: Any) -> "QuadraticCurves":
        return QuadraticCurves(self.a[index], self.b[index], self.constant[index])

    def at(self, T: np.ndarray) -> np.ndarray:
        return (self.a * T + self.b) * T + self.constant

    def slopes(self, T: np.ndarray) -> np.ndarray:
        return 2 * self.a * T + self.b

    def minimize(
        self, low: Any, high: Any, slope: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The stationary point where the curve bends up, otherwise the better end; exact."""
        low, high = ends(low, high, self.shape)
        b = self.b if slope is None else self.b + slope
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            bottom = np.clip(-b / (2 * self.a), low, high)
        # F(high) - F(low) = (high - low) (a (high + low) + b); the lower end wins a tie.
        end = np.where((high - low) * (self.a * (high + low) + b) < 0, high, low)
        points = np.where(self.a > 0, bottom, end)
        values = (self.a * points + b) * points + self.constant
        return points, values, values.copy()

    def sample(self, low: Any, high: Any, n_cells: int) -> Samples:
        """A grid of ``n_cells`` cells; the slack a h^2 / 4 is exact."""
        low, high = ends(low, high, self.shape)
        points = np.linspace(low, high, n_cells + 1, axis=-1)
        a, b, constant = self.a[..., None], self.b[..., None], self.constant[..., None]
        values = (a * points + b) * points + constant
        slack = np.maximum(a, 0) * np.diff(points) ** 2 / 4
        return Samples(points[0] if _alike(low, high) else points, values, slack)


class WeightedCurves:
    """F_bj(t) = scale_j sum_i weights[b, i] rho(t, outputs[i, j]), weights of any sign.

    Parameters
    ----------
    weights : array of shape (n_rows, n)
    outputs : array of shape (n, d)
    rho, slope : callables
        rho(t, y) and its derivative in t (from the right at kinks), elementwise with
        broadcasting; rho is at least 0.
    scale : array of shape (d,), default=None
        Weights of the coordinates, at least 0; ones when None.
    convex : bool, default=False
        Whether rho is convex in t.
    """

    def __init__(
        self,
        weights: Any,
        outputs: Any,
        rho: Callable[..., Any],
        slope: Callable[..., Any],
        *,
        scale: np.ndarray | None = None,
        convex: bool = False,
    ) -> None:
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.outputs = np.ascontiguousarray(outputs, dtype=np.float64)
        self.rho, self.slope = rho, slope
        d = self.outputs.shape[1]
        self.scale = np.ones(d) if scale is None else np.asarray(scale, dtype=np.float64)
        self.rho_is_convex = convex
        # rho and slope of one coordinate, where coordinates differ: of_column(rho, j)
        self.of_column: Callable[..., Any] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights), self.outputs.shape[1]

    @property
    def convex(self) -> np.ndarray:
        return np.asarray(self.rho_is_convex & (self.weights >= 0).all(axis=1))

    def rows(self, index: Any) -> Any:
        part = copy.copy(self)
        part.weights = np.ascontiguousarray(self.weights[index])
        return part

    def at(self, T: np.ndarray) -> np.ndarray:
        return self._columns(self.rho, T)

    def slopes(self, T: np.ndarray) -> np.ndarray:
        return self._columns(self.slope, T)

    def _columns(self, function: Callable[..., Any], T: np.ndarray) -> np.ndarray:
        T = np.broadcast_to(np.asarray(T, dtype=np.float64), self.shape)
        columns = [self.scale[j] * self.sums(function, T[:, j], j) for j in range(T.shape[1])]
        return np.stack(columns, axis=1) if columns else np.zeros(self.shape)

    def sums(
        self, function: Callable[..., Any], t: np.ndarray, j: int, owner: np.ndarray | None = None
    ) -> np.ndarray:
        """sum_i w_i function(t, y_ij) at one point per entry of ``owner`` (all rows when None)."""
        y = self.outputs[:, j]
        function = function if self.of_column is None else self.of_column(function, j)
        total = np.empty(len(t))
        for part in blocks_of(len(t), len(y)):
            w = self.weights[part if owner is None else owner[part]]
            total[part] = np.einsum("bn,bn->b", w, function(t[part, None], y))
        return total

    def magnitude(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """sum_i |w_i| scale_j max(rho(low, y_ij), rho(high, y_ij)); what rounding is measured by.

        ``low`` and ``high`` have shape (d,).
        """
        largest = np.maximum(self.rho(low, self.outputs), self.rho(high, self.outputs))
        return np.abs(self.weights) @ (largest * self.scale)


def ends(low: Any, high: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Both as float arrays of the shape of the curves."""
    low, high = (np.broadcast_to(np.asarray(end, np.float64), shape) for end in (low, high))
    if (low > high).any() or not (np.isfinite(low) & np.isfinite(high)).all():
        row, column = np.argwhere(~((low <= high) & np.isfinite(low) & np.isfinite(high)))[0]
        raise ValueError(
            f"Curves are minimized between finite ends, the lower one first; row {row}, "
            f"coordinate {column} has [{low[row, column]}, {high[row, column]}]."
        )
    return low, high


def blocks_of(n_rows: int, width: int, entries: int = BLOCK) -> Iterator[slice]:
    """Row slices of arrays with at most so many entries."""
    step = max(1, entries // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _alike(low: np.ndarray, high: np.ndarray) -> bool:
    """Whether all rows have the same ends."""
    return len(low) > 0 and bool((low == low[0]).all() and (high == high[0]).all())
