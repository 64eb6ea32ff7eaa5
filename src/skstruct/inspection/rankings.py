# SPDX-License-Identifier: BSD-3-Clause
"""One predicted ranking, and how sure the model is of each pair."""

from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import require
from skstruct.inspection.drawing import LITERAL, one_input, one_output, written
from skstruct.spaces import Description
from skstruct.spaces.solvers.linear_ordering import pair_matrix


class RankingDisplay:
    """Probabilities that one item comes before another, items in predicted order.

    Where the ranking is beyond doubt, everything above the diagonal is dark; pale fields
    near the diagonal are neighbours that might as well be swapped.

    Parameters
    ----------
    items : sequence of names
    probabilities : array of shape (d, d)
        Estimates of P(p before q | x); they may lie outside 0..1, and are drawn within it.
    ranks : array of shape (d,)
        The predicted ranking.
    truth : array of shape (d,), default=None
        True ranks, written beside the names when given.
    """

    def __init__(
        self,
        items: Any,
        probabilities: np.ndarray,
        ranks: np.ndarray,
        truth: np.ndarray | None = None,
    ) -> None:
        self.items = items
        self.probabilities = probabilities
        self.ranks = ranks
        self.truth = truth

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        y: Any = None,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the prediction of a fitted ConditionalRiskMinimizer for one row.

        Parameters
        ----------
        x : one row of inputs
        y : its true ranking, default=None
        loss, restrict
            As in ``predict``.
        """
        X, space = one_input(estimator, x), estimator.space_
        if Description.of(space).output_kind != "ranking":
            raise ValueError(f"RankingDisplay draws rankings, not {type(space).__name__}.")
        problem, smoother = estimator._prepared("kendall", None)
        costs, _ = problem.costs(problem.smooth(smoother, estimator._checked(X)[0]))
        d = len(space.items_)
        probabilities = 0.5 - pair_matrix(costs, d)[0]  # costs are minus half the mean signs
        ranks = space.validate(estimator.predict(X, loss=loss, restrict=restrict))[0]
        truth = None if y is None else one_output(space, y)
        return cls(space.items_, probabilities, ranks, truth).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        pyplot = require("matplotlib.pyplot", used_by="RankingDisplay", extra="plot")
        order = np.argsort(self.ranks, kind="stable")
        d = len(order)
        if ax is None:
            size = min(2.5 + 0.55 * d, 14)
            _, ax = pyplot.subplots(figsize=(size + 0.8, size), layout="constrained")
        shown = np.clip(self.probabilities[np.ix_(order, order)].astype(float), 0.0, 1.0)
        np.fill_diagonal(shown, np.nan)
        image = ax.imshow(shown, cmap="RdBu", vmin=0, vmax=1)
        if d <= 20:
            for i, j in zip(*np.nonzero(~np.isnan(shown))):
                colour = "white" if abs(shown[i, j] - 0.5) > 0.35 else "black"
                share = f"{shown[i, j].round(2) + 0.0:.2f}"  # no minus zero
                ax.text(j, i, share, ha="center", va="center", fontsize=8, color=colour)
        names = [written(self.items[j], 24) for j in order]
        ax.set_xticks(range(d), names, rotation=45, ha="right", **LITERAL)
        if self.truth is not None:
            names = [f"{name} ({self.truth[j]:g})" for name, j in zip(names, order)]
        ax.set_yticks(range(d), names, **LITERAL)
        ax.set_ylabel("predicted order" + ("" if self.truth is None else " (true rank)"))
        ax.figure.colorbar(
            image, ax=ax, label="probability that row comes before column", shrink=0.8
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self
