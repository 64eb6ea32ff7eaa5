# SPDX-License-Identifier: BSD-3-Clause
"""The ridge system of features, for one penalty or a path of them, and rows left out of it."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.memory import parse_memory, row_blocks
from skstruct.backends import is_tensor
from skstruct.smoothing.base import group_numbers
from skstruct.smoothing.folds import packed
from skstruct.smoothing.nystroem.sums import Stats, merged


class FeatureSystem:
    r"""Solves :math:`(\bar G + \alpha I) B = \bar C` from sums over rows.

    With an intercept, :math:`\bar G = \sum_i s_i (z_i - \bar z)(z_i - \bar z)'` and
    :math:`\bar C = \sum_i s_i (z_i - \bar z)(t_i - \bar t)'`; the mean needs no penalty. One
    penalty takes a Cholesky factorization; a path takes one eigendecomposition.

    Parameters
    ----------
    stats : Stats
    fit_intercept : bool
    backend : Backend
    """

    lowest_ = 0.0  # no eigenvalue is below zero

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
            C -= self.stats.z[:, None] * self.mean_targets
        return C

    def coefficients(self, alpha: float, *, strict: bool = True) -> Any:
        """B of shape (m, q), on the backend.

        It is found the same way whether or not a path was asked for before, so that its bits do
        not depend on that. Unless ``strict``, penalties below rounding are taken as well.
        """
        C = self._centred_products
        if np.isinf(alpha):
            return C * 0.0
        A = self.backend.add_diagonal(self._centred_square(), alpha)
        factor, failed = self.backend.cholesky(A)
        if not failed:
            half = self.backend.solve_lower(factor, self.backend.copied(C))
            return self.backend.solve_lower(factor, half, transposed=True)
        if strict:
            raise LinAlgError(
                f"The features' squares plus alpha are not positive definite at {failed - 1} for "
                f"alpha = {alpha:.3g}. Use a larger alpha, or dtype='float64'."
            )
        values, vectors = self._decomposed
        return vectors @ (self._rotated_products / (values[:, None] + alpha))

    # ------------------------------------------------------------------ a path
    @cached_property
    def _decomposed(self) -> tuple[Any, Any]:
        values, vectors = self.backend.eigh(self._centred_square())
        values[values < 0] = 0.0  # rounding
        return values, vectors

    @cached_property
    def _rotated_products(self) -> Any:
        return self._decomposed[1].T @ self._centred_products

    @property
    def values_(self) -> Any:
        """Eigenvalues of the centred squares, on the host; shape (m,)."""
        return self.backend.to_host(self._decomposed[0])

    def rotated(self, Z: Any) -> Any:
        """Features in the eigenbasis, centred; shape (n, m)."""
        return (Z - self.mean_features) @ self._decomposed[1]

    def fitted(self, rotated: np.ndarray, alpha: float) -> Any:
        """Means at rows whose features were rotated; shape (n, q), on the backend."""
        if np.isinf(alpha):
            return rotated[:, :1] * 0.0 + self.mean_targets
        shares = 1.0 / (self._decomposed[0] + alpha)
        return (rotated * shares) @ self._rotated_products + self.mean_targets

    def products(self, rotated: np.ndarray, other: np.ndarray, alpha: float) -> Any:
        """z' (G + alpha I)^-1 z of rows whose features were rotated; (n, k), on the backend."""
        if np.isinf(alpha):
            return rotated @ other.T * 0.0
        return (rotated / (self._decomposed[0] + alpha)) @ other.T

    def leverages(self, rotated: np.ndarray, weight: np.ndarray, alpha: float) -> np.ndarray:
        """How much each row decides its own fit; shape (n,), on the host."""
        share = np.zeros(len(rotated))
        if not np.isinf(alpha):
            share = self.backend.to_host(
                (rotated * rotated) @ (1.0 / (self._decomposed[0] + alpha))
            )
        if self.fit_intercept:
            share = share + 1.0 / self.stats.weight
        return weight * share

    def left_out(
        self, rotated: np.ndarray, T: np.ndarray, weight: np.ndarray, alpha: float, groups: Any
    ) -> Any:
        r"""Means at training rows without them, :math:`(c_i - h_i t_i) / (1 - h_i)`; (n, q).

        Rows of a group are left out together, :math:`(I - H_g)^{-1} (c_g - H_g t_g)`, where all
        rows of a group are among these.

        Parameters
        ----------
        rotated : array of shape (n, m)
        T, weight : arrays of shapes (n, q) and (n,), on the host
        groups : array of shape (n,)
        """
        means = self.backend.to_host(self.fitted(rotated, alpha))
        h = self.leverages(rotated, weight, alpha)[:, None]
        left = (means - h * T) / np.maximum(1.0 - h, np.finfo(np.float64).eps)
        for rows in together(groups):
            H = self.backend.to_host(self.products(rotated[rows], rotated[rows], alpha))
            H = (H + (1.0 / self.stats.weight if self.fit_intercept else 0.0)) * weight[rows]
            left[rows] = np.linalg.solve(np.eye(len(rows)) - H, means[rows] - H @ T[rows])
        return left


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

    def loo(self, groups: Any = None) -> np.ndarray:
        """Predictions for all training rows, each (or its whole group) left out; (n, q)."""
        self._kept_rows()
        left = next(self._left_out_path([float(self.alpha)], groups, None))
        return left[:, 0] if self._one_target else left

    def loo_rows(self, rows: np.ndarray, groups: Any = None) -> np.ndarray:
        """``loo`` of some rows."""
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
        alphas = [float(alpha) for alpha in alphas]
        for alpha, blocks in zip(alphas, self._rotated(X, groups, numbers, len(alphas))):
            left = np.empty(T.shape)
            for here, Z, system, together in blocks:
                if together is None:  # rows of a fold, of which the system knows nothing
                    left[here] = system.backend.to_host(system.fitted(Z, alpha))
                else:
                    left[here] = system.left_out(Z, T[here], weight[here], alpha, together)
            yield left

    def _rotated(
        self, X: Any, groups: Any, numbers: np.ndarray | None, n_times: int
    ) -> Iterator[Any]:
        """Blocks of rows, their features in the eigenbasis of a system, and groups among them.

        They are computed once for every alpha, unless there is room to keep them.
        """
        blocks = self._blocks_to_leave(X, groups, numbers)

        def rotated() -> Iterator[tuple[np.ndarray, Any, FeatureSystem, Any]]:
            for here, system, together in blocks:
                Z = self.map_.features(X[here], "float64")
                yield here, system.rotated(Z), system, together

        room = 8 * self.map_.width * X.shape[0] <= max(parse_memory(self.memory), 50_000_000)
        if n_times > 1 and room:
            kept = list(rotated())
            return (kept for _ in range(n_times))
        return (rotated() for _ in range(n_times))

    def _blocks_to_leave(self, X: Any, groups: Any, numbers: np.ndarray | None) -> list[Any]:
        """Numbers of rows to judge, the system they are judged by, and the groups they are in."""
        n, step = X.shape[0], self._block_rows()
        if groups is None and self.folds_ is not None:
            return self._by_folds(self.folds_, self._without_each(self.fold_sums_), step)
        if groups is None:
            blocks = [np.arange(n)[rows] for rows in row_blocks(n, 1, step)]
            return [(here, self.system_, np.arange(len(here))) for here in blocks]
        _, _, weight = self._kept_rows()
        group = group_numbers(groups, len(self.rows_[1]), weight)
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
        T = T.detach().cpu().numpy() if is_tensor(T) else np.asarray(T)
        weight = np.ones(len(T)) if weight is None else weight
        return X, np.asarray(T if T.ndim == 2 else T[:, None], dtype=np.float64), weight

    def _without_folds(self, fold: np.ndarray) -> list[FeatureSystem]:
        """The system without each fold, by sums of the others."""
        X, T, weight = self._kept_rows()
        backend, T = self.map_.backend, T if T.ndim == 2 else T[:, None]
        sums = []
        for k in range(fold.max() + 1):
            stats = Stats.empty(self.map_.width, T.shape[1], backend)
            inside = np.flatnonzero(fold == k)
            for rows in row_blocks(len(inside), 1, self._block_rows()):
                here = inside[rows]
                Z = self.map_.features(X[here])
                part = None if weight is None else weight[here]
                stats.add(Z, backend.asarray(T[here], Z.dtype), part, backend)
            sums.append(stats)
        return self._without_each(sums)

    def _without_each(self, sums: list[Stats]) -> list[FeatureSystem]:
        """The system of all sums but one, for each of them."""
        others = (merged(sums[:k] + sums[k + 1 :]) for k in range(len(sums)))
        return [FeatureSystem(stats, self.fit_intercept, self.map_.backend) for stats in others]

    def _weights(self, X: Any, rows: Any, weight: np.ndarray | None) -> Any:
        """Weights of training rows, in blocks of these; shape (n, n_fitted)."""
        system, backend, alpha = self.system_, self.map_.backend, float(self.alpha)
        here = system.rotated(self.map_.features(X, "float64"))
        weight = np.ones(rows.shape[0]) if weight is None else weight
        W = np.empty((X.shape[0], rows.shape[0]))
        for part in row_blocks(rows.shape[0], 1, self._block_rows()):
            there = system.rotated(self.map_.features(rows[part], "float64"))
            W[:, part] = backend.to_host(system.products(here, there, alpha))
        if self.fit_intercept:
            W += 1.0 / self.stats_.weight
        return W * weight
