# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted knapsack must obey: labels in and out, sizes, groups, less capacity."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skstruct.saving import check_row_constraints, savable
from skstruct.spaces.constraints import Constraints


@savable
@dataclass(frozen=True, eq=False, repr=False)
class KnapsackConstraints(Constraints):
    """Constraints on 0/1 outputs with the capacities that are left."""

    # shape (1 or n, m)
    capacity: np.ndarray = field(default_factory=lambda: np.full((1, 1), np.inf))

    @classmethod
    def within_capacity(cls, d: int, capacity: np.ndarray) -> KnapsackConstraints:
        """None but the capacities, shape (1, m)."""
        return cls(np.zeros((1, d), bool), np.ones((1, d), bool), 0, d, capacity=capacity)

    def __repr__(self) -> str:
        return f"Knapsack{super().__repr__()}"

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        n = max(len(self.low), len(self.high), len(self.capacity))
        return None if n == 1 else n

    def rows(self, index: Any) -> KnapsackConstraints:
        arrays = (self.low, self.high, self.capacity)
        low, high, capacity = (a if len(a) == 1 else a[index] for a in arrays)
        return replace(self, low=low, high=high, capacity=capacity)

    def narrow(self, *, capacity: np.ndarray | None = None, **limits: Any) -> KnapsackConstraints:
        narrowed = super().narrow(**limits)
        given = self.capacity if capacity is None else capacity
        counts = {len(a) for a in (narrowed.low, narrowed.high, self.capacity, given)} - {1}
        if len(counts) > 1:
            raise ValueError(
                "Known labels and capacities are given for different numbers of rows: "
                f"{sorted(counts)}."
            )
        room = np.minimum(self.capacity, given)
        return KnapsackConstraints(
            narrowed.low,
            narrowed.high,
            narrowed.smallest,
            narrowed.largest,
            narrowed.groups,
            narrowed.one_path,
            room,
        )

    def check_saved(self, d: int, n_labels: int, m: int = 1) -> None:
        super().check_saved(d, n_labels)
        check_row_constraints(self.capacity, "f", (m,))
