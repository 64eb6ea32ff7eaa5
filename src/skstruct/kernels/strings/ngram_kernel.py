# SPDX-License-Identifier: BSD-3-Clause
"""What kernels on n-grams share: sparse features, their products, and normalization."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.blocks import row_blocks
from skstruct._arrays.whole import all_or_nothing
from skstruct.kernels.strings.ngrams import NGrams
from skstruct.kernels.strings.stacked import Stacked, joined, stack

MEMORY = "64MB"  # of intermediate results
DENSE_GAIN = 64.0  # how many times as many multiplications a dense product does per second


class NGramKernel(TransformerMixin, BaseEstimator):
    """What kernels on n-grams share: features, their products, and normalization.

    A subclass has ``n``, ``normalize`` and ``_parts()``: the length of n-grams, the weight, and
    the values at consecutive places (none: places do not matter) of each group of features.
    """

    @all_or_nothing
    def fit(self, X, y=None):
        """Learn the n-grams of the strings ``X``; ``y`` is ignored."""
        strings = self._stack(X)
        self.tokens_ = strings.tokens
        self.vocabularies_ = [NGrams(m, strings, len(values)) for m, _, values in self._parts()]
        self._n_features_out = sum(part.n_columns for part in self.vocabularies_)
        return self

    def transform(self, X) -> sparse.csr_array:
        """Features of shape (n, n_features): their products with those of ``fit`` are the kernel.

        N-grams that ``fit`` has not seen have no column, but count in the norm.
        """
        check_is_fitted(self)
        strings = self._stack(X)
        features, complete = self._features(strings.renumbered(self.tokens_))
        if self.normalize:
            squares = _squares(features) if complete else self._diagonal(strings)
            norms = np.sqrt(squares)
            np.divide(1.0, norms, out=norms, where=norms > 0)
            features.data *= np.repeat(norms, np.diff(features.indptr))
        return features

    def __call__(self, A, B=None) -> np.ndarray:
        """Kernel matrix of shape (n_a, n_b); needs no fit."""
        left = self._stack(A, "A")
        both = left if B is None else joined(left, self._stack(B, "B"))
        K = np.zeros((len(left), len(left) if B is None else len(both) - len(left)))
        squares = np.zeros(len(both))
        for m, weight, values in self._parts():  # one at a time, to hold few features
            features = NGrams(m, both, len(values)).counts(both, values or (1.0,))
            squares += weight * _squares(features)
            F_a = features[: len(left)]
            add_products(K, F_a, F_a if B is None else features[len(left) :], weight)
        if self.normalize:
            squares_b = squares if B is None else squares[len(left) :]
            # One root of the product: sqrt(s * s) is s, and the diagonal exactly 1.
            for rows in row_blocks(len(K), 8 * K.shape[1], MEMORY):
                norms = np.sqrt(np.multiply.outer(squares[: len(left)][rows], squares_b))
                np.divide(K[rows], norms, out=K[rows], where=norms > 0)
        return K

    def diagonal(self, A) -> np.ndarray:
        """k(a, a) of each string, shape (n,)."""
        squares = self._diagonal(self._stack(A, "A"))
        return (squares > 0).astype(np.float64) if self.normalize else squares

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """The n-grams, as text; tokens that are not characters have blanks between them."""
        check_is_fitted(self)
        names = [name for part in self.vocabularies_ for name in part.names(self.tokens_)]
        return np.array(names, dtype=object)

    def _stack(self, X, name: str = "X") -> Stacked:
        used_by = type(self).__name__
        if not isinstance(self.n, Integral) or isinstance(self.n, bool) or self.n < 1:
            raise ValueError(f"{used_by}: n is a whole number of at least 1; got {self.n!r}.")
        return stack(X, used_by=used_by, name=name)

    def _features(self, strings: Stacked) -> tuple[sparse.csr_array, bool]:
        """Features without normalization, and whether they say all about the strings."""
        parts, complete = [], True
        for (_, weight, values), vocabulary in zip(self._parts(), self.vocabularies_):
            counts = vocabulary.counts(strings, values or (1.0,))
            if (counts.indices == vocabulary.n_columns).any():
                complete = False
            part = counts[:, : vocabulary.n_columns]
            if weight != 1.0:
                part.data *= np.sqrt(weight)
            parts.append(part)
        return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr"), complete

    def _diagonal(self, strings: Stacked) -> np.ndarray:
        squares = np.zeros(len(strings))
        for m, weight, values in self._parts():
            counts = NGrams(m, strings, len(values)).counts(strings, values or (1.0,))
            squares += weight * _squares(counts)
        return squares

    @abstractmethod
    def _parts(self) -> list[tuple[int, float, tuple[float, ...]]]:
        """Length, weight and values at shifts of the n-grams that are counted."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def check_weights(weights, n: int, used_by: str) -> list[float]:
    """n nonnegative numbers, not all zero; or an error."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,) or not (np.isfinite(array) & (array >= 0)).all() or not array.any():
        raise ValueError(
            f"{used_by}: weights are n = {n} nonnegative numbers, not all zero; got {weights!r}."
        )
    return array.tolist()


def add_products(K: np.ndarray, A: sparse.csr_array, B: sparse.csr_array, weight: float) -> None:
    """Add weight * A @ B.T, frequent columns by a dense product and rare ones by a sparse one."""
    in_a, in_b = (np.bincount(M.indices, minlength=A.shape[1]) for M in (A, B))
    share = (in_a / K.shape[0]) * (in_b / K.shape[1])  # of all pairs of strings
    frequent = np.flatnonzero(share * DENSE_GAIN > 1.0)
    rare = np.flatnonzero((share > 0.0) & (share * DENSE_GAIN <= 1.0))
    for block in row_blocks(len(frequent), 8 * sum(K.shape), MEMORY):
        left = A[:, frequent[block]].toarray()
        right = left if B is A else B[:, frequent[block]].toarray()
        K += _times(weight, left @ right.T)
    if len(rare):
        left, right = A[:, rare], B[:, rare].T.tocsr()
        for rows in row_blocks(K.shape[0], 12 * K.shape[1], MEMORY):
            K[rows] += _times(weight, (left[rows] @ right).toarray())


def _times(weight: float, matrix: np.ndarray) -> np.ndarray:
    if weight != 1.0:
        matrix *= weight
    return matrix


def _squares(features: sparse.csr_array) -> np.ndarray:
    """Squared norm of each row."""
    return np.asarray(features.multiply(features).sum(axis=1)).ravel()
