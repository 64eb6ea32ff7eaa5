# SPDX-License-Identifier: BSD-3-Clause
"""Local averages of training targets: weighted by a kernel (Nadaraya-Watson), or of neighbors."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from skstruct._arrays.memory import row_blocks
from skstruct.config import Configured
from skstruct.kernels import resolve_kernel
from skstruct.kernels.inputs import kernel_name
from skstruct.saving import savable
from skstruct.smoothing.base import WeightedMean
from skstruct.smoothing.facets import Learning, LearningByKernel
from skstruct.tolerances import DIFFERENCE_ROUNDING, NEAR_ROW


@savable
class NadarayaWatson(Configured, WeightedMean):
    r"""The mean of all training targets, weighted by a kernel that is nowhere negative.

    .. math:: w_i(x) = s_i k(x, x_i) / \textstyle\sum_j s_j k(x, x_j)

    with sample weights s. Far from all training rows the Gaussian kernel gives all weight
    to the nearest one, its limit; where another kernel is zero at all rows, the
    prediction is the mean of the targets.

    Parameters
    ----------
    kernel : str, kernel or callable, default="rbf"
        A kernel of :mod:`skstruct.kernels`, or the name that stands for it; a callable
        (A, B) -> matrix; or ``"precomputed"``. The gamma of ``"rbf"``, 1 / (sum of the
        variances of the features), makes it wide for a mean: try ``RBF(gamma=...)``. ``loo``
        keeps the gamma of all rows.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> X, T = [[0.0], [1.0], [9.0]], [[1, 0], [1, 0], [0, 1]]
    >>> model = NadarayaWatson(RBF(1.0)).fit(X, T)
    >>> model.weights([[0.5]]).round(3)
    array([[0.5, 0.5, 0. ]])
    >>> model.predict([[1000.0]])
    array([[0., 1.]])
    >>> model.loo().round(3)
    array([[1., 0.],
           [1., 0.],
           [1., 0.]])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
    ) -> None:
        self.kernel = kernel

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = kernel_name(self.kernel) == "precomputed"
        tags.regressor_tags.poor_score = isinstance(
            self.kernel, str
        )  # smooth, until gamma is chosen
        return tags

    def _learn(self, X: Any, targets: np.ndarray, sample_weight: Any) -> None:
        if kernel_name(self.kernel) == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel between training rows is square; got shape {X.shape}."
            )
        self.kernel_ = resolve_kernel(self.kernel).fit(X, sample_weight)
        self.X_fit_ = X

    def _average(self, X: Any, own: np.ndarray | None = None, groups: Any = None) -> np.ndarray:
        n, n_fitted = X.shape[0], len(self.targets_)
        means = np.empty((n, *self.targets_.shape[1:]))
        for rows in row_blocks(n, 32 * n_fitted, self.memory):  # weights, and copies on the way
            part = None if own is None else own[rows]
            means[rows] = self._weigh(X[rows], part, groups) @ self.targets_
        return means

    def _weigh(self, X: Any, own: np.ndarray | None = None, groups: Any = None) -> Any:
        left_out = None if own is None else own[:, None] == groups
        W = (
            self._gaussian(X, left_out)
            if self.kernel_.name == "rbf"
            else self._general(X, left_out)
        )
        W /= W.sum(axis=1, keepdims=True)
        return W

    def _gaussian(self, X: Any, left_out: np.ndarray | None) -> Any:
        """s_i exp(-gamma |x - x_i|^2), divided by its largest value in each row."""
        # Distances do not see a common shift, but their rounding errors do.
        shift = 0.0 if sparse.issparse(X) else self.X_fit_.mean(axis=0)
        from sklearn.metrics import euclidean_distances

        W = euclidean_distances(X - shift, self.X_fit_ - shift, squared=True)
        W *= -float(self.kernel_.gamma_ or 0.0)
        with np.errstate(divide="ignore"):
            W += np.log(self.sample_weight_)
        if left_out is not None:
            W[left_out] = -np.inf
        W -= W.max(axis=1, keepdims=True)
        return np.exp(W, out=W)

    def _general(self, X: Any, left_out: np.ndarray | None) -> Any:
        K = X if self.kernel_.name == "precomputed" else self.kernel_(X, self.X_fit_)
        K = self._nonnegative(K)
        used = self.sample_weight_ if left_out is None else self.sample_weight_ * ~left_out
        W = K * used
        return np.where(W.any(axis=1, keepdims=True), W, used)

    def _nonnegative(self, K: Any) -> Any:
        K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)
        if K.ndim != 2 or K.shape[1] != len(self.targets_):
            raise ValueError(
                f"The kernel should give one column per training row, {len(self.targets_)}; "
                f"it gave shape {K.shape}."
            )
        # Rounding may leave a zero slightly negative.
        lowest = -DIFFERENCE_ROUNDING * np.nanmax(np.abs(K), initial=0.0)
        bad = np.argwhere(~((lowest <= K) & (np.inf > K)))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                "NadarayaWatson needs a finite kernel that is nowhere negative, such as rbf or "
                f"laplacian; {self.kernel!r} is {K[row, column]:.6g} at training row {column}. "
                "KernelRidge takes kernels of any sign."
            )
        return np.maximum(K, 0.0)


