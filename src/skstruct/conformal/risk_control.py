# SPDX-License-Identifier: BSD-3-Clause
"""Predictions with parts that are certain and parts that are possible, at a risk that is given."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstruct.bounds.certificate import check_delta
from skstruct.conformal.calibration import ROWS, Calibrated, row_index
from skstruct.conformal.levels import Curve, risk_curve
from skstruct.conformal.p_values import bet_on_thresholds, fixed_sequence, hoeffding_bentkus
from skstruct.conformal.realised import Realised, realised
from skstruct.conformal.risks import RISKS, Risk
from skstruct.conformal.structures import Claims, structure_of
from skstruct.learners.whole_rows import whole_rows
from skstruct.saving import savable

DELTA = 0.1  # where a risk needs one and none is given
# Thresholds that are tested one by one, from the strictest: fixed, whatever the rows are.
GRID = np.concatenate([1.0 - np.logspace(-4, -2, 9)[:-1], np.linspace(0.99, 0.0, 100)])
FEW = np.linspace(0.95, 0.05, 19)  # and those that are tested all at once


@dataclass(frozen=True)
class Nested:
    """What is certain and what is possible, in the user's format; the first is in the second.

    Label sets and hierarchies: two outputs, both with all ancestors of their labels. Sequences:
    symbols with None where a position is open, and a tuple of symbols for every position.
    Classes and levels: a name or None, and a tuple of names. Rankings: pairs (earlier, later)
    that are certain, a partial order, and those that are not excluded by it.
    """

    certain: Any
    possible: Any


@savable
class RiskControl(Calibrated):
    r"""Nested predictions of a fitted learner, with a risk that is at most ``level``.

    Parts of an output (labels, positions, pairs of items) are asserted where their probability
    passes a threshold t. Calibration rows choose it: for a risk whose loss :math:`L_i(t)` falls
    as t rises, by conformal risk control [1]_,

    .. math:: \hat t = \inf\Bigl\{t : \tfrac{1}{n + 1}\bigl(\textstyle\sum_i L_i(t) + 1\bigr)
              \le \mathrm{level}\Bigr\},
              \qquad E\,L_{n+1}(\hat t) \le \mathrm{level},

    and with ``delta``, or for a risk that may rise and fall, by tests in a fixed order [2]_: with
    probability 1 - delta over the calibration rows, the risk on new rows is at most the level.
    Nothing is assumed of the learner or of the distribution. The sets obey the structure: what is
    certain, and what is possible, holds all ancestors of its labels.

    Parameters
    ----------
    learner : fitted learner with ``predict_marginals``
    level : float, default=0.1
        The largest risk.
    risk : str, default="missed"
        - ``"missed"``: share of the true labels that are not possible; of a sequence, share of
          positions whose symbol is not possible; of a ranking, as ``"wrong"``. Nothing is promised
          of what is certain then;
        - ``"wrong"``: labels asserted wrongly, as there or as not there, as a share of all labels;
          positions and pairs likewise;
        - ``"false_labels"``: labels that are certain and not true, as a share of all labels;
        - ``"false"``: of the labels that are certain, the share that are not true, 0 where none
          is; needs delta;
        - ``"precision"``: expected number of these divided by that of labels that are certain,
          over rows; needs delta;
        - ``"f1"``: 1 - F1 of what is certain, row by row; needs delta, and is an error where no
          threshold can be shown to be within the level.
    delta : float, default=None
        Probability that the promise is broken. When None: the risk is at most the level in
        expectation over calibration rows too; 0.1 for risks that need it.
    weights : None, "depth", array of shape (d,), dict or Series by label, default=None
        Costs of labels: all 1, 1 / (1 + depth), or given (1 for those that a dict leaves out).

    Attributes
    ----------
    thresholds_ : array
        One for each group; one where there are no groups.
    groups_ : list or None
    withheld_ : float
        Share of the parts of calibration rows that are possible and not certain.
    vacuous_ : list of bool
        Per group: whether the level cannot be met, so that all is possible and nothing certain.
    promise_ : str
        What is guaranteed, and what is not.
    n_calibration_, n_left_out_ : int
        Calibration rows, and those that were left out since parts are missing.

    See Also
    --------
    Abstention : the risk of what is kept.
    PredictionSets : sets that hold the whole output.

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei and T. Schuster, "Conformal risk
       control", 2022.
    .. [2] A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
       calibrating predictive algorithms to achieve risk control", 2021.

    Examples
    --------
    >>> from skstruct import ExponentialFamily
    >>> from skstruct.spaces import LabelSets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> Y = (X + 0.5 * rng.normal(size=X.shape) > 0).astype(int)
    >>> learner = ExponentialFamily(LabelSets(["sun", "wind"])).fit(X[:100], Y[:100])
    >>> control = RiskControl(learner, level=0.05, risk="wrong").calibrate(X[100:], Y[100:])
    >>> nested = control.predict([[3.0, 0.0]])
    >>> nested.certain, nested.possible
    (array([[1, 0]]), array([[1, 1]]))
    """

    def __init__(
        self,
        learner: Any,
        level: float = 0.1,
        *,
        risk: str = "missed",
        delta: float | None = None,
        weights: Any = None,
    ) -> None:
        self.learner = learner
        self.level = level
        self.risk = risk
        self.delta = delta
        self.weights = weights

    def calibrate(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose the thresholds by rows that the learner has not seen.

        Parameters
        ----------
        X, y : inputs and outputs
            Rows of which parts are missing are left out, with a warning, even where these follow
            from other parts: a promise needs whole outputs, and holds for rows like these.
        groups : sequence of length n, default=None
            A threshold for each group, and the promise within each.
        sample_weight : array of shape (n,), default=None
            Where new inputs are distributed otherwise: ratios of their density to that of the
            calibration inputs. ``predict`` then takes such weights too.

        Returns
        -------
        self
        """
        level, risk = self._check_level(), self._risk()
        structure = structure_of(self._space(), "RiskControl")
        given = X, y, groups, sample_weight
        X, Z, groups, sample_weight = self._whole_rows(*given)
        rows = self._read_rows(len(Z), groups, sample_weight)
        delta = self._delta(risk, sample_weight)
        P = structure.read(self.learner.predict_marginals(X))
        claims = risk.claims(structure, P, Z, self.weights)
        self._keep_groups(rows, groups, sample_weight)
        self.delta_ = delta
        self.curves_, found = [], []
        for _, of_group in rows.by_group():
            part = claims.rows(of_group)
            curve, threshold = _calibrated(part, rows.weights[of_group], risk, level, delta)
            self.curves_.append(curve)
            found.append(threshold)
        self.thresholds_ = np.array(found)
        self._finish(rows, structure, P, risk)
        return self

    def _finish(self, rows: Any, structure: Any, P: np.ndarray, risk: Risk) -> None:
        """What the calibrated rows look like, warnings, and the promise."""
        self._warn_vacuous(rows, np.inf, "nothing is certain and everything is possible.")
        certain, possible = structure.masks(P, self.thresholds_[rows.numbers], risk.moves)
        self.withheld_ = structure.open_share(P, certain, possible)
        self.promise_ = self._promise(risk) + self._left_out()

    def predict(self, X: Any, *, groups: Any = None, weights: Any = None) -> Nested:
        """What is certain and what is possible.

        Parameters
        ----------
        X : inputs
        groups : sequence of length n, default=None
            Known groups, where calibration had some.
        weights : array of shape (n,), default=None
            Ratios of densities, where calibration had ``sample_weight``.

        Returns
        -------
        Nested
        """
        self._check_calibrated()
        structure = structure_of(self.learner.space_, "RiskControl")
        P = structure.read(self.learner.predict_marginals(X))
        thresholds = self._row_thresholds(len(P), groups, weights)
        certain, possible = structure.masks(P, thresholds, self._risk().moves)
        return Nested(*structure.write(P, certain, possible, row_index(X)))

    def realised(self, X: Any, y: Any, *, groups: Any = None, weights: Any = None) -> Realised:
        """What the risk is on further rows, and what share of the parts is asserted.

        Parameters
        ----------
        X, y : rows that had no part in training or calibration
            Those of which parts are missing are left out, as in ``calibrate``.
        groups, weights : as in ``predict``
        """
        self._check_calibrated()
        structure, risk = structure_of(self.learner.space_, "RiskControl"), self._risk()
        X, Z, groups, weights = whole_rows("RiskControl", self._space(), X, y, groups, weights)
        P = structure.read(self.learner.predict_marginals(X))
        claims = risk.claims(structure, P, Z, self.weights)
        return realised(claims, self._row_thresholds(len(P), groups, weights), risk)

    def _risk(self) -> Risk:
        if self.risk not in RISKS:
            raise ValueError(f"RiskControl: risk is one of {', '.join(RISKS)}; got {self.risk!r}.")
        return RISKS[self.risk]

    def _delta(self, risk: Risk, sample_weight: Any) -> float | None:
        if self.delta is None and risk.on_grid is None:
            return None
        if sample_weight is not None:
            raise ValueError(
                "RiskControl: sample_weight goes with risks in expectation only: 'missed', "
                "'wrong' and 'false_labels' with delta=None."
            )
        return check_delta(DELTA if self.delta is None else self.delta)

    def _promise(self, risk: Risk) -> str:
        within = "" if self.groups_ is None else " within each group"
        if self.delta_ is None:
            kind = f"is at most {self.level:g} in expectation over calibration and new rows{within}"
        else:
            kind = (
                f"on new rows is at most {self.level:g}{within} with probability "
                f"{1 - self.delta_:g} over the draw of calibration rows{self._each()}"
            )
        shift = ", weighted by the given ratios of densities" if self.weighted_ else ""
        return (
            f"The expectation of {risk.text} {kind}. {ROWS}{shift}; it holds on average over "
            "inputs and not for each of them."
        )


