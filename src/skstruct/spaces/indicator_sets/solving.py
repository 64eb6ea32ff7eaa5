# SPDX-License-Identifier: BSD-3-Clause
"""Sets by size decided from means, or on a device; sets and products of parents in haste."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.base import decoded_or_infeasible
from skstruct.spaces.constraints import check_n_rows
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.solving import Solving


class SolvingOfSizedSets(Solving):
    """Sets under the embedding by size, whose :math:`d^2 + 1` costs are mostly not needed."""

    __slots__ = ()

    @property
    def decides_from_means(self) -> bool:
        """Not within groups, and not on single paths."""
        dag, limits = self.space.dag_, self.space.constraints_
        plain = not len(dag.parents) or dag.is_forest
        return bool(plain and not limits.one_path and not limits.groups)

    def argmin_of_means(
        self, means: np.ndarray, columns: np.ndarray, square: float, scale: np.ndarray
    ) -> Decoded:
        """By branch and bound over sizes of z, from the means of the columns that are not zero: as
        ``argmin`` of the :math:`d^2 + 1` costs, most of which are never computed.
        """
        sets = self.space.space
        dag, limits, d = sets.dag_, sets.constraints_, len(sets.labels_)
        from skstruct.spaces.indicator_sets._numba_sized import best_sets

        n, by_forest, name = len(means), len(dag.parents) > 0, type(self.space).__name__
        means = np.ascontiguousarray(check_costs(means, len(columns), used_by=name))
        check_n_rows(limits, n, type(sets).__name__)
        label, size = np.divmod(columns, d)
        inside = columns < d * d
        sizes = np.unique(size[inside])
        place = np.where(inside, np.searchsorted(sizes, size), -1)
        masks = limits.closed(sets.dag_) if by_forest else (limits.low, limits.high)
        low, high = (np.require(mask, requirements=["C", "W"]) for mask in masks)
        forest = dag.preorder if by_forest else (None, None)
        outputs, values = np.zeros((n, d), np.int8), np.empty(n)
        roots = 1.0 / np.sqrt(square * (sizes[:, None] + 1.0) + np.arange(d + 1.0))
        shape = (d + 1, max(d + 1, 3) if by_forest else 3)
        work = np.empty((len(sizes), d)), np.empty((len(sizes), 2)), np.empty(d), np.empty(d)
        tables = np.empty(shape), np.empty(shape), *np.empty((3, d + 1), np.int64), np.empty(d + 1)
        given = means, label, place, roots, (1.0 + square) * roots**2, square, scale, low, high
        within = int(limits.smallest), int(min(limits.largest, d))
        best_sets(*given, *within, *forest, *work, *tables, outputs, values)
        return decoded_or_infeasible(outputs, values, values, sets)

    def tensor_argmin(self, backend: Any) -> Callable[..., Any] | None:
        limits = self.space.constraints_
        if limits.one_path or limits.groups or len(self.space.dag_.parents):
            return None
        from skstruct.spaces.indicator_sets.on_device import sized_argmin

        return sized_argmin(len(self.space.labels_), limits, backend)


class SolvingOfProducts(Solving):
    """Closed sets with products over parents, which are hard to prove best."""

    __slots__ = ()

    def quick(self) -> Any:
        """A few min-cuts and branchings, and no program."""
        other = copy.copy(self.space)
        other.exact = False
        return other
