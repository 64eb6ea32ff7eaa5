# SPDX-License-Identifier: BSD-3-Clause
"""labels_ of spaces of edges: one name for each coordinate of psi, in their order."""

import numpy as np
import pytest

from skstruct import StructuredPerceptron, load_model, save_model
from skstruct.spaces import (
    Cycles,
    Embeddings,
    Flows,
    Graphs,
    Matchings,
    PartialOrders,
    SpanningTrees,
    Tournaments,
)

NODES = ["a", "b", "c", "d"]
SPACES = [
    (Cycles(NODES), "signed"),
    (Cycles(NODES, embedding="indicators"), "arcs"),
    (Cycles(NODES, directed=False), "edges"),
    (Graphs(NODES), "edges"),
    (Graphs(NODES, directed=True, property="acyclic"), "arcs"),
    (SpanningTrees(NODES), "edges"),
    (Matchings(NODES), "edges"),
    (Tournaments(NODES), "signed"),
    (PartialOrders(NODES), "arcs"),
]


def edges_of(space, output):
    """Pairs of names that an output holds, by its canonical row alone."""
    if isinstance(space, Tournaments):
        pairs = [(u, v) for i, u in enumerate(NODES) for v in NODES[i + 1 :]]
        signs = zip(pairs, output)
        return {pair if sign > 0 else pair[::-1] for pair, sign in signs if sign}
    return {(NODES[u], NODES[v]) for (u, v), fixed in zip(space.edges_, output) if fixed}


@pytest.mark.parametrize(("space", "kind"), SPACES)
def test_every_coordinate_has_the_name_of_its_edge(space, kind):
    outputs = space.enumerate()[:50]
    psi = np.asarray(space.embed(outputs))
    assert len(space.labels_) == psi.shape[1]
    assert len(set(space.labels_)) == psi.shape[1]
    for output, row in zip(outputs, psi):
        fixed = edges_of(space, output)
        for name, value in zip(space.labels_, row):
            there, back = name in fixed, name[::-1] in fixed
            if kind == "signed":
                assert value == there - back
            else:
                assert value == (there or back if kind == "edges" else there)


def test_coordinates_of_flows_are_arcs():
    arcs = [("s", "a"), ("a", "t"), ("s", "t")]
    space = Flows(arcs, supply={"s": 1, "t": -1}).fit([{("s", "t"): 1.0}])
    assert list(space.labels_) == arcs
    row = space.validate([{("s", "a"): 1.0, ("a", "t"): 1.0}])
    assert space.embed(row).tolist() == [[1.0, 1.0, 0.0]]


def test_names_follow_the_embedding():
    space = Cycles(5)
    assert len(space.labels_) == 10
    assert space.labels_[0] == (0, 1)
    arcs = Embeddings.of(space).view("indicators")
    assert len(arcs.labels_) == len(arcs.edges_) == 20


def test_models_of_directed_cycles_are_saved(tmp_path):
    """Outputs have a column for every arc, twice as many as there are names."""
    X = np.arange(6.0)[:, None]
    space = Cycles(NODES).restrict(exclude_edges=[("a", "b")])
    model = StructuredPerceptron(space, random_state=0).fit(X, [["a", "c", "b"], NODES[::-1]] * 3)
    save_model(model, tmp_path / "cycles.model")
    again = load_model(tmp_path / "cycles.model")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.space_.labels_ == space.labels_
