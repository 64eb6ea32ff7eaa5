# SPDX-License-Identifier: BSD-3-Clause
"""What a model expects to lose and what it does lose: calibration, and risk by coverage."""

from typing import Any, Self

import numpy as np
from scipy import stats

from skstruct._arrays.checks import is_count
from skstruct.fitted import Fitted
from skstruct.inspection.drawing import axes_of, literal_legend, written
from skstruct.learners.token_problem import check_predicted_lengths
from skstruct.losses import PartlyKnown, ZeroOne
from skstruct.losses.base import same_width
from skstruct.spaces.truth import Truth, read_truth, seen_by


def risks_and_losses(
    estimator: Any, X: Any, y: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None
) -> tuple[Any, np.ndarray]:
    """Estimated risks of the predictions, and their realised losses; shape (n,) each.

    An exponential family that predicts the most probable output expects to be wrong with one
    minus its probability, and is judged by the zero-one loss.

    Parameters
    ----------
    estimator : fitted ConditionalRiskMinimizer, ExponentialFamily or pipeline that ends in one
    X, y : inputs and true outputs
        Where parts of y are missing, losses are those on what is known; rows of which nothing is
        known are left out.
    loss, restrict
        As in ``predict``.
    """
    fitted = Fitted.of(estimator)
    estimator, X = fitted.decider(X)
    if fitted.estimates_risks:
        problem, _ = estimator._prepared(loss, restrict)
    elif fitted.can("log_proba"):
        problem, _ = estimator._prepared(loss, restrict)
        if not problem.by_loss:
            return _probabilities_to_be_wrong(estimator, X, y, restrict)
    else:
        raise ValueError(
            f"{fitted.name} does not estimate the risk of its predictions; "
            "ConditionalRiskMinimizer and ExponentialFamily do."
        )
    decoded = estimator.decode(X, loss=loss, restrict=restrict)
    return _told(problem.possible(decoded.values), decoded.outputs, y, problem.loss, estimator)


def _told(
    risks: np.ndarray, outputs: Any, y: Any, loss: Any, estimator: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Risks and losses of the rows that say something."""
    predicted, truth = judged(estimator.space_, outputs, y, estimator)
    losses, says = PartlyKnown.of(loss).against(predicted, truth), truth.says
    return (risks, losses) if says.all() else (risks[says], losses[says])


def judged(
    space: Any, predicted: Any, y: Any, learner: Any = None, known: Any = None
) -> tuple[np.ndarray, Truth]:
    """Predictions (of a learner) in canonical form, and what is known of the truth."""
    seen = space if learner is None else seen_by(learner)
    predicted, truth = space.validate(predicted), read_truth(seen, y, known)
    if len(predicted) != len(truth):
        raise ValueError(f"X has {len(predicted)} rows and y has {len(truth)}.")
    check_predicted_lengths(learner, predicted, truth.outputs)
    return same_width(predicted, truth.outputs)[0], truth


def canonical(
    space: Any, predicted: Any, y: Any, learner: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Predictions (of a learner) and truths in canonical form, of one width."""
    predicted, truth = space.validate(predicted), space.validate(y)
    if len(predicted) != len(truth):
        raise ValueError(f"X has {len(predicted)} rows and y has {len(truth)}.")
    check_predicted_lengths(learner, predicted, truth)
    return same_width(predicted, truth)


def _probabilities_to_be_wrong(
    estimator: Any, X: Any, y: Any, restrict: dict[str, Any] | None
) -> tuple[np.ndarray, np.ndarray]:
    outputs = estimator.predict(X, restrict=restrict)
    probabilities = np.exp(estimator.log_proba(X, outputs, restrict=restrict))
    return _told(1.0 - np.clip(probabilities, 0, 1), outputs, y, ZeroOne(), estimator)


def checked_pairs(risks: Any, losses: Any) -> tuple[np.ndarray, np.ndarray]:
    """Finite numbers, one risk and one loss for each row."""
    read = [np.asarray(values, dtype=np.float64) for values in (risks, losses)]
    if read[0].ndim != 1 or read[0].shape != read[1].shape or len(read[0]) == 0:
        raise ValueError(
            "One estimated risk and one realised loss for each row are compared; got shapes "
            f"{read[0].shape} and {read[1].shape}."
        )
    for name, values in zip(("risks", "losses"), read):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} are finite; got {values[~np.isfinite(values)][0]}.")
    return read[0], read[1]


# Whether a model loses on average what it expects to lose.


NORMAL_95 = 1.959963984540054  # 97.5 % quantile of the normal distribution


