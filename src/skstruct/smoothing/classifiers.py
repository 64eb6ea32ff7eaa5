# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means of 0/1 targets: the probabilities that a classifier gives."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skstruct._arrays.foreign import on_host
from skstruct.saving import savable
from skstruct.smoothing.base import SparseRegressor
from skstruct.smoothing.facets import Weighing
from skstruct.smoothing.frozen import FrozenMeans, is_frozen
from skstruct.smoothing.regressors import RegressorMeans


@savable
class ClassifierMeans(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Means of targets that have two values, by ``predict_proba`` of a classifier.

    .. math:: \hat{\mathbf E}[T_j \mid x] = a_j + (b_j - a_j)\, \hat P(T_j = b_j \mid x)

    for columns of the values :math:`a_j < b_j`: 0 and 1 of labels, -1 and 1 of pairs in a ranking.

    :class:`~skstruct.ConditionalRiskMinimizer` takes a classifier as ``smoother`` in this way;
    what ``predict`` of a classifier answers, 0 or 1, is no mean.

    Targets of which every row has a single one, such as indicators of classes, are learned as one
    problem with a class for each column. Others are learned column by column: at once, where
    the classifier takes several targets, else by a copy of it for each. Columns that are constant
    in training are not shown to it, and keep their value.

    Parameters
    ----------
    classifier : classifier of scikit-learn, with ``predict_proba``
        Also a pipeline or a search that ends in one.

    Attributes
    ----------
    classifiers_ : list of fitted classifiers
        One for all targets, or one for each column of ``varying_``.
    varying_ : array of the numbers of columns that are learned
    low_, high_ : arrays with a number for each of these, their two values
    constants_ : array of shape (n_targets,)
        What the other columns are.
    one_of_ : bool
        Whether the columns that are learned are the classes of one problem.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, T = [[0.0], [1.0], [2.0], [3.0]], [[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]]
    >>> ClassifierMeans(LogisticRegression()).fit(X, T).predict([[1.0], [1.5]]).round(2)
    array([[0.62, 0.38, 1.  ],
           [0.5 , 0.5 , 1.  ]])
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets), each column of two values at most."""
        name = type(self.classifier).__name__
        if not hasattr(self.classifier, "predict_proba"):
            raise ValueError(
                f"{name} has no predict_proba, and its answers are no means: give a classifier "
                "that has (SVC(probability=True), CalibratedClassifierCV around one that has "
                "none), or a regressor."
            )
        if sample_weight is not None and not has_fit_parameter(self.classifier, "sample_weight"):
            raise ValueError(f"{name} takes no sample_weight.")
        X, y, sample_weight = on_host(X), on_host(y), on_host(sample_weight)
        T = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self.constants_ = T[0].copy()
        self.varying_ = np.flatnonzero((T[0] != T).any(axis=0))
        T = T[:, self.varying_]
        self.low_, self.high_ = T.min(axis=0, initial=np.inf), T.max(axis=0, initial=-np.inf)
        _check_two_values(T, self.low_, self.high_, name)
        T = (self.low_ != T).astype(np.int64)
        indicators = bool((self.low_ == 0).all() and (self.high_ == 1).all())
        self.one_of_ = indicators and T.shape[1] > 1 and bool((T.sum(axis=1) == 1).all())
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.classifiers_ = [
            _learned(clone(self.classifier).fit(X, t, **weight), t) for t in self._problems(T)
        ]
        return self

    def _problems(self, T: np.ndarray) -> list[np.ndarray]:
        """What is given to a classifier each: classes (n,), or several columns (n, q)."""
        single, several = _targets_taken(self.classifier)
        self.one_of_ = self.one_of_ and single
        if T.shape[1] == 0:
            return []
        if self.one_of_:
            return [T.argmax(axis=1)]
        if several and (T.shape[1] > 1 or not single):
            return [T]
        return list(T.T)

    def predict(self, X: Any) -> np.ndarray:
        """Means of the targets; shape (n, n_targets)."""
        check_is_fitted(self)
        X = on_host(X)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        means = np.tile(self.constants_, (n, 1))
        if len(self.varying_):
            share = self._probabilities(X)
            means[:, self.varying_] = self.low_ + (self.high_ - self.low_) * share
        return means

    def _probabilities(self, X: Any) -> np.ndarray:
        """Probabilities of a one in each of the columns that vary; (n, len(varying_))."""
        answers = [classifier.predict_proba(X) for classifier in self.classifiers_]
        if len(answers) == 1 and isinstance(answers[0], list):  # an array for each column
            answers = answers[0]
        q = len(self.varying_)
        if len(answers) == q and all(np.shape(P)[1:] == (2,) for P in answers):
            return np.column_stack([P[:, 1] for P in answers])
        if len(answers) == 1 and np.shape(answers[0])[1:] == (q,):
            return np.asarray(answers[0])
        shapes = ", ".join(str(np.shape(P)) for P in answers[:3])
        raise ValueError(
            f"predict_proba of {type(self.classifier).__name__} gives shapes {shapes}; expected "
            f"probabilities of {q} " + ("classes." if self.one_of_ else "labels.")
        )


def as_smoother(estimator: Any, names: Any = None) -> Any:
    """What gives conditional means: a classifier by its probabilities, a smoother of this library
    as it is.

    Parameters
    ----------
    estimator : classifier, regressor or smoother
    names : sequence, default=None
        Of the first targets, which an estimator that was fitted before must have.
    """
    if is_frozen(estimator):
        return FrozenMeans(estimator, names)
    if _is_classifier(estimator):
        return ClassifierMeans(estimator)
    own = isinstance(estimator, (SparseRegressor, ClassifierMeans, FrozenMeans, RegressorMeans))
    return estimator if own or Weighing.of(estimator).is_linear else RegressorMeans(estimator)


def classifies(smoother: Any) -> bool:
    """Whether means are the probabilities of a classifier: of one as it is, or wrapped in here."""
    if _is_classifier(smoother):
        return True
    if not isinstance(smoother, (SparseRegressor, ClassifierMeans)):
        return False
    return any(classifies(part) for part in smoother.get_params(deep=False).values())


def _is_classifier(estimator: Any) -> Any:
    try:
        return is_classifier(estimator)
    except (AttributeError, TypeError):  # no estimator of scikit-learn: taken as it is
        return False


def _learned(classifier: Any, targets: np.ndarray) -> Any:
    """A classifier, unless its classes say that it has learned something else before."""
    classes: Any = getattr(classifier, "classes_", None)
    given = np.unique(targets)
    named = targets.ndim == 1 and isinstance(classes, np.ndarray)
    if named and not np.array_equal(classes, given):
        name = type(classifier).__name__
        raise ValueError(
            f"{name} has the classes {classes.tolist()} where it was given {given.tolist()}: "
            f"of one that was fitted before, give smoother=FrozenEstimator({name}(...))."
        )
    return classifier


def _targets_taken(classifier: Any) -> tuple[bool, bool]:
    """Whether a classifier takes targets (n,), and targets (n, q) at once."""
    while True:  # searches have tags of their own, and pass targets on
        if hasattr(classifier, "steps"):
            classifier = classifier.steps[-1][1]
        elif hasattr(classifier, "estimator") and hasattr(classifier, "refit"):
            classifier = classifier.estimator
        else:
            break
    tags = get_tags(classifier)
    several = tags.target_tags.multi_output
    if tags.classifier_tags is not None:
        several = several or tags.classifier_tags.multi_label
    return tags.target_tags.single_output, several


def _check_two_values(T: np.ndarray, low: np.ndarray, high: np.ndarray, name: str) -> None:
    """Raise where targets are neither the one nor the other."""
    rows, columns = np.nonzero((low != T) & (high != T))
    if len(rows):
        raise ValueError(
            f"{name} gives probabilities, which are means of targets of two values (classes, "
            f"label sets and others that are embedded by indicators); row {rows[0]} has the "
            f"target {T[rows[0], columns[0]]:g}. Give a regressor of several targets as smoother, "
            "such as RandomForestRegressor() or skstruct's KernelRidge(), Neighbors(), Forest()."
        )
