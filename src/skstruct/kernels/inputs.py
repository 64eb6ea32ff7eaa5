# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs: scikit-learn's with their parameters, sums, any callable, or matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from skstruct._arrays.methods import warn_caller
from skstruct._arrays.rows import narrow_indices
from skstruct.kernels.grams import GramBlocks, check_symmetric, mirror
from skstruct.saving import savable

GAMMA_STEPS = tuple(2.0**step for step in range(-3, 4))  # times the default: gamma="auto"
ROUNDING_VARIANCE = 1e-28  # of squared means: what rounding makes of a constant
FAR_FROM_ZERO = 10.0  # times the variance within features: means that are worth a warning
FEW_NUMBERS = 1 << 21  # pairs of features that are compared in NumPy


class InputKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""A kernel between rows of inputs, with its parameters settled on training data.

    A child has a ``name``, which stands for it wherever a kernel is asked for, and a formula by
    scikit-learn's function of that name.

    Attributes
    ----------
    gamma_ : float or None
        The width in use. ``gamma=None`` is :math:`1 / \sum_j \mathrm{var}(X_j)` for kernels of
        distances; of centred features that is the ``"scale"`` of support vector machines. Kernels
        of inner products, which see where zero is, take that, :math:`1 / (p \cdot
        \mathrm{var}(X))` with the variance of all entries.
    """

    name: ClassVar[str]
    is_unit: ClassVar[bool] = False  # k(x, x) = 1, or 0 at zero
    parts_: tuple[Any, ...] = ()
    centre_: Any = None
    gamma_: float | None = None

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Settle the parameters on rows X (n, p)."""
        if self.has_gamma:
            gamma: Any = self.gamma
            if gamma is None:
                gamma = self._default_gamma(X, sample_weight)
            elif isinstance(gamma, str) or np.ndim(gamma):
                raise ValueError(
                    f"{type(self).__name__}: a kernel of several widths is chosen by a learner; "
                    f"here gamma is one number or None; got {gamma!r}."
                )
            elif not (np.isfinite(gamma) and gamma > 0):
                raise ValueError(f"gamma must be positive; got {gamma!r}.")
            self.gamma_ = float(gamma)
        return self

    def _default_gamma(self, X: Any, sample_weight: Any) -> float:
        return default_gamma(X, sample_weight)

    @property
    def has_gamma(self) -> bool:
        """Whether there is a width that is worth trying several of."""
        return hasattr(self, "gamma")

    @property
    def follows_scale(self) -> bool:
        """Whether a parameter is settled by the training rows."""
        return self.has_gamma and not isinstance(self.gamma, (int, float))

    def widths(self, X: Any, sample_weight: Any = None) -> list[float | None]:
        """The values of gamma to try: ``"auto"`` is seven around the default, by factors of two."""
        gamma: Any = getattr(self, "gamma", None)
        if isinstance(gamma, str):
            if gamma != "auto":
                raise ValueError(
                    f'gamma is a positive number, several, None or "auto"; got {gamma!r}.'
                )
            scale = self._default_gamma(X, sample_weight)
            return [scale * step for step in GAMMA_STEPS]
        return [None] if gamma is None else np.ravel(gamma).tolist()

    def with_gamma(self, gamma: float | None) -> InputKernel:
        """The same kernel of another width, where it has one."""
        other = clone(self)
        found: InputKernel = (
            other.set_params(gamma=gamma) if self.has_gamma and gamma is not None else other
        )
        return found

    def __add__(self, other: Any) -> KernelSum:
        return KernelSum([*_terms(self), *_terms(resolve_kernel(other))])

    def __radd__(self, other: Any) -> KernelSum:
        return resolve_kernel(other) + self

    def gram(self, X: Any, *, half: bool = False) -> np.ndarray:
        """The square matrix of training rows, in memory that the caller may overwrite.

        It is computed by blocks of rows on and above the diagonal: memory for one matrix, and
        half of the values. With ``half``, entries below the diagonal may be missing.
        """
        K, _ = GramBlocks(self, X).half()
        return K if half else mirror(K)

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        from sklearn.metrics.pairwise import pairwise_kernels  # imports scipy.stats

        settings = {name: getattr(self, name) for name in ("degree", "coef0") if name in vars(self)}
        if self.has_gamma:
            settings["gamma"] = self.gamma_
        A, B = narrow_indices(A), narrow_indices(B)
        return pairwise_kernels(A, B, metric=self.name, **settings)


