# SPDX-License-Identifier: BSD-3-Clause
"""Labels as coordinates, and those by size or with products of parents, which labels charge."""

from typing import Any, ClassVar

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.rows import dense
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.embeddings import IndependentLabels, SizedSets
from skstruct.spaces.marginals import Marginals


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


class EmbeddingsOfSets(Embeddings):
    """By size, and as labels that are independent, beside the indicators of labels."""

    __slots__ = ()
    decodes_sizes: ClassVar[bool] = True  # for each number of labels, as F measures need it

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        sized = name in ("sized indicators", "independent labels")
        if sized and not (self.decodes_sizes or Marginals.of(self.space).suffice):
            raise ValueError(
                f"F measures are not decoded over {type(self.space).__name__}; give candidates: "
                "predict(X, loss=Listed(F1()))."
            )
        if sized:
            return (SizedSets if name == "sized indicators" else IndependentLabels)(self.space)
        return super().view(name, outputs, candidates)


class EmbeddingsOfPrograms(EmbeddingsOfSets):
    """Sets that integer programs decide, which know no best set of each size."""

    __slots__ = ()
    decodes_sizes = False