Learning.at(NadarayaWatson, LearningByKernel)


@savable
class Neighbors(WeightedMean):
    r"""The mean target of the k nearest training rows.

    .. math:: w_i(x) \propto m_i(x) \quad\text{or}\quad m_i(x) / d(x, x_i)

    with :math:`m_i` one for the k nearest rows and zero for the others. Leaving rows out
    takes the next nearest in their place, which is what refitting would do.

    Parameters
    ----------
    n_neighbors : int, default=10
        With fewer rows than that, all of them are used.
    weighting : "uniform" or "distance", default="uniform"
        With "distance" and rows at distance zero, only these count.
    metric : str or callable, default="minkowski"
        Any metric of :class:`sklearn.neighbors.NearestNeighbors`, also "precomputed".
    n_jobs : int, default=None

    Notes
    -----
    A row of sample weight s counts as s rows: neighbors are taken until their weights add
    up to ``n_neighbors``, and of the last one only what is missing. Whole numbers
    therefore act as repetitions. Weights that mean proportions should average one.

    Examples
    --------
    >>> X, T = [[0.0], [1.0], [2.0], [9.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = Neighbors(n_neighbors=2).fit(X, T)
    >>> model.predict([[1.6]])
    array([[0.5, 0.5]])
    >>> model.weights([[1.6]]).toarray()
    array([[0. , 0.5, 0.5, 0. ]])
    >>> model.loo()[3]
    array([0.5, 0.5])
    """

    index_: Any

    def __init__(
        self,
        n_neighbors: int = 10,
        weighting: str = "uniform",
        metric: str | Callable[..., Any] = "minkowski",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.metric = metric
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _learn(self, X: Any, targets: np.ndarray, sample_weight: Any) -> None:
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(
                f"n_neighbors must be a whole number of at least 1; got {self.n_neighbors!r}."
            )
        if self.weighting not in ("uniform", "distance"):
            raise ValueError(f'weighting is "uniform" or "distance"; got {self.weighting!r}.')
        self.X_fit_ = X
        from sklearn.neighbors import NearestNeighbors  # slow to import

        self.index_ = NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(X)

    def _weigh(self, X: Any, own: np.ndarray | None = None, groups: Any = None) -> Any:
        n = len(self.sample_weight_)
        # One more when leaving out: the row itself. Who still lacks some asks for twice as many.
        reach = min(n, self.n_neighbors + (own is not None))
        waiting, parts = np.arange(X.shape[0]), []
        while len(waiting):
            distances, found = self.index_.kneighbors(X[waiting], reach)
            mass = self.sample_weight_[found]
            if own is not None:
                mass[groups[found] == own[waiting, None]] = 0.0
            through = mass.cumsum(axis=1)
            done = (through[:, -1] >= self.n_neighbors) | (reach == n)
            # What each neighbor adds to those before it, up to n_neighbors in all.
            mass = np.clip(self.n_neighbors - through + mass, 0.0, mass)
            rows, mass, distances, found = waiting[done], mass[done], distances[done], found[done]
            if self.weighting == "distance":
                mass = _by_distance(mass, self._settled(X[rows], found, distances))
            parts.append(_triplets(rows, found, mass / mass.sum(axis=1, keepdims=True)))
            waiting, reach = waiting[~done], min(n, 2 * reach)
        rows, columns, values = map(np.concatenate, zip(*parts))
        return sparse.csr_array((values, (rows, columns)), shape=(X.shape[0], n))

    def _settled(self, X: Any, found: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Distances with exact zeros for equal rows.

        Where scikit-learn expands |a - b|^2 it finds about 1e-8 |a| instead, and another
        value for another batch.
        """
        if self.metric == "precomputed":
            return distances
        near = (distances > 0) & (distances <= NEAR_ROW * row_norms(X)[:, None])
        rows, columns = np.nonzero(near)
        gaps = abs(X[rows] - self.X_fit_[found[rows, columns]]).sum(axis=1)
        equal = np.asarray(gaps).ravel() == 0
        distances[rows[equal], columns[equal]] = 0.0
        return distances


def _by_distance(mass: np.ndarray, distances: np.ndarray) -> Any:
    """mass / distance; in rows with a match at distance zero, the mass of the matches."""
    match = (distances == 0) & (mass > 0)
    faded = np.divide(mass, distances, out=np.zeros_like(mass), where=distances > 0)
    return np.where(match.any(axis=1, keepdims=True), mass * match, faded)


def _triplets(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and value of each entry that is not zero."""
    where, _ = inside = np.nonzero(values)
    return rows[where], columns[inside], values[inside]