def _calibrated(
    claims: Claims, weights: np.ndarray, risk: Risk, level: float, delta: float | None
) -> tuple[Curve | None, float]:
    """The curve of a risk that falls, where there is one, and the threshold."""
    if risk.on_grid is not None and delta is not None:
        return None, tested_threshold(claims, risk, level, delta)
    curve = risk_curve(claims.scores, claims.losses, weights)
    if delta is not None:
        return curve, curve.sure_threshold(level, delta)
    return curve, float(curve.threshold(level))


def tested_threshold(claims: Claims, risk: Risk, level: float, delta: float) -> float:
    """The best threshold among those whose risk is at most the level by a test.

    From strict to lax, each at delta, up to the first that fails. Where strict thresholds could
    not pass, since they assert too little, every fourth row says in which order the others are
    tested. Or all of a short list at delta by its length, of which the one of least mean risk is
    taken.
    """
    assert risk.on_grid is not None
    grid, n = (FEW if risk.best else GRID), len(claims.scores)
    losses = risk.on_grid(claims, grid, level)
    if risk.bets:
        return bet_on_thresholds(losses, grid, level, delta, np.inf)
    means = losses.mean(axis=0)
    p_values = hoeffding_bentkus(means, n, level)
    if risk.best:
        passed = p_values <= delta / len(grid)
        if not passed.any():  # holding nothing for certain would not be within the level either
            raise ValueError(
                f"RiskControl: no threshold is shown by {n} calibration rows to have {risk.text} "
                f"of at most {level:g}; the least mean is {means.min():.3g}. More rows or a larger "
                "level help."
            )
        return float(grid[np.argmin(np.where(passed, means, np.inf))])
    last = fixed_sequence(p_values, delta)
    return float(grid[last - 1]) if last else np.inf
