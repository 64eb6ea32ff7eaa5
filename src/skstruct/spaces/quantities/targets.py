# SPDX-License-Identifier: BSD-3-Clause
"""Targets of quantities: squares tell what a decision costs, and decide nothing."""

from typing import Any

from skstruct.spaces.targets import Targets


class TargetsOfQuantities(Targets):
    """Coordinates, or coordinates and their squares."""

    __slots__ = ()

    def n_deciding(self, width: int) -> int | None:
        return len(self.space.labels_) if self.space.embedding == "squares" else None

    def fit_costs(self, costs: Any) -> Any:
        return self.space.fit_costs(costs)
