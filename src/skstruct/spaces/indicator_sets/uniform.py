# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets within constraints, uniformly: counts, moments, samples, lists."""

from typing import Any

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.facets import kept
from skstruct.spaces.common.counting import check_few, count_dag, list_closed_sets
from skstruct.spaces.indicator_sets.counting import forest_paths
from skstruct.spaces.label_sets.space import LabelSets
from skstruct.spaces.uniform import LIMIT, Seed, Uniform

SHORT = 10**5  # outputs that are listed rather than counted again and again


class UniformOfSets(Uniform):
    """0/1 rows closed in a graph, within constraints: which they are and how many.

    Moments and samples are closed forms where a child has them; else they come from the list
    of outputs where it is short, and from counting with some labels fixed in where it is not,
    which works for every kind of limit.
    """

    __slots__ = ()

    def relaxation(self) -> Any:
        """All sets of the same labels."""
        return LabelSets(self.space.labels_) if self.space.embedding == "indicators" else None

    def _closed_form(self) -> Any:
        """What knows ``mean()``, ``second_moment()`` and ``sample(n, rng)``, or None."""
        return None

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        constraints, dag = self._one_row().within(low, high), self.space.dag_
        extra = constraints.is_sized or constraints.groups or constraints.one_path
        if not dag.is_forest and not extra:
            return count_dag(dag, constraints.low[0], constraints.high[0])
        paths = forest_paths(dag, constraints)
        return self._count_listed(low, high) if paths is None else paths.total

    def _count_listed(self, low: np.ndarray, high: np.ndarray) -> int:
        listed = self._listed
        return int(((listed >= low) & (listed <= high)).all(axis=1).sum())

    def _masks(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors of the labels, and the one that holds all of them."""
        d = self.space.dag_.n_nodes
        return np.eye(d, dtype=bool), np.ones(d, bool)

    @kept
    def _count(self) -> int:
        d = self.space.dag_.n_nodes
        return self._count_within(np.zeros(d, bool), np.ones(d, bool))

    def size(self) -> int:
        return self._count

    def mean_embedding(self) -> np.ndarray:
        self.check_not_empty()
        closed = self._closed_form()
        if closed is not None:
            return closed.mean()
        if self._count <= SHORT:
            return self._listed.mean(axis=0)
        eye, free = self._masks()
        return np.array([self._count_within(low, free) / self._count for low in eye])

    def second_moment(self) -> np.ndarray:
        self.check_not_empty()
        d = self.space.dag_.n_nodes
        check_square_fits(
            d, "The second moment", "covariance() needs no matrix where labels are alike."
        )
        closed = self._closed_form()
        if closed is not None:
            return closed.second_moment()
        if self._count <= SHORT:
            return super().second_moment()
        eye, free = self._masks()
        moment = np.empty((d, d))
        for j in range(d):
            for k in range(j + 1):
                both = self._count_within(eye[j] | eye[k], free) / self._count
                moment[j, k] = moment[k, j] = both
        return moment

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        constraints, dag = self._one_row(), self.space.dag_
        low, high = constraints.low[0], constraints.high[0]
        paths = forest_paths(dag, constraints)
        if paths is not None:
            check_few(paths.total, limit, self.space)
        listed = list_closed_sets(dag, low, high, constraints.largest, limit, constraints.groups)
        return listed[self.space.contains(listed)]

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        rng = np.random.default_rng(rng)
        self.check_not_empty()
        closed = self._closed_form()
        if closed is not None:
            return closed.sample(n, rng)
        if self._count <= SHORT:
            return super().sample(n, rng)
        return np.array([self._sample_one(rng) for _ in range(n)], dtype=np.int8)

    def _sample_one(self, rng: np.random.Generator) -> np.ndarray:
        """Label by label, each taken with the share of outputs that have it."""
        dag = self.space.dag_
        low, high, left = np.zeros(dag.n_nodes, bool), np.ones(dag.n_nodes, bool), self._count
        for j in dag.order:
            low[j] = True
            with_j = self._count_within(low, high)
            if rng.random() >= with_j / left:  # a ratio of integers, however large
                low[j] = high[j] = False
                left -= with_j
            else:
                left = with_j
        return low.astype(np.int8)
