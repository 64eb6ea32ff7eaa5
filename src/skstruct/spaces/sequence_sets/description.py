# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of sequences."""

from collections.abc import Sequence
from typing import Any, ClassVar

from skstruct.spaces.common.fixing import finder, only_one, pair_of
from skstruct.spaces.description import CanonicalRange, Description, Part, Parts


class DescriptionOfSequences(Description):
    """Symbols by position; without a gap where all are letters."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("symbol", "symbols")
    output_kind = "sequence"
    fixable = ("in",)
    usual_losses: ClassVar[Sequence[str]] = ("zero_one",)

    def part_names(self) -> Sequence[Any]:
        return self.space.symbols_

    def parts_of(self, z: Any) -> Parts:
        symbols = self.space.symbols_
        inside = [(t, int(symbol)) for t, symbol in enumerate(z) if symbol >= 0]
        parts = [Part(place, symbols[place[1]]) for place in inside]
        letters = all(len(str(part.name).strip()) == 1 for part in parts)
        return Parts(parts, "" if letters else " ", 30)

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """Symbols at positions from 0, pairs (position, symbol), as ``known``.

        >>> from skstruct.spaces import Description, Sequences
        >>> Description.of(Sequences(["A", "B"], 4)).fixing([[2, "B"]], [])
        {'known': {2: 'B'}}
        """
        self.check_fixable(included, excluded)
        known: dict[int, Any] = {}
        named = finder(self.space.symbols_, "symbol")
        for part in included:
            position, symbol = pair_of(part, "a position and a symbol")
            only_one(known, position, named(symbol), "Position")
        return {"known": known} if known else {}

    def canonical_range(self) -> CanonicalRange:
        return -1, len(self.space.symbols_), None
