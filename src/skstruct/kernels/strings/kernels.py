# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between strings by shared n-grams: spectrum, blended spectrum, weighted degree."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.methods import all_or_nothing
from skstruct.kernels.strings.ngrams import NGrams, Stacked, joined, stack
from skstruct.saving import savable

MEMORY = "64MB"  # of intermediate results
DENSE_GAIN = 64.0  # how many times as many multiplications a dense product does per second


class NGramKernel(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What kernels on n-grams share: features, their products, and normalization.

    A subclass has ``n``, ``normalize`` and ``_parts()``: the length of n-grams, the weight, and
    the values at consecutive positions (none: positions do not matter) of each group of features.
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the n-grams of the strings ``X``; ``y`` is ignored."""
        strings = self._stack(X)
        self.tokens_ = strings.tokens
        self.vocabularies_ = [NGrams(m, strings, len(values)) for m, _, values in self._parts()]
        self._n_features_out = sum(part.n_columns for part in self.vocabularies_)
        return self

    def transform(self, X: Any) -> sparse.csr_array:
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

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
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

    def diagonal(self, A: Any) -> np.ndarray:
        """k(a, a) of each string, shape (n,)."""
        squares = self._diagonal(self._stack(A, "A"))
        return (squares > 0).astype(np.float64) if self.normalize else squares

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The n-grams, as text; tokens that are not characters have blanks between them."""
        check_is_fitted(self)
        names = [name for part in self.vocabularies_ for name in part.names(self.tokens_)]
        return np.array(names, dtype=object)

    def _stack(self, X: Any, name: str = "X") -> Stacked:
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def check_weights(weights: Any, n: int, used_by: str) -> Any:
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


@savable
class SpectrumKernel(NGramKernel):
    r"""Number of n-grams that two strings share, each as often as it occurs in both.

    .. math:: k(x, x') = \sum_{u \in \Sigma^n} \#_u(x)\, \#_u(x')

    with :math:`\#_u(x)` how often the n-gram u begins in x. It is both a kernel,
    ``kernel(A, B)``, and a scikit-learn transformer to the sparse features :math:`\#_u(x)`.
    Strings shorter than n have no n-gram: their kernel is 0 with all others, and with themselves.

    The features are found without a loop over characters, in any alphabet, and without hashing:
    no two n-grams share a column.

    Parameters
    ----------
    n : int, default=3
        Length of the n-grams.
    normalize : bool, default=True
        Divide by :math:`\sqrt{k(x, x)\, k(x', x')}`; strings without n-grams keep their 0.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM
       protein classification", Pacific Symposium on Biocomputing, 2002.

    Examples
    --------
    >>> SpectrumKernel(2, normalize=False)(["banana", "ananas"], ["nana", "band", "a"])
    array([[6., 3., 0.],
           [6., 2., 0.]])
    >>> kernel = SpectrumKernel(2, normalize=False).fit(["banana"])
    >>> kernel.get_feature_names_out()
    array(['an', 'ba', 'na'], dtype=object)
    >>> kernel.transform(["nana", "band"]).toarray()
    array([[1., 0., 2.],
           [1., 1., 0.]])

    Rows may be sequences of any hashable tokens:

    >>> SpectrumKernel(1)([["to", "be", "or", "not", "to", "be"]], [("to", "be")])
    array([[0.894427...]])
    """

    def __init__(self, n: int = 3, *, normalize: bool = True) -> None:
        self.n = n
        self.normalize = normalize

    def _parts(self) -> list[tuple[int, float, tuple[Any, ...]]]:
        return [(self.n, 1.0, ())]


@savable
class BlendedSpectrumKernel(NGramKernel):
    r"""Spectrum kernels of all lengths up to n, added.

    .. math:: k(x, x') = \sum_{m=1}^{n} w_m \sum_{u \in \Sigma^m} \#_u(x)\, \#_u(x')

    Parameters
    ----------
    n : int, default=3
        Length of the longest n-grams.
    weights : sequence of n nonnegative floats, default=None
        :math:`w_1, \dots, w_n`; None weighs all lengths by 1.
    normalize : bool, default=True
        Divide by :math:`\sqrt{k(x, x)\, k(x', x')}`; the empty string keeps its 0.

    See Also
    --------
    SpectrumKernel : one length only; inputs and methods are the same.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM
       protein classification", Pacific Symposium on Biocomputing, 2002.
    .. [2] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004,
       section 11.2.

    Examples
    --------
    >>> BlendedSpectrumKernel(2, weights=[1, 10], normalize=False)(["abc"], ["bca", "cab"])
    array([[13., 13.]])
    """

    def __init__(
        self, n: int = 3, *, weights: Sequence[float] | None = None, normalize: bool = True
    ) -> None:
        self.n = n
        self.weights = weights
        self.normalize = normalize

    def _parts(self) -> list[tuple[int, float, tuple[Any, ...]]]:
        weights = np.ones(self.n) if self.weights is None else self.weights
        weights = check_weights(weights, self.n, type(self).__name__)
        return [(m, weight, ()) for m, weight in enumerate(weights, start=1) if weight > 0]


@savable
class WeightedDegreeKernel(NGramKernel):
    r"""Matches of all m-grams, m = 1, ..., n, at the same position of two strings or near it.

    .. math::

        k(x, x') = \sum_{m=1}^{n} \beta_m \sum_{l, l'} w(|l - l'|)\; 1[x_{l:l+m} = x'_{l':l'+m}],
        \qquad w(0) = 1,\quad w(s) = \frac{1}{2(s + 1)}\ (0 < s \le S),\quad w(s) = 0\ (s > S)

    where l and l' run over the positions at which x and x' have an m-gram. With S = 0 this is the
    weighted degree kernel of [1]_, otherwise the one with shifts of [2]_. Strings may differ in
    length: what one of them does not have, does not match.

    Parameters
    ----------
    n : int, default=3
        Length of the longest m-grams.
    shift : int, default=0
        S, how far apart matches may be.
    weights : sequence of n nonnegative floats, default=None
        :math:`\beta_1, \dots, \beta_n`; None is :math:`\beta_m = 2 (n - m + 1) / (n (n + 1))`,
        which add up to 1.
    normalize : bool, default=True
        Divide by :math:`\sqrt{k(x, x)\, k(x', x')}`; the empty string keeps its 0.

    See Also
    --------
    SpectrumKernel : matches at any two positions; inputs and methods are the same.

    Notes
    -----
    The kernel is positive semidefinite for every S: its spectrum over positions,
    :math:`1 + \sum_{s=1}^{S} \cos(s\theta) / (s + 1)`, is at least 1/2 by the inequality of
    Rogosinski and Szegő [3]_. Hence there are numbers :math:`f_0, \dots, f_S` with
    :math:`\sum_t f_t f_{t+s} = w(s)`, and the features are sums of :math:`\sqrt{\beta_m} f_t` in
    the columns (m-gram, l + t): S + 1 numbers for each m-gram of a string.

    References
    ----------
    .. [1] G. Rätsch and S. Sonnenburg, "Accurate splice site detection for Caenorhabditis
       elegans", in "Kernel methods in computational biology", 2004.
    .. [2] G. Rätsch, S. Sonnenburg and B. Schölkopf, "RASE: recognition of alternatively spliced
       exons in C. elegans", Bioinformatics 21, 2005.
    .. [3] W. Rogosinski and G. Szegő, "Über die Abschnitte von Potenzreihen, die in einem Kreise
       beschränkt bleiben", Mathematische Zeitschrift 28, 1928.

    Examples
    --------
    >>> kernel = WeightedDegreeKernel(2, weights=[1, 10], normalize=False)
    >>> kernel(["GATTACA"], ["GATTACA", "CATTAGA", "AGATTAC"])
    array([[67., 35.,  1.]])
    >>> WeightedDegreeKernel(2, shift=1)(["GATTACA"], ["CATTAGA", "AGATTAC"]).round(2)
    array([[0.67, 0.35]])
    """

    def __init__(
        self,
        n: int = 3,
        *,
        shift: int = 0,
        weights: Sequence[float] | None = None,
        normalize: bool = True,
    ) -> None:
        self.n = n
        self.shift = shift
        self.weights = weights
        self.normalize = normalize

    def _parts(self) -> list[tuple[int, float, tuple[Any, ...]]]:
        name = type(self).__name__
        if not isinstance(self.shift, Integral) or isinstance(self.shift, bool) or self.shift < 0:
            raise ValueError(f"{name}: shift is a whole number of at least 0; got {self.shift!r}.")
        weights = self.weights
        if weights is None:
            weights = 2 * np.arange(self.n, 0, -1) / (self.n * (self.n + 1))
        weights = check_weights(weights, self.n, name)
        values = shift_values(int(self.shift))
        return [(m, weight, values) for m, weight in enumerate(weights, start=1) if weight > 0]


@cache
def shift_values(S: int) -> tuple[float, ...]:
    """The f_0, ..., f_S with sum_t f_t f_(t+s) = w(s): 1, 1/4, 1/6, ..., 1/(2(S+1)).

    By the logarithm of the spectrum: half of its Fourier series, the part of nonnegative
    frequencies, is the logarithm of f. The series converges geometrically, as the spectrum has
    no zero; it is cut at 128 (S + 1) terms.
    """
    if S == 0:
        return (1.0,)
    size = 128 * (S + 1)
    spectrum = np.zeros(size)
    spectrum[0] = 1.0
    spectrum[1 : S + 1] = spectrum[-S:][::-1] = 0.5 / np.arange(2, S + 2)
    series = np.fft.ifft(np.log(np.fft.fft(spectrum).real)).real
    series[0] /= 2
    series[size // 2] /= 2
    series[size // 2 + 1 :] = 0
    f = np.fft.ifft(np.exp(np.fft.fft(series))).real
    return tuple(f[: S + 1].tolist())
