# SPDX-License-Identifier: BSD-3-Clause
"""A small case of every public space."""

import numpy as np

from skstruct import spaces

RING = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
SMALL = {  # a space and some of its outputs
    "Classes": (spaces.Classes(), ["cat", "dog", "cow"]),
    "LabelSets": (spaces.LabelSets(), [["a"], ["b", "c"]]),
    "Hierarchy": (spaces.Hierarchy([("a", "b"), ("a", "c")]), [["a", "b"], ["a"]]),
    "Rankings": (spaces.Rankings(), [["a", "b", "c"], ["c", "a", "b"]]),
    "Sequences": (spaces.Sequences(), ["abc", "bca"]),
    "Strings": (spaces.Strings(), ["abc", "bca"]),
    "PairwiseLabels": (spaces.PairwiseLabels(), [["a"], ["b", "c"]]),
    "PairwiseStates": (spaces.PairwiseStates([(0, 1)]), [["dry", "wet"], ["wet", "dry"]]),
    "Cycles": (spaces.Cycles(), [["a", "b", "c"], ["d", "b", "a"]]),
    "ShortestPaths": (spaces.ShortestPaths([(0, 1), (0, 2), (1, 3), (2, 3)], 0, 3),
                      [[0, 1, 3], [0, 2, 3]]),
    "SpanningTrees": (spaces.SpanningTrees(), [[("a", "b"), ("b", "c")]]),
    "Matchings": (spaces.Matchings(), [[("a", "b")], [("b", "c")]]),
    "Graphs": (spaces.Graphs(), [[("a", "b")], [("b", "c")]]),
    "Cliques": (spaces.Cliques(), [["a", "b"], ["c"]]),
    "Tournaments": (spaces.Tournaments(), [[("a", "b")], [("b", "c")]]),
    "PartialOrders": (spaces.PartialOrders(), [[("a", "b")], ["c", "a", "b"]]),
    "Ordinal": (spaces.Ordinal(), [1, 2, 3]),
    "Poset": (spaces.Poset([("a", "b"), ("a", "c")]), ["a", "b"]),
    "Interval": (spaces.Interval(), [0.0, 0.5]),
    "Box": (spaces.Box(), [[0.0, 0.5], [1.0, 2.0]]),
    "Simplex": (spaces.Simplex(), [[0.5, 0.5], [1.0, 0.0]]),
    "Polytope": (spaces.Polytope([[1, 1]], [1], bounds=(0, 1)), [[0.5, 0.5]]),
    "Flows": (spaces.Flows([("s", "t", 1), ("s", "a", 1), ("a", "t", 1)], {"s": 1, "t": -1}),
              [[0.5, 0.5, 0.5]]),
    "Sphere": (spaces.Sphere(), [[1.0, 0.0]]),
    "Portfolios": (spaces.Portfolios([[1, 0], [0, 1]]), [[0.5, 0.5]]),
    "SolverSpace": (spaces.SolverSpace(lambda costs: costs < 0, exact=True), [[0.0, 1.0]]),
    "GraphNodes": (spaces.GraphNodes(RING), [0, 2]),
    "BinaryPolytope": (spaces.BinaryPolytope(A_eq=[[1, 1, 0]], b_eq=[1]), [[1, 0, 1]]),
    "Knapsacks": (spaces.Knapsacks({"a": 1, "b": 2, "c": 2}, 3), [["a", "b"], ["c"]]),
    "Assignments": (spaces.Assignments(["a", "b"], ["x", "y"]), [["x", "y"], ["y", "x"]]),
    "Candidates": (spaces.Candidates(["x", "y"]), ["x", "y"]),
}  # fmt: skip
