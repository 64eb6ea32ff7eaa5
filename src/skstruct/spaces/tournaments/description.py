# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of tournaments."""

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any, ClassVar

from skstruct.spaces.description import CanonicalRange, Description, Part, Parts


class DescriptionOfTournaments(Description):
    """Wins, as pairs (winner, loser)."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("pair", "pairs")
    drawn_as = "wins"
    usual_losses: ClassVar[Sequence[str]] = ("zero_one",)

    def part_names(self) -> Sequence[Any]:
        return self.space.labels_

    def parts_of(self, z: Any) -> Parts:
        pairs = zip(self.space.labels_, z)
        wins = [(a, b) if sign > 0 else (b, a) for (a, b), sign in pairs if sign != 0]
        return Parts([Part(win, win) for win in wins])

    def fixable_names(self) -> Iterable[Any]:
        """Both wins of every pair."""
        return permutations(self.space.items_, 2)

    def canonical_range(self) -> CanonicalRange:
        return -1, max(len(self.space.states_), 2), len(self.space.labels_)
