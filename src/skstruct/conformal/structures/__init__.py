# SPDX-License-Identifier: BSD-3-Clause
"""What each structure tells conformal methods; chosen by what kind of output a space has."""

from typing import Any

from skstruct.conformal.structures.base import Claims, Moves, Structure
from skstruct.conformal.structures.labels import HierarchyLabels, Labels
from skstruct.conformal.structures.pairs import Pairs
from skstruct.conformal.structures.positions import OneLevel, OneOf, Positions
from skstruct.spaces import Description

STRUCTURES: dict[str, type[Structure]] = {
    "labels": Labels,
    "hierarchy": HierarchyLabels,
    "classes": OneOf,
    "ordinal": OneLevel,
    "ranking": Pairs,
    "sequence": Positions,
}


def structure_of(space: Any, used_by: str) -> Structure:
    """The parts of a fitted space, or an error that names the kinds that have some."""
    kind = Description.of(space).output_kind
    if kind not in STRUCTURES:
        raise ValueError(
            f"{used_by}: outputs of kind {kind!r} have no parts with probabilities; those that do "
            f"are {', '.join(STRUCTURES)}. PredictionSets takes numbers."
        )
    return STRUCTURES[kind](space)


__all__ = ["STRUCTURES", "Claims", "Moves", "Structure", "structure_of"]
