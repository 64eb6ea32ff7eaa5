# SPDX-License-Identifier: BSD-3-Clause
"""Sparse weights: the few largest of another smoother's, and how many of them."""

import copy
from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.progress import reported
from skstruct._arrays.weights import check_sample_weight
from skstruct.config import Configured
from skstruct.saving import savable
from skstruct.smoothing.base import WeightedMean
from skstruct.smoothing.facets import Learning, LeavingOut, Penalties, Weighing, WeighingOfRows
from skstruct.smoothing.kernel_ridge import KernelRidge
from skstruct.smoothing.penalties import (
    alpha_grid,
    open_to_any,
    smoother_alphas,
    squared_error,
)
from skstruct.smoothing.planning import EXACT_ROWS

NUMBERS = (1000, 300, 100, 50, 30, 20, 10, 5, 3, 2, 1)  # of weights that "auto" compares


@savable
class LargestWeights(Configured, WeightedMean):
    r"""The mean of the training targets of largest weight under another smoother.

    .. math:: w^k_i(x) = \frac{m_i(x)\, w_i(x)}{\sum_j m_j(x)\, w_j(x)}

    with :math:`m_i` one for the k largest positive weights of the smoother, of equal ones the
    first, and zero for all others. Where a kernel has a tiny value for nearly every pair of inputs,
    as those of strings have, thousands of tiny weights together outvote the few rows that tell
    something; this leaves them out. The weights are probabilities, whatever the smoother's are.
    Where none is positive, all training rows count alike.

    Parameters
    ----------
    smoother : smoother, default=None
        A linear one of this module; None is :class:`KernelRidge(alpha="auto") <KernelRidge>`. Its
        alpha may be several or ``"auto"``, and is then chosen together with the number of weights.
    n_weights : int, None, several or "auto", default="auto"
        k. None is all weights as they are, negative ones too. ``"auto"`` compares these with one
        to 1,000 weights. Of several the best one on left-out rows is taken: by the squared
        error of the targets, and within :class:`~skstruct.ConditionalRiskMinimizer` by its loss.

    Attributes
    ----------
    smoother_ : the fitted smoother
    n_weights_ : int or None, the number of weights
    alpha_ : float or None, the penalty of the smoother

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> from skstruct.smoothing import KernelRidge
    >>> X, T = [[0.0], [1.0], [2.0], [9.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = LargestWeights(KernelRidge(RBF(0.5), alpha=0.1), n_weights=2).fit(X, T)
    >>> model.weights([[1.6]]).toarray().round(2)
    array([[0.  , 0.45, 0.55, 0.  ]])
    >>> model.predict([[1.6]]).round(2)
    array([[0.45, 0.55]])
    """

    smoother_: Any = None
    n_weights_: int | None

    def __init__(self, smoother: Any = None, n_weights: Any = "auto") -> None:
        self.smoother = smoother
        self.n_weights = n_weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.given.__sklearn_tags__().input_tags.pairwise
        return tags

    @property
    def given(self) -> Any:
        """The smoother that was given, or the one that stands for None."""
        return KernelRidge(alpha="auto") if self.smoother is None else self.smoother

    @property
    def alpha_(self) -> Any:
        """The penalty of the smoother within; None where it has none."""
        return Penalties.of(self.smoother_).given

    @property
    def kernel_(self) -> Any:
        """The kernel of the smoother within, with its parameters settled."""
        return self.smoother_.kernel_

    # ------------------------------------------------------------------ fitting
    @reported
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,).

        Parameters
        ----------
        groups : array of shape (n,), default=None
            Rows of the same group are left out together when the number of weights is chosen.
        """
        self.open(X, y, sample_weight)
        if self.is_settled or len(self.targets_) == 1:
            return self.settled(*self.first)
        best: tuple[float, Any, Any] | None = None
        for alpha, number, left in self.trials(groups):
            T = self.targets_.reshape(len(left), -1)
            error = squared_error(left.reshape(T.shape), T, self.sample_weight_)
            if best is None or error < best[0]:
                best = error, alpha, number
        assert best is not None
        return self.settled(*best[1:])

    def open(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the smoother, with its penalty and the number of weights left open."""
        X, y = self._read(X, y)
        self.sample_weight_ = check_sample_weight(sample_weight, X)
        self.targets_ = np.asarray(y, dtype=np.float64)
        self.numbers_ = self._numbers()
        smoother = clone(self.given)
        if not Weighing.of(smoother).is_linear:
            raise ValueError(
                "LargestWeights takes a smoother whose predictions are weights times targets; got "
                f"{smoother!r}."
            )
        alpha: Any = Penalties.of(smoother).given
        searched = isinstance(alpha, str) or np.ndim(alpha) > 0
        if searched:
            smoother = open_to_any(smoother)
        given = {} if sample_weight is None else {"sample_weight": self.sample_weight_}
        self.smoother_ = smoother.fit(X, y, **given)
        self.alphas_ = None
        if searched:
            step = 3 if isinstance(alpha, str) else 1  # one for each power of ten
            self.alphas_ = alpha_grid(alpha, lambda: smoother_alphas(self.smoother_)[::step])
        self.X_fit_ = X
        return self

    @property
    def is_settled(self) -> bool:
        """Whether there is one number of weights, and one penalty."""
        return len(self.numbers_) == 1 and (self.alphas_ is None or len(self.alphas_) == 1)

    @property
    def first(self) -> tuple[Any, int | None]:
        """The penalty and the number of weights that are tried first: the largest ones."""
        return None if self.alphas_ is None else self.alphas_[0], self.numbers_[0]

    def _numbers(self) -> list[int | None]:
        """The numbers of weights to compare, all of them first, then the larger ones."""
        if isinstance(self.n_weights, str) and self.n_weights == "auto":
            return [None, *(k for k in NUMBERS if k < len(self.targets_))]
        several = isinstance(self.n_weights, (list, tuple, np.ndarray))
        given = list(self.n_weights) if several else [self.n_weights]
        for k in given:
            if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
                raise ValueError(
                    'n_weights is a whole number of at least 1, several, None for all, or "auto"; '
                    f"got {self.n_weights!r}."
                )
        if not given:
            raise ValueError("n_weights: nothing to try; got an empty list.")
        whole = {int(k) for k in given if k is not None}
        return [None] * (None in given) + sorted(whole, reverse=True)

    def settled(self, alpha: Any, number: int | None) -> Self:
        """With a penalty and a number of weights that were among the trials."""
        if self.alphas_ is not None:
            self.smoother_ = self.smoother_.with_alpha(alpha)
        self.n_weights_ = number
        return self

    # ------------------------------------------------------------------ leaving out
    def trials(self, groups: Any = None) -> Iterator[tuple[Any, int | None, np.ndarray]]:
        """Penalty, number of weights and left-out means, one after another.

        The weights for a row without itself are the left-out means of the identity; the matrix of
        them is computed once for each penalty.
        """
        n = len(self.targets_)
        if n > EXACT_ROWS:
            raise ValueError(
                f"LargestWeights compares numbers of weights on up to {EXACT_ROWS:,} rows; got "
                f"{n:,}. Give n_weights and alpha as single numbers."
            )
        groups = self._group_numbers(groups)
        alphas: Any = [None] if self.alphas_ is None else self.alphas_.tolist()
        if self.alphas_ is None:
            paths: Any = [self._left_out_matrix(groups)]
        else:
            # In the spectral solver groups of single rows cost more than no groups.
            given = None if len(np.unique(groups)) == n else groups
            of_units = self.smoother_.with_targets(np.eye(n))
            paths = Penalties.of(of_units).left_out(alphas, given)
        for alpha, W in zip(alphas, paths):
            # Zero but for rounding, and no weight of a row that is left out.
            W[groups[:, None] == groups] = 0.0
            sparse_rows = self._ordered(W, max((k for k in self.numbers_ if k), default=0))
            for number in self.numbers_:
                weights = W if number is None else self._scaled(*sparse_rows, number, groups)
                yield alpha, number, weights @ self.targets_

    def _left_out_matrix(self, groups: np.ndarray) -> np.ndarray:
        """Weights of the smoother for training rows without their groups; (n, n), dense."""
        return _dense(LeavingOut.of(self.smoother_).weights(groups))

    def left_out_weights(self, groups: Any = None) -> Any:
        """Weights for the training rows, none on a row's own group; (n_fitted, n_fitted)."""
        groups = self._group_numbers(groups)
        W = self._left_out_matrix(groups)
        W[groups[:, None] == groups] = 0.0
        if self.n_weights_ is None:
            return W
        return self._scaled(*self._ordered(W, self.n_weights_), self.n_weights_, groups)

    def loo(self, groups: Any = None) -> np.ndarray:
        """Predictions for the training rows, each (or its whole group) left out."""
        return np.asarray(self.left_out_weights(groups) @ self.targets_)

    def with_targets(self, targets: Any) -> Any:
        """The same weights, applied to other targets."""
        other = super().with_targets(targets)
        other.smoother_ = copy.copy(self.smoother_)
        return other

    # ------------------------------------------------------------------ predicting
    def _weigh(self, X: Any, own: np.ndarray | None = None, groups: Any = None) -> Any:
        if self.n_weights_ is None:
            return self.smoother_.weights(X)
        blocks = row_blocks(X.shape[0], 24 * len(self.targets_), self.memory)
        found = [self._scaled(*self._ordered(_dense(self.smoother_.weights(X[rows])),
                 self.n_weights_), self.n_weights_) for rows in blocks]  # fmt: skip
        return sparse.csr_array(sparse.vstack(found))

    def _ordered(self, W: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns of the largest entries of each row, and these; both of shape (n, most)."""
        most = min(most, W.shape[1])
        columns = np.empty((len(W), most), dtype=np.int64)
        for rows in row_blocks(len(W), 24 * W.shape[1], self.memory):
            columns[rows] = np.argsort(-W[rows], axis=1, kind="stable")[:, :most]
        return columns, np.take_along_axis(W, columns, axis=1)

    def _scaled(self, columns: Any, values: Any, number: int, groups: Any = None) -> Any:
        """The first of ordered weights, scaled to the sum of one; a sparse array."""
        n = len(self.targets_)
        kept = np.maximum(values[:, :number], 0.0)
        total = kept.sum(axis=1)
        found = np.flatnonzero(total > 0)
        kept[found] /= total[found, None]
        rows, places = np.nonzero(kept)
        none = np.flatnonzero(total <= 0)
        alike = np.tile(self.sample_weight_, (len(none), 1))
        if groups is not None:
            alike[groups[none][:, None] == groups] = 0.0
        alike /= alike.sum(axis=1, keepdims=True)
        more, of_all = np.nonzero(alike)
        entries = np.concatenate([kept[rows, places], alike[more, of_all]])
        where = (np.concatenate([rows, none[more]]),
                 np.concatenate([columns[rows, places], of_all]))  # fmt: skip
        return sparse.csr_array((entries, where), shape=(len(kept), n))


def _dense(W: Any) -> np.ndarray:
    return np.array(W.toarray() if sparse.issparse(W) else W, dtype=np.float64)


class WeighingOfLargest(WeighingOfRows):
    """The largest weights of another smoother."""

    __slots__ = ()

    @property
    def is_linear(self) -> bool:
        """Whether the smoother within is linear."""
        return Weighing.of(Learning.of(self.smoother).within).is_linear


class LearningOfLargest(Learning):
    """By the kernel of the smoother within."""

    __slots__ = ()
    chooses_weights = True

    @property
    def within(self) -> Any:
        smoother = self.smoother
        return smoother.given if smoother.smoother_ is None else smoother.smoother_

    @property
    def gamma(self) -> Any:
        return Learning.of(self.within).gamma


Learning.at(LargestWeights, LearningOfLargest)
Weighing.at(LargestWeights, WeighingOfLargest)
