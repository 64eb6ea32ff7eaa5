# SPDX-License-Identifier: BSD-3-Clause
"""Features whose inner products stand for a kernel."""

import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.utils import check_random_state

from skstruct.backends import NumpyBackend, backend_for, is_tensor
from skstruct.kernels.inputs import FAR_FROM_ZERO, ROUNDING_VARIANCE, gaussian
from skstruct.saving import savable
from skstruct.smoothing.nystroem.landmarks import ROWS_PER_LANDMARK, choose_landmarks


@savable
class NystroemMap:
    r"""Features :math:`z(x) = R^{-1} k(L, x)` with :math:`R R' = k(L, L)` for landmarks L.

    Their inner products are the kernel wherever one of the two inputs is a landmark.

    Parameters
    ----------
    kernel : fitted InputKernel
    landmarks : array of shape (m, p)
    residual : float
        Share of the kernel's trace that the landmarks left in the sample they are from.
    dtype : str
        In which features are computed; R is found in float64.
    device : None, str or torch.device
    centre : array of shape (p,) or None
        Taken off dense rows far from zero under a linear kernel, where an intercept makes up for
        it: one landmark would explain nearly all of them, and no other would be chosen.
    """

    centre: np.ndarray | None = None  # of models that were saved without one

    def __init__(
        self,
        kernel: Any,
        landmarks: Any,
        residual: float = 0.0,
        dtype: str = "float64",
        device: Any = None,
        centre: np.ndarray | None = None,
    ) -> None:
        self.kernel, self.landmarks, self.residual = kernel, landmarks, residual
        self.dtype, self.device, self.centre = dtype, device, centre

    @classmethod
    def of_sample(
        cls,
        kernel: Any,
        X: Any,
        n_landmarks: int | str,
        most: int,
        random_state: Any,
        dtype: str,
        device: Any,
        centred: bool = False,
    ) -> "NystroemMap":
        """Landmarks chosen among the rows of a sample, about its mean if ``centred``."""
        backend = _checked_backend(device, X)
        centre = _far_mean_of(X) if centred and kernel.name == "linear" else None
        few = max(1000, ROWS_PER_LANDMARK * most)
        if X.shape[0] > few:  # the whole sample is for judging; more rows gain little here
            X = X[np.linspace(0, X.shape[0] - 1, few).astype(np.int64)]
        rows = X if sparse.issparse(X) else backend.asarray(X, np.float64)
        rows = rows if centre is None else rows - backend.asarray(centre)
        found = choose_landmarks(
            kernel_function(kernel, backend), rows, n_landmarks, random_state, backend, most
        )
        if not len(found.rows):
            raise ValueError("The kernel is zero for every row of the sample.")
        return cls(kernel, X[found.rows], found.residual, dtype, device, centre)

    def __getstate__(self) -> Any:
        return {k: v for k, v in self.__dict__.items() if k in _KEPT}

    @property
    def width(self) -> Any:
        """Number of features."""
        return self.landmarks.shape[0]

    @cached_property
    def backend(self) -> Any:
        return backend_for(self.device)

    @cached_property
    def _function(self) -> Any:
        return kernel_function(self.kernel, self.backend)

    @cached_property
    def _centred_function(self) -> Any:
        """The kernel of rows that are centred already."""
        kernel = copy.copy(self.kernel)
        kernel.centre_ = None if self.kernel.centre_ is None else np.zeros_like(kernel.centre_)
        return kernel_function(kernel, self.backend)

    @cached_property
    def _landmarks(self) -> Any:
        """Landmarks where they are computed with, in float64."""
        L = self.landmarks
        return L if sparse.issparse(L) else self._about_centre(L)

    def _about_centre(self, rows: Any) -> Any:
        """Rows in float64, less the centre."""
        rows = self.backend.asarray(rows, "float64")
        return rows if self.centre is None else rows - self.backend.asarray(self.centre)

    @cached_property
    def factor(self) -> Any:
        """R, in float64; what is added to the diagonal is what rounding may take away."""
        K = self.backend.zeros((self.width, self.width))
        K[:] = self._function(self._landmarks, self._landmarks)
        trace = float(K.diagonal().sum())
        jitter = 4.0 * np.finfo(np.float64).eps * trace
        if self.dtype == "float32":  # what single precision may take away of every value
            jitter = 4.0 * np.finfo(np.float32).eps * trace / np.sqrt(self.width)
        for _ in range(5):
            A = self.backend.add_diagonal(self.backend.copied(K), jitter)
            factor, failed = self.backend.cholesky(A)
            if not failed:
                return factor
            jitter *= 100.0
        raise LinAlgError(
            f"The kernel between {self.width} landmarks is not positive semidefinite: use another "
            "kernel."
        )

    @cached_property
    def condition(self) -> float:
        """Of k(L, L), about: how much rounding grows where sums are whitened, and not rows."""
        return float(self.backend.condition(self.factor))

    @cached_property
    def _whiten(self) -> Any:
        return self.backend.whitener(self.factor)

    @cached_property
    def _whiten_single(self) -> Any:
        factor = self.backend.zeros((self.width, self.width), "float32")
        factor[:] = self.factor
        return self.backend.whitener(factor)

    def values(self, X: Any, dtype: str = "float64") -> Any:
        """k(x, L), which ``readout`` is applied to; shape (n, m)."""
        if sparse.issparse(self._landmarks):
            X = sparse.csr_array(X)
            return self.backend.asarray(self._function(X, self._landmarks), dtype)
        X = X.toarray() if sparse.issparse(X) else X
        X = X if self.centre is None else self._about_centre(X)
        A, L = (self._shifted(rows, dtype) for rows in (X, self._landmarks))
        function = self._function if dtype == "float64" else self._centred_function
        return self.backend.asarray(function(A, L), dtype)

    def _shifted(self, rows: np.ndarray, dtype: str) -> Any:
        """Rows in a precision; single digits are spent on what is left of them when centred."""
        centre = getattr(self.kernel, "centre_", None)
        if dtype == "float64" or centre is None:
            return self.backend.asarray(rows, dtype)
        rows = self.backend.asarray(rows, "float64") - self.backend.asarray(centre)
        return self.backend.asarray(rows, dtype)

    def features(self, X: Any, dtype: str | None = None) -> Any:
        """z(x) of the rows of X, in the precision of the sums when None; shape (n, m)."""
        dtype = self.dtype if dtype is None else dtype
        whiten = self._whiten_single if dtype == "float32" else self._whiten
        return whiten(self.values(X, dtype))

    def readout(self, coef: np.ndarray) -> Any:
        """B with values(x) @ B = features(x) @ coef, on the backend; shape (m, q)."""
        own = self.backend.zeros(coef.shape)
        own[:] = self.backend.asarray(coef)
        return self.backend.solve_lower(self.factor, own, transposed=True)


