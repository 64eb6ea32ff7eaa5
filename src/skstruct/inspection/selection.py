# SPDX-License-Identifier: BSD-3-Clause
"""How a model was chosen: left-out risk along a path of penalties, learners side by side."""

from typing import Any, Self

from skstruct._arrays.imports import require
from skstruct.fitted import Fitted
from skstruct.inspection.drawing import LITERAL, axes_of, literal_legend, written

BESIDE = (
    "kernel",
    "gamma",
    "risk",
    "squared error",
    "standard error",
)  # of a trial: not what curves run along


class AlphaPathDisplay:
    """Left-out risk against alpha, one curve per kernel width.

    Against the radius of sample compression, or the number of neighbors, where these were
    searched; a bar for each smoother where several were weighed.

    Parameters
    ----------
    search : LeaveOutSearch
        ``search_`` of a model fitted with several alphas, radii or numbers of neighbors.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> model = ConditionalRiskMinimizer().fit([[0.0], [0.2], [1.0], [1.2]], [0, 0, 1, 1])
    >>> display = AlphaPathDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(self, search: Any) -> None:
        self.search = search

    @classmethod
    def from_estimator(cls, estimator: Any, ax: Any = None) -> Self:
        """Draw the search of a fitted estimator."""
        search = Fitted.of(estimator).search
        if search is None:
            raise ValueError("Nothing was searched: fit with alpha='auto' or several alphas.")
        return cls(search).plot(ax)

    @property
    def searched(self) -> str:
        """What was searched besides kernels: "alpha", "radius", "n_neighbors", "smoother"."""
        return next(name for name in self.search.trials[0] if name not in BESIDE)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "AlphaPathDisplay", (6.4, 4.4))
        if self.searched == "smoother":
            self._bars(ax)
        else:
            self._curves(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bars(self, ax: Any) -> None:
        """The least risk of each smoother, the least of all on top."""
        least: dict[str, float] = {}
        for trial in self.search.trials:
            name = trial["smoother"]
            least[name] = min(trial["risk"], least.get(name, trial["risk"]))
        names = sorted(least, key=lambda name: least[name])
        chosen = self.search.best["smoother"]
        colours = ["tab:blue" if name == chosen else "lightgrey" for name in names]
        ax.barh(range(len(names)), [least[name] for name in names], color=colours)
        ax.set_yticks(range(len(names)), [written(name) for name in names], **LITERAL)
        ax.invert_yaxis()
        ax.set(xlabel="left-out risk")

    def _curves(self, ax: Any) -> None:
        curves: dict[Any, Any] = {}
        for trial in self.search.trials:
            kernel, gamma = trial.get("kernel"), trial.get("gamma")  # some search alpha only
            named = "left-out risk" if kernel is None else str(kernel)
            curves.setdefault((named, gamma), []).append(trial)
        x = self.searched
        for (kernel, gamma), trials in curves.items():
            name = written(kernel) if gamma is None else f"{written(kernel)}, gamma = {gamma:.3g}"
            risks, errors = (
                [t.get(key, 0.0) for t in trials] for key in ("risk", "standard error")
            )
            ax.errorbar([t[x] for t in trials], risks, errors, fmt=".-", label=name, elinewidth=0.5)
        best = self.search.best
        ax.plot(best[x], best["risk"], "o", color="black", fillstyle="none", ms=10)
        positive = all(trial[x] > 0 for trial in self.search.trials)  # a radius may be zero
        ax.set(xscale="log" if positive else "linear", xlabel=x, ylabel="left-out risk")
        literal_legend(ax)


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

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    @classmethod
    def from_comparison(cls, comparison: Any) -> Self:
        """Draw what :func:`skstruct.model_selection.compare` found."""
        return cls(comparison.rows).plot()

    def plot(self) -> Self:
        pyplot = require("matplotlib.pyplot", used_by="ComparisonDisplay", extra="plot")
        losses = list(dict.fromkeys(row.loss for row in self.rows))
        n_most = max(sum(row.loss == loss for row in self.rows) for loss in losses)
        size = (1.2 + 3.2 * len(losses), 1.0 + 0.45 * n_most)
        figure, axes = pyplot.subplots(
            1, len(losses), figsize=size, squeeze=False, layout="constrained"
        )
        for ax, loss in zip(axes[0], losses):
            shown = [row for row in self.rows if row.loss == loss]
            for height, row in enumerate(shown):
                colour = "tab:blue" if height == 0 else "grey"
                ax.plot([row.low, row.high], [height, height], color=colour, linewidth=2)
                ax.plot(row.mean, height, "o", color=colour)
            ax.set_yticks(range(len(shown)), [written(row.name) for row in shown], **LITERAL)
            ax.set_ylim(len(shown) - 0.5, -0.5)
            ax.set_title(written(loss), **LITERAL)
            ax.grid(axis="x", alpha=0.3)
        axes[0][0].set_xlabel("mean loss on left-out rows")
        self.axes_, self.figure_ = list(axes[0]), figure
        return self
