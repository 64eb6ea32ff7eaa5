# SPDX-License-Identifier: BSD-3-Clause
"""Averages over the nearest training rows."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from skstruct.smoothing.base import WeightedMean


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

    def __init__(self, n_neighbors=10, weighting="uniform", metric="minkowski", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.metric = metric
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _learn(self, X, targets, sample_weight):
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(
                f"n_neighbors must be a whole number of at least 1; got {self.n_neighbors!r}."
            )
        if self.weighting not in ("uniform", "distance"):
            raise ValueError(f'weighting is "uniform" or "distance"; got {self.weighting!r}.')
        self.X_fit_ = X
        from sklearn.neighbors import NearestNeighbors  # slow to import

        self.index_ = NearestNeighbors(metric=self.metric, n_jobs=self.n_jobs).fit(X)

    def _weigh(self, X, own=None, groups=None):
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

    def _settled(self, X, found, distances):
        """Distances with exact zeros for equal rows.

        Where scikit-learn expands |a - b|^2 it finds about 1e-8 |a| instead, and another
        value for another batch.
        """
        if self.metric == "precomputed":
            return distances
        near = (distances > 0) & (distances <= 1e-6 * row_norms(X)[:, None])
        rows, columns = np.nonzero(near)
        gaps = abs(X[rows] - self.X_fit_[found[rows, columns]]).sum(axis=1)
        equal = np.asarray(gaps).ravel() == 0
        distances[rows[equal], columns[equal]] = 0.0
        return distances


def _by_distance(mass, distances):
    """mass / distance; in rows with a match at distance zero, the mass of the matches."""
    match = (distances == 0) & (mass > 0)
    faded = np.divide(mass, distances, out=np.zeros_like(mass), where=distances > 0)
    return np.where(match.any(axis=1, keepdims=True), mass * match, faded)


def _triplets(rows, columns, values):
    """Row, column and value of each entry that is not zero."""
    where, _ = inside = np.nonzero(values)
    return rows[where], columns[inside], values[inside]
