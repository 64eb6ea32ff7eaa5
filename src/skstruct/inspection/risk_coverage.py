# SPDX-License-Identifier: BSD-3-Clause
"""What is lost when a model may leave the rows to others of which it is least sure."""

from __future__ import annotations

import numpy as np

from skstruct.inspection.drawing import axes_of, literal_legend, written
from skstruct.inspection.risks import checked_pairs, risks_and_losses


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

    def __init__(self, coverage, risk, oracle, name=None):
        self.coverage = coverage
        self.risk = risk
        self.oracle = oracle
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, X, y, *, loss=None, restrict=None, name=None, ax=None):
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
    def from_predictions(cls, risks, losses, *, name=None, ax=None):
        """Draw the curve of estimated risks and realised losses, one of each for every row."""
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

    def plot(self, ax=None):
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
