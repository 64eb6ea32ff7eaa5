# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking by binary classifiers: one for every pair of items (ranking by pairwise
comparison), or one for all of them (constraint classification).
"""

from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import logit
from sklearn.base import clone

from skstruct._arrays.progress import track, working
from skstruct.fitted import Fitted
from skstruct.learners.label_ranking.base import LabelRanker, LinearLabelRanker, weight_argument
from skstruct.learners.label_ranking.reductions import KeslerReduction, PairwiseReduction, votes
from skstruct.saving import savable
from skstruct.spaces.solvers.linear_ordering import pair_numbers


@savable
class PairwiseComparison(LabelRanker):
    r"""Rank items by the probabilities that each one beats each other one.

    A classifier :math:`M_{pq}` for every pair p < q estimates the probability that p comes before
    q, from the rows that order the pair [1]_ [2]_:

    .. math:: R_{pq} = M_{pq} \;(p < q), \qquad R_{pq} = 1 - M_{qp} \;(p > q)

    "votes" sorts the items by :math:`\sum_{q \ne p} R_{pq}`, which minimizes the expected
    squared difference of ranks if the probabilities are right; "kendall" takes the order with the
    least expected number of pairs in the wrong order, exactly for up to 20 items.

    Parameters
    ----------
    space : Rankings, default=None
    estimator : classifier, default=None
        Logistic regression when None. Without ``predict_proba`` its decisions, 0 or 1,
        stand for probabilities.
    aggregate : "votes" or "kendall", default="votes"
    n_jobs : int, default=None
        Processes that fit the classifiers.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    ``predict_marginals`` tells :math:`R`; after ``calibrate``, probabilities by the votes.

    Attributes
    ----------
    estimators_ : list of d (d - 1) / 2 classifiers, pairs (0, 1), (0, 2), ... in order
        A pair that m rows order, all the same way, has a number instead: the probability
        (k + 1) / (m + 2) of Laplace's rule with k = 0 or m, and 1/2 when m = 0; m is the
        sum of their weights.
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`

    References
    ----------
    .. [1] E. Hüllermeier, J. Fürnkranz, W. Cheng, K. Brinker, "Label ranking by learning
       pairwise preferences", Artificial Intelligence 172, 2008.
    .. [2] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.2, where
       the second case is printed with :math:`M_{pq}`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [["tea", "rum"], ["tea", "rum"], ["rum", "tea"], ["rum", "tea"]]
    >>> model = PairwiseComparison().fit(X, y)
    >>> model.predict([[0.5]])[0]
    ['tea', 'rum']
    >>> model.predict_pairs([[1.5]])[0].round(3)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """

    def __init__(
        self,
        space: Any = None,
        *,
        estimator: Any = None,
        aggregate: str = "votes",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.space = space
        self.estimator = estimator
        self.aggregate = aggregate
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _reduction(self, space: Any) -> Any:
        if self.aggregate not in ("votes", "kendall"):
            raise ValueError(f'aggregate is "votes" or "kendall"; got {self.aggregate!r}.')
        return PairwiseReduction(space, self.aggregate)

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        estimator = self.estimator
        if estimator is None:
            from sklearn.linear_model import LogisticRegression  # slow to import

            estimator = LogisticRegression(max_iter=1000)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fitted)(estimator, examples, weight[examples.rows])
            for examples in track(reduced, "pairs", self.verbose)
        )

    def _answers(self, X: Any) -> np.ndarray:
        d = self.outputs_.shape[1]
        R = np.zeros((X.shape[0], d, d))
        for p, q, estimator in zip(*pair_numbers(d), self.estimators_):
            R[:, p, q] = _probabilities(estimator, X)
            R[:, q, p] = 1.0 - R[:, p, q]
        return R

    def _scores(self, X: Any) -> Any:
        return votes(self._answers(X))

    temperature_: Any = None  # of votes; until it is learned, the classifiers tell of pairs

    def _check_calibrated(self) -> None:
        if self.temperature_ is None and not all(map(_has_probabilities, self.estimators_)):
            raise ValueError(
                f"{type(self.estimator).__name__} decides each pair, and has no probabilities: "
                "call calibrate(X, y) with rows that it was not fitted to."
            )

    def _log_odds(self, X: Any) -> np.ndarray:
        if self.temperature_ is not None:
            return super()._log_odds(X)
        R = self._answers(X)
        items = np.arange(R.shape[1])
        R[:, items, items] = 0.5
        return logit(R)

    def predict_pairs(self, X: Any) -> np.ndarray:
        """Probabilities that item p comes before item q, [i, p, q]; zero for p = q."""
        X, _ = self._checked(X)
        return self._answers(X)


def _fitted(estimator: Any, examples: Any, weight: np.ndarray) -> Any:
    """A fitted classifier, or the probability of a pair that is always ordered the same way."""
    if examples.before.min(initial=1) == examples.before.max(initial=0) or not len(weight):
        m, k = float(weight.sum()), float(weight @ examples.before)
        return (k + 1) / (m + 2)
    given = weight_argument(estimator, weight)
    return clone(estimator).fit(examples.inputs, examples.before, **given)


def _has_probabilities(estimator: Any) -> bool:
    return isinstance(estimator, float) or hasattr(estimator, "predict_proba")


def _probabilities(estimator: Any, X: Any) -> Any:
    if isinstance(estimator, float):
        return estimator
    if not _has_probabilities(estimator):
        return estimator.predict(X)
    return estimator.predict_proba(X)[:, 1]


@savable
class ConstraintClassification(LinearLabelRanker):
    r"""Rank items by linear scores, learned by one binary classifier.

    Every pair of items that a row x orders, p before q, becomes the example
    :math:`x \otimes (e_p - e_q)` of class +1 and its negative of class -1 (Kesler's
    construction) [1]_ [2]_. A linear classifier that is right on it has
    :math:`\langle w_p, x \rangle > \langle w_q, x \rangle` for the chunks of its weights.

    Parameters
    ----------
    space : Rankings, default=None
    estimator : linear classifier, default=None
        With ``coef_`` after fitting, and for sparse inputs. Logistic regression when None.
        Its own intercept is zero by symmetry, and is turned off where it can be.
    fit_intercept : bool, default=True
        Score :math:`\langle w_j, x \rangle + b_j`, by a constant feature: the intercepts
        are penalized like the weights.
    max_pairs : int, default=None
        Of more preferences than that in all rows together, so many are drawn. n total
        orders of d items have n d (d - 1) / 2; each takes two rows of the expanded matrix
        and 4 (p + 1) numbers there.
    random_state : int or RandomState, default=None
        Draws the pairs.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, p) and (d,)
    estimator_ : the fitted classifier; None when there is nothing to order
    n_expanded_ : int, the number of rows it was fitted to
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranking.base.LabelRanker`

    References
    ----------
    .. [1] S. Har-Peled, D. Roth, D. Zimak, "Constraint classification: a new approach to
       multiclass classification and ranking", NIPS 2002.
    .. [2] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.2; the
       examples printed there say nothing of which of the two items is better.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> model = ConstraintClassification().fit(X, y)
    >>> model.predict([[0.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    >>> model.n_expanded_
    24
    """

    def __init__(
        self,
        space: Any = None,
        *,
        estimator: Any = None,
        max_pairs: int | None = None,
        fit_intercept: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.space = space
        self.estimator = estimator
        self.max_pairs = max_pairs
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.random_state = random_state

    def _reduction(self, space: Any) -> Any:
        if self.max_pairs is not None and not (
            isinstance(self.max_pairs, Integral) and self.max_pairs >= 1
        ):
            raise ValueError(f"max_pairs is a whole number from 1; got {self.max_pairs!r}.")
        return KeslerReduction(space, self.max_pairs, self.random_state)

    def _reduced(self, X: Any, outputs: np.ndarray) -> Any:
        return self.reduction_.apply_with_rows(X, outputs)

    def _learn(self, reduced: Any, weight: np.ndarray) -> None:
        examples, classes, rows = reduced
        self.n_expanded_, d = len(classes), self.outputs_.shape[1]
        self.estimator_, weights = None, np.zeros(examples.shape[1])
        if self.n_expanded_:
            classifier = self._classifier()
            given, name = weight_argument(classifier, weight[rows]), type(classifier).__name__
            with working(f"fitting {name} to {self.n_expanded_:,} rows"):
                self.estimator_ = classifier.fit(examples, classes, **given)
            if not hasattr(self.estimator_, "coef_"):
                raise ValueError(
                    "ConstraintClassification needs a linear classifier with coef_; "
                    f"{type(self.estimator_).__name__} has none."
                )
            weights = np.asarray(self.estimator_.coef_, dtype=np.float64)
        self._keep(weights.reshape(d, -1))  # chunk j scores item j

    def _classifier(self) -> Any:
        if self.estimator is None:
            from sklearn.linear_model import LogisticRegression  # slow to import

            return LogisticRegression(fit_intercept=False, max_iter=1000)
        estimator = clone(self.estimator)
        if "fit_intercept" in estimator.get_params(deep=False):
            estimator.set_params(fit_intercept=False)
        return estimator


Fitted.at(PairwiseComparison, Fitted)  # classifiers of pairs may have probabilities
