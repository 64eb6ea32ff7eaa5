# SPDX-License-Identifier: BSD-3-Clause
"""The ridge system of features, for one penalty or a path of them, and rows left out of it."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import parse_memory, row_blocks
from skstruct._arrays.rows import dense
from skstruct.backends import is_tensor
from skstruct.smoothing.base import group_numbers
from skstruct.smoothing.bracketing import BRACKETED
from skstruct.smoothing.folds import packed
from skstruct.smoothing.nystroem.sums import Stats, merged

DECOMPOSITION = 20.0  # factorizations that an eigendecomposition takes


class FeatureSystem:
    r"""Solves :math:`(\bar G + \alpha I) B = \bar C` from sums over rows.

    With an intercept, :math:`\bar G = \sum_i s_i (z_i - \bar z)(z_i - \bar z)'` and
    :math:`\bar C = \sum_i s_i (z_i - \bar z)(t_i - \bar t)'`; the mean needs no penalty. One
    penalty takes a Cholesky factorization; many of them may take one eigendecomposition.

    Parameters
    ----------
    stats : Stats
    fit_intercept : bool
    backend : Backend
    """

    def __init__(self, stats: Stats, fit_intercept: bool, backend: Any) -> None:
        if not stats.weight > 0:
            raise ValueError("All sample weights are zero.")
        self.stats, self.fit_intercept, self.backend = stats, fit_intercept, backend

    @property
    def mean_features(self) -> Any:
        """z-bar, or zero without an intercept; shape (m,)."""
        stats = self.stats
        return stats.z / stats.weight if self.fit_intercept else stats.z * 0.0

    @property
    def mean_targets(self) -> Any:
        """t-bar, or zero; shape (q,)."""
        stats = self.stats
        return stats.t / stats.weight if self.fit_intercept else stats.t * 0.0

    def _centred_square(self) -> Any:
        G = self.backend.copied(self.stats.G)
        if self.fit_intercept:
            mean = self.mean_features
            for start in range(0, len(G), 1024):  # no second matrix of that size
                columns = slice(start, start + 1024)
                G[:, columns] -= self.stats.z[:, None] * mean[columns]
        return G

    @cached_property
    def _centred_products(self) -> Any:
        C = self.backend.copied(self.stats.C)
        if self.fit_intercept:
            mean = self.mean_targets
            for start in range(0, len(mean), 1024):
                columns = slice(start, start + 1024)
                C[:, columns] -= self.stats.z[:, None] * mean[columns]
        return C

    @property
    def trace(self) -> float:
        """Of the centred squares: the sum of their eigenvalues."""
        squares = self.backend.to_host(self.stats.G.diagonal())
        mean = self.backend.to_host(self.mean_features)
        centre = float(mean @ mean) * self.stats.weight
        return max(0.0, float(squares.sum()) - centre)

    def coefficients(self, alpha: float, *, strict: bool = True) -> Any:
        """B of shape (m, q), on the backend.

        Unless ``strict``, penalties below rounding are taken as well.
        """
        if np.isinf(alpha):
            return self._centred_products * 0.0
        factor, failed = self._factored(alpha)
        if failed and strict:
            raise LinAlgError(
                f"The features' squares plus alpha are not positive definite at {failed - 1} for "
                f"alpha = {alpha:.3g}. Use a larger alpha, or dtype='float64'."
            )
        return (SpectralPenalty if failed else FactoredPenalty)(self, alpha, factor).coefficients

    def _factored(self, alpha: float) -> tuple[Any, int]:
        A = self.backend.add_diagonal(self._centred_square(), alpha)
        return self.backend.cholesky(A)

    @cached_property
    def decomposed(self) -> tuple[Any, Any]:
        """Eigenvalues (m,) and eigenvectors (m, m) of the centred squares."""
        values, vectors = self.backend.eigh(self._centred_square())
        values[values < 0] = 0.0  # rounding
        return values, vectors

    def at(self, alpha: float, spectral: bool = False) -> "Penalty":
        """What rows are left out by; one factorization, or the eigenvectors of all penalties."""
        if np.isinf(alpha):
            return Penalty(self, alpha)
        factor, failed = (None, 0) if spectral else self._factored(alpha)
        return (SpectralPenalty if spectral or failed else FactoredPenalty)(self, alpha, factor)


class Penalty:
    r"""A system with one penalty: means at rows, and :math:`z' (\bar G + \alpha I)^{-1} z`.

    This one is infinite, and leaves nothing but the mean.

    Parameters
    ----------
    system : FeatureSystem
    alpha : float
    factor : array of shape (m, m), default=None
        Lower triangle L of :math:`\bar G + \alpha I = L L'`.
    """

    def __init__(self, system: FeatureSystem, alpha: float, factor: Any = None) -> None:
        self.system, self.backend = system, system.backend
        self.alpha, self.factor = alpha, factor

    def half(self, Z: Any) -> Any:
        """S (z - z-bar) with S'S the inverse of the system; shape (m, n), on the backend."""
        return (Z - self.system.mean_features).T * 0.0

    @cached_property
    def coefficients(self) -> Any:
        """B of shape (m, q)."""
        return self.system._centred_products * 0.0

    def fitted(self, Z: Any) -> Any:
        """Means at rows by their features Z (n, m); shape (n, q), on the backend."""
        shift = self.system.mean_targets - self.system.mean_features @ self.coefficients
        return Z @ self.coefficients + shift

    def products(self, Z: Any, other: Any) -> Any:
        """How much rows decide the means at others, for their weight; shape (n, k), on the host."""
        there = self.half(Z)
        found = self.backend.to_host(there.T @ (there if other is Z else self.half(other)))
        return found + 1.0 / self.system.stats.weight if self.system.fit_intercept else found

    def leverages(self, Z: Any, weight: np.ndarray) -> Any:
        """How much each row decides its own fit; shape (n,), on the host."""
        half = self.half(Z)
        share: np.ndarray = self.backend.to_host((half * half).sum(0))
        if self.system.fit_intercept:
            share = share + 1.0 / self.system.stats.weight
        return weight * share

    def left_out(self, Z: Any, T: np.ndarray, weight: np.ndarray, groups: Any) -> Any:
        r"""Means at training rows without them, :math:`(c_i - h_i t_i) / (1 - h_i)`; (n, q).

        Rows of a group are left out together, :math:`(I - H_g)^{-1} (c_g - H_g t_g)`, where all
        rows of a group are among these.

        Parameters
        ----------
        Z : array of shape (n, m), on the backend
        T, weight : arrays of shapes (n, q) and (n,), on the host
        groups : array of shape (n,)
        """
        means = self.backend.to_host(self.fitted(Z))
        h = self.leverages(Z, weight)[:, None]
        left = (means - h * T) / np.maximum(1.0 - h, np.finfo(np.float64).eps)
        for rows in together(groups):
            H = self.products(Z[rows], Z[rows]) * weight[rows]
            left[rows] = np.linalg.solve(np.eye(len(rows)) - H, means[rows] - H @ T[rows])
        return left


