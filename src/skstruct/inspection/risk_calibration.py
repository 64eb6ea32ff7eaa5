# SPDX-License-Identifier: BSD-3-Clause
"""Whether a model loses on average what it expects to lose."""

from __future__ import annotations

import numpy as np
from scipy import stats

from skstruct._arrays.checks import is_count
from skstruct.inspection.drawing import axes_of, literal_legend, written
from skstruct.inspection.risks import checked_pairs, risks_and_losses

NORMAL_95 = 1.959963984540054  # 97.5 % quantile of the normal law


class CalibrationDisplay:
    r"""Mean realised loss against mean estimated risk, in bins of as many rows each.

    Rows are ordered by estimated risk and cut into bins of equal size; rows of equal risk
    stay together. On the diagonal a model loses what it expects to. Bars are 95 % intervals
    of the mean loss of a bin: those of Wilson where losses are zero or one, else those of
    Student, which are only as good as a normal law of the mean; a bin of one row has none.

    Parameters
    ----------
    estimated, realised : arrays of shape (n_bins,)
        Means over the rows of each bin.
    counts : int array of shape (n_bins,)
    intervals : array of shape (n_bins, 2)
    name : str, default=None

    Attributes
    ----------
    expected_error : float
        :math:`\sum_b (n_b / n) |\bar\ell_b - \bar r_b|`; above zero, by about the bars, even
        where estimates are right.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> risks = rng.random(2000)
    >>> losses = rng.random(2000) < risks
    >>> display = CalibrationDisplay.from_predictions(risks, losses)
    >>> round(display.expected_error, 3)
    0.029
    """

    def __init__(self, estimated, realised, counts, intervals, name=None):
        self.estimated = estimated
        self.realised = realised
        self.counts = counts
        self.intervals = intervals
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, loss=None, restrict=None, n_bins=10, name=None, ax=None
    ):
        """Draw estimated risks of predictions against what they lose on true outputs y.

        Parameters
        ----------
        estimator : fitted ConditionalRiskMinimizer or ExponentialFamily
        loss, restrict
            As in ``predict``.
        n_bins : int, default=10
        """
        pairs = risks_and_losses(estimator, X, y, loss=loss, restrict=restrict)
        return cls.from_predictions(*pairs, n_bins=n_bins, name=name, ax=ax)

    @classmethod
    def from_predictions(cls, risks, losses, *, n_bins=10, name=None, ax=None):
        """Draw estimated risks against realised losses, one of each for every row."""
        risks, losses = checked_pairs(risks, losses)
        bins = equal_bins(risks, n_bins)
        counts = np.bincount(bins)
        estimated, realised = (np.bincount(bins, values) / counts for values in (risks, losses))
        intervals = np.array([mean_interval(losses[bins == b]) for b in range(len(counts))])
        return cls(estimated, realised, counts, intervals, name).plot(ax)

    @property
    def expected_error(self) -> float:
        gaps = np.abs(self.realised - self.estimated)
        return float(gaps @ self.counts / np.sum(self.counts))

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "CalibrationDisplay", (5.2, 4.4))
        bars = np.abs(self.intervals - self.realised[:, None]).T
        label = "" if self.name is None else f"{written(self.name)}: "
        ax.errorbar(
            self.estimated, self.realised, bars, fmt="o-", markersize=4, linewidth=1.2, capsize=3,
            label=f"{label}{len(self.counts)} bins, 95 % intervals",
        )  # fmt: skip
        ends = [min(0.0, self.estimated.min()), max(self.estimated.max(), self.realised.max())]
        ax.plot(ends, ends, ":", color="black", linewidth=1.0, label="as expected")
        ax.set(xlabel="estimated risk", ylabel="realised mean loss")
        literal_legend(ax, loc="upper left", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def equal_bins(risks: np.ndarray, n_bins) -> np.ndarray:
    """Numbers of bins from 0, of as many rows each; equal risks share the bin of the first."""
    if not is_count(n_bins):
        raise ValueError(f"n_bins is a whole number from 1; got {n_bins!r}.")
    n, n_bins = len(risks), min(int(n_bins), len(risks))
    order = np.argsort(risks, kind="stable")
    first = np.searchsorted(risks[order], risks)  # place of the first row of equal risk
    return np.unique(first * n_bins // n, return_inverse=True)[1].reshape(-1)


def mean_interval(losses: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean of a law of which ``losses`` were drawn."""
    n, mean = len(losses), float(np.mean(losses))
    if np.isin(losses, (0.0, 1.0)).all():  # Wilson (1927)
        z2 = NORMAL_95**2
        middle = (mean + z2 / (2 * n)) / (1 + z2 / n)
        spread = np.sqrt(z2 * (mean * (1 - mean) / n + z2 / (4 * n**2))) / (1 + z2 / n)
        return max(0.0, middle - spread), min(1.0, middle + spread)
    if n < 2:
        return mean, mean
    spread = stats.t.ppf(0.975, n - 1) * np.std(losses, ddof=1) / np.sqrt(n)
    return mean - spread, mean + spread
