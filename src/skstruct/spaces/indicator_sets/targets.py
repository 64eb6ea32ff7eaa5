# SPDX-License-Identifier: BSD-3-Clause
"""Targets of sets of labels: more than 1 for labels that are overlooked."""

from typing import Any

import numpy as np

from skstruct.spaces.indicator_sets.missing_labels import read_propensity
from skstruct.spaces.targets import Targets


class TargetsOfNamed(Targets):
    """Sets of labels that costs name."""

    __slots__ = ()

    def fit_costs(self, costs: Any) -> Any:
        """Names of the columns, where labels are open; decisions come in frames where costs do."""
        if self.space.embedding != "indicators":
            return self.space
        nothing = costs.iloc[:1] * 0 if hasattr(costs, "iloc") else np.zeros((1, costs.shape[1]))
        return self.space.fit(nothing.astype(np.int64))


class TargetsOfSets(TargetsOfNamed):
    """Sets of which some labels may not have been annotated."""

    __slots__ = ()

    def targets(self, Y: Any) -> Any:
        r"""psi, or :math:`\psi_j / p_j` where labels are overlooked: of the same mean."""
        annotated, psi = self.propensities(), self.space.embed(Y)
        return psi if annotated is None else psi / annotated

    def propensities(self) -> np.ndarray | None:
        given = self.space.propensity
        if given is None:
            return None
        return read_propensity(given, self.space.labels_, type(self.space).__name__)
