# SPDX-License-Identifier: BSD-3-Clause
"""Sets that hold the output of a new row with a probability that is given."""

from typing import Any, Self

import numpy as np

from skstruct.conformal.calibration import ROWS, Calibrated, row_index
from skstruct.conformal.levels import risk_curve
from skstruct.conformal.sets import SetRule, rule_for
from skstruct.saving import savable


@savable
class PredictionSets(Calibrated):
    r"""Sets of outputs of a fitted learner that hold the true one with probability 1 - level.

    An output y is in the set of x when it is not stranger than most calibration rows were,

    .. math:: C(x) = \{y : s(x, y) \le \hat t\},
              \qquad P(y \in C(x)) \ge 1 - \mathrm{level},

    with :math:`\hat t` the :math:`\lceil (1 - \mathrm{level})(n + 1) \rceil`-th smallest score of n
    calibration rows [1]_. Intervals for quantities, boxes for several; sets of classes; ranges of
    levels; and sets of whole label sets, hierarchies, rankings and sequences by the gap between
    the costs of an output and of the best one. The latter grow with the number of parts that are
    not sure: for noisy label sets they are large, and :class:`RiskControl` says more.

    Parameters
    ----------
    learner : fitted learner
        With ``predict`` for quantities, ``predict_marginals`` for all others.
    level : float, default=0.1
        The largest probability that the output is not in the set.
    score : str, default="auto"
        Of quantities ``"absolute"`` residuals, ``"normalized"`` by the square root of
        ``predict_risk``, or how far outside of the ``"interval"`` of ``predict_interval``; of
        classes and levels ``"lac"`` (one minus the probability) or ``"aps"`` (the probability of
        all that are at least as likely); of others ``"gap"``. The first of these when "auto".
    nonempty : bool, default=False
        Whether the most likely output is in every set; of no effect for quantities.
    most : int, default=100
        How many whole outputs of a set ``predict`` lists.

    Attributes
    ----------
    thresholds_ : array
        The largest score in a set; one for each group.
    vacuous_ : list of bool
        Per group: whether the level cannot be met, so that sets hold all outputs.
    groups_ : list or None
    promise_ : str
    n_calibration_, n_left_out_ : int
        Calibration rows, and those that were left out since parts are missing.

    References
    ----------
    .. [1] H. Papadopoulos, K. Proedrou, V. Vovk and A. Gammerman, "Inductive confidence machines
       for regression", 2002.

    Examples
    --------
    >>> from skstruct import ExponentialFamily
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, "up", "down")
    >>> learner = ExponentialFamily().fit(X[:100], y[:100])
    >>> sets = PredictionSets(learner, level=0.1).calibrate(X[100:], y[100:])
    >>> [tuple(map(str, names)) for names in sets.predict([[2.0], [0.1]])]
    [('up',), ('down', 'up')]
    >>> sets.includes([[2.0], [0.1]], ["down", "down"])
    array([False,  True])
    """

    def __init__(
        self,
        learner: Any,
        level: float = 0.1,
        *,
        score: str = "auto",
        nonempty: bool = False,
        most: int = 100,
    ) -> None:
        self.learner = learner
        self.level = level
        self.score = score
        self.nonempty = nonempty
        self.most = most

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
        level, rule = self._check_level(), self._rule()
        given = X, y, groups, sample_weight
        X, Z, groups, sample_weight = self._whole_rows(*given)
        rows = self._read_rows(len(Z), groups, sample_weight)
        scores = rule.scores(rule.read(X), Z)
        _check_scores(scores)
        self._keep_groups(rows, groups, sample_weight)
        self.curves_ = [
            risk_curve(scores[numbers], np.ones(len(numbers)), rows.weights[numbers])
            for _, numbers in rows.by_group()
        ]
        self.thresholds_ = np.array([float(curve.threshold(level)) for curve in self.curves_])
        self._warn_vacuous(rows, np.inf, "sets hold all outputs.")
        self.promise_ = self._promise() + self._left_out()
        return self

    def predict(self, X: Any, *, groups: Any = None, weights: Any = None) -> Any:
        """The sets of new rows.

        Parameters
        ----------
        X : inputs
        groups : sequence of length n, default=None
            Known groups, where calibration had some.
        weights : array of shape (n,), default=None
            Ratios of densities, where calibration had ``sample_weight``.

        Returns
        -------
        sets : Intervals, list of tuples of names, or OutputSets
        """
        rule, known, thresholds = self._opened(X, groups, weights)
        return rule.sets(known, thresholds, self.most, row_index(X))

    def includes(self, X: Any, y: Any, *, groups: Any = None, weights: Any = None) -> np.ndarray:
        """Whether outputs are in the sets of their rows; bool array of shape (n,)."""
        rule, known, thresholds = self._opened(X, groups, weights)
        return rule.scores(known, self.learner.space_.validate(y)) <= thresholds

    def count(
        self, X: Any, *, most: int = 1000, groups: Any = None, weights: Any = None
    ) -> np.ndarray:
        """How many outputs the sets of new rows hold, ``most`` where they hold more; (n,)."""
        rule, known, thresholds = self._opened(X, groups, weights)
        return rule.counts(known, thresholds, most)

    def _rule(self) -> SetRule:
        self._space()
        return rule_for(self.learner, self.score, self.nonempty)

    def _opened(self, X: Any, groups: Any, weights: Any) -> tuple[SetRule, Any, np.ndarray]:
        """The rule, what it needs of inputs, and the thresholds of the rows."""
        self._check_calibrated()
        rule = self._rule()
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return rule, rule.read(X), self._row_thresholds(n, groups, weights)

    def _promise(self) -> str:
        within = "" if self.groups_ is None else " within each group"
        shift = ", weighted by the given ratios of densities" if self.weighted_ else ""
        return (
            f"The output of a new row is in its set with probability at least {1 - self.level:g} "
            f"over calibration and new rows{within}. {ROWS}{shift}; it holds on average over "
            "inputs and not for each of them."
        )


def _check_scores(scores: np.ndarray) -> None:
    lost = np.flatnonzero(np.isnan(scores))
    if len(lost):
        raise ValueError(
            f"PredictionSets: the score of calibration row {lost[0]} is NaN; its prediction or its "
            "output is not a number."
        )
