# SPDX-License-Identifier: BSD-3-Clause
"""Label sets and single labels of all kinds, drawn at random beside their oracles."""

import networkx
import numpy as np
import oracle_sets as oracle
from drawn import LETTERS, Drawn, in_and_out, together
from oracle_edges import pairs

from skstruct import spaces


def names_of(Z, names):
    return [[names[j] for j in np.flatnonzero(z)] for z in Z]


def sizes(Z):
    def narrow(rng, n):
        low, high = sorted(int(size) for size in rng.integers(0, Z.shape[1] + 1, 2))
        chosen = {"min_size": low} if rng.random() < 0.6 else {}
        chosen |= {"max_size": high} if rng.random() < 0.6 else {}
        return chosen, oracle.sized(Z, chosen.get("min_size"), chosen.get("max_size"))[None]

    return narrow


def groups(Z, names):
    def narrow(rng, n):
        numbers = rng.permutation(len(names))
        parts = np.array_split(numbers, rng.integers(1, 4))
        parts = [part for part in parts if len(part) > 1]
        chosen = {"exclusive": [[names[j] for j in part] for part in parts]} if parts else {}
        return chosen, oracle.exclusive(Z, parts)[None]

    return narrow


def set_space(name, space, Z, names, narrow=None, psi=None, **facts):
    outputs = names_of(Z, names)
    psi = Z if psi is None else psi
    facts = {"Z": Z, "names": names, **facts}
    return Drawn(name, space.fit(outputs), outputs, psi, frozenset, narrow, facts)


def label_sets(rng):
    d = int(rng.integers(1, 9))
    names = list(LETTERS[:d])
    low, high = sorted(rng.integers(0, d + 1, 2).tolist())
    low, high = (low, high) if rng.random() < 0.3 else (0, None)
    space = spaces.LabelSets(names, low, high)
    Z = oracle.binary_vectors(d)
    Z = Z[oracle.sized(Z, low, high)]
    narrow = together(in_and_out(Z, names), groups(Z, names), sizes(Z) if high is None else none)
    return set_space("LabelSets", space, Z, names, narrow)


def none(rng, n):
    return {}, np.ones((1, 1), bool)


def drawn_arcs(rng, d):
    """(parent, child): a forest, or any graph without cycles."""
    arcs = []
    many = rng.random() < 0.5
    for child in range(1, d):
        most = min(child, int(rng.integers(0, 4)) if many else int(rng.random() < 0.8))
        arcs += [(int(parent), child) for parent in rng.choice(child, most, replace=False)]
    return arcs


def hierarchy(rng):
    d = int(rng.integers(1, 9))
    names, arcs = list(LETTERS[:d]), drawn_arcs(rng, d)
    space = spaces.Hierarchy([(names[p], names[c]) for p, c in arcs], labels=names)
    Z = oracle.binary_vectors(d)
    Z = Z[oracle.closed(Z, arcs)]

    def path_or_siblings(rng, n):
        if rng.random() < 0.4:
            return {"one_path": True}, oracle.on_one_path(Z, arcs)[None]
        kept = oracle.exclusive(Z, oracle.siblings(arcs, d))
        return {"exclusive": "siblings"}, kept[None]

    other = path_or_siblings if rng.random() < 0.4 else groups(Z, names)
    narrow = together(in_and_out(Z, names, 0.25), sizes(Z), other)
    return set_space("Hierarchy", space, Z, names, narrow, arcs=arcs)


def knapsack(rng):
    d, m = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    names = list(LETTERS[:d])
    W = rng.integers(0, 9, (m, d)).astype(float)
    W = W if rng.random() < 0.7 else W + rng.integers(0, 100, W.shape) / 64
    limit = np.round(W.sum(axis=1) * rng.random(m), 1)
    space = spaces.Knapsacks(W, limit, labels=names)
    Z = oracle.binary_vectors(d)
    Z = Z[oracle.within(Z, W, limit)]

    def less(rng, n):
        left = np.round(limit * rng.random(m) + 0.5, 1)
        return {"capacity": left}, oracle.within(Z, W, left)[None]

    narrow = together(in_and_out(Z, names, 0.2), sizes(Z), groups(Z, names), less)
    return set_space("Knapsacks", space, Z, names, narrow)


