# SPDX-License-Identifier: BSD-3-Clause
"""Whether what a model gives thirty per cent happens thirty times in a hundred."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct._arrays.checks import is_count
from skstruct.fitted import Fitted
from skstruct.inspection.drawing import axes_of, literal_legend, written
from skstruct.inspection.marginals import happened_and_predicted, known_pairs
from skstruct.learners.marginals import told_parts
from skstruct.tolerances import OUTPUT_RANGE

STRATEGIES = ("uniform", "quantile")
BEFORE, AFTER = "as estimated", "calibrated"  # names of two curves on one picture
NORMAL_95 = 1.959963984540054  # 97.5 % quantile of the normal distribution


class MarginalCalibrationDisplay:
    r"""Predicted marginals against how often their coordinates of psi were one.

    Coordinates of all rows are pooled and put into bins by their predicted probability. Bars
    are 95 % intervals of Wilson for a share of independent events; coordinates of one output
    are not, so that true intervals are somewhat longer. The expected calibration error is
    :math:`\sum_b (n_b / n) |\bar o_b - \bar p_b|`, for bin b with n_b coordinates, of which a
    share o was one and p was predicted. It depends on the bins, and is above zero, by about
    the bars, even for a perfect model.

    Parameters
    ----------
    predicted, observed : arrays of shape (n_bins,)
        Mean probability and share of ones in every bin; empty bins are left out.
    counts : int array of shape (n_bins,)
    edges : array of shape (n_bins, 2)
        Probabilities at which bins begin and end.
    name : str, default=None

    Attributes
    ----------
    expected_error : float
    intervals : array of shape (n_bins, 2)

    References
    ----------
    .. [1] E. B. Wilson, Probable inference, the distribution of succession, and statistical
       inference. Journal of the American Statistical Association 22 (1927) 209-212.
    .. [2] M. Pakdaman Naeini, G. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities
       using Bayesian binning. AAAI (2015).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> marginals = rng.random((2000, 5))
    >>> psi = rng.random((2000, 5)) < marginals
    >>> display = MarginalCalibrationDisplay.from_predictions(psi, marginals)
    >>> round(display.expected_error, 3)
    0.011
    """

    def __init__(
        self,
        predicted: np.ndarray,
        observed: np.ndarray,
        counts: np.ndarray,
        edges: np.ndarray,
        name: str | None = None,
    ) -> None:
        self.predicted = predicted
        self.observed = observed
        self.counts = counts
        self.edges = edges
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        calibrated: str | None = "auto",
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration of ``estimator.predict_marginals`` on true outputs y.

        Of rankings, each pair of items counts once, and only where its order is known; of
        sequences, positions beyond the end of the true one do not count.

        Parameters
        ----------
        estimator : fitted learner with ``predict_marginals``
        X, y : rows that it was not fitted to, with their true outputs
        n_bins, strategy, ax
            As in :meth:`from_predictions`.
        calibrated : "auto", "logistic", "isotonic" or None, default="auto"
            As in ``predict_marginals``: None for probabilities before they are moved to what
            happened on left-out rows.
        name : str, default=None
            The name of the class of the estimator when None.
        """
        happened, marginals = happened_and_predicted(estimator, X, y, calibrated)
        happened, marginals = known_pairs(estimator.space_, happened, marginals)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(
            happened, marginals, n_bins=n_bins, strategy=strategy, name=name, ax=ax
        )

    @classmethod
    def before_and_after(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        calibrated: str = "auto",
        ax: Any = None,
    ) -> tuple[Self, Self]:
        """Draw two curves on one picture: marginals as estimated, and calibrated ones.

        Parameters
        ----------
        estimator : fitted learner whose ``calibration_`` knows of marginals
            From rows that were left out in ``fit``, or kept apart for ``calibrate``.
        X, y, n_bins, strategy, calibrated, ax
            As in :meth:`from_estimator`.

        Returns
        -------
        before, after : MarginalCalibrationDisplay
        """
        if not is_recalibrated(estimator):
            raise ValueError(
                f"{type(estimator).__name__}: nothing is known that would calibrate its "
                "marginals. Give rows that it was not fitted to: calibrate(X, y)."
            )
        shared: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy}
        before = cls.from_estimator(estimator, X, y, calibrated=None, name=BEFORE, ax=ax, **shared)
        after = cls.from_estimator(
            estimator, X, y, calibrated=calibrated, name=AFTER, ax=before.ax_, **shared
        )
        return before, after

    @classmethod
    def from_predictions(
        cls,
        psi_true: Any,
        marginals: ArrayLike,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration of predicted marginals.

        Parameters
        ----------
        psi_true : array of zeros and ones of shape (n, d), dense or sparse
        marginals : array of shape (n, d)
            Predicted probabilities that they are one.
        n_bins : int, default=10
        strategy : "uniform" or "quantile", default="uniform"
            Bins of equal length, or with equally many coordinates.
        name : str, default=None
        ax : axes of matplotlib, default=None
        """
        happened, predicted = _checked(psi_true, marginals)
        edges = _edges(predicted, n_bins, strategy)
        bins = np.clip(np.searchsorted(edges, predicted, side="right") - 1, 0, len(edges) - 2)
        counts = np.bincount(bins, minlength=len(edges) - 1)
        some = counts > 0
        means, shares = (
            np.bincount(bins, what, len(counts))[some] / counts[some]
            for what in (predicted, happened)
        )
        limits = np.column_stack([edges[:-1], edges[1:]])[some]
        return cls(means, shares, counts[some], limits, name).plot(ax)

    @property
    def expected_error(self) -> float:
        gaps = np.abs(self.observed - self.predicted)
        return float(gaps @ self.counts / self.counts.sum())

    @property
    def intervals(self) -> np.ndarray:
        n, z2 = self.counts, NORMAL_95**2
        middle = (self.observed + z2 / (2 * n)) / (1 + z2 / n)
        spread = np.sqrt(z2 * (self.observed * (1 - self.observed) / n + z2 / (4 * n**2)))
        spread /= 1 + z2 / n
        return np.clip(np.column_stack([middle - spread, middle + spread]), 0, 1)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "MarginalCalibrationDisplay", (5.2, 5.0))
        label = "" if self.name is None else f"{written(self.name)}: "
        bars = np.abs(self.intervals - self.observed[:, None]).T
        drawn = ax.errorbar(
            self.predicted, self.observed, bars, fmt="o-", markersize=4, linewidth=1.2, capsize=3,
            label=f"{label}expected calibration error {self.expected_error:.3f}",
        )  # fmt: skip
        bars_name = "share of predictions"
        named = bars_name in ax.get_legend_handles_labels()[1]  # by another curve
        ax.bar(
            self.edges[:, 0], self.counts / self.counts.sum(), np.diff(self.edges)[:, 0],
            align="edge", color=drawn[0].get_color(), alpha=0.15,
            label=None if named else bars_name,
        )  # fmt: skip
        ax.plot([0, 1], [0, 1], ":", color="black", linewidth=1.0)
        ax.set(xlabel="predicted probability", ylabel="observed share", aspect="equal")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        above: dict[str, Any] = {
            "loc": "lower left",
            "bbox_to_anchor": (0.0, 1.0),
        }  # where no curve can be
        literal_legend(ax, fontsize="small", frameon=False, **above)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def is_recalibrated(estimator: Any) -> bool:
    """Whether ``predict_marginals`` moves probabilities to what happened on left-out rows: those of
    pairs of a ranking are not, where the loss looks at positions.
    """
    known = Fitted.of(estimator).calibration
    if known is None or known.logistic is None:
        return False
    return known.of_marginals("auto", told_parts(estimator, None)[0]) is not None


def _checked(psi_true: Any, marginals: Any) -> tuple[np.ndarray, np.ndarray]:
    """What happened (zeros and ones) and its probabilities, pooled; shape (n * d,) each."""
    dense = [
        np.asarray(one.toarray() if sparse.issparse(one) else one, dtype=np.float64)
        for one in (psi_true, marginals)
    ]
    happened, predicted = dense
    if happened.shape != predicted.shape or happened.size == 0:
        raise ValueError(
            "psi_true and marginals have the same shape (n, d), with something in it; got "
            f"{happened.shape} and {predicted.shape}."
        )
    odd = happened[(happened != 0) & (happened != 1)]
    if len(odd):
        raise ValueError(
            f"Calibration is of coordinates that are 0 or 1; psi has {odd[0]:g}. Embeddings of "
            "other numbers have means, not probabilities."
        )
    bad = predicted[~((predicted >= -OUTPUT_RANGE) & (predicted <= 1 + OUTPUT_RANGE))]
    if len(bad):
        raise ValueError(f"Marginals are probabilities from 0 to 1; got {bad[0]:g}.")
    return happened.ravel(), np.clip(predicted.ravel(), 0, 1)


def _edges(predicted: np.ndarray, n_bins: int, strategy: str) -> np.ndarray:
    """Where bins begin and the last one ends."""
    if not is_count(n_bins):
        raise ValueError(f"n_bins is a whole number from 1; got {n_bins!r}.")
    shares = np.linspace(0, 1, int(n_bins) + 1)
    if strategy == "uniform":
        return shares
    if strategy != "quantile":
        raise ValueError(f"strategy is one of {', '.join(STRATEGIES)}; got {strategy!r}.")
    edges = np.unique(np.quantile(predicted, shares))
    return edges if len(edges) > 1 else np.append(edges, edges)
