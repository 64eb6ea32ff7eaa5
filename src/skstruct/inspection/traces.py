# SPDX-License-Identifier: BSD-3-Clause
"""Where Markov chains went, and whether they went to the same outputs."""

from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import require
from skstruct.sampling import diagnostics
from skstruct.sampling.convergence import autocovariances, checked_traces, embedded

MOST_BINS = 20


class TraceDisplay:
    """Traces of several chains, their ranks, and their autocorrelations.

    Ranks are those among the draws of all chains: where chains agree, the ranks of each are
    spread evenly. Draws of equal value are ranked in random order, always the same one; bars
    are cut off at 2.2 times what is even.

    Parameters
    ----------
    trace : array of shape (n_chains, n_draws)
    name : str, default="score"
        Of what is traced.

    Examples
    --------
    >>> import numpy as np
    >>> trace = np.random.default_rng(0).standard_normal((4, 1000))
    >>> display = TraceDisplay.from_draws(trace)  # doctest: +SKIP
    """

    def __init__(self, trace: np.ndarray, name: str = "score") -> None:
        self.trace = trace
        self.name = name

    @classmethod
    def from_draws(
        cls,
        draws: Any,
        *,
        coordinate: int | None = None,
        name: str | None = None,
        axes: Any = None,
    ) -> Self:
        """Draw what chains have drawn.

        Parameters
        ----------
        draws : Draws, or array of shape (n_chains, n_draws) or (n_chains, n_draws, d)
        coordinate : int, default=None
            Of psi, or of the traces that are given; None for the scores of Draws.
        name : str, default=None
            Of what is traced.
        axes : three axes of matplotlib, default=None
        """
        traces = checked_traces(draws)
        if coordinate is None and traces.ndim == 3:
            raise ValueError(f"Got traces of {traces.shape[2]} coordinates: say which coordinate.")
        if coordinate is not None:
            traces = embedded(draws) if hasattr(draws, "outputs") else np.atleast_3d(traces)
            d = traces.shape[2]
            if coordinate not in range(d):
                raise ValueError(f"coordinate is from 0 to {d - 1}; got {coordinate!r}.")
            traces = traces[:, :, coordinate]
        if name is None:
            name = "score" if coordinate is None else f"coordinate {coordinate}"
        return cls(traces, name).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on three ``axes``, or on a new figure; returns the display."""
        pyplot = require("matplotlib.pyplot", used_by="TraceDisplay", extra="plot")
        trace = checked_traces(self.trace)
        if axes is None:
            size, widths = (12.0, 3.4), {"width_ratios": [2, 1, 1]}
            _, axes = pyplot.subplots(1, 3, figsize=size, gridspec_kw=widths, layout="constrained")
        axes = np.ravel(np.asarray(axes, dtype=object))
        if len(axes) != 3:
            raise ValueError(f"TraceDisplay draws on three axes; got {len(axes)}.")
        _draw_trace(axes[0], trace, self.name)
        _draw_ranks(axes[1], trace)
        _draw_autocorrelations(axes[2], trace)
        self.diagnostics_ = found = diagnostics(trace, warn=False)
        axes[0].set_title(_title(found, trace.size), fontsize="medium")
        self.axes_, self.figure_ = axes, axes[0].figure
        return self


def chain_ranks(trace: np.ndarray) -> np.ndarray:
    """Ranks from 0 among all draws, ties in random order; the shape of the trace."""
    shuffled = np.random.default_rng(0).permutation(trace.size)
    order = shuffled[np.argsort(trace.ravel()[shuffled], kind="stable")]
    ranks = np.empty(trace.size, np.int64)
    ranks[order] = np.arange(trace.size)
    return ranks.reshape(trace.shape)


def _title(found: Any, n_draws: int) -> str:
    if np.isnan(found.r_hat):
        return str(found.troubles[0])
    return (
        f"R-hat {found.r_hat:.3f}, effective draws {found.ess_bulk:,.0f} bulk, "
        f"{found.ess_tail:,.0f} tail of {n_draws:,}"
    )


def _draw_trace(ax: Any, trace: np.ndarray, name: str) -> None:
    for c, chain in enumerate(trace):
        ax.plot(chain, color=f"C{c % 10}", linewidth=0.7, alpha=0.8)
    ax.set(xlabel="draw", ylabel=name, xmargin=0)


def _draw_ranks(ax: Any, trace: np.ndarray) -> None:
    """A histogram for each chain, one above the other; the line is what is expected."""
    m, n = trace.shape
    n_bins = min(MOST_BINS, max(n // 10, 1))
    edges = np.linspace(0, trace.size, n_bins + 1)
    for c, ranks in enumerate(chain_ranks(trace)):
        counts = np.histogram(ranks, edges)[0] * n_bins / n  # 1 is even
        heights = 0.4 * np.minimum(counts, 2.2)
        ax.bar(edges[:-1], heights, np.diff(edges), c, align="edge", color=f"C{c % 10}", alpha=0.6)
        ax.axhline(c + 0.4, color="black", linewidth=0.6, linestyle="--")
    ticks = range(m) if m <= 10 else range(0, m, -(-m // 10))
    ax.set_yticks([c + 0.4 for c in ticks], [str(c) for c in ticks])
    ax.set(xlabel="rank among all draws", ylabel="chain", xmargin=0, ylim=(0, m))
    ax.set_title("ranks (dashed: even)", fontsize="medium")


def _draw_autocorrelations(ax: Any, trace: np.ndarray) -> None:
    n = trace.shape[1]
    n_lags, lowest = min(n, 100), -0.3
    for c, covariances in enumerate(autocovariances(trace)[:, :n_lags]):
        if np.ptp(trace[c]) > 0:  # a chain that stands still has none
            correlations = covariances / covariances[0]
            lowest = min(lowest, 1.05 * correlations.min())
            ax.plot(correlations, color=f"C{c % 10}", linewidth=1.0, alpha=0.8)
    ax.axhspan(-1.96 / np.sqrt(n), 1.96 / np.sqrt(n), color="grey", alpha=0.2, linewidth=0)
    ax.axhline(0, color="grey", linewidth=0.5)
    ax.set(xlabel="lag", ylabel="autocorrelation", xlim=(0, max(n_lags - 1, 1)))
    ax.set_ylim(lowest, 1.02)
    ax.set_title("shaded: 95 % if independent", fontsize="medium")
