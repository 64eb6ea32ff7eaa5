# SPDX-License-Identifier: BSD-3-Clause
"""Labels as coordinates, and those by size or with products of parents, which labels charge."""

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.rows import dense
from skstruct.spaces.coordinates import Coordinates


class CoordinatesOfSets(Coordinates):
    """An indicator for each label."""

    __slots__ = ()

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        """Means of labels are all that is known of independent ones."""
        return means if embedding == "independent labels" else super().project(means, embedding)


class CoordinatesBySize(Coordinates):
    """An indicator for each label in sets of each size."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of labels, (n, d): a label costs the same in a set of any size."""
        if embedding != "indicators":
            return super().lift(costs, embedding)
        d = len(self.space.labels_)
        costs = check_costs(costs, d, used_by="SizedSets")
        return np.hstack([np.repeat(costs, d, axis=1), np.zeros((len(costs), 1))])

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        """Means of labels in sets of any size."""
        if embedding not in ("indicators", "independent labels"):
            return super().project(means, embedding)
        d = len(self.space.labels_)
        return dense(means)[:, :-1].reshape(-1, d, d).sum(axis=2)


class CoordinatesByLabel(Coordinates):
    """An indicator for each label, by itself."""

    __slots__ = ()

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        return means if embedding == "indicators" else super().project(means, embedding)


class CoordinatesOfProducts(Coordinates):
    """An indicator for each label, then products over parents."""

    __slots__ = ()

    def project(self, means: np.ndarray, embedding: str) -> np.ndarray:
        """Means of the labels alone: the first d columns."""
        if embedding == "indicators":
            return means[:, : len(self.space.labels_)]
        return super().project(means, embedding)

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        """Costs of labels, (n, d): the products cost nothing."""
        if embedding != "indicators":
            return super().lift(costs, embedding)
        costs = check_costs(costs, len(self.space.labels_), used_by="ParentProducts")
        return np.hstack([costs, np.zeros((len(costs), len(self.space.shared_)))])
