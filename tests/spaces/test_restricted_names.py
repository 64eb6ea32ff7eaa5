# SPDX-License-Identifier: BSD-3-Clause
"""Constraints are of names: a restricted space keeps those that it had."""

import numpy as np
import pytest
from sklearn.base import clone

from skstruct.spaces import (
    BinaryPolytope,
    Cliques,
    Cycles,
    Graphs,
    Hierarchy,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Poset,
    Rankings,
    Sequences,
    SpanningTrees,
    Strings,
    Tournaments,
)

# A space that learns its names, what it learns them from, a limit, fewer names, other names.
LEARNED = {
    "cycles": (Cycles(), [list("pqrs")], {"include": ["s"]}, [list("pqr")], [list("abcd")]),
    "trees": (
        SpanningTrees(), [["pq", "qr"]], {"include": ["qr"]}, [["pr", "qr"]], [["ab", "bc"]],
    ),
    "matchings": (Matchings(), [["pq", "rs"]], {"include": ["rs"]}, [["pr"]], [["ab", "cd"]]),
    "graphs": (Graphs(), [["pq", "rs"]], {"exclude": ["rs"]}, [["pr"]], [["ab", "cd"]]),
    "cliques": (Cliques(), [set("pqr")], {"include": ["r"]}, [set("pq")], [set("abc")]),
    "label sets": (LabelSets(), [set("pqr")], {"exclude": ["r"]}, [set("pq")], [set("abc")]),
    "pairwise labels": (
        PairwiseLabels(), [set("pqr")], {"exclude": ["r"]}, [set("pq")], [set("abc")],
    ),
    "tournaments": (
        Tournaments(), [["pq", "rq"]], {"include": ["rq"]}, [["pq"]], [["ab", "cb"]],
    ),
    "partial orders": (
        PartialOrders(), [["pq", "rq"]], {"include": ["rq"]}, [["pq"]], [["ab", "cb"]],
    ),
    "rankings": (
        Rankings(), [list("pqr")], {"before": [("r", "p")]}, [list("qp")], [list("abc")],
    ),
    "sequences": (
        Sequences(), ["pqr"], {"known": {0: "r"}}, ["pqp"], ["abc"],
    ),
    "strings": (Strings(), ["pqr"], {"known": {0: "r"}}, ["pqp"], ["abc"]),
    "states": (
        PairwiseStates("empty"), [list("pqr")], {"known": {0: "r"}}, [list("pqp")], [list("abc")],
    ),
    "poset": (Poset(), ["p", "q", "r"], {"exclude": ["r"]}, ["q", "p"], ["a", "b", "c"]),
    "ordinal": (Ordinal(), ["p", "q", "r"], {"min_level": "q"}, ["q", "p"], ["a", "b", "c"]),
}  # fmt: skip


def read(name, Y):
    """Edges are written as two letters above."""
    if name in ("trees", "matchings", "graphs", "tournaments", "partial orders"):
        return [[tuple(pair) for pair in row] for row in Y]
    return Y


@pytest.mark.filterwarnings("ignore:Rankings. .* is ranked in no row")
@pytest.mark.parametrize("name", LEARNED)
def test_a_restricted_space_keeps_its_names(name):
    space, Y, limit, fewer, others = LEARNED[name]
    limit = {key: read(name, [value])[0] for key, value in limit.items()}
    restricted = clone(space).fit(read(name, Y)).restrict(**limit)
    outputs = restricted.enumerate()
    assert 0 < len(outputs) < clone(space).fit(read(name, Y)).size()
    again = clone(restricted).fit(read(name, fewer))
    assert again.labels_ == restricted.labels_
    np.testing.assert_array_equal(again.enumerate(), outputs)
    with pytest.raises(ValueError, match="not one of the"):
        clone(restricted).fit(read(name, others))


def test_predictions_obey_constraints_by_name():
    """As many nodes as before, but others: position 3 is not the node that was meant."""
    space = Cycles().fit([["p", "q", "r", "s"]]).restrict(include=["s"])
    with pytest.raises(ValueError, match="holds the node 'a', which is not one of the 4 known"):
        space.fit([["a", "b", "c"], ["a", "b", "d"]])
    space.fit([["p", "q", "r"]])
    best = space.argmin(np.array([[-5.0, 1.0, 1.0, -5.0, 1.0, 1.0]]))
    assert "s" in space.restore(best.outputs)[0]


@pytest.mark.parametrize(
    ("space", "limit", "change"),
    [
        (Cycles(4), {"include": [0]}, {"directed": False}),
        (Cycles(4), {"include": [0]}, {"nodes": list("abcd")}),
        (SpanningTrees(3), {"include": [(0, 1)]}, {"graph": [(0, 1), (1, 2)]}),
        (Matchings(2, 2), {"include": [(0, 2)]}, {"other": [3, 2]}),
        (LabelSets("abc"), {"include": ["a"]}, {"max_size": 1}),
        (Hierarchy([("a", "b")]), {"include": ["a"]}, {"edges": [("b", "a")]}),
        (BinaryPolytope(labels="ab"), {"include": ["a"]}, {"labels": "ba"}),
        (Tournaments(3), {"include": [(0, 1)]}, {"partial": False}),
        (Poset([("a", "b")]), {"include": ["a"]}, {"leaves_only": True}),
        (Ordinal("abc"), {"min_level": "b"}, {"levels": "cba"}),
        (Rankings("abc"), {"top": 1}, {"items": "cba"}),
        (Sequences("abc", 2), {"known": {0: "a"}}, {"alphabet": "cba"}),
        (PairwiseStates("empty", "ab", "xy"), {"known": {"x": "a"}}, {"states": "ba"}),
    ],
)
def test_what_constraints_rest_on_cannot_change(space, limit, change):
    (parameter,) = change
    restricted = space.restrict(**limit)
    with pytest.raises(ValueError, match=f"{parameter} cannot change after restrict"):
        restricted.set_params(**change)
    assert restricted.set_params(**restricted.get_params()).size() == space.restrict(**limit).size()
    restricted.set_params(constraints=None, **change)
    assert restricted.size() == clone(space).set_params(**change).size()