def binary_polytope(rng):
    d = int(rng.integers(1, 8))
    Z = oracle.binary_vectors(d)
    given, kept = {}, np.ones(len(Z), bool)
    inner = Z[rng.integers(len(Z))]  # so that there is a point
    if rng.random() < 0.8:
        A = rng.integers(-3, 4, (int(rng.integers(1, 4)), d)).astype(float)
        b = A @ inner + rng.integers(0, 3, len(A))
        given, kept = {"A_ub": A, "b_ub": b}, kept & oracle.within(Z, A, b)
    if rng.random() < 0.5 or not given:
        A = rng.integers(-1, 2, (1, d)).astype(float)
        given |= {"A_eq": A, "b_eq": A @ inner}
        kept &= oracle.meeting(Z, A, A @ inner)
    names = list(LETTERS[:d])
    space, Z = spaces.BinaryPolytope(**given, labels=names), Z[kept]
    narrow = together(in_and_out(Z, names, 0.2), sizes(Z), groups(Z, names))
    drawn = set_space("BinaryPolytope", space, Z, names, narrow)
    drawn.outputs, drawn.key = list(Z.astype(int)), lambda z: tuple(np.asarray(z, int).tolist())
    drawn.space.fit(Z.astype(int))
    return drawn


def drawn_edges(rng, d, forest=False):
    """Some pairs of labels, sorted."""
    if forest:
        edges = [(int(rng.integers(j)), j) for j in range(1, d) if rng.random() < 0.8]
    else:
        edges = [edge for edge in pairs(d) if rng.random() < 0.6]
    return sorted(edges)


def pairwise_labels(rng):
    d, forest = int(rng.integers(1, 8)), rng.random() < 0.5
    names, edges = list(LETTERS[:d]), drawn_edges(rng, d, forest)
    graph = [(names[u], names[v]) for u, v in edges] or "empty"
    space = spaces.PairwiseLabels(graph, names)
    Z = oracle.binary_vectors(d)
    psi = oracle.with_products(Z, edges)
    return set_space("PairwiseLabels", space, Z, names, in_and_out(Z, names), psi, edges=edges)


def cliques(rng):
    d = int(rng.integers(2, 8))
    names = list(LETTERS[:d])
    Z = oracle.binary_vectors(d)
    psi = oracle.products(Z, pairs(d))
    space = spaces.Cliques(names)
    return set_space("Cliques", space, Z, names, in_and_out(Z, names), psi)


# One of several things


def classes(rng):
    d = int(rng.integers(2, 13))
    names = list(LETTERS[:d])
    space = spaces.Classes(names).fit(names)
    return Drawn("Classes", space, names, np.eye(d), str, None, {"names": names})


def candidates(rng):
    d = int(rng.integers(2, 13))
    names = list(LETTERS[:d])
    space = spaces.Candidates(names).fit(names)
    return Drawn("Candidates", space, names, np.eye(d), str, None, {"names": names})


def graph_nodes(rng):
    d = int(rng.integers(2, 10))
    A = np.triu(rng.integers(0, 4, (d, d)) * (rng.random((d, d)) < 0.5), 1)
    names = list(LETTERS[:d])
    space = spaces.GraphNodes(A + A.T, labels=names).fit(names)
    facts = {"names": names, "adjacency": (A + A.T).astype(float)}
    return Drawn("GraphNodes", space, names, np.eye(d), str, None, facts)


def ordinal(rng):
    d = int(rng.integers(2, 10))
    names = list(LETTERS[:d])
    space = spaces.Ordinal(names).fit(names)

    def narrow(rng, n):
        low, high = sorted(rng.integers(0, d, 2).tolist())
        out = [j for j in range(d) if rng.random() < 0.2]
        kept = np.array([low <= j <= high and j not in out for j in range(d)])
        chosen = {"min_level": names[low], "max_level": names[high]}
        return {**chosen, "exclude": [names[j] for j in out]}, kept[None]

    psi = oracle.thermometers(d)
    return Drawn("Ordinal", space, names, psi, str, narrow, {"names": names, "Z": psi})


def poset(rng):
    d = int(rng.integers(2, 10))
    names, arcs = list(LETTERS[:d]), drawn_arcs(rng, d)
    psi = oracle.up_sets(arcs, d)
    relation = [(names[p], names[c]) for p, c in arcs]
    space = spaces.Poset(networkx_of(relation, names), names).fit(names)
    narrow = in_and_out(psi, names, 0.25)
    return Drawn("Poset", space, names, psi, str, narrow, {"names": names, "Z": psi})


def networkx_of(relation, names):
    graph = networkx.DiGraph(relation)
    graph.add_nodes_from(names)
    return graph


FAMILIES = [
    label_sets, hierarchy, knapsack, binary_polytope, pairwise_labels, cliques,
    classes, candidates, graph_nodes, ordinal, poset,
]  # fmt: skip
