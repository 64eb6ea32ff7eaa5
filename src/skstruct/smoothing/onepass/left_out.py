# SPDX-License-Identifier: BSD-3-Clause
"""Leaving rows out of a ridge regression on features, without fitting again."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct._arrays.blocks import parse_memory, row_blocks
from skstruct.backends import is_tensor
from skstruct.smoothing.onepass.groups import (
    FOLDS,
    LARGEST_GROUP,
    fold_numbers,
    group_blocks,
    group_numbers,
)
from skstruct.smoothing.onepass.stats import Stats, merged
from skstruct.smoothing.onepass.system import FeatureSystem

FEW_MORE = 2  # times the rows that are judged: groups of these are left out without folds


class LeftOut:
    """Predictions for training rows without these rows; landmarks stay as they are.

    A child has ``map_``, ``system_``, ``rows_``, ``sample_`` and ``left_out_rows_``.
    """

    map_: Any
    memory: Any
    folds_: Any
    fold_sums_: Any

    def loo(self, groups=None):
        """Predictions for all training rows, each (or its whole group) left out; (n, q)."""
        self._kept_rows()
        left = next(self._left_out_path([float(self.alpha)], groups, None))
        return left[:, 0] if self._one_target else left

    def loo_path(self, alphas, groups=None):
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

    def _left_out_path(self, alphas, groups, numbers):
        if groups is not None and numbers is not None:
            whole = self._whole_groups(groups, numbers)
            if len(whole) <= FEW_MORE * len(numbers):  # else folds take less
                path = self._left_out_path_of(alphas, groups, whole)
                yield from (left[np.searchsorted(whole, numbers)] for left in path)
                return
        yield from self._left_out_path_of(alphas, groups, numbers)

    @staticmethod
    def _whole_groups(groups, numbers):
        """Numbers of all rows of the groups that some rows are in, in order."""
        _, group = np.unique(np.asarray(groups), return_inverse=True)
        return np.flatnonzero(np.isin(group, group[numbers]))

    def _left_out_path_of(self, alphas, groups, numbers):
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

    def _rotated(self, X, groups, numbers, n_times: int):
        """Blocks of rows, their features in the eigenbasis of a system, and groups among them.

        They are computed once for every alpha, unless there is room to keep them.
        """
        blocks = self._blocks_to_leave(X, groups, numbers)

        def rotated():
            for here, system, together in blocks:
                Z = self.map_.features(X[here], "float64")
                yield here, system.rotated(Z), system, together

        room = 8 * self.map_.width * X.shape[0] <= max(parse_memory(self.memory), 50_000_000)
        if n_times > 1 and room:
            kept = list(rotated())
            return (kept for _ in range(n_times))
        return (rotated() for _ in range(n_times))

    def _blocks_to_leave(self, X, groups, numbers):
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
            judged = np.unique(group[numbers if numbers is not None else ...], return_inverse=True)
            judged = judged[1].reshape(-1)
            return [(here, self.system_, judged[here]) for here in group_blocks(judged, step)]
        fold = fold_numbers(group)
        judged = fold if numbers is None else fold[numbers]
        return self._by_folds(judged, self._without_folds(fold), step)

    def _are_whole(self, group, numbers) -> bool:
        """Whether every group has all of its rows among those numbered, or none."""
        return numbers is None or len(self._whole_groups(group, numbers)) == len(numbers)

    @staticmethod
    def _by_folds(judged, systems, step):
        return [
            (np.flatnonzero(judged == k)[rows], system, None)
            for k, system in enumerate(systems)
            for rows in row_blocks(np.count_nonzero(judged == k), 1, step)
        ]

    def _rows_to_judge(self, numbers):
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

    def _without_folds(self, fold):
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

    def _without_each(self, sums):
        """The system of all sums but one, for each of them."""
        others = (merged(sums[:k] + sums[k + 1 :]) for k in range(len(sums)))
        return [FeatureSystem(stats, self.fit_intercept, self.map_.backend) for stats in others]

    def _weights(self, X, rows, weight):
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
