# SPDX-License-Identifier: BSD-3-Clause
"""The estimated conditional risk of one row, drawn over what could be predicted."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstruct.inspection.drawing import (
    LITERAL,
    axes_of,
    literal_legend,
    one_input,
    one_output,
    written,
)
from skstruct.smoothing import Weighing
from skstruct.spaces import Description


@dataclass(frozen=True)
class RiskCurve:
    """The risk of one loss along one coordinate, and where it was found least."""

    name: str
    risks: np.ndarray  # shape: (n_points,)
    point: float  # predicted
    value: float
    bound: float  # no output has less risk


class RiskCurveDisplay:
    """Estimated risk of one row as a function of one predicted number.

    With several coordinates the others stay as predicted. Weights of training outputs are
    drawn below the curves, up where they pull the prediction and down where they push it.

    Parameters
    ----------
    points : array of shape (n_points,)
    curves : list of RiskCurve
    outputs, weights : arrays of shape (n_train,)
        Training outputs in this coordinate, and what they weigh.
    label : name of the coordinate
    truth : float, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X, y = np.arange(8.0)[:, None], np.array([0.0, 0.1, 0.2, 5.0, 0.2, 0.1, 0.0, 0.1])
    >>> model = ConditionalRiskMinimizer(loss="cauchy", alpha=0.1).fit(X, y)
    >>> display = RiskCurveDisplay.from_estimator(model, [3.0], loss=["squared", "cauchy"])
    >>> [curve.name for curve in display.curves]
    ['Squared()', 'Cauchy()']
    """

    def __init__(
        self,
        points: np.ndarray,
        curves: list[RiskCurve],
        outputs: np.ndarray,
        weights: np.ndarray,
        label: str | int | None = None,
        truth: float | None = None,
    ) -> None:
        self.points = points
        self.curves = curves
        self.outputs = outputs
        self.weights = weights
        self.label = label
        self.truth = truth

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        column: Any = None,
        loss: Any = None,
        y: Any = None,
        restrict: dict[str, Any] | None = None,
        n_points: int = 400,
        ax: Any = None,
    ) -> Self:
        """Draw the risk that a fitted ConditionalRiskMinimizer estimates for one row.

        Parameters
        ----------
        x : one row of inputs
        column : name of the coordinate, default=None
            The first when None.
        loss : loss or list of losses, default=None
            That of training when None.
        y : the true output, default=None
        restrict
            As in ``predict``.
        n_points : int, default=400
        """
        X, _ = estimator._checked(one_input(estimator, x))
        space = estimator.space_
        linear = Weighing.of(estimator.smoother_).linear_part
        if linear is None:
            raise ValueError(
                f"The risk curve is drawn from weights of training rows; "
                f"{type(estimator.smoother_).__name__} has none."
            )
        outputs = np.asarray(estimator.outputs_)
        if outputs.ndim != 2 or outputs.dtype.kind != "f":
            raise ValueError(f"Outputs of {type(space).__name__} are not quantities to draw.")
        j = 0 if column is None else _position(column, space.labels_)
        weights = linear.weights(X)
        weights = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights)[0]
        points = _points(outputs[:, j], space, j, n_points)
        losses = loss if isinstance(loss, (list, tuple)) else [loss]
        curves = [_curve(estimator, X, one, restrict, weights, points, j) for one in losses]
        truth = None if y is None else float(one_output(space, y)[j])
        label = space.labels_[j] if len(space.labels_) > 1 else None
        return cls(points, curves, outputs[:, j], weights, label, truth).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "RiskCurveDisplay", (6.4, 4.0))
        for curve in self.curves:
            (line,) = ax.plot(
                self.points, curve.risks, label=f"{written(curve.name)}: {curve.point:.4g}"
            )
            ax.plot(curve.point, curve.value, "o", color=line.get_color())
        if self.truth is not None:
            ax.axvline(self.truth, color="black", linestyle=":", label=f"truth: {self.truth:.4g}")
        low, high = ax.get_ylim()
        height = 0.18 * (high - low) / max(np.abs(self.weights).max(), np.finfo(float).tiny)
        base = low - 0.2 * (high - low)
        for sign, colour in ((1, "tab:blue"), (-1, "tab:red")):
            some = sign * self.weights > 0
            tops = base + height * self.weights[some]
            ax.vlines(self.outputs[some], base, tops, color=colour, linewidth=1.0, alpha=0.6)
        ax.axhline(base, color="grey", linewidth=0.5)
        ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])
        ax.set_xlabel("output" if self.label is None else written(self.label), **LITERAL)
        ax.set_ylabel("estimated risk; weights of training outputs below")
        literal_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _position(column: str, labels: tuple[str, str]) -> int:
    if column not in labels:
        raise ValueError(f"column is one of {', '.join(map(repr, labels))}; got {column!r}.")
    return labels.index(column)


def _points(outputs: np.ndarray, space: Any, j: int, n_points: int) -> np.ndarray:
    """From the least to the largest output, and as far as the space goes beyond by a little."""
    low, high = outputs.min(), outputs.max()
    margin = 0.05 * (high - low) if high > low else 1.0
    low, high = low - margin, high + margin
    least, most = Description.of(space).coordinate_range(j)
    low, high = max(low, least), min(high, most)
    return np.linspace(low, high, n_points)


def _curve(
    estimator: Any,
    X: Any,
    loss: Any,
    restrict: dict[str, Any] | None,
    weights: np.ndarray,
    points: np.ndarray,
    j: int,
) -> RiskCurve:
    problem, smoother = estimator._prepared(loss, restrict)
    decoded = problem.decode(problem.smooth(smoother, X))
    Z = np.repeat(decoded.outputs[:1], len(points), axis=0)
    Z[:, j] = points
    risks = problem.loss.pairwise(Z, estimator.outputs_) @ weights
    point, value, bound = decoded.outputs[0, j], decoded.values[0], decoded.bounds[0]
    return RiskCurve(repr(problem.loss), risks, float(point), float(value), float(bound))
