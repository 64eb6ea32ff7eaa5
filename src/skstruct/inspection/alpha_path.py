# SPDX-License-Identifier: BSD-3-Clause
"""How the left-out risk depends on the penalty, or on what else was searched."""

from __future__ import annotations

from skstruct.inspection.drawing import axes_of, literal_legend, written

BESIDE = ("kernel", "gamma", "risk", "squared error")  # of a trial: not what curves run along


class AlphaPathDisplay:
    """Left-out risk against alpha, one curve per kernel width.

    Against the radius of sample compression, or the number of neighbors, where these were
    searched.

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

    def __init__(self, search):
        self.search = search

    @classmethod
    def from_estimator(cls, estimator, ax=None):
        """Draw the search of a fitted estimator."""
        if getattr(estimator, "search_", None) is None:
            raise ValueError("Nothing was searched: fit with alpha='auto' or several alphas.")
        return cls(estimator.search_).plot(ax)

    @property
    def searched(self) -> str:
        """What was searched besides kernels: "alpha", "radius" or "n_neighbors"."""
        return next(name for name in self.search.trials[0] if name not in BESIDE)

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "AlphaPathDisplay", (6.4, 4.4))
        curves: dict = {}
        for trial in self.search.trials:
            kernel, gamma = trial.get("kernel"), trial.get("gamma")  # some search alpha only
            named = "left-out risk" if kernel is None else str(kernel)
            curves.setdefault((named, gamma), []).append(trial)
        x = self.searched
        for (kernel, gamma), trials in curves.items():
            name = written(kernel) if gamma is None else f"{written(kernel)}, gamma = {gamma:.3g}"
            ax.plot([t[x] for t in trials], [t["risk"] for t in trials], ".-", label=name)
        best = self.search.best
        ax.plot(best[x], best["risk"], "o", color="black", fillstyle="none", ms=10)
        positive = all(trial[x] > 0 for trial in self.search.trials)  # a radius may be zero
        ax.set(xscale="log" if positive else "linear", xlabel=x, ylabel="left-out risk")
        literal_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
