# SPDX-License-Identifier: BSD-3-Clause
"""How the left-out risk depends on the penalty."""

from __future__ import annotations

from skstruct.inspection.drawing import axes_of, literal_legend, written


class AlphaPathDisplay:
    """Left-out risk against alpha, one curve per kernel width.

    Parameters
    ----------
    search : LeaveOutSearch
        ``search_`` of a model fitted with several alphas.

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
        if estimator.search_ is None:
            raise ValueError("Nothing was searched: fit with alpha='auto' or several alphas.")
        return cls(estimator.search_).plot(ax)

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "AlphaPathDisplay", (6.4, 4.4))
        curves: dict = {}
        for trial in self.search.trials:
            curves.setdefault((written(trial["kernel"]), trial["gamma"]), []).append(trial)
        for (kernel, gamma), trials in curves.items():
            name = kernel if gamma is None else f"{kernel}, gamma = {gamma:.3g}"
            ax.plot([t["alpha"] for t in trials], [t["risk"] for t in trials], ".-", label=name)
        best = self.search.best
        ax.plot(best["alpha"], best["risk"], "o", color="black", fillstyle="none", ms=10)
        ax.set(xscale="log", xlabel="alpha", ylabel="left-out risk")
        literal_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
