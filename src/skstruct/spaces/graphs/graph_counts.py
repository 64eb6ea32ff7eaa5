# SPDX-License-Identifier: BSD-3-Clause
"""How many graphs on n named nodes have a property: exact, by recursions on components."""

from __future__ import annotations

from math import comb


def n_forests(n: int) -> int:
    """Graphs without cycle: the component of the first node is one of k^(k - 2) trees.

    >>> [n_forests(n) for n in range(1, 6)]
    [1, 2, 7, 38, 291]
    """
    count = [1]
    for m in range(1, n + 1):
        count.append(sum(comb(m - 1, k - 1) * _n_trees(k) * count[m - k] for k in range(1, m + 1)))
    return count[n]


def _n_trees(k: int) -> int:
    return 1 if k <= 2 else k ** (k - 2)


def n_acyclic_digraphs(n: int) -> int:
    """Directed graphs without cycle, by inclusion and exclusion over their k sources.

    >>> [n_acyclic_digraphs(n) for n in range(1, 6)]
    [1, 3, 25, 543, 29281]
    """
    count = [1]
    for m in range(1, n + 1):
        terms = (
            (-1) ** (k + 1) * comb(m, k) * 2 ** (k * (m - k)) * count[m - k]
            for k in range(1, m + 1)
        )
        count.append(sum(terms))
    return count[n]


def n_connected(n: int, per_pair: int = 2) -> int:
    """Connected graphs: all but those in which the component of the first node has k < n nodes.

    ``per_pair`` is the number of ways to join two nodes or not: 4 with directions.

    >>> [n_connected(n) for n in range(1, 6)], n_connected(3, per_pair=4)
    ([1, 1, 4, 38, 728], 54)
    """
    count = [0]
    for m in range(1, n + 1):
        apart = (comb(m - 1, k - 1) * count[k] * per_pair ** comb(m - k, 2) for k in range(1, m))
        count.append(per_pair ** comb(m, 2) - sum(apart))
    return count[n]


def n_bipartite(n: int) -> int:
    """Graphs with two sides, from those with colored nodes: both sides choose their half.

    Colored graphs number sum_k C(n, k) 2^(k (n - k)) = sum_k C(n, k) b(k) b(n - k).

    >>> [n_bipartite(n) for n in range(1, 6)]
    [1, 2, 7, 41, 376]
    """
    count = [1]
    for m in range(1, n + 1):
        colored = sum(comb(m, k) * 2 ** (k * (m - k)) for k in range(m + 1))
        inner = sum(comb(m, k) * count[k] * count[m - k] for k in range(1, m))
        count.append((colored - inner) // 2)
    return count[n]
