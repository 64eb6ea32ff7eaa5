# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs: scikit-learn's by name, any callable, or precomputed matrices."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from skstruct._arrays.rows import narrow_indices
from skstruct.kernels.grams import GramBlocks, check_symmetric, mirror
from skstruct.saving import savable

SCALED = ("rbf", "laplacian", "poly", "polynomial", "sigmoid")  # gamma=None: by the data's scale
UNIT_KERNELS = ("rbf", "laplacian", "cosine")  # k(x, x) = 1, or 0 for cosine at zero


@savable
class InputKernel(BaseEstimator):
    r"""A kernel with its parameters settled on training data.

    ``gamma=None`` is :math:`1 / (p \cdot \mathrm{var}(X))`, the ``"scale"`` of support
    vector machines, for kernels that have a gamma.

    Parameters
    ----------
    kernel : str or callable (A, B) -> array of shape (n_a, n_b)
        A name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or ``"precomputed"``.
        Names joined by a plus, such as ``"rbf+laplacian"``, are added, each divided by its
        mean over the diagonal so that all weigh the same.
    gamma, degree, coef0 : float
        As in scikit-learn; used by the kernels that know them.
    """

    def __init__(
        self, kernel: Any = "rbf", *, gamma: float | None = None, degree: int = 3, coef0: float = 1
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, sample_weight: Any = None) -> "InputKernel":
        self.parts_ = ()
        if is_sum(self.kernel):
            return self._fit_parts(X, sample_weight)
        if isinstance(self.kernel, str):
            known = {*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"}
            if self.kernel not in known:
                raise ValueError(f"Unknown kernel {self.kernel!r}; known are {sorted(known)}.")
        elif not callable(self.kernel):
            raise ValueError(f"A kernel is a name or a callable; got {self.kernel!r}.")
        self.gamma_ = self.gamma
        if self.gamma is None and self.kernel in SCALED:
            self.gamma_ = default_gamma(X, sample_weight)
        elif self.gamma is not None and not (np.isfinite(self.gamma) and self.gamma > 0):
            raise ValueError(f"gamma must be positive; got {self.gamma!r}.")
        # Distances do not see a common shift, but their rounding errors do.
        centred = self.kernel == "rbf" and not sparse.issparse(X)
        self.centre_ = X.mean(axis=0) if centred else None
        return self

    def _fit_parts(self, X: Any, sample_weight: Any) -> Self:
        """A sum: its terms, and what each is divided by."""
        names = [name.strip() for name in self.kernel.split("+")]
        if "precomputed" in names:
            raise ValueError("A precomputed kernel cannot be added to others by name.")
        shared = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        self.parts_ = tuple(InputKernel(name, **shared).fit(X, sample_weight) for name in names)
        self.scales_ = tuple(_mean_diagonal(part, X) for part in self.parts_)
        widths = [part.gamma_ for part in self.parts_ if part.kernel in SCALED]
        self.gamma_, self.centre_ = (widths[0] if widths else self.gamma), None
        return self

    def gram(self, X: Any, *, half: bool = False) -> np.ndarray:
        """The square matrix of training rows, in memory that the caller may overwrite.

        It is computed by blocks of rows on and above the diagonal: memory for one matrix, and
        half of the values. With ``half``, entries below the diagonal may be missing.
        """
        if self.kernel == "precomputed":
            return check_gram(X)
        K, _ = GramBlocks(self, X).half()
        return K if half else mirror(K)

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        if self.kernel == "precomputed":
            return A.toarray() if sparse.issparse(A) else np.asarray(A, dtype=np.float64)
        if self.parts_:
            total = np.zeros((A.shape[0], B.shape[0]))
            for part, scale in zip(self.parts_, self.scales_):
                total += part(A, B) / (scale * len(self.parts_))
            return total
        if self.kernel == "rbf":
            if self.centre_ is not None:
                # By value: a model read from a file holds equal rows, and must round alike.
                same = A is B or (A.shape == B.shape and np.array_equal(A, B))
                A = A - self.centre_
                B = A if same else B - self.centre_
            return gaussian(A, B, self.gamma_)
        if callable(self.kernel):
            return np.asarray(self.kernel(A, B), dtype=np.float64)
        settings = {"degree": self.degree, "coef0": self.coef0}
        if self.gamma_ is not None:  # else the kernel's own
            settings["gamma"] = self.gamma_
        A, B = narrow_indices(A), narrow_indices(B)
        return pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **settings)


def is_sum(kernel: Any) -> bool:
    """Whether a kernel is a sum of several, given by their names."""
    return isinstance(kernel, str) and "+" in kernel


def has_gamma(kernel: Any) -> bool:
    """Whether a kernel has a width that is worth trying several of."""
    if is_sum(kernel):
        return any(name.strip() in SCALED for name in kernel.split("+"))
    return kernel in SCALED or callable(kernel)


def _mean_diagonal(part: InputKernel, X: Any, step: int = 64) -> float:
    """Mean of k(x, x) over the rows; 1 where that is not positive."""
    n = X.shape[0]
    blocks = (X[start : start + step] for start in range(0, n, step))
    mean = sum(float(np.trace(part(block, block))) for block in blocks) / n
    return mean if np.isfinite(mean) and mean > 0 else 1.0


def gaussian(A: Any, B: Any, gamma: float) -> np.ndarray:
    """exp(-gamma |a - b|^2): one product, then everything in place."""
    G = A @ B.T
    G = G.toarray() if sparse.issparse(G) else G
    G *= 2.0
    G -= _square_norms(A)[:, None]
    G -= _square_norms(B)
    np.minimum(G, 0.0, out=G)
    G *= gamma
    if A is B:
        np.fill_diagonal(G, 0.0)
    return np.exp(G, out=G)


def _square_norms(A: Any) -> np.ndarray:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def default_gamma(X: Any, sample_weight: Any = None) -> float:
    """1 / (number of features * variance of all entries); 1 for constant data."""
    p = X.shape[1]
    w = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    w = w / w.sum()
    mean = (w @ X).sum() / p
    if sparse.issparse(X):
        variance = (w @ X.multiply(X)).sum() / p - mean**2
    else:
        variance = (w @ (X - mean) ** 2).sum() / p  # two passes: offsets do not cancel digits
    scale = p * variance
    tiny = np.finfo(np.float64).tiny
    return float(1.0 / scale) if scale > max(tiny, 1e-28 * mean**2) else 1.0


def check_gram(K: Any) -> np.ndarray:
    """A copy of a precomputed kernel matrix that is square and symmetric."""
    K = K.toarray() if sparse.issparse(K) else np.array(K, dtype=np.float64, order="C")
    check_symmetric(K)
    return K
