# SPDX-License-Identifier: BSD-3-Clause
"""Sets of outputs: what may be predicted, and how a linear cost is minimized over it."""

from typing import TYPE_CHECKING

from skstruct._arrays.checks import check_costs
from skstruct._arrays.imports import lazy_names
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.candidates.space import Candidates
from skstruct.spaces.classes.space import Classes
from skstruct.spaces.common.choices import OneOf
from skstruct.spaces.contracts import (
    EXACT,
    Countable,
    Decoded,
    Enumerable,
    Guarantee,
    KBest,
    OutputSpace,
    Restrictable,
    Samplable,
)
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description, Part, Parts
from skstruct.spaces.embeddings import Embeddings, whole_of
from skstruct.spaces.hierarchies.space import Hierarchy
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.label_sets.space import LabelSets
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets

if TYPE_CHECKING:
    from skstruct.spaces.assignments.space import Assignments
    from skstruct.spaces.binary_polytope.space import BinaryPolytope
    from skstruct.spaces.cliques.space import Cliques
    from skstruct.spaces.common.listing import approximate_enumeration
    from skstruct.spaces.cycles.space import Cycles
    from skstruct.spaces.entries import Entries
    from skstruct.spaces.graph_nodes.space import GraphNodes
    from skstruct.spaces.graphs.space import Graphs
    from skstruct.spaces.knapsacks.space import Knapsacks
    from skstruct.spaces.matchings.space import Matchings
    from skstruct.spaces.ordinal.space import Ordinal
    from skstruct.spaces.pairwise.labels import PairwiseLabels
    from skstruct.spaces.pairwise.states import PairwiseStates
    from skstruct.spaces.partial_orders.space import PartialOrders
    from skstruct.spaces.paths.space import ShortestPaths
    from skstruct.spaces.poset.space import Poset
    from skstruct.spaces.quantities.boxes import Box, Interval
    from skstruct.spaces.quantities.censored import Censored
    from skstruct.spaces.quantities.flows import Flows
    from skstruct.spaces.quantities.polytopes import Polytope
    from skstruct.spaces.quantities.portfolios import Portfolios
    from skstruct.spaces.quantities.simplices import Simplex
    from skstruct.spaces.quantities.spheres import Sphere
    from skstruct.spaces.rankings.space import Rankings
    from skstruct.spaces.sequences.space import Sequences
    from skstruct.spaces.solver_space.space import SolverSpace
    from skstruct.spaces.spanning_trees.space import SpanningTrees
    from skstruct.spaces.strings.space import Strings
    from skstruct.spaces.tournaments.space import Tournaments

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Assignments": "assignments.space",
        "BinaryPolytope": "binary_polytope.space",
        "Box": "quantities.boxes",
        "Censored": "quantities.censored",
        "Cliques": "cliques.space",
        "Cycles": "cycles.space",
        "Entries": "entries",
        "Flows": "quantities.flows",
        "GraphNodes": "graph_nodes.space",
        "Graphs": "graphs.space",
        "Interval": "quantities.boxes",
        "Knapsacks": "knapsacks.space",
        "Matchings": "matchings.space",
        "Ordinal": "ordinal.space",
        "PairwiseLabels": "pairwise.labels",
        "PairwiseStates": "pairwise.states",
        "PartialOrders": "partial_orders.space",
        "Polytope": "quantities.polytopes",
        "Portfolios": "quantities.portfolios",
        "Poset": "poset.space",
        "Rankings": "rankings.space",
        "Sequences": "sequences.space",
        "ShortestPaths": "paths.space",
        "Simplex": "quantities.simplices",
        "SolverSpace": "solver_space.space",
        "SpanningTrees": "spanning_trees.space",
        "Sphere": "quantities.spheres",
        "Strings": "strings.space",
        "Tournaments": "tournaments.space",
        "approximate_enumeration": "common.listing",
    },
)

__all__ = [
    "EXACT",
    "Assignments",
    "BaseSpace",
    "BinaryPolytope",
    "Box",
    "Candidates",
    "Censored",
    "Classes",
    "Cliques",
    "Coordinates",
    "Countable",
    "Cycles",
    "Decoded",
    "Description",
    "Embeddings",
    "Entries",
    "Enumerable",
    "Flows",
    "GraphNodes",
    "Graphs",
    "Guarantee",
    "Hierarchy",
    "Inference",
    "Interval",
    "KBest",
    "Knapsacks",
    "Known",
    "LabelSets",
    "Marginals",
    "Matchings",
    "OneOf",
    "Ordinal",
    "OutputSpace",
    "PairwiseLabels",
    "PairwiseStates",
    "Part",
    "PartialOrders",
    "Parts",
    "Polytope",
    "Portfolios",
    "Poset",
    "Rankings",
    "Restrictable",
    "Samplable",
    "Sequences",
    "ShortestPaths",
    "Simplex",
    "SklearnTarget",
    "SolverSpace",
    "Solving",
    "SpanningTrees",
    "Sphere",
    "Strings",
    "Targets",
    "Tournaments",
    "approximate_enumeration",
    "check_costs",
    "whole_of",
]
