# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of any kind, of which it may be open which one is right."""

from typing import Any

from skstruct.spaces.classes.known import KnownOfClasses
from skstruct.spaces.common.choices import OneOf
from skstruct.spaces.common.reading_choices import read_choices
from skstruct.spaces.partial import PartialOutputs


class KnownOfCandidates(KnownOfClasses):
    """Outputs that are known as a whole, or to be one of a list."""

    __slots__ = ()

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """Outputs of any kind: those of ``OneOf`` leave open which, None leaves all open."""
        rows = [row if isinstance(row, OneOf) or row is None else OneOf([row]) for row in Y]
        return read_choices(self.space, rows, self._read_whole, known)