class FactoredPenalty(Penalty):
    """By a Cholesky factorization of this penalty's own."""

    def half(self, Z: Any) -> Any:
        centred = (Z - self.system.mean_features).T
        return self.backend.solve_lower(self.factor, centred)

    @cached_property
    def coefficients(self) -> Any:
        """B of shape (m, q)."""
        half = self.backend.solve_lower(
            self.factor, self.backend.copied(self.system._centred_products)
        )
        return self.backend.solve_lower(self.factor, half, transposed=True)


class SpectralPenalty(Penalty):
    """By eigenvectors that serve every penalty, also one that is below rounding."""

    def half(self, Z: Any) -> Any:
        values, vectors = self.system.decomposed
        rotated = (Z - self.system.mean_features) @ vectors
        return (rotated / (values + self.alpha) ** 0.5).T

    @cached_property
    def coefficients(self) -> Any:
        """B of shape (m, q)."""
        values, vectors = self.system.decomposed
        rotated = vectors.T @ self.system._centred_products
        return vectors @ (rotated / (values[:, None] + self.alpha))


def together(groups: Any) -> list[np.ndarray]:
    """Numbers of the rows of every group that has more than one."""
    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    if not len(sizes) or sizes.max() == 1:
        return []
    return [rows for rows in np.split(order, np.cumsum(sizes)[:-1]) if len(rows) > 1]


# Rows that are left out together: by group, or by sets of groups.


FOLDS = 10  # sets of groups at most
LARGEST_GROUP = 2000  # rows: a larger one would take longer than the sums of ten folds


def fold_numbers(number: np.ndarray) -> Any:
    """The fold of each row: rows of a group together, at most ten folds of about equal size.

    >>> fold_numbers(np.array([0, 0, 1]))
    array([0, 0, 1])
    """
    sizes = np.bincount(number)
    if len(sizes) <= FOLDS:
        return number
    return packed(sizes, FOLDS)[number]


