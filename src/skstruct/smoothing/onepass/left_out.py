# SPDX-License-Identifier: BSD-3-Clause
"""Leaving rows out of a ridge regression on features, without fitting again."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.blocks import row_blocks
from skstruct.backends import is_tensor
from skstruct.smoothing.onepass.stats import Stats, merged
from skstruct.smoothing.onepass.system import FeatureSystem

FOLDS = 10  # groups are left out so many at a time at most


class LeftOut:
    """Predictions for training rows without these rows; landmarks stay as they are.

    A child has ``map_``, ``system_``, ``rows_``, ``sample_`` and ``left_out_rows_``.
    """

    def loo(self, groups=None):
        """Predictions for all training rows, each (or its whole group) left out; (n, q)."""
        X, _, _ = self._kept_rows()
        path = self._left_out_path([float(self.alpha)], groups, np.arange(X.shape[0]))
        left = next(path)
        return left[:, 0] if self._one_target else left

    def loo_path(self, alphas, groups=None):
        """Left-out predictions for each alpha in turn; a generator of (k, q).

        The k rows are those numbered ``left_out_rows_`` (all when None): the sample that landmarks
        were chosen from. What is left out of the sums is exact; judging a choice by a sample of
        ten thousand rows or more is nearly as sharp as by all of them.

        Parameters
        ----------
        groups : array of shape (n,), default=None
            Rows that are left out together, for which sums of each group, or of ten sets of
            groups, are collected in a second pass.
        """
        check_is_fitted(self)
        return self._left_out_path(alphas, groups, self.left_out_rows_)

    def _left_out_path(self, alphas, groups, numbers):
        X, T, weight = self._rows_to_judge(numbers)
        if groups is None:
            parts = [(slice(None), self.system_)]
        else:
            parts = self._folds(groups, numbers)
        backend = self.map_.backend
        rotated = [_blocks(part, X, self.map_, system) for part, system in parts]
        for alpha in alphas:
            left = np.empty(T.shape)
            for (part, system), blocks in zip(parts, rotated):
                where = np.arange(len(T))[part]
                for rows, Z in blocks:
                    here = where[rows]
                    if groups is None:
                        left[here] = system.left_out(Z, T[here], weight[here], alpha)
                    else:
                        left[here] = backend.to_host(system.fitted(Z, alpha))
            yield left

    def _rows_to_judge(self, numbers):
        """Inputs, targets on the host (k, q) and weights of training rows by number."""
        if self.rows_ is None:
            X, T, weight = self.sample_
        else:
            X, T, weight = self.rows_
            if numbers is not None:
                X, T = X[numbers], T[numbers]
                weight = None if weight is None else weight[numbers]
        T = T.detach().cpu().numpy() if is_tensor(T) else np.asarray(T)
        weight = np.ones(len(T)) if weight is None else weight
        return X, np.asarray(T if T.ndim == 2 else T[:, None], dtype=np.float64), weight

    def _folds(self, groups, numbers):
        """Rows to judge of each fold, and the system without that fold."""
        X, T, weight = self._kept_rows()
        fold, backend = fold_numbers(groups, X.shape[0]), self.map_.backend
        T = T if T.ndim == 2 else T[:, None]
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
        judged = fold if numbers is None else fold[numbers]
        return [
            (
                np.flatnonzero(judged == k),
                FeatureSystem(merged(sums[:k] + sums[k + 1 :]), self.fit_intercept, backend),
            )
            for k in range(len(sums))
        ]

    def _weights(self, X, rows, weight):
        """Weights of training rows, in blocks of these; shape (n, n_fitted)."""
        system, backend, alpha = self.system_, self.map_.backend, float(self.alpha)
        system.values_  # noqa: B018  (the decomposition serves all blocks)
        here = system.rotated(self.map_.features(X, "float64"))
        shares = 1.0 / (system._decomposed[0] + alpha)
        weight = np.ones(rows.shape[0]) if weight is None else weight
        W = np.empty((X.shape[0], rows.shape[0]))
        for part in row_blocks(rows.shape[0], 1, self._block_rows()):
            there = system.rotated(self.map_.features(rows[part], "float64"))
            W[:, part] = backend.to_host((here * shares) @ there.T)
        if self.fit_intercept:
            W += 1.0 / self.stats_.weight
        return W * weight


def _blocks(part, X, feature_map, system):
    """Rotated features of some rows, by blocks that are kept."""
    chosen = X[part]
    step = max(1, 50_000_000 // feature_map.width)
    return [
        (slice(i, i + step), system.rotated(feature_map.features(chosen[i : i + step], "float64")))
        for i in range(0, chosen.shape[0], step)
    ]


def fold_numbers(groups, n: int) -> np.ndarray:
    """The fold of each row: rows of a group together, at most ten folds of about equal size."""
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(
            f"groups has shape {groups.shape}; one entry for each of {n} rows expected."
        )
    names, number, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ValueError("All rows are in one group: leaving it out leaves nothing.")
    if len(names) <= FOLDS:
        return number
    fold_of, filled = np.empty(len(names), dtype=np.int64), np.zeros(FOLDS)
    for group in np.argsort(-sizes, kind="stable"):  # the largest first, into the emptiest fold
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of[number]
