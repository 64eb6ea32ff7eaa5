# SPDX-License-Identifier: BSD-3-Clause
"""Features of the inputs: these themselves, or features whose inner products stand for a kernel."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from skstruct._arrays.memory import check_square_fits
from skstruct.kernels import InputKernel, resolve_kernel
from skstruct.kernels.inputs import kernel_name
from skstruct.saving import savable
from skstruct.tolerances import EIGENVALUE_ZERO


@savable
class NystroemFeatures:
    r"""Features :math:`k(x, L) V e^{-1/2}` of a kernel with :math:`k(L, L) = V e V'`.

    Their inner products are the kernel wherever one of the two inputs is a landmark in L.
    """

    def __init__(self, kernel: Any, landmarks: np.ndarray) -> None:
        self.kernel, self.landmarks = kernel, landmarks
        e, V = eigh(kernel.gram(landmarks))
        kept = e > EIGENVALUE_ZERO * max(e.max(initial=0.0), 0.0)
        self.map = V[:, kept] / np.sqrt(e[kept])

    @classmethod
    def of_rows(
        cls, kernel: Any, X: Any, n_landmarks: int, random_state: Any
    ) -> "NystroemFeatures":
        """Landmarks chosen among rows of X by randomly pivoted Cholesky."""
        from skstruct.backends import NumpyBackend
        from skstruct.smoothing.nystroem.landmarks import ROWS_PER_LANDMARK, choose_landmarks

        if kernel.name == "precomputed":
            raise ValueError("A precomputed kernel has no Nyström features: n_landmarks=None.")
        rng = check_random_state(random_state)
        few = max(1000, ROWS_PER_LANDMARK * int(n_landmarks))  # of many rows, some will do
        sample = X if X.shape[0] <= few else X[np.sort(rng.permutation(X.shape[0])[:few])]
        found = choose_landmarks(kernel, sample, int(n_landmarks), rng, NumpyBackend())
        rows = np.sort(found.rows) if len(found.rows) else np.arange(1)  # a kernel that is zero
        return cls(kernel, sample[rows])

    def transform(self, X: Any) -> Any:
        """Features of the rows of X; shape (n, number of landmarks or fewer)."""
        return self.kernel(X, self.landmarks) @ self.map


@savable
class KernelSettings(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What is linear in features of the inputs, or in those of a kernel between them.

    Parameters
    ----------
    kernel : str, kernel or callable; see :func:`~skstruct.kernels.resolve_kernel`
    n_landmarks : int, default=None
        Stand in for the kernel by so many features; None for the kernel itself.
    fit_intercept : bool, default=True
        A constant feature, the last one, penalised like all others.
    random_state : int or RandomState, default=None
        Of the rows that Nyström features are made of.
    """

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def is_linear(self) -> bool:
        """Whether features are the inputs as they came."""
        return kernel_name(self.kernel) == "linear" and not self.n_landmarks

    def _fitted_kernel(self, X: Any, weight: np.ndarray | None = None) -> InputKernel:
        return resolve_kernel(self.kernel).fit(X, weight)

    def _nystroem(self, kernel: Any, X: Any) -> NystroemFeatures:
        assert self.n_landmarks is not None
        return NystroemFeatures.of_rows(kernel, X, self.n_landmarks, self.random_state)

    def _with_one(self, X: Any) -> Any:
        """Rows with the constant feature, if there is one; array or CSR."""
        if not self.fit_intercept:
            return X
        one = np.ones((X.shape[0], 1))
        return sparse.hstack([X, one], format="csr") if sparse.issparse(X) else np.hstack([X, one])


@savable
class InputFeatures(KernelSettings):
    """Rows of features, sparse where inputs are sparse and the kernel is linear.

    Where ``n_landmarks`` is None there are as many as rows, and inner products are the kernel.
    """

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        self.map_ = None
        if self.is_linear:
            return self
        kernel = self._fitted_kernel(X, sample_weight)
        if self.n_landmarks:
            self.map_ = self._nystroem(kernel, X)
            return self
        check_square_fits(X.shape[0], "The kernel of the training rows", "Give n_landmarks.")
        self.map_ = NystroemFeatures(kernel, X)
        if kernel.name == "precomputed":  # new rows bring their values
            self.map_.landmarks = X[:0]
        return self

    def transform(self, X: Any) -> Any:
        """Features of rows, with the constant; array or CSR of shape (n, p)."""
        return self._with_one(self.mapped(X))

    def mapped(self, X: Any) -> Any:
        """The same without the constant: inputs themselves where the kernel is linear."""
        return X if self.map_ is None else self.map_.transform(X)

    def scores(self, X: Any, weights: np.ndarray) -> np.ndarray:
        """Features with the constant times weights (p, d), without a copy of the features."""
        features = self.mapped(X)
        if not self.fit_intercept:
            return np.asarray(features @ weights)
        scores = np.asarray(features @ weights[:-1])
        scores += weights[-1]
        return scores
