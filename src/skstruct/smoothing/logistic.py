# SPDX-License-Identifier: BSD-3-Clause
"""Logistic regressions of many labels at once."""

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from skstruct._arrays.foreign import on_host
from skstruct._arrays.memory import row_blocks
from skstruct._arrays.weights import check_sample_weight
from skstruct.saving import savable

CACHE = "1MB"  # of scores at a time


@savable
class LabelLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""A logistic regression for each of many labels, all of them by the same steps.

    .. math:: \min_{w_j, b_j} \sum_i s_i \log\bigl(1 + e^{-y_{ij} (w_j' x_i + b_j)}\bigr)
              + \frac{|w_j|^2}{2 C}, \quad y_{ij} = \pm 1

    The same minima as those of scikit-learn's ``LogisticRegression`` label by label. Scores and
    gradients of all labels are one product of matrices each, which takes a fifth of the time for a
    hundred labels. A single target, of two or more classes, is left to scikit-learn.

    Parameters
    ----------
    C : float, default=1.0
        One over the penalty.
    tol : float, default=1e-4
        Largest entry of the gradient of the mean loss at the end.
    max_iter : int, default=100

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
    intercept_ : array of shape (n_labels,)
    n_iter_ : int
    single_ : LogisticRegression or None
        That of a single target.

    Examples
    --------
    >>> X, T = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> LabelLogistic().fit(X, T).predict_proba([[1.0], [1.5]]).round(2)
    array([[0.62, 0.38],
           [0.5 , 0.5 ]])
    """

    def __init__(self, C: float = 1.0, *, tol: float = 1e-4, max_iter: int = 100) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to labels ``y`` of shape (n, n_labels), of zeros and ones, or to classes (n,)."""
        X, y = on_host(X), on_host(y)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        weight = check_sample_weight(sample_weight, X)
        self.single_ = None
        if np.ndim(y) == 1:
            single = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_iter)
            self.single_ = single.fit(X, y, None if sample_weight is None else weight)
            self.classes_ = self.single_.classes_
            return self
        T = np.asarray(y, dtype=np.float64)
        self.classes_ = np.array([0, 1])
        start = np.zeros((X.shape[1] + 1, T.shape[1]))
        given = X, T, weight / weight.sum(), 1.0 / (self.C * float(weight.sum()))
        found = minimize(
            _loss_and_gradient, start.ravel(), given, method="L-BFGS-B", jac=True,
            options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.0, "maxls": 50},
        )  # fmt: skip
        W = found.x.reshape(start.shape)
        self.coef_, self.intercept_, self.n_iter_ = W[1:].T.copy(), W[0].copy(), int(found.nit)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of ones, of shape (n, n_labels), or of classes (n, n_classes)."""
        check_is_fitted(self, "single_")
        if self.single_ is not None:
            return self.single_.predict_proba(X)
        X = validate_data(self, on_host(X), accept_sparse="csr", dtype=np.float64, reset=False)
        return expit(X @ self.coef_.T + self.intercept_)

    def predict(self, X: Any) -> np.ndarray:
        """The likelier of zero and one for every label, or the likeliest class."""
        chances = self.predict_proba(X)
        if self.single_ is not None:
            return self.classes_[chances.argmax(axis=1)]
        return (chances > 0.5).astype(np.int64)


def _loss_and_gradient(
    w: np.ndarray, X: Any, T: np.ndarray, share: np.ndarray, shrinkage: float
) -> tuple[float, np.ndarray]:
    """Of the mean over rows, summed over labels; w has the intercepts first, (1 + p, q)."""
    W = w.reshape(-1, T.shape[1])
    gradient, loss = np.zeros(W.shape), 0.0
    for rows in row_blocks(len(T), 8 * T.shape[1], CACHE):
        here, t, s = X[rows], T[rows], share[rows]
        scores = here @ W[1:]
        scores += W[0]
        chances = expit(scores)
        # log(1 + e^m) - t m with no large power of e: max(m, 0) - log max(sigma, 1 - sigma) - t m
        logs = np.log(np.maximum(chances, 1.0 - chances))
        loss += float(s @ (np.maximum(scores, 0.0) - t * scores - logs).sum(axis=1))
        chances -= t
        chances *= s[:, None]
        gradient[0] += chances.sum(axis=0)
        gradient[1:] += here.T @ chances
    gradient[1:] += shrinkage * W[1:]
    return loss + 0.5 * shrinkage * float((W[1:] ** 2).sum()), gradient.ravel()