class CalibrationDisplay:
    r"""Mean realised loss against mean estimated risk, in bins of as many rows each.

    Rows are ordered by estimated risk and cut into bins of equal size; rows of equal risk
    stay together. On the diagonal a model loses what it expects to. Bars are 95 % intervals
    of the mean loss of a bin: those of Wilson where losses are zero or one, else those of
    Student, which are only as good as a normal distribution of the mean; a bin of one row has none.

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

    def __init__(
        self,
        estimated: np.ndarray,
        realised: np.ndarray,
        counts: np.ndarray,
        intervals: np.ndarray,
        name: Any = None,
    ) -> None:
        self.estimated = estimated
        self.realised = realised
        self.counts = counts
        self.intervals = intervals
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        n_bins: int = 10,
        name: Any = None,
        ax: Any = None,
    ) -> Self:
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
    def from_predictions(
        cls, risks: Any, losses: Any, *, n_bins: int = 10, name: Any = None, ax: Any = None
    ) -> Self:
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

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "CalibrationDisplay", (5.2, 4.4))
        bars = np.abs(self.intervals - self.realised[:, None]).T
        label = "" if self.name is None else f"{written(self.name)}: "
        ax.errorbar(
            self.estimated, self.realised, bars, fmt="o-", markersize=4, linewidth=1.2, capsize=3,
            label=f"{label}{len(self.counts)} bins, 95 % intervals",
        )  # fmt: skip
        ends = [min(0.0, self.estimated.min()), max(self.estimated.max(), self.realised.max())]
        named = "as expected" in ax.get_legend_handles_labels()[1]  # by another curve
        line = None if named else "as expected"
        ax.plot(ends, ends, ":", color="black", linewidth=1.0, label=line)
        ax.set(xlabel="estimated risk", ylabel="realised mean loss")
        literal_legend(ax, loc="upper left", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def equal_bins(risks: np.ndarray, n_bins: int) -> np.ndarray:
    """Numbers of bins from 0, of as many rows each; equal risks share the bin of the first."""
    if not is_count(n_bins):
        raise ValueError(f"n_bins is a whole number from 1; got {n_bins!r}.")
    n, n_bins = len(risks), min(int(n_bins), len(risks))
    order = np.argsort(risks, kind="stable")
    first = np.searchsorted(risks[order], risks)  # index of the first row of equal risk
    return np.unique(first * n_bins // n, return_inverse=True)[1].reshape(-1)


def mean_interval(losses: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean of a distribution of which ``losses`` were drawn."""
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


# What is lost when a model may leave the rows to others of which it is least sure.


class RiskCoverageDisplay:
    r"""Mean loss of the rows that are kept, against the share that is kept.

    The k rows of least estimated risk are kept, :math:`r_k = \frac1k \sum_{i \le k} \ell_i`;
    the area below is the mean of :math:`r_k` over k = 1, ..., n [1]_. Among rows of equal risk
    the choice is random, and the curve is the mean over all orders. Random keeping has a flat
    curve, and an oracle that keeps the rows of least loss the lowest there is.

    Parameters
    ----------
    coverage, risk, oracle : arrays of shape (n,)
        Share of rows kept, k / n, and mean losses of these.
    name : str, default=None

    Attributes
    ----------
    area, area_random, area_oracle : float
    excess_area : float
        Of ``area`` over ``area_oracle``: what a better order of the rows could gain.

    References
    ----------
    .. [1] Y. Geifman, G. Uziel, R. El-Yaniv, "Bias-reduced uncertainty estimation for deep
       neural classifiers", ICLR 2019.

    Examples
    --------
    >>> display = RiskCoverageDisplay.from_predictions([0.1, 0.2, 0.9], [0.0, 1.0, 2.0])
    >>> display.risk
    array([0. , 0.5, 1. ])
    >>> display.area, display.area_random
    (0.5, 1.0)
    """

    def __init__(
        self, coverage: np.ndarray, risk: np.ndarray, oracle: np.ndarray, name: str | None = None
    ) -> None:
        self.coverage = coverage
        self.risk = risk
        self.oracle = oracle
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        name: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw what is lost on true outputs y by predictions of least estimated risk.

        Parameters
        ----------
        estimator : fitted ConditionalRiskMinimizer or ExponentialFamily
        loss, restrict
            As in ``predict``.
        """
        pairs = risks_and_losses(estimator, X, y, loss=loss, restrict=restrict)
        return cls.from_predictions(*pairs, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls, risks: Any, losses: Any, *, name: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the curve of estimated risks and realised losses, one of each for every row.

        Risks only put the rows in order: minus a confidence of any scale does as well.
        """
        risks, losses = checked_pairs(risks, losses)
        kept = np.arange(1, len(losses) + 1)
        oracle = np.cumsum(np.sort(losses)) / kept
        return cls(kept / len(losses), kept_risk(risks, losses), oracle, name).plot(ax)

    @property
    def area(self) -> float:
        return float(np.mean(self.risk))

    @property
    def area_random(self) -> float:
        return float(self.risk[-1])

    @property
    def area_oracle(self) -> float:
        return float(np.mean(self.oracle))

    @property
    def excess_area(self) -> float:
        return self.area - self.area_oracle

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "RiskCoverageDisplay", (5.2, 4.4))
        label = "by estimated risk" if self.name is None else written(self.name)
        areas = {"": self.area, "at random": self.area_random, "by an oracle": self.area_oracle}
        (line,) = ax.plot(self.coverage, self.risk, label=f"{label}: area {areas['']:.4g}")
        flat = np.full(len(self.coverage), self.risk[-1])
        for curve, name, style in ((flat, "at random", "--"), (self.oracle, "by an oracle", ":")):
            text = f"{name}: area {areas[name]:.4g}"
            ax.plot(self.coverage, curve, style, color="0.4", linewidth=1.2, label=text)
        ax.fill_between(self.coverage, self.risk, alpha=0.12, color=line.get_color(), linewidth=0)
        ax.set(xlabel="share of rows kept", ylabel="mean loss of the rows kept", xlim=(0, 1))
        ax.set_ylim(bottom=min(0.0, float(self.oracle[0])))
        literal_legend(ax, loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def kept_risk(risks: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Mean loss of the k rows of least risk for every k, on average over orders of ties."""
    block = np.unique(risks, return_inverse=True)[1].reshape(-1)
    means = np.bincount(block, losses) / np.bincount(block)  # of rows that tie
    return np.cumsum(means[np.sort(block)]) / np.arange(1, len(losses) + 1)
