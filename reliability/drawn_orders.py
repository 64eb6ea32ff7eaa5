# SPDX-License-Identifier: BSD-3-Clause
"""Rankings, partial orders, tournaments and sequences, drawn at random beside their oracles."""

import numpy as np
import oracle_orders as oracle
import oracle_sequences as chains
from drawn import LETTERS, Drawn, in_and_out, some, together
from drawn_sets import drawn_edges
from oracle_edges import pairs

from skstruct import spaces

RANKING_PSI = {
    "positions": oracle.position_indicators,
    "pairs": oracle.pair_signs,
    "ranks": oracle.rank_rows,
}


def rankings(rng):
    d = int(rng.integers(2, 6))
    names, listed = list(LETTERS[:d]), oracle.orders(d)
    embedding = str(rng.choice(list(RANKING_PSI)))
    psi = RANKING_PSI[embedding](listed)
    space = spaces.Rankings(names, embedding).fit([names])
    R = oracle.rank_rows(listed)

    def fixed(rng, n):
        each = rng.random() < 0.5
        rows = [dict(zip(some(rng, range(d), 0.4), rng.permutation(d) + 1)) for _ in range(n)]
        rows = rows if each else rows[:1]
        told = [{names[j]: int(k) for j, k in row.items()} for row in rows]
        met = [(R[:, list(row)] == list(row.values())).all(axis=1) for row in rows]
        return {"positions": told if each else told[0]}, np.array(met)

    def before(rng, n):
        arcs = some(rng, pairs(d, True), 0.3)
        met = np.array([all(r[a] < r[b] for a, b in arcs) for r in R])
        return {"before": [(names[a], names[b]) for a, b in arcs]}, met[None]

    outputs = [[names[j] for j in order] for order in listed]
    kinds = {name: make(listed) for name, make in RANKING_PSI.items()}
    facts = {"names": names, "ranks": R, "embeddings": kinds}
    return Drawn("Rankings", space, outputs, psi, tuple, together(fixed, before), facts)


def top_rankings(rng):
    """The first few positions, all others tied behind them."""
    d = int(rng.integers(3, 6))
    top = int(rng.integers(1, d - 1))
    names, listed = list(LETTERS[:d]), oracle.orders(d)
    embedding = str(rng.choice(["positions", "pairs", "ranks"]))
    first, psi = oracle.with_open_end(listed, top, RANKING_PSI[embedding](listed))
    space = spaces.Rankings(names, embedding).fit([names]).restrict(top=top)
    outputs = [[names[j] for j in order] for order in first]
    kinds = {name: oracle.with_open_end(listed, top, make(listed))[1]
             for name, make in RANKING_PSI.items()}  # fmt: skip
    return Drawn("Rankings, top", space, outputs, psi, tuple, facts={"embeddings": kinds})


def partial_orders(rng):
    n = int(rng.integers(2, 5))
    names, arcs = list(LETTERS[:n]), pairs(n, True)
    Z = oracle.partial_orders(n)
    space = spaces.PartialOrders(names)
    labels = [(names[a], names[b]) for a, b in arcs]
    outputs = [{labels[j] for j in np.flatnonzero(z)} for z in Z]
    space = space.fit(outputs)
    narrow = in_and_out(Z, labels, 0.2)
    return Drawn("PartialOrders", space, outputs, Z, frozenset, narrow, {"Z": Z, "names": names})


def tournaments(rng):
    partial = rng.random() < 0.6
    n = int(rng.integers(2, 5))
    names, edges = list(LETTERS[:n]), pairs(n)
    psi = oracle.outcomes(n, partial)
    arcs = pairs(n, True)
    wins = np.column_stack([_wins(psi, edges, arc) for arc in arcs])
    labels = [(names[a], names[b]) for a, b in arcs]
    outputs = [{labels[j] for j in np.flatnonzero(win)} for win in wins]
    space = spaces.Tournaments(names, partial).fit(outputs)
    narrow = in_and_out(wins, labels, 0.2)
    facts = {"embeddings": {"node states": oracle.sign_indicators(psi, space.states_)}}
    return Drawn("Tournaments", space, outputs, psi, frozenset, narrow, facts)