class _OfProducts(InputKernel):
    """A kernel that is a function of inner products, in place."""

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        G = A @ B.T
        G = G.toarray() if sparse.issparse(G) else np.asarray(G)
        if G.dtype.kind != "f":
            return super().__call__(A, B)
        return self._of_products(G)

    def _default_gamma(self, X: Any, sample_weight: Any) -> float:
        return gamma_of_products(X, sample_weight)

    def _of_products(self, G: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@savable
class Linear(_OfProducts):
    r"""The inner product, :math:`k(a, b) = \langle a, b \rangle`.

    >>> Linear().fit(np.eye(2))(np.array([[1.0, 2.0]]), np.eye(2))
    array([[1., 2.]])
    """

    name = "linear"

    def _of_products(self, G: np.ndarray) -> np.ndarray:
        return G


@savable
class RBF(InputKernel):
    r"""The Gaussian kernel, :math:`k(a, b) = e^{-\gamma |a - b|^2}`.

    Parameters
    ----------
    gamma : float, several, "auto" or None, default=None
        Inverse width. None is 1 / (sum of the variances of the features); ``"auto"`` and several
        values are searched by learners like a penalty, seven around the default for ``"auto"``.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0]])
    >>> RBF(gamma=0.5).fit(X)(X, X).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    name = "rbf"
    is_unit = True
    _saved_together = ("gamma_", "centre_")

    def __init__(self, gamma: Any = None) -> None:
        self.gamma = gamma

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        super().fit(X, sample_weight)
        # Distances do not see a common shift, but their rounding errors do.
        self.centre_ = None if sparse.issparse(X) else X.mean(axis=0)
        return self

    def __call__(self, A: Any, B: Any) -> Any:
        if self.centre_ is not None:
            # By value: a model read from a file holds equal rows, and must round alike.
            same = A is B or (A.shape == B.shape and np.array_equal(A, B))
            A = A - self.centre_
            B = A if same else B - self.centre_
        assert self.gamma_ is not None
        return gaussian(A, B, self.gamma_)


@savable
class Laplacian(InputKernel):
    r"""The exponential of the Manhattan distance, :math:`k(a, b) = e^{-\gamma |a - b|_1}`.

    Parameters
    ----------
    gamma : as in :class:`RBF`

    Examples
    --------
    >>> Laplacian(gamma=0.5).fit(np.eye(2))(np.array([[0.0]]), np.array([[2.0]])).round(3)
    array([[0.368]])
    """

    name = "laplacian"
    is_unit = True

    def __init__(self, gamma: Any = None) -> None:
        self.gamma = gamma

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        if sparse.issparse(A) and sparse.issparse(B):
            G = manhattan(A, B)
        elif _few_numbers(A, B):
            # Feature by feature, the order of scikit-learn's sums, which is slow to import.
            G = np.zeros((len(A), len(B)))
            with np.errstate(over="ignore"):  # infinitely far: the kernel is 0
                for a, b in zip(A.T, B.T):
                    G += np.abs(a[:, None] - b)
        else:
            return super().__call__(A, B)
        assert self.gamma_ is not None
        G *= -self.gamma_
        np.exp(G, out=G)
        return G


@savable
class Polynomial(_OfProducts):
    r"""A power of the inner product, :math:`k(a, b) = (\gamma \langle a, b \rangle + c_0)^d`.

    Parameters
    ----------
    degree : float, default=3
    gamma : as in :class:`RBF`
    coef0 : float, default=1

    Examples
    --------
    >>> Polynomial(2, gamma=1.0).fit(np.eye(2))(np.array([[2.0]]), np.array([[3.0]]))
    array([[49.]])
    """

    name = "polynomial"

    def __init__(self, degree: float = 3, gamma: Any = None, coef0: float = 1) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _of_products(self, G: np.ndarray) -> np.ndarray:
        G *= self.gamma_
        G += self.coef0
        G **= self.degree
        return G


@savable
class Sigmoid(_OfProducts):
    r"""The hyperbolic tangent, :math:`k(a, b) = \tanh(\gamma \langle a, b \rangle + c_0)`.

    It may be indefinite: a ridge penalty must then outweigh its lowest eigenvalue.

    Parameters
    ----------
    gamma : as in :class:`RBF`
    coef0 : float, default=1

    Examples
    --------
    >>> Sigmoid(gamma=1.0, coef0=0).fit(np.eye(2))(np.array([[1.0]]), np.array([[1.0]])).round(3)
    array([[0.762]])
    """

    name = "sigmoid"

    def __init__(self, gamma: Any = None, coef0: float = 1) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def _of_products(self, G: np.ndarray) -> np.ndarray:
        G *= self.gamma_
        G += self.coef0
        np.tanh(G, out=G)
        return G


@savable
class Cosine(InputKernel):
    r"""The cosine of the angle, :math:`k(a, b) = \langle a, b \rangle / (|a|\,|b|)`.

    >>> Cosine().fit(np.eye(2))(np.array([[1.0, 1.0]]), np.eye(2)).round(3)
    array([[0.707, 0.707]])
    """

    name = "cosine"
    is_unit = True


@savable(name="ChiSquareKernel")  # there is a loss of this name
class ChiSquareKernel(InputKernel):
    r"""For histograms, :math:`k(a, b) = e^{-\gamma \sum_j (a_j - b_j)^2 / (a_j + b_j)}`.

    Parameters
    ----------
    gamma : float, several, "auto" or None, default=None
        As in :class:`RBF`, but that None is 1.

    Examples
    --------
    >>> ChiSquareKernel().fit(np.eye(2))(np.array([[1.0, 0.0]]), np.eye(2)).round(3)
    array([[1.   , 0.135]])
    """

    name = "chi2"
    is_unit = True

    def __init__(self, gamma: Any = None) -> None:
        self.gamma = gamma

    def _default_gamma(self, X: Any, sample_weight: Any) -> float:
        return 1.0


@savable
class AdditiveChiSquareKernel(InputKernel):
    r"""For histograms, :math:`k(a, b) = -\sum_j (a_j - b_j)^2 / (a_j + b_j)`.

    >>> AdditiveChiSquareKernel().fit(np.eye(2))(np.array([[1.0, 0.0]]), np.eye(2))
    array([[-0., -2.]])
    """

    name = "additive_chi2"


@savable
class Precomputed(InputKernel):
    """Inputs are rows of the kernel matrix: k of new rows with those of training.

    >>> Precomputed().fit(np.eye(2)).gram(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    name = "precomputed"

    def gram(self, X: Any, *, half: bool = False) -> np.ndarray:
        return check_gram(X)

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return A.toarray() if sparse.issparse(A) else np.asarray(A, dtype=np.float64)


@savable
class CallableKernel(InputKernel):
    """Any function of two arrays (n, p) and (m, p) with values of shape (n, m).

    Parameters
    ----------
    function : callable (A, B) -> array

    Examples
    --------
    >>> CallableKernel(lambda A, B: A @ B.T).fit(np.eye(2))(np.eye(2), np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    name = "function"

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return np.asarray(self.function(A, B), dtype=np.float64)


@savable
class KernelSum(InputKernel):
    """The mean of kernels, each divided by its mean over the diagonal so that all weigh the same.

    ``RBF() + Laplacian()`` and ``"rbf+laplacian"`` are such. Widths that are searched go
    together: the first of one with the first of the other.

    Parameters
    ----------
    kernels : list of kernels

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> (RBF(1.0) + Linear()).fit(X).gram(X).round(3)
    array([[0.5  , 0.184],
           [0.184, 1.5  ]])
    """

    name = "sum"
    _saved_together = ("parts_", "scales_", "gamma_")

    def __init__(self, kernels: Sequence[InputKernel]) -> None:
        self.kernels = kernels

    @property
    def is_unit(self) -> bool:  # type: ignore[override]
        return all(kernel.is_unit for kernel in self.kernels)

    @property
    def has_gamma(self) -> bool:
        return any(kernel.has_gamma for kernel in self.kernels)

    @property
    def follows_scale(self) -> bool:
        return any(kernel.follows_scale for kernel in self.kernels)

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        if any(kernel.name == "precomputed" for kernel in self.kernels):
            raise ValueError("A precomputed kernel cannot be added to others.")
        self.parts_ = tuple(clone(kernel).fit(X, sample_weight) for kernel in self.kernels)
        self.scales_ = tuple(_mean_diagonal(part, X) for part in self.parts_)
        self.gamma_ = next((part.gamma_ for part in self.parts_ if part.has_gamma), None)
        return self

    def widths(self, X: Any, sample_weight: Any = None) -> list[Any]:
        """The widths of the terms to try: tuples, one for each term; [None] if all are default."""
        each = [kernel.widths(X, sample_weight) for kernel in self.kernels]
        longest = max(map(len, each))
        if not {len(values) for values in each} <= {1, longest}:
            raise ValueError(
                "The widths of a sum go together: as many for each kernel that has several; got "
                f"{[len(values) for values in each]}."
            )
        tried = list(zip(*(values * (longest // len(values)) for values in each)))
        return [None] if tried == [(None,) * len(each)] else tried

    def with_gamma(self, gamma: Any) -> InputKernel:
        each = [None] * len(self.kernels) if gamma is None else gamma
        return KernelSum([k.with_gamma(value) for k, value in zip(self.kernels, each)])

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        total = np.zeros((A.shape[0], B.shape[0]))
        for part, scale in zip(self.parts_, self.scales_):
            total += part(A, B) / (scale * len(self.parts_))
        return total


_CLASSES = (
    AdditiveChiSquareKernel,
    ChiSquareKernel,
    Cosine,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    RBF,
    Sigmoid,
)
KERNELS: dict[str, type[InputKernel]] = {kind.name: kind for kind in _CLASSES}
KERNELS["poly"] = Polynomial


def resolve_kernel(kernel: Any, **parameters: Any) -> InputKernel:
    """The kernel that a name stands for; objects are copied.

    Of the parameters gamma, degree and coef0, those that a kernel has are set, in each term of a
    sum.

    >>> resolve_kernel("rbf", gamma=2.0)
    RBF(gamma=2.0)
    >>> resolve_kernel("rbf+linear", gamma=2.0)
    KernelSum(kernels=[RBF(gamma=2.0), Linear()])
    """
    unknown = parameters.keys() - {"gamma", "degree", "coef0"}
    if unknown:
        raise TypeError(f"Kernels have gamma, degree and coef0; got {sorted(unknown)}.")
    if isinstance(kernel, KernelSum):
        return KernelSum([resolve_kernel(term, **parameters) for term in kernel.kernels])
    if isinstance(kernel, InputKernel):
        own = kernel.get_params(deep=False)
        given = {name: value for name, value in parameters.items() if name in own}
        return clone(kernel).set_params(**given)
    if isinstance(kernel, str):
        if "+" in kernel:
            names = [name.strip() for name in kernel.split("+")]
            return KernelSum([resolve_kernel(name, **parameters) for name in names])
        if kernel not in KERNELS:
            raise ValueError(f"Unknown kernel {kernel!r}; known are {sorted(KERNELS)}.")
        return resolve_kernel(KERNELS[kernel](), **parameters)
    if callable(kernel):
        return CallableKernel(kernel)
    raise ValueError(f"A kernel is a name, a kernel object or a callable; got {kernel!r}.")


def kernel_name(kernel: Any) -> str | None:
    """The name of a kernel that is given by its name or as an object; None for callables.

    >>> kernel_name("poly"), kernel_name(RBF(2.0)), kernel_name(max)
    ('polynomial', 'rbf', None)
    """
    if isinstance(kernel, str):
        return KERNELS[kernel].name if kernel in KERNELS else kernel
    return kernel.name if isinstance(kernel, InputKernel) else None


def follows_scale(model: Any) -> bool:
    """Whether the kernel that a fitted model chose has a width by the scale of the rows."""
    if model.features_ is not None or model.kernel_ is None:
        return False
    return resolve_kernel(model.kernel_).follows_scale


def _terms(kernel: InputKernel) -> list[InputKernel]:
    return list(kernel.kernels) if isinstance(kernel, KernelSum) else [kernel]


def _mean_diagonal(part: InputKernel, X: Any, step: int = 64) -> float:
    """Mean of k(x, x) over the rows; 1 where that is not positive."""
    n = X.shape[0]
    blocks = (X[start : start + step] for start in range(0, n, step))
    mean = sum(float(np.trace(part(block, block))) for block in blocks) / n
    return mean if np.isfinite(mean) and mean > 0 else 1.0


def _few_numbers(A: Any, B: Any) -> bool:
    """Whether these are arrays of doubles with few pairs of numbers to compare."""
    if sparse.issparse(A) or sparse.issparse(B) or not A.dtype == B.dtype == np.float64:
        return False
    return bool(A.size * B.shape[0] <= FEW_NUMBERS)


def gaussian(A: Any, B: Any, gamma: float) -> Any:
    """exp(-gamma |a - b|^2): one product, then everything in place."""
    norms = _square_norms(A), _square_norms(B)
    with np.errstate(over="ignore", invalid="ignore"):  # of huge rows, which come right below
        G = A @ B.T
        G = G.toarray() if sparse.issparse(G) else G
        G *= 2.0
        G -= norms[0][:, None]
        G -= norms[1]
        _correct_huge(G, A, B, norms)
        np.minimum(G, 0.0, out=G)
        G *= gamma
    if A is B:
        np.fill_diagonal(G, 0.0)
    return np.exp(G, out=G)


def _correct_huge(G: Any, A: Any, B: Any, norms: tuple[Any, Any]) -> None:
    """Distances of rows whose squared norm is not finite: infinite, but 0 to rows that are equal.

    Products of such rows, beyond 1e154 or so, would give the difference of two infinities.
    """
    for rows, others, of_rows, norm in ((A, B, G, norms[0]), (B, A, G.T, norms[1])):
        for i in np.flatnonzero(~np.isfinite(norm)):
            row, all_others = (_dense(part) for part in (rows[[i]], others))
            of_rows[i] = -np.square(row - all_others).sum(axis=1)


def _dense(A: Any) -> Any:
    return A.toarray() if sparse.issparse(A) else A


def manhattan(A: Any, B: Any) -> np.ndarray:
    """Distances |a - b|_1 between rows of sparse matrices, in the time of their product.

    scikit-learn's run through all entries of both rows for every pair, however few they share.
    """
    from skstruct.kernels._numba_manhattan import distances

    A, B = (narrow_indices(_sorted(matrix, form)) for matrix, form in ((A, "csr"), (B, "csc")))
    parts = [(M.data.astype(np.float64, copy=False), M.indices, M.indptr) for M in (A, B)]
    return distances(*parts[0], *parts[1], B.shape[0])


def _sorted(matrix: Any, form: str) -> Any:
    """In another form, with every entry once and in order; the given matrix is left as it is."""
    found = matrix.asformat(form)
    if not found.has_canonical_format:
        found = found.copy() if found is matrix else found
        found.sum_duplicates()
    return found


def _square_norms(A: Any) -> Any:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def default_gamma(X: Any, sample_weight: Any = None) -> float:
    """1 / (sum of the variances of the features); 1 for constant data.

    The mean of :math:`|a - b|^2` over pairs of rows is twice that sum. A common shift of a
    feature has no part in it: distances do not see it.
    """
    mean, variance = _moments(X, sample_weight)
    scale = variance[variance > ROUNDING_VARIANCE * mean**2].sum()
    return float(1.0 / scale) if scale > np.finfo(np.float64).tiny else 1.0


def gamma_of_products(X: Any, sample_weight: Any = None) -> float:
    """1 / (number of features * variance of all entries), for kernels of inner products.

    Products see where zero is. Of features that are far from it for how they vary, most of every
    product is the same for all rows: that is told, once it is nine tenths of the variance.
    """
    mean, variance = _moments(X, sample_weight)
    scale = float(variance.sum() + ((mean - mean.mean()) ** 2).sum())
    if not scale > max(np.finfo(np.float64).tiny, ROUNDING_VARIANCE * mean.mean() ** 2):
        return 1.0
    if scale > FAR_FROM_ZERO * variance.sum() > 0:
        column = int(np.argmax(np.abs(mean - mean.mean())))
        warn_caller(
            f"Column {column} of X has the mean {mean[column]:.3g} and the deviation "
            f"{np.sqrt(max(variance[column], 0.0)):.3g}: kernels of inner products are nearly the "
            "same for all rows then. Take off the means first (StandardScaler), or give gamma."
        )
    return 1.0 / scale


def _moments(X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means and variances of the features."""
    w = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    w = w / w.sum()
    mean = np.asarray(w @ X).ravel()
    if sparse.issparse(X):
        return mean, np.asarray(w @ X.multiply(X)).ravel() - mean**2
    return mean, w @ (X - mean) ** 2  # two passes: offsets do not cancel digits


def check_gram(K: Any) -> Any:
    """A copy of a precomputed kernel matrix that is square and symmetric."""
    K = K.toarray() if sparse.issparse(K) else np.array(K, dtype=np.float64, order="C")
    check_symmetric(K)
    return K