def group_blocks(number: np.ndarray, step: int) -> list[np.ndarray]:
    """Numbers of rows in blocks of whole groups, about so many rows in each.

    >>> group_blocks(np.array([1, 0, 1, 2]), 2)
    [array([1, 0, 2]), array([3])]
    """
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number))
    cuts = [0]
    for end in ends:
        if end - cuts[-1] >= step or end == len(order):
            cuts.append(int(end))
    return [order[a:b] for a, b in zip(cuts, cuts[1:])]  # noqa: RUF007


# Leaving rows out of a ridge regression on features, without fitting again.


FEW_MORE = 2  # times the rows that are judged: groups of these are left out without folds


class LeftOut:
    """Predictions for training rows without these rows; landmarks stay as they are.

    A child has ``map_``, ``system_``, ``rows_``, ``sample_`` and ``left_out_rows_``.
    """

    map_: Any
    system_: Any
    sums_: Any
    stats_: Any
    rows_: Any
    sample_: Any
    left_out_rows_: Any
    folds_: Any
    fold_sums_: Any
    memory: Any
    alpha: float
    fit_intercept: bool
    _one_target: bool
    _kept_rows: Callable[[], Any]
    _block_rows: Callable[[], int]

    def loo(self, groups: Any = None, rows: np.ndarray | None = None) -> np.ndarray:
        """Predictions for all training rows, or for some, each (or its group) left out; (n, q)."""
        self._kept_rows()
        left = next(self._left_out_path([float(self.alpha)], groups, rows))
        return left[:, 0] if self._one_target else left

    def loo_path(self, alphas: Any, groups: Any = None) -> Iterator[Any]:
        """Left-out predictions for each alpha in turn; a generator of (k, q).

        The k rows are those numbered ``left_out_rows_`` (all when None): the sample that landmarks
        were chosen from. What is left out of the sums is exact; judging a choice by a sample of
        ten thousand rows or more is nearly as sharp as by all of them.

        Parameters
        ----------
        groups : array of shape (n,), default=None
            Rows that are left out together. Of more than ten groups that have more than twice
            as many rows as the sample, or more than 2,000 rows, ten sets of groups are left out.
        """
        check_is_fitted(self)
        return self._left_out_path(alphas, groups, self.left_out_rows_)

    def _left_out_path(
        self, alphas: Any, groups: Any, numbers: np.ndarray | None
    ) -> Iterator[np.ndarray]:
        if groups is not None and numbers is not None:
            whole = self._whole_groups(groups, numbers)
            if len(whole) <= FEW_MORE * len(numbers):  # else folds take less
                path = self._left_out_path_of(alphas, groups, whole)
                yield from (left[np.searchsorted(whole, numbers)] for left in path)
                return
        yield from self._left_out_path_of(alphas, groups, numbers)

    @staticmethod
    def _whole_groups(groups: Any, numbers: np.ndarray) -> np.ndarray:
        """Numbers of all rows of the groups that some rows are in, in order."""
        _, group = np.unique(np.asarray(groups), return_inverse=True)
        return np.flatnonzero(np.isin(group, group[numbers]))

    def _left_out_path_of(
        self, alphas: Any, groups: Any, numbers: np.ndarray | None
    ) -> Iterator[np.ndarray]:
        X, T, weight = self._rows_to_judge(numbers)
        blocks = self._blocks_to_leave(X, groups, numbers)
        n_alphas = len(alphas) if hasattr(alphas, "__len__") else BRACKETED
        spectral = n_alphas > 1 and self._is_spectral(X.shape[0], n_alphas)
        room = 8 * self.map_.width * X.shape[0] <= max(parse_memory(self.memory), 50_000_000)
        kept: dict[int, Any] = {}  # features, where there is room for all of them
        for alpha in alphas:
            left, last = np.empty(T.shape), None
            for number, (here, system, together) in enumerate(blocks):
                if last is None or last.system is not system:
                    last = system.at(float(alpha), spectral)
                Z = kept[number] if number in kept else self.map_.features(X[here], "float64")
                if n_alphas > 1 and room:
                    kept[number] = Z
                if together is None:  # rows of a fold, of which the system knows nothing
                    left[here] = last.backend.to_host(last.fitted(Z))
                else:
                    left[here] = last.left_out(Z, T[here], weight[here], together)
            yield left

    def _is_spectral(self, n_rows: int, n_alphas: int) -> bool:
        """Whether eigenvectors take less than a factorization for every penalty.

        In factorizations of m features' squares: rows are solved for at three m of them a unit.
        """
        rows = 3.0 * n_rows / self.map_.width
        return bool(n_alphas * (1.0 + rows) > DECOMPOSITION + rows)

    def _blocks_to_leave(self, X: Any, groups: Any, numbers: np.ndarray | None) -> list[Any]:
        """Numbers of rows to judge, the system they are judged by, and the groups they are in."""
        n, step = X.shape[0], self._block_rows()
        if groups is None and self.folds_ is not None:
            return self._by_folds(self.folds_, self._without_each(self.fold_sums_), step)
        if groups is None:
            blocks = [np.arange(n)[rows] for rows in row_blocks(n, 1, step)]
            return [(here, self.system_, np.arange(len(here))) for here in blocks]
        _, _, weight = self._kept_rows()
        group = group_numbers(groups, self.rows_[1].shape[0], weight)
        sizes = np.bincount(group)
        if len(sizes) > FOLDS and sizes.max() <= LARGEST_GROUP and self._are_whole(group, numbers):
            kept = group if numbers is None else group[numbers]
            judged = np.unique(kept, return_inverse=True)[1].reshape(-1)
            return [(here, self.system_, judged[here]) for here in group_blocks(judged, step)]
        fold = fold_numbers(group)
        judged = fold if numbers is None else fold[numbers]
        return self._by_folds(judged, self._without_folds(fold), step)

    def _are_whole(self, group: np.ndarray, numbers: np.ndarray | None) -> bool:
        """Whether every group has all of its rows among those numbered, or none."""
        return numbers is None or len(self._whole_groups(group, numbers)) == len(numbers)

    @staticmethod
    def _by_folds(
        judged: np.ndarray, systems: list[FeatureSystem], step: int
    ) -> list[tuple[np.ndarray, FeatureSystem, None]]:
        return [
            (np.flatnonzero(judged == k)[rows], system, None)
            for k, system in enumerate(systems)
            for rows in row_blocks(int(np.count_nonzero(judged == k)), 1, step)
        ]

    def _rows_to_judge(self, numbers: np.ndarray | None) -> tuple[Any, np.ndarray, np.ndarray]:
        """Inputs, targets on the host (k, q) and weights of training rows by number."""
        if self.rows_ is None:
            X, T, weight = self.sample_ or self._kept_rows()
        else:
            X, T, weight = self.rows_
            if numbers is not None:
                X, T = X[numbers], T[numbers]
                weight = None if weight is None else weight[numbers]
        T = T.detach().cpu().numpy() if is_tensor(T) else dense(T)
        weight = np.ones(len(T)) if weight is None else weight
        return X, np.asarray(T if T.ndim == 2 else T[:, None], dtype=np.float64), weight

    def _without_folds(self, fold: np.ndarray) -> list[FeatureSystem]:
        """The system without each fold, by sums of the others."""
        X, T, weight = self._kept_rows()
        T, sums = T if T.ndim == 2 else T[:, None], []
        for k in range(fold.max() + 1):
            stats, inside = None, np.flatnonzero(fold == k)
            for rows in row_blocks(len(inside), 1, self._block_rows()):
                here = inside[rows]
                part = None if weight is None else weight[here]
                stats = self.sums_.added(stats, X[here], T[here], part)
            sums.append(self.sums_.finished(stats))
        return self._without_each(sums)

    def _without_each(self, sums: list[Stats]) -> list[FeatureSystem]:
        """The system of all sums but one, for each of them."""
        others = (merged(sums[:k] + sums[k + 1 :]) for k in range(len(sums)))
        return [FeatureSystem(stats, self.fit_intercept, self.map_.backend) for stats in others]

    def _weights(self, X: Any, rows: Any, weight: np.ndarray | None) -> Any:
        """Weights of training rows, in blocks of these; shape (n, n_fitted)."""
        penalty = self.system_.at(float(self.alpha))
        here = self.map_.features(X, "float64")
        weight = np.ones(rows.shape[0]) if weight is None else weight
        W = np.empty((X.shape[0], rows.shape[0]))
        for part in row_blocks(rows.shape[0], 1, self._block_rows()):
            there = self.map_.features(rows[part], "float64")
            W[:, part] = penalty.products(here, there)
        return W * weight
