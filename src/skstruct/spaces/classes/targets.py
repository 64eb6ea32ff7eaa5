# SPDX-License-Identifier: BSD-3-Clause
"""Targets of classes, which costs name."""

from typing import Any

import numpy as np

from skstruct.spaces.targets import Targets


class TargetsOfClasses(Targets):
    """An indicator for each class."""

    __slots__ = ()

    def fit_costs(self, costs: Any) -> Any:
        """Names of the columns, where these are open: numbers from zero of an array."""
        if self.space.labels is not None:
            return self.space
        return self.space.fit(
            costs.columns if hasattr(costs, "columns") else np.arange(costs.shape[1])
        )
