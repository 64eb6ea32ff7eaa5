# SPDX-License-Identifier: BSD-3-Clause
"""Targets of sets of labels: more than 1 for labels that are overlooked."""

from typing import Any

from skstruct.spaces.targets import Targets


class TargetsOfSets(Targets):
    """Sets of which some labels may not have been annotated."""

    __slots__ = ()

    def targets(self, Y: Any) -> Any:
        r"""psi, or :math:`\psi_j / p_j` where labels are overlooked: of the same mean."""
        annotated, psi = self.space.propensities(), self.space.embed(Y)
        return psi if annotated is None else psi / annotated
