# SPDX-License-Identifier: BSD-3-Clause
"""Ranking by pairwise comparison: one classifier for every pair of items."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from skstruct._arrays.progress import track
from skstruct.decoding.linear_ordering import pair_numbers
from skstruct.learners.label_ranker import LabelRanker, weight_argument
from skstruct.learners.reductions import PairwiseReduction, votes


class PairwiseComparison(LabelRanker):
    r"""Rank items by the chances that each one beats each other one.

    A classifier :math:`M_{pq}` for every pair p < q estimates the chance that p comes before
    q, from the rows that order the pair [1]_ [2]_:

    .. math:: R_{pq} = M_{pq} \;(p < q), \qquad R_{pq} = 1 - M_{qp} \;(p > q)

    "votes" sorts the items by :math:`\sum_{q \ne p} R_{pq}`, which minimizes the expected
    squared difference of ranks if the chances are right; "kendall" takes the order with the
    least expected number of pairs in the wrong order, exactly for up to 20 items.

    Parameters
    ----------
    estimator : classifier, default=None
        Logistic regression when None. Without ``predict_proba`` its decisions, 0 or 1,
        stand for chances.
    aggregate : "votes" or "kendall", default="votes"
    n_jobs : int, default=None
        Processes that fit the classifiers.
    space : Rankings, default=None
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    estimators_ : list of d (d - 1) / 2 classifiers, pairs (0, 1), (0, 2), ... in order
        A pair that m rows order, all the same way, has a number instead: the chance
        (k + 1) / (m + 2) of Laplace's rule with k = 0 or m, and 1/2 when m = 0; m is the
        sum of their weights.
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranker.LabelRanker`

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

    def __init__(self, estimator=None, *, aggregate="votes", n_jobs=None, space=None, verbose=0):
        self.estimator = estimator
        self.aggregate = aggregate
        self.n_jobs = n_jobs
        self.space = space
        self.verbose = verbose

    def _reduction(self, space):
        if self.aggregate not in ("votes", "kendall"):
            raise ValueError(f'aggregate is "votes" or "kendall"; got {self.aggregate!r}.')
        return PairwiseReduction(space, self.aggregate)

    def _learn(self, reduced, weight):
        estimator = self.estimator
        if estimator is None:
            from sklearn.linear_model import LogisticRegression  # slow to import

            estimator = LogisticRegression(max_iter=1000)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fitted)(estimator, examples, weight[examples.rows])
            for examples in track(reduced, "pairs", self.verbose)
        )

    def _answers(self, X):
        d = self.outputs_.shape[1]
        R = np.zeros((X.shape[0], d, d))
        for p, q, estimator in zip(*pair_numbers(d), self.estimators_):
            R[:, p, q] = _chances(estimator, X)
            R[:, q, p] = 1.0 - R[:, p, q]
        return R

    def _scores(self, X):
        return votes(self._answers(X))

    def predict_pairs(self, X):
        """Chances that item p comes before item q, [i, p, q]; zero for p = q."""
        X, _ = self._checked(X)
        return self._answers(X)


def _fitted(estimator, examples, weight):
    """A fitted classifier, or the probability of a pair that is always ordered the same way."""
    if examples.before.min(initial=1) == examples.before.max(initial=0) or not len(weight):
        m, k = float(weight.sum()), float(weight @ examples.before)
        return (k + 1) / (m + 2)
    given = weight_argument(estimator, weight)
    return clone(estimator).fit(examples.inputs, examples.before, **given)


def _chances(estimator, X):
    if isinstance(estimator, float):
        return estimator
    if not hasattr(estimator, "predict_proba"):
        return estimator.predict(X)
    return estimator.predict_proba(X)[:, 1]
