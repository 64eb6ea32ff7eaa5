# SPDX-License-Identifier: BSD-3-Clause
"""Sets that are closed in a hierarchy, uniformly."""

from typing import Any

import numpy as np

from skstruct.spaces.indicator_sets.counting import forest_paths
from skstruct.spaces.indicator_sets.uniform import UniformOfSets
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.uniform import LIMIT


class ForestShares:
    """Closed sets of a forest: given that its parent is in, a label is a coin by itself.

    ways(v) = 1 + product over children of ways(child), the empty set included; given its
    parent, a label is in with probability (ways - 1) / ways.

    Parameters
    ----------
    dag : Dag
        A forest.
    low, high : bool arrays of shape (d,)
        Labels that are in for certain, with all above them; labels that may be in: others are
        out, with all below them.
    """

    def __init__(self, dag: Dag, low: np.ndarray, high: np.ndarray) -> None:
        self.dag, self.share = dag, np.empty(dag.n_nodes)
        parent, product = dag.parent_of, [1] * dag.n_nodes
        for v in dag.order[::-1]:
            inside = product[v] if high[v] else 0
            ways = inside + (not low[v])
            self.share[v] = inside / ways
            if parent[v] >= 0:
                product[parent[v]] *= ways

    def mean(self) -> np.ndarray:
        """Probability of each label; shape (d,)."""
        parent, mean = self.dag.parent_of, self.share.copy()
        for v in self.dag.order:
            if parent[v] >= 0:
                mean[v] *= mean[parent[v]]
        return mean

    def second_moment(self) -> np.ndarray:
        """Probability of each pair of labels; shape (d, d).

        Given that its parent is in, a label is independent of all that is not below it: two
        labels are in together with probability p_j p_k / p_lca.
        """
        dag, p, below = self.dag, self.mean(), self.dag.ancestors.tocsc()
        moment = np.outer(p, p)
        for v in dag.order:
            if dag.parent_of[v] >= 0:
                moment[v] = moment[dag.parent_of[v]] * self.share[v]
            under = below.indices[below.indptr[v] : below.indptr[v + 1]]
            moment[v, under] = p[under]  # whoever is below v has v in
        return moment

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Uniform samples: a coin for every label whose parent is in; int8 of shape (n, d)."""
        outputs = (rng.random((n, self.dag.n_nodes)) < self.share).astype(np.int8)
        for v in self.dag.order:
            if self.dag.parent_of[v] >= 0:
                outputs[:, v] &= outputs[:, self.dag.parent_of[v]]
        return outputs


class UniformOfHierarchies(UniformOfSets):
    """Shares of each label given its parent where the graph is a forest."""

    __slots__ = ()

    @property
    def counted(self) -> Any:
        """All label sets, or the single paths where only these may be predicted.

        Nearly every closed set of a wide hierarchy holds nearly all inner labels: to be ahead of
        the average of these says little of a set that holds few.
        """
        return self.space if self.space.constraints_.one_path else self.relaxation()

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        if not self._one_row().one_path:
            return super().enumerate(limit)
        dag = self.space.dag_
        paths = dag.ancestors[dag.leaves].toarray().astype(np.int8)
        return paths[self.space.contains(paths)]

    def _closed_form(self) -> Any:
        constraints, dag = self._one_row(), self.space.dag_
        if constraints.groups or constraints.is_sized:
            return forest_paths(dag, constraints)
        if not dag.is_forest or constraints.one_path:
            return None
        return ForestShares(dag, *(mask[0] for mask in constraints.closed(dag)))