def _wins(psi, edges, arc):
    u, v = arc
    return psi[:, edges.index((u, v))] == 1 if u < v else psi[:, edges.index((v, u))] == -1


def _lengths(rng, q):
    longest = int(rng.integers(1, {1: 6, 2: 6, 3: 5}.get(q, 4)))
    return (longest if rng.random() < 0.5 else int(rng.integers(1, longest + 1))), longest


def _chain_limits(listed, names, transitions=True):
    longest = max(map(len, listed))

    def known(rng, n):
        rows = [{t: int(rng.integers(len(names))) for t in some(rng, range(longest), 0.5)}
                for _ in range(n)]  # fmt: skip
        rows = rows if rng.random() < 0.5 else rows[:1]
        told = [{t: names[a] for t, a in row.items()} for row in rows]
        met = [[chains.knows(z, row) for z in listed] for row in rows]
        return {"known": told if len(rows) > 1 else told[0]}, np.array(met, dtype=bool)

    def forbidden(rng, n):
        ends = [None, *range(len(names))]
        steps = [(a, b) for a in ends for b in ends if (a, b) != (None, None)]
        out = some(rng, steps, 0.3)
        told = [tuple(None if a is None else names[a] for a in step) for step in out]
        met = [chains.avoids(z, out) for z in listed]
        return {"forbidden": told}, np.array(met, dtype=bool)[None]

    def length(rng, n):
        low, high = sorted(rng.integers(1, longest + 1, 2).tolist())
        met = np.array([low <= len(z) <= high for z in listed])
        return {"length": (low, high)}, met[None]

    return together(known, length, *([forbidden] if transitions else []))


def sequences(rng):
    q = int(rng.integers(1, 5))
    low, high = _lengths(rng, q)
    names = list(LETTERS[:q])
    listed = chains.sequences(q, low, high)
    bigrams = rng.random() < 0.6
    make = chains.bigram_indicators if bigrams else chains.symbol_indicators
    space = spaces.Sequences(names, (low, high), "bigrams" if bigrams else "positions")
    outputs = [[names[a] for a in z] for z in listed]
    psi, limits = make(listed, q, high), _chain_limits(listed, names)
    facts = {"listed": listed, "names": names}
    facts["embeddings"] = {"positions": chains.symbol_indicators(listed, q, high)}
    return Drawn("Sequences", space.fit(outputs), outputs, psi, tuple, limits, facts)


def strings(rng):
    q, n = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    low, high = _lengths(rng, q)
    names = list(LETTERS[:q])
    listed = chains.sequences(q, low, high)
    outputs = [[names[a] for a in z] for z in listed]
    space = spaces.Strings(names, (low, high), n).fit(outputs)
    psi, limits = chains.ngram_counts(listed, q, n), _chain_limits(listed, names, n > 1)
    facts = {"listed": listed, "names": names}
    facts["embeddings"] = {"positions": chains.symbol_indicators(listed, q, high)}
    return Drawn("Strings", space, outputs, psi, tuple, limits, facts)


def pairwise_states(rng):
    n, k = int(rng.integers(1, 5)), int(rng.integers(2, 4))
    names, states = list(LETTERS[:n]), [f"s{a}" for a in range(k)]
    edges = drawn_edges(rng, n, forest=True)
    graph = [(names[i], names[j]) for i, j in edges] or "empty"
    listed = chains.states(n, k)
    outputs = [[states[a] for a in z] for z in listed]
    space = spaces.PairwiseStates(graph, states, names).fit(outputs)

    def limited(rng, n_rows):
        known = {i: int(rng.integers(k)) for i in some(rng, range(n))}
        out = {i: int(rng.integers(k)) for i in some(rng, range(n))}
        met = [
            all(z[i] == a for i, a in known.items()) and all(z[i] != a for i, a in out.items())
            for z in listed
        ]
        told = {
            "known": {names[i]: states[a] for i, a in known.items()},
            "forbidden": {names[i]: states[a] for i, a in out.items()},
        }
        return told, np.array(met)[None]

    psi = chains.state_indicators(listed, k, edges)
    return Drawn("PairwiseStates", space, outputs, psi, tuple, limited, {"listed": listed})


FAMILIES = [
    rankings, top_rankings, partial_orders, tournaments, sequences, strings, pairwise_states,
]  # fmt: skip