_KEPT = ("kernel", "landmarks", "residual", "dtype", "device", "centre")


class _ExplicitMap:
    """Features that are values of their own: nothing is left to multiply by."""

    condition = np.inf  # nothing is whitened
    dtype: str
    device: str | None

    @property
    def backend(self) -> Any:
        return backend_for(self.device)

    def values(self, X: Any, dtype: str = "float64") -> Any:
        """Features of the rows of X; shape (n, m)."""
        raise NotImplementedError

    def features(self, X: Any, dtype: str | None = None) -> Any:
        """The same, in the precision of the sums when None."""
        return self.values(X, self.dtype if dtype is None else dtype)

    def readout(self, coef: Any) -> Any:
        """The coefficients themselves."""
        return coef


@savable
class FourierMap(_ExplicitMap):
    r"""Random features :math:`\sqrt{2/m} \cos(\omega_j' x + b_j)` of the Gaussian kernel [1]_.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", 2007.
    """

    residual = np.nan

    def __init__(
        self,
        kernel: Any,
        directions: np.ndarray,
        offsets: np.ndarray,
        dtype: str = "float64",
        device: Any = None,
    ) -> None:
        self.kernel, self.directions, self.offsets = kernel, directions, offsets
        self.dtype, self.device = dtype, device

    @classmethod
    def of_sample(
        cls,
        kernel: Any,
        X: Any,
        n_landmarks: int | str,
        most: int,
        random_state: Any,
        dtype: str,
        device: Any,
    ) -> "FourierMap":
        """So many directions, drawn for the kernel's width."""
        if kernel.name != "rbf":
            raise ValueError(
                f'Random Fourier features stand for kernel="rbf"; got {kernel.name!r}. '
                '"nystroem" serves every kernel.'
            )
        _checked_backend(device, X)
        m = most if isinstance(n_landmarks, str) else int(n_landmarks)
        rng = check_random_state(random_state)
        directions = np.sqrt(2.0 * kernel.gamma_) * rng.standard_normal((X.shape[1], m))
        return cls(kernel, directions, rng.uniform(0.0, 2.0 * np.pi, m), dtype, device)

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.offsets)

    def values(self, X: Any, dtype: str = "float64") -> Any:
        """z(x) of the rows of X; shape (n, m)."""
        backend = self.backend
        # In double precision up to here: rows far from zero would lose their phase.
        X = X if sparse.issparse(X) else backend.asarray(X, "float64")
        Z = X @ backend.asarray(self.directions)
        Z += backend.asarray(self.offsets)
        Z = np.cos(Z, out=Z) if isinstance(Z, np.ndarray) else Z.cos_()
        Z *= np.sqrt(2.0 / self.width)
        return backend.asarray(Z, dtype)


