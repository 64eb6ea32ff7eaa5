# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric matrices with negative eigenvalues, made into kernels by their spectrum."""

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.rows import dense
from skstruct.kernels.inputs import check_gram
from skstruct.saving import savable
from skstruct.tolerances import GRAM_DEFINITENESS

REPAIRS = ("clip", "flip", "shift")


@savable
class RepairedKernel(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    r"""A similarity :math:`K = V \Lambda V'` with negative eigenvalues, made into a kernel.

    - ``"clip"``: negative eigenvalues become zero, :math:`V \max(\Lambda, 0) V'`, the nearest
      positive semidefinite matrix. New rows k become :math:`k V 1[\Lambda > 0] V'`.
    - ``"flip"``: their signs are changed, :math:`V |\Lambda| V'`; new rows become
      :math:`k V \mathrm{sign}(\Lambda) V'`. For matrices whose negative part tells something too.
    - ``"shift"``: the lowest is added to the diagonal, :math:`K - \lambda_{min} I`, which keeps all
      similarities of different rows; new rows, which are different, stay as they are.

    Rows of new inputs are transformed like those of training: for ``"clip"`` and ``"flip"``,
    ``transform(K)`` is ``fit_transform(K)``. Put before a learner with ``kernel="precomputed"`` it
    makes a pipeline that takes rows of the similarity.

    Parameters
    ----------
    method : "clip", "flip" or "shift", default="clip"

    Attributes
    ----------
    eigenvalues_ : array (m,), of the matrix given to ``fit``, the lowest first
    negative_share_ : float
        Sum of the sizes of negative eigenvalues over that of all: 0 for a kernel.
    map_ : array (m, m) or None
        What new rows are multiplied with; None for "shift", and where nothing is to be done.

    References
    ----------
    G. Wu, E. Chang, Z. Zhang, "An analysis of transformation on non-positive semidefinite
    similarity matrix for kernel machines", 2005; Y. Chen, E. Garcia, M. Gupta, A. Rahimi, L.
    Cazzanti, "Similarity-based classification: concepts and algorithms", 2009. Appendix A of S.
    Vembu, "Learning to predict combinatorial structures", 2010, asks for embeddings of these.

    Examples
    --------
    >>> similarity = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    >>> repaired = RepairedKernel("clip").fit(similarity)
    >>> repaired.eigenvalues_.round(2)
    array([-0.27,  1.  ,  2.27])
    >>> repaired.transform(similarity).round(2)
    array([[1.07, 0.8 , 0.07],
           [0.8 , 1.14, 0.8 ],
           [0.07, 0.8 , 1.07]])
    """

    def __init__(self, method: str = "clip") -> None:
        self.method = method

    def fit(self, K: Any, y: Any = None) -> Self:
        """Learn from the symmetric matrix K (m, m) of training rows."""
        if self.method not in REPAIRS:
            raise ValueError(f"method is one of {', '.join(REPAIRS)}; got {self.method!r}.")
        K = check_gram(K)
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise ValueError(f"The similarity of rows {i} and {j} is {K[i, j]}, not finite.")
        values, V = eigh((K + K.T) / 2)
        self.n_features_in_ = len(K)
        self.eigenvalues_ = values
        size = np.abs(values)
        total = float(size.sum())
        self.negative_share_ = float(size[values < 0].sum()) / total if total > 0 else 0.0
        # What rounding makes of zero is zero: it would turn rows of kernels about.
        sign = np.where(size <= GRAM_DEFINITENESS * size.max(initial=0.0), 1.0, np.sign(values))
        self.map_ = None
        if self.method != "shift" and (sign < 0).any():
            sign = np.maximum(sign, 0.0) if self.method == "clip" else sign
            self.map_ = (V * sign) @ V.T
        self.shift_ = 0.0
        if self.method == "shift" and (sign < 0).any():
            self.shift_ = -float(values[0])
        return self

    def transform(self, K: Any) -> np.ndarray:
        """Rows of similarities with the training rows, repaired; shape (n, m)."""
        check_is_fitted(self, "eigenvalues_")
        K = np.asarray(dense(K), dtype=np.float64)
        if K.ndim != 2 or K.shape[1] != self.n_features_in_:
            raise ValueError(
                f"Rows have the similarities with {self.n_features_in_} training rows; got an "
                f"array of shape {K.shape}."
            )
        return K.copy() if self.map_ is None else K @ self.map_

    def fit_transform(self, K: Any, y: Any = None) -> np.ndarray:
        """The matrix of training rows, positive semidefinite and symmetric."""
        repaired = self.fit(K).transform(K)
        repaired[np.diag_indices_from(repaired)] += self.shift_
        return (repaired + repaired.T) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True  # folds take rows and columns
        return tags


def repair_kernel(K: Any, method: str = "clip") -> np.ndarray:
    """A symmetric matrix as a positive semidefinite one; see :class:`RepairedKernel`.

    Where there are new rows, keep the object: they have to be transformed alike.

    >>> repair_kernel([[0.0, 1.0], [1.0, 0.0]], "shift")
    array([[1., 1.],
           [1., 1.]])
    """
    return RepairedKernel(method).fit_transform(K)
