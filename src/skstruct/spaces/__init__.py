# SPDX-License-Identifier: BSD-3-Clause
"""Sets of outputs: what may be predicted, and how a linear cost is minimized over it."""

from typing import TYPE_CHECKING

from skstruct._arrays.checks import check_costs
from skstruct._arrays.lazy import lazy_names
from skstruct.spaces.base import (
    EXACT,
    BaseSpace,
    Countable,
    Decoded,
    Enumerable,
    Guarantee,
    KBest,
    OutputSpace,
    Restrictable,
    Samplable,
)
from skstruct.spaces.candidates import Candidates
from skstruct.spaces.classes import Classes
from skstruct.spaces.hierarchies import Hierarchy
from skstruct.spaces.label_graph import LabelGraph
from skstruct.spaces.label_sets import LabelSets

if TYPE_CHECKING:
    from skstruct.spaces.boxes import Box, Interval
    from skstruct.spaces.flows import Flows
    from skstruct.spaces.graph_nodes import GraphNodes
    from skstruct.spaces.polytopes import BinaryPolytope
    from skstruct.spaces.rankings import Rankings
    from skstruct.spaces.real_polytopes import Polytope
    from skstruct.spaces.sequences import Sequences
    from skstruct.spaces.simplices import Simplex
    from skstruct.spaces.spheres import Sphere
    from skstruct.spaces.strings import Strings

__getattr__ = lazy_names(
    __name__,
    {
        "BinaryPolytope": "polytopes",
        "Box": "boxes",
        "Flows": "flows",
        "GraphNodes": "graph_nodes",
        "Interval": "boxes",
        "Polytope": "real_polytopes",
        "Rankings": "rankings",
        "Sequences": "sequences",
        "Simplex": "simplices",
        "Sphere": "spheres",
        "Strings": "strings",
    },
)

__all__ = [
    "EXACT",
    "BaseSpace",
    "BinaryPolytope",
    "Box",
    "Candidates",
    "Classes",
    "Countable",
    "Decoded",
    "Enumerable",
    "Flows",
    "GraphNodes",
    "Guarantee",
    "Hierarchy",
    "Interval",
    "KBest",
    "LabelGraph",
    "LabelSets",
    "OutputSpace",
    "Polytope",
    "Rankings",
    "Restrictable",
    "Samplable",
    "Sequences",
    "Simplex",
    "Sphere",
    "Strings",
    "check_costs",
]
