# SPDX-License-Identifier: BSD-3-Clause
"""Constraint classification: label ranking as one linear binary classifier."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import clone

from skstruct._arrays.progress import working
from skstruct.learners.label_ranker import LinearLabelRanker, weight_argument
from skstruct.learners.reductions import KeslerReduction


class ConstraintClassification(LinearLabelRanker):
    r"""Rank items by linear scores, learned by one binary classifier.

    Every pair of items that a row x orders, p before q, becomes the example
    :math:`x \otimes (e_p - e_q)` of class +1 and its negative of class -1 (Kesler's
    construction) [1]_ [2]_. A linear classifier that is right on it has
    :math:`\langle w_p, x \rangle > \langle w_q, x \rangle` for the chunks of its weights.

    Parameters
    ----------
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
    space : Rankings, default=None
    random_state : int or RandomState, default=None
        Draws the pairs.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, p) and (d,)
    estimator_ : the fitted classifier; None when there is nothing to order
    n_expanded_ : int, the number of rows it was fitted to
    space_, outputs_, reduction_ : see :class:`~skstruct.learners.label_ranker.LabelRanker`

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

    verbose = 0  # of models that were saved before there was a choice

    def __init__(
        self, estimator=None, *, fit_intercept=True, max_pairs=None, space=None,
        random_state=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.fit_intercept = fit_intercept
        self.max_pairs = max_pairs
        self.space = space
        self.random_state = random_state
        self.verbose = verbose

    def _reduction(self, space):
        if self.max_pairs is not None and not (
            isinstance(self.max_pairs, Integral) and self.max_pairs >= 1
        ):
            raise ValueError(f"max_pairs is a whole number from 1; got {self.max_pairs!r}.")
        return KeslerReduction(space, self.max_pairs, self.random_state)

    def _reduced(self, X, outputs):
        return self.reduction_.apply_with_rows(X, outputs)

    def _learn(self, reduced, weight):
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

    def _classifier(self):
        if self.estimator is None:
            from sklearn.linear_model import LogisticRegression  # slow to import

            return LogisticRegression(fit_intercept=False, max_iter=1000)
        estimator = clone(self.estimator)
        if "fit_intercept" in estimator.get_params(deep=False):
            estimator.set_params(fit_intercept=False)
        return estimator
