# SPDX-License-Identifier: BSD-3-Clause
"""What is summed over rows: features, or kernel values that are whitened once, at the end."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.smoothing.nystroem.sums import Stats, targets_on
from skstruct.smoothing.nystroem.system import FeatureSystem
from skstruct.smoothing.penalties import DECADES
from skstruct.smoothing.projections import few_targets

WORST_CONDITION = 1e6  # of k(L, L): at most ten of sixteen digits are lost by whitening sums
SINGLE_ROWS = 100_000  # above so many, single precision is tried
ROWS_A_FEATURE = 4  # rows that it is tried on, for every feature
TRIED_SHARE = 0.1  # of all rows, at most
SINGLE_ERROR = 1e-3  # of the means' deviation: what single precision may change


class FeatureSums:
    """Sums of the features themselves: landmarks may be as close to each other as they like."""

    name = "features"

    def __init__(self, feature_map: Any) -> None:
        self.map = feature_map

    @property
    def backend(self) -> Any:
        return self.map.backend

    def added(self, stats: Stats | None, X: Any, T: Any, weight: Any, square: bool = True) -> Stats:
        """The sums with some more rows, in steps that do not depend on how many come at once."""
        if stats is None:
            stats = Stats.empty(self.map.width, T.shape[1], self.backend)
        n = T.shape[0]
        size = self.backend.rows_at_a_time(self.map.width) or max(1, n)
        for rows in (slice(start, start + size) for start in range(0, n, size)):
            part = None if weight is None else weight[rows]
            self._add(stats, X[rows], T[rows], part, square)
        return stats

    def _add(self, stats: Stats, X: Any, T: Any, weight: Any, square: bool) -> None:
        Z = self._summands(X)
        stats.add(Z, targets_on(self.backend, T, "float64"), weight, self.backend, square)

    def _summands(self, X: Any) -> Any:
        return self.map.features(X)

    def finished(self, stats: Stats) -> Stats:
        """Sums of features, of sums over all rows."""
        return stats

    def readout(self, coef: Any) -> Any:
        """B with what is summed @ B = features @ coef; shape (m, q)."""
        return self.backend.asarray(coef)

    def of_features(self, products: Any) -> Any:
        """Products of features, of products of what is summed; shape (m, q)."""
        return products


class KernelSums(FeatureSums):
    r"""Sums of kernel values k(x) with the landmarks; features are R^-1 k, with R R' = k(L, L).

    .. math:: \sum_i s_i z_i z_i' = R^{-1} \Bigl(\sum_i s_i k_i k_i'\Bigr) R'^{-1}, \qquad
              \sum_i s_i z_i t_i' = R^{-1} \sum_i s_i k_i t_i'

    Half of the work of whitening every row, and the condition of R R' times the rounding errors.
    In single precision, k - c is summed for a vector c near the mean: products of what all rows
    share would take the digits. With :math:`d = k - c`, :math:`\sum s k k' = \sum s d d' +
    (\sum s d) c' + c (\sum s d)' + (\sum s) c c'`.

    Parameters
    ----------
    feature_map : NystroemMap
    centre : array of shape (m,), default=None
        The vector c; sums are of values in single precision where it is given.
    """

    def __init__(self, feature_map: Any, centre: np.ndarray | None = None) -> None:
        super().__init__(feature_map)
        self.centre = centre

    @property
    def name(self) -> str:  # type: ignore[override]
        """Which sums they are: those of one name can be added."""
        if self._plain:
            return "kernel values"
        return f"kernel values less {crc32(self._single_centre.tobytes()):x} in single precision"

    @cached_property
    def _single_centre(self) -> Any:
        return self.backend.asarray(self.centre, "float32")

    def _summands(self, X: Any) -> Any:
        if self.centre is None:
            return self.map.values(X)
        K = self.map.values(X, "float32")
        K -= self._single_centre
        return K

    def finished(self, stats: Stats) -> Stats:
        """Sums of features, of sums over all rows."""
        backend, factor = self.backend, self.map.factor
        products = np.column_stack([stats.C, stats.z] + ([] if self._plain else [self._offset]))
        products = backend.solve_lower(factor, np.asfortranarray(products))
        q = stats.C.shape[1]
        C, z = products[:, :q].copy(order="F"), products[:, q].copy()
        G = backend.whiten_square(factor, stats.G)
        if not self._plain:
            c = products[:, q + 1]
            z_full = z + stats.weight * c
            for start in range(0, len(G), 1024):  # no second matrix of that size
                columns = slice(start, start + 1024)
                G[:, columns] += np.outer(z, c[columns]) + np.outer(c, z_full[columns])
            C += np.outer(c, stats.t)
            z = z_full
        return Stats(G, C, z, stats.t, stats.yy, stats.weight, stats.n)

    def readout(self, coef: Any) -> Any:
        return self.map.readout(coef)

    def of_features(self, products: Any) -> Any:
        return self.backend.solve_lower(self.map.factor, products)

    @property
    def _plain(self) -> bool:
        return self.centre is None

    @property
    def _offset(self) -> np.ndarray:
        """c as it was subtracted."""
        return np.asarray(self._single_centre, dtype=np.float64)


def chosen_sums(
    feature_map: Any,
    sample: tuple[Any, np.ndarray, Any] | None = None,
    n_rows: int | None = None,
    alpha: float = np.inf,
) -> FeatureSums:
    """The sums of least work that are as good as those of features, by a sample of the rows.

    Kernel values are summed where the condition of k(L, L) is at most 10^6. Beyond 100,000 rows
    they are summed in single precision, if this changes the fitted means of the sample by less
    than a thousandth of their deviation: at ``alpha``, or at the lowest penalty that is ever
    tried if that is infinite. With as many times the rows as there are, it changes them less.

    Parameters
    ----------
    feature_map : NystroemMap, FourierMap or LinearMap
    sample : inputs, targets of shape (k, q) and weights or None, default=None
        Without it, and without the number of rows, all is in double precision.
    n_rows : int, default=None
        Of all.
    alpha : float, default=inf
    """
    if feature_map.condition > WORST_CONDITION or feature_map.dtype != "float64":
        return FeatureSums(feature_map)
    double = KernelSums(feature_map)
    tried = ROWS_A_FEATURE * feature_map.width
    if sample is None or n_rows is None or n_rows <= SINGLE_ROWS or tried > TRIED_SHARE * n_rows:
        return double
    X, T, weight = _some(sample, tried)
    if weight is not None and not weight.sum() > 0:
        return double
    values = feature_map.values(X)
    rough = KernelSums(feature_map, np.asarray(values).mean(axis=0))
    change = _change(double, rough, (X, T, weight), alpha * len(T) / n_rows)
    return rough if change <= SINGLE_ERROR else double


def _some(sample: tuple[Any, np.ndarray, Any], count: int) -> tuple[Any, np.ndarray, Any]:
    """At most so many rows of a sample, evenly; combinations of targets where these are many."""
    X, T, weight = sample
    n = T.shape[0]
    if n > count:
        rows = np.linspace(0, n - 1, count).astype(np.int64)
        X, T, weight = X[rows], T[rows], None if weight is None else weight[rows]
    T = few_targets(dense(T, np.float64).reshape(T.shape[0], -1))
    return X, T, None if weight is None else np.asarray(weight)


def _change(
    double: KernelSums, rough: KernelSums, sample: tuple[Any, np.ndarray, Any], alpha: float
) -> float:
    """By what share of their deviation the fitted means of a sample change."""
    factor, coefficients = double.map.factor, []
    for sums in (double, rough):
        stats = sums.finished(sums.added(None, *sample))
        system = FeatureSystem(stats, fit_intercept=True, backend=sums.backend)
        penalty = alpha if np.isfinite(alpha) else 10.0**-DECADES * system.trace
        try:
            coefficients.append(system.coefficients(penalty))
        except np.linalg.LinAlgError:
            return np.inf
    exact, other = coefficients
    stacked = np.asfortranarray(np.column_stack([exact - other, exact]))
    readout = double.backend.solve_lower(factor, stacked, transposed=True)
    means = double.map.values(sample[0]) @ readout
    change, fitted = np.hsplit(means - means.mean(axis=0), 2)
    spread = float(np.sqrt(np.mean(fitted**2)))
    return float(np.sqrt(np.mean(change**2))) / spread if spread > 0 else np.inf
