# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of rankings."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.common.fixing import finder, only_one, pair_of
from skstruct.spaces.description import CanonicalRange, Description, Part, Parts


class DescriptionOfRankings(Description):
    """Items, best first; those without a rank are left out."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("item", "items")
    output_kind = "ranking"
    fixable = ("in",)
    usual_losses: ClassVar[Sequence[str]] = ("spearman", "footrule", "zero_one")

    def part_names(self) -> Sequence[Any]:
        return self.space.items_

    def parts_of(self, z: Any) -> Parts:
        z, items = np.asarray(z, dtype=float), self.space.items_
        order = np.argsort(np.where(np.isnan(z), np.inf, z), kind="stable")
        ranked = [int(j) for j in order if not np.isnan(z[j])]
        signs = ["", *("= " if z[a] == z[b] else "> " for a, b in pairwise(ranked))]
        parts = [Part((j, z[j]), items[j], sign) for j, sign in zip(ranked, signs)]
        return Parts(parts, " ", 30)

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """Items at ranks from 1, pairs (item, rank), as ``positions``."""
        self.check_fixable(included, excluded)
        positions: dict[Any, Any] = {}
        named = finder(self.space.items_, "item")
        for part in included:
            item, rank = pair_of(part, "an item and a rank")
            only_one(positions, named(item), rank, "Item")
        return {"positions": positions} if positions else {}

    def canonical_range(self) -> CanonicalRange:
        return None, None, len(self.space.items_)
