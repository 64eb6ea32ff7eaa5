# SPDX-License-Identifier: BSD-3-Clause
"""Graphs with a property, uniformly: closed forms of the property, or the list."""

from typing import Any

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.facets import kept
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.edge_sets.uniform import UniformOfEdgeSets
from skstruct.spaces.graphs.hereditary import grow_sets
from skstruct.spaces.graphs.properties import GraphProperty
from skstruct.spaces.graphs.space import Graphs, OwnSpace
from skstruct.spaces.uniform import LIMIT, Seed


class UniformOfGraphs(UniformOfEdgeSets):
    """All graphs, trees, matchings and cliques in closed form; others by their list."""

    __slots__ = ()

    @property
    def _property(self) -> GraphProperty:
        return self.space._kind

    @property
    def _limits(self) -> Any:
        """Constraints that exclude something, else None."""
        return self.space._true_constraints

    @property
    def counted(self) -> Any:
        """All graphs on the same nodes: what is counted in place of those with a property."""
        return self.space if self.space.property is None else self.relaxation()

    def relaxation(self) -> Graphs:
        """All graphs on the same nodes."""
        relaxed = Graphs(self.space.nodes_, self.space.directed)
        relaxed.format_ = self.space.format_
        return relaxed

    @kept
    def _count(self) -> int:
        count = self._property.count(self._limits)
        return len(self._listed) if count is None else count

    @kept
    def _listed(self) -> np.ndarray:
        try:
            return self.enumerate()
        except UndecidableError as error:
            raise UndecidableError(
                f"{error} CountingRidge contrasts with all graphs, the space's counted, instead."
            ) from None

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        kind = self._property
        if isinstance(kind, OwnSpace):
            return kind.closed_forms(self._limits).enumerate(limit)
        if not kind.hereditary or self.space.property is None:
            return super().enumerate(limit)
        constraints = self._one_row()
        if kind.slow:
            self._check_few(limit)
        rows = grow_sets(kind.holds, constraints.low[0], constraints.high[0], limit)
        if rows is None:
            raise UndecidableError(
                f"Graphs: more than {limit} of the 2**{len(self.space.edges_)} edge sets have the "
                "property; raise limit."
            )
        return rows[constraints.allow(rows)]

    def _forms(self) -> Any:
        """What has moments and samples in closed form; None where they come from the list."""
        self.check_not_empty()
        return self._property.closed_forms(self._limits)

    def mean_embedding(self) -> np.ndarray:
        forms = self._forms()
        return super().mean_embedding() if forms is None else forms.mean_embedding()

    def covariance(self) -> Covariance:
        """Covariance of the indicators under the uniform distribution."""
        forms = self._forms()
        return super().covariance() if forms is None else forms.covariance()

    def second_moment(self) -> np.ndarray:
        forms = self._forms()
        return super().second_moment() if forms is None else forms.second_moment()

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        forms, rng = self._forms(), np.random.default_rng(rng)
        return super().sample(n, rng) if forms is None else forms.sample(n, rng)
