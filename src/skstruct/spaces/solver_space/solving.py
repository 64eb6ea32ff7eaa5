# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of a solver: 0/1 or numbers."""

from skstruct.spaces.quantities.solving import SolvingWithoutCurves


class SolvingBySolvers(SolvingWithoutCurves):
    """Nothing is known of the outputs but whether they are 0/1."""

    __slots__ = ()

    @property
    def discrete(self) -> bool:
        return bool(self.space.binary)