@savable
class LinearMap(_ExplicitMap):
    """The inputs themselves: ridge regression in the primal, without anything left out.

    Parameters
    ----------
    kernel : fitted InputKernel
        The linear one.
    n_features : int
    centre : array of shape (n_features,) or None
        Taken off dense rows, whose common offset would eat digits; only with an intercept.
    """

    residual = 0.0

    def __init__(
        self,
        kernel: Any,
        n_features: int,
        centre: np.ndarray | None = None,
        dtype: str = "float64",
        device: Any = None,
    ) -> None:
        self.kernel, self.n_features, self.centre = kernel, n_features, centre
        self.dtype, self.device = dtype, device

    @classmethod
    def of_sample(cls, kernel: Any, X: Any, centred: bool, dtype: str, device: Any) -> "LinearMap":
        """Centred by the means of a sample, where there is an intercept."""
        if kernel.name != "linear":
            raise ValueError(
                f'features="linear" are those of kernel="linear"; got {kernel.name!r}. '
                '"nystroem" serves every kernel.'
            )
        _checked_backend(device, X)
        return cls(kernel, X.shape[1], _mean_of(X) if centred else None, dtype, device)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.n_features

    def values(self, X: Any, dtype: str = "float64") -> Any:
        """The rows of X, centred; shape (n, p)."""
        backend = self.backend
        X = backend.asarray(X.toarray() if sparse.issparse(X) else X, "float64")
        X = X * 1.0 if self.centre is None else X - backend.asarray(self.centre)  # a copy
        return backend.asarray(X, dtype)


def _mean_of(X: Any) -> np.ndarray | None:
    """The mean of dense rows, on the host; None of sparse ones, which would not stay sparse."""
    if sparse.issparse(X):
        return None
    mean: np.ndarray = np.asarray(_on_host(X), dtype=np.float64).mean(axis=0)
    return mean


def _far_mean_of(X: Any) -> np.ndarray | None:
    """The mean of dense rows that are far from zero for how they vary; None of others."""
    mean = _mean_of(X)
    if mean is None:
        return None
    variance = float(np.square(_on_host(X) - mean).mean(axis=0).sum())
    squares = float(mean @ mean)
    far = squares > FAR_FROM_ZERO * variance > FAR_FROM_ZERO * ROUNDING_VARIANCE * squares
    return mean if far else None


def _on_host(X: Any) -> Any:
    return X.detach().cpu().numpy() if is_tensor(X) else X


def _checked_backend(device: Any, X: Any) -> Any:
    backend = backend_for(device, X)
    if sparse.issparse(X) and not isinstance(backend, NumpyBackend):
        raise ValueError(
            "X is sparse, which devices do not take: give X.toarray(), or device=None."
        )
    return backend


def kernel_function(kernel: Any, backend: Any) -> Any:
    """The kernel as a function of arrays on a backend."""
    if not isinstance(backend, NumpyBackend):
        from skstruct.kernels.on_device import device_kernel

        return device_kernel(kernel, backend)
    if kernel.name == "rbf" and kernel.centre_ is not None:  # float32 stays float32
        return lambda A, B: gaussian(
            A - kernel.centre_.astype(A.dtype), B - kernel.centre_.astype(B.dtype), kernel.gamma_
        )
    return kernel
