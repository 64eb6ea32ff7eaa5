# SPDX-License-Identifier: BSD-3-Clause
"""Small random hierarchies and rankings, and their outputs listed the slow, obvious way."""

import re
from itertools import permutations, product

import numpy as np
from hypothesis import strategies as st

from skstruct.spaces import Hierarchy


def shown(value) -> str:
    """What an object prints, without addresses: processes must agree on the names of tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@st.composite
def forests(draw, max_nodes=6):
    """A Hierarchy in which every label has at most one parent."""
    d = draw(st.integers(1, max_nodes))
    parents = [draw(st.integers(-1, j - 1)) for j in range(d)]
    return _shuffled(draw, d, [(p, j) for j, p in enumerate(parents) if p >= 0])


@st.composite
def dags(draw, max_nodes=6):
    """A Hierarchy in which labels may have several parents."""
    d = draw(st.integers(1, max_nodes))
    arcs = [(i, j) for j in range(d) for i in range(j) if draw(st.booleans())]
    return _shuffled(draw, d, arcs)


def _shuffled(draw, d, arcs):
    """Column numbers in random order: no solver may count on parents coming first."""
    name = draw(st.permutations(range(d)))
    return Hierarchy([(name[i], name[j]) for i, j in arcs], labels=range(d))


def closed_sets(space):
    """All closed sets of a hierarchy of named-by-number labels, straight from the definition."""
    dag = space.dag_
    rows = [
        row
        for row in product((0, 1), repeat=dag.n_nodes)
        if all(row[c] <= row[p] for p, c in zip(dag.parents, dag.children))
    ]
    return np.array(rows, dtype=np.int8)


def subsets(d):
    return np.array(list(product((0, 1), repeat=d)), dtype=np.int8)


def total_orders(d):
    """All rank vectors of d items."""
    return np.array(list(permutations(range(1, d + 1))), dtype=np.float64).reshape(-1, d)


def extensions(y):
    """The total orders that agree with one partial ranking (smaller is better, NaN unranked)."""
    d = len(y)
    pairs = [(p, q) for p in range(d) for q in range(d) if y[p] < y[q]]
    orders = total_orders(d)
    agree = [all(z[p] < z[q] for p, q in pairs) for z in orders]
    return orders[agree]


@st.composite
def partial_rankings(draw, d, max_rows=6):
    """Rows of d small numbers with ties and NaN, at least one number in each."""
    entry = st.one_of(st.just(np.nan), st.integers(1, d).map(float))
    row = st.lists(entry, min_size=d, max_size=d).filter(lambda y: not np.isnan(y).all())
    return np.array(draw(st.lists(row, min_size=1, max_size=max_rows)))
