# SPDX-License-Identifier: BSD-3-Clause
"""Learners side by side, one panel per loss."""

from __future__ import annotations

from skstruct._arrays.optional import require
from skstruct.inspection.drawing import LITERAL, written


class ComparisonDisplay:
    """Mean losses of several learners with their intervals, the best on top.

    Parameters
    ----------
    rows : list of ComparedLearner
        As :func:`skstruct.model_selection.compare` gives them.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.model_selection import compare
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]] * 5, ["no", "no", "yes", "yes"] * 5
    >>> result = compare({"ridge": ConditionalRiskMinimizer()}, X, y)
    >>> display = ComparisonDisplay.from_comparison(result)
    >>> [panel.get_title() for panel in display.axes_]
    ['zero_one']
    """

    def __init__(self, rows):
        self.rows = rows

    @classmethod
    def from_comparison(cls, comparison):
        """Draw what :func:`skstruct.model_selection.compare` found."""
        return cls(comparison.rows).plot()

    def plot(self):
        pyplot = require("matplotlib.pyplot", used_by="ComparisonDisplay", extra="plot")
        losses = list(dict.fromkeys(row.loss for row in self.rows))
        n_most = max(sum(row.loss == loss for row in self.rows) for loss in losses)
        size = (1.2 + 3.2 * len(losses), 1.0 + 0.45 * n_most)
        figure, axes = pyplot.subplots(
            1, len(losses), figsize=size, squeeze=False, layout="constrained"
        )
        for ax, loss in zip(axes[0], losses):
            shown = [row for row in self.rows if row.loss == loss]
            for place, row in enumerate(shown):
                colour = "tab:blue" if place == 0 else "grey"
                ax.plot([row.low, row.high], [place, place], color=colour, linewidth=2)
                ax.plot(row.mean, place, "o", color=colour)
            ax.set_yticks(range(len(shown)), [written(row.name) for row in shown], **LITERAL)
            ax.set_ylim(len(shown) - 0.5, -0.5)
            ax.set_title(written(loss), **LITERAL)
            ax.grid(axis="x", alpha=0.3)
        axes[0][0].set_xlabel("mean loss on left-out rows")
        self.axes_, self.figure_ = list(axes[0]), figure
        return self
