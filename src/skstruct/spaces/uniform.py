# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets within limits under the uniform distribution: counts, moments, samples, lists."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.decoding.dag import Dag
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.counting import LIMIT, check_few, count_dag, list_closed_sets
from skstruct.spaces.forest_paths import ForestPaths
from skstruct.spaces.limits import Limits, check_n_rows

SHORT = 10**5  # outputs that are listed rather than counted again and again


class UniformSets(BaseSpace):
    """0/1 rows closed in a graph, within limits: which they are and how many.

    Moments and samples are closed forms where a child has them; else they come from the list
    of outputs where it is short, and from counting with some labels held in where it is not,
    which works for every kind of limit.
    """

    limits: Limits | None

    @property
    @abstractmethod
    def labels_(self) -> tuple:
        """Names of the labels, one per column."""

    @property
    @abstractmethod
    def dag_(self) -> Dag:
        """The graph in which sets are closed."""

    @property
    def limits_(self) -> Limits:
        """What predicted sets must obey."""
        return Limits.none(len(self.labels_)) if self.limits is None else self.limits

    def contains(self, Z):
        """Whether each row is an output of this space, limits included; shape (n,)."""
        Z, width = np.asarray(Z), self.dag_.n_nodes
        if Z.ndim != 2 or Z.shape[1] != width:
            raise ValueError(
                f"contains() takes outputs in canonical form, (n, {width}) of 0 and 1; got "
                f"shape {Z.shape}. validate() makes them."
            )
        check_n_rows(self.limits_, len(Z), type(self).__name__)
        closed = (Z[:, self.dag_.children] <= Z[:, self.dag_.parents]).all(axis=1)
        return closed & np.isin(Z, (0, 1)).all(axis=1) & self.limits_.allow(Z)

    def _close_masks(self, limits: Limits):
        """Known labels with what follows: ancestors in, descendants and rivals out."""
        low, high = limits.low, limits.high
        if not limits.is_masked:
            return low, high
        ancestors = self.dag_.ancestors
        low = low.astype(float) @ ancestors > 0
        out = np.array(np.broadcast_to(~high, (max(len(low), len(high)), low.shape[1])))
        for group in limits.groups:
            out[:, group] |= low[:, group].sum(axis=1, keepdims=True) > low[:, group]
        return low, ~(out.astype(float) @ ancestors.T > 0)

    def _one_row(self) -> Limits:
        if self.limits_.n_rows is not None:
            raise ValueError("This space differs from row to row; take rows(i) of it first.")
        return self.limits_

    def _count_within(self, low, high) -> int:
        limits = self._one_row().within(low, high)
        extra = limits.is_sized or limits.groups or limits.one_path
        if not self.dag_.is_forest and not extra:
            return count_dag(self.dag_, limits.low[0], limits.high[0])
        paths = self._forest_paths(limits)
        if paths is not None:
            return paths.total
        listed = self.enumerate()
        return int(((listed >= low) & (listed <= high)).all(axis=1).sum())

    def _forest_paths(self, limits: Limits) -> ForestPaths | None:
        """Closed sets as paths, where the graph is a forest and groups are siblings."""
        if limits.one_path or not self.dag_.is_forest or not self._sibling_groups(limits):
            return None
        low, high = (mask[0] for mask in self._close_masks(limits))
        sizes = limits.smallest, limits.largest
        return ForestPaths(self.dag_, low, high, limits.groups, *sizes)

    def _uniform(self):
        """What knows ``mean()``, ``second_moment()`` and ``sample(n, rng)``, or None."""
        return None

    def _sibling_groups(self, limits) -> bool:
        """Whether exclusive groups are disjoint sets of siblings."""
        members = np.concatenate([*limits.groups, np.empty(0, np.int64)]).astype(np.int64)
        alike = all(len(set(self.dag_.parent_of[g].tolist())) == 1 for g in limits.groups)
        return alike and len(set(members.tolist())) == len(members)

    def set_params(self, **params):
        super().set_params(**params)
        self._forget()
        return self

    def _forget(self):
        """Drop what was derived from parameters that may have changed."""
        for cached in ("dag_", "_count", "_given_labels"):
            self.__dict__.pop(cached, None)

    @cached_property
    def _count(self) -> int:
        d = len(self.labels_)
        return self._count_within(np.zeros(d, bool), np.ones(d, bool))

    def size(self) -> int:
        """Exact number of outputs."""
        return self._count

    def _check_not_empty(self):
        if self._count == 0:
            raise InfeasibleError(f"{type(self).__name__}: no output meets the constraints.")

    def log_size(self) -> float:
        """Natural logarithm of the number of outputs; minus infinity when there is none."""
        return math.log(self._count) if self._count else -math.inf

    def mean_embedding(self) -> np.ndarray:
        """Mean of the indicators over all outputs; shape (d,)."""
        self._check_not_empty()
        uniform = self._uniform()
        if uniform is not None:
            return uniform.mean()
        if self._count <= SHORT:
            return self.enumerate().mean(axis=0)
        d = len(self.labels_)
        eye, free = np.eye(d, dtype=bool), np.ones(d, bool)
        return np.array([self._count_within(eye[j], free) / self._count for j in range(d)])

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        self._check_not_empty()
        d = len(self.labels_)
        check_square_fits(
            d, "The second moment", "covariance() needs no matrix where labels are alike."
        )
        uniform = self._uniform()
        if uniform is not None:
            return uniform.second_moment()
        if self._count <= SHORT:
            listed = self.enumerate().astype(np.float64)
            return listed.T @ listed / len(listed)
        eye, free = np.eye(d, dtype=bool), np.ones(d, bool)
        moment = np.empty((d, d))
        for j in range(d):
            for k in range(j + 1):
                both = self._count_within(eye[j] | eye[k], free) / self._count
                moment[j, k] = moment[k, j] = both
        return moment

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d)."""
        limits = self._one_row()
        low, high = limits.low[0], limits.high[0]
        paths = self._forest_paths(limits)
        if paths is not None:
            check_few(paths.total, limit, self)
        listed = list_closed_sets(self.dag_, low, high, limits.largest, limit, limits.groups)
        return listed[self.contains(listed)]

    def sample(self, n: int, rng) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        rng = np.random.default_rng(rng)
        self._check_not_empty()
        uniform = self._uniform()
        if uniform is not None:
            return uniform.sample(n, rng)
        if self._count <= SHORT:
            listed = self.enumerate()
            return listed[rng.integers(len(listed), size=n)]
        return np.array([self._sample_one(rng) for _ in range(n)], dtype=np.int8)

    def _sample_one(self, rng):
        """Label by label, each taken with the share of outputs that have it."""
        d = len(self.labels_)
        low, high, left = np.zeros(d, bool), np.ones(d, bool), self._count
        for j in self.dag_.order:
            low[j] = True
            with_j = self._count_within(low, high)
            if rng.random() >= with_j / left:  # a ratio of integers, however large
                low[j] = high[j] = False
                left -= with_j
            else:
                left = with_j
        return low.astype(np.int8)
